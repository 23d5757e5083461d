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
    best = min(allowed + 1, len(negatives))
    negatives = -np.partition(-negatives, best - 1)[:best]
    scores = np.concatenate([positives, negatives])
    order = np.argsort(-scores)
    ranked = scores[order]
    true = np.cumsum(order < len(positives)) / len(positives)
    n_false = np.cumsum(order >= len(positives))
    tolerance = SAME * np.abs(ranked).max()
    ends = np.flatnonzero(np.append(ranked[:-1] - ranked[1:] > tolerance, True))
    ends = ends[n_false[ends] <= allowed]
    advantage = true[ends] - n_false[ends] / n_negatives
    if len(ends) == 0 or advantage.max() <= 0:
        return float(ranked[0] + 1.0)  # nothing is worth a false alarm
    end = ends[advantage.argmax()]
    if end == len(ranked) - 1:
        return float(ranked[-1] - 1.0)
    return float(ranked[end] / 2 + ranked[end + 1] / 2)
