"""The rank ranges to train for, and the threshold on the training scores."""

import numpy as np

from paucens.metrics import check_fpr_range, rank_range
from paucens.validation import warn_user

ANNEALED_SHARE = 0.97  # share of the rounds over which the range narrows
SAME = 1e-12  # scores closer than this share of what they are summed from differ by rounding only


def training_rank_range(n_negatives, fpr_range):
    """Return the rank range to train for, j_alpha and j_beta; it holds at least one rank if alpha is 0.

    Raises
    ------
    ValueError
        If a range with alpha > 0 holds no rank.

    Warns
    -----
    UserWarning
        If alpha is 0 and the range is narrower than one negative.
    """
    alpha, beta = check_fpr_range(fpr_range)
    j_alpha, j_beta = rank_range(n_negatives, (alpha, beta))
    if alpha == 0 and j_beta == 0:
        warn_user(
            f"The range (0, {beta:g}) is narrower than one of {n_negatives} negatives; the best one is used instead. "
            f"It takes {np.ceil(1 / beta):.15g} negatives to hold one."
        )
        j_beta = 1
    if j_beta <= j_alpha:
        raise ValueError(
            f"The range ({alpha:g}, {beta:g}) holds no position among {n_negatives} negatives; it takes about "
            f"{np.ceil(2 / (beta - alpha)):.15g} negatives, or a wider range."
        )
    return j_alpha, j_beta


def training_rank_ranges(n_negatives, fpr_range, n_rounds, anneal):
    """Return the rank range of each round, a list.

    Parameters
    ----------
    n_negatives : int
    fpr_range : tuple of two floats
    n_rounds : int
        T.
    anneal : bool
        Whether the range of round t is [0, beta_t], beta_t = max(beta, beta^(t / (0.97 T))), t = 1..T. Ranges with
        alpha > 0 are never annealed.
    """
    alpha, beta = check_fpr_range(fpr_range)
    last = training_rank_range(n_negatives, fpr_range)
    if not anneal or alpha > 0:
        return [last] * n_rounds
    betas = beta ** (np.arange(1, n_rounds + 1) / (ANNEALED_SHARE * n_rounds))
    return [(0, max(last[1], rank_range(n_negatives, (0.0, beta_t))[1])) for beta_t in betas]


def training_threshold(positives, negatives, n_negatives, beta, size=0.0):
    """Find the threshold of largest TPR - FPR among those of FPR <= beta.

    Parameters
    ----------
    positives : ndarray of shape (m,)
        Scores.
    negatives : ndarray
        Scores of the best negatives, at least floor(n beta) + 1 of them or all.
    n_negatives : int
        Number of all negatives, n.
    beta : float
    size : float, default=0.0
        What the magnitudes of the terms of a score sum to at most; scores that differ by a rounding error of this sum
        are equal. By default scores are equal if their bits are.

    Returns
    -------
    threshold : float
        Halfway between neighbouring distinct scores; finite beyond either end.

    Examples
    --------
    >>> training_threshold(np.array([3.0, 1.0]), np.array([2.0, 0.0]), 2, beta=0.1)
    2.5
    """
    allowed = rank_range(n_negatives, (0.0, beta))[1]
    n_candidates = min(allowed + 1, len(negatives))
    best = np.sort(np.partition(negatives, len(negatives) - n_candidates)[len(negatives) - n_candidates :])[::-1]
    ranked = np.sort(positives)
    top = max(best[0], ranked[-1])
    tolerance = SAME * size
    # The candidates are just above a negative: candidate t is above the negative of rank t + 1, and t negatives pass.
    n_below = np.searchsorted(ranked, best + tolerance, side="right")
    advantage = 1 - n_below / len(ranked) - np.arange(n_candidates) / n_negatives
    advantage[1:][best[:-1] - best[1:] <= tolerance] = -1  # no threshold lies between tied negatives
    t = int(advantage.argmax())
    if advantage[t] <= 0:
        return float(top + 1.0)  # no threshold gains more than it costs
    above = ranked[n_below[t]] if t == 0 else min(ranked[n_below[t]], best[t - 1])
    middle = best[t] / 2 + above / 2
    return float(middle if best[t] <= middle < above else best[t])
