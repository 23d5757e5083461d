"""Ensembles trained for one slice of the ROC curve."""

from paucens.boosting import AdaBoostClassifier
from paucens.ensemble import PAUCEnsClassifier
from paucens.learners import Stump, Tree

__version__ = "0.1.0"
__all__ = ["AdaBoostClassifier", "PAUCEnsClassifier", "Stump", "Tree"]
