"""Searching with detectors, their files, and large images, on rendered streets."""

import json
import tracemalloc
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from street_detector import SIZE, SPEC, assert_same, booster, train

from paucens import parallel, persistence
from paucens.datasets import synthetic_streets
from paucens.detector import PedestrianDetector, non_maximum_suppression, scan, train_detector
from paucens.features import ChannelSpec, motion, spec
from paucens.parallel import ALONE

# -- searching -------------------------------------------------------------------------------------


def test_boxes_are_sorted_and_lie_where_windows_are(detector, scene):
    boxes = detector.detect(scene, threshold=-5)
    assert boxes.dtype == np.float64 and boxes.shape[1] == 5 and len(boxes) > 1
    assert (np.diff(boxes[:, 4]) <= 0).all() and (boxes[:, 4] > -5).all()
    np.testing.assert_allclose(boxes[:, 2] / boxes[:, 3], 0.41, rtol=0.03)
    assert (boxes[:, 3] >= 99).all()


def test_a_shift_by_a_cell_shifts_the_boxes(detector, scene):
    """Away from the border of the image."""
    large = detector.detect(scene, threshold=-np.inf, max_height=101)
    shifted = detector.detect(np.roll(scene, (4, 8), axis=(0, 1)), threshold=-np.inf, max_height=101)
    inside = large[(large[:, 0] > 60) & (large[:, 0] < 500) & (large[:, 1] > 60) & (large[:, 1] < 300)]
    assert len(inside) > 3
    for box in inside[:20]:
        assert np.abs(shifted - (box + np.array([8, 4, 0, 0, 0]))).max(axis=1).min() < 1e-3


def test_threads_and_bands_change_no_box(detector, scene, monkeypatch):
    boxes = detector.detect(scene, threshold=-2)
    np.testing.assert_array_equal(detector.detect(scene, threshold=-2, n_jobs=2), boxes)
    for limit in (300_000, 3_000_000):  # a band is a part of a level, or some levels take no more than one band
        monkeypatch.setattr(scan, "BAND_BYTES", limit)
        in_bands = detector.detect(scene, threshold=-2)
        np.testing.assert_allclose(in_bands, boxes, atol=1e-3)
        np.testing.assert_array_equal(detector.detect(scene, threshold=-2, n_jobs=2), in_bands)


def test_one_search_one_check_and_one_pool(streets, monkeypatch):
    """An image of 480 x 640 is checked once, at the door, and all levels share a search and its threads."""
    model, calls = train(streets, n_estimators=(4,), scales=8), Counter()

    def counted(module, name):
        original = getattr(module, name)

        def call(*args, **named):
            calls[name] += 1
            return original(*args, **named)

        monkeypatch.setattr(module, name, call)

    counted(motion, "as_bytes")
    counted(spec, "as_rgb")
    counted(scan.Search, "__post_init__")
    counted(parallel, "ThreadPoolExecutor")
    image = np.zeros((480, 640, 3), dtype=np.uint8)
    model.detect(image, n_jobs=2)
    assert calls == {"as_bytes": 1, "ThreadPoolExecutor": 1}
    fast = model.approximated([image[:128, :128]])
    calls.clear()
    fast.detect(image, n_jobs=2)
    assert calls == {"as_bytes": 1, "ThreadPoolExecutor": 1}


def test_windows_may_be_kept_inside_the_image(detector, scene):
    """They are the windows that do not leave it, with the same scores apart from the border that others see."""
    inside = replace(detector, search=replace(detector.search, window=replace(detector.window, inside=True)))
    assert inside.window.overhang == (0, 0) and inside.window.padding == (16, 16)
    rgb, (level, *_) = scene, detector.search.levels(scene.shape[:2])
    all_boxes, boxes = (model.candidates(rgb, [level], -np.inf, ALONE)[0] for model in (detector, inside))
    height, width = level.shape
    assert len(boxes) and inside.window.grid_shape(level.shape) == ((height - 128) // 4 + 1, (width - 64) // 4 + 1)
    margin_x, margin_y = (64 - 41) / 2, (128 - 100) / 2
    assert boxes[:, 0].min() >= margin_x and boxes[:, 1].min() >= margin_y
    assert (boxes[:, 0] + boxes[:, 2]).max() <= width - margin_x and (
        boxes[:, 1] + boxes[:, 3]
    ).max() <= height - margin_y
    known = {tuple(box) for box in all_boxes.round(3).tolist()}
    assert np.mean([tuple(box) in known for box in boxes.round(3).tolist()]) > 0.8


def test_images_smaller_than_windows_that_stay_inside(detector):
    inside = replace(detector, search=replace(detector.search, window=replace(detector.window, inside=True)))
    assert inside.detect(np.zeros((120, 60, 3), dtype=np.uint8), threshold=-np.inf).shape == (0, 5)


def test_exponents_of_channels_are_checked(detector):
    with pytest.raises(ValueError, match=r"lambdas\['M'\] must be a number in \[-10, 10\]; got inf"):
        replace(detector.search, lambdas={"LUV": 0, "M": np.inf, "O": 0})


def test_without_rejection_every_window_has_a_score(detector, scene):
    whole = replace(detector, trees=detector.trees.without_rejection())
    found, expected = (
        {
            tuple(box[:4]): box[4]
            for box in model.candidates(scene, model.search.levels(scene.shape[:2]), -np.inf, ALONE)[0]
        }
        for model in (whole, detector)
    )
    assert len(found) == sum(
        np.prod(detector.window.grid_shape(level.shape)) for level in detector.search.levels(scene.shape[:2])
    )
    assert all(found[box] == score for box, score in expected.items())


def test_kinds_of_images(detector, scene):
    boxes = detector.detect(scene, threshold=-3)
    np.testing.assert_array_equal(detector.detect(Image.fromarray(scene), threshold=-3), boxes)
    for floats in (scene / 255, scene / np.float32(255)):
        np.testing.assert_array_equal(detector.detect(floats, threshold=-3), boxes)
    grey = detector.detect(scene[..., 0], threshold=-3)
    np.testing.assert_array_equal(detector.detect(scene[..., 0] / 255, threshold=-3), grey)
    np.testing.assert_array_equal(detector.detect(Image.fromarray(scene[..., 0]), threshold=-3), grey)
    assert len(boxes) > 0 and len(grey) > 0


@pytest.mark.parametrize("shape", [(1, 1), (20, 500), (99, 41), (500, 20)])
def test_images_smaller_than_the_object(detector, shape):
    assert detector.detect(np.zeros((*shape, 3), dtype=np.uint8), threshold=-np.inf).shape == (0, 5)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros((480, 640, 4), dtype=np.uint8), "4 values per pixel"),
        (np.zeros((480, 640), dtype=np.uint16), "uint16"),
        (Image.new("CMYK", (640, 480)), "CMYK"),
        (Image.new("P", (640, 480)), "mode P"),
        ("street.png", "Expected an image"),
    ],
)
def test_other_objects_than_images_are_refused(detector, image, message):
    with pytest.raises(ValueError, match=message):
        detector.detect(image)


def test_heights(detector, scene):
    all_boxes = detector.detect(scene, threshold=-np.inf)
    low = detector.detect(scene, threshold=-np.inf, min_height=60)
    assert low[:, 3].min() < 65 and low[:, 3].min() >= 60
    assert detector.detect(scene, threshold=-np.inf, max_height=150)[:, 3].max() <= 150 < all_boxes[:, 3].max()
    for bad in (0, -5, np.nan, "60"):
        with pytest.raises(ValueError, match="min_height must be a finite number"):
            detector.detect(scene, min_height=bad)
    for bad in ({"max_height": 99}, {"min_height": 300, "max_height": 200}):
        with pytest.raises(
            ValueError, match=r"max_height is \d+, but only people of \d+ pixels and more are searched for"
        ):
            detector.detect(scene, **bad)
    with pytest.raises(ValueError, match=r"min_height=1 enlarges the image to 64000 x 48000 pixels; at most 400"):
        detector.detect(scene, min_height=1)
    with pytest.raises(ValueError, match=r"enlarges the image to inf x inf pixels"):
        detector.detect(scene, min_height=5e-324)
    for bad in (np.nan, "0"):
        with pytest.raises(ValueError, match="threshold must be a number, not nan"):
            detector.detect(scene, threshold=bad)


def test_the_score_is_that_of_the_ensemble(streets):
    """If a crop is searched as an image, the window in its middle has the score of its features."""
    model = train(streets, n_estimators=(16,))
    crop = streets[0][3]
    search = model.search
    value = search.scores(search.crop(crop, ALONE), model.trees, ALONE)
    (level,) = [level for level in search.levels(crop.shape[:2]) if level.shape == (160, 96)]
    ((_, band),) = search.bands(crop, [level], ALONE)
    scores = search.scores(band, model.trees, ALONE)
    assert scores[8, 7] == pytest.approx(value[0, 0], abs=1e-4)
    boxes = model.window.boxes(np.array([[8, 7]]), level.ratio)
    np.testing.assert_allclose(boxes, [[27.5, 30, 41, 100]])


def test_approximated_levels_find_nearly_the_same(detector, scene, tmp_path):
    faster = detector.approximated([record.image for record in synthetic_streets(3, seed=8, size=SIZE)])
    exact, boxes = (model.detect(scene, threshold=-np.inf) for model in (detector, faster))
    best = non_maximum_suppression(exact)[:5]
    for box in best:
        near = boxes[np.abs(boxes[:, :4] - box[:4]).max(axis=1) < 25]
        assert len(near) and abs(near[:, 4].max() - box[4]) < 3
    whole, computed = (scores_of_first_level(model, scene) for model in (faster, detector))  # computed by both
    np.testing.assert_allclose(whole[8:-8, 8:-8], computed[8:-8, 8:-8], atol=1e-4)
    faster.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(PedestrianDetector.load(tmp_path / "model.npz").detect(scene), faster.detect(scene))


def scores_of_first_level(model, rgb):
    """Score the windows of an image at its own size."""
    _, band = next(model.search.bands(rgb, model.search.levels(rgb.shape[:2]), ALONE))
    return model.search.scores(band, model.trees, ALONE)


def test_threshold_for_false_positives(detector, streets):
    threshold = detector.threshold_at_fppi(streets[1], 0.5)
    above, with_it = (
        sum(len(detector.detect(image, threshold=score)) for image in streets[1])
        for score in (threshold, threshold - 1e-6)
    )
    assert above <= 5 < with_it  # a few trees give many equal scores
    with pytest.raises(ValueError, match=r"10 images are too few to measure 0\.05 false positives per image; give 20"):
        detector.threshold_at_fppi(streets[1], 0.05)
    with pytest.raises(ValueError, match="images must be a list of images"):
        detector.threshold_at_fppi(streets[1][0], 1)
    with pytest.raises(ValueError, match="No window of 2 images gets through all trees"):
        detector.threshold_at_fppi([np.zeros((50, 20, 3), dtype=np.uint8)] * 2, 1)
    (image,) = streets[1][:1]
    lowest = detector.detect(image, threshold=-np.inf)[-1, 4]
    assert detector.threshold_at_fppi([image], 10_000) == lowest  # fewer than allowed
    assert len(detector.detect(image, threshold=lowest)) < len(detector.detect(image, threshold=-np.inf))


# -- suppression -----------------------------------------------------------------------------------


def test_suppression():
    boxes = [[0, 0, 10, 20, 1.0], [1, 0, 10, 20, 3.0], [30, 0, 10, 20, 2.0], [1, 0, 5, 10, 0.5]]
    assert non_maximum_suppression(boxes)[:, 4].tolist() == [3.0, 2.0]
    assert non_maximum_suppression(boxes, denominator="union")[:, 4].tolist() == [3.0, 2.0, 0.5]
    assert non_maximum_suppression(boxes, overlap=1)[:, 4].tolist() == [3.0, 2.0, 1.0, 0.5]
    assert non_maximum_suppression(np.empty((0, 5))).shape == non_maximum_suppression([]).shape == (0, 5)
    for bad in ([[0, 0, 1, 1]], [[0, 0, -1, 1, 0]], [[0, 0, 1, 1, np.nan]]):
        with pytest.raises(ValueError, match="boxes must be rows x, y, w, h, score"):
            non_maximum_suppression(bad)


# -- files -----------------------------------------------------------------------------------------


def test_files(detector, scene, tmp_path):
    detector.threshold = -1.5
    detector.save(tmp_path / "model.npz")
    again = PedestrianDetector.load(tmp_path / "model.npz")
    assert_same(again, detector)
    assert again.threshold == -1.5 and str(again.spec) == str(SPEC) and again.window == detector.window
    np.testing.assert_array_equal(again.detect(scene), detector.detect(scene))
    assert "24 trees" in repr(again)


def test_a_varied_preset_is_saved_with_the_detector(streets, scene, tmp_path):
    robust = ChannelSpec.parse("LUV+spCov").preset
    varied = replace(robust, name="robust", covariance=replace(robust.covariance, patch_sizes=(4, 8)))
    spec = ChannelSpec.parse("LUV+spCov", preset=varied)
    model = train_detector(*streets, spec, booster(), n_estimators=(4,), n_negatives=60, most_negatives=100, scales=2)
    model.save(tmp_path / "model.npz")
    again = PedestrianDetector.load(tmp_path / "model.npz")
    assert_same(again, model)
    assert again.spec == spec and again.search == model.search
    np.testing.assert_array_equal(again.detect(scene, threshold=-np.inf), model.detect(scene, threshold=-np.inf))


def test_standard_presets_are_saved_by_name(detector, tmp_path):
    header, arrays = parts_of_file(detector, tmp_path)
    assert header["spec"] == {"families": "LUV+M+O", "preset": "robust"}
    del header["window"]["inside"]  # as version 0.1 wrote it
    persistence.save(tmp_path / "old.npz", header, arrays)
    assert PedestrianDetector.load(tmp_path / "old.npz").search == detector.search


@pytest.mark.parametrize(
    ("name", "spoil", "message"),
    [
        ("place", lambda a: a + 1000, "row"),
        ("child", lambda a: -a, "own ancestor"),
        ("child", lambda a: a + 100, "outside its tree|own ancestor"),
        ("first", lambda a: a[::-1].copy(), "follow each other"),
        ("threshold", lambda a: a * np.float32(np.nan), "nan"),
        ("value", lambda a: a[1:], "shape"),
        ("value", lambda a: a.astype(np.float64), "float64"),
    ],
)
def test_tampered_files(detector, name, spoil, message, tmp_path):
    header, arrays = parts_of_file(detector, tmp_path)
    arrays[name] = spoil(arrays[name])
    persistence.save(tmp_path / "bad.npz", header, arrays)
    with pytest.raises(ValueError, match=message):
        PedestrianDetector.load(tmp_path / "bad.npz")


def parts_of_file(detector, folder):
    detector.save(folder / "model.npz")
    header, arrays = persistence.load(folder / "model.npz", "PedestrianDetector")
    return {key: value for key, value in header.items() if key not in ("format", "format_version")}, arrays


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"window": {"shape": [128, 64], "target": [100, 41], "margin": -8}}, "margin of a window"),
        ({"window": {"shape": [128, 64], "target": "ab", "margin": 16}}, "target of a window"),
        ({"window": {"shape": [64, 64], "target": [50, 41], "margin": 16}}, "row"),
        ({"window": 3}, "not a complete PedestrianDetector"),
        ({"spec": {"families": "LUV+M+O", "preset": "best"}}, "preset must be one of acf, paper"),
        ({"spec": {"families": "LUV+M+O", "preset": {"name": "varied"}}}, "PedestrianDetector: 'covariance'"),
        ({"scales": 10**9}, "scales must be an integer, from 1 to 64"),
        ({"smooth": 2}, "smooth must be a finite number"),
        ({"threshold": "nan"}, "threshold must be a number"),
        ({"lambdas": {}}, "lambdas must hold a number for each of"),
        ({"lambdas": {"M": 0.1, "O": "x", "LUV": 0}}, r"lambdas\['O'\] must be a number"),
    ],
)
def test_tampered_settings(detector, changes, message, tmp_path):
    header, arrays = parts_of_file(detector, tmp_path)
    persistence.save(tmp_path / "bad.npz", header | changes, arrays)
    with pytest.raises(ValueError, match=message):
        PedestrianDetector.load(tmp_path / "bad.npz")


def test_incomplete_files(detector, tmp_path):
    persistence.save(tmp_path / "bad.npz", {"kind": "PedestrianDetector"}, {"first": np.arange(3)})
    with pytest.raises(ValueError, match="is not a complete PedestrianDetector"):
        PedestrianDetector.load(tmp_path / "bad.npz")
    (tmp_path / "worse.npz").write_text(json.dumps({}))
    with pytest.raises(ValueError, match=r"worse\.npz"):
        PedestrianDetector.load(tmp_path / "worse.npz")


# -- large images ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_memory_is_that_of_a_band(n_jobs, detector, monkeypatch):
    """Beside the image: its padded copy at the size that is searched, and three times the channels of a band."""
    monkeypatch.setattr(scan, "BAND_BYTES", 4_000_000)
    image = np.random.default_rng(0).integers(256, size=(1600, 1200, 3)).astype(np.uint8)
    detector.detect(image[:200, :200])
    tracemalloc.start()
    detector.detect(image, threshold=np.inf, n_jobs=n_jobs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    padded = (1600 + 64) * (1200 + 56) * 3
    assert peak <= 2 * padded + 3 * 4_000_000 + 3_000_000


@pytest.mark.slow
def test_a_hundred_megapixels(detector):
    boxes = detector.detect(np.zeros((10_000, 10_000, 3), dtype=np.uint8), threshold=np.inf)
    assert boxes.shape == (0, 5)
