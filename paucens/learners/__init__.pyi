from paucens.learners.foreign import adapted
from paucens.learners.linear import Linear
from paucens.learners.protocol import Predictions, Trainer, WeakLearner
from paucens.learners.registry import LEARNERS
from paucens.learners.tree import Stump, Tree

__all__ = ["LEARNERS", "Linear", "Predictions", "Stump", "Trainer", "Tree", "WeakLearner", "adapted"]
