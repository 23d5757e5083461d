"""Comparisons over repeats: paired differences, with intervals that allow for repeats that share samples."""

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student


class Interval(NamedTuple):
    """A mean between the ends of its confidence interval, which are nan for a single value."""

    mean: float
    low: float
    high: float


def mean_interval(values, overlap=0.0, level=0.95):
    """Estimate a mean over repeats with Student's t, an Interval.

    `overlap` is n_test / n_train of random splits of one set of samples, 0 for independent repeats: training parts
    overlap, so the mean of J repeats varies by (1 / J + n_test / n_train) var (Nadeau and Bengio, Machine Learning 52,
    2003).

    >>> [round(x, 4) for x in mean_interval([0.01, 0.02, 0.03], overlap=1.0)]
    [0.02, -0.0297, 0.0697]
    """
    values = np.asarray(values, dtype=float)
    mean = float(values.mean())
    if len(values) < 2:
        return Interval(mean, math.nan, math.nan)
    error = math.sqrt((1 / len(values) + overlap) * values.var(ddof=1))
    half_width = float(student.ppf((1 + level) / 2, len(values) - 1)) * error
    return Interval(mean, mean - half_width, mean + half_width)


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
