"""Bounds on rates from the binomial: against sums over the distribution, and as coverage in simulations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm, t

from paucens import fpr_interval, threshold_at_fpr, tpr_at_fpr, tpr_at_fpr_interval
from paucens.metrics.binomial import fewest_above, largest_rate, least_rate, most_above, samples_needed

RATES = st.floats(1e-4, 1 - 1e-4) | st.sampled_from([0.0, 0.01, 0.5, 1.0])
ERRORS = st.floats(1e-6, 0.5)


@given(st.integers(1, 2000), RATES, ERRORS)
def test_counts_are_the_extreme_ones_of_the_distribution(n, rate, error):
    below, above = binom.cdf(np.arange(n), n, rate), binom.sf(np.arange(n), n, rate)
    k = most_above(n, rate, error)
    assert k < 0 or below[k] <= error * (1 + 1e-9)
    assert k == n - 1 or below[k + 1] > error * (1 - 1e-9)
    k = fewest_above(n, rate, error)
    assert k == n or above[k] <= error * (1 + 1e-9)
    assert k == 0 or above[k - 1] > error * (1 - 1e-9)


@given(st.floats(1e-5, 1 - 1e-9), st.floats(1e-9, 0.5))
def test_samples_needed_are_the_fewest(rate, error):
    n = samples_needed(rate, error)
    assert most_above(n, rate, error) >= 0
    assert n == 1 or most_above(n - 1, rate, error) < 0


def test_samples_needed():
    assert [samples_needed(rate, 0.05) for rate in (0.01, 0.001, 1)] == [299, 2995, 1]
    assert samples_needed(0, 0.05) == np.inf
    assert samples_needed(0.01, 0.0125) == 437


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 0.999))
def test_interval_of_a_rate_is_clopper_pearsons(case, level):
    count, n = case
    expected = binomtest(count, n).proportion_ci(level, "exact")
    error = (1 - level) / 2
    assert least_rate(count, n, error) == pytest.approx(expected.low, rel=1e-6, abs=1e-12)
    assert largest_rate(count, n, error) == pytest.approx(expected.high, rel=1e-6)


def test_the_rate_is_of_the_negatives_above():
    y, score = [0, 0, 0, 0, 1], [0.1, 0.5, 0.5, 0.7, 0.2]
    assert fpr_interval(y, score, 0.5).value == 0.25
    assert fpr_interval(y, score, -np.inf) == (pytest.approx(0.025**0.25), 1.0, 1.0)
    assert fpr_interval(y, score, np.inf) == (0.0, 0.0, pytest.approx(1 - 0.025**0.25))
    assert fpr_interval(y, score, 0.5, pos_label=0).value == 0.0
    assert fpr_interval([0, 0, 1], [2**60, 2**60 + 1, 0], 2**60).value == 0.5


@pytest.mark.parametrize("n, fpr, k", [(299, 0.01, 0), (1000, 0.01, 4), (2000, 0.05, 83)])
def test_threshold_with_confidence_is_an_order_statistic(n, fpr, k):
    rng = np.random.default_rng(n)
    negatives, positives = rng.normal(size=n), rng.normal(size=50)
    y = np.repeat([0, 1], [n, 50])
    threshold = threshold_at_fpr(y, np.concatenate([negatives, positives]), fpr, confidence=0.95)
    assert threshold == np.sort(negatives)[::-1][k]
    assert binom.cdf(k, n, fpr) <= 0.05 < binom.cdf(k + 1, n, fpr)


def test_tied_negatives_do_not_pass_the_threshold():
    y, score = np.repeat([0, 1], [1000, 2]), np.concatenate([np.zeros(900), np.ones(100), [0.5, 2]])
    assert threshold_at_fpr(y, score, 0.01, confidence=0.95) == 1
    assert threshold_at_fpr(y, score, 0.08, confidence=0.95) == 1
    assert threshold_at_fpr(y, score, 0.2, confidence=0.95) == 0  # 100 negatives lie above


def test_too_few_negatives_are_refused_with_the_number_it_takes():
    y, score = np.repeat([0, 1], [298, 10]), np.arange(308.0)
    with pytest.raises(ValueError, match=r"0\.01 at confidence 0\.95 takes 299 negatives or more; got 298"):
        threshold_at_fpr(y, score, 0.01, confidence=0.95)
    with pytest.raises(ValueError, match="takes inf negatives"):
        threshold_at_fpr(y, score, 0, confidence=0.95)
    assert threshold_at_fpr(y, score, 0.01, confidence=0.9) == 297


@pytest.mark.parametrize("level", [0, 1, -0.1, np.nan, "0.95", True], ids=repr)
def test_levels(level):
    y, score = [0, 1], [0, 1]
    for name, call in (
        ("confidence", lambda: threshold_at_fpr(y, score, 0.5, confidence=level)),
        ("level", lambda: fpr_interval(y, score, 0.5, level=level)),
        ("level", lambda: tpr_at_fpr_interval(y, score, 0.5, level=level)),
    ):
        with pytest.raises(ValueError, match=f"{name} must be a confidence level between 0 and 1"):
            call()


def test_weights_are_refused_with_a_confidence():
    with pytest.raises(ValueError, match="sample_weight must be None with a confidence"):
        threshold_at_fpr([0, 1], [0, 1], 0.5, confidence=0.5, sample_weight=[1, 1])


def test_a_threshold_must_be_a_number():
    with pytest.raises(ValueError, match="threshold must be a number"):
        fpr_interval([0, 1], [0, 1], np.nan)


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=60),
    st.lists(st.integers(0, 6), min_size=1, max_size=60),
    st.sampled_from([0.0, 0.01, 0.3, 0.99, 1.0]),
    st.sampled_from([1e-6, 0.5, 0.95, 0.999999]),
)
def test_the_value_lies_in_the_interval(negatives, positives, fpr, level):
    y = np.repeat([0, 1], [len(negatives), len(positives)])
    score = np.array(negatives + positives)
    low, value, high = tpr_at_fpr_interval(y, score, fpr, level=level)
    assert 0 <= low <= value <= high <= 1
    assert value == tpr_at_fpr(y, score, fpr)


def coverage(n_repeats, m, n, fpr, draw_negatives, true_tpr, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n, m])
    covered = 0
    for _ in range(n_repeats):
        score = np.concatenate([draw_negatives(rng, n), rng.normal(1.5, size=m)])
        low, _, high = tpr_at_fpr_interval(y, score, fpr)
        covered += low <= true_tpr <= high
    return covered / n_repeats


@pytest.mark.parametrize("m, n, fpr", [(40, 300, 0.05), (200, 1000, 0.01), (10, 60, 0.2)])
def test_true_positive_rates_are_covered(m, n, fpr):
    covered = coverage(500, m, n, fpr, lambda rng, n: rng.normal(size=n), norm.sf(norm.isf(fpr) - 1.5))
    assert covered >= 0.95 - 0.02  # two standard errors


def violations(n_repeats, n, fpr, confidence, draw, true_fpr, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n, 5])
    thresholds = [
        threshold_at_fpr(y, np.concatenate([draw(rng, n), np.zeros(5)]), fpr, confidence=confidence)
        for _ in range(n_repeats)
    ]
    return int((true_fpr(np.array(thresholds)) > fpr).sum())


@pytest.mark.parametrize("n, fpr, confidence", [(299, 0.01, 0.95), (1000, 0.01, 0.9), (3000, 0.001, 0.95)])
def test_the_bound_is_broken_no_more_often_than_promised(n, fpr, confidence):
    count = violations(400, n, fpr, confidence, lambda rng, n: rng.standard_t(3, size=n), lambda c: t.sf(c, 3))
    assert binomtest(count, 400, 1 - confidence, "greater").pvalue > 0.01


def test_the_plain_rule_breaks_the_bound_half_of_the_time():
    count = violations(400, 2000, 0.01, None, lambda rng, n: rng.standard_t(3, size=n), lambda c: t.sf(c, 3))
    assert 0.4 < count / 400 < 0.65


def test_the_bound_holds_for_tied_scores():
    count = violations(
        400, 500, 0.03, 0.95, lambda rng, n: rng.geometric(0.5, size=n) * 1.0, lambda t: 0.5 ** np.floor(t)
    )
    assert binomtest(count, 400, 0.05, "greater").pvalue > 0.01
