"""figure_6.py: the smoke scale on a small benchmark, and the printed numbers on the real one."""

import gzip
import os
from pathlib import Path

import figure_6
import pandas as pd
import pytest
from caltech_files import write_vbb

from harness import MissingData, Run
from paucens.evaluation.caltech import judge_caltech
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


def test_every_method_is_judged(small, capsys):
    run = figure_6.main(smoke(small))
    rows = pd.read_csv(small / "out" / "figure_6.csv")
    assert list(rows.method.unique()) == ["VJ", "HOG", "ACF-Caltech", "ACF-Caltech+"]
    for _, own in rows.groupby("method"):
        assert own.miss_rate.iloc[0] == own.log_average.iloc[0] == 0.5 and (own.n_people == 2).all()
        assert own.fppi.max() <= 0.5
    assert texts_outside(run.figure) == []
    text = (small / "out" / "figure_6.md").read_text(encoding="utf-8")
    assert "21.9 (Table 6), 27.0 (Table 7)" in text and "Roerei" in text
    assert len((small / "out" / "test_evaluations.csv").read_text().splitlines()) == 5
    again = figure_6.main([*smoke(small), "--redraw"])
    assert again.redraw and (small / "out" / "figure_6.md").read_text(encoding="utf-8") == text


def test_without_the_toolbox_the_others_are_judged(small, capsys):
    (small / "toolbox").rename(small / "elsewhere")
    figure_6.main(smoke(small))
    assert list(pd.read_csv(small / "out" / "figure_6.csv").method.unique()) == ["VJ", "HOG"]
    assert "pdollar/toolbox" in capsys.readouterr().out
    (small / "caltech").rename(small / "nowhere")
    with pytest.raises(MissingData, match="CaltechPedestrians"):
        figure_6.main([*smoke(small)[:-2], "--out", str(small / "other")])


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
