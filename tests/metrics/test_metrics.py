"""Metrics against brute force, scikit-learn, required properties, and simulations with a known truth."""

import doctest
import importlib
import itertools
import math
import pickle
import pkgutil
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from paucens import metrics
from paucens.metrics import (
    _influences,
    _samples,
    check_fpr_range,
    intervals,
    partial_auc,
    partial_auc_interval,
    partial_auc_test,
    pauc_scorer,
    rank_range,
    roc_points,
    threshold_at_fpr,
    tpr_at_fpr,
)

RANGES = [(0, 0.1), (0, 1), (0.05, 0.2), (0.3, 0.31), (0.5, 1)]
settings.register_profile("metrics", deadline=None, max_examples=50)


def draw(rng, m, n, separation=1.0, grid=None):
    """Draw labels and normal scores, rounded to multiples of 1 / grid."""
    y = np.repeat([1, 0], [m, n])
    score = rng.normal(size=m + n) + separation * y
    return y, score if grid is None else np.round(score * grid)


def normal_truth(separation, alpha, beta):
    return quad(lambda u: norm.cdf(separation + norm.ppf(u)), alpha, beta)[0] / (beta - alpha)


def slow_area(y, score, alpha, beta):
    """Integrate the ROC curve corner by corner, with plain Python."""
    positives, negatives = score[y == 1], score[y == 0]
    thresholds = [math.inf, *sorted(set(score.tolist()), reverse=True)]
    corners = [(np.mean(negatives >= t), np.mean(positives >= t)) for t in thresholds]
    area = 0.0
    for (x0, y0), (x1, y1) in itertools.pairwise(corners):
        a, b = max(x0, alpha), min(x1, beta)
        if b > a:
            slope = (y1 - y0) / (x1 - x0)
            area += (b - a) * (y0 + slope * ((a + b) / 2 - x0))
    return area


@st.composite
def samples(draw_):
    """Draw labels of both classes and integer scores with many ties."""
    size = draw_(st.integers(2, 25))
    y = [0, 1, *draw_(st.lists(st.integers(0, 1), min_size=size - 2, max_size=size - 2))]
    score = draw_(st.lists(st.integers(-5, 5), min_size=size, max_size=size))
    return np.array(y), np.array(score, dtype=float)


ranges = st.sets(st.integers(0, 20), min_size=2, max_size=2).map(lambda ends: (min(ends) / 20, max(ends) / 20))


# ---- curves and areas


@pytest.mark.parametrize("grid", [None, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_roc_points_equal_sklearn(grid, weighted):
    rng = np.random.default_rng(1)
    y, score = draw(rng, 40, 90, grid=grid)
    weight = rng.integers(0, 4, size=len(y)) * 0.7 if weighted else None
    ours = roc_points(y, score, sample_weight=weight)
    theirs = roc_curve(y, score, drop_intermediate=False, sample_weight=weight)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.mark.parametrize("fpr_range", RANGES)
@pytest.mark.parametrize("grid", [None, 1, 3])
def test_partial_auc_equals_slow_area(fpr_range, grid):
    for seed in range(10):
        y, score = draw(np.random.default_rng(seed), 13, 29, grid=grid)
        expected = slow_area(y, score, *fpr_range)
        assert partial_auc(y, score, fpr_range, scale="raw") == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("grid", [None, 1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("beta", [0.013, 0.1, 0.5, 0.9, 1])
def test_mcclish_equals_sklearn(beta, weighted, grid):
    rng = np.random.default_rng(2)
    y, score = draw(rng, 50, 70, grid=grid)
    weight = rng.random(len(y)) if weighted else None
    expected = roc_auc_score(y, score, max_fpr=beta, sample_weight=weight)
    got = partial_auc(y, score, (0, beta), scale="mcclish", sample_weight=weight)
    assert got == pytest.approx(expected, rel=1e-12)


def test_mcclish_of_a_range_above_zero_maps_chance_to_half_and_perfect_to_one():
    y = np.array([0, 0, 0, 1, 1])
    assert partial_auc(y, np.zeros(5), (0.2, 0.6), scale="mcclish") == pytest.approx(0.5)
    assert partial_auc(y, y, (0.2, 0.6), scale="mcclish") == 1


def test_partial_auc_equals_pair_counts():
    y, score = draw(np.random.default_rng(3), 30, 40, grid=2)
    pairs = score[y == 1][:, None] - score[y == 0]
    credit = (pairs > 0) + 0.5 * (pairs == 0)
    assert partial_auc(y, score, (0, 1)) == pytest.approx(credit.mean(), rel=1e-14)
    y, score = draw(np.random.default_rng(4), 30, 40)
    j_alpha, j_beta = rank_range(40, (0.1, 0.3))
    in_range = np.sort(score[y == 0])[::-1][j_alpha:j_beta]
    assert (j_alpha, j_beta) == (4, 12)
    above = score[y == 1][:, None] > in_range
    assert partial_auc(y, score, (0.1, 0.3)) == pytest.approx(above.mean(), rel=1e-14)


@pytest.mark.parametrize("fpr_range", RANGES)
def test_constant_perfect_and_reversed_scores(fpr_range):
    y = np.repeat([0, 1], [7, 3])
    assert partial_auc(y, np.ones(10), fpr_range) == pytest.approx(sum(fpr_range) / 2)
    assert partial_auc(y, y, fpr_range) == 1
    assert partial_auc(y, -y, fpr_range) == 0


@settings(settings.get_profile("metrics"))
@given(samples(), ranges)
def test_scales_agree_and_raw_areas_add_up(sample, fpr_range):
    alpha, beta = fpr_range
    middle = 0.3 * alpha + 0.7 * beta
    raw = partial_auc(*sample, fpr_range, scale="raw")
    assert raw == pytest.approx(partial_auc(*sample, fpr_range) * (beta - alpha), abs=1e-14)
    parts = [partial_auc(*sample, part, scale="raw") for part in ((alpha, middle), (middle, beta))]
    assert raw == pytest.approx(sum(parts), abs=1e-13)
    assert 0 <= raw <= beta - alpha


@settings(settings.get_profile("metrics"))
@given(samples(), ranges, st.randoms(use_true_random=False))
def test_only_the_order_of_the_scores_counts(sample, fpr_range, random):
    y, score = sample
    moved = np.exp(score) - 7
    other = np.array([random.randint(-3, 3) for _ in y], dtype=float)
    for of in (
        lambda s: partial_auc(y, s, fpr_range),
        lambda s: tpr_at_fpr(y, s, fpr_range[1], rule="interpolate"),
        lambda s: partial_auc_interval(y, s, fpr_range),
        lambda s: partial_auc_test(y, s, other, fpr_range),
    ):
        assert of(moved) == of(score)
    assert threshold_at_fpr(y, moved, 0.3) == np.exp(threshold_at_fpr(y, score, 0.3)) - 7


@settings(settings.get_profile("metrics"))
@given(samples(), ranges, st.randoms(use_true_random=False))
def test_integer_weights_are_repeated_rows(sample, fpr_range, random):
    y, score = sample
    weight = np.array([1, 1] + [random.randint(0, 3) for _ in y[2:]])
    y_long, score_long = np.repeat(y, weight), np.repeat(score, weight)
    for of in (
        lambda y, s, **w: partial_auc(y, s, fpr_range, **w),
        lambda y, s, **w: tpr_at_fpr(y, s, fpr_range[1], **w),
        lambda y, s, **w: tpr_at_fpr(y, s, fpr_range[1], rule="interpolate", **w),
        lambda y, s, **w: threshold_at_fpr(y, s, fpr_range[1], **w),
        lambda y, s, **w: np.concatenate([column[1:] for column in roc_points(y, s, **w)]),
    ):
        np.testing.assert_allclose(of(y, score, sample_weight=weight), of(y_long, score_long), atol=1e-14)


@settings(settings.get_profile("metrics"))
@given(samples(), ranges, st.randoms(use_true_random=False))
def test_names_of_labels_and_order_of_rows_do_not_matter(sample, fpr_range, random):
    y, score = sample
    expected = partial_auc(y, score, fpr_range), partial_auc_interval(y, score, fpr_range)
    order = np.array(random.sample(range(len(y)), len(y)))
    for labels, pos_label in (
        (np.array(["healthy", "ill"])[y], None),
        (np.array(["healthy", "cancer"])[y], "cancer"),
        (y == 1, None),
        (np.array([1.0, -1.0])[y], -1),
        (np.array(["b", "a"], dtype=object)[y], "a"),
    ):
        got = [
            f(labels[order].tolist(), score[order].tolist(), fpr_range, pos_label=pos_label)
            for f in (partial_auc, partial_auc_interval)
        ]
        assert got == [pytest.approx(e, rel=1e-12, abs=1e-14) for e in expected]


def test_pos_label_reaches_every_function():
    y, score = np.array([1, 1, 0, 0, 1]), np.array([0.1, 0.5, 0.4, 0.9, 0.2])
    for of in (roc_points, partial_auc_interval, lambda *a, **k: partial_auc_test(*a, -(score**2), **k)):
        np.testing.assert_array_equal(of(y, score, pos_label=0), of(1 - y, score))
        assert not np.array_equal(of(y, score, pos_label=0), of(y, score))
    for of in (tpr_at_fpr, threshold_at_fpr):
        assert of(y, score, 0.4, pos_label=0) == of(1 - y, score, 0.4) != of(y, score, 0.4)


def test_pandas_columns_are_taken_by_position():
    pd = pytest.importorskip("pandas")
    y, score = draw(np.random.default_rng(5), 8, 12)
    index = np.arange(20)[::-1]
    labels = pd.Series(np.array(["no", "yes"])[y], index=index)
    got = partial_auc(labels, pd.Series(score), (0, 0.5), sample_weight=pd.Series(1.0, index=index))
    assert got == partial_auc(y, score, (0, 0.5))
    assert partial_auc(labels.astype("category"), pd.Series(score), (0, 0.5)) == got


# ---- operating points


@settings(settings.get_profile("metrics"))
@given(samples(), st.integers(0, 20))
def test_tpr_and_threshold_equal_a_search_over_thresholds(sample, twentieths):
    y, score = sample
    bound = 20 * np.array([np.sum(score[y == 0] > t) for t in score]) <= twentieths * np.sum(y == 0)
    threshold = min(score[bound])
    fpr = twentieths / 20
    assert threshold_at_fpr(y, score, fpr) == threshold
    tpr = tpr_at_fpr(y, score, fpr)
    assert tpr == (np.mean(score[y == 1] > threshold) if fpr < 1 else 1)
    between = tpr_at_fpr(y, score, fpr, rule="interpolate")
    rates, heights, _ = roc_points(y, score)
    assert between == pytest.approx(np.interp(fpr * (1 + 1e-12), rates, heights), abs=1e-9)
    assert between >= tpr


def test_rates_that_rounding_moved_are_attained():
    score = np.arange(101.0)
    y = score == 100
    for k in range(100):
        assert threshold_at_fpr(y, score, k / 100) == 99 - k
        assert rank_range(100, (k / 100, 1)) == (k, 100)
        assert rank_range(100, (0, k / 100)) == (0, k)
    assert math.floor(100 * 0.29) == 28 and math.ceil(100 * 0.07) == 8  # without a tolerance
    assert rank_range(10**6, (1 - 0.999999, 0.5)) == (1, 500_000)
    assert rank_range(10, (0.11, 0.19)) == (2, 1)
    y, score = np.repeat([0, 1], 10), np.arange(20.0)[::-1] % 10
    assert 1 - 0.9 < 0.1
    assert threshold_at_fpr(y, score, 1 - 0.9) == threshold_at_fpr(y, score, 0.1) == 8
    assert tpr_at_fpr(y, score, 1 - 0.9) == tpr_at_fpr(y, score, 0.1) == 0.1


def test_threshold_is_finite_at_both_ends():
    y, score = np.array([0, 0, 1, 1]), np.array([3.0, 1.0, 2.0, 0.5])
    assert threshold_at_fpr(y, score, 0) == 3
    assert threshold_at_fpr(y, score, 1) == 0.5
    assert tpr_at_fpr(y, score, 0) == 0 and tpr_at_fpr(y, score, 1) == 1


# ---- influence functions


@pytest.mark.parametrize("fpr_range", [(0, 0.137), (0, 1), (0.053, 0.218)])
@pytest.mark.parametrize("grid", [None, 1, 3])
def test_influences_are_derivatives_with_respect_to_the_weights(fpr_range, grid):
    y, score = draw(np.random.default_rng(6), 17, 31, grid=grid)
    place = _samples.places(score)[1]
    v, u = _influences.influences(*_samples.tally(place, y == 1), *fpr_range)
    step = 1e-6
    slopes = []
    for i in range(len(y)):
        weight = np.ones((2, len(y)))
        weight[:, i] += step, -step
        up, down = (partial_auc(y, score, fpr_range, sample_weight=w) for w in weight)
        slopes.append((up - down) / (2 * step))
    for part, rows in ((v[place], y == 1), (u[place], y == 0)):
        centred = part[rows] - part[rows].mean()
        np.testing.assert_allclose(np.array(slopes)[rows] * rows.sum(), centred, atol=1e-6)
        assert np.ptp(centred) > 0.1


# ---- intervals

TIED_POSITIVES = [0.05, 0.05, 0.1, 0.2, 0.25, 0.35]  # probabilities of the scores 0 to 5
TIED_NEGATIVES = [0.4, 0.3, 0.15, 0.08, 0.05, 0.02]


def simulate(rng, m, n, separation):
    """Draw one sample; without a separation, of six tied scores."""
    if separation is not None:
        return draw(rng, m, n, separation)
    score = np.append(rng.choice(6, m, p=TIED_POSITIVES), rng.choice(6, n, p=TIED_NEGATIVES))
    return np.repeat([1, 0], [m, n]), score


def truth_of(separation, alpha, beta):
    if separation is not None:
        return normal_truth(separation, alpha, beta)
    y, score = np.repeat([1, 0], 6), np.tile(np.arange(6), 2)
    return partial_auc(y, score, (alpha, beta), sample_weight=TIED_POSITIVES + TIED_NEGATIVES)


@pytest.mark.parametrize(
    "m, n, fpr_range, separation",
    [(100, 500, (0.05, 0.2), 1), (30, 200, (0, 0.1), 2), (60, 150, (0, 1), 1), (80, 300, (0.05, 0.2), None)],
)
def test_standard_error_and_coverage(m, n, fpr_range, separation):
    rng = np.random.default_rng(7)
    ends = np.array([partial_auc_interval(*simulate(rng, m, n, separation), fpr_range) for _ in range(600)])
    low, value, high = ends.T
    truth = truth_of(separation, *fpr_range)
    logits = np.log(ends / (1 - ends))
    # on the logit scale the half width is 1.96 se / (c (1 - c)), c the centre
    centre = 1 / (1 + np.exp(-(logits[:, 0] + logits[:, 2]) / 2))
    error = (logits[:, 2] - logits[:, 0]) / (2 * 1.96) * centre * (1 - centre)
    assert np.sqrt(np.mean(error**2)) / value.std() == pytest.approx(1, abs=0.1)
    assert 0.93 <= np.mean((low <= truth) & (truth <= high)) <= 0.98  # 0.868 or 0.989 if off by a factor of 1.3


@pytest.mark.parametrize(
    "m, n, fpr_range, separation",
    [
        (300, 100, (0, 0.01), 2),
        (300, 300, (0, 0.01), 2),
        (3, 400, (0, 0.1), 2),
        (10, 20, (0, 0.1), 1),
        (100, 20, (0.05, 0.2), 1),
        (20, 20, (0, 1), 3),
        (1, 40, (0, 1), 1),
        (30, 40, (0, 0.2), None),
    ],
)
def test_coverage_of_small_samples(m, n, fpr_range, separation):
    rng = np.random.default_rng(8)
    truth = truth_of(separation, *fpr_range)
    ends = [partial_auc_interval(*simulate(rng, m, n, separation), fpr_range) for _ in range(400)]
    assert np.mean([low <= truth <= high for low, _, high in ends]) >= 0.91
    assert np.mean([high - low for low, _, high in ends]) < 0.9


@pytest.mark.parametrize("method", ["analytic", "bootstrap"])
@pytest.mark.parametrize("scale", ["normalized", "raw", "mcclish"])
@pytest.mark.parametrize("fpr_range", [*RANGES, (0, 0.001)])
def test_interval_of_degenerate_samples(monkeypatch, fpr_range, scale, method):
    monkeypatch.setattr(intervals, "N_RESAMPLES", 50)
    alpha, beta = fpr_range
    worst, best = {
        "normalized": (0, 1),
        "raw": (0, beta - alpha),
        "mcclish": (0.5 - (beta + alpha) / 2 / (2 - alpha - beta), 1),
    }[scale]
    y = np.repeat([0, 1], [6, 4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for labels, score in (
            (y, y),
            (y, -y),
            (y, 0 * y),
            ([0, 1], [0, 1]),
            ([0, 1], [1, 0]),
            ([0, 1], [1, 1]),
            ([0, 1, 1], [1, 0, 2]),
            ([0, 0, 1], [1, 3, 2]),
            (y, [9, 2, 3, 4, 5, 6, 9, 8, 7, 6]),
        ):
            low, value, high = partial_auc_interval(
                labels, score, fpr_range, scale=scale, method=method, random_state=0
            )
            assert value == partial_auc(labels, score, fpr_range, scale=scale)
            assert worst - 1e-12 <= low <= value <= high <= best + 1e-12
            assert high - low > 1e-6 * (best - worst)


def test_interval_narrows_with_the_sample_and_widens_with_the_level():
    y, score = np.repeat([0, 1], [30, 20]), np.repeat([0, 1], [30, 20])
    for s in (score, draw(np.random.default_rng(9), 20, 30)[1][::-1]):
        once, more = (partial_auc_interval(np.tile(y, k), np.tile(s, k), (0, 0.5)) for k in (1, 100))
        assert once.low < more.low < more.value
        wide = partial_auc_interval(y, s, (0, 0.5), level=0.99)
        assert wide.low < once.low and wide.high >= once.high


@pytest.mark.parametrize("grid", [None, 1])
@pytest.mark.parametrize("fpr_range", [(0, 0.1), (0.05, 0.2)])
def test_bootstrap_agrees_with_analytic(fpr_range, grid):
    y, score = draw(np.random.default_rng(10), 60, 150, grid=grid)
    analytic = partial_auc_interval(y, score, fpr_range)
    bootstrap = partial_auc_interval(y, score, fpr_range, method="bootstrap", random_state=0)
    assert bootstrap.value == analytic.value
    assert bootstrap.high - bootstrap.low == pytest.approx(analytic.high - analytic.low, rel=0.08)
    assert bootstrap.low == pytest.approx(analytic.low, abs=0.1 * (analytic.high - analytic.low))


def test_bootstrap_variance_equals_that_of_all_resamples(monkeypatch):
    monkeypatch.setattr(intervals, "N_RESAMPLES", 4000)
    # two positives at places 2 and 3, two negatives at 1 and 3, half a negative at either end
    positives, negatives, ends = np.array([0, 0, 1, 1, 0]), np.array([0.5, 1, 0, 1, 0.5]), (0.1, 0.8)
    areas, weights = [], []
    for first, second, *twice in itertools.product((0, 1, 3, 4), (0, 1, 3, 4), (2, 3), (2, 3)):
        drawn = (np.bincount(rows, minlength=5) for rows in (twice, [first, second]))
        areas.append(_influences.area(*drawn, *ends))
        weights.append(negatives[first] * negatives[second])
    expected = np.cov(areas, aweights=weights, ddof=0)
    got = intervals._bootstrap_variance(positives, negatives, *ends, 0)
    assert got == pytest.approx(expected, rel=0.05)


def test_bootstrap_is_seeded(monkeypatch):
    monkeypatch.setattr(intervals, "N_RESAMPLES", 50)
    y, score = draw(np.random.default_rng(11), 20, 40)

    def low(random_state):
        return partial_auc_interval(y, score, method="bootstrap", random_state=random_state).low

    assert low(0) == low(0) == low(np.random.default_rng(0)) != low(1)
    assert low(np.random.RandomState(0)) == low(np.random.RandomState(0)) != low(None)


# ---- paired test


def pair(rng, m, n, separations, grid=None):
    """Draw two scores that share half of their noise."""
    y = np.repeat([1, 0], [m, n])
    noise = rng.normal(size=(3, m + n))
    scores = [s * y + (noise[0] + noise[1 + k]) / math.sqrt(2) for k, s in enumerate(separations)]
    return y, *(scores if grid is None else np.round(np.array(scores) * grid))


@pytest.mark.parametrize(
    "m, n, fpr_range, grid",
    [(50, 250, (0, 0.1), None), (60, 200, (0.05, 0.2), None), (60, 200, (0.05, 0.2), 1), (50, 50, (0, 1), None)],
)
def test_p_values_are_uniform_when_nothing_differs(m, n, fpr_range, grid):
    rng = np.random.default_rng(12)
    p = np.array([partial_auc_test(*pair(rng, m, n, (1.5, 1.5), grid), fpr_range).p_value for _ in range(600)])
    assert 0.03 <= np.mean(p < 0.05) <= 0.07  # 0.13 or 0.011 if off by a factor of 1.3
    assert np.mean(p < 0.5) == pytest.approx(0.5, abs=0.06)
    assert np.mean(p < 0.9) == pytest.approx(0.9, abs=0.04)


def test_p_values_with_few_negatives_in_the_range():
    rng = np.random.default_rng(13)
    p = np.array([partial_auc_test(*pair(rng, 200, 300, (2, 2)), (0, 0.01)).p_value for _ in range(500)])
    assert np.mean(p < 0.05) <= 0.08


def test_interval_of_the_difference_covers_and_agrees_with_the_p_value():
    rng = np.random.default_rng(14)
    truth = normal_truth(2, 0, 0.1) - normal_truth(1, 0, 0.1)
    results = [partial_auc_test(*pair(rng, 60, 300, (2, 1)), (0, 0.1)) for _ in range(600)]
    assert 0.925 <= np.mean([r.low <= truth <= r.high for r in results]) <= 0.975
    for difference, low, high, p_value in results:
        assert low < difference < high
        assert (p_value < 0.05) == (not low <= 0 <= high)
    assert np.mean([r.p_value < 0.05 for r in results]) > 0.9


def test_difference_is_that_of_the_areas_and_changes_sign_with_the_order():
    y, a, b = pair(np.random.default_rng(15), 20, 80, (2, 1))
    forth, back = partial_auc_test(y, a, b, (0, 0.2)), partial_auc_test(y, b, a, (0, 0.2))
    assert forth.difference == pytest.approx(partial_auc(y, a, (0, 0.2)) - partial_auc(y, b, (0, 0.2)))
    assert forth == pytest.approx((-back.difference, -back.high, -back.low, back.p_value))
    wider = partial_auc_test(y, a, b, (0, 0.2), level=0.99)
    assert wider.low < forth.low and wider.p_value == forth.p_value


def test_paired_test_of_degenerate_scores():
    y = np.repeat([0, 1], [60, 40])
    score = np.random.default_rng(16).normal(size=100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert partial_auc_test(y, score, score) == (0, 0, 0, 1)
        assert partial_auc_test(y, score, 3 * score - 1) == (0, 0, 0, 1)
        perfect = partial_auc_test(y, y, y + score / 100)
        assert perfect.difference == 0 and perfect.p_value == 1
        assert -1 < perfect.low < 0 < perfect.high < 1
        opposite = partial_auc_test(y, y, -y, (0, 1))
        assert opposite.difference == 1 and opposite.p_value < 1e-4
        assert 0.5 < opposite.low < opposite.high <= 1
        single = partial_auc_test([0, 1], [0, 1], [1, 0], (0, 1))
        assert single.difference == 1 and single.low < 0 < single.p_value < 1


# ---- scorer


@pytest.mark.parametrize(
    "model, grid",
    [(LogisticRegression(), {"C": [1e-4, 1e-2, 1]}), (KNeighborsClassifier(), {"n_neighbors": [1, 3, 15]})],
)
def test_scorer_in_a_grid_search(model, grid):
    X, y = make_classification(400, 8, weights=[0.8], flip_y=0.1, random_state=0)
    labels = np.array(["healthy", "cancer"])[y]
    scorer = pauc_scorer((0, 0.2), scale="raw", pos_label="cancer")
    folds = StratifiedKFold(3)
    search = GridSearchCV(model, grid, scoring=scorer, cv=folds).fit(X, labels)
    ((name, values),) = grid.items()
    expected = []
    for value in values:
        rows = []
        for train, test in folds.split(X, labels):
            fitted = type(model)(**{name: value}).fit(X[train], y[train])
            decide = getattr(fitted, "decision_function", None)
            score = decide(X[test]) if decide else fitted.predict_proba(X[test])[:, 1]
            rows.append(partial_auc(y[test], score, (0, 0.2), scale="raw"))
        expected.append(np.mean(rows))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected, rtol=1e-6)
    assert search.best_index_ == np.argmax(expected)
    assert np.ptp(expected) > 1e-4


def test_scorer_takes_weights_and_survives_pickling():
    X, y = make_classification(300, 5, flip_y=0.2, random_state=1)
    weight = np.random.default_rng(17).random(300)
    model = LogisticRegression().fit(X, y)
    expected = partial_auc(y, model.decision_function(X), (0, 0.3), sample_weight=weight)
    scorer = pickle.loads(pickle.dumps(pauc_scorer((0, 0.3))))
    assert scorer(model, X, y, sample_weight=weight) == expected != scorer(model, X, y)
    assert cross_val_score(model, X, y, scoring=scorer, cv=3).min() > 0.3


# ---- input


def test_range_and_index_checks_return_plain_numbers():
    for given_range in ((0, 0.1), [0.0, 0.1], np.array([0, 0.1]), (np.float32(0), np.float64(0.1))):
        ends = check_fpr_range(given_range)
        assert ends == (0, 0.1) and {type(end) for end in ends} == {float}
    assert {type(j) for j in rank_range(np.int64(10), (0.0, np.float64(0.5)))} == {int}


@pytest.mark.parametrize(
    "wrong", [(0.2, 0.1), (0.1, 0.1), (-0.1, 0.5), (0, 1.1), (0, math.nan), (0, 0.1, 0.2), 0.1, "01", ("0", 1), None]
)
def test_range_errors_are_helpful(wrong):
    with pytest.raises(ValueError) as error:
        check_fpr_range(wrong)
    assert str(error.value) == f"fpr_range must be two rates 0 <= alpha < beta <= 1; got {wrong!r}."
    for call in (partial_auc, partial_auc_interval, lambda y, s, r: partial_auc_test(y, s, s, r)):
        with pytest.raises(ValueError, match="fpr_range must be"):
            call([0, 1], [0, 1], wrong)
    with pytest.raises(ValueError, match="fpr_range must be"):
        pauc_scorer(wrong)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: partial_auc([0, 1], [1]), "y_true and y_score must have the same length; got 2 and 1"),
        (lambda: partial_auc([], []), "y_true must be one label per sample.*n > 0; got shape \\(0,\\)"),
        (lambda: partial_auc([[0], [1]], [0, 1]), "y_true must be one label.*got shape \\(2, 1\\)"),
        (lambda: partial_auc([1, 1], [0, 1]), "two labels, one positive and one negative; got 1: 1\\."),
        (lambda: partial_auc([0, 1, 2], [0, 1, 2]), "got 3: 0, 1, 2\\. With more classes, .*y_true == label"),
        (lambda: partial_auc(range(9), range(9)), "got 9: 0, 1, 2, 3, 4, \\.\\.\\."),
        (lambda: partial_auc([0, 1, math.nan], [0, 1, 2]), "y_true has labels that are missing"),
        (lambda: partial_auc(np.array(["a", None, "b"]), [0, 1, 2]), "y_true has labels that are missing"),
        (lambda: partial_auc([0, 1], [0, 1], pos_label=2), "pos_label must be one of .*\\[0, 1\\]; got 2"),
        (lambda: partial_auc([0, 1], [[0, 1], [1, 0]]), "got shape \\(2, 2\\).*predict_proba.*\\[:, 1\\]"),
        (lambda: partial_auc([0, 1, 1], [0, math.nan, math.inf]), "got nan at row 1 \\(2 such rows\\)"),
        (lambda: partial_auc([0, 1], [0, -math.inf]), "y_score must be finite; got -inf at row 1"),
        (lambda: partial_auc([0, 1], ["a", "b"]), "y_score must be real numbers; got dtype <U1"),
        (lambda: partial_auc([0, 1], [0, 1j]), "y_score must be real numbers; got dtype complex128"),
        (lambda: partial_auc([0, 1], [None, {}]), "y_score must be real numbers; got dtype object"),
        (lambda: partial_auc([0, 1], [0, 1], scale="x"), "'normalized', 'raw', 'mcclish'; got 'x'"),
        (lambda: partial_auc_interval([0, 1], [0, 1], scale=None), "scale must be one of .*; got None"),
        (lambda: pauc_scorer(scale="x"), "scale must be one of .*; got 'x'"),
        (lambda: tpr_at_fpr([0, 1], [0, 1], 0.1, rule="x"), "'strict', 'interpolate'; got 'x'"),
        (lambda: tpr_at_fpr([0, 1], [0, 1], 1.5), "fpr must be .*0 or larger and at most 1; got 1.5"),
        (lambda: threshold_at_fpr([0, 1], [0, 1], math.nan), "fpr must be a finite number.*; got nan"),
        (lambda: threshold_at_fpr([0, 1], [0, 1], (0, 0.1)), "fpr must be .*; got \\(0, 0.1\\)"),
        (lambda: partial_auc_interval([0, 1], [0, 1], method="x"), "'analytic', 'bootstrap'; got 'x'"),
        (lambda: partial_auc_interval([0, 1], [0, 1], level=95), "level must be .* such as 0.95; got 95"),
        (lambda: partial_auc_test([0, 1], [0, 1], [0, 1], level=0), "level must be .*; got 0"),
        (lambda: partial_auc_test([0, 1], [0], [0, 1]), "y_true and score_a must have the same length"),
        (lambda: partial_auc_test([0, 1], [0, 1], [0, math.nan]), "score_b must be finite"),
        (lambda: roc_points([0, 1], [0, 1], sample_weight=[1]), "y_true and sample_weight .*; got 2 and 1"),
        (lambda: roc_points([0, 1], [0, 1], sample_weight=[1, -2]), "must not be negative; got -2"),
        (lambda: roc_points([0, 1], [0, 1], sample_weight=[1, math.nan]), "sample_weight must be finite"),
        (lambda: roc_points([0, 1], [0, 1], sample_weight=[1, 0]), "sample_weight is 0 for all positives"),
        (lambda: roc_points([0, 1], [0, 1], sample_weight=[0, 1]), "sample_weight is 0 for all negatives"),
    ],
)
def test_errors_are_helpful(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_missing_pandas_label_is_an_error():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="labels that are missing"):
        partial_auc(pd.Series([0, 1, None], dtype="Int64"), [0, 1, 2])


# ---- module


def test_examples_in_docstrings():
    names = [module.name for module in pkgutil.iter_modules(metrics.__path__, "paucens.metrics.")]
    results = [doctest.testmod(importlib.import_module(name)) for name in names]
    assert sum(r.attempted for r in results) >= 15 and sum(r.failed for r in results) == 0
