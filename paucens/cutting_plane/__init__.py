"""Algorithm 2: structured learning of weights by cutting planes, for ensembles and linear scores alike."""

from paucens.cutting_plane.cut import Cut, most_violated_cut
from paucens.cutting_plane.master import Master
from paucens.cutting_plane.ranges import training_rank_range, training_rank_ranges, training_threshold

__all__ = ["Cut", "Master", "most_violated_cut", "training_rank_range", "training_rank_ranges", "training_threshold"]
