"""The ROC curve and its operating points."""

from typing import Any

import numpy as np
import numpy.typing as npt

from paucens.metrics._influences import rates
from paucens.metrics._samples import last_place, tallies_of
from paucens.metrics.binomial import most_above, samples_needed
from paucens.metrics.ranges import RATE_TOLERANCE
from paucens.validation import check_choice, check_level, check_positive

LIFT = 2.0**60  # slopes between rates that differ by as little as 5e-324 stay finite


def roc_points(
    y_true: npt.ArrayLike, y_score: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None, pos_label: Any = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute every corner of the empirical ROC curve.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two distinct labels: numbers, booleans or strings.
    y_score : array-like of shape (n_samples,)
        Finite scores, larger for "more positive".
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; rows of weight 0 are left out.
    pos_label : label, default=None
        The positive label; None means the larger of the two.

    Returns
    -------
    fpr, tpr : ndarray of shape (n_distinct_scores + 1,)
        Rates in [0, 1] of the samples with score >= threshold, starting at (0, 0).
    thresholds : ndarray of shape (n_distinct_scores + 1,)
        Infinity, then the distinct scores from high to low.

    Raises
    ------
    ValueError
        If lengths differ, a score or weight is not finite, `y_true` does not hold two labels, or scores are integers
        beyond 2^53, which cannot stand beside infinity.

    Notes
    -----
    Equal to ``sklearn.metrics.roc_curve(drop_intermediate=False)``.

    Examples
    --------
    >>> fpr, tpr, thresholds = roc_points([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8])
    >>> fpr.tolist(), tpr.tolist()
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0])
    >>> thresholds.tolist()
    [inf, 0.8, 0.4, 0.1]
    """
    distinct, *tallies = tallies_of(y_true, y_score, sample_weight, pos_label)
    if distinct.dtype.kind != "f":
        raise ValueError(
            "Thresholds are floats, since the first one is infinity, and floats beyond 2^53 cannot hold all integers; "
            f"got integer scores from {distinct[-1]} to {distinct[0]}. Subtract a common offset from the scores, or "
            "rank them: np.unique(y_score, return_inverse=True)[1]."
        )
    return *rates(*tallies), np.concatenate(([np.inf], distinct))


def tpr_at_fpr(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    fpr: float,
    *,
    rule: str = "strict",
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Compute the true positive rate at a false positive rate.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two distinct labels: numbers, booleans or strings.
    y_score : array-like of shape (n_samples,)
        Finite scores, larger for "more positive".
    fpr : float
        False positive rate in [0, 1].
    rule : {"strict", "interpolate"}, default="strict"
        "strict" takes the largest attained rate that is at most `fpr` (up to rounding), so a threshold
        attains the result. "interpolate" follows the straight line to the next corner of the curve.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; rows of weight 0 are left out.
    pos_label : label, default=None
        The positive label; None means the larger of the two.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If lengths differ, a score or weight is not finite, `y_true` does not hold two labels, or `fpr` or `rule`
        is not allowed.

    Examples
    --------
    >>> y, score = [0, 0, 1, 1, 1], [0.1, 0.7, 0.7, 0.2, 0.9]
    >>> [round(tpr_at_fpr(y, score, 0.4, rule=rule), 3) for rule in ("strict", "interpolate")]
    [0.333, 0.6]
    """
    check_choice("rule", rule, ("strict", "interpolate"))
    fpr = check_positive("fpr", fpr, zero=True, most=1)
    _, *tallies = tallies_of(y_true, y_score, sample_weight, pos_label)
    attained, tpr = rates(*tallies)
    corner = _last_corner(attained, fpr)
    if rule == "strict":
        return float(tpr[corner])
    return float(np.interp(max(fpr, attained[corner]) * LIFT, attained * LIFT, tpr))


def threshold_at_fpr(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    fpr: float,
    *,
    confidence: float | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Find the smallest score whose rule "score > threshold" keeps the false positive rate within a bound.

    The samples *above* the threshold are the positives, those at the threshold are not. `roc_points` and
    ``sklearn.model_selection.FixedThresholdClassifier`` mean "score >= threshold", which lets the samples at the
    threshold pass and may break the bound. The next float keeps it with either rule::

        threshold = np.nextafter(threshold, np.inf)

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two distinct labels: numbers, booleans or strings.
    y_score : array-like of shape (n_samples,)
        Finite scores, larger for "more positive".
    fpr : float
        Bound on the false positive rate in [0, 1], compared up to rounding.
    confidence : float, default=None
        With a number between 0 and 1, the bound holds for new samples of the same distribution, with this probability
        (0.95, say). None: it holds for these samples; on new ones it is broken about half of the time.
    sample_weight : array-like of shape (n_samples,), default=None
        Non-negative weights; rows of weight 0 are left out. Not with a confidence.
    pos_label : label, default=None
        The positive label; None means the larger of the two.

    Returns
    -------
    float
        One of the scores, hence finite. The largest score lets nothing pass and always keeps the bound. If the scores
        are integers beyond 2^53, an int; the next one is ``threshold + 1``.

    Raises
    ------
    ValueError
        If lengths differ, a score or weight is not finite, `y_true` does not hold two labels, `fpr` is not in
        [0, 1], or there are too few negatives for the confidence. The message says how many it takes: 299 for 0.01
        at 0.95.

    Notes
    -----
    With a confidence the threshold is an order statistic of the scores of the negatives. The rate of the rule exceeds
    `fpr` with the probability that at most k of n negatives lie above it, for a binomial with rate `fpr`; k is the
    largest number for which this is at most 1 - confidence (Tong, Feng and Li, Neyman-Pearson classification
    algorithms and NP receiver operating characteristics, Science Advances 4, 2018). It holds for every distribution
    of scores, if the score was not made from these samples. `FPRThresholdClassifier` sees to that.

    For fpr < 1 the true positive rate of the rule is ``tpr_at_fpr(..., rule="strict")``. At fpr = 1 the result
    is the smallest score, and the samples with this score do not pass; use -inf to let all of them pass.

    Examples
    --------
    >>> threshold = threshold_at_fpr([0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.8, 0.7, 0.9], 0.25)
    >>> threshold
    0.3

    For new samples, with a confidence of 95 %:

    >>> y, score = np.repeat([0, 1], [500, 100]), np.arange(600.0)
    >>> [threshold_at_fpr(y, score, 0.01, confidence=confidence) for confidence in (None, 0.95)]
    [494.0, 498.0]

    In scikit-learn:

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import FixedThresholdClassifier
    >>> X, y = np.arange(6.0)[:, None], [0, 0, 1, 0, 1, 1]
    >>> model = LogisticRegression().fit(X, y)
    >>> threshold = threshold_at_fpr(y, model.decision_function(X), 0)
    >>> model = FixedThresholdClassifier(
    ...     model, threshold=np.nextafter(threshold, np.inf), response_method="decision_function"
    ... )
    >>> model.fit(X, y).predict(X)
    array([0, 0, 0, 0, 1, 1])
    """
    fpr = check_positive("fpr", fpr, zero=True, most=1)
    if confidence is not None and sample_weight is not None:
        raise ValueError(
            "sample_weight must be None with a confidence, which counts independent samples; repeated ones are not. "
            "Leave out samples of weight 0, or set confidence=None."
        )
    distinct, *tallies = tallies_of(y_true, y_score, sample_weight, pos_label)
    if confidence is not None:
        return distinct.item(_bounded_place(tallies[1], fpr, check_level("confidence", confidence)))
    attained, _ = rates(*tallies)
    return distinct.item(_last_corner(attained[:-1], fpr))


def _bounded_place(negatives, fpr, confidence):
    """Return the last place such that the rate of the scores above it is at most `fpr`, with confidence."""
    most = most_above(int(negatives.sum()), fpr, 1 - confidence)
    if most < 0:
        raise ValueError(
            f"A false positive rate of {fpr:g} at confidence {confidence:g} takes "
            f"{samples_needed(fpr, 1 - confidence):g} negatives or more; got {negatives.sum():g}. Get more negatives, "
            "allow a larger rate, or lower the confidence."
        )
    return last_place(negatives, most)


def _last_corner(attained, fpr):
    """Return the last corner of the curve whose FPR is at most `fpr`."""
    return np.searchsorted(attained, fpr * (1 + RATE_TOLERANCE), side="right") - 1
