include "../pooling.pyx"
