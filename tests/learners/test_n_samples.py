"""The number of training samples that reach each node."""

from pathlib import Path

import numpy as np
import pytest
from reference_trees import goes_left

from paucens import AdaBoostClassifier, PAUCEnsClassifier, Stump, Tree
from paucens.datasets import load_toy
from paucens.learners.nodes import UNKNOWN

OLD = Path(__file__).parents[1] / "classifiers" / "saved_by_0_1" / "PAUCEnsClassifier.npz"


def counted_by_hand(nodes, X, node=0, rows=None):
    """Count the rows that reach each node, from the root down."""
    rows = np.full(len(X), True) if rows is None else rows
    counts = {node: int(rows.sum())}
    left = int(nodes.child[node])
    if left:
        below = goes_left(X[:, nodes.column[node]], nodes.threshold[node], nodes.missing_left[node])
        counts |= counted_by_hand(nodes, X, left, rows & below)
        counts |= counted_by_hand(nodes, X, left + 1, rows & ~below)
    return counts


def check(nodes, X):
    assert nodes.n_samples.dtype == np.int64
    assert dict(enumerate(nodes.n_samples.tolist())) == counted_by_hand(nodes, X)


@pytest.mark.parametrize("learner", [Stump(), Tree(3), Tree(None, max_leaves=9, leaves="real")], ids=str)
def test_lone_trees(learner):
    rng = np.random.RandomState(0)
    X, weights = rng.normal(size=(200, 3)), rng.normal(size=200) * rng.randint(0, 2, 200)  # half of them 0
    nodes = learner.fit(X, weights).nodes_
    assert len(nodes.child) > 2
    check(nodes, X)
    check(learner.fit(X, np.zeros(200)).nodes_, X)  # the root alone
    X[rng.rand(200, 3) < 0.3] = np.nan
    check(learner.fit(X, weights).nodes_, X)


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(n_estimators=5),
        PAUCEnsClassifier(n_estimators=5, row_fraction=0.3, random_state=0),
        PAUCEnsClassifier(n_estimators=5, n_jobs=2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_trees_of_ensembles(model, tmp_path):
    X, y = load_toy(60, 90, random_state=0)
    for learner in model.fit(X, y).learners_:
        check(learner.nodes_, X)
    model.save(tmp_path / "model.npz")
    for learner in type(model).load(tmp_path / "model.npz").learners_:
        check(learner.nodes_, X)


def test_files_of_version_0_1_do_not_know_them(tmp_path):
    model = PAUCEnsClassifier.load(OLD)
    model.save(tmp_path / "again.npz")
    for one in (model, PAUCEnsClassifier.load(tmp_path / "again.npz")):
        assert all((learner.nodes_.n_samples == UNKNOWN).all() for learner in one.learners_)
