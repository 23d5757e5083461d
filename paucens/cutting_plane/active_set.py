"""The restricted master's dual by an active set, for problems on which pairwise steps would crawl.

Steps along pairs of cuts shrink with the condition of the Gram matrix, so they crawl if nu is huge, or if features
are large or of unequal scale. An active set solves for all of its weights at once. It works on the cuts themselves:
their Gram matrix would square the condition.
"""

import math

import numpy as np

from paucens._kernels.active_set import solve_active_set

VANISHING = 1e-60  # of the largest weight over the square root of the budget: its square is beyond rounding
PIVOTS = 4  # changes of the active set per cut; more than are needed without rounding errors


def solve_by_active_set(features, losses, budget, x, tolerance):
    """Solve for the weights of all cuts, from the cuts that are active in x on.

        maximise  losses . x - |features' x|^2 / 2   subject to  x >= 0, sum x <= budget

    Parameters
    ----------
    features : ndarray of shape (n_cuts, n_learners)
    losses : ndarray of shape (n_cuts,)
    budget : float
    x : ndarray of shape (n_cuts,)
        Where to start; the solution is written here.
    tolerance : float
        Duality gap that is small enough.

    Returns
    -------
    weights : ndarray of shape (n_learners,)
        features' x, without most of the rounding errors of this sum.
    value : float
        The value of x, less what it may owe to rounding errors; 0 if it is negative.
    gap : float
        An upper bound on the distance of value from the maximum. Rounding errors can keep it above `tolerance`.
    """
    n_cuts, n_learners = len(features) + 1, features.shape[1]  # the slack is one more cut
    unit = float(np.abs(features).max(initial=0.0)) or 1.0
    if unit * math.sqrt(budget) < VANISHING:
        return _solve_linear(features, losses, budget, x)
    length = budget * unit
    cuts = np.ones((n_cuts, n_learners + 1))
    cuts[:-1, :-1], cuts[-1, :-1] = features / unit, 0.0
    shares = np.append(x, max(budget - x.sum(), 0.0)) / budget
    order = np.argsort(-shares, kind="stable")[: np.count_nonzero(shares)].astype(np.int32)
    room, weights = min(cuts.shape), np.empty(n_learners + 1)
    value, gap = solve_active_set(
        cuts,
        np.append(losses / length / unit, 0.0),
        order,
        tolerance / length / length,
        PIVOTS * n_cuts,
        shares,
        weights,
        np.empty(room, dtype=np.int32),
        np.empty((room, n_learners + 1)),
        np.empty((room, room)),
        np.empty(2 * room + n_learners + 1),
    )
    x[:] = budget * shares[:-1]
    return length * weights[:-1], length * (length * value), length * (length * gap)


def _solve_linear(features, losses, budget, x):
    """Do as `solve_by_active_set` if the quadratic term is next to nothing: all budget to the largest loss."""
    x[:] = 0.0
    best = int(losses.argmax())
    x[best] = budget if losses[best] > 0 else 0.0
    weights = x[best] * features[best]
    gap = 0.5 * float(weights @ weights)
    return weights, max(0.0, float(losses[best] * x[best]) - gap), gap
