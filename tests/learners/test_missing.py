"""Trees on features with missing values, against the twin that tries every split on raw values and either side."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import MISSING, same_nodes
from reference_trees import LARGEST, grid_of, nested, slow_tree

from paucens import Stump, Tree
from paucens.learners.binning import bin_features
from paucens.learners.growing import GrowingRule, TreeGrower
from paucens.learners.nodes import leaves_of_codes, leaves_of_values
from paucens.parallel import Threads

quick = settings(deadline=None, max_examples=60, derandomize=True)
KINDS = ["random", "tied", "constant"]


def draw(rng, kind, n, d):
    """Draw features of which some are missing, and small integer weights, a third of them zero."""
    X = {"random": rng.normal(size=(n, d)), "tied": rng.randint(0, 3, (n, d)) * 1.0, "constant": np.ones((n, d))}[kind]
    if kind == "tied" and d > 1:
        X[:, -1] = X[:, 0]  # a copy: its splits tie with the first column's
    X[rng.rand(n, d) < rng.choice([0.0, 0.2, 0.7, 1.0], d)] = np.nan
    return X, rng.choice([-3, -1, 1, 2, 0, 0], n)


cases = {
    "seed": st.integers(0, 2**32 - 1),
    "kind": st.sampled_from(KINDS),
    "n": st.integers(1, 16),
    "d": st.integers(1, 3),
    "depth": st.sampled_from([1, 2, 4]),
    "max_leaves": st.sampled_from([None, 2, 5, 9]),
    "leaves": st.sampled_from(["sign", "real"]),
    "leaf_ridge": st.sampled_from([0.0, 0.3, 2.0]),
}


@given(**cases)
@settings(quick, max_examples=200)
def test_trees_equal_the_twin(seed, kind, n, d, depth, max_leaves, leaves, leaf_ridge):
    X, u = draw(np.random.RandomState(seed), kind, n, d)
    tree = Tree(depth, max_leaves=max_leaves, leaves=leaves, leaf_ridge=leaf_ridge).fit(X, u)
    assert nested(tree.nodes_) == slow_tree(X, grid_of(u), depth, max_leaves, leaves == "real", leaf_ridge)


@given(**cases)
@settings(quick, max_examples=200)
def test_trees_that_are_searched_without_histograms_equal_the_twin(
    seed, kind, n, d, depth, max_leaves, leaves, leaf_ridge
):
    X, u = draw(np.random.RandomState(seed), kind, n, d)
    rule = GrowingRule(depth, max_leaves, leaves == "real", leaf_ridge, n_columns=d, sample_nodes=True)
    with Threads(1) as threads:
        nodes = TreeGrower(bin_features(X, 256, threads), rule, threads).grow(u * 1.0)
    assert nested(nodes) == slow_tree(X, grid_of(u), depth, max_leaves, leaves == "real", leaf_ridge)


@pytest.mark.parametrize("leaves", ["sign", "real"])
def test_a_column_of_missing_values_alone_is_never_split(leaves):
    X = np.column_stack([np.full(6, np.nan), np.arange(6.0)])
    tree = Tree(3, leaves=leaves).fit(X, [-1.0, 1, -1, 1, -1, 1])
    assert set(tree.nodes_.column[tree.nodes_.child > 0]) == {1}
    alone = Tree(3, leaves=leaves).fit(X[:, :1], [-1.0, 1, -1, 1, -1, 1])
    assert list(alone.nodes_.child) == [0]
    assert len(set(alone.predict([[np.nan], [7.0]]))) == 1


@pytest.mark.parametrize("leaves", ["sign", "real"])
def test_one_value_is_told_from_the_missing_ones(leaves):
    X = np.array([[3.0], [3.0], [np.nan], [np.nan]])
    tree = Stump(leaves=leaves).fit(X, [1.0, 1, -1, -1])
    assert (tree.nodes_.threshold[0], tree.nodes_.missing_left[0]) == (LARGEST, False)
    np.testing.assert_array_equal(tree.predict([[-LARGEST], [LARGEST], [0.0], [np.nan]]), [1, 1, 1, -1])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_values_that_are_missing_in_one_class_only(sign):
    rng = np.random.RandomState(0)
    u = np.repeat([1.0, -1.0], 50)
    X = rng.normal(size=(100, 2))
    X[:40, 1] = np.nan
    tree = Tree(1).fit(X, sign * u)
    assert tree.nodes_.column[0] == 1 and tree.nodes_.missing_seen[0]
    np.testing.assert_array_equal(tree.predict(np.where(np.isnan(X), np.nan, 9.0))[:40], sign)


@pytest.mark.parametrize(("weights", "left"), [([3.0, -1.0], True), ([1.0, -3.0], False), ([2.0, -2.0], True)])
def test_missing_values_that_are_new_go_to_the_heavier_child(weights, left):
    tree = Stump().fit([[0.0], [1.0]], weights)
    assert tree.nodes_.missing_left[0] == left and not tree.nodes_.missing_seen.any()
    assert tree.predict([[np.nan]]) == tree.predict([[0.0 if left else 1.0]])


def test_missing_values_of_weight_0_go_to_the_heavier_child():
    X, u = [[0.0], [1.0], [np.nan]], [1.0, -3.0, 0.0]
    nodes = Stump().fit(X, u).nodes_
    assert (nodes.threshold[0], nodes.missing_left[0], nodes.missing_seen[0]) == (0.5, False, True)


@pytest.mark.parametrize("leaves", ["sign", "real"])
def test_missing_values_that_fit_either_side_go_left(leaves):
    X = np.array([[0.0], [1.0], [np.nan], [np.nan]])
    nodes = Stump(leaves=leaves).fit(X, [-2.0, 2.0, 1.0, -1.0]).nodes_
    assert (nodes.threshold[0], nodes.missing_left[0]) == (0.5, True)


# -- bins ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n_values", "max_bins", "n_bins"), [(3, 256, 3), (255, 256, 255), (400, 256, 255), (9, 4, 4)])
def test_missing_values_have_a_bin_of_their_own(dtype, n_values, max_bins, n_bins):
    values = np.arange(n_values).astype(dtype)
    X = np.column_stack([np.append(values, [np.nan, np.nan]), np.append(values, [0, 1])]).astype(dtype)
    with Threads(1) as threads:
        binned = bin_features(X, max_bins, threads)
    assert list(binned.has_missing) == [True, False]
    assert binned.n_bins[0] == n_bins
    assert set(binned.codes[0, :-2]) == set(range(n_bins))
    np.testing.assert_array_equal(binned.codes[0, -2:], [MISSING, MISSING])


def test_bins_of_tails_leave_out_missing_values():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(1000, 3))
    X[:, 2] = X[:, 0]
    X[::3, 0] = X[:50, 1] = np.nan  # column 1 is missing in all positives
    positives = np.arange(50)
    known = np.flatnonzero(~np.isnan(X[:, 0]))
    with Threads(1) as threads:
        binned = bin_features(X, 100, threads, positives=positives)
        alone = bin_features(X[known, 2:], 100, threads, positives=np.flatnonzero(known < 50))
        quantiles = bin_features(X[50:, 1:2], 100, threads)
    np.testing.assert_array_equal(binned.thresholds[: binned.offsets[1] - 1], alone.thresholds)
    np.testing.assert_array_equal(binned.thresholds[binned.offsets[1] : binned.offsets[2] - 1], quantiles.thresholds)


def test_all_256_bins_of_a_column_without_missing_values_are_told_from_missing_ones():
    """Code 255 of such a column goes right, though missing values would go left."""
    X = np.column_stack([np.arange(256.0), np.where(np.arange(256) % 2, np.nan, 0.0)])
    u = np.where(np.arange(256) < 200, -1.0, 1.0)
    learner, predictions = trained(Tree(2, leaves="real"), X, u)
    assert learner.nodes_.missing_left[0] and not learner.nodes_.missing_seen[0]
    np.testing.assert_array_equal(predictions, u)
    np.testing.assert_array_equal(learner.predict(X), u)
    assert learner.predict([[np.nan, 0.0]]) == -1


# -- predictions, threads --------------------------------------------------------------------------


def trained(tree, X, u):
    """Return the learner of an ensemble and its predictions on the training samples."""
    with Threads(1) as threads:
        learner, predictions = tree.make_trainer(X, np.arange(len(X), dtype=np.int32), 256, threads, 0).train(u, 0)
    return learner, predictions.dense


def large(seed, dtype=np.float64):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(900, 12))
    X[:, ::3] = np.round(X[:, ::3], 1)
    u = (X[:, 0] + X[:, 1] > 0) - 0.5 + 0.5 * rng.normal(size=900)
    X[rng.rand(900, 12) < rng.choice([0.0, 0.1, 0.5], 12)] = np.nan
    return X.astype(dtype), u


TREES = [
    Tree(4),
    Tree(None, max_leaves=12, leaves="real", leaf_ridge=1.0),
    Tree(None, max_leaves=12, leaves="real", column_fraction=0.4, column_sampling="node"),
    Tree(5, column_fraction=0.4, column_sampling="node"),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tree", TREES, ids=str)
def test_predictions_on_raw_features_equal_those_on_bins(tree, dtype):
    X, u = large(0, dtype)
    learner, predictions = trained(tree, X, u)
    assert learner.nodes_.missing_seen.any() and len(set(learner.nodes_.missing_left[learner.nodes_.missing_seen])) == 2
    np.testing.assert_array_equal(learner.predict(X), predictions)
    np.testing.assert_array_equal(learner.predict(np.asfortranarray(X)), predictions)
    np.testing.assert_array_equal(learner.predict(np.repeat(X, 2, axis=0)[::2]), predictions)


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_threads_change_nothing(monkeypatch, tree):
    X, u = large(1)
    nodes, leaves = [], []
    monkeypatch.setattr("paucens.parallel.WORTH_A_THREAD", 1)
    for n_jobs in (1, 2):
        with Threads(n_jobs) as threads:
            binned = bin_features(X, 256, threads)
            nodes.append(TreeGrower(binned, tree.growing_rule(X.shape[1]), threads).grow(u))
            leaves += [leaves_of_codes(nodes[-1], binned, threads), leaves_of_values(nodes[-1], X, threads)]
    assert same_nodes(*nodes)
    assert all(np.array_equal(leaves[0], other) for other in leaves[1:])


def test_the_order_of_rows_does_not_matter():
    X, u = large(2)
    order = np.random.RandomState(0).permutation(len(X))
    for tree in TREES:
        tree.set_params(random_state=0)
        assert same_nodes(tree.fit(X, u).nodes_, tree.fit(X[order], u[order]).nodes_)


# -- data without missing values -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tree", "digest"),
    [
        (Tree(4), "fcb37150e70cf899"),
        (Tree(4, leaves="real", leaf_ridge=2.0), "1426e0c4c8a12501"),
        (Tree(None, max_leaves=20, column_fraction=0.5, column_sampling="node"), "307cedef45b94b21"),
        (
            Tree(None, max_leaves=20, leaves="real", leaf_ridge=20, column_fraction=0.5, column_sampling="node"),
            "d9a651ead337b0c0",
        ),
    ],
    ids=str,
)
def test_trees_without_missing_values_are_those_of_before(tree, digest):
    """Digests of the nodes that were grown before missing values were allowed."""
    rng = np.random.RandomState(7)
    X = rng.normal(size=(500, 6))
    X[:, 0], X[:, 1] = np.round(X[:, 0]), np.round(X[:, 1], 1)
    nodes = tree.set_params(random_state=0).fit(X, rng.normal(size=500)).nodes_
    fields = nodes.column, nodes.code, nodes.threshold, nodes.child, nodes.value, nodes.gain
    assert hashlib.sha256(b"".join(field.tobytes() for field in fields)).hexdigest()[:16] == digest
