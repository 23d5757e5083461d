"""The partial AUC and its scorer."""

from paucens.metrics._influences import area
from paucens.metrics._samples import tallies_of
from paucens.metrics.ranges import check_fpr_range
from paucens.validation import check_choice

SCALES = ("normalized", "raw", "mcclish")


def partial_auc(y_true, y_score, fpr_range=(0, 0.1), *, scale="normalized", sample_weight=None, pos_label=None):
    """Compute the area under the ROC curve between two false positive rates.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `roc_points`.
    fpr_range : pair of float
        alpha and beta with 0 <= alpha < beta <= 1.
    scale : {"normalized", "raw", "mcclish"}
        The area A divided by beta - alpha, so that 1 is perfect and chance is (alpha + beta) / 2; A itself;
        or .5 (1 + (A - lo) / (hi - lo)), where chance, lo = (beta^2 - alpha^2) / 2, becomes .5 and the best,
        hi = beta - alpha, becomes 1.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As `roc_points`, or if `fpr_range` or `scale` is not one of the above.

    Notes
    -----
    For untied scores and whole n alpha and n beta this is one minus EQ:pauc of the paper. Elsewhere we depart
    from it. The paper charges nothing for a tie, so that a constant score would be perfect, and its c =
    mn(beta - alpha) does not normalise where j_beta - j_alpha is not n (beta - alpha). Here tied scores are
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


def pauc_scorer(fpr_range=(0, 0.1), *, scale="normalized", pos_label=None):
    """Make a scikit-learn scorer of the partial AUC, for ``scoring=`` in searches and cross-validation.

    Parameters
    ----------
    fpr_range, scale, pos_label
        As in `partial_auc`.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)``; it asks for `decision_function`, or else for
        `predict_proba`.

    Raises
    ------
    ValueError
        If `fpr_range` or `scale` is not one that `partial_auc` takes.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0], [1], [2], [3]], [0, 0, 1, 1]
    >>> pauc_scorer((0, 0.5))(LogisticRegression().fit(X, y), X, y)
    1.0
    """
    from sklearn.metrics import make_scorer  # heavy, and only the scorer needs it

    return make_scorer(
        partial_auc,
        response_method=("decision_function", "predict_proba"),
        fpr_range=check_fpr_range(fpr_range),
        scale=check_choice("scale", scale, SCALES),
        pos_label=pos_label,
    )


def rescale(normalized, alpha, beta, scale):
    """Take a normalized area to another scale."""
    if scale == "raw":
        return normalized * (beta - alpha)
    if scale == "mcclish":
        chance = (alpha + beta) / 2
        return 0.5 * (1 + (normalized - chance) / (1 - chance))
    return normalized
