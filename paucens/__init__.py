"""Ensembles trained for one slice of the ROC curve."""

from paucens.boosting import AdaBoostClassifier
from paucens.learners import Stump, Tree

__version__ = "0.1.0"
__all__ = ["AdaBoostClassifier", "Stump", "Tree"]
