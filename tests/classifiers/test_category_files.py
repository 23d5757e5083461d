"""Categories in model files, as text, as a table and as JSON."""

import ast
import json
import math
import re

import numpy as np
import pandas as pd
import pytest

from paucens import AdaBoostClassifier, PAUCEnsClassifier, Tree, persistence

COLOURS = ["blue", "green, dark", "it's red", "red", "{"]


def draw(n=300):
    """Draw a frame of text, numbers and numbered categories, with missing entries in all of them."""
    rng = np.random.RandomState(0)
    colour, size, x = rng.randint(0, 5, n), rng.randint(0, 7, n) / 2 - 1, rng.normal(size=n)
    y = ((colour % 2 + (size > 0) * (size != 1) + x + rng.normal(size=n)) > 1.2).astype(int)
    frame = pd.DataFrame({"colour": np.array(COLOURS, dtype=object)[colour], "x": x, "size": size})
    return frame.mask(rng.rand(n, 3) < [0.1, 0.1, 0.0]), y


@pytest.fixture(scope="module")
def data():
    return draw()


@pytest.fixture(scope="module")
def model(data):
    learner = Tree(depth=3, leaves="real")
    return AdaBoostClassifier(learner=learner, n_estimators=8, categorical_features=["colour", "size"]).fit(*data)


# -- damaged files ---------------------------------------------------------------------------------


@pytest.fixture
def refused(model, tmp_path):
    """Return a check that a changed file is refused, with its name and a message."""
    path = tmp_path / "model.npz"

    def check(change, message):
        model.save(path)
        header, arrays = persistence.load(path, "AdaBoostClassifier")
        header = {key: value for key, value in header.items() if key not in ("format", "format_version")}
        change(header, arrays)
        persistence.save(path, header, arrays)
        with pytest.raises(ValueError, match=message) as error:
            AdaBoostClassifier.load(path)
        assert str(path) in str(error.value)

    return check


def first_set(arrays):
    """Return the first node that splits categories, and its set."""
    node = np.flatnonzero(arrays["nodes/left_sets"].any(axis=1))[0]
    return node, arrays["nodes/left_sets"][node]


def test_sets_have_their_type_and_shape(refused):
    def replace(change):
        return lambda header, arrays: arrays.update({"nodes/left_sets": change(arrays["nodes/left_sets"])})

    refused(replace(lambda sets: sets.astype(np.int64)), "nodes/left_sets holds int64; it must hold uint8")
    refused(replace(lambda sets: sets[1:]), "nodes/left_sets has the shape")
    refused(replace(lambda sets: sets[:, :31]), "nodes/left_sets has the shape")
    refused(lambda header, arrays: arrays.pop("nodes/left_sets"), "nodes/left_sets: a set of categories is missing")


def test_sets_are_of_the_features_that_have_categories(refused):
    def take(header, arrays):
        node, _ = first_set(arrays)
        arrays["nodes/left_sets"][node] = 0

    def give(header, arrays):
        inner = (arrays["nodes/child"] > 0) & (arrays["nodes/column"] == 1)
        node = np.flatnonzero(inner & ~arrays["nodes/missing_left"])[0]
        arrays["nodes/left_sets"][node, 0] = 1

    def give_to_leaf(header, arrays):
        arrays["nodes/left_sets"][np.flatnonzero(arrays["nodes/child"] == 0)[0], 0] = 1

    refused(take, "a set of categories is missing, or is of another feature")
    refused(give, "a set of categories is missing, or is of another feature")
    refused(give_to_leaf, "nodes/left_sets: a leaf has one")
    refused(lambda header, arrays: header.pop("categories"), "or is of another feature")


def test_sets_hold_categories_that_are_there(refused):
    def turn_missing(header, arrays):
        _, bits = first_set(arrays)
        bits[31] ^= 128

    def turn_beyond(header, arrays):
        _, bits = first_set(arrays)
        bits[20] ^= 4

    def empty(header, arrays):
        sets = arrays["nodes/left_sets"]
        node = np.flatnonzero(sets[:, 31] & (arrays["nodes/column"] == 0))[0]
        sets[node, 0] = 224  # none of the five, but those that are not there

    refused(turn_missing, "it is not where missing values go")
    refused(turn_beyond, "no category goes left, or one that is not there")
    refused(empty, "no category goes left, or one that is not there")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda pairs: pairs.pop(), "a set of categories is missing, or is of another feature"),
        (lambda pairs: pairs.reverse(), "must be of features from 0 to 2, ascending"),
        (lambda pairs: pairs.append([3, pairs[0][1]]), "must be of features from 0 to 2"),
        (lambda pairs: pairs[0].__setitem__(0, True), "must be of features from 0 to 2"),
        (lambda pairs: pairs[0][1]["values"].reverse(), "feature 0 must ascend and be there"),
        (
            lambda pairs: pairs[0][1]["values"].__setitem__(0, 1),
            "Feature 0: categories must be all text, or all finite numbers; got int, str",
        ),
        (lambda pairs: pairs[0].__setitem__(1, "blue"), "feature 0 must be an array of at most 255"),
        (lambda pairs: pairs[0][1].update(values=[f"{k:03}" for k in range(256)], shape=[256]), "of at most 255"),
        (lambda pairs: pairs[1][1]["values"].__setitem__(0, {"float": "nan"}), "feature 2 must ascend and be there"),
        (
            lambda pairs: pairs[1][1]["values"].__setitem__(6, {"float": "inf"}),
            "must be all text, or all finite numbers",
        ),
        (lambda pairs: pairs[1][1].update(shape=[7, 1]), "feature 2 must be an array"),
        (lambda pairs: pairs[1].append(1), "not a complete AdaBoostClassifier: too many values"),
    ],
)
def test_categories_are_checked(refused, change, message):
    refused(lambda header, arrays: change(header["categories"]), message)


def test_files_without_categories_say_nothing_of_them(data, tmp_path):
    model = PAUCEnsClassifier(n_estimators=3, nu=1.0, random_state=0).fit(data[0][["x"]], data[1])
    model.save(tmp_path / "model")
    header, arrays = persistence.load(tmp_path / "model", "PAUCEnsClassifier")
    assert "categories" not in header and "nodes/left_sets" not in arrays
    assert PAUCEnsClassifier.load(tmp_path / "model").categories_ == {}


@pytest.mark.parametrize(
    "values", [["é", "日本", ""], [True, False, True], [2**62, -5, 0], [0.1, -2.5, 1e300]], ids=str
)
def test_categories_come_back_with_their_type(values, tmp_path):
    X, y = pd.DataFrame({"k": pd.Series(values * 20, dtype=object), "x": 0.0}), np.array([0, 1, 0] * 20)
    model = AdaBoostClassifier(n_estimators=2, categorical_features=["k"]).fit(X, y)
    model.save(tmp_path / "model")
    again = AdaBoostClassifier.load(tmp_path / "model")
    assert again.categories_[0].dtype == model.categories_[0].dtype
    assert again.categories_[0].tolist() == sorted(set(values))
    np.testing.assert_array_equal(again.predict(X), y)


# -- text, table and JSON --------------------------------------------------------------------------


def holds(question, row):
    """Answer a question of the text about a row."""
    name, words = question.split(" ", 1)
    value, is_alternative = row[name], words.endswith(" or missing")
    words = words.removesuffix(" or missing")
    if words.startswith("in {"):
        listed = ast.literal_eval("[" + words[4:-1] + "]")
        return value in listed or (is_alternative and pd.isna(value))
    if pd.isna(value):
        return is_alternative
    sign, threshold = words.split()
    return (value <= float(threshold)) == (sign == "<=")


def score_by_text(text, row):
    """Follow the lines of `to_text`: at each depth the line that holds."""
    total = 0.0
    for tree in text.split("\nTree ")[1:]:
        depth = 1
        for line in tree.splitlines()[1:]:
            indent, question, value = re.fullmatch(r"( *)(.+):(?: ([-+]\S+))?", line).groups()
            if len(indent) == 2 * depth and holds(question, row):
                depth += 1
                if value is not None:
                    total += float(value)
                    break
    return total


def test_the_text_holds_the_scores(model, data):
    text = model.to_text(digits=17)
    assert "\nA category that a question does not list, on either side, counts as missing.\n" in text
    assert " in {" in text and "} or missing:" in text
    rows = data[0].to_dict("records")
    np.testing.assert_allclose([score_by_text(text, row) for row in rows], model.decision_function(data[0]), rtol=1e-12)


def score_by_json(dump, row):
    """Score a row without NumPy."""
    total = 0.0
    for tree in dump["trees"]:
        node = 0
        while tree["children_left"][node] >= 0:
            column, listed = tree["feature"][node], tree["left_categories"][node]
            known, value = dump["categories"].get(str(column)), row[column]
            if value not in known if known else math.isnan(value):
                left = tree["missing_go_to_left"][node]
            else:
                left = value in listed if known else value <= tree["threshold"][node]
            node = tree["children_left" if left else "children_right"][node]
        total += tree["value"][node]
    return total - dump["threshold"]


def test_json_holds_the_scores(model, data):
    dump = json.loads(model.to_json())
    assert dump["categories"]["0"] == COLOURS
    rows = [list(row) for row in data[0].itertuples(index=False)] + [["pink", 0.5, 9.0]]
    X = pd.concat([data[0], pd.DataFrame([["pink", 0.5, 9.0]], columns=data[0].columns)])
    np.testing.assert_array_equal([score_by_json(dump, row) for row in rows], model.decision_function(X))


def test_the_table_lists_those_that_go_left(model, data):
    frame, lists = model.trees_to_dataframe(), json.loads(model.to_json())
    assert frame["left_categories"].tolist() == [each for tree in lists["trees"] for each in tree["left_categories"]]
    by_set = frame["left_categories"].notna()
    assert set(frame["feature"][by_set]) == {"colour", "size"}
    assert frame["threshold"][by_set].isna().all() and frame["threshold"][frame["feature"] == "x"].notna().all()
    plain = AdaBoostClassifier(n_estimators=2).fit(data[0][["x"]], data[1])
    assert "left_categories" not in plain.trees_to_dataframe()
    assert "left_categories" not in plain.to_json()
