"""Weak learners: (X, signed weights) -> h(x) in [-1, 1]."""

from paucens.learners.linear import Linear
from paucens.learners.training import BinnedTrainer, Outputs, checked_outputs, make_trainer
from paucens.learners.tree import BinnedLearner, Stump, Tree

__all__ = ["BinnedLearner", "BinnedTrainer", "Linear", "Outputs", "Stump", "Tree", "checked_outputs", "make_trainer"]
