"""Signed weights as integers, whose sums are exact."""

import numpy as np

from paucens.validation import total_weight

ALONE = 1024  # a weight of more than this many times the sum of the others would leave them too little of the grid
GRID_BITS = 30  # sum of |weights| on the grid stays below 2**31, with room for rounding
MOST_COPIES = 2**24  # samples on the grid one by one; of more of them, each would have less than 6 bits


def to_grid(signed_weights, copies=None):
    """Round weights to integers on the finest power-of-two grid whose sum of magnitudes fits int32.

    Sums on the grid are exact, so trees do not depend on the order of rows or the number of threads.

    Parameters
    ----------
    signed_weights : ndarray of shape (n_samples,)
    copies : ndarray of shape (n_samples,), default=None
        How many equal samples each stands for, whole numbers. Each of them is rounded on its own, as if it had a row of
        its own: so the sums, and the ties between sums, are those of repeated rows.

    Returns
    -------
    grid : ndarray of int32
    exponent : int
        grid = rint(signed_weights * 2**exponent).
    """
    shift = np.frexp(np.abs(signed_weights).max(initial=0.0))[1]  # first to about 1: no sum overflows
    near_one = np.ldexp(signed_weights, -shift)
    exponent = GRID_BITS - np.frexp(np.abs(near_one).sum())[1]
    if copies is None:
        grid = np.rint(np.ldexp(near_one, exponent))
    else:
        grid = copies * np.rint(np.ldexp(near_one / copies, exponent))
    return grid.astype(np.int32), int(exponent - shift)


def are_copies(weights):
    """Tell whether weights are numbers of repeated rows that `to_grid` can round one by one."""
    total = total_weight(weights)
    return isinstance(total, int) and total <= MOST_COPIES


def without_excess(signed_weights):
    """Lower a weight that far exceeds the sum of all others to twice this sum.

    It decides the signs of its leaves alone, before and after. So gains and trees with sign leaves stay the same, and
    the others get a share of the grid.
    """
    magnitudes = np.abs(signed_weights)
    heaviest = int(magnitudes.argmax())
    others = magnitudes[:heaviest].sum() + magnitudes[heaviest + 1 :].sum()
    if not 0 < others < magnitudes[heaviest] / ALONE:
        return signed_weights
    lowered = signed_weights.copy()
    lowered[heaviest] = np.copysign(2 * others, signed_weights[heaviest])
    return lowered
