"""Kernels of trees, stores and orderings against their slow twins."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from paucens._kernels import growing, leaves, ordering, pairs, stores, trees

quick = settings(deadline=None, max_examples=40, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
KINDS = ["random", "tied", "constant"]


def frozen(array):
    """Forbid writing: kernels must take their inputs as const."""
    array.flags.writeable = False
    return array


def int32(values):
    return frozen(np.array(values, dtype=np.int32))


def draw_features(rng, kind, n, d):
    if kind == "constant":
        return np.full((n, d), 0.5)
    return rng.randint(0, 4, (n, d)) / 2 if kind == "tied" else rng.normal(size=(n, d))


def with_missing(rng, X):
    return np.where(rng.rand(*X.shape) < 0.2, np.nan, X)


def laid_out(X, layout):
    """Return the same values in C or Fortran order, or as every other row and column of a larger array."""
    if layout == "strided":
        larger = np.full((2 * X.shape[0], 2 * X.shape[1]), np.nan, dtype=X.dtype)
        larger[::2, 1::2] = X
        return frozen(larger)[::2, 1::2]
    return frozen(np.array(X, order=layout))


def draw_block(rng, n):
    start = rng.randint(n + 1)
    return start, rng.randint(start, n + 1)


def draw_packed(rng, kind, n):
    """Draw packed weights of n rows, none zero."""
    grid = np.full(n, -3) if kind == "constant" else rng.choice([-7, -2, -1, 1, 2, 5], n)
    if kind == "random":
        grid = grid * rng.randint(1, 2**20, n)
    return frozen(np.array(reference.pack_weights(grid)[1], dtype=np.int64))


# -- trees -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(seed=seeds, kind=st.sampled_from(KINDS), n=st.integers(1, 12), d=st.integers(1, 35))
@settings(quick, max_examples=12)
def test_quantise(layout, dtype, seed, kind, n, d):
    rng = np.random.RandomState(seed)
    X = laid_out(with_missing(rng, draw_features(rng, kind, n, d)).astype(dtype), layout)
    sizes = rng.choice([0, 1, 2, 7], d)
    # Some thresholds are equal to values and some are not, so that equality and empty bins occur.
    thresholds = [
        np.sort(rng.choice(np.append(np.unique(X[X == X]), [-9, -8, -7, 7, 8, 9, np.inf]), size, replace=False))
        for size in sizes
    ]
    offsets = int32(np.append(0, np.cumsum(sizes)))
    thresholds = frozen(np.concatenate([*thresholds, [np.inf]]))
    order = int32(rng.permutation(n)[: rng.randint(1, n + 1)])
    start, stop = draw_block(rng, d)
    codes = np.full((d, len(order)), 77, dtype=np.uint8)
    trees.quantise(X, order, thresholds, offsets, codes, start, stop)
    expected = reference.quantise(X, order, thresholds, offsets)
    np.testing.assert_array_equal(codes[start:stop], expected[start:stop])
    assert (np.delete(codes, np.s_[start:stop], axis=0) == 77).all()


def test_quantise_uses_all_256_bins():
    thresholds = frozen(np.append(np.arange(255.0), np.inf))
    X = frozen(np.concatenate([[-np.inf, -1e308, 1e308, np.inf], np.arange(-0.5, 255.0, 0.5)])[:, None])
    codes = np.empty((1, len(X)), dtype=np.uint8)
    trees.quantise(X, int32(range(len(X))), thresholds, int32([0, 255]), codes, 0, 1)
    np.testing.assert_array_equal(codes[0], np.searchsorted(np.arange(255.0), X[:, 0]))
    assert set(codes[0]) == set(range(256))


@pytest.mark.parametrize("n_thresholds", [0, 1, 254, 255])
def test_nan_is_in_the_last_of_256_bins_whatever_the_thresholds(n_thresholds):
    thresholds = frozen(np.append(np.arange(n_thresholds * 1.0), np.inf))
    X, codes = frozen(np.array([[np.nan], [1e9]])), np.empty((1, 2), dtype=np.uint8)
    trees.quantise(X, int32([0, 1]), thresholds, int32([0, n_thresholds]), codes, 0, 1)
    np.testing.assert_array_equal(codes, [[255, n_thresholds]])


@given(seed=seeds, n=st.integers(1, 30), zeros=st.sampled_from([0.0, 0.5, 1.0]))
@quick
def test_pack_weights(seed, n, zeros):
    rng = np.random.RandomState(seed)
    grid = rng.choice([-(2**31) + 1, -5, -1, 1, 3, 2**31 - 1], n)
    grid[rng.rand(n) < zeros] = 0
    rows, packed = np.full(n, -1, dtype=np.int32), np.full(n, -1, dtype=np.int64)
    n_rows = trees.pack_weights(int32(grid), rows, packed)
    expected = reference.pack_weights(grid)
    assert (list(rows[:n_rows]), list(packed[:n_rows])) == expected


def test_packed_sums_are_both_sums():
    grid = np.array([-(2**29), 2**29, -(2**30), 5, -7])
    packed = sum(reference.pack_weights(grid)[1])
    assert reference.unpack(packed) == (grid.sum(), np.abs(grid).sum())


@given(seed=seeds, kind=st.sampled_from(KINDS), n=st.integers(0, 25), d=st.integers(1, 11))
@quick
def test_fill_and_subtract_histograms(seed, kind, n, d):
    rng = np.random.RandomState(seed)
    n_samples = n + 5
    codes = frozen(np.full((d, n_samples), 255) if kind == "constant" else rng.randint(0, 256, (d, n_samples)))
    codes = frozen(codes.astype(np.uint8))
    rows, weights = int32(rng.permutation(n_samples)[:n]), draw_packed(rng, kind, n)
    columns = int32(np.sort(rng.permutation(d)[: rng.randint(1, d + 1)]))
    start, stop = draw_block(rng, len(columns))
    histograms = np.full((len(columns), 256), 77)
    trees.fill_histograms(codes, rows, weights, columns, histograms, start, stop)
    expected = np.full_like(histograms, 77)
    expected[start:stop] = reference.fill_histograms(codes, rows, weights, columns)[start:stop]
    np.testing.assert_array_equal(histograms, expected)

    child = frozen(histograms)
    parent = rng.randint(-(2**40), 2**40, child.shape)
    expected = parent.copy()
    expected[start:stop] = reference.subtract_histograms(parent, child)[start:stop]
    trees.subtract_histograms(parent, child, start, stop)
    np.testing.assert_array_equal(parent, expected)


def draw_codes(rng, n, d):
    """Draw the codes of n rows and d columns, and the bins of each column."""
    n_bins = rng.choice([1, 2, 5, 255, 256], d)
    codes = (rng.rand(d, n) * np.minimum(n_bins, rng.choice([2, 256]))[:, None]).astype(np.uint8)
    kinds = np.where(n_bins < 256, rng.choice([0, 1, reference.CATEGORIES], d), 0)
    codes[(kinds > 0)[:, None] & (rng.rand(d, n) < rng.choice([0.0, 0.1, 0.6, 1.0]))] = reference.MISSING
    return frozen(codes), int32(np.column_stack([n_bins, kinds]))


@given(
    seed=seeds,
    kind=st.sampled_from(KINDS),
    n=st.integers(0, 25),
    d=st.integers(1, 6),
    ridge=st.sampled_from([None, 0.0, 1e-3, 1.0, 33.3]),
)
@settings(quick, max_examples=2 * quick.max_examples)
def test_best_split_of_sign_and_real_leaves(seed, kind, n, d, ridge):
    """Without a ridge leaves are signs."""
    rng = np.random.RandomState(seed)
    codes, bins = draw_codes(rng, n, d)
    weights = draw_packed(rng, kind, n)
    columns = int32(np.sort(rng.permutation(d)[: rng.randint(1, d + 1)]))
    histograms = frozen(reference.fill_histograms(codes, range(n), weights, columns))
    rule = int(weights.sum()), ridge is not None, ridge or 0.0, *draw_block(rng, len(columns))
    found = trees.best_split(histograms, columns, bins, *rule)
    assert found == reference.best_split(histograms, columns, bins, *rule)


@given(
    seed=seeds,
    kind=st.sampled_from(KINDS),
    n=st.integers(0, 80),
    d=st.integers(1, 11),
    ridge=st.sampled_from([None, 0.0, 1.0]),
    heaviest_first=st.booleans(),
)
@quick
def test_search_columns_finds_the_best_split(seed, kind, n, d, ridge, heaviest_first):
    rng = np.random.RandomState(seed)
    n_samples, real_leaves = n + 5, ridge is not None
    codes, bins = draw_codes(rng, n_samples, d)
    rows, weights = int32(rng.permutation(n_samples)[:n]), draw_packed(rng, kind, n)
    if heaviest_first:
        order = np.argsort(-(weights & 0xFFFFFFFF), kind="stable")
        rows, weights = int32(rows[order]), frozen(weights[order])
    columns = int32(np.sort(rng.permutation(d)[: rng.randint(1, d + 1)]))
    start, stop = draw_block(rng, len(columns))
    rule = int(weights.sum()), real_leaves, ridge or 0.0, start, stop
    found = growing.search_columns(codes, rows, weights, columns, bins, *rule)
    histograms = reference.fill_histograms(codes, rows, weights, columns)
    assert found == reference.best_split(histograms, columns, bins, *rule)


@pytest.mark.parametrize("real_leaves", [False, True])
def test_ties_go_to_the_first_column_and_bin(real_leaves):
    codes = np.array([[0, 0, 0, 0], [0, 1, 3, 4], [0, 1, 3, 4]], dtype=np.uint8)
    weights = np.array(reference.pack_weights([-1, 1, -1, 1])[1])
    columns, bins = int32([0, 1, 2]), int32([[1, 0], [5, 0], [5, 0]])
    histograms = reference.fill_histograms(codes, range(4), weights, columns)
    ridge = 0.5 if real_leaves else 0.0
    rule = int(weights.sum()), real_leaves, ridge, 0, 3
    _, column, code, missing_left, left, _ = trees.best_split(histograms, columns, bins, *rule)
    assert (column, code, left) == (1, 0, weights[0])  # bin 2 is empty; splits after 0 and after 3 are equal
    assert missing_left is False  # the right child is heavier


@pytest.mark.parametrize("real_leaves", [False, True])
def test_ties_go_to_missing_values_on_the_left(real_leaves):
    codes = np.array([[0, 1, 255]], dtype=np.uint8)
    weights = np.array(reference.pack_weights([-1, -1, 2])[1])
    histograms = reference.fill_histograms(codes, range(3), weights, [0])
    rule = int(weights.sum()), real_leaves, 0.0, 0, 1
    gain, *split = trees.best_split(histograms, int32([0]), int32([[2, 1]]), *rule)
    assert (gain, split) == (4.0, [0, 1, False, weights[:2].sum(), None])  # the missing values alone
    weights = np.array(reference.pack_weights([-2, 2, 0])[1] + reference.pack_weights([1, -1])[1])
    codes = np.array([[0, 1, 255, 255]], dtype=np.uint8)
    histograms = reference.fill_histograms(codes, range(4), weights, [0])
    rule = int(weights.sum()), real_leaves, 0.0, 0, 1
    _, *split = trees.best_split(histograms, int32([0]), int32([[2, 1]]), *rule)
    assert split == [0, 0, True, weights[[0, 2, 3]].sum(), None]


@given(seed=seeds, n=st.integers(0, 30), first=st.integers(0, 1), last=st.integers(0, 6), by_set=st.booleans())
@quick
def test_partition(seed, n, first, last, by_set):
    rng = np.random.RandomState(seed)
    codes = frozen(rng.choice([0, 1, 2, 3, 4, 5, 254, 255], n + 3).astype(np.uint8))
    rows, weights = rng.permutation(n + 3)[:n].astype(np.int32), rng.randint(-9, 9, n)
    left_set = rng.bytes(32) if by_set else None
    expected = reference.partition(codes, first, last, left_set, rows, weights)
    spare = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int64)
    n_left = leaves.partition(codes, first, last, left_set, rows, weights, *spare)
    assert n_left == expected[0]
    np.testing.assert_array_equal(rows, expected[1])
    np.testing.assert_array_equal(weights, expected[2])


def draw_tree(rng, d, n_splits):
    """Draw a random tree: column, code and child arrays."""
    child, ends = [0], [0]
    for _ in range(n_splits):
        parent = ends.pop(rng.randint(len(ends)))
        child[parent] = len(child)
        ends += [len(child), len(child) + 1]
        child += [0, 0]
    return int32(rng.randint(0, d, len(child))), int32(rng.randint(0, 4, len(child))), int32(child)


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(seed=seeds, n=st.integers(1, 200), d=st.integers(1, 4), n_splits=st.integers(0, 9))
@settings(quick, max_examples=12)
def test_apply(layout, dtype, seed, n, d, n_splits):
    rng = np.random.RandomState(seed)
    column, code, child = draw_tree(rng, d, n_splits)
    codes = rng.choice([0, 1, 2, 3, 4, 255], (d, n)).astype(np.uint8)
    codes[:, : rng.randint(n + 1)] %= 5  # no missing values in the first rows
    missing_left = frozen(rng.randint(0, 2, len(column)).astype(np.uint8))
    start, stop = draw_block(rng, n)
    expected = np.full(n, -1)
    expected[start:stop] = reference.apply_codes(codes, column, missing_left, code + missing_left, child)[start:stop]
    leaf = np.full(n, -1, dtype=np.int32)
    last = frozen(code.astype(np.uint8) + missing_left)
    leaves.apply_codes(codes, column, missing_left, last, child, leaf, start, stop)
    np.testing.assert_array_equal(leaf, expected)

    X, leaf = np.where(codes == reference.MISSING, np.nan, codes).T.astype(dtype), np.full(n, -1, dtype=np.int32)
    leaves.apply_values(
        laid_out(X, layout), column, frozen(code.astype(np.float64)), missing_left, child, leaf, start, stop
    )
    np.testing.assert_array_equal(leaf, expected)


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(seed=seeds, n=st.integers(1, 20), d=st.integers(1, 4), n_splits=st.integers(0, 9))
@settings(quick, max_examples=12)
def test_apply_with_sets(layout, dtype, seed, n, d, n_splits):
    rng = np.random.RandomState(seed)
    column, code, child = draw_tree(rng, d, n_splits)
    codes = frozen(rng.choice([0, 1, 2, 3, 4, 254, 255], (d, n)).astype(np.uint8))
    missing_left, by_set = (frozen(rng.randint(0, 2, len(column)).astype(np.uint8)) for _ in range(2))
    left_sets = frozen(rng.randint(0, 256, (len(column), 32)).astype(np.uint8))
    last = frozen(code.astype(np.uint8) + missing_left)
    rule = column, missing_left, last, by_set, left_sets, child
    leaf, (start, stop) = np.full(n, -1, dtype=np.int32), draw_block(rng, n)
    leaves.apply_mixed_codes(codes, *rule, leaf, start, stop)
    np.testing.assert_array_equal(leaf[start:stop], reference.apply_mixed_codes(codes, *rule)[start:stop])
    assert (np.delete(leaf, range(start, stop)) == -1).all()

    X = np.where(codes == reference.MISSING, np.nan, codes).T.astype(dtype)
    X[rng.rand(n, d) < 0.3] = rng.choice([-1, 0.5, 255, 256, 1e9, -1e30, np.inf, -np.inf])  # not categories
    rule = column, frozen(code.astype(np.float64)), missing_left, by_set, left_sets, child
    leaf = np.empty(n, dtype=np.int32)
    leaves.apply_mixed_values(laid_out(X, layout), *rule, leaf, 0, n)
    np.testing.assert_array_equal(leaf, reference.apply_mixed_values(X, *rule))


@given(key=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=3), d=st.integers(1, 40), n=st.integers(1, 40))
@quick
def test_draw_columns(key, d, n):
    n = min(n, d)
    deck, allowed = np.empty(d, dtype=np.int32), np.arange(d, dtype=np.int32)[::-1] * 3
    growing.draw_columns(frozen(np.array(key, dtype=np.uint64)), frozen(allowed), deck, n)
    assert deck[:n].tolist() == sorted(reference.draw_columns(key, allowed, n)[:n])
    assert sorted(deck) == list(range(0, 3 * d, 3))


# -- stores: dyadic numbers, so that sums are exact in any order -----------------------------------


def draw_dyadic(rng, kind, *shape):
    return np.full(shape, 0.25) if kind == "constant" else rng.randint(-64, 64, shape) / 16


def draw_cut(rng, n):
    """Draw samples, the counts of all but the tied ones, whole numbers or sums of weights, and the tied count."""
    samples = int32(rng.permutation(n)[: rng.randint(0, n + 1)])
    counts = rng.randint(-9, 9, rng.randint(0, len(samples) + 1))
    return samples, frozen(counts / 4) if rng.randint(2) else int32(counts), -1.75


output_cases = {"seed": seeds, "kind": st.sampled_from(KINDS), "n": st.integers(1, 30), "n_groups": st.integers(0, 18)}


@given(**output_cases, width=st.sampled_from([8, 64, 256]))
@quick
def test_sums_over_groups_and_samples(seed, kind, n, n_groups, width):
    rng = np.random.RandomState(seed)
    codes = frozen(rng.randint(0, width, (n_groups + 1, n)).astype(np.uint8))  # one group is spare
    tables = frozen(draw_dyadic(rng, kind, n_groups, width))
    scores, expected = np.full(n, 77.0), reference.sum_groups(codes, tables)
    stores.sum_groups(codes, tables, None, scores)
    np.testing.assert_array_equal(scores, expected)
    some = int32(rng.permutation(n)[: rng.randint(0, n + 1)])
    found = np.full(len(some), 77.0)
    stores.sum_groups(codes, tables, some, found)
    np.testing.assert_array_equal(found, expected[some])

    cut, sums = draw_cut(rng, n), np.full((n_groups, width), 77.0)
    stores.sum_samples(codes, *cut, sums)
    np.testing.assert_array_equal(sums, reference.sum_samples(codes, *cut, n_groups)[:, :width])


@given(seed=seeds, kind=st.sampled_from(KINDS), n=st.integers(1, 30), n_learners=st.integers(1, 13))
@quick
def test_sums_over_pairs_and_samples(seed, kind, n, n_learners):
    rng = np.random.RandomState(seed)
    codes = frozen(rng.randint(0, 1024, ((n_learners + 1) // 2, n)).astype(np.uint16))
    values = frozen(draw_dyadic(rng, kind, n_learners, 32))
    scores, expected = np.full(n, 77.0), reference.sum_pairs(codes, values)
    pairs.sum_pairs(codes, values, None, scores)
    np.testing.assert_array_equal(scores, expected)
    some = int32(rng.permutation(n)[: rng.randint(0, n + 1)])
    found = np.full(len(some), 77.0)
    pairs.sum_pairs(codes, values, some, found)
    np.testing.assert_array_equal(found, expected[some])

    cut, sums = draw_cut(rng, n), np.zeros((n_learners, 64))
    places = frozen(rng.randint(0, 64, (n_learners, 32)).astype(np.uint8))
    pairs.count_pairs(codes, *cut, places, sums)
    np.testing.assert_array_equal(sums, reference.count_pairs(codes, *cut, places))


@given(seed=seeds, kind=st.sampled_from(KINDS), n_learners=st.integers(1, 20))
@settings(quick, max_examples=20)
def test_signs_to_tables_and_back(seed, kind, n_learners):
    rng = np.random.RandomState(seed)
    n_groups = -(-n_learners // 8)
    weights, tables = frozen(draw_dyadic(rng, kind, n_learners)), np.full((n_groups, 256), 77.0)
    stores.tables_of_signs(weights, tables)
    np.testing.assert_array_equal(tables, reference.tables_of_signs(weights, n_groups))

    sums, row = draw_dyadic(rng, kind, n_groups, 256), np.full(n_learners, 77.0)
    expected = reference.fold_signs(sums, n_learners)
    stores.fold_signs(sums, row)
    np.testing.assert_array_equal(row, expected)


@given(seed=seeds, kind=st.sampled_from(KINDS), n=st.integers(1, 30), dtype=st.sampled_from([np.uint8, np.int32]))
@quick
def test_add_values(seed, kind, n, dtype):
    rng = np.random.RandomState(seed)
    values, index = frozen(draw_dyadic(rng, kind, 256)), frozen(rng.randint(0, 256, n).astype(dtype))
    start, stop = draw_block(rng, n)
    scores = draw_dyadic(rng, "random", n)
    expected = reference.add_values(values, index, scores, start, stop)
    stores.add_values(values, index, scores, start, stop)
    np.testing.assert_array_equal(scores, expected)


@given(seed=seeds, n=st.integers(1, 30), place=st.integers(0, 7))
@quick
def test_set_bits(seed, n, place):
    rng = np.random.RandomState(seed)
    bit_of_node, node = frozen(rng.randint(0, 2, 7).astype(np.uint8)), int32(rng.randint(0, 7, n))
    codes = rng.randint(0, 256, n).astype(np.uint8) & np.uint8(255 - 2**place)
    expected = reference.set_bits(bit_of_node, node, codes, place)
    stores.set_bits(bit_of_node, node, codes, place)
    np.testing.assert_array_equal(codes, expected)


@given(seed=seeds, kind=st.sampled_from(KINDS), n=st.integers(1, 30))
@quick
def test_cuts_as_vectors(seed, kind, n):
    rng = np.random.RandomState(seed)
    cut, values, out = draw_cut(rng, n), frozen(draw_dyadic(rng, kind, n)), draw_dyadic(rng, "random", n)
    assert stores.dot_samples(*cut, values) == reference.dot_samples(*cut, values)
    expected = reference.add_samples(*cut, 0.5, out)
    stores.add_samples(*cut, 0.5, out)
    np.testing.assert_array_equal(out, expected)


# -- ordering --------------------------------------------------------------------------------------


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=40), seeds, st.sampled_from([0, 40, 3000]))
@quick
def test_falling_order_is_that_of_a_stable_sort(some, seed, n_more):
    rng = np.random.RandomState(seed)
    more = np.round(rng.normal(size=n_more), rng.randint(4)) * 10.0 ** rng.randint(-300, 300)
    values = frozen(np.concatenate([some, some[::2], more]))
    keys, order = np.zeros((2, len(values)), dtype=np.uint64), np.zeros((2, len(values)), dtype=np.int32)
    ranking = order[ordering.rank_falling(values, keys, order)]
    np.testing.assert_array_equal(ranking, np.argsort(-values, kind="stable"))


@given(seed=seeds, m=st.integers(1, 20), n=st.integers(1, 15), struct=st.booleans(), spread=st.sampled_from([1, 3, 9]))
@settings(quick, max_examples=150)
def test_order_ranked(seed, m, n, struct, spread):
    rng = np.random.RandomState(seed)
    positives = frozen(rng.randint(-spread, spread + 1, m) / 4)
    ranked = frozen(np.sort(rng.randint(-spread, spread + 1, n) / 4)[::-1].copy())
    j_beta = rng.randint(1, n + 1)
    j_alpha = rng.randint(0, j_beta)
    if not struct:  # the range and the negatives tied with its end
        ranked = frozen(ranked[: np.count_nonzero(ranked >= ranked[j_beta - 1])].copy())
    n_ranks = len(ranked) if struct else j_beta
    negatives = int32(rng.permutation(100)[: len(ranked)])
    prefix = frozen(np.append(0.0, np.cumsum(ranked)))
    lengths, reached = np.empty(m, dtype=np.int32), np.empty(n_ranks, dtype=np.int32)
    samples, counts = np.full((2, m + len(ranked)), -1, dtype=np.int32)
    n_samples, n_counts, tied_count, lost = ordering.order_ranked(
        positives, ranked, negatives, prefix, j_alpha, j_beta, lengths, reached, samples, counts
    )
    expected_lengths, columns, expected_lost = reference.order_ranked(positives, ranked, j_alpha, j_beta, n_ranks)
    np.testing.assert_array_equal(lengths, expected_lengths)
    assert lost == expected_lost
    assert len(set(samples[:n_samples])) == n_samples
    vector = reference.add_samples(samples[:n_samples], counts[:n_counts], tied_count, 1.0, np.zeros(m + 100))
    np.testing.assert_array_equal(vector[:m], expected_lengths)
    np.testing.assert_allclose(vector[m + negatives], -columns, rtol=1e-14)
    assert not np.delete(vector[m:], negatives).any()
