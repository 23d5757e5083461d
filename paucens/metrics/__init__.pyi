from paucens.metrics.areas import partial_auc, pauc_scorer
from paucens.metrics.curves import roc_points, threshold_at_fpr, tpr_at_fpr
from paucens.metrics.intervals import PartialAUCInterval, PartialAUCTest, partial_auc_interval, partial_auc_test
from paucens.metrics.ranges import check_fpr_range, rank_range
from paucens.metrics.rates import RateInterval, fpr_interval, tpr_at_fpr_interval
from paucens.metrics.repeats import MeanInterval, mean_interval

__all__ = [
    "MeanInterval",
    "PartialAUCInterval",
    "PartialAUCTest",
    "RateInterval",
    "check_fpr_range",
    "fpr_interval",
    "mean_interval",
    "partial_auc",
    "partial_auc_interval",
    "partial_auc_test",
    "pauc_scorer",
    "rank_range",
    "roc_points",
    "threshold_at_fpr",
    "tpr_at_fpr",
    "tpr_at_fpr_interval",
]
