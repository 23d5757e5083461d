"""Table 5: how parameters are chosen, what stands beside the paper's numbers, and the script from end to end."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import table_5
from table_5 import CHOICES, DEPTHS, METHODS, ONCE, PROTOCOLS

from features import FEATURES, components
from harness import Run
from paucens.datasets import REGISTRY, load_usps
from report import paper_says

STAND_IN = "digits_parity (stand-in for usps)"


def has_usps():
    try:
        load_usps()
    except FileNotFoundError:
        return False
    return True


class UspsRun(Run):
    """A run on USPS alone."""

    def data(self, *_):
        return super().data("usps")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The script has run where no data set is on the disk."""
    folder = tmp_path_factory.mktemp("table_5")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAUCENS_DATA", str(folder))
        patch.chdir(folder)
        return table_5.main(["--scale", "smoke", "--jobs", "1", "--data", str(folder), "--out", str(folder)])


@pytest.fixture
def rows(finished):
    return pd.read_csv(finished.folder / "table_5.csv", keep_default_na=False, na_values=[""])


# -- the script ------------------------------------------------------------------------------------


def test_rows_have_a_unique_key_and_plausible_values(rows):
    assert not rows.duplicated(["data_set", "repeat", "method", "depth", "choice", "rounds"]).any()
    assert rows.pauc.between(0, 1).all() and set(rows.scale) == {"smoke"} and set(rows.seed) == {0}
    assert set(rows.method) == set(METHODS) and set(rows.depth) == set(DEPTHS)
    assert set(rows.rounds) == {1, 2, 3, 5, 7, 10, 15, 20}
    assert rows[rows.choice.str.startswith("nu ")].parameter.gt(0).all()
    assert rows[rows.method == "AdaBoost"].parameter.isna().all()


def test_all_choices_are_there_for_the_first_depth_and_the_papers_for_the_second(rows):
    for method, choices in CHOICES.items():
        found = [list(rows[(rows.method == method) & (rows.depth == depth)].choice.unique()) for depth in DEPTHS]
        assert found == [list(choices), list(choices)[:1]]


def test_a_row_is_computed_again_to_the_digit(finished, rows):
    for method, depth in (("pAUCEnsT", 3), ("AsymBoost", 2)):
        case = {"data_set": STAND_IN, "repeat": 0, "method": method, "depth": depth}
        own = rows[(rows.method == method) & (rows.depth == depth)]
        again = table_5.measure(finished, case)
        for column in ("pauc", "choice", "parameter", "rounds", "n_train", "n_test", "n_features"):
            assert [row[column] for row in again] == own[column].tolist(), column


def test_a_stand_in_says_so_everywhere_and_the_papers_numbers_are_left_out(finished, rows):
    assert set(rows.data_set) == {STAND_IN}
    text = (finished.folder / "table_5.md").read_text(encoding="utf-8")
    assert "stand-in" in text.splitlines()[0] and "A stand-in: its numbers" in text
    assert "within 0.02" not in text and "paper |" not in text
    panels = finished.figure.axes
    assert "stand-in" in panels[0].get_title("left")
    assert not any(panel.containers for panel in panels)  # error bars are the paper's


def test_a_finished_run_measures_nothing_and_draws_the_same(finished, monkeypatch, capsys):
    monkeypatch.setenv("PAUCENS_DATA", str(finished.folder))
    monkeypatch.chdir(finished.folder)
    contents = {path.name: path.read_bytes() for path in finished.folder.iterdir()}
    assert set(contents) == {f"table_5.{ending}" for ending in ("csv", "json", "md", "png", "pdf")}
    table_5.main(Run("table_5", PROTOCOLS["smoke"], "smoke", 0, 1, finished.folder, finished.folder, False, None))
    assert "were there already" in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in finished.folder.iterdir()} == contents


@pytest.mark.skipif(not has_usps(), reason="USPS is in neither $PAUCENS_DATA nor ./data")
def test_usps_stands_beside_the_papers_numbers(tmp_path):
    run = table_5.main(UspsRun("table_5", PROTOCOLS["smoke"], "smoke", 0, 1, None, tmp_path, False, None))
    rows = pd.read_csv(tmp_path / "table_5.csv")
    assert set(rows.data_set) == {"usps"} and run.sources["usps"]["shape"] == [9298, 256]
    main = table_5.of_grid(rows[rows.depth == 3], 0).set_index(["method", "rounds"]).pauc
    assert abs(main["AdaBoost", 10] - 0.87) < 0.05 and abs(main["pAUCEnsT", 20] - 0.92) < 0.05
    text = (tmp_path / "table_5.md").read_text(encoding="utf-8")
    assert "| 0.87 (0.01) |" in text and "depth 3 − paper" in text and "stand-in" not in text
    assert len(run.figure.axes[0].containers) == len(METHODS)


# -- splits, features and grids --------------------------------------------------------------------


def test_halves_are_random_disjoint_and_frozen():
    train, test, folds = table_5.split(101, 0, 0, 5)
    assert len(train) == 50 and sorted([*train, *test]) == list(range(101))
    assert np.bincount(folds).tolist() == [10] * 5
    other, _, _ = table_5.split(101, 0, 1, 5)
    assert not np.array_equal(train, other)
    assert train[:6].tolist() == [2, 3, 6, 7, 9, 10]


def test_every_data_set_has_features():
    assert set(FEATURES) == {REGISTRY[name].title for name in ("usps", "digits_parity", "scene15", "faces")}


def test_components_are_those_of_the_training_half():
    random = np.random.RandomState(0)
    X, train = random.normal(size=(200, 30)) * np.r_[10.0, 5.0, np.full(28, 0.1)], np.arange(0, 200, 2)
    found = components(X, train)
    assert found.shape == (200, 2) and np.allclose(found[train].mean(axis=0), 0)
    X[1::2] *= 3
    np.testing.assert_array_equal(components(X, train)[train], found[train])


def test_grids_are_the_papers_and_wider_ones():
    nu, k = CHOICES["pAUCEnsT"], CHOICES["AsymBoost"]
    assert nu["nu from the paper's grid"] == nu[ONCE] == (1.0, 0.5, 0.2, 0.1)
    np.testing.assert_allclose(k["k from the paper's grid"], 2.0 ** (np.arange(-5, 6) / 10), rtol=1e-3)
    assert set(nu["nu from a wider grid"]) > set(nu["nu from the paper's grid"])
    assert PROTOCOLS["paper"] == table_5.Protocol(repeats=20, rounds=100, folds=5)


def test_the_papers_table_is_complete_and_ours_is_best_in_it():
    paper = paper_says("table_5")
    assert paper["rounds"] == [10, 20, 100]
    for name in ("usps", "scene15", "faces"):
        assert list(paper[name]) == list(METHODS)
        largest = np.array(paper[name]["pAUCEnsT"]["mean"])
        for cells in paper[name].values():
            assert len(cells["mean"]) == len(cells["sd"]) == 3
            assert (np.array(cells["mean"]) <= largest).all()


# -- choices ---------------------------------------------------------------------------------------

Y = np.tile([0, 1], 20)
X = Y[:, None].astype(float)
FOLDS = np.arange(40) // 2 % 2


class Scripted:
    """A model whose stages score 0 or 1 as its parameter says: perfect, or the wrong way round."""

    def __init__(self, good):
        self.good = good

    def fit(self, X, y):
        return self

    def staged_decision_function(self, X):
        yield from (X[:, 0] * (1 if good else -1) for good in self.good)


def test_choices_are_made_per_stage_or_at_the_end_and_the_first_wins_ties():
    early, late, both = (True, False), (False, True), (True, True)

    def choose(name, *candidates):
        return table_5.choose(X, Y, FOLDS, Scripted, {name: candidates}, [1, 2])[name]

    assert choose("per stage", early, late) == [early, late]
    assert choose(ONCE, early, late) == [late, late]
    assert choose(ONCE, late, both) == [late, late]
    assert choose(ONCE, late) == choose("per stage", late) == [late, late]


def test_choices_share_folds_and_candidates():
    built = []

    def build(book, good):
        book.append(good)
        return Scripted(good)

    choices = {"narrow": ((True,), (False,)), "wide": ((False,), (True,)), "single": ((False,),)}
    chosen = table_5.choose(X, Y, FOLDS, partial(build, built), choices, [1])
    assert chosen == {"narrow": [(True,)], "wide": [(True,)], "single": [(False,)]}
    assert built == [(True,)] * 2 + [(False,)] * 2  # each candidate once per fold


def test_a_fit_that_stopped_early_keeps_its_last_stage():
    assert table_5.stage_paucs(Scripted((False, True)), X, Y, [1, 2, 100]) == [0.0, 1.0, 1.0]
