"""Base of all classifiers: prediction by the sign of a score, the weighted sum of learners, its file and checkpoint."""

from paucens.base.binary import BinaryClassifier
from paucens.base.checkpoint import Checkpoint
from paucens.base.training import TrainingData, fit_binned, prepare
from paucens.base.weighted import WeightedEnsemble

__all__ = ["BinaryClassifier", "Checkpoint", "TrainingData", "WeightedEnsemble", "fit_binned", "prepare"]
