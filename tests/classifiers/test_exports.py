"""Trees as a table and as JSON: what other programs compute from them is what the model computes."""

import itertools
import json
import math
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from paucens import (
    AdaBoostClassifier,
    AdaBoostLDAClassifier,
    Linear,
    PAUCBoostClassifier,
    PAUCEnsClassifier,
    Stump,
    Tree,
)
from paucens.datasets import load_toy

MODELS = [
    PAUCEnsClassifier((0, 0.2), n_estimators=12, nu=1.0, random_state=0),
    PAUCEnsClassifier((0, 0.2), learner=Tree(depth=2), n_estimators=12, nu=1.0, anneal=False, pos_label=0),
    PAUCBoostClassifier((0, 0.2), learner=Stump(), n_estimators=12),
    AdaBoostClassifier(learner=Tree(depth=3, leaves="real"), n_estimators=12),
    AdaBoostLDAClassifier(learner=Stump(), n_estimators=12),
]


@pytest.fixture(scope="module")
def data():
    """Four columns, of which two are informative, with values missing in the first and the last one."""
    X, y = load_toy(80, 120, random_state=0)
    rng = np.random.RandomState(1)
    X = np.column_stack([X, rng.normal(size=(200, 2))])
    X[rng.rand(200) < 0.1 + 0.2 * y, 0] = np.nan
    X[:, 3] = np.where(rng.rand(200) < 0.2 + 0.3 * y, np.nan, 1.0)  # only whether it is missing tells
    return X, y


@pytest.fixture(params=MODELS, ids=lambda model: type(model).__name__)
def model(request, data):
    return request.param.fit(*data)


# -- the table -------------------------------------------------------------------------------------


def test_the_table_holds_the_nodes(model, data):
    X, _ = data
    frame = model.trees_to_dataframe()
    assert len(frame) == sum(len(learner.nodes_.child) for learner in model.learners_)
    scores = np.zeros(len(X))
    for _, tree in frame.groupby("tree"):
        tree = tree.set_index("node")
        reached = {0: np.full(len(X), True)}
        for node, row in tree.iterrows():  # a child comes after its parent
            rows = reached[node]
            assert row["count"] == rows.sum()
            if row.isna()["left_child"]:
                scores[rows] += row["value"]
                assert row.isna()[["right_child", "feature", "threshold", "missing_left", "gain"]].all()
                continue
            values = X[:, row["feature"]]
            below = np.where(np.isnan(values), row["missing_left"], values <= row["threshold"]).astype(bool)
            for child, part in ((row["left_child"], below), (row["right_child"], ~below)):
                reached[child] = rows & part
                assert (tree["parent"][child], tree["depth"][child]) == (node, row["depth"] + 1)
        assert tree["depth"][0] == 0 and tree["parent"].isna().sum() == 1 and pd.isna(tree["parent"][0])
        assert len(reached) == len(tree)
    np.testing.assert_array_equal(scores - model.threshold_, model.decision_function(X))


def test_the_trees_send_missing_values_to_either_side(model):
    frame = model.trees_to_dataframe()
    assert set(frame["missing_left"].dropna()) == {True, False}


def test_gains_add_up_to_importances(model):
    gains = model.trees_to_dataframe().groupby("feature")["gain"].sum().reindex(range(4), fill_value=0.0)
    np.testing.assert_allclose(gains / gains.sum(), model.feature_importances_, rtol=1e-12)


def test_names_of_features(data):
    X, y = data
    names = ["age", "income", "height", "weight"]
    model = AdaBoostClassifier(n_estimators=3).fit(pd.DataFrame(X, columns=names), y)
    frame, plain = model.trees_to_dataframe(), AdaBoostClassifier(n_estimators=3).fit(X, y).trees_to_dataframe()
    inner = frame["left_child"].notna()
    assert frame["feature"][inner].tolist() == [names[k] for k in plain["feature"][inner]]
    assert frame["feature"][~inner].isna().all()
    assert json.loads(model.to_json())["feature_names"] == names


def test_a_tree_without_split_is_one_row():
    with pytest.warns(UserWarning, match="chance"):
        model = AdaBoostClassifier(n_estimators=3).fit(np.ones((20, 2)), np.arange(20) % 2)
    (row,) = model.trees_to_dataframe().to_dict("records")
    assert (row["node"], row["depth"], row["value"], row["count"]) == (0, 0, 0.0, 20)


def test_tables_need_pandas(data, monkeypatch):
    model = AdaBoostClassifier(n_estimators=3).fit(*data)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"trees_to_dataframe needs pandas: pip install pandas. to_json does without"):
        model.trees_to_dataframe()
    assert json.loads(model.to_json())["n_features"] == 4


@pytest.mark.parametrize("export", ["trees_to_dataframe", "to_json"])
def test_only_fitted_trees_are_exported(data, export):
    with pytest.raises(AttributeError, match=f"{export} needs trees; learners_ holds Linear"):
        getattr(AdaBoostClassifier(learner=Linear(), n_estimators=3).fit(np.nan_to_num(data[0]), data[1]), export)()
    with pytest.raises(NotFittedError):
        getattr(AdaBoostClassifier(), export)()


# -- JSON ------------------------------------------------------------------------------------------


def score_by_json(model, row):
    """Score a sample without NumPy."""
    total = 0.0
    for tree in model["trees"]:
        node = 0
        while tree["children_left"][node] >= 0:
            value = row[tree["feature"][node]]
            left = tree["missing_go_to_left"][node] if math.isnan(value) else value <= tree["threshold"][node]
            node = tree["children_left" if left else "children_right"][node]
        total += tree["value"][node]
    return total - model["threshold"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_json_holds_the_scores_to_the_bit(model, data, dtype):
    X = data[0].astype(dtype)
    dump = json.loads(model.to_json())
    scores = [score_by_json(dump, row) for row in X.tolist()]
    np.testing.assert_array_equal(scores, model.decision_function(X))
    assert (dump["class"], dump["classes"], dump["n_features"]) == (type(model).__name__, [0, 1], 4)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 2**62], [2.0, 7.0]], ids=str)
def test_labels_of_all_kinds(data, labels):
    X, y = data
    model = AdaBoostClassifier(n_estimators=2, pos_label=labels[1]).fit(X, np.array(labels)[y])
    assert json.loads(model.to_json())["classes"] == labels


# -- SHAP values -----------------------------------------------------------------------------------


def expectation(tree, row, known, node=0):
    """Return the expected value of a tree if only some features are known, the others as in training."""
    left, right = tree["children_left"][node], tree["children_right"][node]
    if left < 0:
        return tree["value"][node]
    feature = tree["feature"][node]
    if feature in known:
        value = row[feature]
        to_left = tree["missing_go_to_left"][node] if math.isnan(value) else value <= tree["threshold"][node]
        return expectation(tree, row, known, left if to_left else right)
    count = tree["n_node_samples"]
    return sum(count[child] / count[node] * expectation(tree, row, known, child) for child in (left, right))


def shapley(dump, row, feature):
    """Sum the Shapley value over all sets of the other features."""
    n, others = dump["n_features"], [k for k in range(dump["n_features"]) if k != feature]
    total = 0.0
    for size in range(n):
        share = math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n)
        for known in itertools.combinations(others, size):
            for tree in dump["trees"]:
                gain = expectation(tree, row, {*known, feature}) - expectation(tree, row, known)
                total += share * gain
    return total


def test_counts_suffice_for_shapley_values(model, data):
    """Values of the features and the expected score add up to the score."""
    X, _ = data
    dump = json.loads(model.to_json())
    expected = sum(expectation(tree, None, ()) for tree in dump["trees"]) - dump["threshold"]
    for row, score in zip(X[:2].tolist(), model.decision_function(X[:2]), strict=True):
        values = [shapley(dump, row, feature) for feature in range(4)]
        assert expected + sum(values) == pytest.approx(score, rel=1e-9, abs=1e-12)
    assert expected == pytest.approx(model.decision_function(X).mean(), rel=1e-9, abs=1e-12)


def test_the_recipe_for_shap(model, data):
    """The recipe in the docstring of `to_json` gives the values of the definition."""
    shap = pytest.importorskip("shap", reason="shap is not installed")
    X = data[0]
    recipe = textwrap.dedent(model.to_json.__doc__.partition("::\n")[2].partition("Examples")[0])
    scope = {"json": json, "np": np, "shap": shap, "model": model, "X": X}
    exec(recipe, scope)
    explanation = scope["explanation"]
    sums = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(sums, model.decision_function(X), rtol=1e-9, atol=1e-9)
    dump = json.loads(model.to_json())
    for k, row in enumerate(X[:2].tolist()):
        by_hand = [shapley(dump, row, feature) for feature in range(4)]
        np.testing.assert_allclose(explanation.values[k], by_hand, rtol=1e-6, atol=1e-9)
