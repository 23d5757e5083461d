"""What classifiers share: prediction by the sign of a score, the weighted sum of learners, its file."""

from paucens.model.binary import BinaryClassifier
from paucens.model.weighted import WeightedEnsemble

__all__ = ["BinaryClassifier", "WeightedEnsemble"]
