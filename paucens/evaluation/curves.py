"""Miss rate against false positives per image or per window, and its summary by one number."""

import numpy as np

from paucens.evaluation.matching import match_images
from paucens.metrics import roc_points, tpr_at_fpr
from paucens.validation import as_floats

# Nine false positives per image, 0.01 to 1, evenly spaced on a log scale. They are powers of numbers, not of an array:
# NumPy's last digit there depends on the processor, and some curves end exactly at a reference.
REFERENCES = np.array([10.0 ** (k / 4) for k in range(-8, 1)])


def miss_rate_curve(detections, truths, ignores, overlap=0.5, *, with_scores=False):
    """Compute the miss rate against the false positives per image.

    Parameters
    ----------
    detections, truths, ignores : lists
        One entry per image: rows x, y, w, h, score; rows x, y, w, h of people; and of regions that do not count.
    overlap : float, default=0.5
        Least overlap, see `match_detections`.
    with_scores : bool, default=False
        Whether to return the scores too.

    Returns
    -------
    fppi, miss : ndarrays of shape (1 + n_counted,)
        (0, 1), then one point per detection that counts, best first; fppi rises, miss falls.
    scores : ndarray of shape (1 + n_counted,)
        If asked for: infinity, then the score of each of these detections. `Matches.threshold_at` finds one.

    Raises
    ------
    ValueError
        See `match_images`.

    Notes
    -----
    As in dbEval, each of several detections of equal score is a point of its own, in the given order.

    Examples
    --------
    >>> detections = [[[0, 0, 4, 9, 0.9], [50, 0, 4, 9, 0.8]], [[0, 0, 4, 9, 0.7]]]
    >>> fppi, miss = miss_rate_curve(detections, [[[0, 0, 4, 9]], [[0, 0, 4, 9]]], [[], []])
    >>> fppi.tolist(), miss.tolist()
    ([0.0, 0.0, 0.5, 0.5], [1.0, 0.5, 0.5, 0.0])
    """
    matches = match_images(detections, truths, ignores, overlap)
    return (*matches.curve(), matches.scores()) if with_scores else matches.curve()


def miss_rates_at(fppi, miss, references=REFERENCES) -> np.ndarray:
    """Read a curve at given false positives per image: its last point with at most that many, or 1.

    Parameters
    ----------
    fppi, miss : array-like of shape (n_points,)
        A curve; fppi must not fall. A curve that ends early keeps its last miss rate.
    references : array-like of shape (n_references,)
        Not nan. Default: the nine of the log-average miss rate.

    Returns
    -------
    misses : ndarray of shape (n_references,)

    Raises
    ------
    ValueError
        If the curve is invalid: other shapes, nan, fppi that falls, miss outside [0, 1]. If a reference is nan.

    Examples
    --------
    >>> miss_rates_at([0.05, 0.5], [0.6, 0.2], [0.01, 0.1, 1])
    array([1. , 0.6, 0.2])
    """
    fppi, miss = as_floats("fppi", fppi, "a list of numbers"), as_floats("miss", miss, "a list of numbers")
    if fppi.ndim != 1 or fppi.shape != miss.shape:
        raise ValueError(f"fppi and miss must have the same length; got shapes {fppi.shape} and {miss.shape}.")
    if np.isnan(fppi).any() or (fppi[1:] < fppi[:-1]).any():
        raise ValueError("fppi must not fall from point to point, nor be nan; sort the curve by falling threshold.")
    if not ((miss >= 0) & (miss <= 1)).all():
        raise ValueError(f"miss must be fractions in [0, 1]; got {miss[~((miss >= 0) & (miss <= 1))][0]:g}.")
    references = as_floats("references", references, "a list of false positives per image")
    if np.isnan(references).any():
        raise ValueError("references must be false positives per image; got nan.")
    return np.concatenate(([1.0], miss))[np.searchsorted(fppi, references, side="right")]


def log_average_miss_rate(fppi, miss) -> float:
    """Compute the geometric mean of the miss rate at nine false positives per image, 0.01 to 1.

    Parameters
    ----------
    fppi, miss : array-like of shape (n_points,)
        As returned by `miss_rate_curve`.

    Returns
    -------
    rate : float
        A fraction in [0, 1]. It is 0 if nobody is missed at one of the references; there is no clamp.

    Raises
    ------
    ValueError
        See `miss_rates_at`.

    Notes
    -----
    The paper says "the AUC from 9 points"; every released tool takes the geometric mean of the last points of the curve
    that are not to the right of a reference (Dollar et al. 2012; dbEval 3.2.1).

    Examples
    --------
    >>> round(log_average_miss_rate([0, 0.1], [0.64, 0.16]), 3)
    0.296
    """
    return geometric_mean(miss_rates_at(fppi, miss))


def geometric_mean(misses) -> float:
    """Compute the geometric mean; 0 if one of the numbers is 0."""
    return float(np.exp(np.log(misses).mean())) if misses.all() else 0.0


# -- windows instead of images ---------------------------------------------------------------------


def fppw_curve(scores_pos, scores_neg):
    """Compute the miss rate against the false positives per window, for a classifier of cut-out windows.

    Parameters
    ----------
    scores_pos, scores_neg : array-like of shape (m,) and (n,)
        Scores of windows with a person and without; larger means more like a person.

    Returns
    -------
    fppw, miss : ndarrays of shape (n_points,)
        One point per distinct score as threshold (a window at the threshold counts as found), from (0, 1) to (1, 0).

    Raises
    ------
    ValueError
        If there are no scores of one kind, or a score is not finite.

    Examples
    --------
    >>> fppw, miss = fppw_curve([0.9, 0.4], [0.5, 0.3, 0.2, 0.1])
    >>> fppw.tolist(), miss.tolist()
    ([0.0, 0.0, 0.25, 0.25, 0.5, 0.75, 1.0], [1.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0])
    """
    fppw, found, _ = roc_points(*_labelled(scores_pos, scores_neg))
    return fppw, 1 - found


def miss_rate_at_fppw(scores_pos, scores_neg, fppw=1e-4) -> float:
    """Compute the miss rate at a number of false positives per window, which may be reached but not exceeded.

    Parameters
    ----------
    scores_pos, scores_neg : array-like
        Scores of windows with and without an object.
    fppw : float, default=1e-4

    Returns
    -------
    miss_rate : float
        A fraction in [0, 1].

    Examples
    --------
    >>> miss_rate_at_fppw([0.9, 0.4], [0.5, 0.3, 0.2, 0.1], 0.3)
    0.0
    """
    return 1 - tpr_at_fpr(*_labelled(scores_pos, scores_neg), fppw)


def _labelled(scores_pos, scores_neg):
    parts = [np.ravel(np.asarray(scores)) for scores in (scores_neg, scores_pos)]
    lengths = [len(part) for part in parts]
    if not all(lengths):
        raise ValueError(f"Windows with and without a person are needed; got {lengths[1]} and {lengths[0]}.")
    return np.repeat([0, 1], lengths), np.concatenate(parts)
