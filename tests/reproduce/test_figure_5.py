"""figure_5.py: the smoke scale on rendered streets, and its protocol on a few files in the form of KITTI."""

import figure_5
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from harness import MissingData, Run
from paucens.datasets import synthetic_streets
from pictures import texts_outside


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("PAUCENS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_curves_of_both_detectors(folder):
    arguments = ["--scale", "smoke", "--jobs", "1", "--out", str(folder / "out")]
    run = figure_5.main(arguments)
    rows = pd.read_csv(folder / "out" / "figure_5.csv")
    assert list(rows.method.unique()) == ["pAUCEnsT", "AdaBoost"]
    for _, curve in rows.groupby(["method", "difficulty"]):
        assert len(curve) == 41 and (np.diff(curve.precision) <= 0).all()
        assert curve.average_40.iloc[0] == pytest.approx(curve.precision.iloc[1:].mean(), abs=1e-5)
    text = (folder / "out" / "figure_5.md").read_text(encoding="utf-8")
    assert "(stand-in)" in text and "its numbers say nothing about KITTI" in text and "mBoW" in text
    assert texts_outside(run.figure) == [] and len(run.figure.axes) == 3
    assert not (folder / "out" / "test_evaluations.csv").exists()  # a stand-in is no test set
    figure_5.main([*arguments, "--redraw"])
    assert (folder / "out" / "figure_5.md").read_text(encoding="utf-8") == text


def test_labels_of_rendered_people():
    record = synthetic_streets(3, 1, size=figure_5.SIZE)[2]
    label = figure_5.label_of(record)
    assert len(label.names) == len(record.boxes) + len(record.ignore)
    assert label.occlusion.tolist() == [0] * len(record.boxes) + [2] * len(record.ignore)
    half = figure_5.label_of(type(record)(record.image, [[-10, 20, 20, 50], [10, 20, 20, 50]]))
    assert half.truncation.tolist() == [0.5, 0]


def test_images_of_kitti_are_halved_and_nobody_is_a_negative(folder):
    for k, record in enumerate(synthetic_streets(6, 2, size=figure_5.SIZE)):
        for name in ("image_2", "label_2"):
            (folder / "kitti" / "training" / name).mkdir(parents=True, exist_ok=True)
        Image.fromarray(record.image).save(folder / "kitti" / "training" / "image_2" / f"{k:06d}.png")
        lines = [f"Cyclist 0 0 0 {x} {y} {x + w} {y + h} 1 1 1 1 1 1 1" for x, y, w, h in record.boxes]
        (folder / "kitti" / "training" / "label_2" / f"{k:06d}.txt").write_text("\n".join(lines))
    run = Run("figure_5", figure_5.PROTOCOLS["paper"], "paper", 0, 1, folder, folder / "out", False, None)
    assert figure_5.load(run) == figure_5.KITTI
    training, judged = figure_5.halves(0, 0, folder)
    assert len(training) == len(judged) == 3
    assert sorted(image.stem for image, _ in [*training, *judged]) == [f"{k:06d}" for k in range(6)]
    assert {source["shape"][0] for source in run.sources.values()} == {3}


def test_without_kitti_the_script_says_how_to_get_it(folder):
    with pytest.raises(MissingData, match="eval_object"):
        figure_5.main(["--scale", "paper", "--out", str(folder / "out")])
