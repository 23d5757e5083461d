"""Loops over arrays, in Cython: arrays in, arrays out, and no argument is checked."""
