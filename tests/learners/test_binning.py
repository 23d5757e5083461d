"""Bins of features: exact for few values, quantiles for many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paucens import PAUCEnsClassifier, Stump, Tree, partial_auc
from paucens.base import fit_binned
from paucens.learners.binning import bin_features, thresholds_of
from paucens.parallel import Threads

quick = settings(deadline=None, max_examples=60, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, n_values=st.integers(1, 40), n=st.integers(1, 200), max_bins=st.integers(2, 40))
@quick
def test_bins_are_exact_up_to_max_bins_distinct_values(seed, n_values, n, max_bins):
    rng = np.random.RandomState(seed)
    values = np.sort(rng.normal(size=n_values)[rng.randint(n_values, size=n)])
    thresholds = thresholds_of(values, max_bins)
    assert len(thresholds) < max_bins
    assert (np.diff(thresholds) > 0).all()
    distinct = np.unique(values)
    if len(distinct) <= max_bins:
        np.testing.assert_allclose(thresholds, (distinct[:-1] + distinct[1:]) / 2)
    else:
        assert len(thresholds) >= 1
        codes = np.searchsorted(thresholds, distinct)
        assert set(codes) == set(range(len(thresholds) + 1))  # no empty bin


def test_many_values_fall_into_quantiles():
    thresholds = thresholds_of(np.arange(10_000.0), 16)
    sizes = np.bincount(np.searchsorted(thresholds, np.arange(10_000.0)))
    assert len(sizes) == 16
    assert set(sizes) == {625}


def test_a_value_that_fills_many_quantiles_leaves_bins_for_the_others():
    values = np.sort(np.concatenate([np.zeros(5000), np.arange(1.0, 5001)]))
    thresholds = thresholds_of(values, 10)
    assert thresholds[0] == 0.5
    assert len(thresholds) >= 5


@pytest.mark.parametrize("low", [0.0, 1.0, -1.0, 1e300, -1e-300, 5e-324, -5e-324, np.pi])
def test_thresholds_separate_neighbouring_floats(low):
    high = np.nextafter(low, np.inf)
    (threshold,) = thresholds_of(np.array([low, high]), 256)
    assert low <= threshold < high
    X = np.array([[low], [high]])
    np.testing.assert_array_equal(Stump().fit(X, [-1, 1]).predict(X), [-1, 1])


@pytest.mark.parametrize("low", [0.0, 1.0, -1.0, 3e38, -1e-45])
def test_thresholds_separate_neighbouring_single_floats(low):
    X = np.array([[low], [np.nextafter(np.float32(low), np.float32(np.inf))]], dtype=np.float32)
    np.testing.assert_array_equal(Stump().fit(X, [-1, 1]).predict(X), [-1, 1])


def test_huge_values_do_not_overflow():
    largest = np.finfo(np.float64).max
    X = np.array([[-largest], [-largest / 2], [largest / 2], [largest]])
    with np.errstate(all="raise"):
        tree = Tree(2).fit(X, [-1, 2, -3, 1])
    assert np.isfinite(tree.nodes_.threshold).all()
    np.testing.assert_array_equal(tree.predict(X), [-1, 1, -1, 1])


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bins_do_not_depend_on_layout(monkeypatch, layout, dtype):
    rng = np.random.RandomState(0)
    larger = np.round(rng.normal(size=(500, 46)), 2).astype(dtype)
    X = larger[:, ::2] if layout == "strided" else np.array(larger[:, ::2], order=layout)
    X.flags.writeable = False
    order = rng.permutation(500)[:333].astype(np.int32)
    monkeypatch.setattr("paucens.learners.binning.BLOCK_BYTES", 5 * 500 * X.itemsize)  # five columns at a time
    with Threads(1) as threads:
        binned = bin_features(X, 100, threads, order)
    for column in range(23):
        thresholds = thresholds_of(np.sort(X[:, column]), 100)
        a, b = binned.offsets[column : column + 2]
        np.testing.assert_array_equal(binned.thresholds[a:b], thresholds)
        np.testing.assert_array_equal(binned.codes[column], np.searchsorted(thresholds, X[order, column]))
        assert binned.n_bins[column] == len(thresholds) + 1


def test_max_bins_limits_the_splits():
    X = np.arange(100.0)[:, None]
    u = np.where(np.arange(100) < 37, -1.0, 1.0)
    assert (Stump().fit(X, u).predict(X) == u).all()
    coarse = Stump(max_bins=4).fit(X, u)
    assert coarse.nodes_.threshold[0] in (24.5, 49.5)


# -- bins that see the tails -----------------------------------------------------------------------


def draw_tails(seed, n=10_000, m=300):
    rng = np.random.default_rng(seed)
    values = np.concatenate([rng.normal(1.5, size=m), rng.normal(size=n)])
    return np.sort(values), np.sort(values[:m])


@given(seed=seeds, max_bins=st.integers(2, 256), m=st.integers(1, 40), decimals=st.integers(0, 3))
@quick
def test_bins_of_tails_are_no_more_than_asked_for_and_none_is_empty(seed, max_bins, m, decimals):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.normal(size=400).round(decimals))
    thresholds = thresholds_of(values, max_bins, np.sort(rng.choice(values, m)))
    assert 1 <= len(thresholds) < max_bins and (np.diff(thresholds) > 0).all()
    distinct = np.unique(values)
    assert set(np.searchsorted(thresholds, distinct)) == set(range(len(thresholds) + 1))
    if len(distinct) <= max_bins:
        np.testing.assert_array_equal(thresholds, thresholds_of(values, max_bins))


def test_the_best_and_the_lowest_values_are_ranked_one_by_one():
    values, positives = draw_tails(0)
    thresholds = thresholds_of(values, 256, positives)
    sizes = np.bincount(np.searchsorted(thresholds, values))
    assert len(sizes) > 200
    assert (sizes[:4] == 1).all() and (sizes[-4:] == 1).all()
    assert sizes.max() < len(values) / 40  # and the middle is not forgotten


def test_quantiles_of_the_positives_are_among_the_thresholds():
    values, positives = draw_tails(1)
    codes = np.bincount(np.searchsorted(thresholds_of(values, 256, positives), positives))
    assert codes.max() <= len(positives) / 65 + 1


def test_ten_positives_on_top_of_ten_thousand_can_be_found():
    """With quantiles of all, the top bin holds 39 samples, in which the ten positives are not told apart."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 1))
    y = np.zeros(10_000, dtype=int)
    y[np.argsort(X[:, 0])[-10:]] = 1
    options = {"learner": Tree(depth=2), "n_estimators": 20, "nu": 10.0, "mixture": "auto"}
    areas = [
        partial_auc(
            y, PAUCEnsClassifier((0, 0.001), binning=binning, **options).fit(X, y).decision_function(X), (0, 0.001)
        )
        for binning in ("quantile", "tails")
    ]
    assert areas[0] < 0.2 and areas[1] > 0.99


def test_binning_is_one_of_two(tmp_path):
    data = np.arange(6.0)[:, None], [0, 1, 0, 1, 0, 1]
    with pytest.raises(ValueError, match="binning must be one of 'quantile', 'tails'; got 'log'"):
        PAUCEnsClassifier(binning="log").fit(*data)
    with pytest.raises(ValueError, match="The features are binned already; got binning='tails'"):
        fit_binned(PAUCEnsClassifier(binning="tails"), None, 3)


@given(seed=seeds, max_bins=st.integers(2, 40), n=st.integers(2, 150), tails=st.booleans())
@quick
def test_bins_of_whole_weights_are_those_of_repeated_values(seed, max_bins, n, tails):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(n, 3)).round(1), rng.integers(1, 5, size=n)
    rows = np.repeat(np.arange(n), weights)
    positives = np.flatnonzero(rng.random(n) < 0.4) if tails else None
    if tails and not len(positives):
        positives = np.array([0])
    repeated = None if positives is None else np.flatnonzero(np.isin(rows, positives))
    with Threads(1) as threads:
        weighted = bin_features(X, max_bins, threads, positives=positives, weights=weights.astype(float))
        expected = bin_features(X[rows], max_bins, threads, positives=repeated)
    np.testing.assert_array_equal(weighted.thresholds, expected.thresholds)
    np.testing.assert_array_equal(weighted.codes[:, rows], expected.codes)


@pytest.mark.parametrize("scale", [1.0, 1e-9])
def test_bins_of_real_weights_hold_equal_weights(scale):
    values = np.sort(np.random.default_rng(0).normal(size=20_000))
    weights = scale * np.where(values > 1, 5.3, 0.7)
    thresholds = thresholds_of(values, 16, weights=weights)
    held = np.bincount(np.searchsorted(thresholds, values), weights) / weights.sum()
    np.testing.assert_allclose(held, 1 / 16, atol=1e-3)
    tails = thresholds_of(values, 64, np.sort(values[::50]), weights, weights[::50])
    assert 32 < len(tails) < 64
