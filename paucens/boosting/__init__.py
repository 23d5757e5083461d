"""Boosters that fix one coefficient per round: AdaBoost and the asymmetric forms that the paper compares with."""

from paucens.boosting.adaboost import AdaBoostClassifier
from paucens.boosting.asymboost import AsymBoostClassifier
from paucens.boosting.cost_sensitive import CSAdaBoostClassifier
from paucens.boosting.discriminant import AdaBoostLDAClassifier
from paucens.boosting.smoothed import PAUCBoostClassifier

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostLDAClassifier",
    "AsymBoostClassifier",
    "CSAdaBoostClassifier",
    "PAUCBoostClassifier",
]
