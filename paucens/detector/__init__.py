"""Sliding-window detection of people: training, search, non-maximum suppression."""

from paucens._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
