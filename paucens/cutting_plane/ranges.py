"""The rank ranges to train for, and the threshold on the training scores."""

import numpy as np

from paucens.cutting_plane.cut import falling_order
from paucens.metrics import check_fpr_range, rank_range
from paucens.metrics.ranges import RATE_TOLERANCE
from paucens.validation import check_positive, warn_user

ANNEALED_SHARE = 0.97  # share of the rounds over which the range narrows
SUM_TOLERANCE = 1e-9  # of shares, which are decimals
NARROWEST = 1e-9  # share of the total weight of the negatives that a range holds at least
SAME = 1e-12  # scores closer than this share of what they are summed from differ by rounding only


def training_rank_range(n_negatives, fpr_range):
    """Return the rank range to train for, j_alpha and j_beta.

    It holds at least one rank if alpha is 0; of a total weight that is no whole number it holds at least 1e-9.

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
    if isinstance(n_negatives, float):
        return j_alpha, max(j_beta, j_alpha + NARROWEST * n_negatives)
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
    n_negatives : int, or float if it is a total weight
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
    # Not by NumPy, whose powers of arrays are rounded as the processor's instructions have it.
    betas = (beta ** (t / (ANNEALED_SHARE * n_rounds)) for t in range(1, n_rounds + 1))
    return [(0, max(last[1], rank_range(n_negatives, (0.0, beta_t))[1])) for beta_t in betas]


def wider_ranges(n_negatives, fpr_range, mixture):
    """Return the ranges of a mixture but the one that is wanted, as pairs of share and rank range, the widest first.

    Parameters
    ----------
    n_negatives : int, or float if it is a total weight
    fpr_range : tuple of two floats
        [0, beta].
    mixture : None, "auto" or list of (float, float)
        Pairs of beta_k and share, beta among them; shares have the sum 1. "auto" is equal shares of 1, 0.1, 0.01, ...
        down to beta. None has no further range.

    Raises
    ------
    ValueError
        If the mixture is none of these, or the range does not start at 0.

    Notes
    -----
    [0, 1] is the first range, of share 0 if the mixture does not hold it, unless it is the wanted one.

    Examples
    --------
    >>> wider_ranges(200, (0, 0.05), [(0.05, 0.5), (1, 0.3), (0.2, 0.2)])
    [(0.3, (0, 200)), (0.2, (0, 40))]
    """
    if mixture is None:
        return []
    alpha, beta = check_fpr_range(fpr_range)
    shares = _equal_shares(beta) if isinstance(mixture, str) and mixture == "auto" else _checked_shares(mixture)
    if alpha > 0 or beta not in shares:
        raise ValueError(
            f"A mixture is of ranges that start at 0, among them the wanted one; got fpr_range={fpr_range} and betas "
            f"{sorted(shares, reverse=True)}. Add ({beta:g}, its share), or set mixture=None."
        )
    shares = {1.0: 0.0} | shares
    betas = sorted(shares.keys() - {beta}, reverse=True)
    least = 1 if isinstance(n_negatives, int) else NARROWEST * n_negatives
    return [(shares[one], (0, max(least, rank_range(n_negatives, (0.0, one))[1]))) for one in betas]


def _equal_shares(beta):
    """Return equal shares of 1, 0.1, 0.01, ... down to beta."""
    decades = int(np.ceil(-np.log10(beta) - 1e-9))
    betas = [float(f"1e-{k}") for k in range(decades)] + [beta]
    return dict.fromkeys(betas, 1 / len(betas))


def _checked_shares(mixture):
    """Return the shares of a mixture by their betas."""
    try:
        pairs = [(check_positive("beta", beta, most=1), check_positive("share", share)) for beta, share in mixture]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"mixture must be None, 'auto' or pairs of a beta in (0, 1] and a positive share, such as "
            f"[(1, 0.5), (0.1, 0.5)]; got {mixture!r}."
        ) from error
    shares = dict(pairs)
    if len(shares) < len(pairs) or abs(sum(shares.values()) - 1) > SUM_TOLERANCE:
        raise ValueError(f"mixture must have distinct betas, and shares of sum 1; got {mixture!r}.")
    return shares


def training_threshold(positives, negatives, n_negatives, beta, size=0.0, weights=(None, None)):
    """Find the threshold of largest TPR - FPR among those of FPR <= beta.

    Parameters
    ----------
    positives : ndarray of shape (m,)
        Scores.
    negatives : ndarray
        Scores of the best negatives, at least floor(n beta) + 1 of them or all.
    n_negatives : int or float
        Number, or total weight, of all negatives, n.
    beta : float
    size : float, default=0.0
        What the magnitudes of the terms of a score sum to at most; scores that differ by a rounding error of this sum
        are equal. By default scores are equal if their bits are.
    weights : pair of ndarray or None, default=(None, None)
        How much each of the positives and of these negatives counts; None is 1 each.

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
    best, n_passed = _best_negatives(negatives, allowed, weights[1])
    ranked, counted = _ranked_positives(positives, weights[0])
    top = max(best[0], ranked[-1])
    tolerance = SAME * size
    # The candidates are just above a negative: candidate t is above best[t], and n_passed[t] negatives pass.
    n_below = np.searchsorted(ranked, best + tolerance, side="right")
    advantage = 1 - counted[n_below] / counted[-1] - n_passed / n_negatives
    advantage[1:][best[:-1] - best[1:] <= tolerance] = -1  # no threshold lies between tied negatives
    t = int(advantage.argmax())
    if advantage[t] <= 0:
        return float(top + 1.0)  # no threshold gains more than it costs
    above = ranked[n_below[t]] if t == 0 else min(ranked[n_below[t]], best[t - 1])
    middle = best[t] / 2 + above / 2
    return float(middle if best[t] <= middle < above else best[t])


def _best_negatives(negatives, allowed, weights):
    """Return the scores above which at most so many negatives lie, best first, and how many lie above each."""
    if weights is None:
        n = min(allowed + 1, len(negatives))
        return np.sort(np.partition(negatives, len(negatives) - n)[len(negatives) - n :])[::-1], np.arange(n)
    order = falling_order(negatives)
    above = np.cumsum(weights[order]) - weights[order]
    n = np.searchsorted(above, allowed * (1 + RATE_TOLERANCE), side="right")
    return negatives[order[:n]], above[:n]


def _ranked_positives(positives, weights):
    """Return the scores in ascending order and how many positives the first 0, 1, ... of them are."""
    if weights is None:
        return np.sort(positives), np.arange(len(positives) + 1)
    order = falling_order(-positives)
    return positives[order], np.concatenate([[0.0], np.cumsum(weights[order])])
