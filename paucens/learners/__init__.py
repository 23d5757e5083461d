"""Weak learners: (X, signed weights) -> h(x) in [-1, 1]."""

from paucens.learners.training import Outputs, checked_outputs, make_trainer
from paucens.learners.tree import BinnedLearner, Stump, Tree

__all__ = ["BinnedLearner", "Outputs", "Stump", "Tree", "checked_outputs", "make_trainer"]
