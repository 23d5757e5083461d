"""Training of detectors on rendered streets: rounds, interruptions, crops with repeated edges, error messages."""

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from street_detector import SIZE, SPEC, assert_same, booster, noise_image, train

from paucens import AsymBoostClassifier, Linear, PAUCEnsClassifier, Tree
from paucens.base import checkpoint
from paucens.datasets import street_crops, synthetic_streets
from paucens.detector import PedestrianDetector, Window, cache, samples, scan, train_detector
from paucens.detector.training import hard_threshold
from paucens.detector.window_sampler import WindowSampler
from paucens.evaluation import log_average_miss_rate, miss_rate_curve, prepare_images
from paucens.features import ChannelSpec
from paucens.parallel import ALONE, Threads

TESTS = Path(__file__).parents[1]


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
from street_detector import train, training_data
streets = training_data()
print("begin", flush=True)
train(streets, checkpoint=sys.argv[1]).save(sys.argv[2])
"""


@pytest.mark.slow
def test_kill_9(detector, tmp_path):
    chance, model = random.Random(0), tmp_path / "model.npz"
    for _ in range(10):
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, tmp_path / "work", model], stdout=subprocess.PIPE, cwd=TESTS
        )
        process.stdout.readline()
        time.sleep(chance.uniform(0.05, 0.6))
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run(
        [sys.executable, "-c", SCRIPT, tmp_path / "work", model], check=True, stdout=subprocess.PIPE, cwd=TESTS
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
    sampler = WindowSampler(search, Window().features(SPEC), 0, ALONE, edges=edges)
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
    plain, masking = (WindowSampler(search, places, 0, ALONE, mask_edges=masked) for masked in (False, True))
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
    sampler = WindowSampler(scan.Search(SPEC, Window(), 4), Window().features(SPEC), 0, ALONE, mirrors=False)
    both = WindowSampler(sampler.search, sampler.places, 0, ALONE)
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
