"""Splits of categories, against all sets of categories and against the twin of trees."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import same_nodes
from reference_trees import grid_of, nested, slow_tree

from paucens.learners.binning import bin_features
from paucens.learners.growing import GrowingRule, TreeGrower
from paucens.learners.nodes import NO_SETS, leaves_of_codes, leaves_of_values, trees_from_arrays, trees_to_arrays
from paucens.parallel import Threads

quick = settings(deadline=None, max_examples=150, derandomize=True)


def ranked(X, categorical):
    """Number the categories of a column from 0 on; missing ones stay missing."""
    X = X.copy()
    for column in categorical:
        known = ~np.isnan(X[:, column])
        X[known, column] = np.unique(X[known, column], return_inverse=True)[1]
    return X


def grown(X, u, categorical, depth=1, max_leaves=None, leaves="sign", leaf_ridge=0.0, sample_nodes=False, threads=1):
    """Grow a tree; also return the leaves that the rows reach, by their bins and by their values."""
    rule = GrowingRule(depth, max_leaves, leaves == "real", leaf_ridge, X.shape[1], sample_nodes)
    with Threads(threads) as pool:
        numbers = {column: int(np.nanmax(X[:, column], initial=-1)) + 1 for column in categorical}
        binned = bin_features(X, 256, pool, categorical=numbers)
        nodes = TreeGrower(binned, rule, pool).grow(np.asarray(u, dtype=float))
        return nodes, leaves_of_codes(nodes, binned, pool), leaves_of_values(nodes, X, pool)


# -- the best of all sets --------------------------------------------------------------------------


def sums_of(x, u):
    """Return the sums of the weights, of their magnitudes and of samples per category, those of missing ones last."""
    codes = np.where(np.isnan(x), np.nanmax(x) + 1, x).astype(int)
    k = int(np.nanmax(x)) + 2
    return [np.bincount(codes, values, minlength=k) for values in (u, np.abs(u), np.ones(len(u)))]


def best_gain(signed, masses, ridge, sets):
    """Return the largest gain of some sets of categories, rows of 0 and 1, with missing ones on either side."""
    left = np.vstack([np.column_stack([sets, np.full(len(sets), missing)]) for missing in (0, 1)])

    def quality(part):
        s, w = part @ signed, part @ masses
        return np.abs(s) if ridge is None else s**2 / np.maximum(w + ridge, 1e-300)

    return max(0.0, (quality(left) + quality(1 - left)).max() - quality(np.ones(len(signed))))


def all_sets(k):
    """List the 2^(k - 1) sets of categories that hold the first one; a set and its complement are one split."""
    return np.array([[1, *others] for others in itertools.product([0, 1], repeat=k - 1)])


def leading_sets(order):
    """List the sets of the first categories of an order."""
    return np.array([np.isin(np.arange(len(order)), order[: k + 1]) for k in range(len(order))])


def draw_column(rng):
    """Draw a column of up to 8 categories, of which some are missing, and weights of very different sizes."""
    n, k = rng.randint(8, 40), rng.randint(2, 9)
    x = rng.randint(0, k, n).astype(float)
    x[:k] = np.arange(k)
    if rng.rand() < 0.5:
        x[rng.rand(n) < 0.2] = np.nan
    sizes = 10.0 ** rng.randint(0, 4, k)
    u = rng.choice([-3, -1, 1, 2], n) * np.where(np.isnan(x), 5.0, sizes[np.nan_to_num(x).astype(int)])
    return ranked(x[:, None], [0]), u


@pytest.mark.parametrize(("leaves", "leaf_ridge"), [("sign", 0.0), ("real", 0.0), ("real", 3.0)])
def test_no_set_of_categories_is_better(leaves, leaf_ridge):
    rng = np.random.RandomState(0)
    for _ in range(150):
        X, u = draw_column(rng)
        ridge = None if leaves == "sign" else leaf_ridge * np.abs(u).mean()
        nodes, reached, _ = grown(X, u, (0,), leaves=leaves, leaf_ridge=leaf_ridge)
        signed, masses, _ = sums_of(X[:, 0], u)
        best = best_gain(signed, masses, ridge, all_sets(len(signed) - 1))
        assert nodes.gain[0] == pytest.approx(best, rel=1e-6, abs=1e-6 * np.abs(u).sum())
        if nodes.child[0]:
            signed, masses = (np.bincount(reached, values)[1:] for values in (u, np.abs(u)))
            assert best_gain(signed, masses, ridge, np.array([[1]])) == pytest.approx(best, rel=1e-6)


def test_the_order_by_share_misses_none_and_that_by_mean_weight_does():
    """S / W is what counts for real leaves, not S over the number of samples."""
    rng, missed = np.random.RandomState(1), [0, 0]
    for _ in range(300):
        X, u = draw_column(rng)
        signed, masses, counts = sums_of(X[:, 0], u)
        best = best_gain(signed, masses, 0.0, all_sets(len(signed) - 1))
        for k, divisor in enumerate((masses, counts)):
            order = np.argsort(signed[:-1] / divisor[:-1], kind="stable")
            missed[k] += best_gain(signed, masses, 0.0, leading_sets(order)) < best * (1 - 1e-9)
    assert missed[0] == 0
    assert missed[1] > 30


# -- trees -----------------------------------------------------------------------------------------


def draw(rng, n, d):
    """Draw columns of few values, some of them missing, of which some are categories, and small integer weights."""
    X = rng.randint(0, rng.choice([1, 3, 6], d), (n, d)).astype(float)
    X[rng.rand(n, d) < rng.choice([0.0, 0.3, 1.0], d, p=[0.5, 0.4, 0.1])] = np.nan
    categorical = tuple(np.flatnonzero(rng.rand(d) < 0.7).tolist())
    return ranked(X, categorical), rng.choice([-3, -1, 1, 2, 0, 0], n), categorical


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 24),
    d=st.integers(1, 3),
    depth=st.sampled_from([1, 2, 4]),
    max_leaves=st.sampled_from([None, 2, 5, 9]),
    leaves=st.sampled_from(["sign", "real"]),
    leaf_ridge=st.sampled_from([0.0, 0.3, 2.0]),
    sample_nodes=st.booleans(),
)
@quick
def test_trees_equal_the_twin(seed, n, d, depth, max_leaves, leaves, leaf_ridge, sample_nodes):
    X, u, categorical = draw(np.random.RandomState(seed), n, d)
    nodes, by_codes, by_values = grown(X, u, categorical, depth, max_leaves, leaves, leaf_ridge, sample_nodes)
    assert nested(nodes) == slow_tree(X, grid_of(u), depth, max_leaves, leaves == "real", leaf_ridge, categorical)
    np.testing.assert_array_equal(by_codes, by_values)
    assert (nodes.left_sets is NO_SETS) == (not set(nodes.column[nodes.child > 0]) & set(categorical))


def test_two_hundred_and_fifty_five_categories():
    x = np.arange(255.0)
    u = np.where(x % 2, 1.0, -1.0)
    nodes, by_codes, by_values = grown(x[:, None], u, (0,))
    assert nodes.gain[0] == 255 - 1
    np.testing.assert_array_equal(nodes.value[by_codes], u)
    np.testing.assert_array_equal(nodes.value[by_values], u)


@pytest.mark.parametrize(("weights", "left"), [([3.0, -1.0, 0.0], False), ([1.0, -3.0, 0.0], True)])
def test_what_the_node_has_not_seen_goes_to_the_heavier_child(weights, left):
    """The negative category goes left; one without weight, a missing value, and one that is none are new to it."""
    nodes, _, _ = grown(np.array([[0.0], [1.0], [2.0]]), weights, (0,))
    assert nodes.missing_left[0] == left and not nodes.missing_seen[0]
    with Threads(1) as threads:
        reached = leaves_of_values(
            nodes, np.array([[1.0], [0.0], [2.0], [np.nan], [3.0], [-1.0], [0.5], [1e9]]), threads
        )
    assert reached.tolist() == [1, 2] + [1 if left else 2] * 6


def test_equal_splits_go_to_the_first_categories_then_to_missing_ones_on_the_left():
    X, u = np.array([[0.0], [1.0], [2.0], [3.0], [np.nan], [np.nan]]), [-2.0, 2.0, 2.0, -2.0, 1.0, -1.0]
    nodes, _, _ = grown(X, u, (0,), leaves="real")
    assert nested(nodes)[1:3] == ((0, 3, *range(4, 16)), True)


def test_threads_and_the_order_of_rows_change_nothing(monkeypatch):
    monkeypatch.setattr("paucens.parallel.WORTH_A_THREAD", 1)
    rng = np.random.RandomState(0)
    X, u, categorical = draw(rng, 400, 9)
    order = rng.permutation(400)
    for leaves in ("sign", "real"):
        one, *leaves_of_one = grown(X, u, categorical, 4, leaves=leaves)
        two, *leaves_of_two = grown(X, u, categorical, 4, leaves=leaves, threads=2)
        assert same_nodes(one, two) and one.left_sets.any()
        assert np.array_equal(leaves_of_one, leaves_of_two)
        assert same_nodes(one, grown(X[order], u[order], categorical, 4, leaves=leaves)[0])


def test_trees_come_back_from_arrays():
    rng = np.random.RandomState(3)
    X, u = rng.randint(0, 5, (200, 4)).astype(float), rng.normal(size=200)
    trees = [grown(X, u, categorical, 3)[0] for categorical in ((0, 1), (), (1, 2, 3))]
    again = trees_from_arrays(trees_to_arrays(trees), 4)
    assert all(same_nodes(one, other) for one, other in zip(trees, again, strict=True))
    assert [len(tree.left_sets) > 0 for tree in again] == [True, False, True]
    assert "nodes/left_sets" not in trees_to_arrays(trees[1:2])
