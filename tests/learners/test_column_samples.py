"""The columns that trees and nodes draw, and those that a stage of training allows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import same_nodes

from paucens import Tree
from paucens.learners.binning import bin_features
from paucens.learners.growing import GrowingRule, TreeGrower
from paucens.parallel import Threads

quick = settings(deadline=None, max_examples=60, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def one_hot(d, n=64, seed=0):
    """Draw random features, none of which is better than the others."""
    rng = np.random.RandomState(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n)


def trainer_of(tree, X, seed=7):
    threads = Threads(1)
    return tree.make_trainer(X, np.arange(len(X), dtype=np.int32), 256, threads, seed)


@pytest.mark.parametrize("sampling", ["tree", "node"])
def test_column_samples_are_reproducible_and_depend_on_their_round_only(sampling):
    X, u = one_hot(30)
    tree = Tree(3, column_fraction=0.2, column_sampling=sampling)
    rounds = [trainer_of(tree, X).train(u, t)[0].nodes_ for t in range(5)]
    again = trainer_of(tree, X)
    assert all(same_nodes(again.train(u, t)[0].nodes_, rounds[t]) for t in (3, 0, 4, 1, 3))
    assert not all(same_nodes(rounds[0], nodes) for nodes in rounds[1:])
    assert not same_nodes(trainer_of(tree, X, seed=8).train(u, 0)[0].nodes_, rounds[0])


def test_trees_fitted_alone_follow_random_state():
    X, u = one_hot(30)
    first, again, other = (Tree(2, column_fraction=0.1, random_state=s).fit(X, u).nodes_ for s in (0, 0, 1))
    assert same_nodes(first, again)
    assert not same_nodes(first, other)


def drawn_columns(monkeypatch, tree, X, u, n_rounds, **options):
    """Return the drawn columns, round by round."""
    seen, draw = [], TreeGrower._draw_columns

    def record(self, *key):
        columns = draw(self, *key)
        seen[-1].append(tuple(columns))
        return columns

    monkeypatch.setattr(TreeGrower, "_draw_columns", record)
    monkeypatch.setattr(TreeGrower, "_shares_work", lambda self, n_rows: True)  # node after node
    trainer = trainer_of(tree, X)
    for t in range(n_rounds):
        seen.append([])
        trainer.train(u, t, **options)
    return seen


@pytest.mark.parametrize("sampling", ["tree", "node"])
def test_columns_are_drawn_without_replacement(monkeypatch, sampling):
    X, u = one_hot(10)
    seen = drawn_columns(monkeypatch, Tree(3, column_fraction=0.34, column_sampling=sampling), X, u, 20)
    for searches in seen:
        assert all(len(set(columns)) == 3 and list(columns) == sorted(columns) for columns in searches)
        assert len(set(searches)) == (1 if sampling == "tree" else len(set(searches)))
    drawn = [columns for searches in seen for columns in searches]
    assert len(set(drawn)) > (10 if sampling == "tree" else 40)
    if sampling == "node":
        assert all(len(set(searches)) > 1 for searches in seen if len(searches) > 2)


@pytest.mark.parametrize("sampling", ["tree", "node"])
def test_columns_are_drawn_uniformly(monkeypatch, sampling):
    X, u = one_hot(10)
    tree = Tree(2, column_fraction=0.3, column_sampling=sampling)
    seen = drawn_columns(monkeypatch, tree, X, u, 1500)
    drawn = np.array([searches[0] for searches in seen])
    counts = np.bincount(drawn.ravel(), minlength=10)
    expected = 1500 * 0.3
    assert ((counts - expected) ** 2 / (expected * 0.7)).sum() < 35  # chi square of 9 degrees, p = 6e-5
    together = np.mean([(0 in row) and (1 in row) for row in drawn])
    assert together == pytest.approx(3 * 2 / 90, abs=0.025)


def test_every_column_overrides_the_sample(monkeypatch):
    X, u = one_hot(10)
    for sampling in ("tree", "node"):
        tree = Tree(2, column_fraction=0.2, column_sampling=sampling)
        with monkeypatch.context() as context:
            seen = drawn_columns(context, tree, X, u, 2, every_column=True)
        assert all(columns == tuple(range(10)) for searches in seen for columns in searches)
        full = trainer_of(Tree(2), X).train(u, 0)[0].nodes_
        assert same_nodes(trainer_of(tree, X).train(u, 0, every_column=True)[0].nodes_, full)


@pytest.mark.parametrize("sampling", ["tree", "node"])
def test_trees_of_a_stage_draw_from_its_columns(monkeypatch, sampling):
    """Those of one stage of all columns are those of no stages."""
    X, u = one_hot(12)
    tree, few, all_columns = Tree(3, column_fraction=0.5, column_sampling=sampling), [1, 4, 5, 9], range(12)
    stages = [(first, np.array(columns, dtype=np.int32)) for first, columns in ((0, few), (5, [3]), (6, all_columns))]
    with Threads(1) as one:
        binned = bin_features(X, 256, one)
        trainer = tree.make_binned_trainer(binned, one, 7, stages)
        drawn, draw = [], TreeGrower._draw_columns
        with monkeypatch.context() as context:
            context.setattr(
                TreeGrower, "_draw_columns", lambda self, *key: drawn.append((key[1], draw(self, *key))) or drawn[-1][1]
            )  # the key is (seed, round[, node])
            context.setattr(TreeGrower, "_shares_work", lambda self, n_rows: True)
            grown = [trainer.train(u, t)[0].nodes_ for t in range(9)]
        every = trainer.train(u, 4, every_column=True)[0].nodes_
        plain = trainer_of(tree, X)
        assert all(same_nodes(grown[t], plain.train(u, t)[0].nodes_) for t in (6, 7, 8))
        alone = Tree(3).make_binned_trainer(binned, one, 7, [(0, stages[0][1])])
        assert same_nodes(every, alone.train(u, 0)[0].nodes_)
    for t, columns in drawn:
        assert len(columns) == (2 if t < 5 else 1 if t == 5 else 6)
        assert set(columns) <= set(few if t < 5 else [3] if t == 5 else all_columns)
    assert [trainer.samples_columns(t) for t in (0, 4, 5, 6, 100)] == [True, True, False, True, True]
    assert trainer.last_stage == 6


@given(
    seed=seeds,
    n=st.integers(2, 120),
    d=st.integers(1, 9),
    real=st.booleans(),
    depth=st.sampled_from([None, 1, 2, 5]),
    max_leaves=st.sampled_from([2, 3, 8, 200]),
    best_first=st.booleans(),
)
@quick
def test_a_tree_grown_at_once_is_that_of_one_search_after_the_other(seed, n, d, real, depth, max_leaves, best_first):
    rng = np.random.RandomState(seed)
    X, u = rng.randint(0, rng.choice([3, 20]), (n, d)).astype(float), rng.randint(-3, 4, n) / 4.0
    X[rng.uniform(size=X.shape) < 0.2 * (rng.uniform(size=d) < 0.4)] = np.nan
    categories = {j: 20 for j in np.flatnonzero(rng.uniform(size=d) < 0.3).tolist()}
    limit = max_leaves if best_first or depth is None else None
    rule = GrowingRule(depth, limit, real, float(rng.choice([0, 5])) if real else 0.0, max(1, d // 2), True)
    with Threads(1) as one:
        binned = bin_features(X, 256, one, categorical=categories)
        grower = TreeGrower(binned, rule, one)
        for key, every_column in (((3, 0), False), ((3, 1), True), ((2**40, 2), False)):
            at_once = grower.grow(u, key, every_column)
            with pytest.MonkeyPatch.context() as context:
                context.setattr(TreeGrower, "_shares_work", lambda self, n_rows: True)
                assert same_nodes(TreeGrower(binned, rule, one).grow(u, key, every_column), at_once)


@pytest.mark.parametrize(("fraction", "d", "n_columns"), [(1.0, 7, 7), (0.5, 7, 4), (1 / 3, 7, 2), (1e-9, 7, 1)])
def test_a_fraction_of_the_columns_is_at_least_one(fraction, d, n_columns):
    assert Tree(column_fraction=fraction).growing_rule(d).n_columns == n_columns
