"""Kernels of boxes against their twins: overlaps, suppression and matching."""

import numpy as np
import pytest
import reference_boxes as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from paucens._kernels import boxes as kernels

quick = settings(deadline=None, max_examples=100, derandomize=True)
seeds, counts = st.integers(0, 2**32 - 9), st.integers(0, 12)
limits = st.sampled_from([0.25, 0.5, 0.65, 1.0])


def draw_boxes(seed, n, scores=False):
    """Draw overlapping boxes, some without area, some twice, on a grid (so that overlaps are equal) or not."""
    rng = np.random.RandomState(seed)
    boxes = rng.randint(-3, 9, size=(n, 4 + scores)).astype(float)
    boxes[:, 2:4] = rng.randint(6, size=(n, 2))
    if rng.rand() < 0.5:
        boxes[:, :4] += rng.uniform(size=(n, 4))
    boxes.flags.writeable = False  # kernels take their inputs as const
    return boxes


@given(seed=seeds, n=counts, m=counts, by_first=st.booleans())
@quick
def test_overlaps(seed, n, m, by_first):
    boxes, others = draw_boxes(seed, n, scores=True), draw_boxes(seed + 1, m)
    out = np.full((n, m), np.nan)
    kernels.overlaps(boxes, others, by_first, out)
    expected = [[reference.overlap(a, b, "first" if by_first else "union") for b in others] for a in boxes]
    np.testing.assert_array_equal(out, np.reshape(expected, (n, m)))


def test_overlaps_by_hand():
    """If two 2 x 2 boxes share a quarter of each, the intersection is a seventh of the union."""
    out = np.empty((1, 3))
    others = np.array([[1.0, 1.0, 2.0, 2.0], [2.0, 0.0, 2.0, 2.0], [0.0, 0.0, 0.0, 2.0]])
    kernels.overlaps(np.array([[0.0, 0.0, 2.0, 2.0]]), others, False, out)
    np.testing.assert_array_equal(out, [[1 / 7, 0, 0]])
    kernels.overlaps(np.array([[0.0, 0.0, 2.0, 2.0]]), others, True, out)
    np.testing.assert_array_equal(out, [[1 / 4, 0, 0]])


@given(seed=seeds, n=counts, overlap=limits, by_smaller=st.booleans())
@quick
def test_suppress(seed, n, overlap, by_smaller):
    boxes = draw_boxes(seed, n, scores=seed % 2)
    leader = np.full(n, -7, dtype=np.int32)
    kernels.suppress(boxes, overlap, by_smaller, leader)
    assert leader.tolist() == reference.suppress(boxes, overlap, "smaller" if by_smaller else "union")


def test_suppress_by_hand():
    """A removed box removes no other one, and an overlap equal to the limit removes nothing."""
    boxes = np.array([[0, 0, 10, 10], [4, 0, 10, 10], [8, 0, 10, 10], [8, 0, 10, 10]], dtype=float)
    leader = np.empty(4, dtype=np.int32)
    kernels.suppress(boxes, 0.5, True, leader)  # 0.6, 0.2 and 0.2 of the smaller box, with the first one
    assert leader.tolist() == [0, 0, 2, 2]
    kernels.suppress(boxes, 0.6, True, leader)
    assert leader.tolist() == [0, 1, 2, 2]
    kernels.suppress(boxes, 0.5, False, leader)  # 0.43 and 0.11 of the union
    assert leader.tolist() == [0, 1, 2, 2]


@given(seed=seeds, n=counts, g=st.integers(0, 5), i=st.integers(0, 3), overlap=limits)
@quick
def test_match(seed, n, g, i, overlap):
    detections, truth, ignore = draw_boxes(seed, n, scores=True), draw_boxes(seed + 1, g), draw_boxes(seed + 2, i)
    best_first = np.argsort(-detections[:, 4], kind="stable")
    status, matched = np.full(n, 9, dtype=np.int8), np.zeros(g, dtype=np.uint8)
    kernels.match(detections[best_first], truth, ignore, overlap, status, matched)
    expected, found = reference.match(detections, truth, ignore, overlap)
    np.testing.assert_array_equal(status, expected[best_first])
    np.testing.assert_array_equal(matched, found)
    assert (status == 1).sum() == matched.sum()


PERSON, GROUP = [0, 0, 10, 20], [100, 0, 50, 20]


@pytest.mark.parametrize(
    ("detections", "truth", "ignore", "status", "matched"),
    [
        pytest.param([PERSON, PERSON], [PERSON], [], [1, 0], [1], id="a person is found once"),
        pytest.param([GROUP] * 3, [], [GROUP], [-1] * 3, [], id="a region takes any number"),
        pytest.param([PERSON], [PERSON, PERSON], [], [1], [0, 1], id="the later of equal people"),
        pytest.param([PERSON, PERSON], [PERSON], [PERSON], [1, -1], [1], id="people before regions"),
        pytest.param([[120, 5, 5, 10]], [], [GROUP], [-1], [], id="a region by the detection's area"),
        pytest.param([[0, 0, 20, 20]], [PERSON], [], [1], [1], id="half is enough"),
        pytest.param([[0, 0, 20.001, 20]], [PERSON], [], [0], [0], id="less than half is not"),
        pytest.param([[3, 3, 0, 5]], [[3, 3, 0, 5]], [[0, 0, 9, 9]], [0], [0], id="no area"),
        pytest.param([[-30, 0, 10, 20]], [[-30, 0, 10, 20]], [], [1], [1], id="outside of the image"),
    ],
)
def test_match_by_hand(detections, truth, ignore, status, matched):
    detections, truth, ignore = (np.array(b, dtype=float).reshape(-1, 4) for b in (detections, truth, ignore))
    out, found = np.empty(len(detections), dtype=np.int8), np.zeros(len(truth), dtype=np.uint8)
    kernels.match(detections, truth, ignore, 0.5, out, found)
    assert (out.tolist(), found.tolist()) == (status, matched)
