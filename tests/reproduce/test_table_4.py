"""Table 4: the choice of nu, what stands beside the paper's numbers, and the script from end to end on small data."""

import numpy as np
import pandas as pd
import pytest
import table_4
from sklearn.utils import Bunch
from table_4 import GRIDS, METHODS, PAPER_SET, TUNED, Protocol

from harness import MissingData, Run
from report import paper_says

SUBSTITUTE = "yeast_pairs"


def small(name):
    """Positives in 40 groups of 6 and 800 negatives; the first of four features is the best."""
    random = np.random.RandomState(0)
    groups = np.concatenate([np.repeat(np.arange(1, 41), 6), np.zeros(800, dtype=int)])
    y = (groups > 0).astype(int)
    X = random.normal(size=(1040, 4)) + y[:, None] * [2.0, 1.5, 1.0, 0.0]
    return Bunch(data=X, target=y, content_hash="0" * 64) | ({} if name == PAPER_SET else {"groups": groups})


class SmallRun(Run):
    """A run on small data of some names."""

    names = (SUBSTITUTE,)

    def data(self, *_):
        self.sources = {name: {"content_hash": "0" * 64} for name in self.names}
        return dict.fromkeys(self.names)

    def load(self, title):
        return Bunch(**small(title))


SMALL = Protocol(2, 3, 2, 1.0)


def run_on(folder, name=SUBSTITUTE, protocol=SMALL):
    run = SmallRun("table_4", protocol, "smoke", 0, 1, None, folder, False, None)
    run.names = (name,)
    return run


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table_4")
    table_4.main(run_on(folder))
    return folder


def test_nu_is_chosen_once_from_each_grid(finished):
    tried, rows = (pd.read_csv(finished / f"{name}.csv") for name in ("table_4_choice", "table_4"))
    assert set(rows.method) == set(METHODS) and set(tried.method) == set(TUNED)
    assert set(zip(rows.features, rows.n_features, strict=True)) == {("all", 4), ("without the first", 3)}
    assert rows[~rows.method.isin(TUNED)].nu.isna().all()
    for method in METHODS:
        for grid, nus in GRIDS.items():
            own = rows[(rows.method == method) & rows.grid.str.contains(grid, regex=False)]
            assert len(own) == 4  # two repeats, with and without the first feature
            if method in TUNED:
                means = tried[tried.method == method].groupby("nu").pauc.mean()[list(nus)]
                assert set(own.nu) == {means.idxmax()}
    assert rows.pauc.between(0.05, 1).all() and rows.pauc.max() > 0.6  # w = 0 is the optimum of some


def test_what_is_finished_is_not_measured_again(finished, capsys):
    contents = {path.name: path.read_bytes() for path in finished.iterdir()}
    table_4.main(run_on(finished))
    assert "were there already" in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in finished.iterdir()} == contents


def test_a_substitute_never_stands_beside_the_papers_numbers(finished, tmp_path):
    text = (finished / "table_4.md").read_text(encoding="utf-8")
    assert "A substitute" in text and "| paper" not in text
    assert not any(f"{value:.4f}" in text for value in paper_says("table_4")["pauc"].values())
    run = table_4.main(run_on(tmp_path, PAPER_SET))
    text = (tmp_path / "table_4.md").read_text(encoding="utf-8")
    assert "A substitute" not in text and "| 0.5676" in text
    assert "Asymmetric SVM" in text and "quoted by the paper" in text
    (panel,) = run.figure.axes
    assert panel.get_title("left").startswith(PAPER_SET)


def test_groups_are_apart_between_the_parts_and_between_the_folds(tmp_path):
    whole, run = Bunch(**small(SUBSTITUTE)), run_on(tmp_path, protocol=Protocol(1, 3, 3, 0.5))
    train, test, folds = table_4.split(run, whole, 0)
    assert not set(whole.groups[train]) & set(whole.groups[test]) - {0}
    for group in set(whole.groups[train]) - {0}:
        assert len(set(folds[whole.groups[train] == group])) == 1
    assert len(train) + len(test) < 800  # half of the negatives are left out at this scale
    again = table_4.split(run, whole, 0)
    assert all(np.array_equal(a, b) for a, b in zip((train, test, folds), again, strict=True))


def test_methods_and_grids_are_the_papers(tmp_path):
    assert GRIDS["the paper's"] == (1.0, 0.5, 0.2) and set(GRIDS["wider"]) > set(GRIDS["the paper's"])
    assert table_4.PROTOCOLS["paper"] == Protocol(repeats=10, rounds=100, folds=5, pairs=1.0)
    run = run_on(tmp_path, protocol=table_4.PROTOCOLS["paper"])
    models = {name: table_4.build(run, {"method": name, "nu": 2.0})[-1] for name in METHODS}
    assert [models[name].nu for name in TUNED] == [2.0] * 5
    assert models["SVM AUC"].fpr_range == (0.0, 1.0) and models["pAUCEns"].formulation == "struct"
    ours = models["pAUCEnsT"]
    assert (ours.n_estimators, ours.anneal, ours.formulation) == (100, False, "tight")


def test_without_data_it_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PAUCENS_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingData, match="feature-download"):
        table_4.main(["--scale", "smoke", "--data", str(tmp_path), "--out", str(tmp_path)])
