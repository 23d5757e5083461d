"""Turn labels and scores into numbers: ROC curve, partial AUC, TPR at an FPR, intervals and a paired test.

Every function asks which label is positive in the same way: the larger of the two sorted labels, unless
`pos_label` names the other one. Larger scores mean "more positive", and only their order matters.
"""

from paucens.metrics.areas import partial_auc, pauc_scorer
from paucens.metrics.curves import roc_points, threshold_at_fpr, tpr_at_fpr
from paucens.metrics.intervals import PartialAUCInterval, PartialAUCTest, partial_auc_interval, partial_auc_test
from paucens.metrics.ranges import band_indices, check_fpr_range

__all__ = [
    "PartialAUCInterval",
    "PartialAUCTest",
    "band_indices",
    "check_fpr_range",
    "partial_auc",
    "partial_auc_interval",
    "partial_auc_test",
    "pauc_scorer",
    "roc_points",
    "threshold_at_fpr",
    "tpr_at_fpr",
]
