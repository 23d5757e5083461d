"""The record of larger draws: what is in it, and the script from end to end on one population."""

import defaults
import many_rows

from harness import Run
from pictures import texts_outside


def test_the_record_holds_the_base_first_and_the_defaults_last():
    assert next(iter(many_rows.OURS)) == many_rows.BASE == "nu = 0.05, 31 leaves"
    assert list(many_rows.OURS.values())[-1] == defaults.SCHEDULES[defaults.DEFAULT]
    paper = many_rows.PROTOCOLS["paper"]
    assert (paper.populations, paper.configurations) == (6, 11) and min(paper.n_train) > defaults.N_TRAIN


def test_nu_in_proportion_to_the_samples(monkeypatch):
    monkeypatch.setattr(defaults, "fit_several", lambda X, y, fpr_range, seed, **parameters: parameters)
    fit = many_rows.FITS["600 rounds, nu = n / 160000"]
    assert fit(None, range(16_000), (0, 0.1), 0) == {"n_estimators": 600, "nu": 0.1}


def test_larger_draws_are_of_the_same_populations():
    run = Run.of("many_rows.py", "", many_rows.PROTOCOLS, ["--scale", "smoke"])
    X, y, X_test, y_test = defaults.draw(run, "shell", 0, 6000)
    assert len(X) == len(y) == 6000 and len(X_test) == len(y_test) == defaults.N_TEST
    assert abs(y.mean() - y_test.mean()) < 0.01


def test_the_script_from_end_to_end(tmp_path):
    finished = many_rows.main(["--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)])
    text = (tmp_path / "many_rows.md").read_text(encoding="utf-8")
    assert many_rows.BASE in text and "500 samples, [0, 0.1]" in text
    assert not texts_outside(finished.figure)
