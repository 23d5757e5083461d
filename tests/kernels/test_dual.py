"""The solver of the restricted master's dual, and its Gram matrix, against daqp and NumPy."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from paucens._kernels import dual

quick = settings(deadline=None, max_examples=60, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def solve(gram, losses, budget, start=None, tolerance=1e-10, max_steps=100_000):
    """Solve and check the properties of every solution; return value, x and steps."""
    n = len(losses)
    x, gradient = np.zeros(n) if start is None else start.copy(), np.full(n, np.nan)
    value, reported, steps = dual.solve_dual(gram, losses, budget, x, gradient, tolerance, max_steps)
    assert (x >= 0).all()
    assert x.sum() <= budget * (1 + 1e-12) + 1e-300
    inside = gram[:n, :n]
    np.testing.assert_allclose(gradient, losses - inside @ x, rtol=1e-8, atol=1e-8 * (1 + np.abs(losses).max()))
    assert value == pytest.approx(losses @ x - x @ inside @ x / 2, rel=1e-8, abs=1e-12)
    assert reported == pytest.approx(gap(inside, losses, budget, x), abs=1e-8 * (1 + value))
    return value, x, steps


def gap(gram, losses, budget, x):
    """Return the gap of Frank and Wolfe, by which a feasible point can be better at most."""
    gradient = losses - gram @ x
    return budget * max(0.0, gradient.max()) - x @ gradient


def draw(rng, n, rank, scale=1.0):
    features = rng.normal(size=(n, rank)) * scale
    return features @ features.T, rng.rand(n)


@given(seed=seeds, n=st.integers(1, 14), rank=st.integers(1, 16), budget=st.sampled_from([0.01, 0.3, 1.0, 20.0]))
@quick
def test_solution_equals_that_of_daqp(seed, n, rank, budget):
    gram, losses = draw(np.random.RandomState(seed), n, rank)
    value, x, _ = solve(gram, losses, budget)
    assert gap(gram, losses, budget, x) <= 1.1e-10
    assert value == pytest.approx(reference.solve_dual(gram, losses, budget)[0], rel=1e-5, abs=1e-8)


@given(seed=seeds, n=st.integers(2, 10), tolerance=st.sampled_from([1e-1, 1e-3, 1e-6]))
@quick
def test_the_gap_is_certified(seed, n, tolerance):
    gram, losses = draw(np.random.RandomState(seed), n, 3)
    value, x, _ = solve(gram, losses, 2.0, tolerance=tolerance)
    assert gap(gram, losses, 2.0, x) <= tolerance * (1 + 1e-6)
    best = solve(gram, losses, 2.0, tolerance=1e-12)[0]
    assert best - tolerance <= value <= best + 1e-11


def test_a_looser_tolerance_takes_fewer_steps():
    gram, losses = draw(np.random.RandomState(0), 30, 20)
    steps = [solve(gram, losses, 5.0, tolerance=tolerance)[2] for tolerance in (1e-2, 1e-5, 1e-9)]
    assert steps[0] < steps[1] < steps[2] < 5000


@given(seed=seeds, n=st.integers(2, 12), share=st.sampled_from([0.0, 0.5, 1.0]))
@quick
def test_any_start_leads_to_the_same_value_and_never_down(seed, n, share):
    rng = np.random.RandomState(seed)
    gram, losses = draw(rng, n, 4)
    start = rng.dirichlet(np.ones(n)) * share * 3.0
    value, _, _ = solve(gram, losses, 3.0, start)
    assert value == pytest.approx(solve(gram, losses, 3.0)[0], abs=1e-9)
    assert value >= losses @ start - start @ gram @ start / 2 - 1e-12


@given(seed=seeds, n=st.integers(3, 12))
@quick
def test_a_warm_start_costs_less_than_a_cold_one(seed, n):
    gram, losses = draw(np.random.RandomState(seed), n, 5)
    _, x, _ = solve(gram, losses, 3.0, tolerance=1e-10)
    value, again, steps = solve(gram, losses, 3.0, x, tolerance=1e-9)
    assert steps <= 1
    np.testing.assert_allclose(again, x, atol=1e-4)
    assert value == pytest.approx(losses @ x - x @ gram @ x / 2)


@pytest.mark.parametrize("budget", [0.0, 1e-300, 1e-12])
def test_a_tiny_budget_is_kept(budget):
    gram, losses = draw(np.random.RandomState(1), 6, 3)
    value, x, _ = solve(gram, losses, budget, tolerance=0.0, max_steps=1000)
    assert x.sum() == pytest.approx(budget)
    assert value == pytest.approx(budget * losses.max(), rel=1e-6)


def test_without_losses_the_value_is_0():
    gram, _ = draw(np.random.RandomState(2), 6, 3)
    assert solve(gram, np.zeros(6), 4.0)[0] == 0
    start = np.full(6, 4.0 / 6)
    value, x, _ = solve(gram, np.zeros(6), 4.0, start)
    assert value == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(gram @ x, 0, atol=1e-4)
    value, x, _ = solve(np.eye(3), -np.ones(3), 4.0)
    assert value == 0
    assert not x.any()


def test_a_gram_matrix_of_zeros_puts_the_budget_on_the_largest_loss():
    value, x, _ = solve(np.zeros((3, 3)), np.array([0.2, 0.9, 0.5]), 2.0)
    assert value == pytest.approx(1.8)
    np.testing.assert_allclose(x, [0, 2, 0])


def test_equal_cuts_and_one_cut():
    features = np.array([[1.0, 2.0]] * 4)
    value, _, _ = solve(features @ features.T, np.full(4, 0.5), 3.0)
    assert value == pytest.approx(0.5 * 0.1 - 5 * 0.01 / 2)
    value, x, _ = solve(np.array([[4.0]]), np.array([1.0]), 10.0)
    assert (value, x[0]) == pytest.approx((1 / 8, 1 / 4))


def test_no_cut_at_all():
    assert dual.solve_dual(np.zeros((4, 4)), np.zeros(0), 1.0, np.zeros(0), np.zeros(0), 1e-9, 100) == (0, 0, 0)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3])
def test_scales_of_the_features_do_not_matter(scale):
    gram, losses = draw(np.random.RandomState(3), 12, 5, scale)
    budget = 1 / scale
    tolerance = 1e-9 * budget
    value, x, _ = solve(gram, losses, budget, tolerance=tolerance)
    assert gap(gram, losses, budget, x) <= 2 * tolerance
    assert value > 0


def test_only_the_leading_block_counts():
    gram, losses = draw(np.random.RandomState(4), 5, 3)
    larger = np.full((9, 9), np.nan)
    larger[:5, :5] = gram
    larger.flags.writeable = losses.flags.writeable = False
    assert solve(larger, losses, 2.0)[0] == solve(gram, losses, 2.0)[0]


def test_steps_are_bounded():
    gram, losses = draw(np.random.RandomState(5), 20, 20)
    assert solve(gram, losses, 5.0, tolerance=0.0, max_steps=3)[2] == 3


# -- the Gram matrix -------------------------------------------------------------------------------


@given(seed=seeds, events=st.lists(st.booleans(), min_size=1, max_size=25))
@quick
def test_gram_stays_the_product_of_the_features(seed, events):
    """Cuts (rows) and learners (columns) are added in any order."""
    rng = np.random.RandomState(seed)
    features, gram = np.zeros((27, 27)), np.zeros((27, 27))
    k = t = 0
    for is_row in events:
        vector = rng.normal(size=t if is_row else k)
        vector.flags.writeable = False
        before = features.copy(), gram.copy()
        if is_row:
            dual.append_row(features, gram, vector, k)
            expected = reference.append_row(*before, vector, k)
            k += 1
        else:
            dual.append_column(features, gram, vector, t)
            expected = reference.append_column(*before, vector, t)
            t += 1
        np.testing.assert_array_equal(features, expected[0])
        np.testing.assert_allclose(gram, expected[1], atol=1e-12)
    np.testing.assert_allclose(gram[:k, :k], features[:k, :t] @ features[:k, :t].T, atol=1e-12)
    assert not np.delete(features, np.s_[:k], axis=0).any()
    assert not np.delete(gram, np.s_[:k], axis=1).any()


@given(seed=seeds, k=st.integers(0, 6), t=st.integers(0, 6))
@quick
def test_combine_rows(seed, k, t):
    rng = np.random.RandomState(seed)
    features, x = rng.normal(size=(8, 8)), rng.rand(k) * rng.randint(0, 2, k)
    features.flags.writeable = x.flags.writeable = False
    weights = np.full(t, np.nan)
    dual.combine_rows(features, x, weights)
    np.testing.assert_allclose(weights, reference.combine_rows(features, x, t), atol=1e-14)
