"""
Anatomy of a cutting plane
==========================

The weights of an ensemble are found by cutting planes. Each plane belongs to one ordering of the positives against the
negatives: the one that, given the scores so far, violates the margin most. In it, each sample has a weight, and a new
weak learner is fitted to these weights.
"""

# %%
# Ten positives and twenty negatives, with scores that overlap.

import numpy as np

from paucens.cutting_plane import most_violated_cut
from paucens.metrics import rank_range
from paucens.plotting import BLUE, GREY, VERMILION, house_style, new_figure, save_figure

rng = np.random.default_rng(4)
positives = np.sort(rng.normal(1.5, 0.8, size=10))
negatives = np.sort(rng.normal(0.0, 0.8, size=20))[::-1]

# %%
# A range of false positive rates is a range of ranks of the negatives. Of 20 negatives, [0, 0.3] holds the first six,
# and [0.1, 0.3] those of rank 3 to 6.

cases = {
    "tight, [0, 0.3]": ((0, 0.3), "tight"),
    "tight, [0.1, 0.3]": ((0.1, 0.3), "tight"),
    "struct, [0.1, 0.3]": ((0.1, 0.3), "struct"),
}
cuts = {name: most_violated_cut(positives, negatives, *case) for name, case in cases.items()}
for name, (weights, loss) in cuts.items():
    ranks = rank_range(len(negatives), cases[name][0])
    print(f"{name}: ranks {ranks[0] + 1} to {ranks[1]}, loss {loss:.2f}")
    print("    negatives of nonzero weight, by rank:", (np.flatnonzero(weights[len(positives) :]) + 1).tolist())

# %%
# The weights of the positives and of the negatives have the same sum. In the tight formulation no negative beyond the
# range has a weight, so weak learners need not look at them; the negatives before the range have one, since positives
# must be above them, too. In the struct formulation, that of 2013, all negatives are ordered, so some beyond the range
# count as well.

with house_style():
    figure = new_figure(7.5, 6)
    panels = figure.subplots(len(cuts), 1, sharex=True)
    for axes, (name, cut) in zip(panels, cuts.items(), strict=True):
        first, last = rank_range(len(negatives), cases[name][0])
        axes.axvspan(negatives[last - 1], negatives[first], color=GREY, alpha=0.15, linewidth=0)
        of_positives, of_negatives = np.split(cut.signed_weights, [len(positives)])
        for scores, weights, colour, marker, label in (
            (positives, of_positives, BLUE, "o", "positives"),
            (negatives, of_negatives, VERMILION, "X", "negatives"),
        ):
            axes.vlines(scores, 0, weights, color=colour, linewidth=1.5)
            axes.plot(scores, weights, marker, color=colour, markersize=5, label=label)
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.set(title=f"{name}: loss {cut.loss:.2f}", ylabel="weight")
    panels[0].legend(loc="upper left")
    panels[-1].set_xlabel("score (shaded: the negatives in the range)")
    save_figure(figure, "cutting_plane")
