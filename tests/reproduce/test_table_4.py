"""Table 4: the choice of nu, what stands beside the paper's numbers, and the script from end to end on small data."""

from argparse import Namespace

import numpy as np
import pytest

from paucens.plotting import house_style
from reproduce import _run, _store, table_4
from reproduce._tables import paper_says

PAPER_SET, SUBSTITUTE = "protein_pairs", "yeast_pairs"


def small(name):
    """Positives in 20 groups of 6 and 400 negatives; the first of four features is the best."""
    rng = np.random.RandomState(0)
    groups = np.concatenate([np.repeat(np.arange(1, 21), 6), np.zeros(400, dtype=int)])
    y = (groups > 0).astype(int)
    X = rng.normal(size=(520, 4)) + y[:, None] * [2.0, 1.5, 1.0, 0.0]
    return _run.Data(name, name, X, y, None if name == PAPER_SET else groups, False, "0" * 64)


@pytest.fixture
def data(monkeypatch):
    names = [SUBSTITUTE]
    monkeypatch.setattr(table_4, "load_available", lambda _, folder: [small(name) for name in names])
    monkeypatch.setattr(table_4, "TRAIN_SHARE", 0.4)
    monkeypatch.setitem(table_4.PROTOCOLS, "smoke", table_4.Protocol(2, 3, 2, 1.0))
    return names


def run(folder):
    return _run.main(table_4.SCRIPT, ["--scale", "smoke", "--jobs", "1", "--out", str(folder)])


def test_the_script_chooses_tests_and_resumes(data, tmp_path, capsys):
    assert run(tmp_path) == 0
    choice, results = (_store.read_frame(tmp_path / f"{name}.csv") for name in table_4.SCRIPT.sheets)
    assert set(results.method) == set(table_4.METHODS) == set(choice.method) | {"pAUCBoost (our reading)"}
    assert set(results.setting) == {"4 features", "3 features, without the first"}
    assert results[results.method == "pAUCBoost (our reading)"].parameter.isna().all()
    for (method, _, grid), rows in results.groupby(["method", "setting", "choice"]):
        assert len(rows) == 2 and rows.parameter.nunique() <= 1  # chosen once, for all repeats
        if method != "pAUCBoost (our reading)":
            tried = choice[choice.method == method]
            means = tried.groupby("nu").pauc.mean()[list(table_4.NU[grid])]
            assert rows.parameter.iloc[0] == means.idxmax()
    assert results.pauc.between(0.05, 1).all() and results.pauc.max() > 0.6  # w = 0 is the optimum of some
    contents = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    capsys.readouterr()
    assert run(tmp_path) == 0
    assert "were there already" in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == contents


def test_a_substitute_never_stands_beside_the_papers_numbers(data, tmp_path):
    assert run(tmp_path) == 0
    text = (tmp_path / "table_4.md").read_text(encoding="utf-8")
    assert "A substitute" in text and "| paper" not in text
    assert not any(f"{value:.4f}" in text for value in paper_says("table_4")["pauc"].values())
    data[:] = [PAPER_SET]
    assert run(tmp_path / "genuine") == 0
    text = (tmp_path / "genuine" / "table_4.md").read_text(encoding="utf-8")
    assert "A substitute" not in text and "| 0.5676" in text
    assert "Asymmetric SVM" in text and "quoted by the paper" in text
    frames = {name: _store.read_frame(tmp_path / "genuine" / f"{name}.csv") for name in table_4.SCRIPT.sheets}
    with house_style():
        (panel,) = table_4.picture(frames).axes
    assert panel.get_title("left").startswith(PAPER_SET)


def test_groups_are_apart_between_the_parts_and_between_the_folds(data):
    whole = small(SUBSTITUTE)
    protocol = table_4.Protocol(1, 3, 3, 0.5)
    train, test, folds = table_4.split(whole, 0, 0, protocol)
    assert not set(whole.groups[train]) & set(whole.groups[test]) - {0}
    for group in set(whole.groups[train]) - {0}:
        assert len(set(folds[whole.groups[train] == group])) == 1
    assert len(train) + len(test) < 400  # half of the negatives are left out at this scale
    again = table_4.split(whole, 0, 0, protocol)
    assert all(np.array_equal(a, b) for a, b in zip((train, test, folds), again, strict=True))


def test_the_grids_are_the_papers_and_a_wider_one_of_at_most_seven():
    assert table_4.PAPER_NU == (1.0, 0.5, 0.2)
    assert all(len(grid) <= 7 for method in table_4.METHODS.values() for grid in method.grids.values())
    protocol = table_4.PROTOCOLS["paper"]
    assert (protocol.repeats, protocol.rounds, protocol.folds, protocol.pairs) == (10, 100, 5, 1.0)
    assert table_4.METHODS["SVM AUC"].build(100, 2.0).fpr_range == (0.0, 1.0)
    assert table_4.METHODS["pAUCEns"].build(100, 2.0).formulation == "struct"


def test_without_data_it_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PAUCENS_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(_run.MissingData, match="feature-download"):
        table_4.plan(Namespace(scale="smoke", seed=0, data=tmp_path, out=tmp_path))
