"""Ensembles cut short, and as text: the sums of the text are the scores."""

import re

import numpy as np
import pandas as pd
import pytest

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
    PAUCEnsClassifier((0, 0.2), n_estimators=12, nu=1.0),
    PAUCEnsClassifier((0, 0.2), learner=Tree(depth=2), n_estimators=12, nu=1.0, anneal=False, pos_label=0),
    PAUCBoostClassifier((0, 0.2), learner=Stump(), n_estimators=12),
    AdaBoostClassifier(learner=Tree(depth=2, leaves="real"), n_estimators=12),
    AdaBoostLDAClassifier(learner=Stump(), n_estimators=12),
]


@pytest.fixture(scope="module")
def toy():
    return load_toy(80, 120, random_state=0)


@pytest.fixture(params=MODELS, ids=lambda model: type(model).__name__)
def model(request, toy):
    return request.param.fit(*toy)


def test_a_truncated_model_is_a_stage(model, toy, tmp_path):
    X = toy[0]
    for n, scores in enumerate(model.staged_decision_function(X), 1):
        short = model.truncated(n)
        np.testing.assert_array_equal(short.decision_function(X), scores)
    assert short.n_iter_ == model.n_iter_ == n
    short = model.truncated(2)
    assert short.n_iter_ == 2 and len(getattr(short, "objective_", "ab")) == 2
    short.save(tmp_path / "short.npz")
    np.testing.assert_array_equal(
        type(model).load(tmp_path / "short.npz").decision_function(X), short.decision_function(X)
    )
    assert model.n_iter_ == n


@pytest.mark.parametrize("n", [0, 13, 1.5, True, None])
def test_lengths_that_do_not_exist_are_refused(toy, n):
    model = AdaBoostClassifier(learner=Stump(), n_estimators=12).fit(*toy)
    with pytest.raises(ValueError, match="n must be an integer, from 1 to 12"):
        model.truncated(n)


def is_true(question, value):
    """Answer a question of a line about a value."""
    if np.isnan(value):
        return question.endswith("is missing") or question.endswith("or missing")
    if "is" in question.split():
        return question == "is not missing"
    sign, threshold = question.removesuffix(" or missing").split()
    return (value <= float(threshold)) == (sign == "<=")


def score_by_text(text, row):
    """Follow the lines of `to_text`: at each depth the first line that holds."""
    total = 0.0
    for tree in text.split("\nTree ")[1:]:
        depth = 1
        for line in tree.splitlines()[1:]:
            indent, name, question, value = re.fullmatch(r"( *)(?:x\[(\d+)\] (.+)|always):(?: (\S+))?", line).groups()
            if len(indent) != 2 * depth:
                continue
            holds = name is None or is_true(question, row[int(name)])
            if holds and value is not None:
                total += float(value)
                break
            depth += holds
    return total


def test_the_text_holds_the_scores(model, toy):
    X = toy[0][:40]
    text = model.to_text(digits=17)
    scores = [score_by_text(text, row) for row in X]
    np.testing.assert_allclose(scores, model.decision_function(X) + model.threshold_, rtol=1e-12, atol=1e-14)
    threshold = float(re.search(r"sum is above (\S+), otherwise", text).group(1))
    assert threshold == model.threshold_


def test_the_text_holds_the_scores_of_missing_values():
    rng = np.random.RandomState(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 3)) + y[:, None]
    X[rng.rand(200, 3) < 0.2 + 0.3 * y[:, None]] = np.nan
    X[:, 2] = 1 + 0 * X[:, 2]
    model = AdaBoostClassifier(learner=Tree(depth=2, leaves="real"), n_estimators=20).fit(X, y)
    text = model.to_text(digits=17)
    assert all(words in text for words in (" or missing:", "x[2] is missing:", "x[2] is not missing:"))
    scores = [score_by_text(text, row) for row in X]
    np.testing.assert_allclose(scores, model.decision_function(X) + model.threshold_, rtol=1e-12, atol=1e-14)


def test_the_text_is_silent_about_missing_values_if_there_were_none(model):
    assert "missing" not in model.to_text()


def test_names_of_features_and_classes(toy):
    X, y = toy
    frame = pd.DataFrame(X, columns=["age", "income"])
    model = AdaBoostClassifier(learner=Stump(), n_estimators=3, pos_label="sick")
    text = model.fit(frame, np.where(y == 1, "sick", "well")).to_text(2)
    assert "It is of class 'well' if the sum is above" in text
    assert "\nTree 3\n  " in text and re.search(r"(age|income) <= -?\d", text)


def test_a_tree_without_split_has_one_line(toy):
    with pytest.warns(UserWarning, match="chance"):
        model = AdaBoostClassifier(n_estimators=3).fit(np.ones((20, 2)), np.arange(20) % 2)
    assert re.search(r"Tree 1\n  always: [+-]0$", model.to_text())


def test_only_trees_have_a_text(toy):
    with pytest.raises(AttributeError, match="to_text needs trees; learners_ holds Linear"):
        AdaBoostClassifier(learner=Linear(), n_estimators=3).fit(*toy).to_text()
