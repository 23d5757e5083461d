"""Splits of sets whose positives come in groups."""

import doctest

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import splits
from splits import halves, streams


def group_split(y, groups, train_share, seed=0):
    return splits.group_split(y, groups, train_share, np.random.RandomState(seed))


def group_folds(y, groups, n_folds, seed=0):
    return splits.group_folds(y, groups, n_folds, np.random.RandomState(seed))


@st.composite
def grouped(draw, least_groups=1):
    """Positives in groups of random sizes and numbers, shuffled among negatives."""
    sizes = draw(st.lists(st.integers(1, 12), min_size=least_groups, max_size=40))
    rng = np.random.RandomState(draw(st.integers(0, 999)))
    names = rng.choice(np.setdiff1d(np.arange(-50, 100), 0), len(sizes), replace=False)
    groups = rng.permutation(np.concatenate([np.repeat(names, sizes), np.zeros(draw(st.integers(0, 60)), dtype=int)]))
    return (groups != 0).astype(int), groups


def sizes_of(groups):
    return dict(zip(*np.unique(groups[groups != 0], return_counts=True), strict=True))


@given(grouped(), st.sampled_from([0.05, 0.1, 0.3]), st.integers(0, 99))
def test_split_keeps_groups_apart_and_large_ones_for_the_test(data, share, seed):
    y, groups = data
    sizes, n_positive = sizes_of(groups), y.sum()
    small = {group: size for group, size in sizes.items() if size <= 0.05 * n_positive}
    wanted = round(share * n_positive)
    assume(sum(small.values()) >= wanted)
    train, test = group_split(y, groups, share, seed)
    assert sorted([*train, *test]) == list(range(len(y)))
    assert (np.diff(train) > 0).all() and (np.diff(test) > 0).all()
    assert not set(groups[train]) & set(groups[test]) - {0}
    assert set(groups[train]) - {0} <= small.keys()
    missing = wanted - y[train].sum()
    left_out = [size for group, size in small.items() if group not in groups[train]]
    assert 0 <= missing < min(left_out, default=1)
    assert (y[train] == 0).sum() == round(share * (y == 0).sum())


@given(grouped(least_groups=5), st.integers(2, 5), st.integers(0, 99))
def test_folds_keep_groups_apart_and_are_even(data, n_folds, seed):
    y, groups = data
    folds = group_folds(y, groups, n_folds, seed)
    assert folds.shape == y.shape and set(folds) <= set(range(n_folds))
    for group in sizes_of(groups):
        assert len(set(folds[groups == group])) == 1
    load = np.bincount(folds[y == 1], minlength=n_folds)
    assert load.min() > 0 and load.max() - load.min() <= max(sizes_of(groups).values())
    assert np.ptp(np.bincount(folds[y == 0], minlength=n_folds)) <= 1


def test_even_groups_make_even_folds():
    groups = np.repeat(np.arange(1, 21), 3)
    folds = group_folds(np.ones(60, dtype=int), groups, 5, 0)
    assert np.bincount(folds).tolist() == [12] * 5


def test_without_groups_every_positive_stands_for_itself():
    y = np.random.RandomState(0).permutation(np.repeat([1, 0], [40, 200]))
    train, test = group_split(y, None, 0.25, 0)
    assert (len(train), y[train].sum(), len(test), y[test].sum()) == (60, 10, 180, 30)
    folds = group_folds(y[train], None, 5, 0)
    assert np.bincount(folds[y[train] == 1]).tolist() == [2] * 5 and np.bincount(folds).tolist() == [12] * 5
    assert not np.array_equal(train, group_split(y, None, 0.25, 1)[0])


def test_seeds_decide():
    groups = np.concatenate([np.repeat(np.arange(1, 101), 2), np.zeros(300, dtype=int)])
    y = (groups != 0).astype(int)
    for draw in (lambda seed: group_split(y, groups, 0.1, seed)[0], lambda seed: group_folds(y, groups, 5, seed)):
        np.testing.assert_array_equal(draw(3), draw(3))
        assert not np.array_equal(draw(3), draw(4))


def test_every_small_group_may_be_trained_on():
    groups = np.concatenate([np.repeat(np.arange(1, 41), 2), np.full(20, 99), np.zeros(50, dtype=int)])
    y = (groups != 0).astype(int)
    seen = set().union(*(set(groups[group_split(y, groups, 0.1, seed)[0]].tolist()) for seed in range(60)))
    assert seen == {*range(41)}


def test_a_share_that_small_groups_cannot_fill_is_refused():
    groups = np.repeat([1, 2, 3, 4, 5], [40, 40, 4, 4, 4])
    with pytest.raises(ValueError, match=r"at most 5% of the positives hold 12 of 92; train_share 0\.5 asks for 46"):
        group_split(np.ones(92, dtype=int), groups, 0.5, 0)


def test_folds_need_as_many_groups():
    with pytest.raises(ValueError, match="5 folds need as many groups; got 3"):
        group_folds(np.ones(6, dtype=int), np.repeat([1, 2, 3], 2), 5)


@pytest.mark.parametrize("groups", [[1, 0, 0, 0], [1, 2, 0, 3]])
def test_groups_are_of_positives_and_of_all_of_them(groups):
    y = np.array([1, 1, 0, 0])
    for draw in (lambda: group_split(y, np.array(groups), 0.5), lambda: group_folds(y, np.array(groups), 2)):
        with pytest.raises(ValueError, match="groups must be 0 on negatives"):
            draw()


@given(st.lists(st.integers(0, 3), min_size=4, max_size=60), st.integers(0, 99))
def test_halves_are_of_every_stratum(strata, seed):
    strata = np.array(strata)
    train, test, drawn = halves(strata, np.random.RandomState(seed))
    assert sorted([*train, *test]) == list(range(len(strata))) and (np.diff(train) > 0).all()
    np.testing.assert_array_equal(np.sort(np.concatenate(drawn)), train)
    for stratum, members in zip(np.unique(strata), drawn, strict=True):
        assert (strata[members] == stratum).all() and len(members) == (strata == stratum).sum() // 2


def test_streams_of_repeats_differ_and_never_change():
    draws = [random.randint(1000) for repeat in range(3) for random in streams(7, repeat, 2)]
    assert len(set(draws)) == 6
    assert draws == [random.randint(1000) for repeat in range(3) for random in streams(7, repeat, 2)]


def test_examples():
    result = doctest.testmod(splits)
    assert result.attempted > 0 and result.failed == 0
