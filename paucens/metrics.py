"""Turn labels and scores into numbers: ROC curve, partial AUC, TPR at an FPR, intervals and a paired test.

Every function asks which label is positive in the same way: the larger of the two sorted labels, unless
`pos_label` names the other one. Larger scores mean "more positive", and only their order matters.
"""

import math
from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

RATE_TOLERANCE = 1e-9  # relative; a rate such as 1 - .999999 is off by 3e-11, 100 * .29 by 1e-16
N_RESAMPLES = 1000  # the standard error of a bootstrap of 1000 is itself known to about 2 %
SCALES = ("normalized", "raw", "mcclish")


class PartialAUCInterval(NamedTuple):
    """Partial AUC between the two ends of its confidence interval."""

    low: float
    value: float
    high: float


class PartialAUCTest(NamedTuple):
    """Difference of two normalized partial AUCs, its confidence interval and two-sided p-value."""

    difference: float
    low: float
    high: float
    p_value: float


def check_fpr_range(fpr_range):
    """Return the two ends of a range of false positive rates as floats, or raise ValueError.

    Examples
    --------
    >>> check_fpr_range([0, 0.1])
    (0.0, 0.1)
    """
    is_text = isinstance(fpr_range, (str, bytes))
    ends = tuple(fpr_range) if np.iterable(fpr_range) and not is_text else ()
    if len(ends) == 2 and all(isinstance(end, Real) for end in ends) and 0 <= ends[0] < ends[1] <= 1:
        return float(ends[0]), float(ends[1])
    raise ValueError(f"fpr_range must be two rates 0 <= alpha < beta <= 1; got {fpr_range!r}.")


def band_indices(n, alpha, beta):
    """Return j_alpha = ceil(n alpha) and j_beta = floor(n beta), the ends of the band among n negatives.

    The band holds the negatives ranked j_alpha + 1 to j_beta; it is empty where j_beta <= j_alpha, which
    happens for short ranges and is for the caller to judge.

    Notes
    -----
    A product that rounding moved past a whole number (100 * .29 = 28.999...) counts as that number.

    Examples
    --------
    >>> band_indices(100, 0.07, 0.29)
    (7, 29)
    """
    return math.ceil(n * alpha * (1 - RATE_TOLERANCE)), min(n, math.floor(n * beta * (1 + RATE_TOLERANCE)))


def roc_points(y_true, y_score, *, sample_weight=None, pos_label=None):
    """Compute every corner of the empirical ROC curve.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Two distinct labels: numbers, booleans or strings.
    y_score : array-like of shape (n_samples,)
        Finite scores, larger for "more positive".
    sample_weight : array-like of shape (n_samples,), optional
        Non-negative weights; rows of weight 0 are left out.
    pos_label : label, optional
        The positive label; by default the larger of the two.

    Returns
    -------
    fpr, tpr : ndarray of shape (n_distinct_scores + 1,)
        Rates in [0, 1] of the samples with score >= threshold, starting at (0, 0).
    thresholds : ndarray of shape (n_distinct_scores + 1,)
        Infinity, then the distinct scores from high to low.

    Raises
    ------
    ValueError
        If lengths differ, a score or weight is not finite, or `y_true` does not hold two labels.

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
    is_positive, scores, weight = _check_samples(y_true, y_score, sample_weight, pos_label)
    distinct, place = _places(scores)
    fpr, tpr = _curve(*_tally(place, is_positive, weight))
    return fpr, tpr, np.concatenate(([np.inf], distinct))


def partial_auc(
    y_true, y_score, fpr_range=(0, 0.1), *, scale="normalized", sample_weight=None, pos_label=None
):
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
    _check_choice("scale", scale, SCALES)
    is_positive, scores, weight = _check_samples(y_true, y_score, sample_weight, pos_label)
    area = _area(*_tally(_places(scores)[1], is_positive, weight), alpha, beta)
    return _rescale(area, alpha, beta, scale)


def tpr_at_fpr(y_true, y_score, fpr, *, rule="strict", sample_weight=None, pos_label=None):
    """Compute the true positive rate that goes with a false positive rate.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `roc_points`.
    fpr : float
        False positive rate in [0, 1].
    rule : {"strict", "interpolate"}
        "strict" takes the largest attained rate that is at most `fpr` (up to rounding), so some threshold
        reaches the answer; "interpolate" goes on along the straight line to the next corner of the curve.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As `roc_points`, or if `fpr` or `rule` is not one of the above.

    Examples
    --------
    >>> y, score = [0, 0, 1, 1, 1], [0.1, 0.7, 0.7, 0.2, 0.9]
    >>> [round(tpr_at_fpr(y, score, 0.4, rule=rule), 3) for rule in ("strict", "interpolate")]
    [0.333, 0.6]
    """
    _check_choice("rule", rule, ("strict", "interpolate"))
    fpr = _check_rate("fpr", fpr)
    rates, tpr, _ = roc_points(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    corner = _last_corner(rates, fpr)
    if rule == "strict" or corner == len(rates) - 1:
        return float(tpr[corner])
    run, rise = rates[corner + 1] - rates[corner], tpr[corner + 1] - tpr[corner]
    return float(tpr[corner] + rise * max(0.0, fpr - rates[corner]) / run)


def threshold_at_fpr(y_true, y_score, fpr, *, sample_weight=None, pos_label=None):
    """Find the smallest score whose rule "score > threshold" keeps the false positive rate within a bound.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in `roc_points`.
    fpr : float
        Bound on the false positive rate in [0, 1], compared up to rounding.

    Returns
    -------
    float
        One of the scores, hence finite. The largest score admits nothing and is always within the bound.

    Raises
    ------
    ValueError
        As `roc_points`, or if `fpr` is not a rate.

    Notes
    -----
    At fpr = 1 the answer is the smallest score, and the samples at that score stay below it, because only
    attained scores are considered; whoever wants all of them takes -inf. For fpr < 1 the rule's true positive
    rate is ``tpr_at_fpr(..., rule="strict")``.

    Examples
    --------
    >>> threshold_at_fpr([0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.8, 0.7, 0.9], 0.25)
    0.3
    """
    fpr = _check_rate("fpr", fpr)
    rates, _, thresholds = roc_points(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    return float(thresholds[min(_last_corner(rates, fpr) + 1, len(rates) - 1)])


def partial_auc_interval(
    y_true, y_score, fpr_range=(0, 0.1), *,
    level=0.95, method="analytic", scale="normalized", random_state=None, pos_label=None,
):  # fmt: skip
    """Compute a partial AUC with its confidence interval.

    Parameters
    ----------
    y_true, y_score, fpr_range, scale, pos_label
        As in `partial_auc`.
    level : float
        Confidence level between 0 and 1, exclusive.
    method : {"analytic", "bootstrap"}
        Where the variance comes from: influence functions, in one sort, or 1000 resamples of each class.
    random_state : None, int, Generator or RandomState
        Seed of the bootstrap.

    Returns
    -------
    PartialAUCInterval
        ``low, value, high``; low < high, both in the range of the scale, and value = ``partial_auc(...)``.

    Raises
    ------
    ValueError
        As `partial_auc`, or if `level` or `method` is not one of the above.

    Notes
    -----
    The paper has no intervals. With m positives and n negatives the variance is var(V) / m + var(U) / n. V is
    the area of a single positive's curve; U is the derivative of the area as one negative gains weight while
    alpha and beta stay the rates at which the curve is cut (DeLong's placements for the range [0, 1]). Ties
    have their share of the straight segment in both. The interval is symmetric on the logit scale.

    Three measures keep the coverage near the level down to one or two negatives in the band. (1) Centre and
    variance are those of the curve with half a negative added at either end: the j-th best of n negatives
    sits at rate j / (n + 1) in the mean, while its step of the curve is centred at (j - .5) / n, which
    flatters the score. (2) One more positive, of the largest variance the centre allows, is counted in. (3)
    Where the value is 0 or 1, or a class has one member, there is nothing to estimate a variance from, and
    the interval is Wilson's for a proportion of N trials, 1 / N = 1 / m + 1 / (n (beta - alpha)).

    The bootstrap (stratified) replaces the variance only. Its percentiles would see the flattery of (1) twice
    and, with three negatives in the band, cover about .77 of the time instead of .95.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [500, 100])
    >>> [round(x, 3) for x in partial_auc_interval(y, y + rng.normal(size=600))]
    [0.163, 0.24, 0.329]
    """
    alpha, beta = check_fpr_range(fpr_range)
    _check_choice("scale", scale, SCALES)
    _check_choice("method", method, ("analytic", "bootstrap"))
    z = _t_quantile(level, math.inf)
    is_positive, scores, _ = _check_samples(y_true, y_score, None, pos_label)
    place = _places(scores)[1]
    positives, negatives = _tally(place, is_positive)
    m, n = int(positives.sum()), int(negatives.sum())
    value = _area(positives, negatives, alpha, beta)
    padded = np.pad(positives, 1), np.pad(negatives.astype(float), 1, constant_values=0.5)
    centre = _area(*padded, alpha, beta)
    spread = centre * (1 - centre)
    if min(m, n) < 2 or min(value, 1 - value, spread) < 1e-12:
        low, high = _wilson(value, _trials(m, n, alpha, beta), z)
    else:
        if method == "analytic":
            variance = sum(map(_variance_of_mean, _influences(*padded, alpha, beta), padded))
        else:
            variance = _bootstrap_variance(place + 1, is_positive, alpha, beta, random_state)
        half_width = z * math.sqrt(variance + spread / (m * (m + 1))) / spread
        logit = math.log(centre / (1 - centre))
        low, high = (0.5 + 0.5 * math.tanh((logit + step) / 2) for step in (-half_width, half_width))
    ends = min(low, value), value, max(high, value)
    return PartialAUCInterval(*(_rescale(end, alpha, beta, scale) for end in ends))


def partial_auc_test(y_true, score_a, score_b, fpr_range=(0, 0.1), *, level=0.95, pos_label=None):
    """Test whether two scores of the same samples have the same partial AUC.

    Parameters
    ----------
    y_true, fpr_range, pos_label
        As in `partial_auc`.
    score_a, score_b : array-like of shape (n_samples,)
        The two scores to compare; they need not share a scale.
    level : float
        Confidence level of the interval.

    Returns
    -------
    PartialAUCTest
        ``difference, low, high, p_value``: normalized partial AUC of a minus that of b, in [-1, 1].

    Raises
    ------
    ValueError
        As `partial_auc`, or if `level` is not between 0 and 1.

    Notes
    -----
    The variance is that of the differences of the influence functions (see `partial_auc_interval`), so what
    the two scores have in common cancels; Student's t with Satterthwaite's degrees of freedom, m - 1 from the
    positives and n (beta - alpha) from the negatives. Scores that rank all samples alike differ by exactly 0.
    Where no variance can be estimated (both scores perfect, say) the interval and the p-value are those of
    a proportion (1 + difference) / 2 of N trials as in `partial_auc_interval`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [500, 100])
    >>> noise = rng.normal(size=(2, 600))
    >>> [round(x, 3) for x in partial_auc_test(y, 2 * y + noise[0], y + noise[1])]
    [0.316, 0.181, 0.451, 0.0]
    """
    alpha, beta = check_fpr_range(fpr_range)
    z = _t_quantile(level, math.inf)
    is_positive, score_a, _ = _check_samples(y_true, score_a, None, pos_label, "score_a")
    _, score_b, _ = _check_samples(y_true, score_b, None, pos_label, "score_b")
    places = [_places(score)[1] for score in (score_a, score_b)]
    if np.array_equal(*places):
        return PartialAUCTest(0.0, 0.0, 0.0, 1.0)
    tallies = [_tally(place, is_positive) for place in places]
    area_a, area_b = (_area(*tally, alpha, beta) for tally in tallies)
    difference = area_a - area_b
    (v_a, u_a), (v_b, u_b) = (_influences(*tally, alpha, beta) for tally in tallies)
    v = (v_a[places[0]] - v_b[places[1]])[is_positive]
    u = (u_a[places[0]] - u_b[places[1]])[~is_positive]
    m, n = len(v), len(u)
    from_positives, from_negatives = (_variance_of_mean(d, np.ones(len(d))) for d in (v, u))
    variance, trials = from_positives + from_negatives, _trials(m, n, alpha, beta)
    if min(m, n) < 2 or variance < 1e-20 / trials:
        low, high = (2 * end - 1 for end in _wilson((1 + difference) / 2, trials, z))
        return PartialAUCTest(difference, low, high, math.erfc(abs(difference) * math.sqrt(trials / 2)))
    freedom = variance**2 / (from_positives**2 / (m - 1) + from_negatives**2 / max(1.0, n * (beta - alpha)))
    error = math.sqrt(variance)
    half_width = _t_quantile(level, freedom) * error
    low, high = max(-1.0, difference - half_width), min(1.0, difference + half_width)
    return PartialAUCTest(difference, low, high, float(2 * stdtr(freedom, -abs(difference) / error)))


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

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0], [1], [2], [3]], [0, 0, 1, 1]
    >>> pauc_scorer((0, 0.5))(LogisticRegression().fit(X, y), X, y)
    1.0
    """
    from sklearn.metrics import make_scorer  # here, so that importing this module stays cheap

    _check_choice("scale", scale, SCALES)
    return make_scorer(
        partial_auc,
        response_method=("decision_function", "predict_proba"),
        fpr_range=check_fpr_range(fpr_range),
        scale=scale,
        pos_label=pos_label,
    )


# Curves. A place is the rank of a distinct score, 0 the best; a tally is the weight of a class at each place.


def _places(scores):
    """Return the distinct scores, best first, and the place of every sample among them."""
    distinct, rank = np.unique(scores, return_inverse=True)
    return distinct[::-1], len(distinct) - 1 - rank


def _tally(place, is_positive, weight=None):
    """Sum up positives and negatives (or their weights) at each place."""
    length = place.max() + 1
    return tuple(
        np.bincount(place[rows], None if weight is None else weight[rows], minlength=length)
        for rows in (is_positive, ~is_positive)
    )


def _curve(positives, negatives):
    """Return FPR and TPR before the first place and after each."""
    cumulated = (np.concatenate(([0.0], np.cumsum(tally))) for tally in (negatives, positives))
    fpr, tpr = (total / total[-1] for total in cumulated)
    return fpr, tpr


def _last_corner(rates, fpr):
    """Return the last corner of the curve whose FPR is at most `fpr`."""
    return np.searchsorted(rates, fpr * (1 + RATE_TOLERANCE), side="right") - 1


def _area(positives, negatives, alpha, beta):
    """Return the normalized area: the mean over the positives of the area of each alone."""
    fpr, _ = _curve(positives, negatives)
    return min(1.0, _mean(_positive_influence(fpr, alpha, beta), positives))


def _mean(values, counts):
    """Average values that occur `counts` times; not by BLAS, whose sums depend on its number of threads."""
    return float((values * counts).sum() / counts.sum())


def _positive_influence(fpr, alpha, beta):
    """Return V, the normalized area of the curve of one positive, for each place it may take.

    That curve is a ramp from 0 to 1 over the place's negatives, or a step if there are none.
    """
    start, stop = fpr[:-1], fpr[1:]
    left, right = np.clip(start, alpha, beta), np.clip(stop, alpha, beta)
    run = np.where(stop > start, stop - start, 1.0)
    return ((right - left) * (left + right - 2 * start) / (2 * run) + beta - right) / (beta - alpha)


def _negative_influence(fpr, tpr, alpha, beta):
    """Return U, the influence of a negative on the normalized area up to a constant, for each place.

    With h(x) the share of the place that lies at rates up to x and T the TPR, U is the integral of T dh
    from h(alpha) to h(beta), less T(beta) h(beta), plus T(alpha) h(alpha).
    """
    start, stop = fpr[:-1], fpr[1:]
    run = np.where(stop > start, stop - start, 1.0)
    h_alpha, h_beta = np.clip((alpha - start) / run, 0, 1), np.clip((beta - start) / run, 0, 1)
    # where the curve is vertical at an end, halfway up it: the next negative may come from either side
    around = np.multiply.outer((alpha, beta), (1 - RATE_TOLERANCE, 1 + RATE_TOLERANCE))
    t_alpha, t_beta = np.interp(around, fpr, tpr).mean(axis=1)
    inside = (h_beta - h_alpha) * (tpr[:-1] + np.diff(tpr) * (h_alpha + h_beta) / 2)
    return (inside - t_beta * h_beta + t_alpha * h_alpha) / (beta - alpha)


# Variances and intervals, all on the normalized scale


def _influences(positives, negatives, alpha, beta):
    """Return V and U for each place."""
    fpr, tpr = _curve(positives, negatives)
    return _positive_influence(fpr, alpha, beta), _negative_influence(fpr, tpr, alpha, beta)


def _variance_of_mean(values, counts):
    """Estimate the variance of a mean of values that occur `counts` times, 0 for a single one."""
    return _mean((values - _mean(values, counts)) ** 2, counts) / max(float(counts.sum()) - 1, 1)


def _bootstrap_variance(place, is_positive, alpha, beta, random_state):
    """Return the variance of the area over resamples; places start at 1, half a negative is at either end."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    rng = np.random.default_rng(random_state)
    length = place.max() + 2
    # negatives count twice, the ends once: a draw among these is a draw with the halves
    twice = np.append(np.repeat(place[~is_positive], 2), [0, length - 1])
    pools, sizes = (np.sort(place[is_positive]), np.sort(twice)), (is_positive.sum(), (~is_positive).sum())
    areas = np.empty(N_RESAMPLES)
    for r in range(N_RESAMPLES):
        positives, negatives = (
            np.bincount(pool[rng.integers(len(pool), size=size)], minlength=length)
            for pool, size in zip(pools, sizes, strict=True)
        )
        areas[r] = _area(positives, negatives, alpha, beta)
    return areas.var(ddof=1)


def _trials(m, n, alpha, beta):
    """Return the number of trials that m positives and n (beta - alpha) negatives in the band stand for."""
    return 1 / (1 / m + 1 / (n * (beta - alpha)))


def _wilson(share, trials, z):
    """Return Wilson's score interval of a binomial proportion."""
    shrink = 1 / (1 + z * z / trials)
    centre = shrink * (share + z * z / (2 * trials))
    half_width = shrink * z * math.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    return max(0.0, centre - half_width), min(1.0, centre + half_width)


def _t_quantile(level, freedom):
    """Return how many standard errors a two-sided interval of this level reaches."""
    if not (isinstance(level, Real) and 0 < level < 1):
        raise ValueError(f"level must be a confidence level between 0 and 1, such as 0.95; got {level!r}.")
    share = (1 + level) / 2
    return float(ndtri(share) if freedom == math.inf else stdtrit(freedom, share))


def _rescale(value, alpha, beta, scale):
    """Take a normalized area to another scale."""
    if scale == "normalized":
        return value
    area, width, chance = value * (beta - alpha), beta - alpha, (beta**2 - alpha**2) / 2
    return area if scale == "raw" else 0.5 * (1 + (area - chance) / (width - chance))


# Checks


def _check_choice(name, given, allowed):
    if not (isinstance(given, str) and given in allowed):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {given!r}.")


def _check_rate(name, rate):
    if not (isinstance(rate, Real) and 0 <= rate <= 1):
        raise ValueError(f"{name} must be one rate between 0 and 1; got {rate!r}.")
    return float(rate)


def _check_samples(y_true, y_score, sample_weight, pos_label, name="y_score"):
    """Return which samples are positive, their scores and weights (or None), as checked 1-d arrays."""
    is_positive = _check_labels(y_true, pos_label)
    scores = _check_column(name, y_score, len(is_positive))
    if sample_weight is None:
        return is_positive, scores, None
    weight = _check_column("sample_weight", sample_weight, len(is_positive))
    if weight.min() < 0:
        raise ValueError(
            f"sample_weight must not be negative; got {weight.min():g}. Weight 0 leaves a row out."
        )
    for rows, kind in ((is_positive, "positives"), (~is_positive, "negatives")):
        if not weight[rows].any():
            raise ValueError(f"sample_weight is 0 for all {kind}; at least one of them must count.")
    kept = weight > 0
    return is_positive[kept], scores[kept], weight[kept]


def _check_labels(y_true, pos_label):
    """Return where y_true is the positive one of its two labels."""
    labels = np.asarray(y_true)
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(f"y_true must be one label per sample, shape (n,), n > 0; got shape {labels.shape}.")
    try:
        is_missing = bool(np.any(labels != labels))
        classes = np.unique(labels)
    except TypeError:
        is_missing = True
    if is_missing:
        raise ValueError("y_true has labels that are missing or do not compare; drop those rows or recode.")
    if len(classes) != 2:
        shown = ", ".join(map(repr, classes[:5].tolist())) + (", ..." if len(classes) > 5 else "")
        raise ValueError(
            f"y_true must hold two labels, one positive and one negative; got {len(classes)}: {shown}. "
            "With more classes, compare one with the rest: y_true == label."
        )
    if pos_label is not None and pos_label not in classes.tolist():
        raise ValueError(f"pos_label must be one of the labels {classes.tolist()}; got {pos_label!r}.")
    return labels == (classes[1] if pos_label is None else pos_label)


def _check_column(name, values, n_samples):
    """Return one finite float per sample."""
    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError(
            f"{name} must be one number per sample, shape (n,); got shape {column.shape}. "
            "Of predict_proba, take the positive column: [:, 1]."
        )
    if len(column) != n_samples:
        raise ValueError(f"y_true and {name} must have the same length; got {n_samples} and {len(column)}.")
    try:
        if column.dtype.kind not in "biufO":
            raise TypeError
        column = column.astype(float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be real numbers; got dtype {column.dtype}.") from None
    wrong = np.flatnonzero(~np.isfinite(column))
    if len(wrong):
        raise ValueError(
            f"{name} must be finite; got {column[wrong[0]]} at row {wrong[0]} ({len(wrong)} such rows). "
            "Drop or replace them; a monotone rescaling of the scores changes no result."
        )
    return column
