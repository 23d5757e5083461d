include "../channels.pyx"
