"""Weak learners: (X, signed weights) -> h(x) in [-1, 1]."""

from paucens.learners.foreign import adapted
from paucens.learners.linear import Linear
from paucens.learners.protocol import Predictions, Trainer, WeakLearner
from paucens.learners.tree import Stump, Tree

LEARNERS = {learner.__name__: learner for learner in (Tree, Stump, Linear)}  # those that model files may hold

__all__ = ["LEARNERS", "Linear", "Predictions", "Stump", "Trainer", "Tree", "WeakLearner", "adapted"]
