"""Ensembles trained for one slice of the ROC curve: the best detection rate at few false alarms."""

from paucens._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

__version__ = "0.2.0"
