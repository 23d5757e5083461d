"""Trees of the package against a twin that tries every split on raw values."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import same_nodes
from reference_trees import grid_of, nested, slow_tree, splits_of

from paucens import Stump, Tree
from paucens.learners import growing
from paucens.learners.binning import BinnedData, bin_features
from paucens.learners.grid import to_grid
from paucens.learners.growing import GrowingRule, TreeGrower
from paucens.learners.nodes import leaves_of_codes, leaves_of_values
from paucens.parallel import Threads

quick = settings(deadline=None, max_examples=60, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def draw(rng, kind, n, d):
    """Draw features and small integer weights, a third of them zero."""
    X = {"random": rng.normal(size=(n, d)), "tied": rng.randint(0, 3, (n, d)) * 1.0, "constant": np.ones((n, d))}[kind]
    if kind == "tied" and d > 1:
        X[:, -1] = X[:, 0]  # a copy: its splits tie with the first column's
    return X, rng.choice([-3, -1, 1, 2, 0, 0], n)


cases = {
    "seed": seeds,
    "kind": st.sampled_from(["random", "tied", "constant"]),
    "n": st.integers(1, 16),
    "d": st.integers(1, 3),
}


@given(
    **cases,
    depth=st.integers(1, 4),
    leaves=st.sampled_from(["sign", "real"]),
    leaf_ridge=st.sampled_from([0.0, 0.3, 2.0]),
)
@quick
def test_level_wise_trees_equal_the_twin(seed, kind, n, d, depth, leaves, leaf_ridge):
    X, u = draw(np.random.RandomState(seed), kind, n, d)
    tree = Tree(depth, leaves=leaves, leaf_ridge=leaf_ridge).fit(X, u * 0.37)
    assert nested(tree.nodes_) == slow_tree(X, grid_of(u * 0.37), depth, None, leaves == "real", leaf_ridge)


@given(
    **cases,
    max_leaves=st.integers(2, 9),
    depth=st.sampled_from([None, 2, 3]),
    leaves=st.sampled_from(["sign", "real"]),
    leaf_ridge=st.sampled_from([0.0, 1.0]),
)
@quick
def test_best_first_trees_equal_the_twin(seed, kind, n, d, max_leaves, depth, leaves, leaf_ridge):
    X, u = draw(np.random.RandomState(seed), kind, n, d)
    tree = Tree(depth, max_leaves=max_leaves, leaves=leaves, leaf_ridge=leaf_ridge).fit(X, u)
    assert nested(tree.nodes_) == slow_tree(X, grid_of(u), depth, max_leaves, leaves == "real", leaf_ridge)


@pytest.mark.parametrize("leaves", ["sign", "real"])
def test_a_stump_is_a_tree_of_depth_1(leaves):
    rng = np.random.RandomState(0)
    X, u = rng.normal(size=(40, 3)), rng.normal(size=40)
    stump, tree = Stump(leaves=leaves).fit(X, u), Tree(1, leaves=leaves).fit(X, u)
    assert same_nodes(stump.nodes_, tree.nodes_)
    assert len(stump.nodes_.child) == 3


def test_best_first_takes_the_better_leaf_first():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    u = np.array([-2.0, 1.0, 9.0, -4.0])  # the root splits column 0 or 1; then the right gains more than the left
    tree = Tree(None, max_leaves=3, leaves="real").fit(X, u)
    assert nested(tree.nodes_) == slow_tree(X, grid_of(u), None, 3, True, 0.0)
    assert np.count_nonzero(tree.nodes_.child == 0) == 3


def test_ties_go_to_the_smallest_column_then_the_smallest_threshold():
    X = np.array([[0.0, 0, 0], [0, 1, 1], [0, 2, 2], [0, 3, 3]])
    tree = Stump().fit(X, [-1.0, 1.0, -1.0, 1.0])  # after the first and after the third value, in two columns
    assert (tree.nodes_.column[0], tree.nodes_.threshold[0]) == (1, 0.5)


@pytest.mark.parametrize("leaves", ["sign", "real"])
@pytest.mark.parametrize("u", [[0, 0, 0, 0], [1, 1, 1, 1], [1, -1, 1, -1], [-1, 0, -1, 0]])
def test_a_node_that_no_split_improves_is_a_leaf(leaves, u):
    X = np.array([[0.0], [0], [1], [1]])
    tree = Tree(3, leaves=leaves, leaf_ridge=0.5).fit(X, u)
    assert list(tree.nodes_.child) == [0]
    root = {"sign": {0: 1.0, 4: 1.0, -2: -1.0}, "real": {0: 0.0, 4: 4 / 4.5, -2: -2 / 2.5}}[leaves][sum(u)]
    assert tree.predict(X) == pytest.approx(root)


def test_a_sign_leaf_of_sum_0_takes_its_parents_sign():
    X = np.array([[0.0], [0], [1], [1]])
    assert list(Stump().fit(X, [1, -1, -3, -3]).nodes_.child) == [0]  # |0| + |-6| gains nothing
    tree = Tree(2).fit(np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [2, 0]]), [3.0, -4, -1, 2, -5])
    assert set(tree.nodes_.value) <= {-1.0, 1.0}


def test_gain_is_the_decrease_of_the_loss():
    X, u = np.array([[0.0], [1], [2], [3]]), np.array([-0.5, 0.25, 0.25, 0.5])
    tree = Stump().fit(X, u)
    assert tree.nodes_.gain[0] == abs(-0.5) + 1.0 - 0.5
    real = Stump(leaves="real").fit(X, u)
    assert real.nodes_.gain[0] == pytest.approx(0.5 + 1.0 - 0.25 / 1.5)
    assert list(real.nodes_.gain[1:]) == [0, 0]


def test_sign_stumps_minimise_the_weighted_error():
    rng = np.random.RandomState(3)
    for _ in range(20):
        X, u = rng.randint(0, 5, (12, 2)) * 1.0, rng.normal(size=12)
        edges = [abs(u.sum())] + [abs(u @ np.where(X[:, c] <= t, -1, 1)) for c, t, _ in splits_of(X, u, u != 0)]
        assert u @ Stump().fit(X, u).predict(X) == pytest.approx(max(edges), rel=1e-6)


# -- weights ---------------------------------------------------------------------------------------


def binned_tree(binned, u, depth=3, real=False, threads=None, **rule):
    rule = {"max_leaves": None, "leaf_ridge": 0.5, "n_columns": len(binned.codes), "sample_nodes": False} | rule
    with Threads(1) as one:
        return TreeGrower(binned, GrowingRule(depth=depth, real_leaves=real, **rule), threads or one).grow(u)


@pytest.mark.parametrize("real", [False, True])
def test_rows_of_zero_weight_never_matter(real):
    rng = np.random.RandomState(0)
    X, u = rng.normal(size=(200, 4)), rng.normal(size=200) * (rng.rand(200) < 0.3)
    with Threads(1) as threads:
        binned = bin_features(X, 256, threads)
    without = BinnedData(np.ascontiguousarray(binned.codes[:, u != 0]), binned.thresholds, binned.offsets)
    assert same_nodes(binned_tree(binned, u, real=real), binned_tree(without, u[u != 0], real=real))
    scrambled = binned.codes.copy()
    scrambled[:, u == 0] = rng.randint(0, 100, scrambled[:, u == 0].shape)
    moved = BinnedData(scrambled, binned.thresholds, binned.offsets)
    assert same_nodes(binned_tree(binned, u, real=real), binned_tree(moved, u, real=real))


@pytest.mark.parametrize("real", [False, True])
def test_trees_depend_on_neither_the_order_of_rows_nor_the_scale_of_weights(real):
    rng = np.random.RandomState(1)
    X, u = rng.randint(0, 9, (300, 4)) * 1.0, rng.normal(size=300)
    tree = Tree(4, leaves="real" if real else "sign", leaf_ridge=1.0)
    nodes = tree.fit(X, u).nodes_
    order = rng.permutation(300)
    assert same_nodes(nodes, tree.fit(X[order], u[order]).nodes_)
    scaled = tree.fit(X, u * 2.0**-40).nodes_
    assert same_nodes(nodes[:-1], scaled[:-1])
    np.testing.assert_array_equal(nodes.gain * 2.0**-40, scaled.gain)


@given(weights=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), exponent=st.integers(-900, 900))
@quick
def test_the_grid_is_fine_and_its_sum_fits(weights, exponent):
    weights = np.ldexp(np.array(weights), exponent)
    grid, power = to_grid(weights)
    total = np.abs(weights).sum()
    assert np.abs(grid.astype(np.int64)).sum() < 2**31
    np.testing.assert_allclose(np.ldexp(grid.astype(float), -power), weights, rtol=0, atol=total * 2.0**-29)


@pytest.mark.parametrize("size", [1e-310, 1e-300, 1.0, 1e307])
def test_weights_of_any_size_grow_the_same_tree(size):
    tree = Tree(depth=1).fit(np.arange(4.0)[:, None], size * np.array([-1.0, -1.0, 1.0, 1.0]))
    assert tree.nodes_.threshold[0] == 1.5 and tree.nodes_.gain[0] > 0


@pytest.mark.parametrize("heavy", [1e4, 1e12, -1e12, 1e300])
def test_one_heavy_weight_leaves_the_others_their_splits(heavy):
    """It decides about the sign of its leaf alone, as a weight does that just outweighs the rest."""
    rng = np.random.RandomState(0)
    X = rng.permutation(60)[:, None] * 1.0
    weights = np.where((X[:, 0] > 20) ^ (rng.uniform(size=60) < 0.2), 1.0, -1.0)
    at = int(np.flatnonzero(weights == np.sign(heavy))[0])
    weights[at] = heavy
    exact = [Fraction(weight) for weight in weights]
    errors = {
        (threshold, sign): sum(
            abs(w) for w, x in zip(exact, X[:, 0], strict=True) if (w > 0) != ((x > threshold) == sign)
        )
        for threshold in np.arange(-0.5, 59)
        for sign in (True, False)
    }
    stump = Tree(depth=1).fit(X, weights)
    wrong = np.sign(weights) != stump.predict(X)
    assert sum(abs(w) for w, is_wrong in zip(exact, wrong, strict=True) if is_wrong) == min(errors.values())
    assert len(stump.nodes_.child) == 3
    for depth in (1, 3):
        nodes = Tree(depth=depth).fit(X, weights).nodes_
        weights[at] = np.sign(heavy) * 300.0
        assert same_nodes(nodes, Tree(depth=depth).fit(X, weights).nodes_)
        weights[at] = heavy


# -- threads and memory ------------------------------------------------------------------------------

RULES = {
    "sign": {"depth": 4},
    "real": {"depth": None, "max_leaves": 12, "real": True},
    "sampled": {"depth": None, "max_leaves": 12, "real": True, "n_columns": 7, "sample_nodes": True},
    "sampled once": {"depth": 3, "n_columns": 7},
}


@pytest.fixture(scope="module")
def tied_data():
    """Many columns of few values, so that many splits are equal."""
    rng = np.random.RandomState(5)
    return rng.randint(0, 3, (400, 25)) * 1.0, rng.choice([-2.0, -1.0, 0.0, 1.0, 3.0], 400)


@pytest.mark.parametrize("name", RULES)
def test_threads_change_nothing(monkeypatch, tied_data, name):
    X, u = tied_data
    with Threads(1) as one:
        binned = bin_features(X, 256, one)
        expected = binned_tree(binned, u, threads=one, **RULES[name])
        leaves = leaves_of_codes(expected, binned, one)
    monkeypatch.setattr("paucens.parallel.WORTH_A_THREAD", 1)
    with Threads(2) as two:
        in_two = bin_features(X, 256, two)
        np.testing.assert_array_equal(in_two.codes, binned.codes)
        np.testing.assert_array_equal(in_two.thresholds, binned.thresholds)
        assert same_nodes(binned_tree(in_two, u, threads=two, **RULES[name]), expected)
        np.testing.assert_array_equal(leaves_of_codes(expected, binned, two), leaves)
        np.testing.assert_array_equal(leaves_of_values(expected, X, two), leaves)
    with Threads(3) as three:
        assert same_nodes(binned_tree(binned, u, threads=three, **RULES[name]), expected)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("kept", [0, 1, 3])
def test_dropped_histograms_change_nothing(monkeypatch, tied_data, name, kept):
    X, u = tied_data
    with Threads(1) as one:
        binned = bin_features(X, 256, one)
    expected = binned_tree(binned, u, **RULES[name])
    monkeypatch.setattr(growing, "MAX_KEPT_BYTES", kept * 25 * 256 * 8)
    assert same_nodes(binned_tree(binned, u, **RULES[name]), expected)


@pytest.mark.parametrize("name", ["sign", "real"])
def test_one_grower_grows_many_trees(tied_data, name):
    X, u = tied_data
    rule = {"max_leaves": None, "leaf_ridge": 0.5, "n_columns": 25, "sample_nodes": False} | RULES[name]
    real = rule.pop("real", False)
    with Threads(1) as one:
        binned = bin_features(X, 256, one)
        grower = TreeGrower(binned, GrowingRule(real_leaves=real, **rule), one)
        for weights in (u, -u, np.roll(u, 3), np.zeros(400), u):
            assert same_nodes(grower.grow(weights), binned_tree(binned, weights, **RULES[name]))


def test_only_few_histograms_are_kept(monkeypatch):
    rng = np.random.RandomState(0)
    X, u = rng.normal(size=(3000, 5)), rng.normal(size=3000)
    size = 5 * 256 * 8
    with Threads(1) as one:
        binned = bin_features(X, 256, one)
        rule = GrowingRule(None, 100, real_leaves=True, leaf_ridge=0.0, n_columns=5, sample_nodes=False)
        grower = TreeGrower(binned, rule, one)
        monkeypatch.setattr(growing, "MAX_KEPT_BYTES", 10 * size)
        grower.grow(u)
    assert len(grower._free) <= 12  # those kept and the two in use


# -- predictions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tree", [Tree(3), Tree(None, max_leaves=9, leaves="real", leaf_ridge=1), Stump()])
@pytest.mark.parametrize("max_bins", [8, 256])
def test_predict_on_raw_features_equals_the_training_leaves(dtype, tree, max_bins):
    rng = np.random.RandomState(2)
    X = rng.normal(size=(700, 5)).astype(dtype)
    X[:, 0] = np.round(X[:, 0], 1)
    order = rng.permutation(700).astype(np.int32)
    with Threads(1) as threads:
        learner, predictions = tree.make_trainer(X, order, max_bins, threads, 0).train(rng.normal(size=700), 0)
    assert len(set(predictions.index)) > 1
    np.testing.assert_array_equal(learner.predict(X)[order], predictions.dense)
    assert np.abs(predictions.dense).max() <= 1
    np.testing.assert_array_equal(learner.predict(np.asfortranarray(X)), learner.predict(X))


def test_real_leaves_predict_the_shrunken_mean():
    X, u = np.array([[0.0], [0], [1], [1], [1]]), np.array([-1.0, 0.5, 0.0, 2.0, 1.0])
    tree = Tree(1, leaves="real", leaf_ridge=2.0).fit(X, u)
    ridge = 2.0 * np.abs(u).sum() / 4  # the mean is over the rows of nonzero weight
    np.testing.assert_allclose(tree.predict([[0.0], [1.0]]), [-0.5 / (1.5 + ridge), 3.0 / (3.0 + ridge)], rtol=1e-8)


# -- errors ----------------------------------------------------------------------------------------

X_OK, U_OK = np.arange(6.0).reshape(3, 2), np.array([1.0, -1.0, 1.0])


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (Tree(0), "depth must be an integer, 1 or larger; got 0"),
        (Tree(-1), "depth must be"),
        (Tree(1.5), "depth must be an integer"),
        (Tree(True), "depth must be an integer"),
        (Tree("2"), "depth must be an integer"),
        (Tree(None), "needs a limit: set depth, max_leaves or both"),
        (Tree(max_leaves=1), "max_leaves must be an integer, 2 or larger; got 1"),
        (Tree(max_leaves=2.0), "max_leaves must be an integer"),
        (Tree(leaves="gini"), "leaves must be one of 'sign', 'real'; got 'gini'"),
        (Tree(leaves=None), "leaves must be one of"),
        (Tree(leaf_ridge=-1), "leaf_ridge must be a finite number, 0 or larger; got -1"),
        (Tree(leaf_ridge=np.nan), "leaf_ridge must be a finite number"),
        (Tree(leaf_ridge=np.inf), "leaf_ridge must be a finite number"),
        (Tree(leaf_ridge="1"), "leaf_ridge must be a finite number"),
        (Tree(column_fraction=0), "column_fraction must be a finite number, larger than 0 and at most 1; got 0"),
        (Tree(column_fraction=1.1), "column_fraction must be"),
        (Tree(column_fraction=-0.5), "column_fraction must be"),
        (Tree(column_fraction=None), "column_fraction must be"),
        (Tree(column_sampling="level"), "column_sampling must be one of 'tree', 'node'; got 'level'"),
        (Tree(max_bins=1), "max_bins must be an integer, from 2 to 256; got 1"),
        (Tree(max_bins=257), "max_bins must be an integer, from 2 to 256; got 257"),
        (Tree(max_bins=16.0), "max_bins must be an integer"),
        (Stump(max_bins=0), "max_bins must be an integer"),
        (Stump(leaves="both"), "leaves must be one of"),
    ],
)
def test_bad_parameters_are_named(tree, message):
    with pytest.raises(ValueError, match=message):
        tree.fit(X_OK, U_OK)


@pytest.mark.parametrize(
    ("X", "u", "message"),
    [
        (X_OK, [1.0, 1.0], r"one number per sample, shape \(3,\); got \(2,\)"),
        (X_OK, [[1.0], [1.0], [1.0]], r"shape \(3,\)"),
        (X_OK, [1.0, np.nan, 1.0], "signed_weights must be finite"),
        (X_OK, [1.0, np.inf, 1.0], "signed_weights must be finite"),
        (X_OK * np.array([1, np.inf]), U_OK, "inf"),
        (X_OK[:0], [], "0 sample"),
        (X_OK[:, :0], U_OK, "0 feature"),
        (X_OK[0], U_OK, "1D array"),
        ([["a", "b"]] * 3, U_OK, "text"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bad_data_is_refused(X, u, message):
    with pytest.raises(ValueError, match=message):
        Tree().fit(X, u)


def test_predict_checks_its_input():
    tree = Tree().fit(X_OK, U_OK)
    with pytest.raises(ValueError, match="3 features, but Tree is expecting 2"):
        tree.predict(np.ones((1, 3)))
    with pytest.raises(ValueError, match="not fitted"):
        Tree().predict(X_OK)


@pytest.mark.parametrize("leaves", ["sign", "real"])
@given(seed=seeds)
@quick
def test_trees_on_whole_weights_are_those_on_repeated_rows(leaves, seed):
    """Also where splits tie, as they do for weights of few values: each copy of a row is rounded on its own."""
    rng = np.random.default_rng(seed)
    X, u, counts = rng.integers(0, 4, size=(30, 4)).astype(float), rng.choice([-0.3, 0.1], 30), rng.integers(1, 5, 30)
    rows, tree = np.repeat(np.arange(30), counts), Tree(3, leaves=leaves, leaf_ridge=1.5 * (leaves == "real"))
    everything = np.arange(30, dtype=np.int32)
    with Threads(1) as threads:
        trainer = tree.make_trainer(X, everything, 256, threads, 0, None, counts.astype(float))
        nodes = trainer.train(u * counts, 0)[0].nodes_
    repeated = tree.fit(X[rows], u[rows]).nodes_
    for name in ("column", "code", "child", "n_samples"):
        np.testing.assert_array_equal(getattr(nodes, name), getattr(repeated, name))
    np.testing.assert_allclose(nodes.value, repeated.value, rtol=1e-8)


def test_weights_of_any_size_are_rounded_to_the_grid():
    rng = np.random.default_rng(0)
    X, u, everything = rng.normal(size=(200, 3)), rng.normal(size=200), np.arange(200, dtype=np.int32)
    with Threads(1) as threads:
        for scale in (1e-30, 1e-3, 1e6, 1e30):
            trainer = Tree(3).make_trainer(X, everything, 256, threads, 0, None, np.full(200, scale))
            nodes = trainer.train(u, 0)[0].nodes_
            np.testing.assert_array_equal(nodes.column, Tree(3).fit(X, u).nodes_.column)
