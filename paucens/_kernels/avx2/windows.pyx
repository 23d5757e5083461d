include "../windows.pyx"
