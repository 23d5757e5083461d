"""Results as text: the paper's numbers, paired differences, Markdown."""

import math
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd

from paucens.metrics import mean_interval

PAPER = Path(__file__).with_name("paper.toml")
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


def differences(rows, ours, by="method", value="pauc", unit="repeat"):
    """Ours minus each other method, paired over the repeats: a DataFrame with a column per other, in order."""
    wide = rows.pivot(index=unit, columns=by, values=value)[list(dict.fromkeys(rows[by]))]
    return -wide.drop(columns=ours).sub(wide[ours], axis=0)


def order_holds(printed, measured):
    """Tell whether methods that the paper sets apart come in its order here too; both are dicts of method to mean.

    >>> order_holds({"a": 0.88, "b": 0.87, "c": 0.87}, {"a": 0.9, "b": 0.85, "c": 0.86})
    True
    """
    both = [method for method in printed if method in measured]
    return all(measured[a] > measured[b] for a in both for b in both if printed[a] > printed[b])


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
