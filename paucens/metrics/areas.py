"""The partial AUC and its scorer."""

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from paucens.metrics._influences import area
from paucens.metrics._samples import tallies_of
from paucens.metrics.ranges import check_fpr_range
from paucens.validation import check_choice

SCALES = ("normalized", "raw", "mcclish")


def partial_auc(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    fpr_range: tuple[float, float] = (0, 0.1),
    *,
    scale: str = "normalized",
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Compute the area under the ROC curve between two false positive rates.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two distinct labels: numbers, booleans or strings.
    y_score : array-like of shape (n_samples,)
        Finite scores, larger for "more positive".
    fpr_range : tuple of two floats, default=(0, 0.1)
        alpha and beta with 0 <= alpha < beta <= 1.
    scale : {"normalized", "raw", "mcclish"}, default="normalized"
        "normalized" is the area A divided by beta - alpha, so that 1 is perfect and chance is
        (alpha + beta) / 2. "raw" is A itself. "mcclish" is 0.5 (1 + (A - lo) / (hi - lo)): chance,
        lo = (beta^2 - alpha^2) / 2, becomes 0.5, and the best area, hi = beta - alpha, becomes 1.
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
        If lengths differ, a score or weight is not finite, `y_true` does not hold two labels, or `fpr_range` or
        `scale` is not allowed.

    Notes
    -----
    For untied scores and whole n alpha and n beta this is one minus EQ:pauc of the paper. Otherwise we depart
    from it. In the paper a tie costs nothing, so that a constant score would be perfect, and its c =
    mn(beta - alpha) does not normalise if j_beta - j_alpha differs from n (beta - alpha). Here tied scores are
    one straight segment, cut at alpha and beta by interpolation; a constant score gets (alpha + beta) / 2.

    Examples
    --------
    >>> y, score = [0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.8, 0.7, 0.9]
    >>> [partial_auc(y, score, (0, 0.5), scale=scale) for scale in ("normalized", "raw")]
    [0.75, 0.375]
    """
    alpha, beta = check_fpr_range(fpr_range)
    check_choice("scale", scale, SCALES)
    _, *tallies = tallies_of(y_true, y_score, sample_weight, pos_label)
    return rescale(area(*tallies, alpha, beta), alpha, beta, scale)


def pauc_scorer(
    fpr_range: tuple[float, float] = (0, 0.1), *, scale: str = "normalized", pos_label: Any = None
) -> Callable[..., float]:
    """Make a scikit-learn scorer of the partial AUC, for ``scoring=`` in searches and cross-validation.

    Parameters
    ----------
    fpr_range : tuple of two floats, default=(0, 0.1)
        alpha and beta with 0 <= alpha < beta <= 1.
    scale : {"normalized", "raw", "mcclish"}, default="normalized"
        See `partial_auc`.
    pos_label : label, default=None
        The positive label; None means the larger of the two.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)``; it uses `decision_function`, or `predict_proba` if there
        is none.

    Raises
    ------
    ValueError
        If `fpr_range` or `scale` is not allowed in `partial_auc`.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0], [1], [2], [3]], [0, 0, 1, 1]
    >>> pauc_scorer((0, 0.5))(LogisticRegression().fit(X, y), X, y)
    1.0
    """
    from sklearn.metrics import make_scorer  # slow to import, and only the scorer needs it

    return make_scorer(
        partial_auc,
        response_method=("decision_function", "predict_proba"),
        fpr_range=check_fpr_range(fpr_range),
        scale=check_choice("scale", scale, SCALES),
        pos_label=pos_label,
    )


def rescale(normalized, alpha, beta, scale):
    """Convert a normalized area to another scale."""
    if scale == "raw":
        return normalized * (beta - alpha)
    if scale == "mcclish":
        chance = (alpha + beta) / 2
        return 0.5 * (1 + (normalized - chance) / (1 - chance))
    return normalized
