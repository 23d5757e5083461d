"""A whole day in the shell: from photographs and boxes to a trained detector, judged, with a threshold and pictures."""

import csv
import json

import numpy as np
import pytest
from caltech_files import encoded, write_seq
from PIL import Image

from paucens.cli import main
from paucens.cli.train import Validation
from paucens.datasets import DetectionRecord, synthetic_streets
from paucens.detector import PedestrianDetector
from paucens.formats import write_annotations

TRAIN = ["--channels", "M+O+LUV", "--trees", "8,32", "--negatives-per-round", "200"]


def write_streets(folder, name, seed, n, people=True):
    """Write rendered streets as .png, and their boxes as VOC and YOLO."""
    photos = folder / name
    photos.mkdir()
    records = []
    for k, scene in enumerate(synthetic_streets(n, seed=seed, people=people)):
        file = photos / f"{name}_{k:03d}.png"
        Image.fromarray(scene.image).save(file)
        records.append(DetectionRecord(file, scene.boxes))  # YOLO has no regions to ignore
    return records


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("day")
    write_annotations(folder / "train_boxes", write_streets(folder, "train", 1, 10), "voc")
    write_annotations(folder / "test_boxes", write_streets(folder, "test", 2, 12), "yolo")
    write_streets(folder, "empty", 3, 3, people=False)
    return folder


@pytest.fixture
def shell(folder, monkeypatch):
    """Run a line of the shell in the folder, as its words."""
    monkeypatch.chdir(folder)
    return lambda line, *more: main([*line.split(), *more])


def test_crops_are_cut_and_looked_at(shell, folder, capsys):
    assert shell("crop --boxes train_boxes --images train --sheet crops.png -o crops") == 0
    n_crops = len(list((folder / "crops").glob("*.png")))
    assert f"{n_crops} crops of {n_crops} boxes in 10 images, 160 x 96 pixels each" in capsys.readouterr().err
    assert Image.open(folder / "crops" / "000000.png").size == (96, 160)
    assert Image.open(folder / "crops.png").size[0] > 300
    assert shell("crop --boxes train_boxes --images train -o crops") == 2
    assert "--force" in capsys.readouterr().err


def test_from_boxes_to_a_judged_detector(shell, folder, capsys):
    train = "train --boxes train_boxes --images train --negatives empty -o people.npz --log train.jsonl --seed 1"
    validation = ["--val-boxes", "train_boxes", "--val-images", "train", "--fppi", "0.5"]
    assert shell(train, *TRAIN, *validation) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("round ")]
    events = [json.loads(line) for line in (folder / "train.jsonl").read_text().splitlines()]
    rounds = [event for event in events if event["event"] == "round"]
    assert len(lines) == len(rounds) == 2
    assert [event["n_trees"] for event in rounds] == [8, 32] and rounds[0]["n_hard"] == 0 < rounds[1]["n_hard"]
    assert rounds[1]["median_positive"] > rounds[1]["median_negative"]
    assert 0 <= rounds[1]["validation_miss"] <= 1

    assert shell("detect test -m people.npz -o found.jsonl --draw drawn --threshold -20") == 0
    assert len(list((folder / "drawn").iterdir())) == 12
    evaluate = "evaluate found.jsonl --boxes test_boxes --images test --boxes-format yolo --fppi 0.25 --min-height 80"
    extras = "--curve curve.csv --per-image images.csv --sheets sheets -o results.json"
    assert shell(evaluate, *extras.split(), "--max-miss", "0.999") == 0
    results = json.loads((folder / "results.json").read_text())
    miss = results["log_average_miss_rate"]
    assert miss["low"] <= miss["value"] <= miss["high"] < 1 and results["images"] == 12

    rows = list(csv.DictReader((folder / "images.csv").read_text().splitlines()))
    assert len(rows) == 12
    false = sum(int(row["false"]) for row in rows)
    missed = sum(int(row["missed"]) for row in rows)
    assert false <= 0.25 * 12 and missed / results["objects"] == pytest.approx(results["miss_rate_at_fppi"])
    curve = np.loadtxt(folder / "curve.csv", delimiter=",", skiprows=1)
    assert (np.diff(curve[:, 0]) >= 0).all() and (np.diff(curve[:, 1]) <= 0).all() and curve[0, 1] == 1
    assert {path.name for path in (folder / "sheets").iterdir()} == {"false.png", "missed.png"}

    assert shell(evaluate, "--max-miss", "0.0") == 1
    assert "above 0" in capsys.readouterr().err
    assert shell(evaluate, "--against", "found.jsonl") == 0
    assert json.loads(capsys.readouterr().out)["difference_to_other"] == {"low": 0.0, "value": 0.0, "high": 0.0}


def test_each_round_is_judged_once(shell, folder, monkeypatch):
    """The threshold is that of the boxes by which the last round was judged."""
    judged, matches = [], Validation.matches
    monkeypatch.setattr(Validation, "matches", lambda self, one: judged.append(matches(self, one)) or judged[-1])
    validation = ["--val-boxes", "train_boxes", "--val-images", "train", "--fppi", "0.5"]
    assert shell("train --boxes train_boxes --images train --negatives empty -o judged.npz", *TRAIN, *validation) == 0
    assert len(judged) == 2
    assert PedestrianDetector.load(folder / "judged.npz").threshold == judged[-1].threshold_at(0.5)


def test_training_on_crops_is_that_of_python(shell, folder):
    from paucens import AdaBoostClassifier, Tree
    from paucens.detector import train_detector
    from paucens.features import ChannelSpec

    shell("crop --boxes train_boxes --images train -o cut")
    assert shell("train --crops cut --negatives empty -o crops.npz --no-mirrors", *TRAIN) == 0
    booster = AdaBoostClassifier(learner=Tree(depth=3, column_fraction=1 / 16, column_sampling="node"), shrinkage=0.1)
    crops, empty = (sorted((folder / name).glob("*.png")) for name in ("cut", "empty"))
    spec = ChannelSpec.parse("M+O+LUV", preset="robust")
    sizes = {"n_estimators": (8, 32), "n_negatives": 200, "most_negatives": 400}
    wanted = train_detector(crops, empty, spec, booster, mirrors=False, **sizes)
    scene = synthetic_streets(1, seed=9)[0].image
    found = PedestrianDetector.load(folder / "crops.npz").detect(scene, threshold=-20)
    np.testing.assert_array_equal(found, wanted.detect(scene, threshold=-20))
    assert len(found)


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("train -o m.npz", 2, "give --boxes"),
        ("train --boxes a --crops b -o m.npz", 2, "give --boxes"),
        ("train --crops empty -o m.npz", 2, "--negatives"),
        ("train --crops empty --negatives video.seq -o m.npz", 2, "video.seq is a video"),
        ("train --boxes none --boxes-format voc -o m.npz", 3, "none"),
        ("train --boxes train_boxes --images none -o m.npz", 3, "no folder none"),
        ("train --boxes train_boxes --images train --class car -o m.npz", 3, "no box of the class car"),
        ("train --boxes train_boxes --images train --channels XY -o m.npz", 2, "XY"),
        ("crop --boxes train_boxes --images train --window 64x32 --target 100x41 -o c", 2, "target"),
        ("evaluate none.csv --boxes train_boxes --images train", 3, "none.csv"),
        ("evaluate other.csv --boxes train_boxes --images train", 3, "no image of other.csv is annotated"),
    ],
)
def test_wrong_arguments(shell, folder, line, code, message, capsys):
    (folder / "other.csv").write_text("image,x,y,w,h,score\nx.png,1,2,3,4,5\n")
    write_seq(folder / "video.seq", 1, [encoded(np.zeros((8, 12, 3), np.uint8), "PNG")])
    assert shell(line) == code
    assert message in capsys.readouterr().err
    assert not (folder / "m.npz").exists() and not (folder / "c").exists()


@pytest.mark.parametrize("line", ["train --window 3 --crops c -o m", "train --trees a --crops c -o m"])
def test_values_that_do_not_parse_end_with_2(shell, line, capsys):
    with pytest.raises(SystemExit) as end:
        shell(line)
    assert end.value.code == 2 and "such as" in capsys.readouterr().err
