"""Streets in motion: the true flow is what the pictures show, and frames depend on nothing but the seed."""

import numpy as np
import pytest
from scipy.ndimage import map_coordinates, maximum_filter, minimum_filter, uniform_filter

from paucens.datasets import DetectionRecord, street_sequences, synthetic_streets
from paucens.datasets.streets._sequence import Camera

SMALL = (120, 160)


@pytest.fixture(scope="module")
def sequence():
    return street_sequences(1, n_frames=2, seed=3, size=(240, 320))[0]


def test_frames_and_flows_belong_together(sequence):
    records, flows = sequence
    assert len(records) == len(flows) == 2 and records[1].previous is records[0].image
    for record, flow in zip(records, flows, strict=True):
        assert isinstance(record, DetectionRecord) and record.previous.shape == record.image.shape == (240, 320, 3)
        assert flow.shape == (240, 320, 2) and flow.dtype == np.float32 and np.isfinite(flow).all()
        assert len(record.boxes) >= 1 and not np.array_equal(record.image, record.previous)


def test_the_flow_leads_to_the_same_colours(sequence):
    """Followed back, nearly all of what moves has the colour it had; unmoved, much less of it. Noise is averaged."""
    for record, flow in zip(*sequence, strict=True):
        image, before = (
            uniform_filter(np.asarray(pixels, dtype=float).mean(axis=2), 5)
            for pixels in (record.image, record.previous)
        )
        places = np.indices(image.shape) + np.moveaxis(flow, 2, 0)[::-1]
        followed = np.abs(image - map_coordinates(before, places, order=1, mode="nearest"))
        speed = np.hypot(*np.moveaxis(flow, 2, 0))
        moves = (speed > 1.5) & (maximum_filter(speed, 9) - minimum_filter(speed, 9) < 2)  # nothing appears nearby
        assert moves.sum() > 200
        assert (followed[moves] > 10).mean() < 0.5 * (np.abs(image - before)[moves] > 10).mean()


def test_dense_flow_finds_it(sequence):
    pytest.importorskip("cv2")
    from paucens.features import dense_flow

    for record, flow in zip(*sequence, strict=True):
        error = np.hypot(*np.moveaxis(dense_flow(record.image, record.previous) - flow, 2, 0))
        assert np.median(error) < 0.6


def test_boxes_move_with_people(sequence):
    """What the flow is at the middle of a trunk, its box does too, but for limbs."""
    first, second = sequence.records
    for x, y, w, h in second.boxes:
        back = sequence.flows[1][int(y + 0.35 * h), min(int(x + w / 2), 319)]
        there = np.array([x + w / 2, y + h / 2]) + back
        centres = first.boxes[:, :2] + first.boxes[:, 2:] / 2
        assert np.abs(centres - there).max(axis=1).min() < 5


def test_a_frame_depends_on_the_seed_and_its_numbers_only():
    few, many = street_sequences(1, 1, 7, size=SMALL), street_sequences(2, 3, 7, size=SMALL)
    np.testing.assert_array_equal(few[0].records[0].image, many[0].records[0].image)
    np.testing.assert_array_equal(few[0].flows[0], many[0].flows[0])
    assert few[0].records[0].boxes.tolist() == many[0].records[0].boxes.tolist()
    images = {record.image.tobytes() for sequence in many for record in sequence.records}
    assert len(images) == 6


def test_without_people_the_street_stays_as_it_is():
    (full,), (empty,) = (street_sequences(1, 1, 5, people=people, size=SMALL) for people in (True, False))
    assert len(empty.records[0].boxes) == len(empty.records[0].ignore) == 0
    same = (full.records[0].image == empty.records[0].image).all(axis=2)
    np.testing.assert_array_equal(full.flows[0][same].round(3), empty.flows[0][same].round(3))
    assert 0.3 < same.mean() < 1


def test_a_sequence_shows_the_street_of_its_scene():
    scene = synthetic_streets(1, 9, size=SMALL)[0]
    record = street_sequences(1, 1, 9, size=SMALL)[0].records[0]
    np.testing.assert_allclose(record.boxes, scene.boxes, atol=0.6)
    assert np.abs(record.image.astype(int) - scene.image).mean() < 12  # but for noise and what goes on at the sides


def test_no_frame_shows_what_is_beyond_the_world():
    """Sky and ground fill the picture however the camera moves: nothing stays black."""
    for seed in range(3):
        (sequence,) = street_sequences(1, 30, seed, people=False, size=SMALL)
        for record in sequence.records[::10] + sequence.records[-1:]:
            assert record.image.max(axis=2).min() > 8


def test_the_ground_is_where_the_camera_sees_it():
    camera = Camera(np.array([80.0, 40.0]), 0.9, 2e-4, 0.01, np.array([0.5, -0.1]))
    points = np.random.RandomState(0).uniform((0, 45), (160, 120), size=(50, 2))
    seen = camera.seen(points, camera.unit_on_ground(points), 7)
    np.testing.assert_allclose(camera.on_ground(seen, 7), points, atol=1e-9)
    foot = points[0]
    upright = camera.seen(foot - (0, 10), camera.unit_on_ground(foot), 7)
    assert seen[0, 0] == pytest.approx(upright[0]) and upright[1] < seen[0, 1] - 10  # people stand on it, and grow


@pytest.mark.parametrize(
    ("arguments", "error"),
    [({"n": 0}, ValueError), ({"n_frames": 0}, ValueError), ({"n_frames": 31}, ValueError), ({"size": 120}, TypeError)],
)
def test_wrong_numbers(arguments, error):
    with pytest.raises(error):
        street_sequences(**{"n": 1} | arguments)
