"""All orderings of a few positives and negatives by brute force, and the master problem by an independent solver."""

import functools
import itertools

import daqp
import numpy as np


@functools.cache
def orderings(m, n):
    """Return the 0/1 matrices of all orders of m positives and n negatives, 1 if the negative ranks higher.

    Returns matrices (k, m, n) and the sums of their columns, largest first (k, n): the order of negatives
    without a positive between them does not matter, and higher ones have larger sums.
    """
    places = np.array(list(itertools.permutations(range(m + n))))
    above = places[:, None, m:] < places[:, :m, None]
    matrices = np.unique(above.reshape(len(places), m * n), axis=0).reshape(-1, m, n)
    return matrices, -np.sort(-matrices.sum(axis=1), axis=1)


def brute_force(scores_pos, scores_neg, j_alpha, j_beta, formulation):
    """Return the largest loss - s . scores over all orderings, and all subsets of j_beta negatives if tight."""
    s, t = np.array(scores_pos), np.array(scores_neg)
    m, n = len(s), len(t)
    subsets = itertools.combinations(range(n), j_beta) if formulation == "tight" else [range(n)]
    best = -np.inf
    for subset in subsets:
        matrices, column_sums = orderings(m, len(subset))
        losses = column_sums[:, j_alpha:j_beta].sum(axis=1)
        values = losses + (matrices * (t[list(subset)] - s[:, None])).sum(axis=(1, 2))
        best = max(best, values.max())
    return best / (m * (j_beta - j_alpha))


def every_cut(H, m, j_alpha, j_beta, formulation):
    """Return features s . h and losses of the cuts of all orderings, of all subsets if tight, each once."""
    n = H.shape[1] - m
    found = []
    subsets = [range(n)]
    if formulation == "tight":
        subsets = [s for s in np.ndindex(*[n] * j_beta) if all(a < b for a, b in itertools.pairwise(s))]
    for subset in subsets:
        matrices, column_sums = orderings(m, len(subset))
        gaps = H[:, :m, None] - H[:, None, m:][:, :, list(subset)]  # h(positive) - h(negative), (t, m, k)
        features = np.tensordot(matrices, gaps, axes=([1, 2], [1, 2]))
        losses = column_sums[:, j_alpha:j_beta].sum(axis=1, keepdims=True)
        found.append(np.hstack([features, losses]) / (m * (j_beta - j_alpha)))
    rows = np.unique(np.round(np.vstack(found), 12), axis=0)
    return rows[:, :-1], rows[:, -1]


def full_solution(features, losses, nu):
    """Minimise |w|^2 / 2 + nu max(0, losses - features w) by daqp; return weights and value."""
    t = features.shape[1]
    hessian = np.diag([1.0] * t + [1e-5])  # the slack nearly linear
    rows = np.hstack([-features, -np.ones((len(losses), 1))])
    bounds = np.concatenate([np.full(t + 1, 1e6), -losses])
    lowest = np.concatenate([np.full(t, -1e6), [0.0], np.full(len(losses), -1e30)])
    linear = np.array([0.0] * t + [nu])
    x, _, status, _ = daqp.solve(hessian, linear, rows, bounds, lowest, np.zeros(len(bounds), np.int32))
    assert status == 1
    weights = x[:t]
    return weights, weights @ weights / 2 + nu * max(0.0, (losses - features @ weights).max())
