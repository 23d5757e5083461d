"""Metrics at the edges of number types: long integers, weights that overflow or vanish, ranges without width."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import FixedThresholdClassifier

from paucens.evaluation import miss_rate_at_fppw
from paucens.metrics import (
    check_fpr_range,
    partial_auc,
    partial_auc_interval,
    partial_auc_test,
    roc_points,
    threshold_at_fpr,
    tpr_at_fpr,
)

Y = np.array([0, 1, 0, 1])
STEPS = np.arange(4)


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# ---- integers beyond 2^53

LONG = {
    "int64": 2**60 + STEPS,
    "lowest int64": -(2**63) + STEPS,
    "uint64": 2**64 - 4 + STEPS.astype(np.uint64),
    "python integers": [10**25 + k for k in range(4)],
    "beyond all floats": [10**400 + k for k in range(4)],
    "of two sizes": [1, 2**63 + 1, 2**63 + 2, 2**63 + 3],  # floats in NumPy
    "objects": np.array([2**60, np.int64(2**60 + 1), 2**60 + 2, np.uint64(2**60 + 3)], dtype=object),
    "long floats": np.longdouble(1) + STEPS * np.finfo(np.longdouble).eps,
}


@pytest.mark.parametrize("scores", LONG.values(), ids=LONG)
def test_long_integers_are_not_tied(scores):
    assert partial_auc(Y, scores, (0, 1)) == partial_auc(Y, STEPS, (0, 1)) == 0.75
    assert tpr_at_fpr(Y, scores, 0) == 0.5 and tpr_at_fpr(Y, scores, 0.25, rule="interpolate") == 0.5
    assert partial_auc_interval(Y, scores, (0, 1)) == partial_auc_interval(Y, STEPS, (0, 1))
    for one, other in ((STEPS, -STEPS), (STEPS, [1, 0, 0, 1])):
        assert partial_auc_test(Y, scores, other, (0, 1)) == partial_auc_test(Y, one, other, (0, 1))
        assert partial_auc_test(Y, other, scores, (0, 1)) == partial_auc_test(Y, other, one, (0, 1))
    threshold = threshold_at_fpr(Y, scores, 0)
    assert threshold == scores[2] and [score > threshold for score in scores] == [False, False, False, True]


def test_order_of_long_integers_is_reversed_by_a_sign():
    """-s wraps around for unsigned integers, which reverses the order of all but 0."""
    expected = partial_auc_test(Y, STEPS, -STEPS, (0, 1))
    assert expected.difference == 0.5 and expected.p_value < 1
    for scores in (2**60 + STEPS, 2**60 + STEPS.astype(np.uint64)):
        assert partial_auc_test(Y, scores, -scores, (0, 1)) == expected


def test_thresholds_of_integers():
    assert type(threshold_at_fpr(Y, 2**60 + STEPS, 0)) is int
    assert type(threshold_at_fpr(Y, 2**53 - STEPS, 0)) is float  # as ever
    with pytest.raises(ValueError, match=r"the first one is infinity.* got integer scores from \d*6976 to \d*6979\."):
        roc_points(Y, 2**60 + STEPS)
    assert roc_points(Y, 2**53 - STEPS)[2].tolist() == [math.inf, *(2.0**53 - STEPS)]


def test_integers_of_weight_0_do_not_count():
    """Without them the others are small, and thresholds stand beside infinity."""
    *rates, thresholds = roc_points([0, 1, 0], [12, 18, 2**63 + 15], sample_weight=[1, 2, 0])
    assert thresholds.tolist() == [np.inf, 18, 12] and [rate.tolist() for rate in rates] == [[0, 0, 1], [0, 1, 1]]


def test_numbers_that_are_no_integers_stay_floats():
    assert partial_auc(Y, np.array([1, Fraction(3, 2), 1.75, 2], dtype=object), (0, 1)) == 0.75
    assert partial_auc(Y, [1, 2**70 + 0.5, 1, 2.0**80], (0, 1)) == 1
    with pytest.raises(ValueError, match="y_score must be real numbers"):
        partial_auc(Y, [10**400, 0.5, 1, 2], (0, 1))


def test_windows_with_long_integers():
    assert [miss_rate_at_fppw([2**60 + 1, 2**60 + 3], [2**60, 2**60 + 2], fppw) for fppw in (0, 0.5)] == [0.5, 0]


# ---- weights


@pytest.mark.parametrize("unit", [1e308, 5e-324, 1e-320, 2.0**-1074, 1.0, 1e155])
def test_unit_of_weights_does_not_matter(unit):
    y, score = [0, 0, 1, 1, 0], [4, 3, 2, 1, 0]
    counts = np.array([1.0, 1.0, 1.0, 1.0, 1.0]) if unit == 1e308 else np.array([1.0, 3.0, 2.0, 1.0, 4.0])
    weights = {"sample_weight": unit * counts}
    assert partial_auc(y[:4], score[:4], (0, 1), sample_weight=[unit] * 4) == 0
    assert partial_auc(y[:4], [1] * 4, (0, 1), sample_weight=[unit] * 4) == 0.5
    expected = roc_points(np.repeat(y, counts.astype(int)), np.repeat(score, counts.astype(int)))
    for got, exact in zip(roc_points(y, score, **weights), expected, strict=True):
        np.testing.assert_array_equal(got, exact)
    n = counts[0] + counts[1] + counts[4]
    bound = (counts[0] + counts[1]) / n
    assert threshold_at_fpr(y, score, bound, **weights) == 0
    assert threshold_at_fpr(y, score, 0.99 * bound, **weights) == 3
    assert tpr_at_fpr(y, score, bound, **weights) == 1


def test_classes_may_differ_in_magnitude():
    y, score = np.array([0, 1, 0, 1, 0]), np.array([1, 2, 3, 4, 5])
    weight = np.array([1.0, 2.0, 3.0, 1.0, 2.0])
    expected = partial_auc(y, score, (0.1, 0.6), sample_weight=weight)
    for positive, negative in ((2.0**1000, 2.0**-1000), (2.0**-1000, 2.0**1000), (2.0**1020, 2.0**1020)):
        scaled = np.where(y == 1, positive, negative) * weight
        assert partial_auc(y, score, (0.1, 0.6), sample_weight=scaled) == expected
    # a weight that vanishes beside another one of its class still has a threshold
    assert roc_points([0, 0, 1], [3, 2, 1], sample_weight=[1e308, 1e-308, 1])[2].tolist() == [math.inf, 3, 2, 1]


def test_area_left_of_a_tiny_weight():
    """The best place holds 1e-300 of the negatives and half of the positives."""
    weights = [1e-300, 1, 1, 1]
    got = partial_auc([0, 0, 1, 1], [2, 1, 2, 1], (0, 1e-300), sample_weight=weights)
    assert got == pytest.approx(0.25, rel=1e-12)
    for rate in (5e-301, 5e-321):
        tpr = tpr_at_fpr([0, 0, 1, 1], [2, 1, 2, 1], rate, rule="interpolate", sample_weight=[2 * rate, 1, 1, 1])
        assert tpr == pytest.approx(0.25, rel=1e-2 if rate < 1e-310 else 1e-12)


# ---- ranges

TINY = [(0, 1e-15), (0, 1e-160), (0, 1e-310), (0, 5e-324), (5e-324, 1e-323), (1e-200, 2e-200)]


@pytest.mark.parametrize("fpr_range", TINY)
@pytest.mark.parametrize("scale", ["normalized", "raw", "mcclish"])
def test_tiny_ranges_give_the_height_at_zero(fpr_range, scale):
    width = fpr_range[1] - fpr_range[0]
    for y, score, height in (
        ([0, 0, 1, 1], [1, 2, 3, 4], 1.0),
        ([0, 1, 1, 0], [1, 2, 4, 3], 0.5),
        ([0, 1, 1, 0], [1, 2, 3, 3], 0.0),  # a tie rises from 0
    ):
        value = {"normalized": height, "raw": height * width, "mcclish": (1 + height) / 2}[scale]
        assert partial_auc(y, score, fpr_range, scale=scale) == pytest.approx(value, rel=1e-12, abs=1e-14)
        for method in ("analytic", "bootstrap"):
            got = partial_auc_interval(y, score, fpr_range, scale=scale, method=method, random_state=0)
            assert got.value == partial_auc(y, score, fpr_range, scale=scale)
            ends = {"normalized": (0, 1), "raw": (0, width), "mcclish": (0.5, 1)}[scale]
            assert (got.low, got.high) == pytest.approx(ends, rel=1e-12, abs=1e-14)  # so few negatives exclude nothing
    got = partial_auc_test([0, 0, 1, 1], [1, 2, 3, 4], [4, 3, 2, 1], fpr_range)
    assert got.difference == 1 and (got.low, got.high) == pytest.approx((-1, 1)) and got.p_value == pytest.approx(1)


@pytest.mark.parametrize(
    "fpr_range",
    [
        (0.1, math.nextafter(0.1, 1)),
        (0.5, 0.5 + 1e-12),
        (1 - 2**-53, 1),
        (Fraction(1, 3), Fraction(10**12, 3 * 10**12 - 1)),
    ],
)
def test_ranges_narrower_than_the_tolerance_of_rates_are_refused(fpr_range):
    y, score = [0, 0, 1, 1], [1, 2, 3, 4]
    for call in (partial_auc, partial_auc_interval, lambda *a: partial_auc_test(*a[:2], score, a[2])):
        with pytest.raises(ValueError, match=r"fpr_range must be wider than 1e-09 of beta.*Widen it, or.*tpr_at_fpr"):
            call(y, score, fpr_range)


def test_narrowest_range_is_right():
    y, score = [0] * 10 + [1] * 10, [*range(0, 20, 2), *range(1, 21, 2)]
    beta = 0.35 * (1 + 2e-9)
    assert partial_auc(y, score, (0.35, beta)) == pytest.approx(0.4, rel=1e-6)
    assert partial_auc(y, score, (0.3 - 1e-9, 0.3 + 1e-9)) == pytest.approx(0.35, abs=1e-6)  # both sides of a step


def test_ends_of_other_types_are_compared_as_floats():
    assert check_fpr_range((Fraction(1, 4), np.float32(0.5))) == (0.25, 0.5)
    with pytest.raises(ValueError, match="must be wider"):
        check_fpr_range((0, Fraction(1, 10**400)))


def test_numbers_that_no_float_holds_are_refused():
    for call in (tpr_at_fpr, threshold_at_fpr):
        with pytest.raises(ValueError, match="fpr must be a finite number, 0 or larger and at most 1; got 1000"):
            call([0, 1], [0, 1], 10**400)
    with pytest.raises(ValueError, match="fpr_range must be two rates"):
        check_fpr_range((0, 10**400))
    with pytest.raises(ValueError, match="sample_weight must be real numbers"):
        partial_auc([0, 1], [0, 1], sample_weight=[1, 10**400])


@pytest.mark.parametrize("level", [math.nextafter(1, 0), Fraction(19, 20)])
def test_extreme_levels(level):
    y, score = np.repeat([0, 1], [20, 10]), np.arange(30) % 7
    low, value, high = partial_auc_interval(y, score, (0, 0.5), level=level)
    assert 0 <= low < value < high <= 1
    result = partial_auc_test(y, score, -score, (0, 0.5), level=level)
    assert -1 <= result.low < result.difference < result.high <= 1
    for scores in (y, -y):  # no variance
        low, value, high = partial_auc_interval(y, scores, (0, 0.5), level=level)
        assert 0 <= low <= value <= high <= 1 and high - low > 0


# ---- "above the threshold" and "at least the threshold"


class Itself(ClassifierMixin, BaseEstimator):
    """A classifier whose score is its only feature."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_next_float_keeps_the_bound_in_a_fixed_threshold_classifier(dtype):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [200, 50])
    score = (rng.normal(size=250) + y).astype(dtype)
    for fpr in (0.0, 0.01, 0.1):
        threshold = threshold_at_fpr(y, score, fpr)

        def passes(threshold):
            model = FixedThresholdClassifier(Itself(), threshold=threshold, response_method="decision_function")
            return model.fit(score[:, None], y).predict(score[:, None]) == 1

        assert passes(threshold)[y == 0].mean() > fpr  # "score >= threshold" breaks the bound
        after = passes(np.nextafter(threshold, np.inf))
        assert after[y == 0].mean() <= fpr
        np.testing.assert_array_equal(after, score > threshold)
        assert after[y == 1].mean() == tpr_at_fpr(y, score, fpr)
