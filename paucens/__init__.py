"""Ensembles trained for one slice of the ROC curve: the best detection rate at few false alarms."""

from paucens.boosting import (
    AdaBoostClassifier,
    AdaBoostLDAClassifier,
    AsymBoostClassifier,
    CSAdaBoostClassifier,
    PAUCBoostClassifier,
)
from paucens.ensemble import PAUCEnsClassifier
from paucens.learners import Linear, Stump, Tree
from paucens.metrics import (
    fpr_interval,
    partial_auc,
    partial_auc_interval,
    partial_auc_test,
    pauc_scorer,
    roc_points,
    threshold_at_fpr,
    tpr_at_fpr,
    tpr_at_fpr_interval,
)
from paucens.operating_point import FPRThresholdClassifier
from paucens.structural import LinearPAUCSVC

__version__ = "0.1.0"

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostLDAClassifier",
    "AsymBoostClassifier",
    "CSAdaBoostClassifier",
    "FPRThresholdClassifier",
    "Linear",
    "LinearPAUCSVC",
    "PAUCBoostClassifier",
    "PAUCEnsClassifier",
    "Stump",
    "Tree",
    "fpr_interval",
    "partial_auc",
    "partial_auc_interval",
    "partial_auc_test",
    "pauc_scorer",
    "roc_points",
    "threshold_at_fpr",
    "tpr_at_fpr",
    "tpr_at_fpr_interval",
]
