"""Interrupted training, searching, files and error messages of the detector, on rendered streets."""

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
import tracemalloc
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from paucens import AdaBoostClassifier, AsymBoostClassifier, Linear, PAUCEnsClassifier, Tree, parallel, persistence
from paucens.base import checkpoint
from paucens.datasets import street_crops, synthetic_streets
from paucens.detector import PedestrianDetector, Window, cache, non_maximum_suppression, samples, scan, train_detector
from paucens.detector.training import hard_threshold
from paucens.detector.window_sampler import WindowSampler
from paucens.evaluation import log_average_miss_rate, miss_rate_curve, prepare_images
from paucens.features import ChannelSpec, motion, spec
from paucens.parallel import Threads

HERE = Path(__file__).parent
SPEC = ChannelSpec.parse("M+O+LUV")
SIZE = (240, 320)


def booster(**parameters):
    learner = Tree(depth=3, column_fraction=1 / 4, column_sampling="node")
    return AdaBoostClassifier(learner=learner, shrinkage=0.1, random_state=0, **parameters)


def training_data():
    crops = street_crops(synthetic_streets(16, seed=1), 96)
    return list(crops), [record.image for record in synthetic_streets(10, seed=2, people=False, size=SIZE)]


def noise_image(k):
    return np.random.default_rng(k).integers(256, size=(200, 200, 3)).astype(np.uint8)


@pytest.fixture(scope="module")
def streets():
    return training_data()


def train(streets, classifier=None, **options):
    options = {"n_estimators": (4, 12, 24), "n_negatives": 60, "most_negatives": 100, "scales": 4} | options
    return train_detector(*streets, SPEC, classifier or booster(), **options)


@pytest.fixture(scope="module")
def detector(streets):
    return train(streets)


@pytest.fixture(scope="module")
def scene():
    return synthetic_streets(3, seed=5)[2].image


def assert_same(one, other):
    for name, array in one.trees.arrays().items():
        np.testing.assert_array_equal(array, other.trees.arrays()[name], err_msg=name)
    assert one.notes == other.notes


# -- training --------------------------------------------------------------------------------------


def test_it_finds_people():
    crops = list(street_crops(synthetic_streets(30, seed=1)))
    empty = [record.image for record in synthetic_streets(15, seed=2, people=False, size=SIZE)]
    detector = train((crops, empty), n_estimators=(16, 64), n_negatives=300, most_negatives=500, scales=8)
    records = synthetic_streets(8, seed=9)
    found = [detector.detect(record.image, threshold=-np.inf, min_height=60) for record in records]
    truths, ignores = [record.boxes for record in records], [record.ignore for record in records]
    rate = log_average_miss_rate(*miss_rate_curve(*prepare_images(found, truths, ignores)))
    assert rate < 0.75  # nothing found is 1


@pytest.mark.parametrize(
    "classifier",
    [
        PAUCEnsClassifier((0, 0.1), learner=Tree(depth=3), random_state=0),
        PAUCEnsClassifier((0, 0.1), random_state=0),  # trees too deep to be laid out as complete trees
    ],
    ids=["depth 3", "31 leaves"],
)
def test_other_ensembles_calibrate_their_cascade(streets, classifier, scene):
    detector = train(streets, classifier, n_estimators=(4, 8))
    assert np.isfinite(detector.trees.rejection).all()
    assert len(detector.detect(scene, threshold=-np.inf)) > 0


def test_each_round_has_its_classifier(streets, detector):
    """All rounds but the last determine the training samples of the last."""
    assert_same(train(streets, [booster()] * 3), detector)
    last = PAUCEnsClassifier((0, 0.1), learner=Tree(depth=3), random_state=0)
    other = train(streets, [booster(), booster(), last])
    assert other.notes["negatives"] == detector.notes["negatives"]
    assert not np.array_equal(other.trees.value, detector.trees.value)


def test_threads_change_nothing(streets, detector):
    assert_same(train(streets, n_jobs=2), detector)


class Killed(BaseException):
    """An exception that no handler of the package catches."""


@pytest.mark.parametrize("moment", [1, 2, 3, 4, 5, 7, 9, 12])
def test_training_that_is_killed_while_writing_goes_on(streets, detector, moment, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 4)
    left = [moment]

    def dying(method):
        def call(*args, **named):
            left[0] -= 1
            if left[0] == 0:
                raise Killed
            return method(*args, **named)

        return call

    with monkeypatch.context() as dangerous:
        dangerous.setattr("os.replace", dying(os.replace))
        with pytest.raises(Killed):
            train(streets, checkpoint=tmp_path)
    assert_same(train(streets, checkpoint=tmp_path), detector)


SCRIPT = """
import sys
from test_detector import train, training_data
streets = training_data()
print("begin", flush=True)
train(streets, checkpoint=sys.argv[1]).save(sys.argv[2])
"""


@pytest.mark.slow
def test_kill_9(detector, tmp_path):
    chance, model = random.Random(0), tmp_path / "model.npz"
    for _ in range(10):
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, tmp_path / "work", model], stdout=subprocess.PIPE, cwd=HERE
        )
        process.stdout.readline()
        time.sleep(chance.uniform(0.05, 0.6))
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run(
        [sys.executable, "-c", SCRIPT, tmp_path / "work", model], check=True, stdout=subprocess.PIPE, cwd=HERE
    )
    assert_same(PedestrianDetector.load(model), detector)


def test_folders_of_other_trainings_are_refused(streets, tmp_path):
    train(streets, n_estimators=(4,), checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"holds another training: its n_negatives is 60, not 50\. .*another place"):
        train(streets, n_estimators=(4,), n_negatives=50, checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"its notes is \{\}, not \{'owner': 'B'\}"):
        train(streets, n_estimators=(4,), notes={"owner": "B"}, checkpoint=tmp_path)


def test_other_images_of_the_same_names_and_sizes_are_another_training(streets, tmp_path):
    folders = [tmp_path / name for name in ("one", "other")]
    for folder, crops in zip(folders, (streets[0][:12], streets[0][12:24]), strict=True):
        folder.mkdir()
        for k, crop in enumerate(crops):
            Image.fromarray(crop).save(folder / f"{k}.bmp")
    one, other = (sorted(folder.iterdir()) for folder in folders)
    assert [path.stat().st_size for path in one] == [path.stat().st_size for path in other]
    train((one, streets[1]), n_estimators=(4,), checkpoint=tmp_path / "work")
    with pytest.raises(ValueError, match="holds another training: its positives"):
        train((other, streets[1]), n_estimators=(4,), checkpoint=tmp_path / "work")


def test_a_finished_training_leaves_its_detector(streets, detector, tmp_path):
    assert_same(train(streets, checkpoint=tmp_path), detector)
    assert not list(tmp_path.glob("*.npy")) and not (tmp_path / "fit_2.npz").exists()
    assert_same(train(streets, checkpoint=tmp_path), detector)


def test_a_classifier_without_a_seed_gets_one(streets):
    one, again, other = (
        train(streets, booster().set_params(random_state=None), n_estimators=(4, 8), random_state=seed)
        for seed in (0, 0, 1)
    )
    assert_same(one, again)
    assert not np.array_equal(one.trees.place, other.trees.place)


@pytest.mark.parametrize(
    ("classifier", "constant"),
    [
        (booster().set_params(shrinkage=0.1), True),
        (booster().set_params(shrinkage=1.0), False),
        (AsymBoostClassifier(learner=Tree(depth=3), shrinkage=0.1), False),
    ],
    ids=["AdaBoost 0.1", "AdaBoost 1", "AsymBoost"],
)
def test_which_ensembles_get_the_soft_cascade_of_the_paper(streets, classifier, constant):
    trees = train(streets, classifier, n_estimators=(6,)).trees
    assert (trees.rejection == -10).all() == constant


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"positives": []}, "positives must be a list of images or of files, at least one"),
        ({"negative_images": np.zeros((2, 240, 320, 3), dtype=np.uint8)}, "negative_images must be a list"),
        (
            {"positives": [np.zeros((128, 64, 3), dtype=np.uint8)]},
            r"positives\[0\] has 128 x 64 pixels; expected 160 x 96",
        ),
        ({"classifier": Tree(depth=3)}, "classifier must be an ensemble of this package"),
        ({"classifier": booster().set_params(learner=Linear())}, "Only trees take binned features"),
        ({"classifier": [booster(), booster()]}, "2 classifiers do not fit the 1 rounds"),
        ({"n_estimators": (0,)}, "n_estimators must be an integer, 1 or larger"),
        ({"most_negatives": 1}, "most_negatives must be an integer, 60 or larger"),
        ({"window": Window((16, 16), (12, 12), 0)}, "All cells of .* depend on pixels outside its crop"),
        ({"window": (128, 64)}, r"window must be a Window, such as Window\(\); got \(128, 64\)"),
        ({"spec": "M+O+LUV"}, "spec must be a ChannelSpec, such as"),
        ({"n_estimators": 10}, "n_estimators must be a tuple of numbers of trees, one per round; got 10"),
        ({"n_estimators": ()}, "n_estimators must be a tuple"),
        ({"notes": "INRIA"}, "notes must be a dict"),
        ({"notes": {"hard": 1}}, r"notes\['hard'\] is set by training itself"),
        ({"notes": {"by": object()}}, r"notes\['by'\] is a object, not JSON"),
        ({"repeat_edges": "masks"}, "repeat_edges must be one of True, False, 'mask'; got 'masks'"),
        ({"mirrors": 1}, "mirrors must be one of True, False; got 1"),
        ({"scales": 65}, "scales must be an integer, from 1 to 64"),
        (
            {"negative_images": [np.zeros((90, 40, 3), dtype=np.uint8)] * 3},
            "None of 3 negative images is large .* at least 100 x 41 pixels",
        ),
        ({"negative_images": [noise_image(0), np.full((200, 200, 3), np.nan)]}, r"negative_images\[1\]: .*no nan"),
        ({"positives": [np.zeros((160, 96, 3), dtype=np.uint8), "crop.txt"]}, r"crop\.txt"),
    ],
)
def test_messages_of_training(streets, change, message):
    given = {"positives": streets[0][:5], "negative_images": streets[1][:2], "spec": SPEC, "classifier": booster()}
    options = {"n_estimators": (2,), "n_negatives": 60, "most_negatives": 100}
    with pytest.raises((TypeError, ValueError, FileNotFoundError), match=message):
        train_detector(**(given | options | change))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"shape": (130, 66)}, "shape of a window must be made of whole cells of 4 pixels; got 130"),
        ({"shape": (128.0, 64)}, "shape of a window must be an integer"),
        ({"shape": 128}, r"shape of a window must be a tuple \(height, width\)"),
        ({"margin": 15}, "margin of a window must be made of whole cells of 4 pixels; got 15"),
        ({"margin": -8}, "margin of a window must be an integer, from 0"),
        ({"margin": "16"}, "margin of a window must be an integer"),
        ({"target": (0, 0)}, "target of a window must be a finite number, larger than 0"),
        ({"target": (200, 41)}, "at most 128; got 200"),
        ({"target": "ab"}, "target of a window must be a tuple"),
        ({"inside": "yes"}, "inside of a window must be one of True, False"),
    ],
)
def test_messages_of_windows(sizes, message):
    with pytest.raises(ValueError, match=message):
        Window(**sizes)


def test_images_without_a_window_give_no_negatives(streets):
    small = [np.zeros((20, 20, 3), dtype=np.uint8)]
    assert len(train((streets[0][:20], streets[1] + small), n_estimators=(4, 4)).trees.rejection) == 4


def test_negatives_get_the_edges_of_positives(streets):
    """One of two crops repeats eight rows at the bottom, and so do about half of the negatives."""
    noise = np.random.default_rng(0).integers(256, size=(2, 160, 96, 3)).astype(np.uint8)
    noise[1, -8:] = noise[1, -9]
    edges = np.array([samples.repeated_edges(crop) for crop in noise])
    assert edges.tolist() == [[0, 0, 0, 0], [0, 8, 0, 0]]
    assert samples.repeated_edges(np.zeros((160, 96, 3), dtype=np.uint8)) == (0, 0, 0, 0)  # flat, not repeated
    assert np.array_equal(samples.with_edges(noise[1], edges[1]), noise[1])
    assert samples.repeated_edges(samples.with_edges(noise[0], (0, 3, 5, 20))) == (0, 3, 5, 20)
    search = scan.Search(SPEC, Window(), 4)
    seen = []
    sampler = WindowSampler(search, Window().features(SPEC), 0, Serial(), edges=edges)
    sampler._of_crop = lambda rgb: seen.append(samples.repeated_edges(rgb)) or sampler._none()
    sampler.random_negatives([noise_image(k) for k in range(20)], range(20), 200)
    assert len(seen) == 200 and 70 < sum(edge[1] == 8 for edge in seen) < 130


def with_edges(crops):
    """Every third crop repeats some of its border."""
    random, changed = np.random.default_rng(0), []
    for k, crop in enumerate(crops):
        edges = np.zeros(4, dtype=int)
        edges[random.integers(4)] = random.integers(3, 40) if k % 3 == 0 else 0
        changed.append(samples.with_edges(crop, edges))
    return changed


def test_three_ways_with_repeated_edges(streets):
    """Each is another training; without edges two of them are the same."""
    crops, empty = with_edges(streets[0]), streets[1]
    values = [
        train((crops, empty), n_estimators=(4,), repeat_edges=way).trees.threshold for way in (True, False, "mask")
    ]
    assert not any(np.array_equal(one, other) for one, other in itertools.combinations(values, 2))
    unedged = [crop for crop in streets[0] if not any(samples.repeated_edges(crop))]
    unchanged, masked = (train((unedged, empty), n_estimators=(4,), repeat_edges=way) for way in (False, "mask"))
    assert_same(unchanged, masked)
    with pytest.raises(ValueError, match="repeat_edges='mask' needs crops without repeated edges, but 20 in a row"):
        train((crops[:30:3], empty), n_estimators=(4,), repeat_edges="mask")


def test_masked_features_are_those_of_a_crop_without_edges(streets):
    """They tell nothing about the edges; all other features stay."""
    crops = with_edges(streets[0])[:20]
    search, places = scan.Search(SPEC, Window(), 4), Window().features(SPEC)
    plain, masking = (WindowSampler(search, places, 0, Serial(), mask_edges=masked) for masked in (False, True))
    before, after = (sampler.positives(crops, range(20)) for sampler in (plain, masking))
    unedged = np.repeat([not any(samples.repeated_edges(crop)) for crop in crops], 2)
    np.testing.assert_array_equal(after[unedged], before[unedged])
    changed = (after != before).any(axis=1)
    assert changed.any() and not changed[unedged].any()
    for row in np.flatnonzero(changed):
        donors = before[unedged]
        differs = after[row] != before[row]
        assert (donors[:, differs] == after[row, differs]).all(axis=1).any()
    crop = crops[np.flatnonzero(changed)[0] // 2]
    edges = np.array(samples.repeated_edges(crop))
    recoloured = np.array(crop)
    recoloured[: edges[0]], recoloured[len(crop) - edges[1] :] = 0, 0
    recoloured[:, : edges[2]], recoloured[:, crop.shape[1] - edges[3] :] = 0, 0
    of_edges = masking._reached(edges)
    np.testing.assert_array_equal(masking._of_crop(recoloured)[0, ~of_edges], masking._of_crop(crop)[0, ~of_edges])


def test_mirrors_are_optional(streets):
    """Mirrored crops, trained on without mirrors, are the samples of the crops with mirrors in another order."""
    plain = train(streets, n_estimators=(4,), mirrors=False)
    assert not np.array_equal(plain.trees.threshold, train(streets, n_estimators=(4,)).trees.threshold)
    sampler = WindowSampler(scan.Search(SPEC, Window(), 4), Window().features(SPEC), 0, Serial(), mirrors=False)
    both = WindowSampler(sampler.search, sampler.places, 0, Serial())
    crops = streets[0][:3]
    np.testing.assert_array_equal(sampler.positives(crops, range(3)), both.positives(crops, range(3))[::2])
    mirrored = [np.ascontiguousarray(crop[:, ::-1]) for crop in crops]
    np.testing.assert_array_equal(sampler.positives(mirrored, range(3)), both.positives(crops, range(3))[1::2])


def test_a_changed_preset_with_an_old_name_is_another_training(streets, tmp_path):
    changed = replace(SPEC.preset, smooth_channels=0)
    options = {"n_estimators": (4,), "n_negatives": 60, "most_negatives": 100, "scales": 4, "checkpoint": tmp_path}
    train_detector(*streets, SPEC, booster(), **options)
    with pytest.raises(ValueError, match=r"holds another training: its preset\.smooth_channels is 1\.0, not 0"):
        train_detector(*streets, ChannelSpec.parse("M+O+LUV", changed), booster(), **options)
    for changes in ({"repeat_edges": False}, {"mirrors": False}):
        with pytest.raises(ValueError, match=f"holds another training: its {next(iter(changes))} is True"):
            train_detector(*streets, SPEC, booster(), **options, **changes)


def test_one_training_at_a_time_uses_a_folder(tmp_path):
    events = []

    def use(name, seconds):
        with cache.TrainingCache.open(tmp_path, {}):
            events.append(f"{name} begins")
            time.sleep(seconds)
            events.append(f"{name} ends")

    with Threads(2) as threads:
        threads.map(lambda name: use(name, 0.2), ["one", "other"])
    assert [event.split()[1] for event in events] == ["begins", "ends", "begins", "ends"]


def test_which_windows_are_hard():
    assert hard_threshold(np.array([1.0, 2.0, 3.0, -3.0, -2.0, -1.0]), 3) == pytest.approx(-0.4)
    assert hard_threshold(np.array([-1.0, 2.0, 3.0, -3.0, -2.0, -1.0]), 3) < -1


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
    monkeypatch.setattr(scan, "BAND_BYTES", 300_000)
    np.testing.assert_allclose(detector.detect(scene, threshold=-2), boxes, atol=1e-3)


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
    all_boxes, boxes = (model.candidates(rgb, [level], -np.inf, Serial())[0] for model in (detector, inside))
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
            for box in model.candidates(scene, model.search.levels(scene.shape[:2]), -np.inf, Serial())[0]
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
    value = search.scores(search.crop(crop, Serial()), model.trees, Serial())
    (level,) = [level for level in search.levels(crop.shape[:2]) if level.shape == (160, 96)]
    ((_, band),) = search.bands(crop, [level], Serial())
    scores = search.scores(band, model.trees, Serial())
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
    _, band = next(model.search.bands(rgb, model.search.levels(rgb.shape[:2]), Serial()))
    return model.search.scores(band, model.trees, Serial())


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


class Serial:
    def run(self, kernel, n_items, work):
        return [kernel(0, n_items)]

    def map(self, work, items):
        return list(map(work, items))


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


def test_memory_is_that_of_a_band(detector, monkeypatch):
    """Beside the image: its padded copy at the size that is searched, and three times the channels of a band."""
    monkeypatch.setattr(scan, "BAND_BYTES", 4_000_000)
    image = np.random.default_rng(0).integers(256, size=(1600, 1200, 3)).astype(np.uint8)
    detector.detect(image[:200, :200])
    tracemalloc.start()
    detector.detect(image, threshold=np.inf)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    padded = (1600 + 64) * (1200 + 56) * 3
    assert peak <= 2 * padded + 3 * 4_000_000 + 3_000_000


@pytest.mark.slow
def test_a_hundred_megapixels(detector):
    boxes = detector.detect(np.zeros((10_000, 10_000, 3), dtype=np.uint8), threshold=np.inf)
    assert boxes.shape == (0, 5)
