"""The first stage of a detector: binarized normed gradients (BING, Cheng et al. 2014) tell which windows to discard."""

from paucens._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
