"""Loops over arrays, in Cython. Arrays in, arrays out; nothing here checks its arguments."""
