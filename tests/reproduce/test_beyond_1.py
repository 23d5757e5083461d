"""The comparison with boosters on tiny sets: what is tuned, what is shared, what is said."""

import doctest
from pathlib import Path
from types import SimpleNamespace

import beyond_1
import numpy as np
import pandas as pd
import pytest
from beyond_1 import AUTO, DEFAULT, TOP_PAIRS, TUNED, UNTUNED
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

import boosters
from harness import Run
from paucens.metrics import MeanInterval

FIGURES = Path(__file__).resolve().parents[2] / "figures"
TINY = {  # two configurations per method, as many as the smoke scale takes
    TUNED: ["n_estimators=4", "n_estimators=4, nu=0.5"],
    "as published": ["depth=1, rounds=4, nu=1", "depth=2, rounds=4, nu=1"],
    "AdaBoost": ["depth=1, rounds=4, shrinkage=1", "depth=2, rounds=4, shrinkage=1"],
    TOP_PAIRS: [f"rate=0.2, trees=4, leaves={leaves}, columns=1, share=beta" for leaves in (3, 7)],
} | {
    name: [f"rate=0.2, trees=4, leaves={leaves}, columns=1" for leaves in (3, 7)]
    for name in ("LightGBM", "XGBoost", "scikit-learn HGB")
}


class TinyRun(Run):
    """A run on one small set."""

    def load(self, title):
        rng = np.random.RandomState(0)
        y = (np.arange(960) % 8 == 0).astype(int)
        return Bunch(data=rng.normal(size=(960, 3)) + y[:, None], target=y)


def tiny_run(folder):
    return TinyRun.of("beyond_1.py", "", beyond_1.PROTOCOLS, ["--scale", "smoke", "--jobs", "1", "--out", str(folder)])


def committed(name="beyond_1"):
    return pd.read_csv(FIGURES / f"{name}.csv")


# -- the methods -----------------------------------------------------------------------------------


def slow_top_pairs(y, scores, share):
    """The loss of TopPairs, pair by pair."""
    negatives = scores[y == 0]
    lowest = np.sort(negatives)[::-1][max(1, int(share * len(negatives) + 1e-9)) - 1]
    top = negatives[negatives >= lowest]
    return sum(np.logaddexp(0, f - s) for s in scores[y == 1] for f in top) / len(top)


@given(st.integers(0, 10_000), st.sampled_from([0.1, 0.3, 1.0]))
def test_the_gradient_of_top_pairs_is_that_of_its_loss(seed, share):
    rng = np.random.RandomState(seed)
    y, scores = rng.permutation([1] * 4 + [0] * 11), rng.normal(size=15)
    gradient, curvature = boosters.TopPairs(share)(y, scores)
    assert gradient.sum() == pytest.approx(0, abs=1e-5)
    for sample, step in enumerate(1e-5 * np.eye(15)):
        up, here, down = (slow_top_pairs(y, scores + move, share) for move in (step, 0 * step, -step))
        assert gradient[sample] == pytest.approx((up - down) / 2e-5, abs=1e-4)
        assert curvature[sample] == pytest.approx((up - 2 * here + down) / 1e-10, abs=1e-3)


def test_negatives_that_tie_with_the_last_of_the_top_take_part():
    y, scores = np.array([1, 0, 0, 0, 0]), np.array([0.0, 0.0, 0.0, 0.0, -1.0])
    assert (boosters.TopPairs(0.25)(y, scores)[0] != 0).tolist() == [True, True, True, True, False]


@pytest.mark.parametrize("name", TINY)
def test_every_method_ranks_what_is_easy_and_repeats_itself(name, tmp_path):
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    data, (fit, _) = tiny_run(tmp_path).load("tiny"), beyond_1.METHODS[name]
    X, own = data.data.astype(np.float32), boosters.parameters(TINY[name][1])
    with threadpool_limits(1):
        scores = [fit(X, data.target, (0.0, 0.1), 0, **own)(X) for _ in range(2)]
    assert np.array_equal(*scores) and scores[0].shape == (960,)
    assert scores[0][data.target == 1].mean() > scores[0][data.target == 0].mean()


def test_a_configuration_of_ours_reaches_the_ensemble_and_its_learner(tmp_path):
    data, own = tiny_run(tmp_path).load("tiny"), boosters.parameters("n_estimators=3, nu=0.5, max_leaves=4, power=0.5")
    model = boosters.fit_paucens(data.data, data.target, (0.0, 0.01), 0, **own).__self__
    assert (model.nu, model.n_estimators, model.fpr_range) == (0.5, 3, (0.0, 0.1))
    assert model.learner.max_leaves == 4 and model.learner.leaves == "real"
    assert max((learner.nodes_.child == 0).sum() for learner in model.learners_) == 4


def test_examples_in_docstrings():
    result = doctest.testmod(boosters)
    assert result.attempted and not result.failed


# -- the tuning ------------------------------------------------------------------------------------


def test_every_tuned_method_has_the_same_budget():
    for name, (_, configurations) in beyond_1.METHODS.items():
        assert len({*map(str, map(boosters.parameters, configurations))}) == (1 if name in UNTUNED else 8), name
    assert beyond_1.PROTOCOLS["paper"].configurations == 8 and set(beyond_1.BOOSTERS) < set(beyond_1.METHODS)
    assert boosters.parameters(beyond_1.METHODS[DEFAULT][1][0]) == {}
    assert boosters.parameters(beyond_1.METHODS[AUTO][1][0]) == {"nu": "auto"}
    rival = boosters.parameters(beyond_1.METHODS[TOP_PAIRS][1][3])
    assert rival == {"rate": 0.05, "trees": 300, "leaves": 15, "columns": 1 / 3, "ridge": 10.0, "share": None}


def test_halves_and_folds_are_drawn_within_the_classes():
    y = np.random.RandomState(0).permutation([1] * 24 + [0] * 120)
    run = SimpleNamespace(seed=0, protocol=beyond_1.PROTOCOLS["paper"])
    train, test, folds = beyond_1.split(run, y, 0)
    assert sorted([*train, *test]) == list(range(144)) and y[train].sum() == 12
    assert [np.bincount(folds[y[train] == label]).tolist() for label in (0, 1)] == [[20] * 3, [4] * 3]
    assert not np.array_equal(train, beyond_1.split(run, y, 1)[0])


def chosen(paucs, repeats=1):
    """Cases of a method that was tried with these partial AUCs by beta and configuration, one per fold."""
    rows = [("s", "AdaBoost", beta, own, pauc) for beta in paucs for own in paucs[beta] for pauc in paucs[beta][own]]
    tried = pd.DataFrame(rows, columns=["data_set", "method", "beta", "configuration", "pauc"])
    run = SimpleNamespace(protocol=SimpleNamespace(repeats=repeats))
    return [(case["configuration"], case["betas"]) for case in beyond_1.chosen(run, ["s"], ["AdaBoost"], tried)]


def test_the_largest_mean_wins_and_the_first_of_equals():
    assert chosen({0.01: {"b": (1, 2), "a": (2, 1)}, 0.1: {"b": (0, 0), "a": (0, 3)}}) == [("b", "0.01"), ("a", "0.1")]


def test_ranges_with_the_same_choice_share_a_case():
    paucs = {"a": (1, 2), "b": (3, 3)}
    assert chosen({0.01: paucs, 0.1: paucs}, repeats=2) == [("b", "0.01 0.1")] * 2


@pytest.mark.parametrize("name", [TUNED, "AdaBoost"])
def test_ranges_of_one_case_score_as_alone(name, tmp_path):
    case = {"data_set": "tiny", "method": name, "configuration": TINY[name][0], "betas": "0.01 0.1", "repeat": 0}
    together = beyond_1.measure(tiny_run(tmp_path), case)
    alone = [row for beta in ("0.01", "0.1") for row in beyond_1.measure(tiny_run(tmp_path), case | {"betas": beta})]
    for column in ("beta", "pauc", "tpr"):
        assert [row[column] for row in together] == [row[column] for row in alone]
    if name == "AdaBoost":  # one fit serves both
        assert together[0]["fit_seconds"] == together[1]["fit_seconds"]


# -- the script ------------------------------------------------------------------------------------


def test_the_script_says_what_it_claims_and_how_to_run_it():
    parts = ("Claim", "Protocol", "Where we depart", "2 cores", "python reproduce/beyond_1.py")
    assert all(part in beyond_1.__doc__ for part in parts)


def test_methods_are_tuned_tested_and_compared(tmp_path):
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    run = tiny_run(tmp_path)
    cases = [{"data_set": "tiny", "method": m, "configuration": own} for m, both in TINY.items() for own in both]
    tried = run.rows("beyond_1_tuning", beyond_1.try_out, cases)
    assert len(tried) == len(TINY) * 2 * 2 * 2  # configurations, folds, ranges
    best = list(beyond_1.chosen(run, ["tiny"], TINY, tried))
    for method, own in ((AUTO, "n_estimators=4, nu=auto"), (DEFAULT, "n_estimators=4")):
        best.insert(0, best[0] | {"method": method, "configuration": own, "betas": "0.01 0.1"})
    rows = run.rows("beyond_1", beyond_1.measure, best)
    assert len(rows) == (len(TINY) + 2) * 2 and rows.n_train.eq(rows.n_test).all()
    assert rows[["pauc", "tpr"]].stack().between(0, 1).all()
    means = tried.groupby(["method", "beta", "configuration"]).pauc.mean()
    for row in rows[~rows.method.isin(UNTUNED)].itertuples():
        assert means[row.method, row.beta, row.configuration] == means[row.method, row.beta].max()
    run.write(beyond_1.table(rows), beyond_1.picture(rows))
    text = (tmp_path / "beyond_1.md").read_text(encoding="utf-8")
    assert "not installed" not in text and "not told apart (one repeat) from the best booster" in text


def test_the_versions_of_optional_libraries_are_part_of_the_protocol():
    pytest.importorskip("lightgbm")
    assert "lightgbm" in beyond_1.Protocol(1, 1, 2, 2).peers


def test_a_library_that_is_missing_is_a_row():
    rows = committed()
    text = beyond_1.table(rows[rows.method != "XGBoost"])
    assert "| XGBoost: not installed | –" in text and "LightGBM: not installed" not in text


@pytest.mark.parametrize(
    ("interval", "word"),
    [
        ((0.02, 0.01, 0.03), "above"),
        ((0.0, -0.01, 0.01), "level with"),
        ((-0.02, -0.03, -0.01), "below"),
        ((0.1, np.nan, np.nan), "not told apart (one repeat) from"),
    ],
)
def test_a_difference_in_a_word(interval, word):
    assert beyond_1.standing(MeanInterval(*interval)) == word


def test_the_verdict_counts_the_sets_on_which_the_default_holds():
    fixed = {
        "n_train": 5,
        "n_test": 5,
        "seed": 0,
        "scale": "paper",
        "configuration": "",
        "tpr": 0.5,
        "fit_seconds": 1.0,
    }
    rows = [
        fixed | {"data_set": name, "beta": beta, "method": method, "repeat": repeat, "pauc": pauc}
        for name, gain in {"win": 0.1, "lose": -0.1}.items()
        for beta in (0.01, 0.1)
        for repeat in range(5)
        for method, pauc in {DEFAULT: 0.5 + gain, "AdaBoost": 0.5 + 0.001 * repeat}.items()
    ]
    rows += [row | {"method": AUTO, "pauc": 0.7} for row in rows if row["method"] == DEFAULT]
    lines = [line for line in beyond_1.table(pd.DataFrame(rows)).splitlines() if line.startswith("- On")]
    first, second, automatic, _ = lines
    assert "above the best booster on win (+0.098 to AdaBoost)" in first
    assert "below the best booster on lose" in first and "on 1 of 2 sets" in first
    assert "[0, 0.1]" in second
    assert automatic.startswith(f"- On [0, 0.01] {AUTO} is above the best booster on win (+0.198 to AdaBoost), lose")


def test_the_repository_holds_what_the_tuning_chose_and_its_table():
    rows, tried = committed(), committed("beyond_1_tuning")
    means = tried.groupby(["data_set", "method", "beta", "configuration"]).pauc.mean()
    for row in rows[~rows.method.isin(UNTUNED) & (rows.repeat == 0)].itertuples():
        assert (
            means[row.data_set, row.method, row.beta, row.configuration]
            == means[row.data_set, row.method, row.beta].max()
        )
    assert beyond_1.table(rows) == (FIGURES / "beyond_1.md").read_text(encoding="utf-8")
