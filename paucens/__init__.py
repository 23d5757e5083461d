"""Ensembles trained for one slice of the ROC curve: the best detection rate at few false alarms."""

from paucens._lazy import attach
from paucens._version import __version__ as __version__

__getattr__, __dir__, __all__ = attach(__name__, __file__)
