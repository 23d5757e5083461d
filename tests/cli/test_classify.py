"""`paucens classify`: a table is fitted, scored and judged; what is wrong with it is said."""

import csv
import json

import numpy as np
import pandas as pd
import pytest

from paucens import FPRThresholdClassifier
from paucens.cli import main
from paucens.cli.tables import Table

FIT = ["--label", "label", "--positive", "fraud", "--drop", "id", "--trees", "20", "--max-fpr", "0.05"]


def write_table(path, seed, n=1500):
    """Write a table with numbers, a category, missing values and text as labels."""
    rng = np.random.RandomState(seed)
    amount, hours = rng.normal(size=n).round(3), rng.normal(size=n).round(3)
    colour = np.array(["red", "green", ""])[rng.randint(3, size=n)]
    positive = amount + (colour == "red") + 0.5 * rng.normal(size=n) > 1.5
    frame = pd.DataFrame({"id": range(n), "amount": amount, "colour": colour, "hours": hours})
    frame.loc[::50, "hours"] = np.nan
    frame.assign(label=np.where(positive, "fraud", "legit")).to_csv(path, index=False)
    return positive


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with two tables and a model fitted to the first."""
    folder = tmp_path_factory.mktemp("tables")
    write_table(folder / "old.csv", 0)
    write_table(folder / "new.csv", 1)
    log = ["--log", str(folder / "log.jsonl")]
    assert main(["classify", "fit", str(folder / "old.csv"), *FIT, "-o", str(folder / "model.npz"), *log]) == 0
    return folder


def test_the_model_is_one_of_python(folder, capsys):
    assert main(["classify", "score", str(folder / "new.csv"), "-m", str(folder / "model.npz"), "--keep", "id"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    model = FPRThresholdClassifier.load(folder / "model.npz")
    new = pd.read_csv(folder / "new.csv")[["amount", "colour", "hours"]]
    margins = -model.decision_function(new)  # "fraud" is the first of the labels
    assert [row["id"] for row in rows] == [str(k) for k in range(len(new))]
    np.testing.assert_allclose([float(row["score"]) for row in rows], margins, rtol=1e-8)
    np.testing.assert_array_equal([row["alarm"] == "1" for row in rows], model.predict(new) == "fraud")


def test_columns_are_found_by_name(folder, tmp_path, capsys):
    pd.read_csv(folder / "new.csv")[["hours", "label", "colour", "amount"]].to_csv(tmp_path / "turned.csv", index=False)
    texts = []
    for table in (folder / "new.csv", tmp_path / "turned.csv"):
        assert main(["classify", "score", str(table), "-m", str(folder / "model.npz")]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]


def test_the_rates_are_those_of_the_alarms(folder, tmp_path, capsys):
    model, new = str(folder / "model.npz"), str(folder / "new.csv")
    assert main(["classify", "score", new, "-m", model, "--keep", "label", "-o", str(tmp_path / "scores.csv")]) == 0
    scores = pd.read_csv(tmp_path / "scores.csv")
    assert main(["classify", "evaluate", new, "-m", model, "--label", "label", "--positive", "fraud"]) == 0
    found = {row["what"]: row for row in csv.DictReader(capsys.readouterr().out.splitlines())}
    rates = scores.groupby("label").alarm.mean()
    for what, label in (("positives found", "fraud"), ("false alarms per negative", "legit")):
        row = found[what]
        assert float(row["value"]) == pytest.approx(rates[label], rel=1e-5)
        assert float(row["low"]) < rates[label] < float(row["high"])
    assert float(found["positives"]["value"]) == (scores.label == "fraud").sum()


@pytest.mark.parametrize(("criterion", "code"), [("--min-tpr 0.1 --max-fpr 0.5", 0), ("--min-tpr 0.999", 1)])
def test_a_failed_criterion_ends_with_1(folder, criterion, code, capsys):
    arguments = ["-m", str(folder / "model.npz"), "--label", "label", "--positive", "fraud", *criterion.split()]
    assert main(["classify", "evaluate", str(folder / "new.csv"), *arguments]) == code
    assert ("of the positives are found, fewer than 0.999" in capsys.readouterr().err) == (code == 1)


def test_the_log_holds_json(folder):
    (entry,) = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert entry["event"] == "fitted" and entry["categorical"] == ["colour"] and entry["features"] == 3


def test_files_are_not_written_over_unless_asked(folder, capsys):
    before = (folder / "model.npz").read_bytes()
    arguments = ["classify", "score", str(folder / "new.csv"), "-m", str(folder / "model.npz")]
    assert main([*arguments, "-o", str(folder / "model.npz")]) == 2
    assert "--force" in capsys.readouterr().err
    assert (folder / "model.npz").read_bytes() == before
    (folder / "scores.csv").write_text("old")
    assert main([*arguments, "-o", str(folder / "scores.csv"), "--force"]) == 0
    assert (folder / "scores.csv").read_text().startswith("score,alarm\n")


@pytest.mark.parametrize(
    ("content", "arguments", "code", "message"),
    [
        (None, FIT, 3, "No such file"),
        ("", FIT, 3, "is empty"),
        ("id,label\n", FIT, 3, "no row"),
        ("id,label\n1,fraud\n2\n", FIT, 3, "line 3: 1 cells"),
        ("id,a,a,label\n1,2,3,fraud\n", FIT, 3, "two columns called 'a'"),
        ("id,a,label\n1,2,fraud\n1,2,fraud\n", FIT, 3, "must hold two labels, one of them 'fraud'"),
        ("id,a,class\n1,2,fraud\n1,2,legit\n", FIT, 3, "no column 'label'"),
        ("id,label\n1,fraud\n2,legit\n", FIT, 2, "no column is left"),
        ("id,a,label\n1,2,fraud\n1,2,legit\n", ["--label", "label"], 2, "--positive LABEL"),
        ("id,a,label\n1,2,fraud\n1,x,legit\n", [*FIT, "--categorical", "b"], 3, "row 2: 'x' in the column 'a'"),
        ("id,a,label\n" + "1,2,fraud\n1,3,legit\n" * 20, FIT, 2, "negatives"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(content, arguments, code, message, tmp_path, capsys):
    if content is not None:
        (tmp_path / "table.csv").write_text(content)
    assert main(["classify", "fit", str(tmp_path / "table.csv"), *arguments, "-o", str(tmp_path / "m.npz")]) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / "m.npz").exists()


def test_models_of_no_use_end_with_4(tmp_path, folder, capsys):
    (tmp_path / "m.npz").write_bytes(b"PK")
    for path in (tmp_path / "m.npz", tmp_path / "none.npz"):
        assert main(["classify", "score", str(folder / "new.csv"), "-m", str(path)]) == 4
        assert str(path) in capsys.readouterr().err


def test_cells_are_numbers_missing_or_categories(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfa,b,c\r\n1e3,NA,3\r\n,x y,4\r\n\r\n-inf,?,5\r\n")
    table = Table.read(str(tmp_path / "t.csv"))
    X, categorical = table.features(["a", "b"])
    assert categorical == ["b"] and X[:, 1].tolist() == [None, "x y", None]
    np.testing.assert_array_equal(X[:, 0].astype(float), [1000, np.nan, -np.inf])
    X, categorical = table.features(["c"])
    assert X.dtype == float and categorical == []
    X, categorical = table.features(["c"], ["c"])
    assert X[:, 0].tolist() == ["3", "4", "5"] and categorical == ["c"]
