"""figure_6.py: the smoke scale on a small benchmark and on streets, and the printed numbers on the real one."""

import gzip
import os
from pathlib import Path

import figure_6
import numpy as np
import pandas as pd
import pytest
from caltech_files import encoded, write_seq, write_vbb
from PIL import Image

from detectors import caltech
from harness import MissingData, Run
from paucens.evaluation.caltech import judge_caltech, read_people
from paucens.images import pixels_of
from pictures import texts_outside

BOX, NOTHING = (100.0, 100.0, 41.0, 100.0), (0.0, 0.0, 0.0, 0.0)
DATA = Path(os.environ.get("PAUCENS_DATA", "data"))


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A benchmark of one video with two evaluated frames, a person in each; every method finds the first one."""
    monkeypatch.delenv("PAUCENS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    rows = [(frame, k, BOX, NOTHING, 0) for k, frame in enumerate((29, 59), 1)]
    write_vbb(tmp_path / "caltech" / "annotations" / "set06" / "V000.vbb", 60, rows, ["person", "person"])
    for method, height in (("VJ", 100), ("HOG", 128)):
        path = tmp_path / "caltech" / "res" / method / "set06" / "V000.txt"
        path.parent.mkdir(parents=True)
        path.write_text(f"30,100,{150 - height / 2},41,{height},9\n60,300,100,41,{height},5\n")
    for name in figure_6.TOOLBOX.values():
        path = tmp_path / "toolbox" / "detections" / f"{name}.txt.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(b"1,100,100,41,100,9\n2,300,100,41,100,5\n"))
    (tmp_path / "toolbox" / "models").mkdir()
    return tmp_path


def smoke(folder):
    return ["--scale", "smoke", "--jobs", "1", "--data", str(folder), "--out", str(folder / "out")]


@pytest.fixture
def untrained(monkeypatch):
    """Our detectors detect each person who is judged and then something else, without being trained."""

    def detected(run, method):
        found = (record.boxes for record in figure_6.halves(run)[1])
        with_errors = (np.concatenate([boxes, [[0, 0, 20, 50]]]) for boxes in found)
        return [np.column_stack([boxes, -np.arange(len(boxes))]) for boxes in with_errors]

    monkeypatch.setattr(figure_6, "detected", detected)


def test_every_method_is_judged(small, untrained, capsys):
    run = figure_6.main(smoke(small))
    rows = pd.read_csv(small / "out" / "figure_6.csv")
    there = rows[rows.data_set == figure_6.CALTECH]
    assert list(there.method.unique()) == ["VJ", "HOG", "ACF-Caltech", "ACF-Caltech+"]
    for _, own in there.groupby("method"):
        assert own.miss_rate.iloc[0] == own.log_average.iloc[0] == 0.5 and (own.n_people == 2).all()
        assert own.fppi.max() <= 0.5
    ours = rows[rows.data_set == figure_6.STREETS]
    assert "stand-in" in figure_6.STREETS and "Caltech" not in figure_6.STREETS
    assert list(ours.method.unique()) == [method for method in figure_6.OURS if method in set(ours.method)]
    assert (ours.log_average.dropna() == 0).all()
    assert texts_outside(run.figure) == [] and len(run.figure.axes) == 2
    text = (small / "out" / "figure_6.md").read_text(encoding="utf-8")
    assert "21.9 (Table 6), 27.0 (Table 7)" in text and "Roerei" in text
    assert len((small / "out" / "test_evaluations.csv").read_text().splitlines()) == 5  # none of the stand-in
    again = figure_6.main([*smoke(small), "--redraw"])
    assert again.redraw and (small / "out" / "figure_6.md").read_text(encoding="utf-8") == text


def test_what_flow_is_worth_on_streets(tmp_path, monkeypatch):
    pytest.importorskip("cv2")
    monkeypatch.setenv("PAUCENS_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    figure_6.main(smoke(tmp_path))
    pairs = pd.read_csv(tmp_path / "out" / "figure_6_flow.csv")
    assert list(zip(pairs.method, pairs.baseline, strict=True)) == list(figure_6.PAIRS)
    rows = pd.read_csv(tmp_path / "out" / "figure_6.csv").drop_duplicates("method").set_index("method")
    rates = rows.log_average[list(figure_6.OURS)]
    np.testing.assert_allclose(pairs.difference, np.diff(rates), atol=2e-6)
    assert (pairs.low <= pairs.difference).all() and (pairs.difference <= pairs.high).all()
    text = (tmp_path / "out" / "figure_6.md").read_text(encoding="utf-8")
    assert "## streets in motion (stand-in), dbEval" in text and "with flow − pAUCEnsT without flow" in text


def test_without_the_toolbox_the_others_are_judged(small, untrained, capsys):
    (small / "toolbox").rename(small / "elsewhere")
    figure_6.main(smoke(small))
    methods = set(pd.read_csv(small / "out" / "figure_6.csv").method)
    assert methods >= {"VJ", "HOG"} and not methods & {"ACF-Caltech", "ACF-Caltech+"}
    assert "pdollar/toolbox" in capsys.readouterr().out
    (small / "caltech").rename(small / "nowhere")
    figure_6.main([*smoke(small)[:-2], "--out", str(small / "other")])
    assert set(pd.read_csv(small / "other" / "figure_6.csv").data_set) == {figure_6.STREETS}
    assert "CaltechPedestrians" in capsys.readouterr().out
    with pytest.raises(MissingData, match="CaltechPedestrians"):
        figure_6.main(["--scale", "paper", "--data", str(small), "--out", str(small / "third")])


def test_without_opencv_a_row_says_so(small, untrained, monkeypatch):
    monkeypatch.setattr(figure_6, "find_spec", lambda name: None)
    figure_6.main(smoke(small))
    text = (small / "out" / "figure_6.md").read_text(encoding="utf-8")
    (line,) = (line for line in text.splitlines() if line.startswith("| pAUCEnsT with flow"))
    assert "OpenCV is not installed" in line and not (small / "out" / "figure_6_flow.csv").exists()


@pytest.mark.parametrize("form", ["seq", "frames"])
def test_frames_of_caltech_are_found(small, form):
    """Every 30th frame of the training sets and the one before; people whom nothing hides are to find."""
    root, hidden = small / "caltech", (100.0, 100.0, 41.0, 50.0)
    rows = [(29, 1, BOX, NOTHING, 0), (59, 2, BOX, hidden, 1)]
    write_vbb(root / "annotations" / "set00" / "V003.vbb", 61, rows, ["person", "person"])
    frames = [np.full((8, 12, 3), 4 * k, np.uint8) for k in range(61)]
    if form == "seq":
        (root / "videos" / "set00").mkdir(parents=True)
        write_seq(root / "videos" / "set00" / "V003.seq", 2, [encoded(frame, "PNG") for frame in frames])
    else:
        (root / "images" / "set00" / "V003").mkdir(parents=True)
        for k in (28, 29, 58, 59):
            Image.fromarray(frames[k]).save(root / "images" / "set00" / "V003" / f"I{k:05d}.png")
    run = Run("figure_6", figure_6.PROTOCOLS["paper"], "paper", 0, 1, small, small / "out", False, None)
    first, second = caltech.training_records(run, root)
    assert [pixels_of(source).max() for source in (first.previous, first.image)] == [4 * 28, 4 * 29]
    assert [pixels_of(source).max() for source in second.source[::-1]] == [4 * 58, 4 * 59]
    assert first.boxes.tolist() == [[99, 99, 41, 100]] and len(second.boxes) == 0 and len(second.ignore) == 1
    with pytest.raises(FileNotFoundError, match=r"The images of Caltech-USA are not in .*videos/set00/V000\.seq"):
        caltech.test_records(run, root)


def test_no_test_set_is_trained_on(small):
    run = Run("figure_6", figure_6.PROTOCOLS["paper"], "paper", 0, 1, small, small / "out", False, None)
    with pytest.raises(FileNotFoundError, match="training sets of Caltech-USA, annotations/set00 to set05, are not in"):
        caltech.training_records(run, small / "caltech")
    with pytest.raises(FileNotFoundError, match="holds no setXX"):
        read_people(small / "caltech", ("set00",))


@pytest.mark.parametrize(
    ("method", "convention", "printed", "digits"),
    [
        ("HOG", "dbEval", 68.5, 1),
        ("ACF-Caltech", "acfTest", 43.88, 2),
        ("ACF-Caltech", "dbEval", 44.12, 2),
        ("ACF-Caltech+", "acfTest", 28.91, 2),
        ("ACF-Caltech+", "dbEval", 29.29, 2),
    ],
)
def test_printed_numbers_are_met(method, convention, printed, digits):
    needed = [DATA / "caltech" / "annotations", DATA / "toolbox" / "detections"]
    if not all(folder.exists() for folder in needed):
        pytest.skip("caltech/ and toolbox/ are not in $PAUCENS_DATA")
    run = Run("figure_6", figure_6.PROTOCOLS["paper"], "paper", 0, 1, DATA, None, False, None)
    people, found, scale = figure_6.published(run, method)
    result = judge_caltech(people, found, height_scale=scale, convention=convention)
    assert round(100 * result.log_average_miss_rate, digits) == printed
    assert result.n_images == 4024
