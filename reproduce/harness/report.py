"""Results as text and pictures: the paper's numbers, Markdown of frames, intervals beside names."""

import math
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd

from harness.compare import mean_interval
from paucens.plotting import GREY

PAPER = Path(__file__).resolve().parents[1] / "paper.toml"
NOTHING = "–"


def paper_says(name):
    """Return what `paper.toml` holds about a table or figure."""
    return tomllib.loads(PAPER.read_text(encoding="utf-8"))[name]


def markdown(rows, columns):
    """Write rows of texts as a Markdown table; None and nan are dashes, columns of nothing else are left out.

    >>> print(markdown([["AdaBoost", "0.960", None], ["Ada + LDA", None, None]], ["method", "pAUC", "paper"]))
    | method    | pAUC   |
    |:----------|:-------|
    | AdaBoost  | 0.960  |
    | Ada + LDA | –      |
    """
    frame = pd.DataFrame(rows, columns=columns, dtype=object).dropna(axis=1, how="all")
    text = frame.where(frame.notna(), NOTHING).map(lambda cell: str(cell).replace("|", "\\|"))
    return text.to_markdown(index=False, disable_numparse=True)


def difference_cells(differences, ours, *overlaps):
    """List for each column of `differences`: its name, mean, an interval for each overlap, how often ours is above."""
    for other, column in differences.items():
        intervals = [mean_interval(column, overlap) for overlap in overlaps]
        ends = [interval_text(interval.low, interval.high) for interval in intervals]
        yield [f"{ours} − {other}", f"{column.mean():+.3f}", *ends, f"{(column > 0).sum()} of {len(column)}"]


def mean_sd(values):
    """Write a mean and, for more than one value, the standard deviation.

    >>> mean_sd([0.88, 0.9]), mean_sd([0.88])
    ('0.890 (0.014)', '0.880')
    """
    values = np.asarray(values, dtype=float)
    return f"{values.mean():.3f}" + (f" ({values.std(ddof=1):.3f})" if len(values) > 1 else "")


def interval_text(low, high, form="+.3f"):
    """Write the ends of an interval, or a dash if there are none."""
    return NOTHING if math.isnan(low) else f"{low:{form}} to {high:{form}}"


def yes_no(truth):
    """Answer a question in a table."""
    return "yes" if truth else "no"


def forest(axes, intervals, look, reference=None):
    """Draw means with their intervals, a line per name from top to bottom.

    `intervals` maps each name to a list of (mean, low, high), for example one per seed; `look` maps a name to its
    colour and marker, as `paucens.plotting.method_style` does; `reference` is where an upright line stands.
    """
    if reference is not None:
        axes.axvline(reference, color=GREY, linewidth=0.8, zorder=1)
    for place, (name, own) in enumerate(intervals.items()):
        colour, marker = look(name)
        places = place + 0.18 * (np.arange(len(own)) - (len(own) - 1) / 2)
        means, lows, highs = np.transpose(own)
        axes.hlines(places, lows, highs, color=colour, linewidth=1)
        axes.plot(means, places, marker, color=colour, markersize=4.5)
    axes.set_yticks(range(len(intervals)), list(intervals))
    axes.set_ylim(len(intervals) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", visible=True)
