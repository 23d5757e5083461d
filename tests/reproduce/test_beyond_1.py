"""beyond_1.py and defaults.py on tiny sets: what is tuned, what is shared, what is said."""

import json
from argparse import Namespace
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paucens import PAUCEnsClassifier
from reproduce import _boosters, _run, _store, beyond_1, defaults
from reproduce._tables import MeanInterval

BOOSTED = {"rate": 0.2, "trees": 4, "columns": 1.0}
TINY = {  # two settings a method, as the smoke scale takes
    "pAUCEnsT": ({}, {"nu": 0.5}),
    "as published": tuple({"depth": depth, "rounds": 4, "nu": 1.0} for depth in (1, 2)),
    "AdaBoost": tuple({"depth": depth, "rounds": 4, "shrinkage": 1.0} for depth in (1, 2)),
    "LightGBM, top pairs": tuple(BOOSTED | {"leaves": leaves, "share": None} for leaves in (3, 7)),
}


def tiny_data(name):
    rng = np.random.RandomState(sum(map(ord, name)))
    y = (np.arange(960) % 8 == 0).astype(int)
    X = rng.normal(size=(960, 3)) + y[:, None]
    return _run.Data(name=name, title=name, X=X, y=y, groups=None, stands_in=False, content_hash=name[0] * 16)


@pytest.fixture
def tiny(monkeypatch):
    """Small sets and fits in the place of the real ones."""
    methods = {
        name: replace(method, settings=TINY.get(name, tuple(BOOSTED | {"leaves": leaves} for leaves in (3, 7))))
        for name, method in beyond_1.METHODS.items()
    }
    ours = methods["pAUCEnsT"]
    methods["pAUCEnsT"] = replace(ours, fit=lambda *data, **setting: ours.fit(*data, n_estimators=4, **setting))
    monkeypatch.setattr(beyond_1, "METHODS", methods)
    monkeypatch.setattr(beyond_1, "load_available", lambda names, folder: [tiny_data(name) for name in names])
    return methods


def run(script, out, *extra):
    return _run.main(script.SCRIPT, ["--scale", "smoke", "--jobs", "1", "--out", str(out), *extra])


# ------------------------------------------------------------------------------------------ the boosters


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
    gradient, curvature = _boosters.TopPairs(share)(y, scores)
    assert gradient.sum() == pytest.approx(0, abs=1e-5)
    for sample, step in enumerate(1e-5 * np.eye(15)):
        up, here, down = (slow_top_pairs(y, scores + move, share) for move in (step, 0 * step, -step))
        assert gradient[sample] == pytest.approx((up - down) / 2e-5, abs=1e-4)
        assert curvature[sample] == pytest.approx((up - 2 * here + down) / 1e-10, abs=1e-3)


def test_negatives_that_tie_with_the_last_of_the_top_take_part():
    y, scores = np.array([1, 0, 0, 0, 0]), np.array([0.0, 0.0, 0.0, 0.0, -1.0])
    assert (_boosters.TopPairs(0.25)(y, scores)[0] != 0).tolist() == [True, True, True, True, False]


@pytest.mark.parametrize("name", beyond_1.METHODS)
def test_every_method_ranks_what_is_easy_and_repeats_itself(name, tiny):
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    data = tiny_data("a")
    X = data.X.astype(np.float32)
    scores = [tiny[name].fit(X, data.y, (0.0, 0.1), 0, **tiny[name].settings[1])(X) for _ in range(2)]
    assert np.array_equal(*scores) and scores[0].shape == (960,)
    assert scores[0][data.y == 1].mean() > scores[0][data.y == 0].mean()


def test_a_setting_of_ours_reaches_the_ensemble_and_its_learner():
    data = tiny_data("a")
    setting = {"n_estimators": 3, "nu": 0.5, "max_leaves": 4, "power": 0.5}
    model = _boosters.fit_paucens(data.X, data.y, (0.0, 0.01), 0, **setting).__self__
    assert (model.nu, model.n_estimators, model.fpr_range) == (0.5, 3, (0.0, 0.1))
    assert model.learner.max_leaves == 4 and model.learner.leaves == "real"
    assert max((learner.nodes_.child == 0).sum() for learner in model.learners_) == 4


# ------------------------------------------------------------------------------------------ the tuning


def test_every_method_has_the_same_budget():
    for name, method in beyond_1.METHODS.items():
        texts = [beyond_1.setting_text(setting) for setting in method.settings]
        assert len(set(texts)) == 8 == beyond_1.PROTOCOLS["paper"].settings, name
    assert set(beyond_1.BOOSTERS) < set(beyond_1.METHODS)
    assert beyond_1.setting_text(beyond_1.METHODS["pAUCEnsT"].settings[0]) == "default"


def test_halves_and_folds_are_drawn_within_the_classes():
    y = np.random.RandomState(0).permutation([1] * 24 + [0] * 120)
    train, test, folds = beyond_1.split_halves(y, 0, 0, 3)
    assert sorted([*train, *test]) == list(range(144)) and y[train].sum() == 12
    assert [np.bincount(folds[y[train] == label]).tolist() for label in (0, 1)] == [[20] * 3, [4] * 3]
    other, _, _ = beyond_1.split_halves(y, 0, 1, 3)
    assert not np.array_equal(train, other)


def test_the_largest_mean_wins_and_the_first_of_equals():
    rows = [
        ("s", "m", beta, setting, pauc)
        for beta, table in ((0.01, {"a": (1, 2), "b": (2, 1)}), (0.1, {"a": (0, 0), "b": (0, 3)}))
        for setting, paucs in table.items()
        for pauc in paucs
    ]
    frame = pd.DataFrame(rows, columns=["data_set", "method", "beta", "setting", "pauc"])
    assert beyond_1.best_settings(frame) == {("s", "m"): {0.01: "a", 0.1: "b"}}


@pytest.mark.parametrize(("ranged", "n_fits"), [(True, 2), (False, 1)])
def test_a_method_that_does_not_look_at_the_range_is_fitted_once(ranged, n_fits):
    calls = []

    def fit(X, y, fpr_range, seed):
        calls.append(fpr_range)
        return len

    method = beyond_1.Method(fit, ({},), ranged)
    fitted = beyond_1.fit_ranges(np.zeros((4, 1)), np.zeros(4), [0, 1], method, {}, beyond_1.RANGES, 0)
    assert list(fitted) == list(beyond_1.RANGES) and calls == list(beyond_1.RANGES[:n_fits])


def test_ranges_of_equal_choice_share_a_task(tiny):
    arguments = Namespace(seed=0, scale="smoke")
    protocol = beyond_1.PROTOCOLS["smoke"]

    def settings_and_rows(first, second):
        choice = {0.01: first, 0.1: second}
        tasks = beyond_1.result_tasks(tiny_data("a"), "pAUCEnsT", "tuned", choice, protocol, arguments)
        return [(task.key[3], task.n_rows) for task in tasks]

    assert settings_and_rows("nu=0.5", "nu=0.5") == [("nu=0.5", 2)]
    assert settings_and_rows("default", "nu=0.5") == [("default", 1), ("nu=0.5", 1)]


# ------------------------------------------------------------------------------------------ the script


@pytest.mark.parametrize("script", [beyond_1, defaults])
def test_a_script_says_what_it_claims_and_how_to_run_it(script):
    parts = ("Claim", "Protocol", "Where we depart", "2 cores", f"python reproduce/{script.NAME}.py")
    assert all(part in script.__doc__ for part in parts)


def test_the_script_tunes_tests_and_resumes(tiny, tmp_path):
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    assert run(beyond_1, tmp_path) == 0
    tuning, results = (_store.read_frame(tmp_path / f"{name}.csv") for name in ("beyond_1_tuning", "beyond_1"))
    assert len(tuning) == len(tiny) * 2 * 2 * 2  # settings, folds, ranges
    assert len(results) == (len(tiny) + 1) * 2
    assert results[["pauc", "tpr"]].stack().between(0, 1).all() and results.n_train.eq(results.n_test).all()
    best = beyond_1.best_settings(tuning)
    for row in results[results.choice == "tuned"].itertuples():
        assert row.setting == best[row.data_set, row.method][row.beta]
    text = (tmp_path / "beyond_1.md").read_text(encoding="utf-8")
    assert "not installed" not in text and "(best)" in text and "pAUCEnsT, default" in text
    origin = json.loads((tmp_path / "beyond_1.json").read_text(encoding="utf-8"))
    assert set(origin["protocol"]["peers"]) >= {"lightgbm"}
    path = tmp_path / "beyond_1.csv"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert run(beyond_1, tmp_path) == 0
    kept = content[: len(content) // 3].rpartition(b"\n")[0]
    assert path.read_bytes().startswith(kept) and path.read_bytes().count(b"\n") == content.count(b"\n")


def test_a_library_that_is_missing_is_a_row(tiny, tmp_path, monkeypatch):
    ours = {name: tiny[name] for name in ("pAUCEnsT", "AdaBoost")}
    absent = replace(tiny["LightGBM"], distributions=("no-such-distribution",))
    monkeypatch.setattr(beyond_1, "METHODS", ours | {"LightGBM": absent})
    assert run(beyond_1, tmp_path) == 0
    assert "| LightGBM: not installed | –" in (tmp_path / "beyond_1.md").read_text(encoding="utf-8")


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
    gains = {"win": 0.1, "lose": -0.1}
    rows = [
        {
            "data_set": name,
            "beta": beta,
            "label": label,
            "repeat": repeat,
            "n_train": 5,
            "n_test": 5,
            "pauc": 0.5 + 0.001 * repeat * (label == "AdaBoost") + gain * (label == "pAUCEnsT, default"),
        }
        for name, gain in gains.items()
        for beta in (0.01, 0.1)
        for repeat in range(5)
        for label in ("pAUCEnsT, default", "AdaBoost")
    ]
    first, second = beyond_1.verdict(pd.DataFrame(rows)).splitlines()
    assert "above the best booster on win (+0.098 to AdaBoost)" in first
    assert "below the best booster on lose" in first and "on 1 of 2 sets (wanted: 3 of 4)" in first
    assert "[0, 0.1]" in second


# ------------------------------------------------------------------------------------------ the defaults


def test_the_record_holds_the_defaults_of_the_package_and_its_base_first():
    package = PAUCEnsClassifier().get_params()
    recorded = defaults.CONFIGURATIONS[defaults.DEFAULT]
    assert recorded == {name: package[name] for name in recorded} and set(recorded) == {"n_estimators", "nu"}
    assert next(iter(defaults.CONFIGURATIONS)) == defaults.BASE
    assert defaults.PROTOCOLS["paper"].data_sets == len(defaults.DATA_SETS)


@pytest.mark.parametrize("name", [name for name in defaults.DATA_SETS if not name.startswith("usps")])
def test_choice_sets_are_drawn_from_their_seed(name):
    first, again = (defaults.DATA_SETS[name](defaults.random_stream(0, 1, 2)) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    X, y, X_test, y_test = first
    assert X.shape[1] == X_test.shape[1] and set(y) == {0, 1}
    assert 0.02 < y.mean() < 0.12 and y.mean() == pytest.approx(y_test.mean(), abs=0.015)


def test_configurations_are_compared_with_the_first(tmp_path, monkeypatch):
    changes = {defaults.BASE: {}, "two seeds": {"models": 2}, "wider": {"power": 0.5}}
    few = {name: {"n_estimators": 4} | change for name, change in changes.items()}
    monkeypatch.setattr(defaults, "CONFIGURATIONS", few)
    monkeypatch.setattr(defaults, "BOOSTERS", {})
    monkeypatch.setitem(defaults.PROTOCOLS, "smoke", defaults.Protocol(2, 2, 3))
    assert run(defaults, tmp_path) == 0
    frame = _store.read_frame(tmp_path / "defaults.csv")
    assert len(frame) == 2 * 2 * 3 * 2 and frame.pauc.between(0, 1).all()
    rows = defaults.with_labels(frame[frame.beta == 0.1])
    means = rows.groupby(["data_set", "label"]).pauc.mean().unstack()
    expected = 100 * (means["wider"] - means[defaults.BASE])
    assert defaults.gains(rows, "wider").to_dict() == pytest.approx(expected.to_dict())
    assert "| wider" in (tmp_path / "defaults.md").read_text(encoding="utf-8")
