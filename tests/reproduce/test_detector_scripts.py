"""Figure 1, the sensitivity, and the choices of a detector at smoke scale, and what they rest on."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import default_model
import detector_choice
import figure_1
import numpy as np
import pandas as pd
import pytest
import sensitivity
import table_2
import window_size
from PIL import Image
from sklearn.utils import Bunch

import detectors
from detectors import judging
from detectors.data import SMOOTH, images_hash
from harness import Run
from paucens.datasets import DetectionRecord
from paucens.detector import PedestrianDetector
from paucens.detector.model import DEFAULT
from paucens.features.pyramid import resize
from paucens.parallel import ALONE


def smoke(out):
    return ["--scale", "smoke", "--jobs", "1", "--out", str(out)]


def test_figure_1(tmp_path):
    figure_1.main(smoke(tmp_path))
    rows = pd.read_csv(tmp_path / "figure_1.csv")
    boxes = [json.loads(text) for text in rows.boxes]
    assert not boxes[0]["false"]  # less than 0.001 per image: none anywhere
    assert (np.diff(rows.miss_rate) <= 0).all() and (np.diff(rows.threshold) <= 0).all()
    assert len({len(kinds["found"]) + len(kinds["missed"]) for kinds in boxes}) == 1  # always the same people
    assert (tmp_path / "figure_1.png").stat().st_size > 10_000


def test_kinds_of_boxes():
    truth = np.array([[0, 0, 41, 100], [200, 0, 41, 100]], dtype=float)
    found = np.array([[2, 0, 41, 100, 3.0], [400, 0, 41, 100, 2.0], [600, 0, 41, 100, 1.0]])
    kinds = figure_1.kinds_of(found, truth, np.array([[590.0, 0, 80, 120]]))
    assert [len(kinds[kind]) for kind in ("found", "false", "missed")] == [1, 1, 1]
    assert kinds["missed"] == [[200, 0, 41, 100]] and kinds["false"] == [[400, 0, 41, 100]]


def test_changes_of_images():
    image = np.random.default_rng(0).integers(256, size=(60, 50, 3)).astype(np.uint8)
    for name, change in default_model.CHANGES.items():
        changed = change(image)
        assert changed.shape == image.shape and changed.dtype == np.uint8
        assert (name == "unchanged") == np.array_equal(changed, image)
    assert np.array_equal(default_model.mixed(image, 4, 0), image)
    kinds = [default_model.mixed(image, k, 0) for k in range(4)]
    assert len({kind.tobytes() for kind in kinds}) == 4
    assert np.array_equal(kinds[1], default_model.mixed(image, 1, 0))


def test_sensitivity_begins_with_what_was_judged(tmp_path):
    run = sensitivity.main(smoke(tmp_path))
    rows = pd.read_csv(tmp_path / "sensitivity.csv").set_index("variation")
    case = {"test_set": rows.test_set.iloc[0], "method": "M+O+LUV", "preset": "robust", "repeat": 0}
    (judged,) = detectors.judge(run, case, sensitivity.CONFIGS)  # by the detector that is there already
    assert rows.miss_rate[sensitivity.STANDARD] == float(judged["miss_rate"])
    assert rows.difference[sensitivity.STANDARD] == 0
    assert list(rows.index[:6]) == list(sensitivity.SUPPRESSIONS) and len(rows) == 9
    assert len(list((tmp_path / "detectors" / "smoke").iterdir())) == 1


def test_the_overlap_that_counts():
    """Two boxes that share 62 of 138 rows: 0.45 of their union."""
    record = Bunch(boxes=np.array([[0.0, 0, 41, 100]]), ignore=np.empty((0, 4)))
    one_person = detectors.TestSet("one person", [record], 50, None)
    found = [np.array([[0.0, 38, 41, 100, 1]])]
    assert [one_person.evaluate(found, overlap).is_true.tolist() for overlap in (0.4, 0.5)] == [[True], [False]]
    assert one_person.evaluate(found).is_true.tolist() == [False]


def test_stretched_boxes_keep_their_middle():
    box = np.array([[10.0, 20.0, 40.0, 100.0, 1.0]])
    np.testing.assert_allclose(sensitivity.suppressed(box, height=1.1), [[8, 15, 44, 110, 1]])


def test_data_are_known_by_the_pixels_of_all_images(tmp_path):
    """Two sets whose images have the same names and sizes."""
    hashes = []
    for value in (0, 200):
        path = tmp_path / f"{value}" / "a.bmp"
        path.parent.mkdir()
        Image.new("L", (9, 9), value).save(path)
        record = DetectionRecord(path, np.array([[0.0, 0, 4, 8]]))
        tests = detectors.TestSet("one person", [record], 50, None)
        moved = detectors.TestSet("one person", [DetectionRecord(path, np.array([[1.0, 0, 4, 8]]))], 50, None)
        data = detectors.TrainingData("INRIA", "rendered", [path], [path], 0.0)
        hashes += [tests.content_hash, moved.content_hash, data.content_hash]
    assert len(set(hashes)) == 6


def test_data_do_not_depend_on_how_images_are_packed(tmp_path):
    """The bytes of a PNG depend on the encoder; pixels count, and a file that changes is read again."""
    pixels = np.random.default_rng(0).integers(256, size=(9, 9, 3)).astype(np.uint8)
    path, packed, again = (tmp_path / name for name in ("a.png", "b.png", "c.bmp"))
    for file, level in ((path, 9), (packed, 0), (again, None)):
        Image.fromarray(pixels).save(file, **({} if level is None else {"compress_level": level}))
    assert path.read_bytes() != packed.read_bytes()
    digests = {images_hash([image]) for image in (path, packed, again, pixels)}
    assert len(digests) == 1
    Image.fromarray(255 - pixels).save(path)
    assert images_hash([path]) not in digests


def test_a_worker_with_other_data_is_refused(tmp_path):
    run = Run.of("table_2.py", "", detectors.PROTOCOLS, smoke(tmp_path))
    (named,) = detectors.load(run)
    assert named == {"data_set": "streets (stand-in)", "test_set": "streets (stand-in), 100 px"}
    assert {title: about["shape"] for title, about in run.sources.items()} == {
        "streets (stand-in), training": [24],
        "streets (stand-in), 100 px": [4],
    }
    run.sources["streets (stand-in), 100 px"] = {"content_hash": "another", "shape": [4]}
    with pytest.raises(ConnectionError, match="other data"):
        detectors.test_set(run, "streets (stand-in), 100 px")


@pytest.mark.parametrize("n_seeds", [1, 2])
def test_pairs_are_compared_over_the_seeds_of_both(n_seeds, tmp_path):
    pair = [detectors.DetectorConfig(name, "M+O+LUV", n_seeds=n) for name, n in (("one", 3), ("other", n_seeds))]
    run = Run.of("table_3.py", "", {"smoke": detectors.Protocol(seeds=3)}, smoke(tmp_path))
    (case,) = detectors.pair_cases(run, [{"test_set": "some"}], [pair])
    assert case["n_seeds"] == n_seeds and (case["method"], case["baseline"]) == ("one", "other")
    seeds = [(case["method"], case["repeat"]) for case in detectors.cases(run, [{"test_set": "some"}], pair)]
    assert sorted(seeds) == [("one", k) for k in range(3)] + [("other", k) for k in range(n_seeds)]


def test_evaluations_on_photographs_are_listed_beside_the_results(tmp_path):
    """A run with --out never touches the list in `figures/`."""
    run = Run.of("table_3.py", "", detectors.PROTOCOLS, ["--scale", "paper", "--out", str(tmp_path)])
    for seed in (0, 1):
        detectors.log_evaluation(run, "M+O+LUV (robust)", seed, "INRIA, 50 px", "0.179431")
    detectors.log_evaluation(run, "M+O+LUV (robust)", 2, "streets (stand-in), 100 px", "0.5")
    lines = (tmp_path / "test_evaluations.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "script,method,seed,test_set,log_average_miss_rate"
    assert lines[1:] == [f'table_3,M+O+LUV (robust),{seed},"INRIA, 50 px",0.179431' for seed in (0, 1)]


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on(tmp_path):
    """kill -9 at ten random moments; the rows are those of a run in one piece."""
    chance, whole, cut = random.Random(0), tmp_path / "whole", tmp_path / "cut"
    command = [sys.executable, Path(table_2.__file__)]
    start = time.perf_counter()
    subprocess.run([*command, *smoke(whole)], check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    for _ in range(10):
        process = subprocess.Popen([*command, *smoke(cut)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.02, 0.3) * seconds)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    subprocess.run([*command, *smoke(cut)], check=True, stdout=subprocess.DEVNULL)
    for name in ("table_2", "table_2_pairs"):
        one, other = (
            pd.read_csv(folder / f"{name}.csv").drop(columns=["train_seconds", "detect_seconds"], errors="ignore")
            for folder in (whole, cut)
        )
        assert one.equals(other)


@pytest.mark.slow
def test_detector_choice(tmp_path):
    detector_choice.main(smoke(tmp_path))
    rows = pd.read_csv(tmp_path / "detector_choice.csv")
    assert list(rows.method) == ["AdaBoost", "pAUCEnsT"] and (rows.miss_rate > 0).all()
    assert "AdaBoost on the same windows" in (tmp_path / "detector_choice.md").read_text(encoding="utf-8")
    assert not list(tmp_path.rglob("*.npy"))  # nothing is left of the trainings


@pytest.mark.slow
def test_default_model(tmp_path):
    before = DEFAULT.read_bytes()
    default_model.main(smoke(tmp_path))
    assert DEFAULT.read_bytes() == before  # a detector is put into the package by hand
    assert "stand-in" in (tmp_path / "default_model.md").read_text(encoding="utf-8")
    tested = pd.read_csv(tmp_path / "default_model_test.csv")
    assert list(tested.change) == [default_model.WHOLE, *default_model.CHANGES]
    assert tested.difference[0] == 0 and tested.miss_rate.between(0, 1).all()
    thresholds = pd.read_csv(tmp_path / "default_model_threshold.csv")
    assert thresholds.false_per_photograph.between(0, 0.1).all() and thresholds.second_per_person[1] <= 0.1
    best = PedestrianDetector.load(tmp_path / "default_model" / "smoke" / "best.npz")
    assert best.threshold == thresholds.threshold[1] >= thresholds.threshold[0]
    assert best.notes["images"] == tested.images[0] and "research" in best.notes["training data"]
    assert not list(tmp_path.rglob("*.npy")) and len(list(tmp_path.rglob("*.png"))) == 1


def test_second_boxes_lie_on_a_person_that_is_found(monkeypatch):
    """The person of a crop is 100 x 41 in the middle of 160 x 96."""
    x, y = 27.5, 30.0
    part, own, lower, beside, other = [
        [x, y, 20.5, 50, 7],  # better than the person's own box
        [x, y - 10, 41, 100, 5],
        [x + 3, y + 5, 41, 100, 2],  # fits too
        [x + 30, y, 41, 100, 4],  # 11 of 41 columns on the person
        [x + 20, y, 41, 100, 3],  # 21 of them
    ]
    found = [np.array(boxes, dtype=float) for boxes in ([part, own, beside, other, lower], [part, beside])]
    monkeypatch.setattr(judging, "detections_of", lambda *_, **__: found)
    people, second = detectors.person_and_second_scores(PedestrianDetector.default(), [None, None])
    assert people.tolist() == [5, -np.inf] and second.tolist() == [3, 2]


def test_a_threshold_that_few_scores_exceed():
    scores = np.array([3.0, 1.0, 2.0, 2.0, 0.0])
    for most, expected in ((0, 3), (1, 2), (2.9, 2), (0.3 / 0.1, 1), (4, 0), (5, -np.inf)):
        threshold = default_model.score_of_most(scores, most)
        assert threshold == expected and (scores > threshold).sum() <= most + 1e-9


def test_the_default_detector_says_where_it_comes_from():
    detector = PedestrianDetector.default()
    assert "research" in detector.notes["training data"]
    assert DEFAULT.stat().st_size < 1_000_000 and np.isfinite(detector.threshold)
    terms = (DEFAULT.parent / "LICENSE").read_text(encoding="utf-8")
    assert "INRIA Person" in terms and "research" in terms


def test_halved_crops_are_smoothed_as_before():
    """A pixel of half size takes as much of its neighbours as two pixels took of the next ones."""
    stripe = np.zeros((8, 64, 1), dtype=np.float32)
    stripe[:, 32:34] = 1
    before = resize(resize(stripe, (8, 64), ALONE, SMOOTH), (8, 32), ALONE)
    after = resize(resize(stripe, (8, 32), ALONE), (8, 32), ALONE, window_size.SMOOTH_HALF)
    np.testing.assert_allclose(after, before, atol=1e-3)


def test_window_size(tmp_path, monkeypatch):
    monkeypatch.setattr(window_size, "CHANNELS", ("M+O+LUV",))
    window_size.main(smoke(tmp_path))
    rows = pd.read_csv(tmp_path / "window_size.csv")
    assert rows.window.tolist() == ["128 x 64", "64 x 32"] and rows.difference[0] == 0
    assert rows.seconds[1] < 0.8 * rows.seconds[0]
