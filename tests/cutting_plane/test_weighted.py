"""Cutting planes of samples with weights: oracle, master and thresholds against slow twins and repeated samples."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paucens import PAUCEnsClassifier
from paucens.cutting_plane import Master, training_threshold, wider_ranges
from paucens.cutting_plane.cut import find_cut, kth_largest
from paucens.cutting_plane.ranges import training_rank_range
from paucens.learners import Predictions
from paucens.metrics import rank_range

quick = settings(deadline=None, max_examples=100, derandomize=True)
seeds, forms = st.integers(0, 2**32 - 1), st.sampled_from(["tight", "struct"])


def draw(seed, m, n, ties=True):
    """Draw scores, many of them tied or a margin of 1 apart, and weights that are multiples of a quarter."""
    rng = np.random.default_rng(seed)
    if ties:
        scores = rng.integers(-3, 4, size=m) / 2, rng.integers(-3, 4, size=n) / 2
    else:
        scores = rng.normal(size=m), rng.normal(size=n)
    return (*scores, rng.integers(1, 13, size=m) / 4, rng.integers(1, 13, size=n) / 4, rng)


def draw_ranks(rng, total, step):
    """Draw two ranks, multiples of a step."""
    low, high = sorted(rng.choice(int(total / step) + 1, 2, replace=False))
    return (float(low) if rng.random() < 0.5 else 0.0) * step, high * step


def slow_risk(positives, negatives, a, b, ranks, formulation):
    """Return the largest loss - s . scores: for each positive the best length of its row, at the end of some piece.

    The value of a row is linear in its length between the ends of the negatives and those of the range.
    """
    j_alpha, j_beta = ranks
    order = np.argsort(-negatives)
    scores, ends = negatives[order], np.cumsum(b[order])
    longest = j_beta if formulation == "tight" else ends[-1]
    lengths = [length for length in {0.0, *ends, j_alpha, j_beta} if length <= longest]
    total = 0.0
    for s, weight in zip(positives, a, strict=True):
        values = []
        for length in lengths:
            inside = np.clip(length - np.append(0.0, ends[:-1]), 0, b[order])
            values.append(max(min(length, j_beta) - j_alpha, 0) + (inside * (scores - s)).sum())
        total += weight * max(values)
    return total / (a.sum() * (j_beta - j_alpha))


def value(cut, positives, negatives):
    return cut.loss - cut.signed_weights @ np.concatenate([positives, negatives])


# -- the oracle ------------------------------------------------------------------------------------


@given(seed=seeds, m=st.integers(1, 6), n=st.integers(1, 9), ties=st.booleans(), formulation=forms)
@quick
def test_the_cut_is_the_most_violated_one(seed, m, n, ties, formulation):
    positives, negatives, a, b, rng = draw(seed, m, n, ties)
    ranks = draw_ranks(rng, b.sum(), 0.125)
    cut, lowest = find_cut(positives, negatives, ranks, formulation, (a, b))
    expected = slow_risk(positives, negatives, a, b, ranks, formulation)
    assert value(cut, positives, negatives) == pytest.approx(expected, abs=1e-12)
    assert 0 <= cut.loss <= 1 + 1e-12
    assert abs(cut.signed_weights.sum()) < 1e-12
    assert (cut.signed_weights[m:][negatives < lowest] == 0).all()


@given(seed=seeds, m=st.integers(1, 6), n=st.integers(1, 9), formulation=forms)
@quick
def test_a_cut_bounds_the_risk_everywhere(seed, m, n, formulation):
    """It is one of the orderings, whose largest value the risk is; also where negatives share what they have."""
    positives, negatives, a, b, rng = draw(seed, m, n)
    ranks = draw_ranks(rng, b.sum(), 0.125)
    cut, _ = find_cut(positives, negatives, ranks, formulation, (a, b))
    for scale in (0.3, 2.0):
        elsewhere = scale * rng.normal(size=m), scale * rng.normal(size=n)
        assert value(cut, *elsewhere) <= slow_risk(*elsewhere, a, b, ranks, formulation) + 1e-12


@given(seed=seeds, m=st.integers(1, 8), n=st.integers(1, 12), formulation=forms)
@quick
def test_whole_weights_are_repeated_samples(seed, m, n, formulation):
    positives, negatives, _, _, rng = draw(seed, m, n)
    a, b = (rng.integers(1, 5, size=size).astype(float) for size in (m, n))
    rows = [np.repeat(np.arange(size), weights.astype(int)) for size, weights in ((m, a), (n, b))]
    j_beta = int(rng.integers(1, b.sum() + 1))
    weighted, lowest = find_cut(positives, negatives, (0, j_beta), formulation, (a, b))
    repeated, its_lowest = find_cut(positives[rows[0]], negatives[rows[1]], (0, j_beta), formulation)
    assert (weighted.loss, weighted.normaliser, lowest) == (repeated.loss, repeated.normaliser, its_lowest)
    assert weighted.tied_count == repeated.tied_count
    of_samples = np.bincount(np.concatenate([rows[0], m + rows[1]]), repeated.signed_weights)
    np.testing.assert_allclose(weighted.signed_weights, of_samples, rtol=0, atol=1e-15)


@given(seed=seeds, m=st.integers(1, 6), n=st.integers(2, 9), formulation=forms)
@quick
def test_cuts_do_not_depend_on_the_order_of_tied_samples(seed, m, n, formulation):
    positives, negatives, a, b, rng = draw(seed, m, n)
    order, j_beta = rng.permutation(n), draw_ranks(rng, b.sum(), 0.125)[1]
    cut, other = (
        find_cut(positives, negatives[rows], (0, j_beta), formulation, (a, b[rows]))[0].signed_weights
        for rows in (np.arange(n), order)
    )
    np.testing.assert_allclose(cut[:m], other[:m], rtol=0, atol=1e-15)
    np.testing.assert_allclose(cut[m:][order], other[m:], rtol=0, atol=1e-15)


def test_a_negative_at_the_edge_of_the_range_counts_in_part():
    cut, _ = find_cut(np.array([0.0]), np.array([3.0, 2.0, 1.0]), (0.5, 2.0), "tight", (np.ones(1), np.full(3, 1.25)))
    assert cut.loss == 1.0
    np.testing.assert_allclose(cut.signed_weights * 1.5, [2.0, -1.25, -0.75, 0.0])


@pytest.mark.parametrize("n", [1, 64, 4095, 4096, 20_000])
def test_the_kth_largest_is_that_of_a_sort(n):
    """Also if the values that suggest a limit, every 64th, are larger or smaller than the others."""
    rng = np.random.RandomState(n)
    every_64th = np.arange(n) % 64 == 0
    drawn = rng.normal(size=n)
    for values in (drawn, np.sort(drawn), np.round(drawn), np.zeros(n), drawn + 9 * every_64th, drawn - 9 * every_64th):
        falling = np.sort(values)[::-1]
        for k in sorted({1, min(n, 50), n // 10 + 1, n // 2 + 1, n}):
            assert kth_largest(values, k) == falling[k - 1]


def test_the_rank_of_a_negative_is_as_wide_as_its_weight():
    values, weights = np.array([5.0, 1.0, 3.0]), np.array([0.5, 2.0, 1.0])
    assert [kth_largest(values, k, weights) for k in (0.25, 0.5, 0.75, 1.5, 1.75, 3.5)] == [5, 5, 3, 3, 1, 1]


# -- the master ------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", ["tight", "struct"])
@pytest.mark.parametrize("kind", ["sign", "value", "dense"])
def test_the_master_is_that_of_finer_repeated_samples(kind, formulation):
    """Weights that are multiples of a quarter are samples repeated four times as often; ranks scale with them."""
    rng, m, n = np.random.default_rng(0), 20, 60
    weights = rng.integers(1, 9, size=m + n) / 4
    rows, j_beta = np.repeat(np.arange(m + n), (4 * weights).astype(int)), round(1.2 * weights[m:].sum())
    size = int(4 * weights[:m].sum())
    one = Master(m, n, 3.0, formulation, kind, 6, sample_weights=weights)
    other = Master(size, len(rows) - size, 3.0, formulation, kind, 6)
    for predictions in draw_learners(rng, kind, m, n, 0.8):
        one.append(predictions)
        one.solve((0, j_beta / 4), 1e-8)
        other.append(part_of(predictions, rows))
        other.solve((0, j_beta), 1e-8)
    assert one.objective - one.bound <= 2e-8 * one.objective
    assert one.objective == pytest.approx(other.objective, rel=1e-7)
    np.testing.assert_allclose(one.weights, other.weights, rtol=0, atol=1e-3)


@pytest.mark.parametrize("kind", ["sign", "value", "dense"])
def test_screened_negatives_have_their_own_weights(kind):
    rng, m, n = np.random.default_rng(1), 20, 4000
    weights = rng.exponential(size=m + n)
    learners, total = draw_learners(rng, kind, m, n, 2.5), weights[m:].sum()
    master = Master(m, n, 3.0, "tight", kind, 6, sample_weights=weights)
    for predictions in learners:
        master.append(predictions)
        master.solve((0, 0.01 * total), 1e-6)
    _, negatives = master.scores(0.005 * total)
    kept = master.screen.weights[1]
    assert len(kept) == len(negatives) < n / 2
    scores = sum(w * each.dense for w, each in zip(master.weights, learners, strict=True))[m:]
    boundary = kth_largest(scores, 0.005 * total, weights[m:])
    assert kept[negatives >= boundary].sum() == pytest.approx(weights[m:][scores >= boundary].sum())
    risk = slow_risk(
        sum(w * each.dense for w, each in zip(master.weights, learners, strict=True))[:m],
        scores,
        weights[:m],
        weights[m:],
        (0.0, 0.01 * total),
        "tight",
    )
    assert master.objective == pytest.approx(master.weights @ master.weights / 2 + 3.0 * risk)


def draw_learners(rng, kind, m, n, separation):
    """Draw the predictions of six learners that separate the classes somewhat."""
    raw = rng.normal(size=(6, m + n)) + separation * (np.arange(m + n) < m)
    if kind == "dense":
        return [Predictions(np.tanh(scores), None) for scores in raw]
    values = np.array([-1.0, 1.0]) if kind == "sign" else np.array([-0.75, 0.3])
    return [Predictions(values, (scores > 0.4).astype(np.int32)) for scores in raw]


def part_of(predictions, rows):
    if predictions.index is None:
        return Predictions(predictions.values[rows], None)
    return Predictions(predictions.values, predictions.index[rows])


def test_first_signed_weights_are_spread_by_weight():
    weights = np.array([1.0, 3.0, 0.5, 0.5, 1.0])
    master = Master(2, 3, 2.0, "tight", "dense", 1, sample_weights=weights)
    np.testing.assert_allclose(master.signed_weights(), [0.5, 1.5, -0.5, -0.5, -1.0])


# -- ranges and thresholds -------------------------------------------------------------------------


def test_ranges_of_a_total_weight_are_not_rounded():
    assert rank_range(10.5, (0.1, 0.5)) == pytest.approx((1.05, 5.25))
    assert rank_range(10, (0.1, 0.55)) == (1, 5)
    assert wider_ranges(0.5, (0, 0.05), [(0.05, 0.5), (1, 0.5)]) == [(0.5, (0, 0.5))]


@given(seed=seeds, m=st.integers(1, 8), n=st.integers(1, 10), twelfths=st.integers(1, 12))
@settings(quick, max_examples=200)
def test_threshold_is_the_best_of_all(seed, m, n, twelfths):
    positives, negatives, a, b, _ = draw(seed, m, n)
    values = np.unique(np.concatenate([positives, negatives]))
    beta, found = Fraction(twelfths, 12), {}
    for threshold in [*(values[:-1] + values[1:]) / 2, values[-1] + 1]:
        fpr, tpr = (
            Fraction(weights[scores > threshold].sum()) / Fraction(weights.sum())
            for weights, scores in ((b, negatives), (a, positives))
        )
        if fpr <= beta:
            found[float(threshold)] = tpr - fpr
    threshold = training_threshold(positives, negatives, float(b.sum()), float(beta), weights=(a, b))
    assert float(found[threshold]) == pytest.approx(float(max(found.values())), abs=1e-12)


def test_ranges_that_all_but_vanish_hold_a_part_of_the_best_negative():
    """Narrower ones would have the same risk, and sums of pairs so small that dividing by them overflows."""
    total = 41.75
    assert training_rank_range(total, (0, 5e-324)) == (0, 1e-9 * total)
    assert training_rank_range(total, (1e-300, 3e-300)) == (1e-300 * total, 1e-300 * total + 1e-9 * total)
    assert training_rank_range(total, (0, 0.1)) == (0, 0.1 * total)
    assert wider_ranges(total, (0, 5e-324), [(1, 0.5), (5e-324, 0.5)]) == [(0.5, (0, total))]
    rng = np.random.RandomState(0)
    X, y, weights = rng.normal(size=(60, 3)), np.arange(60) % 4 == 0, rng.uniform(0.1, 2, 60)
    narrow = [
        PAUCEnsClassifier((0, beta), n_estimators=3, random_state=0, anneal=False).fit(X, y, weights)
        for beta in (5e-324, 1e-12)
    ]
    np.testing.assert_array_equal(*(model.decision_function(X) for model in narrow))
