"""Rendered streets: the same for one seed, boxes that are exact, people who are hidden, crops like INRIA's."""

import numpy as np
import pytest

from paucens.datasets import DetectionRecord, street_crops, synthetic_streets
from paucens.datasets.streets import _scene
from paucens.datasets.streets._people import person
from paucens.datasets.streets._shapes import Canvas, box, ellipse, extent, limb, placed
from paucens.datasets.streets._things import KINDS
from paucens.detector import Window

SMALL = (120, 160)


def same(one, other):
    assert one.image.tobytes() == other.image.tobytes()
    assert one.boxes.tolist() == other.boxes.tolist() and one.ignore.tolist() == other.ignore.tolist()


def test_scene_k_depends_on_the_seed_and_k_only():
    three, five = synthetic_streets(3, 7, size=SMALL), synthetic_streets(5, 7, size=SMALL)
    for one, other in zip(three, five, strict=False):
        same(one, other)
    images = {record.image.tobytes() for record in five + synthetic_streets(5, 8, size=SMALL)}
    assert len(images) == 10


def test_the_stream_is_frozen():
    """Published numbers depend on these scenes: a change of the draws or their order shows here."""
    records = synthetic_streets(3, 1, size=SMALL)
    boxes = np.concatenate([record.boxes for record in records])
    np.testing.assert_allclose(boxes[:2], [[81, 44.5, 16, 47.5], [26.5, 36.5, 13, 22.5]], atol=0.5)
    means = [record.image.mean() for record in records]
    np.testing.assert_allclose(means, [126.59, 96.1, 78.11], atol=0.2)


def test_images_and_boxes_have_the_form_of_a_record():
    records = synthetic_streets(12, 0)
    assert {(record.image.shape, record.image.dtype.name) for record in records} == {((480, 640, 3), "uint8")}
    boxes = np.concatenate([record.boxes for record in records])
    assert 12 <= len(boxes) <= 60 and sum(len(record.ignore) for record in records) >= 3
    assert boxes[:, 3].min() >= 0.85 * 60 and boxes[:, 3].max() <= 1.12 * 0.42 * 480
    aspect = boxes[:, 2] / boxes[:, 3]
    assert aspect.min() > 0.15 and aspect.max() < 0.85 and 0.3 < np.median(aspect) < 0.5
    assert np.array_equal(boxes, np.rint(2 * boxes) / 2)  # the canvas is exact to half a pixel


def test_without_people_the_street_stays_as_it_is():
    for full, empty in zip(synthetic_streets(4, 3), synthetic_streets(4, 3, people=False), strict=True):
        assert len(empty.boxes) == len(empty.ignore) == 0
        changed = (full.image != empty.image).any(axis=2)
        around = np.zeros_like(changed)
        for x, y, w, h in np.concatenate([full.boxes, full.ignore]).astype(int):
            around[max(y - 5, 0) : y + int(1.1 * h) + 10, max(x - w // 2 - 5, 0) : x + 3 * w // 2 + 5] = True
        assert changed.any() and not changed[~around].any()  # a shadow and the blur reach a little farther


def test_a_box_is_the_hull_of_what_the_figure_paints():
    rng = np.random.RandomState(0)
    for _ in range(20):
        shapes = placed(person(rng), 60.3, 110.8, 100)
        canvas = Canvas(120, 120)
        canvas.paint(shapes, 9)
        rows, columns = np.nonzero(np.asarray(canvas.labels) == 9)
        low, high = [columns.min(), rows.min()], [columns.max() + 1, rows.max() + 1]
        whole, area = extent(shapes)
        assert whole.tolist() == [low[0] / 2, low[1] / 2, (high[0] - low[0]) / 2, (high[1] - low[1]) / 2]
        assert area == len(rows)


def test_people_hidden_by_more_than_a_third_are_to_be_ignored():
    figure = [box(10, 10, 20, 50, (9, 9, 9))]
    for hidden, expected in ((0, 1), (13, 1), (15, 0), (45, 0)):
        standing = [(50, figure, True), (60, [box(0, 50.5 - hidden, 60, 60, (1, 1, 1))], False)]
        canvas = Canvas(80, 80)
        for label, (_, shapes, _) in enumerate(standing, _scene.FIRST):
            canvas.paint(shapes, label)
        boxes, ignore = _scene._truth(canvas, standing)
        assert (len(boxes), len(ignore)) == (expected, 1 - expected)
        np.testing.assert_allclose((boxes or ignore)[0], [10, 10, 10.5, 40.5])


def test_the_border_of_the_image_hides_too():
    figure = [box(-6, 10, 4, 50, (9, 9, 9))]
    canvas = Canvas(80, 80)
    canvas.paint(figure, _scene.FIRST)
    boxes, ignore = _scene._truth(canvas, [(50, figure, True)])
    assert not boxes and ignore[0].tolist() == [-6, 10, 10.5, 40.5]


def test_shapes_reach_from_start_to_end():
    points = limb((0, 0), (0, 10), 2, 1, (0, 0, 0)).points
    assert points.min(axis=0).tolist() == pytest.approx([-2, -2]) and points[:, 1].max() == pytest.approx(11)
    points = ellipse(5, 5, 3, 2, (0, 0, 0)).points
    assert points.min(axis=0).tolist() == pytest.approx([2, 3]) and points.max(axis=0).tolist() == pytest.approx([8, 7])


@pytest.mark.parametrize("kind", sorted(set(KINDS), key=KINDS.index))
def test_things_stand_on_the_ground_and_have_their_size(kind):
    for seed in range(5):
        corners = np.concatenate([shape.points for shape in kind(np.random.RandomState(seed))])
        low, high = corners.min(axis=0), corners.max(axis=0)
        assert abs(high[1]) < 0.11 and -3.2 < low[1] < -0.3 and high[0] - low[0] < 3


def test_crops_hold_a_person_in_the_middle():
    image = np.full((300, 300, 3), 200, dtype=np.uint8)
    image[40:232, 100:180] = 10  # 192 high
    record = DetectionRecord(image, [[100, 40, 80, 192], [100, 40, 80, 96]])
    crops = street_crops([record, DetectionRecord(image)], 96)
    assert crops.shape == (2, 160, 96, 3) and crops.dtype == np.uint8
    rows, columns = np.nonzero(crops[0, ..., 0] < 105)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (32, 127, 28, 67)
    assert street_crops([]).shape == (0, 160, 96, 3)
    with pytest.raises(ValueError, match=r"height must be .* at most 160; got 161"):
        street_crops([record], 161)


def test_a_person_in_a_crop_is_as_high_as_the_target_of_a_window():
    """A detector that learns from the crops has boxes that fit."""
    image = np.full((400, 300, 3), 200, dtype=np.uint8)
    image[100:300, 100:182] = 10
    (crop,) = street_crops([DetectionRecord(image, [[100, 100, 82, 200]])])
    dark = np.flatnonzero(crop[:, 48, 0] < 105)
    assert dark.tolist() == list(range(dark[0], dark[0] + int(Window().target[0])))


def test_crops_beyond_the_image_repeat_its_edge():
    image = np.tile(np.arange(100, dtype=np.uint8)[:, None, None], (1, 100, 3))
    for x, y in ((-30, -20), (90, 60)):
        (crop,) = street_crops([DetectionRecord(image, [[x, y, 40, 96]])], 96)
        expected = np.clip(np.arange(y - 32, y + 128), 0, 99)
        np.testing.assert_array_equal(crop, np.broadcast_to(expected[:, None, None], crop.shape))


@pytest.mark.parametrize("image", ["street.png", np.zeros((200, 300), dtype=np.uint8), np.zeros((200, 300, 3))])
def test_crops_are_of_pixels(image):
    with pytest.raises(TypeError, match=r"records\[0\] must be pixels, RGB uint8"):
        street_crops([DetectionRecord(image, [[10, 10, 40, 96]])])


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"n": 0}, ValueError),
        ({"n": 2.0}, TypeError),
        ({"n": 1, "seed": -1}, ValueError),
        ({"n": 1, "size": (119, 640)}, ValueError),
        ({"n": 1, "size": (480, 640.0)}, TypeError),
        ({"n": 1, "size": 240}, TypeError),
    ],
)
def test_parameters_out_of_range(arguments, error):
    with pytest.raises(error, match=r"(n|seed|size) (==|must be)"):
        synthetic_streets(**arguments)


def test_every_size_can_be_drawn():
    for size in ((120, 120), (121, 333), (400, 150)):
        assert synthetic_streets(1, size=size)[0].image.shape == (*size, 3)
