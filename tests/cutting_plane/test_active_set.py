"""The active set for the master's dual against daqp, pairwise steps and exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from paucens._kernels.dual import solve_dual
from paucens.cutting_plane.active_set import solve_by_active_set

quick = settings(deadline=None, max_examples=40, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
budgets = st.sampled_from([1e-3, 1.0, 20.0, 1e6])


def draw(seed, n_cuts, n_learners):
    """Draw cuts; a third of them small integers, among which many are combinations of others."""
    rng = np.random.RandomState(seed)
    features = rng.normal(size=(n_cuts, n_learners))
    return np.round(features) if seed % 3 == 0 else features, rng.rand(n_cuts)


def solve(features, losses, budget, start=None, tolerance=0.0):
    """Solve and check what holds for every solution; return weights, value, gap and x."""
    x = np.zeros(len(losses)) if start is None else start.copy()
    weights, value, gap = solve_by_active_set(features, losses, budget, x, tolerance)
    assert (x >= 0).all()
    assert x.sum() <= budget * (1 + 1e-12)
    assert value == pytest.approx(max(0, losses @ x - np.square(features.T @ x).sum() / 2), abs=1e-9 * budget)
    return weights, value, gap, x


def exact_values(features, losses, budget, weights, x):
    """Return the primal value of weights and the dual value of x in fractions, without rounding errors."""
    cuts = [[Fraction(float(value)) for value in row] for row in features]
    w, shares, budget = [Fraction(float(v)) for v in weights], [Fraction(float(v)) for v in x], Fraction(float(budget))
    slopes = [
        Fraction(float(loss)) - sum(a * b for a, b in zip(row, w, strict=True))
        for row, loss in zip(cuts, losses, strict=True)
    ]
    combined = [sum(share * row[t] for share, row in zip(shares, cuts, strict=True)) for t in range(len(w))]
    primal = sum(v * v for v in w) / 2 + budget * max(0, *slopes)
    dual = sum(a * Fraction(float(b)) for a, b in zip(shares, losses, strict=True)) - sum(v * v for v in combined) / 2
    return float(primal), float(dual)


@given(seed=seeds, n_cuts=st.integers(1, 14), n_learners=st.integers(1, 12), budget=budgets)
@quick
def test_the_solution_is_exact(seed, n_cuts, n_learners, budget):
    features, losses = draw(seed, n_cuts, n_learners)
    weights, value, gap, x = solve(features, losses, budget)
    assert abs(gap) <= 1e-12 * budget
    primal, dual = exact_values(features, losses, budget, weights, x)
    assert primal - dual == pytest.approx(0, abs=1e-9 * budget)
    np.testing.assert_allclose(weights, features.T @ x, atol=1e-9 * budget)
    expected, _ = reference.solve_dual(features @ features.T, losses, budget)
    assert value >= expected * (1 - 1e-6) - 1e-9 * budget
    assert np.count_nonzero(x) <= n_learners + 1


@given(seed=seeds, n_cuts=st.integers(1, 12), n_learners=st.integers(1, 10), budget=budgets)
@quick
def test_pairwise_steps_have_the_same_value(seed, n_cuts, n_learners, budget):
    features, losses = draw(seed, n_cuts, n_learners)
    x, gradient, tolerance = np.zeros(n_cuts), np.empty(n_cuts), 1e-4 * budget
    value, gap, _ = solve_dual(features @ features.T, losses, budget, x, gradient, tolerance, 10**5)
    assert value - 1e-9 * budget <= solve(features, losses, budget)[1] <= value + gap + 1e-9 * budget


@given(seed=seeds, n_cuts=st.integers(2, 12), share=st.sampled_from([0.0, 0.5, 1.0]))
@quick
def test_any_start_leads_to_the_same_value(seed, n_cuts, share):
    features, losses = draw(seed, n_cuts, 4)
    start = np.random.RandomState(seed).dirichlet(np.ones(n_cuts)) * share * 3.0
    value, x = solve(features, losses, 3.0)[1::2]
    assert solve(features, losses, 3.0, start)[1] == pytest.approx(value, abs=1e-12)
    assert solve(features, losses, 3.0, x)[1] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("tolerance", [200.0, 100.0])
def test_a_gap_that_is_small_enough_ends_the_search(tolerance):
    features, losses = draw(1, 60, 20)
    value, gap = solve(features, losses, 1e3, tolerance=tolerance)[1:3]
    best, exact = solve(features, losses, 1e3)[1:3]
    assert exact < 1e-9 < gap <= tolerance
    assert best - gap <= value < best


@pytest.mark.parametrize("unit", [1e-3, 1e3, 1e6, 1e40])
def test_units_of_features_and_budget_do_not_matter(unit):
    """The problem with features a F and budget b / a^2 has a^-2 times the value."""
    features, losses = draw(4, 12, 5)
    weights, value, _, x = solve(features, losses, 2.0)
    again = solve(unit * features, losses, 2.0 / unit**2)
    np.testing.assert_allclose(again[0] * unit, weights, rtol=1e-9, atol=1e-12)
    assert again[1] * unit**2 == pytest.approx(value)
    np.testing.assert_allclose(again[3] * unit**2, x, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_columns_of_very_different_units(seed):
    """The Gram matrix of these cuts has a condition beyond 1e16; the fractions say how far the solution is off."""
    rng = np.random.RandomState(seed)
    features, losses = rng.normal(size=(25, 4)) * [1e-3, 1.0, 1e3, 1e6], rng.rand(25)
    weights, _, gap, x = solve(features, losses, 100.0)
    primal, dual = exact_values(features, losses, 100.0, weights, x)
    assert 0 < gap < 1e-6
    assert primal - dual < 1e-6
    assert np.linalg.cond(features @ features.T) > 1e16


@pytest.mark.parametrize("unit", [1e13, 1e15, 1e17])
def test_the_gap_counts_rounding_errors(unit):
    features, losses = draw(5, 12, 3)
    features *= unit
    x = np.zeros(12)
    weights, value, gap = solve_by_active_set(features, losses, 1.0, x, 0.0)
    primal, dual = exact_values(features, losses, 1.0, weights, x)
    assert np.isfinite(weights).all()
    assert 0 <= value <= max(dual, 0)
    assert gap >= (primal - max(dual, 0)) * (1 - 1e-6)
    assert (gap < 0.1) == (unit < 1e14)


def test_one_cut_equal_cuts_and_cuts_of_zeros():
    weights, value, _, x = solve(np.array([[2.0]]), np.array([1.0]), 10.0)
    assert (weights[0], value, x[0]) == pytest.approx((1 / 2, 1 / 8, 1 / 4))
    value, _, x = solve(np.array([[1.0, 2.0]] * 4), np.full(4, 0.5), 3.0)[1:]
    assert (value, x.sum()) == pytest.approx((0.025, 0.1))
    value, _, x = solve(np.zeros((3, 2)), np.array([0.2, 0.9, 0.5]), 2.0)[1:]
    assert (value, x.tolist()) == (pytest.approx(1.8), pytest.approx([0, 2, 0]))
    assert solve(np.ones((3, 2)), np.zeros(3), 2.0)[1] == 0
    assert solve(np.zeros((0, 2)), np.zeros(0), 2.0)[1] == 0


def test_cuts_whose_squares_vanish_beside_a_huge_budget():
    """Losses would be divided by their unit twice, which overflows; all budget goes to the larger loss."""
    features, x = np.full((2, 3), 1e-200), np.zeros(2)
    with np.errstate(all="raise", under="ignore"):
        weights, value, gap = solve_by_active_set(features, np.array([0.5, 0.25]), 1e50, x, 1e30)
    assert value == pytest.approx(0.5e50) and x == pytest.approx([1e50, 0]) and gap <= 1e30
    assert np.abs(weights).max() <= 1e-149
