"""Where to cut the training scores."""

import numpy as np

from paucens.metrics import band_indices

SAME = 1e-12  # scores closer than this share of the largest one differ by rounding only


def training_threshold(positives, negatives, n_negatives, beta):
    """Find the threshold of largest TPR - FPR among those of FPR <= beta.

    Parameters
    ----------
    positives : ndarray of shape (m,)
        Scores.
    negatives : ndarray
        Scores of the best negatives, at least floor(n beta) + 1 of them or all.
    n_negatives : int
        How many negatives there are, n.
    beta : float

    Returns
    -------
    threshold : float
        Halfway between neighbouring distinct scores; finite beyond either end.

    Examples
    --------
    >>> training_threshold(np.array([3.0, 1.0]), np.array([2.0, 0.0]), 2, beta=0.1)
    2.5
    """
    allowed = band_indices(n_negatives, 0.0, beta)[1]
    n_cuts = min(allowed + 1, len(negatives))
    best = np.sort(np.partition(negatives, len(negatives) - n_cuts)[len(negatives) - n_cuts :])[::-1]
    ranked = np.sort(positives)
    top = max(best[0], ranked[-1])
    tolerance = SAME * max(abs(top), abs(best[-1]), abs(ranked[0]))
    # The best cuts stand just above a negative: the one of rank t + 1, with t negatives above it.
    n_below = np.searchsorted(ranked, best + tolerance, side="right")
    advantage = 1 - n_below / len(ranked) - np.arange(n_cuts) / n_negatives
    advantage[1:][best[:-1] - best[1:] <= tolerance] = -1  # tied negatives are not parted
    t = int(advantage.argmax())
    if advantage[t] <= 0:
        return float(top + 1.0)  # nothing is worth a false alarm
    above = ranked[n_below[t]] if t == 0 else min(ranked[n_below[t]], best[t - 1])
    return float(best[t] / 2 + above / 2)
