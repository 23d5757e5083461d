"""Base of all classifiers: prediction by the sign of a score, the weighted sum of learners, its file and checkpoint."""

from paucens.base.binary import BinaryClassifier
from paucens.base.checkpoint import Checkpoint, expendable
from paucens.base.early_stopping import EarlyStopping
from paucens.base.files import history_from_file, history_to_file
from paucens.base.locks import locked
from paucens.base.settings import check_same, ensemble_settings
from paucens.base.training import TrainingData, fit_binned, prepare
from paucens.base.weighted import WeightedEnsemble
from paucens.base.weights import SampleWeights, class_weights, distinct_samples, weighted_samples

__all__ = [
    "BinaryClassifier",
    "Checkpoint",
    "EarlyStopping",
    "SampleWeights",
    "TrainingData",
    "WeightedEnsemble",
    "check_same",
    "class_weights",
    "distinct_samples",
    "ensemble_settings",
    "expendable",
    "fit_binned",
    "history_from_file",
    "history_to_file",
    "locked",
    "prepare",
    "weighted_samples",
]
