from paucens import base as base
from paucens import boosting as boosting
from paucens import cutting_plane as cutting_plane
from paucens import datasets as datasets
from paucens import detector as detector
from paucens import drawing as drawing
from paucens import ensemble as ensemble
from paucens import evaluation as evaluation
from paucens import features as features
from paucens import formats as formats
from paucens import images as images
from paucens import learners as learners
from paucens import metrics as metrics
from paucens import operating_point as operating_point
from paucens import parallel as parallel
from paucens import persistence as persistence
from paucens import proposals as proposals
from paucens import structural as structural
from paucens import validation as validation
from paucens._version import __version__ as __version__
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
