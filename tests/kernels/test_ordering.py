"""The constraint oracle against every ordering of every subset, and the properties of its cuts."""

import itertools
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_orderings import brute_force, orderings

from paucens.cutting_plane import Cut, most_violated_cut

quick = settings(deadline=None, max_examples=100, derandomize=True)

RATES = [Fraction(k, 12) for k in range(13)]
RANGES = [(alpha, beta) for alpha, beta in itertools.combinations(RATES, 2)]


# -- brute force -----------------------------------------------------------------------------------


def rank_range(n, alpha, beta):
    return ceil(n * alpha), floor(n * beta)


def value(cut, scores_pos, scores_neg):
    return cut.loss - cut.signed_weights @ np.concatenate([scores_pos, scores_neg])


def draw(rng, m, n):
    """Draw scores from few multiples of a half: many are tied, many differ by exactly the margin of 1."""
    spread = rng.choice([1, 3, 8])
    return rng.randint(-spread, spread + 1, m) / 2, rng.randint(-spread, spread + 1, n) / 2


def test_the_brute_force_knows_every_ordering():
    matrices, sums = orderings(2, 2)
    assert len(matrices) == 14  # all 16 except the identity and its mirror image, which are no orderings
    assert not any((matrix == np.eye(2)).all() for matrix in matrices)
    assert len(orderings(3, 4)[0]) == 1066  # the poly-Bernoulli number B(3, -4)
    assert (sums[:, 0] >= sums[:, 1]).all()


@pytest.mark.parametrize("formulation", ["tight", "struct"])
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_oracle_equals_brute_force(m, n, formulation):
    rng = np.random.RandomState(100 * m + n)
    for alpha, beta in RANGES:
        j_alpha, j_beta = rank_range(n, alpha, beta)
        fpr_range = float(alpha), float(beta)
        if j_beta <= j_alpha:
            with pytest.raises(ValueError, match="holds no position"):
                most_violated_cut(np.zeros(m), np.zeros(n), fpr_range, formulation)
            continue
        for k in range(4):
            scores = draw(rng, m, n) if k else (rng.normal(size=m), rng.normal(size=n))
            cut = most_violated_cut(*scores, fpr_range, formulation)
            best = brute_force(*scores, j_alpha, j_beta, formulation)
            assert value(cut, *scores) == pytest.approx(best, abs=1e-12)
            # A cut is valid at any other scores too: its value never exceeds that of the most violated cut there.
            other = draw(rng, m, n)
            assert value(cut, *other) <= brute_force(*other, j_alpha, j_beta, formulation) + 1e-12
            assert value(cut, *scores) >= true_risk(*scores, j_alpha, j_beta) - 1e-12


def per_pair(scores_pos, scores_neg, j_alpha, j_beta):
    """Return the value of the paper's rule, which treats each pair separately, by a threshold."""
    ranked = np.sort(scores_neg)[::-1][:j_beta]
    margin = np.arange(j_beta) >= j_alpha
    gains = margin + ranked - np.array(scores_pos)[:, None]
    return gains[gains > 0].sum() / (len(scores_pos) * (j_beta - j_alpha))


def test_a_threshold_for_each_pair_is_right_for_alpha_0_alone():
    """ERRATA.md, E1."""
    rng = np.random.RandomState(0)
    above = {True: 0, False: 0}
    for _ in range(500):
        m, n = rng.randint(1, 4), rng.randint(2, 5)
        j_beta = rng.randint(1, n + 1)
        j_alpha = rng.randint(0, j_beta)
        scores = rng.normal(size=m) / 2, rng.normal(size=n) / 2
        best, claimed = brute_force(*scores, j_alpha, j_beta, "tight"), per_pair(*scores, j_alpha, j_beta)
        assert claimed >= best - 1e-12
        above[j_alpha > 0] += claimed > best + 1e-9
    assert above[False] == 0
    assert above[True] > 20


def test_a_case_where_the_threshold_for_each_pair_overestimates():
    scores = [0.5], [0.0, 0.0]  # the range is the second negative; to lose it, the first must be lost too
    cut = most_violated_cut(*scores, (0.5, 1))
    assert per_pair(*scores, 1, 2) == 0.5
    assert value(cut, *scores) == brute_force(*scores, 1, 2, "tight") == 0.0


# -- properties ------------------------------------------------------------------------------------


def true_risk(scores_pos, scores_neg, j_alpha, j_beta):
    """Return the share of the pairs in the range that are lost, including ties."""
    in_range = np.sort(scores_neg)[::-1][j_alpha:j_beta]
    return np.mean(in_range >= np.array(scores_pos)[:, None])


scores = st.integers(-40, 40).map(lambda k: k / 8)
samples = {"pos": st.lists(scores, min_size=1, max_size=12), "neg": st.lists(scores, min_size=1, max_size=25)}
formulations = st.sampled_from(["tight", "struct"])


@st.composite
def ranges(draw, n):
    """Draw rates whose range among n negatives is not empty."""
    j_beta = draw(st.integers(1, n))
    j_alpha = draw(st.integers(0, j_beta - 1))
    return (j_alpha / n, j_beta / n), j_alpha, j_beta


@given(data=st.data(), **samples)
@quick
def test_values_are_bounds(data, pos, neg):
    fpr_range, j_alpha, j_beta = data.draw(ranges(len(neg)))
    tight, struct = (most_violated_cut(pos, neg, fpr_range, name) for name in ("tight", "struct"))
    risk = true_risk(pos, neg, j_alpha, j_beta)
    assert 0 <= tight.loss <= 1
    assert 0 <= struct.loss <= 1
    assert value(tight, pos, neg) >= max(risk, 0) - 1e-12
    assert value(struct, pos, neg) >= value(tight, pos, neg) - 1e-12


@given(data=st.data(), **samples)
@quick
def test_the_closed_form_for_alpha_0(data, pos, neg):
    j_beta = data.draw(st.integers(1, len(neg)))
    cut = most_violated_cut(pos, neg, (0, j_beta / len(neg)))
    top = np.sort(neg)[::-1][:j_beta]
    hinge = np.maximum(0, 1 + top - np.array(pos)[:, None]).sum() / (len(pos) * j_beta)
    assert value(cut, pos, neg) == pytest.approx(hinge, abs=1e-12)


@given(data=st.data(), formulation=formulations, shift=st.integers(-9, 9), **samples)
@quick
def test_a_shift_of_all_scores_changes_nothing(data, formulation, shift, pos, neg):
    fpr_range, _, _ = data.draw(ranges(len(neg)))
    cut = most_violated_cut(pos, neg, fpr_range, formulation)
    shifted = most_violated_cut(np.add(pos, shift), np.add(neg, shift), fpr_range, formulation)
    assert shifted.loss == cut.loss
    np.testing.assert_array_equal(shifted.signed_weights, cut.signed_weights)


@given(data=st.data(), formulation=formulations, **samples)
@quick
def test_positives_and_negatives_have_the_same_total_weight(data, formulation, pos, neg):
    fpr_range, j_alpha, j_beta = data.draw(ranges(len(neg)))
    cut = most_violated_cut(pos, neg, fpr_range, formulation)
    weights, loss = cut
    m = len(pos)
    assert (weights[:m] >= 0).all()
    assert (weights[m:] <= 0).all()
    assert weights[:m].sum() == pytest.approx(-weights[m:].sum(), abs=1e-12)
    assert loss <= weights[:m].sum() + 1e-12  # each lost pair in the range is part of a row
    if j_alpha == 0 and formulation == "tight":
        assert loss == pytest.approx(weights[:m].sum(), abs=1e-12)
    longest = j_beta if formulation == "tight" else len(neg)
    assert weights[:m].max() <= longest / cut.normaliser + 1e-12
    assert weights.shape == (m + len(neg),) == (cut.n_samples,)
    assert cut.normaliser == m * (j_beta - j_alpha)


@given(data=st.data(), formulation=formulations, seed=st.integers(0, 2**32 - 1), **samples)
@quick
def test_the_order_of_rows_does_not_matter_for_alpha_0(data, formulation, seed, pos, neg):
    j_beta = data.draw(st.integers(1, len(neg)))
    rng = np.random.RandomState(seed)
    p, q = rng.permutation(len(pos)), rng.permutation(len(neg))
    cut = most_violated_cut(pos, neg, (0, j_beta / len(neg)), formulation)
    permuted = most_violated_cut(np.array(pos)[p], np.array(neg)[q], (0, j_beta / len(neg)), formulation)
    assert permuted.loss == cut.loss
    weights = cut.signed_weights[np.concatenate([p, len(pos) + q])]
    np.testing.assert_allclose(permuted.signed_weights, weights, rtol=1e-12)


@given(data=st.data(), formulation=formulations, seed=st.integers(0, 2**32 - 1), **samples)
@quick
def test_the_order_of_rows_never_changes_the_value(data, formulation, seed, pos, neg):
    fpr_range, _, _ = data.draw(ranges(len(neg)))
    rng = np.random.RandomState(seed)
    p, q = rng.permutation(pos), rng.permutation(neg)
    expected = value(most_violated_cut(pos, neg, fpr_range, formulation), pos, neg)
    assert value(most_violated_cut(p, q, fpr_range, formulation), p, q) == pytest.approx(expected, abs=1e-12)


@given(data=st.data(), times=st.integers(2, 4), **samples)
@quick
def test_duplicates_share_the_weight_of_one_sample(data, times, pos, neg):
    j_beta = data.draw(st.integers(1, len(neg)))
    fpr_range = 0, j_beta / len(neg)
    once = most_violated_cut(pos, neg, fpr_range)
    often = most_violated_cut(np.repeat(pos, times), np.repeat(neg, times), fpr_range)
    assert often.loss == pytest.approx(once.loss, abs=1e-12)
    shared = np.repeat(once.signed_weights / times, times)
    np.testing.assert_allclose(often.signed_weights, shared, rtol=1e-12, atol=1e-15)


def test_tied_scores_have_equal_weights():
    cut = most_violated_cut([0.0, 0.0, 9.0], [0.0] * 7 + [-5.0], (0, 0.25))
    np.testing.assert_allclose(cut.signed_weights[:3], [1 / 3, 1 / 3, 0])
    np.testing.assert_allclose(cut.signed_weights[3:10], -2 / 3 / 7)
    assert cut.signed_weights[10] == 0


def test_a_constant_score_loses_everything():
    cut = most_violated_cut(np.zeros(4), np.zeros(10), (0, 0.3))
    assert cut.loss == 1.0
    np.testing.assert_allclose(cut.signed_weights, np.repeat([1 / 4, -1 / 10], [4, 10]))


def test_a_perfect_score_loses_nothing():
    for formulation in ("tight", "struct"):
        weights, loss = most_violated_cut([5.0, 6.0], [0.0, 1.0, 2.0], (0, 1), formulation)
        assert loss == 0
        assert not weights.any()


def test_struct_weights_negatives_beyond_the_range():
    scores = [0.0], [3.0, 2.0, 1.0, -1.0]
    tight, struct = (most_violated_cut(*scores, (0, 0.25), name).signed_weights for name in ("tight", "struct"))
    np.testing.assert_array_equal(tight, [1, -1, 0, 0, 0])
    np.testing.assert_array_equal(struct, [3, -1, -1, -1, 0])


@pytest.mark.parametrize(
    ("n", "fpr_range", "ranks"),
    [
        (100, (0.0, 0.29), (0, 29)),
        (100, (0.07, 0.29), (7, 29)),
        (10, (0.1, 0.3), (1, 3)),
        (1000, (0.001, 0.057), (1, 57)),
    ],
)
def test_ranks_are_not_moved_by_rounding(n, fpr_range, ranks):
    """ERRATA.md, E4: 100 * 0.29 is 28.999..., 100 * 0.07 is 7.000...1."""
    cut = most_violated_cut([0.0], np.arange(n) * 1.0, fpr_range)
    assert cut.normaliser == ranks[1] - ranks[0]
    assert np.count_nonzero(cut.signed_weights[1:]) == ranks[1]


def test_a_range_may_hold_no_rank():
    message = r"\(0.11, 0.19\) holds no position among 10 negatives.*j_beta = 1.*j_alpha = 2"
    with pytest.raises(ValueError, match=message):
        most_violated_cut([0.0], np.zeros(10), (0.11, 0.19))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [0.0], (0, 1)), "scores_pos must be a non-empty list of finite numbers"),
        (([0.0], [], (0, 1)), "scores_neg must be a non-empty list of finite numbers"),
        (([np.nan], [0.0], (0, 1)), "scores_pos"),
        (([0.0], [np.inf], (0, 1)), "scores_neg"),
        (([[0.0]], [0.0], (0, 1)), "scores_pos"),
        (([0.0], [0.0], (0.5, 0.5)), "fpr_range"),
        (([0.0], [0.0], (0.5, 0.1)), "fpr_range"),
        (([0.0], [0.0], (-0.1, 0.5)), "fpr_range"),
        (([0.0], [0.0], (0, 1.1)), "fpr_range"),
        (([0.0], [0.0], 0.5), "fpr_range"),
        (([0.0], [0.0], (0, np.nan)), "fpr_range"),
        (([0.0], [0.0], (0, 1), "loose"), "formulation must be one of 'tight', 'struct'; got 'loose'"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        most_violated_cut(*arguments)


def test_scores_are_read_only_lists_or_arrays():
    pos, neg = np.array([1.0, 0.0]), np.array([0.5, 2.0], dtype=np.float32)
    pos.flags.writeable = neg.flags.writeable = False
    cut = most_violated_cut(pos, neg, (0, 1))
    assert isinstance(cut, Cut)
    np.testing.assert_array_equal(cut.signed_weights, most_violated_cut(list(pos), tuple(neg), (0, 1)).signed_weights)
    np.testing.assert_array_equal(pos, [1, 0])


@pytest.mark.parametrize("m", [1, 7, 8, 9, 1000])
@pytest.mark.parametrize("alpha", [0, 0.013])
def test_many_scores(m, alpha):
    """There are more positives than simultaneous searches, and every length of the last batch occurs."""
    rng = np.random.RandomState(m)
    pos, neg = rng.normal(1, 1, m), rng.normal(size=3001)
    j_alpha, j_beta = rank_range(3001, Fraction(alpha), Fraction(1, 10))
    cut = most_violated_cut(pos, neg, (alpha, 0.1))
    ranked = np.sort(neg)[::-1][:j_beta]
    counted = np.clip(np.arange(j_beta + 1) - j_alpha, 0, None)
    prefix = np.concatenate([[0], np.cumsum(ranked)])
    rows = [np.max(counted + prefix - np.arange(j_beta + 1) * s) for s in pos]
    assert value(cut, pos, neg) == pytest.approx(np.sum(rows) / (m * (j_beta - j_alpha)), rel=1e-10)
