"""Confidence intervals of rates: the false positive rate of a threshold, the true positive rate at a rate."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paucens.metrics._samples import check_column, check_labels, last_place, tallies_of
from paucens.metrics.binomial import fewest_above, largest_rate, least_rate, most_above
from paucens.metrics.curves import tpr_at_fpr
from paucens.validation import check_level, check_number, check_positive


class RateInterval(NamedTuple):
    """A rate between the two ends of its confidence interval."""

    low: float
    value: float
    high: float


def fpr_interval(
    y_true: npt.ArrayLike, y_score: npt.ArrayLike, threshold: float, *, level: float = 0.95, pos_label: Any = None
) -> RateInterval:
    """Compute the false positive rate of the rule "score > threshold" with its confidence interval.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two distinct labels: numbers, booleans or strings.
    y_score : array-like of shape (n_samples,)
        Finite scores, larger for "more positive".
    threshold : float
        It must not come from these samples; see Notes.
    level : float, default=0.95
        Confidence level between 0 and 1, exclusive.
    pos_label : label, default=None
        The positive label; None means the larger of the two.

    Returns
    -------
    RateInterval
        ``low, value, high``, with low < high.

    Raises
    ------
    ValueError
        If lengths differ, a score is not finite, `y_true` does not hold two labels, or another parameter is not
        allowed.

    Notes
    -----
    The interval is that of Clopper and Pearson (1934): it covers the rate at least with the level, for any number of
    negatives and any distribution of scores. A threshold that was chosen on the same samples has a larger rate on new
    ones; `threshold_at_fpr` with a `confidence` allows for that.

    Examples
    --------
    >>> y, score = [0] * 50 + [1], [0.1] * 48 + [0.7, 0.8, 0.9]
    >>> [round(rate, 3) for rate in fpr_interval(y, score, 0.5)]
    [0.005, 0.04, 0.137]
    """
    error = (1 - check_level("level", level)) / 2
    is_positive = check_labels(y_true, pos_label)
    scores = check_column("y_score", y_score, len(is_positive))[~is_positive]
    check_number("threshold", threshold)
    count, n = int(np.count_nonzero(scores > threshold)), len(scores)
    return RateInterval(least_rate(count, n, error), count / n, largest_rate(count, n, error))


def tpr_at_fpr_interval(
    y_true: npt.ArrayLike, y_score: npt.ArrayLike, fpr: float, *, level: float = 0.95, pos_label: Any = None
) -> RateInterval:
    """Compute the true positive rate at a false positive rate with its confidence interval.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two distinct labels: numbers, booleans or strings.
    y_score : array-like of shape (n_samples,)
        Finite scores, larger for "more positive".
    fpr : float
        False positive rate in [0, 1].
    level : float, default=0.95
        Confidence level between 0 and 1, exclusive.
    pos_label : label, default=None
        The positive label; None means the larger of the two.

    Returns
    -------
    RateInterval
        ``low, value, high`` with value = ``tpr_at_fpr(..., rule="strict")``.

    Raises
    ------
    ValueError
        If lengths differ, a score is not finite, `y_true` does not hold two labels, or another parameter is not
        allowed.

    Notes
    -----
    The threshold of a false positive rate is known up to two of the negatives, by the binomial distribution of the
    number of negatives above it. Each end is the bound of Clopper and Pearson on the true positive rate at one of them.
    The allowed error is divided evenly among these four bounds, so the interval covers at least with the level, for any
    number of samples and any distribution of scores. It mostly covers more often.

    If there are too few negatives to bound the threshold from above, `low` is 0. It takes 437 of them at a rate
    of 0.01 and a level of 0.95.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [2000, 200])
    >>> [round(rate, 3) for rate in tpr_at_fpr_interval(y, 2 * y + rng.normal(size=2200), 0.05)]
    [0.493, 0.62, 0.729]
    """
    error = (1 - check_level("level", level)) / 4
    fpr = check_positive("fpr", fpr, zero=True, most=1)
    value = tpr_at_fpr(y_true, y_score, fpr, pos_label=pos_label)
    _, positives, negatives = tallies_of(y_true, y_score, None, pos_label)
    m, n = int(positives.sum()), int(negatives.sum())

    def detected(k):
        """Count the positives above the (k + 1)-th best negative; there is one more at infinity on either side."""
        return 0 if k < 0 else m if k == n else int(positives[: last_place(negatives, k)].sum())

    low = least_rate(detected(most_above(n, fpr, error)), m, error)
    high = largest_rate(detected(fewest_above(n, fpr, error)), m, error)
    return RateInterval(low, value, high)
