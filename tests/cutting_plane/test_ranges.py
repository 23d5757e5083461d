"""The rank ranges of training, and the training threshold against a search over all thresholds."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paucens.cutting_plane import training_rank_range, training_rank_ranges, training_threshold
from paucens.cutting_plane.cut import falling_order
from paucens.metrics import rank_range

# -- ranges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("fpr_range", [(0, 0.1), (0.1, 0.4), (0, 1)], ids=str)
def test_training_ranges_are_those_of_the_metrics(fpr_range):
    assert training_rank_range(57, fpr_range) == rank_range(57, fpr_range)
    assert training_rank_ranges(57, fpr_range, 5, anneal=False) == [rank_range(57, fpr_range)] * 5


def test_annealed_ranges_narrow_to_the_requested_one():
    n, ranges = 400, training_rank_ranges(400, (0, 0.05), 50, anneal=True)
    assert ranges[0] == (0, rank_range(n, (0, 0.05 ** (1 / 48.5)))[1])
    assert ranges[-2:] == [(0, 20)] * 2
    assert all(j_alpha == 0 for j_alpha, _ in ranges)
    assert (np.diff([j_beta for _, j_beta in ranges]) <= 0).all()


@pytest.mark.parametrize("n_rounds", [2, 10, 25])
def test_short_annealed_fits_end_at_the_requested_range(n_rounds):
    assert training_rank_ranges(10_000, (0, 0.01), n_rounds, anneal=True)[-1] == (0, 100)


def test_ranges_above_zero_are_not_annealed():
    assert training_rank_ranges(100, (0.1, 0.4), 5, anneal=True) == [(10, 40)] * 5


def test_a_range_narrower_than_one_negative_holds_the_best_one():
    with pytest.warns(UserWarning, match=r"\(0, 0\.001\) is narrower than one of 50 negatives.*takes 1000 negatives"):
        assert training_rank_range(50, (0, 0.001)) == (0, 1)
    for beta, number in ((1 / 3e6, "3000000"), (1e-160, r"1e\+160"), (5e-324, "inf")):
        with pytest.warns(UserWarning, match=f"takes {number} negatives"):
            assert training_rank_range(50, (0, beta)) == (0, 1)


def test_a_range_above_zero_without_negatives_is_refused():
    with pytest.raises(ValueError, match=r"\(0\.1, 0\.11\) holds no position among 5 negatives; it takes about 20\d"):
        training_rank_range(5, (0.1, 0.11))
    with pytest.raises(ValueError, match=r"holds no position among 5 negatives; it takes about 2e\+200 negatives"):
        training_rank_range(5, (1e-200, 2e-200))


# -- the threshold ---------------------------------------------------------------------------------


def advantages(positives, negatives, threshold):
    """TPR - FPR exactly, and the false positives."""
    false = int(np.sum(negatives > threshold))
    return Fraction(int(np.sum(positives > threshold)), len(positives)) - Fraction(false, len(negatives)), false


def brute_force(positives, negatives, beta):
    """All allowed thresholds, halfway between neighbouring scores or above the top, with their advantages."""
    values = np.unique(np.concatenate([positives, negatives]))
    thresholds = [*(values[:-1] + values[1:]) / 2, values[-1] + 1]
    found = {}
    for threshold in thresholds:
        gain, false = advantages(positives, negatives, threshold)
        if false <= floor(len(negatives) * beta):
            found[float(threshold)] = gain
    return found


few = st.lists(st.integers(-6, 6).map(lambda k: k / 2), min_size=1, max_size=12)
real = st.lists(st.floats(-50, 50, width=16), min_size=1, max_size=12)
twelfths = st.integers(1, 12).map(lambda k: Fraction(k, 12))


@given(positives=few | real, negatives=few | real, beta=twelfths)
@example(positives=[0.0], negatives=[0.0], beta=Fraction(1))
@example(positives=[0.0], negatives=[1.0], beta=Fraction(1))
@example(positives=[1.0], negatives=[0.0], beta=Fraction(1, 12))
@settings(deadline=None, max_examples=300, derandomize=True)
def test_threshold_is_the_best_of_all(positives, negatives, beta):
    positives, negatives = np.array(positives), np.array(negatives)
    allowed = brute_force(positives, negatives, beta)
    threshold = training_threshold(positives, negatives, len(negatives), float(beta))
    assert isinstance(threshold, float)
    best = max(allowed.values())
    assert advantages(positives, negatives, threshold)[0] == best
    assert allowed[threshold] == best  # allowed, and halfway between neighbouring scores
    n_best = min(floor(len(negatives) * beta) + 1, len(negatives))
    top = np.sort(negatives)[len(negatives) - n_best :]
    assert training_threshold(positives, top, len(negatives), float(beta)) == threshold


def test_ties_go_to_the_threshold_with_fewer_false_alarms():
    assert training_threshold(np.array([4.0, 2.0]), np.array([3.0, 1.0]), 2, 1.0) == 3.5


def test_nothing_is_worth_a_false_alarm():
    threshold = training_threshold(np.array([0.0, -1.0]), np.array([2.0, 1.0]), 2, 1.0)
    assert threshold == 3.0
    assert training_threshold(np.zeros(3), np.zeros(4), 4, 0.5) == 1.0


def test_positives_above_all_negatives_are_separated_from_them():
    assert training_threshold(np.array([5.0, 7.0]), np.array([1.0, 2.0]), 2, 0.1) == 3.5


def test_beta_is_taken_with_a_tolerance():
    negatives = np.arange(100.0)
    positives = np.array([70.5])  # below 29 negatives, and 100 * 0.29 is 28.999...
    assert training_threshold(positives, negatives, 100, 0.29) == 70.25
    assert training_threshold(positives, negatives, 100, 0.28) == 100.0


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_scores_that_differ_by_rounding_count_as_equal(scale):
    negatives = np.array([1.0, 1.0 - 2e-16, 0.0]) * scale
    positives = np.array([1.0 - 1e-16, 1.0, 2.0]) * scale
    threshold = training_threshold(positives, negatives, 3, 0.4, size=scale)  # one may pass, but two come together
    assert threshold == pytest.approx(1.5 * scale)
    assert training_threshold(positives, negatives, 3, 0.4) == negatives[1]  # without a size, their bits decide


@pytest.mark.parametrize("far", [1e9, 1e13, 1e300])
def test_a_score_that_lies_far_out_changes_no_threshold(far):
    negatives, positives = np.array([3.0, 1.0, 0.0, 0.0]), np.array([2.0, 2.1, 2.2, 4.0, 5.0])
    plain = training_threshold(positives, negatives, 4, 0.25)
    assert plain == 1.5
    assert training_threshold(np.append(positives, far), negatives, 4, 0.25) == plain
    assert training_threshold(np.append(positives, -far), negatives, 4, 0.25) == plain
    assert training_threshold(positives, np.append(negatives, -far), 5, 0.25) == plain


@pytest.mark.parametrize("low", [1.0, 0.0, -3.0, 5e-324, 1e300])
def test_a_threshold_fits_between_neighbouring_numbers(low):
    high = np.nextafter(low, np.inf)
    threshold = training_threshold(np.array([high]), np.array([low]), 1, 1.0)
    assert low <= threshold < high


def test_huge_scores_give_a_finite_threshold():
    threshold = training_threshold(np.array([1.7e308, 1.6e308]), np.array([1.5e308, -1.7e308]), 2, 0.1)
    assert 1.5e308 < threshold < 1.6e308


@given(st.lists(st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 2.0, 1e300]), max_size=300))
def test_ties_keep_the_order_of_the_samples(values):
    values = np.array(values, dtype=float)
    np.testing.assert_array_equal(falling_order(values), np.argsort(-values, kind="stable"))
