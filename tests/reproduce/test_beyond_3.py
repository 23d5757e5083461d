"""Compact models on tiny sets: equal sizes, equal tuning, stages of one fit, what the table and the picture say."""

import itertools
import warnings
from types import SimpleNamespace

import beyond_1
import beyond_3
import numpy as np
import pandas as pd
import pytest
from beyond_3 import LOGISTIC, METHODS, OURS, PEERS, TOP_PAIRS, WHOLE
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

import boosters
from harness import MissingData, Run
from pictures import texts_outside

ENSEMBLES = [name for name in METHODS if name != LOGISTIC]
NEEDED = {"LightGBM": "lightgbm", TOP_PAIRS: "lightgbm", "XGBoost": "xgboost"}


def draw(n_negatives=4000):
    """Positives shifted along three columns; one negative in 400 looks like a positive."""
    rng = np.random.RandomState(0)
    y = np.repeat([1, 0], [n_negatives // 10, n_negatives])
    X = rng.normal(size=(len(y), 3)) + 1.5 * (y[:, None] | (rng.rand(len(y), 1) < 1 / 400))
    return Bunch(data=X, target=y)


class TinyRun(Run):
    """A run on one small set."""

    def data(self, *names):
        self.sources["tiny"] = {"content_hash": "0", "shape": [4400, 3]}
        return {} if self.redraw else {"tiny": draw()}

    def load(self, title):
        return draw()


def tiny_run(folder, *more):
    argv = ["--scale", "smoke", "--jobs", "1", "--out", str(folder), *more]
    return TinyRun.of("beyond_3.py", "", beyond_3.PROTOCOLS, argv)


# -- the methods -----------------------------------------------------------------------------------


def fitted(method, depth, trees, seed=0):
    """Fit a method in its third configuration, the first with all regularisation."""
    if method in NEEDED:
        pytest.importorskip(NEEDED[method])
    make, configurations, _ = METHODS[method]
    own = boosters.parameters(configurations[2]) | {"depth": depth, "trees": trees}
    if method in beyond_3.RANGED:
        own["beta"] = 0.01
    data = draw(1000)
    with warnings.catch_warnings(action="ignore", category=UserWarning), threadpool_limits(1):
        return make(seed, **own).fit(data.data, data.target)


def leaves_and_levels(model):
    """Count the leaves and the levels of each tree of a fitted model."""
    if hasattr(model, "booster_"):
        trees = model.booster_.trees_to_dataframe().groupby("tree_index")
        return [((own.split_gain.isna()).sum(), own.node_depth.max() - 1) for _, own in trees]
    if hasattr(model, "get_booster"):
        dumps = model.get_booster().get_dump()
        return [(text.count("leaf="), max(line.count("\t") for line in text.splitlines())) for text in dumps]
    if hasattr(model, "learners_"):
        return [((one.nodes_.child == 0).sum(), depth_of(one.nodes_.child)) for one in model.learners_]
    return [(one.get_n_leaf_nodes(), one.get_max_depth()) for (one,) in model._predictors]


def depth_of(child, node=0):
    return 0 if child[node] == 0 else 1 + max(depth_of(child, child[node] + side) for side in (0, 1))


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("method", ENSEMBLES)
def test_all_methods_have_as_many_trees_of_as_many_leaves(method, depth):
    sizes = leaves_and_levels(fitted(method, depth, trees=6))
    assert len(sizes) == 6
    assert 2 ** (depth - 1) < max(leaves for leaves, _ in sizes) <= 2**depth
    assert max(levels for _, levels in sizes) == depth


@pytest.mark.parametrize("method", ENSEMBLES)
def test_scores_after_n_trees_are_those_of_a_fit_of_n_trees(method):
    X, long = draw(1000).data[::2], fitted(method, 2, trees=8)
    for n in (1, 3):
        short = boosters.scores_after(fitted(method, 2, trees=n), X, n)
        assert np.array_equal(boosters.scores_after(long, X, n), short)
        assert not np.array_equal(boosters.scores_after(long, X, 8), short)


def test_an_ensemble_that_has_fewer_trees_scores_with_all_of_them():
    model, X = fitted(OURS, 2, trees=2), draw(1000).data
    assert np.array_equal(boosters.scores_after(model, X, 50), model.decision_function(X))


def test_ours_is_a_mixture_for_the_range_and_the_ablations_are_not():
    def params(name):
        model = fitted(name, 2, trees=1)
        return model.fpr_range, model.mixture, model.anneal, model.learner.leaves

    assert params(OURS) == ((0.0, 0.01), "auto", False, "real")
    assert params(WHOLE) == ((0.0, 1.0), "auto", False, "real")
    assert params(beyond_3.PUBLISHED) == ((0.0, 0.01), None, False, "sign")


# -- the tuning ------------------------------------------------------------------------------------


def test_every_method_has_the_same_budget():
    for name, (_, configurations, _) in METHODS.items():
        assert len({*map(str, map(boosters.parameters, configurations))}) == 6, name
    assert beyond_3.PROTOCOLS["paper"].configurations == 6
    assert METHODS[OURS][1] == METHODS[WHOLE][1]
    assert {*PEERS, *beyond_3.OTHERS, OURS, LOGISTIC} == set(METHODS)


def test_a_range_is_looked_at_if_half_the_negatives_put_twenty_into_it():
    labels = {n: np.repeat([1, 0], [5, n]) for n in (3999, 4000, 39_999, 40_000)}
    found = {n: beyond_3.ranges(y) for n, y in labels.items()}
    assert found == {3999: [], 4000: [0.01], 39_999: [0.01], 40_000: [0.01, 0.001]}


def test_halves_are_those_of_beyond_1_unless_there_are_groups():
    run, y = SimpleNamespace(seed=0, protocol=beyond_3.PROTOCOLS["paper"]), draw(200).target
    own, plain = beyond_3.split(run, Bunch(target=y), 3), beyond_1.split(run, y, 3)
    assert all(np.array_equal(a, b) for a, b in zip(own, plain, strict=True))
    y = np.repeat([1, 0], [200, 1000])
    groups = np.where(y == 1, 1 + np.arange(1200) // 5, 0)
    train, test, folds = beyond_3.split(run, Bunch(target=y, groups=groups), 3)
    assert not {*groups[train]} & {*groups[test]} - {0}
    assert sorted([*train, *test]) == list(range(1200)) and y[train].sum() == 50
    assert pd.Series(folds).groupby(groups[train]).nunique().drop(0).eq(1).all()


def test_cells_with_the_same_choice_share_a_fit_and_the_first_of_equals_wins():
    paucs = {("a", 5): 1, ("a", 20): 1, ("b", 5): 2, ("b", 20): 1, ("c", 5): 2, ("c", 20): 0}
    rows = [("s", "AdaBoost", 2, own, 0.01, n, pauc) for (own, n), pauc in paucs.items()]
    tried = pd.DataFrame(rows, columns=["data_set", "method", "depth", "configuration", "beta", "trees", "pauc"])
    run = SimpleNamespace(protocol=SimpleNamespace(repeats=2))
    cases = [(case["configuration"], case["chosen_for"], case["repeat"]) for case in beyond_3.chosen(run, tried)]
    assert cases == [("b", "0.01/5", 0), ("b", "0.01/5", 1), ("a", "0.01/20", 0), ("a", "0.01/20", 1)]


def case_of(method, chosen_for):
    own = {"data_set": "tiny", "method": method, "depth": 1, "configuration": METHODS[method][1][0]}
    return own | {"chosen_for": chosen_for, "repeat": 0}


@pytest.mark.parametrize("method", [OURS, "AdaBoost"])
def test_cells_of_one_case_score_as_alone(method, tmp_path, monkeypatch):
    ticks = (k * k for k in itertools.count())  # so that no two fits take equally long
    monkeypatch.setattr(beyond_3, "perf_counter", lambda: next(ticks))
    run, names = tiny_run(tmp_path), ("0.01/2", "0.01/4", "0.001/4")
    together = beyond_3.measure(run, case_of(method, " ".join(names)))
    alone = [row for name in names for row in beyond_3.measure(run, case_of(method, name))]
    for column in ("beta", "trees", "pauc", "tpr", "distinct", "n_train", "n_test"):
        assert [row[column] for row in together] == [row[column] for row in alone], column
    assert (together[0]["fit_seconds"] == together[2]["fit_seconds"]) == (method == "AdaBoost")  # one fit serves both


# -- the script ------------------------------------------------------------------------------------


def test_the_script_says_what_it_asks_and_how_to_run_it():
    parts = ("Question", "Protocol", "Where we depart", "python reproduce/beyond_3.py")
    assert all(part in beyond_3.__doc__ for part in parts)


def test_the_script_runs_on_one_set_and_redraws_the_same(tmp_path):
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")
    assert beyond_3.main(tiny_run(tmp_path)).figure is not None
    tried, rows = (pd.read_csv(tmp_path / f"beyond_3{part}.csv") for part in ("_tuning", ""))
    assert len(tried) == len(ENSEMBLES) * 2 * 2 + 2  # configurations, numbers of trees; logistic regression has none
    assert len(rows) == len(ENSEMBLES) * 2 + 1 and set(rows.method) == set(METHODS)
    assert rows[["pauc", "tpr"]].stack().between(0, 1).all() and rows.distinct.ge(1).all()
    means = tried.set_index(["method", "trees", "configuration"]).pauc.sort_index()
    for row in rows.itertuples():
        assert means[row.method, row.trees, row.configuration] == means[row.method, row.trees].max()
    assert {path.suffix for path in tmp_path.glob("beyond_3.*")} == {".csv", ".json", ".md", ".png", ".pdf"}
    text = (tmp_path / "beyond_3.md").read_text(encoding="utf-8")
    assert "not installed" not in text and text == beyond_3.table(rows)
    beyond_3.main(tiny_run(tmp_path, "--redraw"))
    assert (tmp_path / "beyond_3.md").read_text(encoding="utf-8") == text


def test_sets_without_enough_negatives_are_not_compared(tmp_path):
    class SmallerRun(TinyRun):
        def data(self, *names):
            return {"tiny": draw(3990)}

    run = SmallerRun(**vars(tiny_run(tmp_path)))
    with pytest.raises(MissingData, match="None of tiny has enough negatives"):
        beyond_3.main(run)


def made_up(gains, depths=(2,), trees=(5, 20), betas=(0.01,), methods=tuple(METHODS)):
    """Rows in which ours is above LightGBM, the best peer, by a gain per set; repeats differ by thousandths."""
    areas = dict.fromkeys(METHODS, 0.5) | {"LightGBM": 0.6, LOGISTIC: 0.9}
    rows = [
        {"data_set": name, "method": method, "depth": depth, "configuration": "", "repeat": repeat}
        | {"seed": 0, "scale": "paper", "n_train": 5, "n_test": 5, "beta": beta, "trees": n, "distinct": 7}
        | {"pauc": 0.6 + gain + 0.001 * (2 * repeat % 5) if method == OURS else areas[method] + 0.001 * repeat}
        for name, gain in gains.items()
        for method in methods
        for depth, n in ([(0, 0)] if method == LOGISTIC else [(depth, n) for depth in depths for n in trees])
        for beta in betas
        for repeat in range(5)
    ]
    return pd.DataFrame(rows).assign(tpr=lambda rows: 1 - rows.pauc)


def counted(text, measure):
    (line,) = (line for line in text.splitlines() if line.startswith(f"| {measure}"))
    return [cell.strip() for cell in line.strip("|").split("|")][2:]


def test_the_table_counts_the_sets_on_which_ours_is_above_every_peer():
    rows = made_up({"win": 0.1, "lose": -0.05, "level": 0.0005})
    rows.loc[(rows.data_set == "win") & (rows.method == OURS) & (rows.trees == 20), "pauc"] = 0.55
    text = beyond_3.table(rows)
    assert counted(text, "partial AUC on [0, 0.01]") == ["2 of 3 (+1, −1)", "1 of 3 (+0, −2)"]
    assert counted(text, "detection rate")[0] == "0 of 3 (+0, −3)"  # all other methods are above 0.4
    frame = beyond_3.compared(rows, "pauc").set_index(["data_set", "trees"])
    assert frame.peer.eq("LightGBM").all() and frame.loc[("lose", 5), "mean"] == pytest.approx(-0.05, abs=2e-3)
    assert frame.ahead["win", 5] == "5 of 5" and frame.logistic.gt(0.9).all()
    assert "[0, 0.001]" not in text and "not installed" not in text


def test_a_narrower_range_is_told_of_the_sets_that_have_it():
    rows = made_up({"many": 0.1}, betas=(0.01, 0.001))
    both = pd.concat([rows, made_up({"few": 0.1})], ignore_index=True)
    assert counted(beyond_3.table(both), "partial AUC on [0, 0.001]") == ["1 of 1 (+1, −0)"] * 2


def test_depths_and_numbers_of_trees_are_in_order_though_rows_are_not():
    rows = made_up({"s": 0.1}, depths=(3, 1), trees=(20, 5))
    assert [key[1:] for key, _ in beyond_3.cells(rows)] == [(1, 5), (1, 20), (3, 5), (3, 20)]
    assert all(set(own.method) == set(METHODS) for _, own in beyond_3.cells(rows))


def test_constant_scores_are_counted():
    rows = made_up({"s": 0.1})
    rows.loc[(rows.method == "AdaBoost") & (rows.trees == 5) & (rows.repeat < 3), "distinct"] = 1
    lines = beyond_3.constant_scores(rows).splitlines()
    assert ["3 of 10" in line for line in lines] == ["AdaBoost" in line for line in lines]


def test_a_library_that_is_missing_is_named():
    rows = made_up({"s": 0.1}, methods=[name for name in METHODS if name not in NEEDED])
    text = beyond_3.table(rows)
    assert "XGBoost is not installed." in text and f"pAUCEnsT − {TOP_PAIRS}" not in text
    assert beyond_3.compared(rows, "pauc").peer.eq("AdaBoost").all()


@pytest.mark.parametrize("n_sets", [1, 4, 6])
def test_a_picture_has_a_panel_per_set_with_its_texts_inside(n_sets):
    figure = beyond_3.picture(made_up({f"a set of many samples, {k}": 0.1 for k in range(n_sets)}))
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert len(panels) == n_sets and all(len(axes.lines) == len(METHODS) + 1 for axes in panels)
    assert texts_outside(figure) == []


def test_dots_are_where_ours_is_above_every_peer():
    rows = made_up({"s": 0.1})
    rows.loc[(rows.method == OURS) & (rows.trees == 20), "pauc"] = 0.55
    (axes,) = beyond_3.picture(rows).axes
    (dots,) = (line for line in axes.lines if line.get_marker() == "o")
    assert dots.get_xdata().tolist() == [5]
