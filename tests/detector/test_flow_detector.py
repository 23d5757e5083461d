"""Detectors that look at motion: pairs of images in, and what each of them is refused for."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from paucens import AdaBoostClassifier, Tree
from paucens.datasets import DetectionRecord
from paucens.detector import PedestrianDetector, Window, cut_crops, positive_traces, train_detector
from paucens.detector.first_stage import FirstStage
from paucens.features import ChannelSpec, channel_pyramid, estimate_lambdas
from paucens.features.flow import dense_flow, flow_channels
from paucens.features.motion import flow_of, frame, mirrored, moving, resampled_flow, rgb_of
from paucens.images import resampled_part
from paucens.parallel import Threads

SPEC, FEW = ChannelSpec.parse("Flow+M+LUV"), ChannelSpec.parse("M+LUV")
WINDOW = Window((64, 32), (50.0, 20.5), 16)
HOW = {"window": WINDOW, "n_estimators": (8, 16), "n_negatives": 200, "most_negatives": 300}
BOOSTER = AdaBoostClassifier(learner=Tree(depth=2), shrinkage=0.1, random_state=0)


def street(seed, n_people=1, size=(120, 160)):
    """Draw noise in which upright rectangles move, and squares too; the flow to the image before is noisy."""
    rng = np.random.RandomState(seed)
    image, flow = rng.randint(256, size=(*size, 3)).astype(np.uint8), rng.normal(size=(*size, 2)).astype(np.float32)
    boxes = []
    for height in [60] * n_people + [20] * 3:
        x, y = rng.randint(10, size[1] - 40), rng.randint(5, size[0] - height - 5)
        flow[y : y + height, x : x + 24] += (-4, 0)
        boxes.append([x, y, 24, height])
    return DetectionRecord(image, boxes[:n_people], previous=flow)


@pytest.fixture(scope="module")
def records():
    return [street(seed) for seed in range(12)]


@pytest.fixture(scope="module")
def detector(records):
    return train_detector(spec=SPEC, classifier=BOOSTER, records=records, **HOW)


def is_found(detector, scene):
    """Tell whether the middle of the best box is on the person."""
    (x, y, w, h, _), (left, top, width, height) = (
        detector.detect(scene.image, previous=scene.previous, threshold=-20)[0],
        scene.boxes[0],
    )
    return left < x + w / 2 < left + width and top < y + h / 2 < top + height


def test_only_motion_tells_people_of_noise(detector):
    scenes = [street(seed) for seed in range(90, 96)]
    assert sum(is_found(detector, scene) for scene in scenes) >= 5
    still = [replace(scene, previous=0 * scene.previous) for scene in scenes]
    assert sum(is_found(detector, scene) for scene in still) <= 3


def test_channels_are_those_of_the_flow_and_of_the_spec_without_it():
    scene, spec = street(0), ChannelSpec.parse("Flow+spCov+M", preset="paper")
    assert spec.families == ("M", "spCov", "Flow") and spec.groups["Flow"] == slice(134, 152) and spec.has_flow
    channels = spec.compute(scene.image, scene.previous, n_jobs=2)
    np.testing.assert_array_equal(
        channels[..., :134], ChannelSpec.parse("M+spCov", preset="paper").compute(scene.image)
    )
    expected = np.empty((30, 40, 18), np.float32)
    flow_channels(scene.previous, Threads(1), expected)
    np.testing.assert_array_equal(channels[..., 134:], expected)
    assert len(spec.names) == len(spec.supports) == 152 and spec.supports[140].tolist() == [0, 8]
    released = ChannelSpec.parse("Flow", preset="release")
    assert released.supports[0].tolist() == [-4, 12]  # smoothed after pooling
    assert not np.array_equal(released.compute(scene.image, scene.previous), expected)


def test_pixels_outside_its_support_do_not_change_a_cell_of_flow():
    rng, spec = np.random.RandomState(0), ChannelSpec.parse("Flow", preset="release")
    image, (flow, other) = np.zeros((64, 64, 3), np.uint8), rng.normal(size=(2, 64, 64, 2)).astype(np.float32)
    first, last = spec.supports[0]
    inside = slice(32 + first, 32 + last)
    mixed = other.copy()
    mixed[inside, inside] = flow[inside, inside]
    whole, part = spec.compute(image, flow)[8, 8], spec.compute(image, mixed)[8, 8]
    np.testing.assert_allclose(part, whole, rtol=1e-5)
    assert not np.allclose(spec.compute(image, other)[8, 8], whole)


def test_an_image_before_is_the_flow_to_it():
    pytest.importorskip("cv2")
    scene = street(1)
    before = np.roll(scene.image, 2, axis=1)
    flow = dense_flow(scene.image, before)
    channels = SPEC.compute(scene.image, before)
    np.testing.assert_array_equal(SPEC.compute(scene.image, flow), channels)
    np.testing.assert_array_equal(SPEC.compute(scene.image / 255, before)[..., 4:], channels[..., 4:])


def test_a_level_has_the_flow_of_its_pixels():
    image, flow = np.zeros((64, 96, 3), np.uint8), np.broadcast_to(np.float32([6, -4]), (64, 96, 2))
    flow = np.where(np.arange(96)[:, None] < 48, 0, flow).astype(np.float32)
    spec = ChannelSpec.parse("Flow")
    levels = list(channel_pyramid(image, spec, previous=flow, per_octave=1, octaves_up=1, min_shape=(32, 32)))
    sums = [level.channels[:-1].sum(axis=1).mean(axis=0) for level in levels]  # the last row looks outside
    assert [level.shape for level in levels] == [(128, 192), (64, 96), (32, 48)]
    np.testing.assert_allclose(sums[0], 2 * sums[1], rtol=0.1, atol=1e-6)  # twice as far in twice as many pixels
    np.testing.assert_allclose(sums[2], sums[1] / 2, rtol=0.1, atol=1e-6)
    with pytest.raises(ValueError, match="Flow describe motion"):
        channel_pyramid(image, spec)


def test_a_mirrored_image_moves_the_other_way():
    rng = np.random.RandomState(0)
    pixels = moving(rng.randint(256, size=(9, 7, 3)).astype(np.uint8), rng.normal(size=(9, 7, 2)).astype(np.float32))
    twin = mirrored(pixels)
    np.testing.assert_array_equal(rgb_of(twin), rgb_of(pixels)[:, ::-1])
    np.testing.assert_array_equal(flow_of(twin), flow_of(pixels)[:, ::-1] * np.float32([-1, 1]))
    np.testing.assert_array_equal(mirrored(twin), pixels)
    assert rgb_of(pixels).dtype == np.uint8 and flow_of(rgb_of(pixels)) is None
    one = moving(np.zeros((3, 1, 3), np.uint8), np.ones((3, 1, 2), np.float32))
    assert mirrored(one)[0, 0, 3] == -1 and one[0, 0, 3] == 1  # not in place


def test_a_crop_has_the_flow_of_its_place(records):
    record = records[0]
    crops = cut_crops([record], WINDOW)
    ((crop, flow),) = crops
    np.testing.assert_array_equal(crop, cut_crops([replace(record, previous=None)], WINDOW)[0])
    assert flow.shape == (96, 64, 2) and flow.dtype == np.float32
    inner = flow[32:64, 26:38].mean(axis=(0, 1))
    np.testing.assert_allclose(inner, [-4 * 50 / 60, 0], atol=0.1)  # people of 60 pixels become 50 high
    whole = resampled_flow(record.previous, (0, 0, 160, 120), (60, 80))
    half = resampled_part(np.ascontiguousarray(record.previous[..., 0]), (0, 0, 160, 120), (60, 80)) / 2
    np.testing.assert_allclose(whole[..., 0], half, atol=1e-6)


def test_training_on_pairs_finds_what_training_on_records_does(records):
    crops, empty = cut_crops(records, WINDOW), [street(seed, 0).source for seed in range(40, 52)]
    one = train_detector(crops, empty, SPEC, BOOSTER, **HOW)
    assert sum(is_found(one, street(seed)) for seed in range(90, 96)) >= 5


def test_a_spec_without_flow_takes_the_image_of_a_pair(records):
    pairs, crops = [record.source for record in records], cut_crops(records, WINDOW)
    with_pairs = train_detector(crops, pairs, FEW, BOOSTER, **HOW)
    alone = train_detector([crop for crop, _ in crops], [image for image, _ in pairs], FEW, BOOSTER, **HOW)
    scene = street(97)
    found = [one.detect(scene.image, threshold=-9) for one in (with_pairs, alone)]
    np.testing.assert_array_equal(*found)
    np.testing.assert_array_equal(with_pairs.detect(scene.image, threshold=-9, previous=scene.previous), found[0])


def test_training_goes_on_from_its_checkpoint(detector, records, tmp_path):
    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_detector(
            spec=SPEC, classifier=BOOSTER, records=records, checkpoint=tmp_path / "unfinished", on_round=stop, **HOW
        )
    again = train_detector(spec=SPEC, classifier=BOOSTER, records=records, checkpoint=tmp_path / "unfinished", **HOW)
    scene = street(96)
    found = [one.detect(scene.image, threshold=-9, previous=scene.previous) for one in (again, detector)]
    np.testing.assert_array_equal(*found)
    moved = [replace(records[0], previous=2 * records[0].previous), *records[1:]]
    with pytest.raises(ValueError, match="positives"):
        train_detector(spec=SPEC, classifier=BOOSTER, records=moved, checkpoint=tmp_path / "unfinished", **HOW)


def test_a_file_keeps_the_scores(detector, tmp_path):
    detector.save(tmp_path / "model.npz")
    again, scene = PedestrianDetector.load(tmp_path / "model.npz"), street(95)
    assert again.spec == SPEC
    found = [one.detect(scene.image, threshold=-9, previous=scene.previous) for one in (again, detector)]
    np.testing.assert_array_equal(*found)


def test_neither_stages_nor_bands_nor_threads_change_scores(detector, monkeypatch):
    whole, scene = replace(detector, trees=detector.trees.without_rejection()), street(94, n_people=2)
    expected = whole.detect(scene.image, threshold=-9, previous=scene.previous)
    assert len(expected) > 5
    staged = replace(whole, first_stage=FirstStage(("LUV", "M")))
    for one, n_jobs in ((staged, 1), (staged, 2), (whole, 2)):
        found = one.detect(scene.image, threshold=-9, previous=scene.previous, n_jobs=n_jobs)
        np.testing.assert_array_equal(found, expected)
    monkeypatch.setattr("paucens.detector.scan.BAND_BYTES", 1)
    np.testing.assert_array_equal(whole.detect(scene.image, threshold=-9, previous=scene.previous), expected)


def test_everything_that_takes_images_takes_pairs(detector, records):
    pairs, crops = [street(seed, 0).source for seed in range(50, 53)], cut_crops(records[:3], WINDOW)
    assert np.isfinite(detector.threshold_at_fppi(pairs, 1))
    assert set(estimate_lambdas(pairs, SPEC, per_octave=2, n_octaves=1)) == {"LUV", "M", "Flow"}
    assert detector.approximated(pairs).lambdas.keys() == {"LUV", "M", "Flow"}
    (image, flow), fast = pairs[0], detector.approximated(pairs)
    assert fast.detect(image, previous=flow, threshold=-9).shape[1] == 5
    assert positive_traces(detector, crops, least_score=-20).shape == detector.trees.rejection.shape


# -- what is refused -------------------------------------------------------------------------------


def test_without_previous_a_detector_says_what_it_needs(detector, records):
    with pytest.raises(ValueError, match=r"one image has none of. Give the image before.*previous="):
        detector.detect(records[0].image)
    with pytest.raises(ValueError, match=r"images\[0\]: The channels of Flow describe motion"):
        detector.threshold_at_fppi([records[0].image], 1)
    with pytest.raises(ValueError, match="Flow describe motion"):
        SPEC.compute(records[0].image)
    with pytest.raises(ValueError, match=r"positives\[1\] is no pair of images, but LUV\+M\+Flow \(robust\) describes"):
        crops = cut_crops(records[:2], WINDOW)
        train_detector([crops[0], crops[1][0]], [record.source for record in records], SPEC, BOOSTER, **HOW)
    with pytest.raises(ValueError, match=r"is no pair of images, but LUV\+M\+Flow \(robust\) describes motion"):
        train_detector(spec=SPEC, classifier=BOOSTER, records=[replace(one, previous=None) for one in records], **HOW)


@pytest.mark.parametrize(
    "previous", [np.zeros((119, 160, 2), np.float32), np.zeros((120, 160, 2), int), np.full((120, 160, 2), np.nan)]
)
def test_flow_that_does_not_fit(detector, records, previous):
    with pytest.raises(ValueError, match=r"expected floats without nan, a displacement.* for each of 120 x 160 pixels"):
        detector.detect(records[0].image, previous=previous)


def test_an_image_before_of_another_size(detector, records):
    pytest.importorskip("cv2")
    with pytest.raises(ValueError, match="have 120 x 160 and 118 x 160 pixels; expected the same size"):
        detector.detect(records[0].image, previous=records[0].image[2:])


def test_without_opencv_a_flow_still_does(detector, records, monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    image, flow = records[0].source
    assert detector.detect(image, previous=flow, threshold=-9).shape[1] == 5
    with pytest.raises(ImportError, match=r"OpenCV is not installed; run pip install 'paucens\[opencv\]'"):
        detector.detect(image, previous=image)


def test_flow_is_for_cells_of_four_pixels():
    small = replace(SPEC.preset, name="small", cell=2, families=("LUV", "M", "O"))
    with pytest.raises(ValueError, match="of the preset 'small' are LUV, M, O, joined"):
        ChannelSpec.parse("LUV+Flow", preset=small)
    assert ChannelSpec.parse("LUV+Flow", preset="acf").families == ("LUV", "Flow")


def test_pixels_of_a_still_image_stay_bytes():
    image = np.zeros((20, 24, 3), np.uint8)
    assert frame(FEW, image) is image
