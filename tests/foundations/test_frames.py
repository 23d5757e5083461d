"""Frames of pandas and polars: numbers are taken as scikit-learn takes them, text is refused, wide frames are fast."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from paucens import AdaBoostClassifier, LinearPAUCSVC, Stump
from paucens.datasets import load_toy
from paucens.validation import refuse_strings

CLASSIFIERS = [AdaBoostClassifier(learner=Stump(), n_estimators=3), LinearPAUCSVC((0, 1))]
CLASSIFIERS = [pytest.param(one, id=type(one).__name__) for one in CLASSIFIERS]


@pytest.fixture(scope="module")
def data():
    return load_toy(random_state=0)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_polars_frames(classifier, data):
    polars = pytest.importorskip("polars")
    X, y = data
    frame = polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": y == 1, "d": np.arange(len(y))})
    values = frame.to_numpy()
    scores = classifier.fit(frame, y).decision_function(frame)
    assert classifier.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(classifier.fit(values, y).decision_function(values), scores)
    with pytest.raises(ValueError, match="same order"):
        classifier.fit(frame, y).predict(frame[["b", "a", "c", "d"]])


def test_polars_from_a_transformer(data):
    polars = pytest.importorskip("polars")
    X, y = data
    frame = polars.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    pipeline = make_pipeline(StandardScaler().set_output(transform="polars"), AdaBoostClassifier(n_estimators=3))
    assert pipeline.fit(frame, y).score(frame, y) > 0.8
    assert pipeline[-1].feature_names_in_.tolist() == ["a", "b"]


def test_text_in_polars_frames():
    polars = pytest.importorskip("polars")
    for column in (["1", "2"], polars.Series(["x", "y"], dtype=polars.Categorical)):
        with pytest.raises(ValueError, match="X must hold numbers; got text"):
            refuse_strings(polars.DataFrame({"a": [1.0, 2.0], "b": column}))


class Frame:
    """A frame of another library: names, types that are not those of NumPy, and an array."""

    def __init__(self, values):
        self.values = values
        self.columns = [f"c{k}" for k in range(values.shape[1])]
        self.dtypes = ["a type"] * values.shape[1]
        self.shape = values.shape

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


class BareFrame(Frame):
    """A frame that does not tell its types."""

    def __init__(self, values):
        super().__init__(values)
        del self.dtypes


@pytest.mark.parametrize("kind", [Frame, BareFrame])
def test_other_frames(kind, data):
    X, y = data
    classifier = AdaBoostClassifier(n_estimators=3).fit(kind(X), y)
    np.testing.assert_array_equal(classifier.decision_function(kind(X)), classifier.decision_function(X))
    with pytest.raises(ValueError, match="X must hold numbers; got text"):
        classifier.predict(kind(X.astype(str)))


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_repeated_names_are_treated_as_scikit_learn_does(classifier, data):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "a"])
    reference = LogisticRegression()
    try:
        reference.fit(frame, y)
    except ValueError as error:  # since version 1.9
        with pytest.raises(type(error), match="'a' 2 times"):
            classifier.fit(frame, y)
    else:
        assert classifier.fit(frame, y).feature_names_in_.tolist() == ["a", "a"]
    refuse_strings(frame)
    with pytest.raises(ValueError, match="X must hold numbers; got text"):
        refuse_strings(frame.astype(str))


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (["1", "2"], True),
        (pd.Series(["1", "2"], dtype=object), True),
        (pd.Series([1.5, "2"], dtype=object), True),
        (pd.Series(["x", "y"], dtype="category"), True),
        (pd.Series(["x", None], dtype="string"), True),
        (pd.Series([1, 2], dtype="category"), False),
        (pd.Series([1, None], dtype="Int64"), False),
        (pd.Series([True, False]), False),
        (pd.Series([1, 2], dtype=object), False),
        (pd.to_datetime(["2001-01-01", "2002-01-01"]), False),
    ],
    ids=str,
)
def test_text_in_columns(column, text):
    frame = pd.DataFrame({"a": [0.5, 1.5], "b": column, "c": [1, 2]})
    if text:
        with pytest.raises(ValueError, match="X must hold numbers; got text"):
            refuse_strings(frame)
    else:
        refuse_strings(frame)


def test_columns_of_numbers_are_not_looked_at_one_by_one(monkeypatch):
    """Twenty thousand columns took seconds, a column at a time."""
    looked = []
    monkeypatch.setattr(pd.DataFrame, "__getitem__", lambda frame, name: looked.append(name))
    refuse_strings(pd.DataFrame(np.zeros((1, 500))))
    assert looked == []


def test_names_are_checked_before_scores(data):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = AdaBoostClassifier(n_estimators=3).fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
