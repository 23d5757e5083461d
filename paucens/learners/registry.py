"""The learners that model files may hold, by name."""

from paucens.learners.linear import Linear
from paucens.learners.tree import Stump, Tree

LEARNERS: dict[str, type] = {learner.__name__: learner for learner in (Tree, Stump, Linear)}
