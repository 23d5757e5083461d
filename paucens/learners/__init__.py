"""Weak learners: (X, signed weights) -> h(x) in [-1, 1]."""

from paucens._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
