"""What each choice behind the detectors of Table 3 is worth: one changed at a time, on INRIA test.

Protocol. The first detector of each block is one of Table 3, seed 0; each of the others differs from it in one thing
and is trained and judged as `_detection.py` says. Differences are paired over images, with intervals of 95 % by
bootstrap. Nothing was chosen by this table: it tells what happened to the choices that were made before.

The crops, on M+O+LUV. 432 of the 1208 crops left their photograph and repeat its border, 222 of them inside the window
(`crop_edges.py`). Our detectors give negatives the same edges. Without that, negatives are as they came; "left out"
trains without those crops; "masked" replaces all values of a crop that its edges reach by those of another one, which
then tell nothing about it, and leaves negatives as they came.

The rest, on spCov+M+O+LUV (what the presets "paper" and "release" are worth as a whole is in `table_3.py`):
- patches that have a corner in their cell, not their middle; patches half as large;
- statistics of the colour of largest gradient, not of L;
- L not smoothed before the statistics; their channels smoothed after;
- correlations without ridges (an epsilon);
- a 64th of the features a node, and leaves of real values, both in the last round, of 2048 trees;
- photographs not smoothed.

    python reproduce/ablation.py --scale paper --data DIR

with the uncompressed INRIA folder of `data/README.md` in DIR.
"""

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from paucens.plotting import BLUE, GREY, ORANGE, new_figure
from reproduce._detector_tables import table
from reproduce._detectors import Row, detector_plan
from reproduce._run import Script, main
from reproduce._variants import (
    few_features,
    not_smoothed,
    real_leaves,
    train_as_they_came,
    train_masked,
    with_variants,
    without_edged,
)

NAME = "ablation"
CROPS, COVARIANCE = "M+O+LUV", "spCov+M+O+LUV"
FIRST = {channels: Row(channels, channels) for channels in (CROPS, COVARIANCE)}
CHANGED = (
    Row("negatives as they came", CROPS, train=train_as_they_came),
    Row("crops with edges left out", CROPS, change=without_edged),
    Row("crops with edges masked", CROPS, train=train_masked),
    Row("corner in the cell", COVARIANCE, "corner", change=with_variants),
    Row("patches of 4, 8 and 16", COVARIANCE, "small", change=with_variants),
    Row("statistics of colours", COVARIANCE, "colours", change=with_variants),
    Row("L not smoothed before", COVARIANCE, "sharp", change=with_variants),
    Row("channels smoothed after", COVARIANCE, "after", change=with_variants),
    Row("no ridges", COVARIANCE, "no ridges", change=with_variants),
    Row("a 64th of the features", COVARIANCE, ensemble=few_features),
    Row("real leaves", COVARIANCE, ensemble=real_leaves),
    Row("photographs not smoothed", COVARIANCE, change=not_smoothed),
)
PAIRS = tuple((row, FIRST[row.channels]) for row in CHANGED)
STAND_IN = CHANGED[:3]  # so many will do on rendered streets


def plan(arguments):
    """Plan the detectors."""
    changed = CHANGED if arguments.scale == "paper" else STAND_IN
    firsts = [FIRST[channels] for channels in dict.fromkeys(row.channels for row in changed)]
    rows = [row for first in firsts for row in (first, *changed) if row.channels == first.channels]
    pairs = [pair for pair in PAIRS if pair[0] in changed]
    return detector_plan(NAME, rows, pairs, arguments, 1)


def picture(frames):
    """Draw what each change is worth, with its interval: a colour a block."""
    pairs = frames[f"{NAME}_pairs"][::-1].reset_index(drop=True)
    figure = new_figure(6.0, 1.0 + 0.32 * len(pairs))
    axes = figure.subplots()
    axes.axvline(0, color=GREY, linewidth=1)
    changed, first = zip(*(method.split(" − ") for method in pairs.method), strict=True)
    for channels, colour, marker in ((CROPS, ORANGE, "s"), (COVARIANCE, BLUE, "o")):
        if channels not in first:
            continue
        own = pairs[[name == channels for name in first]]
        middle, low, high = (100 * own[name] for name in ("difference", "low", "high"))
        axes.errorbar(
            middle,
            own.index,
            xerr=[middle - low, high - middle],
            color=colour,
            fmt=marker,
            markersize=5,
            label=f"against {channels}",
        )
    axes.set_yticks(range(len(pairs)), changed)
    axes.set_xlabel(f"difference of log-average miss rates, points; {pairs.column.iloc[0]}")
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", visible=True)
    axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1), ncols=2)
    return figure


SCRIPT = Script(NAME, __doc__, (NAME, f"{NAME}_pairs"), plan, partial(table, NAME), picture)


if __name__ == "__main__":
    sys.exit(main(SCRIPT))
