"""Figure 4: the grids, the choice on validation points, the stumps in the CSV, and the script from end to end."""

import json
from pathlib import Path

import figure_4
import numpy as np
import pandas as pd
import pytest

from paucens.metrics import partial_auc

FIGURES = Path(__file__).resolve().parents[2] / "figures"
STAGES = ("figure_4", "figure_4_stumps", "figure_4_points")


def run(folder, *extra):
    return figure_4.main(["--scale", "smoke", "--jobs", "1", "--out", str(folder), *extra])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run at smoke scale, once for the whole file."""
    return run(tmp_path_factory.mktemp("figure_4"))


@pytest.fixture(scope="module")
def frames(finished):
    return [pd.read_csv(finished.folder / f"{name}.csv") for name in STAGES]


def test_the_script_says_what_it_claims_and_how_to_run_it():
    parts = ("Claim", "Protocol", "Where we depart", "2 cores", "python reproduce/figure_4.py")
    assert all(part in figure_4.__doc__ for part in parts)


def test_grids_are_the_papers_and_a_wider_one():
    paper, both = figure_4.GRIDS["pAUCEnsT", "the paper's"], figure_4.GRIDS["pAUCEnsT", "both"]
    assert (paper[0], paper[-1], len(paper)) == (1e-5, 1e-3, 11) and paper[1] == pytest.approx(10**-4.8, rel=1e-3)
    assert both == sorted(set(both)) and both[:11] == paper and (both[11], both[-1]) == (1e-2, 1e3)
    ratios, asymmetries = figure_4.GRIDS["CS-AdaBoost", "the paper's"], figure_4.GRIDS["AsymBoost", "the paper's"]
    assert len(ratios) == 21 and (ratios[0], ratios[-1]) == (0.5, 2.5)
    assert len(asymmetries) == 16 and (asymmetries[0], asymmetries[-1]) == (0.5, 4.0)
    assert list(figure_4.METHODS) == ["AdaBoost", "CS-AdaBoost", "AsymBoost", "pAUCEnsT"]


def test_costs_have_the_ratio_k_and_the_sum_2():
    model = figure_4.METHODS["CS-AdaBoost"](2.5)
    assert model.cost_positive / model.cost_negative == pytest.approx(2.5)
    assert model.cost_positive + model.cost_negative == pytest.approx(2)


def test_small_nu_does_not_stall(finished):
    model = figure_4.METHODS["pAUCEnsT"](1e-5).fit(*figure_4.points(finished, 0)[0])
    assert len(model.weights_) == figure_4.N_STUMPS and np.abs(model.weights_).max() > 0


def test_the_script_writes_all_its_files(finished):
    names = {f"{name}.{ending}" for name in STAGES for ending in ("csv", "json")}
    assert {path.name for path in finished.folder.iterdir()} == names | {
        f"figure_4.{end}" for end in ("md", "png", "pdf")
    }
    text = (finished.folder / "figure_4.json").read_text(encoding="utf-8")
    assert json.loads(text)["protocol"] == {"repeats": 2} and str(finished.folder) not in text


def test_every_method_grid_and_repeat_has_a_row(frames):
    rows, _, points = frames
    assert len(rows) == 2 * len(figure_4.GRIDS) and not rows.duplicated(["method", "grid", "repeat"]).any()
    assert rows[["pauc", "validation_pauc", "tpr"]].stack().between(0, 1).all() and rows.fpr.between(0, 0.2).all()
    assert (rows.parameter.isna() == (rows.method == "AdaBoost")).all()
    assert len(points) == 400 and points.label.sum() == 200


def test_the_first_parameter_that_is_best_on_the_validation_points_is_chosen(finished, frames):
    train, (X, y), _ = figure_4.points(finished, 1)
    models = {k: figure_4.METHODS["AsymBoost"](k).fit(*train) for k in figure_4.GRIDS["AsymBoost", "the paper's"]}
    paucs = {k: partial_auc(y, model.decision_function(X), (0, 0.2)) for k, model in models.items()}
    (row,) = frames[0].query("method == 'AsymBoost' and repeat == 1").itertuples()
    assert row.parameter == max(paucs, key=paucs.get) and row.validation_pauc == round(max(paucs.values()), 6)


def test_a_row_is_measured_again_to_the_digit(finished, frames):
    case = {"method": "pAUCEnsT", "grid": "the paper's", "repeat": 1}
    (again,) = figure_4.measure(finished, case)
    (row,) = frames[0].query("method == 'pAUCEnsT' and grid == \"the paper's\" and repeat == 1").to_dict("records")
    for column in ("parameter", "validation_pauc", "pauc", "fpr", "tpr"):
        assert again[column] == row[column]


def test_stumps_of_the_csv_are_the_model(finished, frames):
    """The region that is drawn has the rates that the CSV gives for the test points."""
    rows, stumps, _ = frames
    X, y = figure_4.points(finished, 0)[2]
    for row in figure_4.with_grid(rows[rows.repeat == 0], "both").itertuples():
        own = stumps[stumps.method == row.method]
        assert own["round"].tolist() == list(range(1, 11)) and own.weight.abs().sum() == pytest.approx(1)
        assert own.parameter.equals(own.parameter.where(own.parameter == row.parameter))
        inside = figure_4.score(own, X.T) > own.cut.iloc[0]
        assert (inside[y == 0].mean(), inside[y == 1].mean()) == pytest.approx((row.fpr, row.tpr), abs=1e-6)


def test_the_table_of_the_repository_is_that_of_its_csv():
    rows = pd.read_csv(FIGURES / "figure_4.csv")
    assert figure_4.table(rows) == (FIGURES / "figure_4.md").read_text(encoding="utf-8")
