include "../covariance.pyx"
