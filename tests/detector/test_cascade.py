"""Traces of positives and the soft cascade that they make, on rendered streets."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from paucens import AdaBoostClassifier, Tree
from paucens.datasets import street_crops, synthetic_streets
from paucens.detector import cascade, positive_traces, train_detector
from paucens.features import ChannelSpec
from paucens.parallel import Threads

ONE = Threads(1)
N_TREES = 40


@pytest.fixture(scope="module")
def crops():
    return list(street_crops(synthetic_streets(16, seed=1)))


@pytest.fixture(scope="module")
def detector(crops):
    empty = [record.image for record in synthetic_streets(6, seed=2, people=False, size=(240, 320))]
    learner = Tree(depth=3, column_fraction=1 / 4, column_sampling="node")
    booster = AdaBoostClassifier(learner=learner, shrinkage=0.1, random_state=0)
    options = {"n_estimators": (8, N_TREES), "n_negatives": 200, "most_negatives": 300, "scales": 4}
    return train_detector(crops, empty, ChannelSpec.parse("M+O+LUV"), booster, **options)


@pytest.fixture(scope="module")
def sums(detector, crops):
    """The sums of all windows of 16 crops, (288, n_trees), after trees followed one by one, crop by crop."""
    return np.concatenate([sums_in_places(detector, crop) for crop in crops[:16]])


def sums_in_places(detector, crop):
    """Cut each place out of a crop whose edge is repeated, and score its window by the first 1, 2, ... trees."""
    height, width, _ = crop.shape
    wide = np.pad(crop, ((4, 4), (4, 4), (0, 0)), mode="edge")
    found = []
    for view in (wide, np.ascontiguousarray(wide[:, ::-1])):
        for y, x in itertools.product((0, 4, 8), (0, 4, 8)):
            band = detector.search.crop(np.ascontiguousarray(view[y : y + height, x : x + width]), ONE)
            found.append([scores_of(detector.search, band, trees)[0, 0] for trees in prefixes(detector.trees)])
    return np.array(found)


def prefixes(trees):
    """Return the first tree, the first two, ..., without a cascade."""
    for n in range(1, len(trees.rejection) + 1):
        nodes = trees.first[n]
        arrays = {name: array[:nodes] for name, array in trees.arrays().items() if name not in ("first", "bias")}
        arrays |= {"first": trees.first[: n + 1], "rejection": np.full(n, -np.inf, dtype=np.float32)}
        yield replace(trees, **arrays)


def scores_of(search, band, trees):
    return search.scores(band, trees, ONE)


def cascade_of(detector, traces):
    return replace(detector, trees=detector.trees.with_rejection(traces))


def median_score(sums):
    return float(np.median(sums[:, -1]))


# -- sums ------------------------------------------------------------------------------------------


def test_sums_are_those_of_crops_cut_in_nine_places(detector, crops, sums):
    found = np.concatenate([cascade.crop_sums(detector, crop) for crop in crops[:16]])
    np.testing.assert_allclose(found, sums, atol=1e-4)  # channels of a wider crop differ by rounding errors


def test_the_fifth_place_is_the_crop_itself(detector, crops):
    for crop in crops[:5]:
        band = detector.search.crop(crop, ONE)
        expected = scores_of(detector.search, band, detector.trees.without_rejection())
        assert cascade.crop_sums(detector, crop)[4, -1] == pytest.approx(expected[0, 0], abs=1e-4)


# -- traces ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("quantile", [0, 0.01, 0.07, 0.3])
def test_traces_are_quantiles_of_the_windows_that_count(detector, crops, quantile):
    sums = np.concatenate([cascade.crop_sums(detector, crop) for crop in crops[:16]])
    least = median_score(sums)
    counted = np.sort(sums[sums[:, -1] > least], axis=0)
    expected = counted[int(quantile * len(counted))]
    traces = positive_traces(detector, crops[:16], least_score=least, quantile=quantile)
    assert traces.dtype == np.float32 and traces.shape == (N_TREES,)
    np.testing.assert_array_equal(np.nextafter(traces[:-1], np.float32(np.inf)), expected[:-1])
    assert traces[-1] == np.float32(least)
    lost = (sums[sums[:, -1] > least][:, :-1] <= traces[:-1]).sum(axis=0)
    assert (lost <= quantile * len(counted)).all()


def test_all_positives_that_count_survive(detector, crops):
    """In the very channels that the traces were found in, by the scan; and nearly all of the crops as images."""
    sums = np.concatenate([cascade.crop_sums(detector, crop) for crop in crops])
    least = median_score(sums)
    traces = positive_traces(detector, crops, least_score=least)
    fast = cascade_of(detector, traces)
    n_found = 0
    for crop in crops:
        wide = np.pad(crop, ((4, 4), (4, 4), (0, 0)), mode="edge")
        for view in (wide, np.ascontiguousarray(wide[:, ::-1])):
            band = detector.search.crop(view, ONE)
            assert band.shape == (3, 3)
            whole = scores_of(detector.search, band, detector.trees.without_rejection())
            scores = scores_of(fast.search, band, fast.trees)
            np.testing.assert_array_equal(scores[whole > least], whole[whole > least])
            assert (scores[whole <= least] == -np.inf).all()
            n_found += (scores > least).sum()
    assert n_found == (sums[:, -1] > least).sum() > len(crops)


def test_the_cascade_rejects_windows_and_keeps_detections(detector, crops):
    """Of a crop searched as an image, the windows around the middle see what the traces were found in."""
    least = median_score(np.concatenate([cascade.crop_sums(detector, crop) for crop in crops]))
    fast = cascade_of(detector, positive_traces(detector, crops, least_score=least))
    slow = replace(detector, trees=detector.trees.without_rejection())
    (level,) = [one for one in detector.search.levels((160, 96)) if one.shape == (160, 96)]
    n_middle = 0
    for crop in crops:
        boxes, windows = slow.candidates(crop, [level], least + 1e-3, ONE)
        found = {tuple(window) for window in fast.candidates(crop, [level], least, ONE)[1]}
        for _, (_, row, column) in zip(boxes, windows, strict=True):
            if abs(row - 8) <= 1 and abs(column - 7) <= 1:
                n_middle += 1
                assert (0, row, column) in found
    assert n_middle > len(crops)
    scene = synthetic_streets(1, seed=5)[0].image
    some = [model.candidates(scene, model.search.levels(scene.shape[:2]), -np.inf, ONE)[0] for model in (fast, slow)]
    assert len(some[0]) < len(some[1]) / 4


def test_higher_quantiles_reject_more(detector, crops):
    sums = np.concatenate([cascade.crop_sums(detector, crop) for crop in crops[:10]])
    least = median_score(sums)
    traces = [positive_traces(detector, crops[:10], least_score=least, quantile=q) for q in (0, 0.001, 0.05, 0.2, 0.5)]
    assert all((one <= other).all() for one, other in itertools.pairwise(traces))
    assert (traces[0] == traces[1]).all()  # less than a window
    assert (traces[0] < traces[-1]).any()


def test_the_last_trace_keeps_all_that_score_above_the_least(detector, crops):
    sums = cascade.crop_sums(detector, crops[0])
    least = np.sort(sums[:, -1])[8] + 1e-9  # between two single-precision numbers
    for quantile in (0, 0.5):
        last = positive_traces(detector, crops[:1], least_score=least, quantile=quantile)[-1]
        assert last <= least < np.nextafter(last, np.float32(np.inf))
    lowest = positive_traces(detector, crops[:1], least_score=-np.inf)
    np.testing.assert_array_equal(np.nextafter(lowest[:-1], np.float32(np.inf)), sums.min(axis=0)[:-1])
    assert lowest[-1] == -np.inf


@pytest.mark.parametrize("quantile", [0, 0.05])
def test_neither_blocks_nor_threads_change_traces(detector, crops, quantile, monkeypatch):
    least = median_score(cascade.crop_sums(detector, crops[0]))
    options = {"least_score": least, "quantile": quantile}
    traces = positive_traces(detector, crops[:20], **options)
    np.testing.assert_array_equal(positive_traces(detector, crops[:20], **options, n_jobs=2), traces)
    monkeypatch.setattr(cascade, "CROPS_AT_ONCE", 3)
    np.testing.assert_array_equal(positive_traces(detector, crops[:20], **options), traces)


def test_few_sums_are_kept(detector, crops, monkeypatch):
    """Those of a block, and the share that the quantile asks for."""
    monkeypatch.setattr(cascade, "CROPS_AT_ONCE", 2)
    seen, lowest = [], cascade._lowest
    monkeypatch.setattr(cascade, "_lowest", lambda sums, n: seen.append((len(sums), n)) or lowest(sums, n))
    positive_traces(detector, crops[:20], least_score=-np.inf, quantile=0.05)
    assert len(seen) == 10 and {n for _, n in seen} == {19}  # 5 % of 360 windows, and one
    assert max(n_sums for n_sums, _ in seen) == 2 * 18 + 19


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"crops": []}, "crops must be a list of images or of files, at least one"),
        ({"crops": [np.zeros((128, 64, 3), dtype=np.uint8)]}, r"crops\[0\] has 128 x 64 pixels; expected 160 x 96"),
        ({"least_score": 1e9}, "None of 18 windows of 1 crops scores above least_score, 1e\\+09; give a lower one"),
        ({"least_score": np.nan}, "least_score must be a number, not nan"),
        ({"quantile": -0.1}, "quantile must be a finite number, 0 or larger and at most 0.5"),
        ({"quantile": 0.6}, "quantile must be a finite number, 0 or larger and at most 0.5; got 0.6"),
    ],
)
def test_messages_of_traces(detector, crops, change, message):
    given = {"crops": crops[:1], "least_score": 0.0} | change
    with pytest.raises(ValueError, match=message):
        positive_traces(detector, **given)


# -- rejection -------------------------------------------------------------------------------------


def test_a_constant_is_a_cascade_too(detector):
    trees = detector.trees.with_rejection(-10)
    assert trees.rejection.dtype == np.float32 and (trees.rejection == -10).all()
    np.testing.assert_array_equal(trees.rejection, detector.trees.rejection)
    levels = np.linspace(-3, 2, N_TREES)
    np.testing.assert_array_equal(trees.with_rejection(levels).rejection, levels.astype(np.float32))
    assert (trees.without_rejection().rejection == -np.inf).all()


@pytest.mark.parametrize("rejection", [np.zeros(3), [[0.0] * N_TREES], np.nan, [0.0] * (N_TREES - 1) + [np.nan]])
def test_messages_of_rejection(detector, rejection):
    with pytest.raises(ValueError, match=r"rejection must be a number or 40 of them, one per tree, not nan; got"):
        detector.trees.with_rejection(rejection)
