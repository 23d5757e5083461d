"""The record of the defaults: what is in it, the sets, the gains, and the script from end to end on one set."""

from pathlib import Path

import defaults
import numpy as np
import pandas as pd
import pytest

from boosters import fit_paucens
from harness import Run
from paucens import PAUCEnsClassifier

FIGURES = Path(__file__).resolve().parents[2] / "figures"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run at smoke scale, once for the whole file."""
    return defaults.main(["--scale", "smoke", "--jobs", "1", "--out", str(tmp_path_factory.mktemp("defaults"))])


def test_the_script_says_what_it_claims_and_how_to_run_it():
    parts = ("Claim", "Protocol", "Where we depart", "2 cores", "python reproduce/defaults.py")
    assert all(part in defaults.__doc__ for part in parts)


def test_the_record_holds_the_defaults_of_the_package_and_its_base_first():
    package, recorded = PAUCEnsClassifier().get_params(), defaults.OURS[defaults.DEFAULT]
    assert recorded == {name: package[name] for name in recorded} and set(recorded) == {"n_estimators", "nu"}
    assert next(iter(defaults.OURS)) == defaults.BASE and len(defaults.OURS) == 24
    assert defaults.PROTOCOLS["paper"].data_sets == len(defaults.DATA_SETS) == 10


@pytest.mark.parametrize("name", [name for name in defaults.DATA_SETS if not name.startswith("usps")])
def test_sets_are_drawn_from_their_seed(name):
    run = Run.of("defaults.py", "", defaults.PROTOCOLS, ["--scale", "smoke"])
    first, again = (defaults.draw(run, name, 1) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    X, y, X_test, y_test = first
    assert X.shape[1] == X_test.shape[1] and set(y) == {0, 1}
    assert 0.02 < y.mean() < 0.12 and y.mean() == pytest.approx(y_test.mean(), abs=0.015)


def test_two_models_score_by_their_mean():
    X, y, X_test, _ = defaults.draw(Run.of("defaults.py", "", defaults.PROTOCOLS, []), "digits: 8", 0)
    one, other = (fit_paucens(X, y, (0, 0.1), seed, n_estimators=3)(X_test) for seed in (5, 1005))
    both = defaults.fit_several(X, y, (0, 0.1), 5, models=2, n_estimators=3)(X_test)
    assert np.array_equal(both, np.mean([one, other], axis=0)) and not np.array_equal(one, other)


def test_gains_are_over_the_base_by_set():
    paucs = {("a", defaults.BASE): (0.5, 0.7), ("a", "wider"): (0.7, 0.9), ("b", defaults.BASE): (0.3, 0.3)}
    paucs["b", "wider"] = (0.2, 0.2)
    rows = [
        {"data_set": name, "configuration": configuration, "repeat": repeat, "pauc": pauc}
        for (name, configuration), own in paucs.items()
        for repeat, pauc in enumerate(own)
    ]
    gains = defaults.gains(pd.DataFrame(rows))
    assert gains["wider"].to_dict() == pytest.approx({"a": 20, "b": -10}) and (gains[defaults.BASE] == 0).all()


def test_the_script_runs_on_one_set(finished):
    rows = pd.read_csv(finished.folder / "defaults.csv")
    assert set(rows.configuration) >= {defaults.BASE} and rows.pauc.between(0, 1).all()
    assert not rows.duplicated(["data_set", "configuration", "repeat", "beta"]).any() and set(rows.beta) == {0.01, 0.1}
    text = (finished.folder / "defaults.md").read_text(encoding="utf-8")
    assert text == defaults.table(rows) and f"| {defaults.BASE}" in text


def test_a_row_is_measured_again_to_the_digit(finished):
    pytest.importorskip("lightgbm")
    case = {"data_set": "digits: 8", "configuration": "LightGBM, top pairs", "repeat": 0}
    rows = pd.read_csv(finished.folder / "defaults.csv").query("configuration == 'LightGBM, top pairs'")
    assert [row["pauc"] for row in defaults.measure(finished, case)] == rows.pauc.tolist()


def test_the_table_of_the_repository_is_that_of_its_csv():
    rows = pd.read_csv(FIGURES / "defaults.csv")
    assert defaults.table(rows) == (FIGURES / "defaults.md").read_text(encoding="utf-8")
