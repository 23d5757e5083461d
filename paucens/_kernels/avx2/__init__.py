"""Kernels built once more, for processors with AVX2: each file includes its namesake of the folder above."""
