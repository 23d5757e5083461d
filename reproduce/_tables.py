"""Numbers for the tables: what the paper prints, means, intervals, Markdown."""

import math
import tomllib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

PAPER = Path(__file__).with_name("paper.toml")
NOTHING = "–"


class MeanInterval(NamedTuple):
    """A mean between the ends of its confidence interval; the ends are nan where one value came."""

    mean: float
    low: float
    high: float


def paper_says(name):
    """Return what `paper.toml` holds of a table or figure."""
    with PAPER.open("rb") as stream:
        return tomllib.load(stream)[name]


def mean_interval(values, test_over_train=0.0, level=0.95):
    """Estimate a mean over repeats with Student's t, corrected for repeats that share samples.

    Parameters
    ----------
    values : array-like of shape (n_repeats,)
        For example paired differences of two methods.
    test_over_train : float, default=0.0
        n_test / n_train where the repeats are random splits of one set of samples; 0 where each repeat draws
        samples of its own, which gives the ordinary t interval.
    level : float, default=0.95

    Returns
    -------
    MeanInterval

    Notes
    -----
    Training parts of random splits overlap, so the mean of J repeats varies more than by var / J. Nadeau and
    Bengio (Machine Learning 52, 2003) put (1 / J + n_test / n_train) var in its place. It does not shrink to
    zero with J: repeating the split teaches nothing about other samples.

    Examples
    --------
    >>> [round(x, 4) for x in mean_interval([0.01, 0.02, 0.03])]
    [0.02, -0.0048, 0.0448]
    >>> [round(x, 4) for x in mean_interval([0.01, 0.02, 0.03], test_over_train=1.0)]
    [0.02, -0.0297, 0.0697]
    """
    values = np.asarray(values, dtype=float)
    n_repeats, mean = len(values), float(np.mean(values))
    if n_repeats < 2:
        return MeanInterval(mean, math.nan, math.nan)
    error = math.sqrt((1 / n_repeats + test_over_train) * np.var(values, ddof=1))
    half_width = float(student.ppf((1 + level) / 2, n_repeats - 1)) * error
    return MeanInterval(mean, mean - half_width, mean + half_width)


def order_holds(printed, measured):
    """Tell whether methods that the paper sets apart come in its order here too.

    Parameters
    ----------
    printed, measured : dict of method to mean
        Methods that only one of them has are left out; where the paper prints equal numbers, any order will
        do.

    Examples
    --------
    >>> order_holds({"a": 0.88, "b": 0.87, "c": 0.87}, {"a": 0.9, "b": 0.85, "c": 0.86})
    True
    """
    both = [method for method in printed if method in measured]
    return all(measured[a] > measured[b] for a in both for b in both if printed[a] > printed[b])


def mean_sd(values):
    """Write a mean and, of more than one value, the standard deviation.

    Examples
    --------
    >>> mean_sd([0.88, 0.9]), mean_sd([0.88])
    ('0.890 (0.014)', '0.880')
    """
    values = np.asarray(values, dtype=float)
    return f"{values.mean():.3f}" + (f" ({values.std(ddof=1):.3f})" if len(values) > 1 else "")


def interval_text(interval, form="+.3f"):
    """Write the ends of an interval, or a dash where there are none.

    Examples
    --------
    >>> interval_text(MeanInterval(0.01, -0.002, 0.022))
    '-0.002 to +0.022'
    """
    return NOTHING if math.isnan(interval.low) else f"{interval.low:{form}} to {interval.high:{form}}"


def choices_text(values):
    """Count the parameters that were chosen, the most frequent first.

    Examples
    --------
    >>> choices_text([1.0, 0.5, 1.0])
    '1 (2), 0.5 (1)'
    """
    distinct, counts = np.unique(np.asarray(values, dtype=float), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return ", ".join(f"{distinct[i]:g} ({counts[i]})" for i in order)


def yes_no(truth):
    """Answer a question in a table."""
    return "yes" if truth else "no"


def markdown(header, rows):
    """Write a table in Markdown, columns padded so that it reads well as plain text too.

    Examples
    --------
    >>> print(markdown(["method", "pAUC"], [["AdaBoost", "0.960"]]))
    | method   | pAUC  |
    |----------|-------|
    | AdaBoost | 0.960 |
    """
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    padded = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in cells]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([padded[0], rule, *padded[1:]])
