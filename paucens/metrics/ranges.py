"""Ranges of false positive rates and the negatives they hold."""

import math
from numbers import Real

import numpy as np

RATE_TOLERANCE = 1e-9  # relative; a rate such as 1 - .999999 is off by 3e-11, 100 * .29 by 1e-16


def check_fpr_range(fpr_range):
    """Return the two ends of a range of false positive rates as floats, or raise ValueError.

    Examples
    --------
    >>> check_fpr_range([0, 0.1])
    (0.0, 0.1)
    """
    ends = tuple(fpr_range) if np.iterable(fpr_range) else ()
    if len(ends) == 2 and all(isinstance(end, Real) for end in ends) and 0 <= ends[0] < ends[1] <= 1:
        return float(ends[0]), float(ends[1])
    raise ValueError(f"fpr_range must be two rates 0 <= alpha < beta <= 1; got {fpr_range!r}.")


def band_indices(n, alpha, beta):
    """Return j_alpha = ceil(n alpha) and j_beta = floor(n beta), the ends of the band among n negatives.

    The band holds the negatives ranked j_alpha + 1 to j_beta; it is empty where j_beta <= j_alpha, which
    happens for short ranges and is for the caller to judge.

    Notes
    -----
    A product that rounding moved past a whole number (100 * .29 = 28.999...) counts as that number.

    Examples
    --------
    >>> band_indices(100, 0.07, 0.29)
    (7, 29)
    """
    return math.ceil(n * alpha * (1 - RATE_TOLERANCE)), min(n, math.floor(n * beta * (1 + RATE_TOLERANCE)))
