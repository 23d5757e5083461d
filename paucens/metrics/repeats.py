"""Intervals of means over repeats, also of repeats that share samples."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from paucens.validation import as_floats, check_level, check_positive


class MeanInterval(NamedTuple):
    """A mean between the ends of its confidence interval, which are nan for a single value."""

    mean: float
    low: float
    high: float


def mean_interval(values: npt.ArrayLike, overlap: float = 0.0, level: float = 0.95) -> MeanInterval:
    """Estimate a mean over repeats with Student's t, for example of paired differences of two methods.

    Parameters
    ----------
    values : array-like of shape (n_repeats,)
    overlap : float, default=0.0
        n_test / n_train if the repeats are random splits of one set of samples; 0 if they are independent.
    level : float, default=0.95

    Returns
    -------
    MeanInterval
        Unpacks as mean, low, high.

    Raises
    ------
    ValueError
        If a value is not a finite number, there is none, the overlap is negative or the level not between 0 and 1.

    Notes
    -----
    The training parts of random splits overlap, so the mean of J repeats varies more than by var / J. Nadeau and Bengio
    (Machine Learning 52, 2003) use (1 / J + n_test / n_train) var instead. It does not shrink to zero with J: repeating
    the split says nothing about other samples.

    Examples
    --------
    >>> from paucens.metrics import mean_interval
    >>> [round(x, 4) for x in mean_interval([0.01, 0.02, 0.03])]
    [0.02, -0.0048, 0.0448]
    >>> [round(x, 4) for x in mean_interval([0.01, 0.02, 0.03], overlap=1.0)]
    [0.02, -0.0297, 0.0697]
    """
    values = as_floats("values", values, "one number per repeat")
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise ValueError(f"values must be one finite number per repeat, shape (J,), J > 0; got {values}.")
    check_positive("overlap", overlap, zero=True)
    check_level("level", level)
    mean, n_repeats = float(values.mean()), len(values)
    if n_repeats < 2:
        return MeanInterval(mean, math.nan, math.nan)
    error = math.sqrt((1 / n_repeats + overlap) * values.var(ddof=1))
    half_width = float(stdtrit(n_repeats - 1, (1 + level) / 2)) * error
    return MeanInterval(mean, mean - half_width, mean + half_width)
