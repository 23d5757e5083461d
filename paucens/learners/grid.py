"""Signed weights as integers, whose sums are exact."""

import numpy as np

ALONE = 1024  # a weight of more than this many times the sum of the others would leave them too little of the grid
GRID_BITS = 30  # sum of |weights| on the grid stays below 2**31, with room for rounding


def to_grid(signed_weights):
    """Round weights to integers on the finest power-of-two grid whose sum of magnitudes fits int32.

    Sums on the grid are exact, so trees do not depend on the order of rows or the number of threads.

    Returns
    -------
    grid : ndarray of int32
    exponent : int
        grid = rint(signed_weights * 2**exponent).
    """
    shift = np.frexp(np.abs(signed_weights).max(initial=0.0))[1]  # first to about 1: no sum overflows
    near_one = np.ldexp(signed_weights, -shift)
    exponent = GRID_BITS - np.frexp(np.abs(near_one).sum())[1]
    return np.rint(np.ldexp(near_one, exponent)).astype(np.int32), int(exponent - shift)


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
