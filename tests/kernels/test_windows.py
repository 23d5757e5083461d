"""The scan of all windows and their partial sums against twins that follow each window through each tree."""

import importlib
import itertools

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from paucens import AdaBoostClassifier, PAUCEnsClassifier, Tree
from paucens._kernels.cpu import has_avx2
from paucens.detector.bands import SLACK, empty_strips
from paucens.detector.trees import DetectorTrees, detector_trees, floats_at_most
from paucens.parallel import Threads

HERE = Threads(1)
BUILDS = ["paucens._kernels.windows"]
if has_avx2() and importlib.util.find_spec("paucens._kernels.avx2.windows"):
    BUILDS.append("paucens._kernels.avx2.windows")


def scores_of_windows(channels, trees, cells):
    """Score all windows of `cells`, rows and columns, of channels (rows, columns, k): the twin."""
    shape = (channels.shape[0] - cells[0] + 1, channels.shape[1] - cells[1] + 1)
    scores = np.full(shape, trees.bias)
    for r, c in np.ndindex(shape):
        for t, rejected in enumerate(trees.rejection):
            node = trees.first[t]
            while trees.child[node]:
                row, column, channel = trees.place[node]
                right = channels[r + row, c + column, channel] > trees.threshold[node]
                node = trees.first[t] + trees.child[node] + right
            scores[r, c] += trees.value[node]
            if not scores[r, c] > rejected:
                scores[r, c] = -np.inf
                break
    return scores


def random_trees(random, n_trees, depth, cells, n_channels, rejection):
    """Make trees of random shape and limited depth."""
    first, child, place, threshold, value = [0], [], [], [], []
    for _ in range(n_trees):
        own = [0]
        levels = [0]
        while levels:
            level = levels.pop(0)
            node = len(own) - len(levels) - 1
            if level < depth and random.random() < 0.8:
                own[node] = len(own)
                own += [0, 0]
                levels += [level + 1, level + 1]
        child += own
        first.append(len(child))
    n = len(child)
    place = np.column_stack([random.integers(upper, size=n) for upper in (*cells, n_channels)]).astype(np.int32)
    threshold, value = random.normal(size=(2, n)).astype(np.float32)
    return DetectorTrees(
        np.array(first, dtype=np.int32),
        place,
        threshold,
        np.array(child, dtype=np.int32),
        value,
        np.full(n_trees, rejection, dtype=np.float32),
        np.float32(0.25),
    )


def strips_of(channels, around=0):
    """Turn channels (rows, columns, n_channels) into strips, with more floats behind; they may be the inner part."""
    sides = [side + 2 * around for side in channels.shape[:2]]
    strips = empty_strips(sides[0], channels.shape[2], sides[1])
    strips[:] = np.nan
    inner = strips[around : sides[0] - around, :, around : sides[1] - around]
    inner[:] = np.moveaxis(channels, 2, 1)
    return inner


def scan(build, channels, trees, cells, pieces=1, start=None, around=0):
    kernels, strips = importlib.import_module(build), strips_of(channels, around)
    shape = channels.shape[0] - cells[0] + 1, channels.shape[1] - cells[1] + 1
    scores = np.full(shape, trees.bias) if start is None else start.copy()
    edges = np.linspace(0, len(scores), pieces + 1).astype(int)
    for first, stop in itertools.pairwise(edges):
        scratch = [np.empty(scores.shape[1] + SLACK, dtype=kind) for kind in (np.float32, np.int32, np.intp)]
        kernels.scan(strips, *trees.layout(channels.shape[2]), *scratch, scores, first, stop)
    return scores


@pytest.mark.parametrize("build", BUILDS)
@given(
    seed=st.integers(0, 2**32 - 1),
    depth=st.integers(0, 5),
    n_trees=st.integers(1, 40),
    rows=st.integers(0, 3),
    columns=st.integers(0, 40),
    rejection=st.sampled_from([-np.inf, -2.0, 0.0]),
)
@settings(max_examples=60, deadline=None)
def test_scan_is_its_twin(build, seed, depth, n_trees, rows, columns, rejection):
    random, cells, n_channels = np.random.default_rng(seed), (3, 2), 4
    trees = random_trees(random, n_trees, depth, cells, n_channels, rejection)
    channels = random.normal(size=(cells[0] + rows, cells[1] + columns, n_channels)).astype(np.float32)
    assert (trees.whole is None) == any_deeper(trees)
    expected = scores_of_windows(channels, trees, cells)
    for pieces, around in ((1, 0), (3, 1)):
        np.testing.assert_array_equal(scan(build, channels, trees, cells, pieces, around=around), expected)


@pytest.mark.parametrize("build", BUILDS)
@given(
    seed=st.integers(0, 2**32 - 1),
    depth=st.integers(0, 5),
    n_trees=st.integers(0, 40),
    n_windows=st.integers(0, 30),
    around=st.integers(0, 2),
    rejection=st.sampled_from([-np.inf, -2.0, 0.0]),
)
@settings(max_examples=40, deadline=None)
def test_single_windows_have_the_scores_of_the_scan(build, seed, depth, n_trees, n_windows, around, rejection):
    random, cells, n_channels = np.random.default_rng(seed), (3, 2), 4
    trees = random_trees(random, n_trees + 1, depth, cells, n_channels, rejection).part(0, n_trees)
    channels = random.normal(size=(8, 9, n_channels)).astype(np.float32)
    start = random.choice(np.array([0.25, 1, -np.inf], dtype=np.float32), size=(6, 8))
    windows = np.column_stack([random.integers(upper, size=n_windows) for upper in start.shape]).astype(np.int32)
    scores, scratch = start[tuple(windows.T)], [np.empty(n_windows, dtype=kind) for kind in (np.int32, np.intp)]
    arguments = strips_of(channels, around), windows, *trees.layout(n_channels)
    importlib.import_module(build).score_windows(*arguments, *scratch, scores)
    np.testing.assert_array_equal(scores, scan(build, channels, trees, cells, start=start)[tuple(windows.T)])


@pytest.mark.parametrize("build", BUILDS)
@given(seed=st.integers(0, 2**32 - 1), depth=st.integers(1, 5), cut=st.integers(0, 20), n_trees=st.integers(1, 20))
@settings(max_examples=40, deadline=None)
def test_parts_in_turn_give_the_scores_of_the_whole(build, seed, depth, cut, n_trees):
    """A part goes on from the sums of the one before, bit for bit, and dead windows stay dead."""
    random, cells, cut = np.random.default_rng(seed), (3, 2), min(cut, n_trees)
    trees = random_trees(random, n_trees, depth, cells, 4, -1.0)
    channels = random.normal(size=(cells[0] + 2, cells[1] + 30, 4)).astype(np.float32)
    sums = scan(build, channels, trees.part(0, cut), cells)
    sums = scan(build, channels, trees.part(cut, n_trees), cells, start=sums)
    np.testing.assert_array_equal(sums, scan(build, channels, trees, cells))


def partial_sums(build, channels, trees, shape, pieces=1):
    strips = strips_of(channels, around=pieces - 1)
    sums = np.full((*shape, len(trees.rejection)), np.nan, dtype=np.float32)
    arguments = strips, *trees.layout(channels.shape[2])[:6]
    edges = np.linspace(0, shape[0], pieces + 1).astype(int)
    for start, stop in itertools.pairwise(edges):
        importlib.import_module(build).partial_sums(*arguments, trees.bias, sums, start, stop)
    return sums, reference.partial_sums(*arguments, trees.bias, shape)


@pytest.mark.parametrize("build", BUILDS)
@given(
    seed=st.integers(0, 2**32 - 1),
    depth=st.integers(0, 5),
    n_trees=st.integers(1, 40),
    rows=st.integers(0, 3),
    columns=st.integers(0, 5),
)
@settings(max_examples=40, deadline=None)
def test_partial_sums_are_their_twins_and_those_of_the_scan(build, seed, depth, n_trees, rows, columns):
    random, cells, n_channels = np.random.default_rng(seed), (3, 2), 4
    trees = random_trees(random, n_trees, depth, cells, n_channels, -np.inf)
    channels = random.normal(size=(cells[0] + rows, cells[1] + columns, n_channels)).astype(np.float32)
    for pieces in (1, 3):
        sums, expected = partial_sums(build, channels, trees, (rows + 1, columns + 1), pieces)
        np.testing.assert_array_equal(sums, expected)
    np.testing.assert_array_equal(sums[..., -1], scan(build, channels, trees, cells))


def any_deeper(trees, depth=3):
    level = np.zeros(len(trees.child), dtype=int)
    for first, last in zip(trees.first[:-1], trees.first[1:], strict=True):
        for node in range(first, last):
            if trees.child[node]:
                level[[first + trees.child[node], first + trees.child[node] + 1]] = level[node] + 1
    return level.max(initial=0) > depth


@pytest.mark.parametrize(
    "ensemble",
    [
        AdaBoostClassifier(learner=Tree(depth=3), n_estimators=30, shrinkage=0.1),
        PAUCEnsClassifier((0, 0.2), n_estimators=30),  # trees of 31 leaves
    ],
)
def test_scan_is_decision_function(ensemble):
    random, cells, n_channels = np.random.default_rng(0), (3, 2), 4
    places = np.array(list(np.ndindex(*cells, n_channels)))
    X = random.normal(size=(500, len(places))).astype(np.float32)
    y = (X[:, 0] + X[:, 5] * X[:, 9] + random.normal(size=500) > 0.5).astype(int)
    model = ensemble.fit(X, y)
    no_rejection = np.full(len(model.learners_), -np.inf)
    trees = detector_trees(model.learners_, model.weights_, model.threshold_, places, no_rejection)
    channels = random.normal(size=(12, 30, n_channels)).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(channels, cells, axis=(0, 1)).transpose(0, 1, 3, 4, 2)
    expected = model.decision_function(windows.reshape(-1, len(places))).reshape(windows.shape[:2])
    np.testing.assert_allclose(scan(BUILDS[-1], channels, trees, cells), expected, atol=1e-5)


def test_thresholds_round_down():
    """Comparisons of float32 values give the same results in double and in single precision."""
    random = np.random.default_rng(1)
    values = random.normal(size=1000).astype(np.float32)
    thresholds = np.concatenate([values.astype(np.float64), (values[:-1].astype(np.float64) + values[1:]) / 2])
    rounded = floats_at_most(thresholds)
    assert rounded.dtype == np.float32
    np.testing.assert_array_equal(values[:, None] > rounded, values[:, None].astype(np.float64) > thresholds)
