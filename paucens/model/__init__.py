"""The weighted sum of learners that every ensemble here is, and its file."""

from paucens.model.weighted import WeightedEnsemble

__all__ = ["WeightedEnsemble"]
