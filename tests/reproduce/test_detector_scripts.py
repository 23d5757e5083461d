"""Figure 1 and the choice of the default detector at smoke scale, and what they rest on."""

import json
import random
import signal
import subprocess
import sys
import time
from unittest import mock

import numpy as np
import pytest
from PIL import Image
from sklearn.utils import Bunch

from paucens.detector import PedestrianDetector
from paucens.detector.model import DEFAULT
from reproduce import _detection, _detectors, default_model, detector_choice, figure_1, sensitivity
from reproduce._run import parse_arguments, perform
from reproduce._store import read_frame


def test_figure_1(tmp_path):
    perform(figure_1.SCRIPT, parse_arguments("", ["--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)]))
    frame = read_frame(tmp_path / "figure_1.csv")
    boxes = [json.loads(text) for text in frame.boxes]
    assert not boxes[0]["false"]  # less than .001 an image: none anywhere
    assert (np.diff(frame.miss_rate) <= 0).all() and (np.diff(frame.threshold) <= 0).all()
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
        assert (name == "as it is") == np.array_equal(changed, image)
    assert np.array_equal(default_model.mixed(image, 4, 0), image)
    kinds = [default_model.mixed(image, k, 0) for k in range(4)]
    assert len({kind.tobytes() for kind in kinds}) == 4
    assert np.array_equal(kinds[1], default_model.mixed(image, 1, 0))


def test_sensitivity_begins_with_what_was_judged(tmp_path, monkeypatch):
    monkeypatch.setattr(_detectors, "ROOT", tmp_path)
    arguments = parse_arguments("", ["--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)])
    perform(sensitivity.SCRIPT, arguments)
    frame = read_frame(tmp_path / "sensitivity.csv").set_index("variation")
    judged = _detectors.measure("table_3", sensitivity.ROWS[0], 0, arguments, 1)[0]
    assert frame.miss_rate[sensitivity.STANDARD] == float(judged["miss_rate"])
    assert frame.difference[sensitivity.STANDARD] == 0
    assert set(frame.index) == {*sensitivity.VARIATIONS, *sensitivity.BEYOND_SUPPRESSION}


def test_the_overlap_that_counts():
    """Two boxes that share 62 of 138 rows: .45 of their union."""
    record = Bunch(boxes=np.array([[0.0, 0, 41, 100]]), ignore=np.empty((0, 4)))
    column = _detection.TestColumn("one person", lambda: [record], 50, None)
    found = [np.array([[0.0, 38, 41, 100, 1]])]
    assert [column.evaluate(found, overlap).is_true.tolist() for overlap in (0.4, 0.5)] == [[True], [False]]
    assert column.evaluate(found).is_true.tolist() == [False]


def test_stretched_boxes_keep_their_middle():
    box = np.array([[10.0, 20.0, 40.0, 100.0, 1.0]])
    np.testing.assert_allclose(sensitivity.suppressed(box, height=1.1), [[8, 15, 44, 110, 1]])


def test_rows_depend_on_the_test_images(tmp_path):
    """Two sets whose images have the same names and sizes."""
    hashes = []
    for value in (0, 200):
        path = tmp_path / f"{value}" / "a.bmp"
        path.parent.mkdir()
        Image.new("L", (9, 9), value).save(path)
        record = Bunch(image=path, boxes=np.array([[0.0, 0, 4, 8]]), ignore=np.empty((0, 4)))
        column = _detection.TestColumn("one person", lambda record=record: [record], 50, None)
        material = _detection.Material("INRIA", "rendered", [path], [path], [column], "of crops", 0.0)
        hashes.append([_detection.joint_hash(material.data(n), material) for n in (0, 1)])
        assert [data.title for data in material.data(1)] == ["INRIA, training", "one person"]
    assert hashes[0][0] == hashes[1][0] == "of crops"
    assert len({hashes[0][0], hashes[0][1], hashes[1][1]}) == 3


def test_rows_do_not_depend_on_how_images_are_packed(tmp_path):
    """One PNG per encoder has other bytes; what counts is pixels, and a file that changes is read again."""
    pixels = np.random.default_rng(0).integers(256, size=(9, 9, 3)).astype(np.uint8)
    path, packed, again = (tmp_path / name for name in ("a.png", "b.png", "c.bmp"))
    for file, level in ((path, 9), (packed, 0), (again, None)):
        Image.fromarray(pixels).save(file, **({} if level is None else {"compress_level": level}))
    assert path.read_bytes() != packed.read_bytes()
    digests = {_detection.images_hash([image]) for image in (path, packed, again, pixels)}
    assert len(digests) == 1
    Image.fromarray(255 - pixels).save(path)
    assert _detection.images_hash([path]) not in digests


@pytest.mark.parametrize("n_seeds", [1, 2])
def test_differences_depend_on_the_seeds(n_seeds):
    rows = [_detectors.Row(name, "M+O+LUV", n_seeds=n) for name, n in (("one", 3), ("other", n_seeds))]
    arguments = parse_arguments("", ["--scale", "smoke"])
    protocol = _detectors.Protocol(seeds=3, scenes=8)
    with mock.patch.dict(_detectors.PROTOCOLS, smoke=protocol):
        plan = _detectors.detector_plan("table_3", rows, [tuple(rows)], arguments)
    assert [task.key[4] for task in plan.sheets[1].tasks] == [" ".join("012"[:n_seeds])]


KILLED = """
import sys
from pathlib import Path
from reproduce import _detectors, table_2
from reproduce._run import parse_arguments, perform
_detectors.ROOT = Path(sys.argv[1])
print("begin", flush=True)
perform(table_2.SCRIPT, parse_arguments("", ["--scale", "smoke", "--jobs", "1", "--out", sys.argv[1]]))
"""


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on(tmp_path):
    """kill -9 at ten random moments; the rows are those of a run in one piece."""
    chance, whole, cut = random.Random(0), tmp_path / "whole", tmp_path / "cut"
    for folder in (whole, cut):
        folder.mkdir()
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", KILLED, whole], check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    for _ in range(10):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, cut], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        process.stdout.readline()
        time.sleep(chance.uniform(0.02, 0.3) * seconds)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    subprocess.run([sys.executable, "-c", KILLED, cut], check=True, stdout=subprocess.DEVNULL)
    for name in ("table_2", "table_2_pairs"):
        one, other = (
            read_frame(folder / f"{name}.csv").drop(columns=["train_seconds", "detect_seconds"], errors="ignore")
            for folder in (whole, cut)
        )
        assert one.equals(other)


@pytest.mark.slow
def test_detector_choice(tmp_path, monkeypatch):
    monkeypatch.setattr(_detectors, "ROOT", tmp_path)
    paths = perform(
        detector_choice.SCRIPT, parse_arguments("", ["--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)])
    )
    frame = read_frame(paths[0])
    assert list(frame.method) == ["AdaBoost", "pAUCEnsT"] and (frame.miss_rate > 0).all()
    assert "AdaBoost on the same windows" in (tmp_path / "detector_choice.md").read_text(encoding="utf-8")
    assert not list((tmp_path / "build").rglob("*.npy"))  # nothing is left of the trainings


@pytest.mark.slow
def test_default_model(tmp_path, monkeypatch):
    monkeypatch.setattr(_detectors, "ROOT", tmp_path)
    arguments = parse_arguments("", ["--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)])
    before = DEFAULT.read_bytes()
    perform(default_model.SCRIPT, arguments)
    assert DEFAULT.read_bytes() == before  # only the scale of the paper changes the package
    assert "stand-in" in (tmp_path / "default_model.md").read_text(encoding="utf-8")
    tested = read_frame(tmp_path / "default_model_test.csv")
    assert list(tested.change) == list(default_model.CHANGES)
    assert tested.difference[0] == 0 and tested.miss_rate.between(0, 1).all()


def test_the_default_detector_says_where_it_comes_from():
    detector = PedestrianDetector.default()
    assert "research" in detector.notes["training data"]
    assert DEFAULT.stat().st_size < 1_000_000 and np.isfinite(detector.threshold)
    terms = (DEFAULT.parent / "LICENSE").read_text(encoding="utf-8")
    assert "INRIA Person" in terms and "research" in terms
