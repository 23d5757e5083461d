"""INRIA Person: fabricated copies, everything that can be wrong with them, the real one."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from detection_folders import BOXES, draw, leave_foreign_files, needs, pascal, write
from PIL import Image

from paucens.datasets import inria, load_inria
from paucens.images import read_rgb

pytestmark = pytest.mark.usefixtures("no_other_place")


def test_inria_lists_crops_negatives_and_tests_by_name(people):
    bunch = load_inria(people.parent)
    assert [file.name for file in bunch.train_crops] == ["a.png", "b.png"]
    assert [file.name for file in bunch.train_negatives] == ["a.png", "b.jpg"]
    assert [file.name for file in bunch.test_negatives] == ["a.png", "b.webp"]
    assert [record.image.name for record in bunch.test] == ["p2.png", "p3.png"]
    assert bunch.test[0].boxes.tolist() == [[250, 151, 50, 144], [-3, 0, 14, 11]]
    assert bunch.test[1].boxes.shape == (0, 4)
    assert bunch.missing == ["p1"] and bunch.source == "uncompressed" and "INRIA Person" in bunch.DESCR


@pytest.mark.parametrize(
    ("n_images", "source", "words"),
    [
        (287, "uncompressed", "287/288 images, all repaired (5 % of the pixels inside people's boxes), uncompressed"),
        (287, "lossy", "287/288 images, 271 repaired (5 % of the pixels inside people's boxes), lossy"),
        (288, "uncompressed", "288/288 images, uncompressed"),
        (100, "lossy", "100/288 images, lossy"),
    ],
)
def test_a_copy_says_how_many_images_are_repaired(n_images, source, words):
    assert inria.about_test(n_images, source) == f"INRIA test, {words}"
    with pytest.raises(ValueError, match="source must be one of 'uncompressed', 'lossy'; got 'rendered'"):
        inria.about_test(n_images, "rendered")


def test_tables_say_what_the_loader_says():
    """The committed tables of INRIA test carry its words for the uncompressed copy."""
    figures = Path(__file__).parents[2] / "figures"
    for name in ("table_2", "table_3", "ablation"):
        assert f" {inria.about_test(287, 'uncompressed')}." in (figures / f"{name}.md").read_text(encoding="utf-8")


def test_inria_says_that_it_is_compressed(people):
    draw(people / inria.TEST_IMAGES / "p1.jpg")
    bunch = load_inria(people)
    assert bunch.missing == [] and len(bunch.test) == 3 and bunch.source == "lossy"
    assert bunch.about_test == "INRIA test, 3/288 images, lossy"


def test_the_mirrors_of_the_official_crops_are_left_out(people):
    for name in ("a_mirrored.png", "c.png"):
        draw(people / inria.CROPS / name)
    assert [file.name for file in load_inria(people).train_crops] == ["a.png", "b.png"]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda root: draw(root / inria.CROPS / "c.png"),
            r"pos holds 3 files \(\.jpeg, .*; expected 2\. Get them again, or remove what is not",
        ),
        (lambda root: (root / inria.TRAIN_NEGATIVES / "a.png").unlink(), "neg holds 1 files"),
        (
            lambda root: (root / inria.ANNOTATIONS / "p1.txt").unlink(),
            r"annotations holds 2 files \(\.txt\); expected 3",
        ),
        (lambda root: write(root / inria.ANNOTATIONS / "p2.txt", ""), r"p2\.txt cannot be read"),
        (
            lambda root: [file.unlink() for file in (root / inria.TEST_IMAGES).iterdir()],
            "none of its texts has an image",
        ),
    ],
)
def test_a_spoilt_inria_says_what_is_wrong(people, spoil, message):
    spoil(people)
    with pytest.raises(ValueError, match=message):
        load_inria(people)


def test_an_absent_inria_says_where_to_get_it(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"(?s)'inria' was not found.*data/assemble_inria\.py"):
        load_inria(tmp_path)


@pytest.fixture
def script(monkeypatch):
    """The script that puts an uncompressed copy together, made to expect one file in each folder."""
    path = Path(__file__).parents[2] / "data" / "assemble_inria.py"
    spec = importlib.util.spec_from_file_location("assemble_inria", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "COUNTS", dict.fromkeys(module.COUNTS, 1) | {"Train/neg": 2})
    for name in ("NEGATIVES_COMMIT", "TEST_COMMIT"):
        monkeypatch.setattr(module, name, "HEAD")
    return module


def committed(repository):
    """Make a repository of a folder."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    return repository


@pytest.fixture
def snapshots(tmp_path):
    """Arguments of the script: two repositories and a folder as it expects them; the test image has a red line."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    pytest.importorskip("cv2")
    for name in ("train_neg/a.png", "val_neg/b.png", "neg/c.jpg"):
        draw(tmp_path / "n" / "negative" / name)
    picture = np.full((20, 30, 3), 90, np.uint8)
    picture[8, 3:20] = (255, 0, 0)
    folder = tmp_path / "t" / "detect_95_2_new"
    folder.mkdir(parents=True)
    Image.fromarray(picture).save(folder / "p1.png")
    draw(tmp_path / "c" / inria.CROPS / "a.webp")
    write(tmp_path / "c" / inria.ANNOTATIONS / "p1.txt", pascal("Test/pos/p1.png", BOXES))
    leave_foreign_files(tmp_path / "c" / inria.CROPS, tmp_path / "c" / inria.ANNOTATIONS)
    return ["--negatives", committed(tmp_path / "n"), "--test", committed(tmp_path / "t"), "--crops", tmp_path / "c"]


def test_the_uncompressed_copy_is_put_together(script, snapshots, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", list(map(str, ["assemble", *snapshots, "--out", tmp_path / "out"])))
    script.main()
    assert f"{100 * 17 / 600:.2f} % of the pixels" in capsys.readouterr().out
    monkeypatch.setattr(inria, "COUNTS", {name: script.COUNTS[name] for name in inria.COUNTS})
    bunch = load_inria(tmp_path / "out")
    assert bunch.source == "uncompressed" and len(bunch.test[0].boxes) == 2
    assert abs(read_rgb(bunch.test[0].image).astype(int) - 90).max() <= 2
    with pytest.raises(SystemExit, match="exists already"):
        script.main()


def test_a_snapshot_that_lacks_something_leaves_nothing(script, snapshots, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", list(map(str, ["assemble", *snapshots, "--out", tmp_path / "out"])))
    monkeypatch.setattr(script, "COUNTS", script.COUNTS | {"Train/neg": 3})
    with pytest.raises(SystemExit, match=r"'Train/neg': 2.*; expected .*'Train/neg': 3.* Nothing was kept"):
        script.main()
    monkeypatch.setattr(script, "TEST", {"elsewhere": "Test/pos"})
    with pytest.raises(SystemExit, match="does not hold elsewhere of commit HEAD"):
        script.main()
    assert list((tmp_path / "out").iterdir()) == []


@needs("inria")
def test_real_inria_has_588_boxes():
    bunch = load_inria()
    assert (len(bunch.test), bunch.missing) == (287, ["person_094"])
    n_repaired = {"uncompressed": "all", "lossy": "271"}[bunch.source]
    assert bunch.about_test.startswith(f"INRIA test, 287/288 images, {n_repaired} repaired")
    assert sum(len(record.boxes) for record in bunch.test) == 588
    heights = np.concatenate([record.boxes[:, 3] for record in bunch.test])
    assert round((heights < 100).mean(), 2) == 0.05  # so the reference says
