include "../bing.pyx"
