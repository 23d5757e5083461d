"""Ranges of false positive rates and the ranks of the negatives in them."""

import math
from numbers import Real

import numpy as np

RATE_TOLERANCE = 1e-9  # relative; 1 - 0.999999 is off by 3e-11, 100 * 0.29 by 1e-16


def check_fpr_range(fpr_range):
    """Return the two ends of a range of false positive rates as floats, or raise ValueError.

    Parameters
    ----------
    fpr_range : tuple of two floats
        0 <= alpha < beta <= 1.

    Returns
    -------
    alpha, beta : float

    Examples
    --------
    >>> check_fpr_range([0, 0.1])
    (0.0, 0.1)
    """
    ends = tuple(fpr_range) if np.iterable(fpr_range) else ()
    if not (len(ends) == 2 and all(isinstance(end, Real) for end in ends) and 0 <= ends[0] < ends[1] <= 1):
        raise ValueError(f"fpr_range must be two rates 0 <= alpha < beta <= 1; got {fpr_range!r}.")
    alpha, beta = float(ends[0]), float(ends[1])
    if beta - alpha <= RATE_TOLERANCE * beta:
        raise ValueError(
            f"fpr_range must be wider than {RATE_TOLERANCE:g} of beta, within which rates count as equal; got "
            f"{fpr_range!r}. Widen it, or ask for one rate: tpr_at_fpr(..., rule='interpolate')."
        )
    return alpha, beta


def rank_range(n_negatives, fpr_range):
    """Return the ranks that a range of false positive rates holds among n negatives.

    Parameters
    ----------
    n_negatives : int or float
        n; a float is the total weight of negatives whose weights are not whole numbers.
    fpr_range : tuple of two floats
        alpha and beta.

    Returns
    -------
    j_alpha, j_beta : int, or float for a total weight
        ceil(n alpha) and floor(n beta). The range holds the negatives of rank j_alpha + 1 to j_beta. It is empty
        if j_beta <= j_alpha, which happens for short ranges; the caller decides whether that is an error. For a total
        weight the ends are n alpha and n beta, and a negative at an end is in the range in part.

    Notes
    -----
    A product that rounding moved past a whole number (100 * 0.29 = 28.999...) counts as that number.

    Examples
    --------
    >>> rank_range(100, (0.07, 0.29))
    (7, 29)
    """
    n, (alpha, beta) = n_negatives, fpr_range
    if isinstance(n, float):
        return n * alpha, n * beta
    return math.ceil(n * alpha * (1 - RATE_TOLERANCE)), min(n, math.floor(n * beta * (1 + RATE_TOLERANCE)))
