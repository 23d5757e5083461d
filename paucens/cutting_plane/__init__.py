"""Algorithm 2: structured learning of weights by cutting planes, for ensembles and linear scores alike."""

from paucens.cutting_plane.cut import Cut, most_violated_cut
from paucens.cutting_plane.master import COARSEST, MOST_CALLS, Master, check_nu
from paucens.cutting_plane.ranges import training_rank_range, training_rank_ranges, training_threshold, wider_ranges

__all__ = [
    "COARSEST",
    "MOST_CALLS",
    "Cut",
    "Master",
    "check_nu",
    "most_violated_cut",
    "training_rank_range",
    "training_rank_ranges",
    "training_threshold",
    "wider_ranges",
]
