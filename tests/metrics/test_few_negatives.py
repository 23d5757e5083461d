"""The paired test with few negatives in the range: how often it rejects scores of equal partial AUC."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from paucens.metrics import intervals, partial_auc_test


def p_values(n_repeats, m, n, fpr_range, separations, spread=1.0, seed=0):
    """Test pairs of binormal scores that share half of their noise; `spread` is the sd of positives in the second."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [m, n])
    for _ in range(n_repeats):
        common, *own = rng.normal(size=(3, m + n))
        noise = [(common + part) / math.sqrt(2) for part in own]
        second = np.where(y == 1, separations[1] + spread * noise[1], noise[1])
        yield partial_auc_test(y, separations[0] * y + noise[0], second, fpr_range).p_value


def rejections(*args, **kwargs):
    return np.mean(np.array(list(p_values(*args, **kwargs))) < 0.05)


def partial_area(separation, spread, beta):
    return quad(lambda x: norm.cdf((separation + norm.ppf(x)) / spread), 0, beta)[0] / beta


@pytest.mark.parametrize(
    "m, n, beta", [(200, 300, 0.005), (50, 100, 0.01), (200, 300, 0.002)], ids=["1.5 in range", "1 in range", "0.6"]
)
def test_few_negatives_do_not_reject_too_often(m, n, beta):
    assert rejections(200, m, n, (0, beta), (2, 2)) <= 0.07  # 0.09 to 0.6 with the variance of the range itself


@pytest.mark.slow
@pytest.mark.parametrize("in_range", [0.3, 1, 1.5, 2, 2.5, 2.9])
@pytest.mark.parametrize("m, n", [(200, 300), (2000, 300), (50, 100)])
def test_level_is_nearly_kept_with_few_negatives(m, n, in_range):
    assert 0.015 <= rejections(1500, m, n, (0, in_range / n), (2, 2)) <= 0.08


@pytest.mark.slow
@pytest.mark.parametrize("fpr_range", [(0.1, 0.105), (0.5, 0.505), (0.99, 1), (0.995, 0.9984)])
def test_level_is_kept_in_narrow_ranges_above_zero(fpr_range):
    assert rejections(1500, 200, 300, fpr_range, (1.5, 1.5)) <= 0.065


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 4])
def test_level_is_nearly_kept_with_few_negatives_in_all(n):
    assert max(rejections(1500, 50, n, (0, beta), (1, 1)) for beta in (0.5, 1)) <= 0.085  # 0.1 to 0.8 before


@pytest.mark.slow
@pytest.mark.parametrize("m, n, beta", [(200, 300, 0.005), (50, 100, 0.01)])
def test_level_is_nearly_kept_by_curves_of_different_shape(m, n, beta):
    """The curves cross, and have one partial AUC."""
    separation = brentq(lambda s: partial_area(s, 1.5, beta) - partial_area(2, 1, beta), -3, 8)
    assert 0.015 <= rejections(1500, m, n, (0, beta), (2, separation), 1.5) <= 0.08


def test_ranges_within_the_first_negative_are_one():
    """Left of the first negative the curves are level, so that the width of the range does not matter."""
    rng = np.random.default_rng(2)
    y = np.repeat([1, 0], [50, 100])
    a, b = rng.normal(size=(2, 150)) + 2 * y
    first, *others = (tuple(partial_auc_test(y, a, b, (0, beta))) for beta in (0.01, 0.003, 1e-9, 1e-160, 5e-324))
    assert first[0] != 0 and 0 < first[3] < 1
    for other in others:
        assert other == pytest.approx(first, rel=1e-9)


def test_few_negatives_still_tell_good_from_bad():
    assert rejections(100, 200, 300, (0, 0.005), (4, 1)) > 0.8


def test_variance_is_that_of_three_negatives():
    """The result does not jump where the range holds three negatives."""
    assert intervals._widened(0.1, 0.03) == pytest.approx((0.1, 0.13))
    assert intervals._widened(0.99, 0.03) == (0.97, 1.0)
    assert intervals._widened(0.2, 1.5) == (0.0, 1.0)
    rng = np.random.default_rng(1)
    y = np.repeat([1, 0], [50, 100])
    a, b = rng.normal(size=(2, 150)) + 2 * y
    below, at = (partial_auc_test(y, a, b, (0, beta)) for beta in (0.03 - 1e-9, 0.03))
    assert tuple(below) == pytest.approx(tuple(at), rel=1e-5)
