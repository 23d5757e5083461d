"""Ranges of heights: a size is searched in each of them, and boxes obey it."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_detector import tiny_detector

from paucens.detector import PedestrianDetector, Window, non_maximum_suppression
from paucens.detector.scan import Search
from paucens.detector.window import with_heights
from paucens.features import ChannelSpec
from paucens.parallel import Threads

SEARCH = Search(ChannelSpec.parse("LUV"), Window())
SHAPE = (480, 640)
ONE = Threads(1)


def heights_of(levels):
    return [SEARCH.window.target[0] / level.ratio[0] for level in levels]


@cache
def some_windows(shape=SHAPE, seed=0):
    """Return a detector whose score is the lightness of one cell, and an image of noise."""
    tiny = tiny_detector()
    trees = replace(tiny.trees.part(0, 1), rejection=np.float32([-np.inf]))
    detector = PedestrianDetector(replace(SEARCH, spec=ChannelSpec.parse("LUV")), trees)
    return detector, np.random.default_rng(seed).integers(256, size=(*shape, 3)).astype(np.uint8)


# -- sizes -----------------------------------------------------------------------------------------


def test_every_height_of_an_image_is_searched():
    """From that of the model to that of the image, at the nearest size of all."""
    heights = range(100, 481)
    for height in heights:
        (level,) = SEARCH.levels(SHAPE, height, height)
        (found,) = heights_of([level])
        assert abs(found - height) < 0.03 * height  # half a cell of 24 or more
        assert found == min(heights_of(SEARCH.levels(SHAPE, height)), key=lambda other: abs(other - height))
    alone = [height for height in heights if heights_of(SEARCH.levels(SHAPE, height, height))[0] > height]
    assert len(alone) == 185  # for which the one size lies beyond the range


@pytest.mark.parametrize("shape", [(102, 60), (105, 50), (114, 100), (139, 400), (333, 500), (1000, 500)])
def test_a_person_as_large_as_the_image_is_searched_for(shape):
    for height in (shape[0], shape[0] / 2):
        assert heights_of(SEARCH.levels(shape, height))[-1] > 0.95 * shape[0]
    assert SEARCH.levels(shape, 1.01 * shape[0]) == []


@given(
    rows=st.integers(60, 900),
    columns=st.integers(40, 900),
    least=st.none() | st.floats(30, 900),
    share=st.none() | st.floats(1, 4),
)
@settings(deadline=None, derandomize=True)
def test_ranges_leave_out_what_lies_above_and_nothing_else(rows, columns, least, share):
    largest = None if share is None else share * (100 if least is None else least)
    levels = SEARCH.levels((rows, columns), least)
    found = SEARCH.levels((rows, columns), least, largest)
    assert found == [
        level for k, level in enumerate(levels) if k == 0 or largest is None or heights_of([level])[0] <= largest
    ]
    assert bool(found) == bool(levels)


# -- boxes -----------------------------------------------------------------------------------------


@given(
    boxes=st.lists(
        st.tuples(st.floats(-500, 500), st.floats(-500, 500), st.floats(1, 300), st.floats(1, 700), st.floats(-9, 9)),
        max_size=8,
    ),
    bounds=st.tuples(st.none() | st.floats(1, 300), st.none() | st.floats(300, 900)),
)
@settings(deadline=None, derandomize=True)
def test_heights_are_moved_into_the_range_around_the_middle(boxes, bounds):
    boxes = np.array(boxes).reshape(-1, 5)
    moved, (least, largest) = with_heights(boxes, *bounds), bounds
    for box, other in zip(boxes, moved, strict=True):
        low, high = -np.inf if least is None else least, np.inf if largest is None else largest
        if low <= box[3] <= high:
            np.testing.assert_array_equal(other, box)
        else:
            assert other[3] == (low if box[3] < low else high)
            assert other[1] + other[3] / 2 == pytest.approx(box[1] + box[3] / 2)
            np.testing.assert_array_equal(other[[0, 2, 4]], box[[0, 2, 4]])


@pytest.mark.parametrize(
    "bounds", [(168, 168), (150, 168), (60, 60), (120, None), (None, 150), (None, 100), (230, 480)]
)
def test_boxes_obey_the_range_before_they_compete(bounds):
    detector, image = some_windows()
    found = detector.detect(image, threshold=-np.inf, min_height=bounds[0], max_height=bounds[1])
    levels = detector.search.levels(SHAPE, *bounds)
    boxes = detector.candidates(image, levels, -np.inf, ONE)[0]
    np.testing.assert_array_equal(found, non_maximum_suppression(with_heights(boxes, *bounds)))
    low, high = (bound or extreme for bound, extreme in zip(bounds, (0, np.inf), strict=True))
    assert len(found) > 0 and (found[:, 3] >= low).all() and (found[:, 3] <= high).all()
    inside = (low <= boxes[:, 3]) & (boxes[:, 3] <= high)
    known = {tuple(box) for box in boxes[inside].tolist()}
    assert sum(tuple(box) in known for box in found.tolist()) > 0 or not inside.any()


def test_all_heights_of_boxes():
    """One search per height, on an image so narrow that each has few windows."""
    detector, image = some_windows((480, 64))
    for height in range(100, 481, 1):
        if 0.41 * height <= 64:
            found = detector.detect(image, threshold=-np.inf, min_height=height, max_height=height)
            assert len(found) > 0 and (found[:, 3] == height).all()


def test_without_a_range_boxes_stay_as_they_are():
    """Also if the image is no whole cells, so that the smallest boxes are lower than those of the model."""
    detector, image = some_windows((241, 322))
    boxes = detector.candidates(image, detector.search.levels((241, 322)), -np.inf, ONE)[0]
    found = detector.detect(image, threshold=-np.inf)
    np.testing.assert_array_equal(found, non_maximum_suppression(boxes))
    assert boxes[:, 3].min() != 100
