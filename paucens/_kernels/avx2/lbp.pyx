include "../lbp.pyx"
