"""Ensembles on features that hold categories: which they are, how they are coded, and what is refused."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from ensembles import ENSEMBLES, RANGE
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from paucens import (
    AdaBoostClassifier,
    FPRThresholdClassifier,
    Linear,
    PAUCEnsClassifier,
    Stump,
    Tree,
    partial_auc,
    pauc_scorer,
)
from paucens.base import fit_binned
from paucens.learners.binning import bin_features
from paucens.parallel import Threads

COLOURS = ["amber", "blue", "green", "grey", "red", "violet"]


def draw(seed, n=400):
    """Draw a frame of a column of text, two of numbers and one of numbered places; some entries are missing.

    What counts is which colours and which places, not their order.
    """
    rng = np.random.RandomState(seed)
    colour, place = rng.randint(0, len(COLOURS), n), rng.randint(0, 12, n)
    numbers = rng.normal(size=(n, 2))
    log_odds = 1.5 * np.isin(colour, [0, 3, 5]) + (place % 3 == 0) + numbers[:, 0] - 1.5
    y = (rng.rand(n) < 1 / (1 + np.exp(-log_odds))).astype(int)
    frame = pd.DataFrame(
        {"colour": np.array(COLOURS, dtype=object)[colour], "a": numbers[:, 0], "place": place * 10 + 3}
    )
    frame["b"] = np.where(rng.rand(n) < 0.1, np.nan, numbers[:, 1])
    frame.loc[rng.rand(n) < 0.1, "colour"] = None
    return frame, y


def as_category(frame):
    return frame.astype({"colour": "category", "place": "category"})


@pytest.fixture(scope="module")
def data():
    return draw(0)


@pytest.fixture(params=ENSEMBLES, ids=lambda model: f"{type(model).__name__} {model.learner}")
def ensemble(request):
    return clone(request.param).set_params(categorical_features=["colour", "place"])


@pytest.fixture(scope="module")
def model(data):
    X, y = data
    return AdaBoostClassifier(n_estimators=8, categorical_features=["colour", "place"]).fit(X, y)


# -- all ensembles ---------------------------------------------------------------------------------


def codes_of(model, X):
    """Put the places of the categories in `categories_` in their place."""
    codes = X.copy()
    for column, known in model.categories_.items():
        place = {category: k for k, category in enumerate(known)}
        codes.isetitem(column, [place.get(value, np.nan) for value in X.iloc[:, column]])
    return codes.to_numpy(dtype=float)


def test_ensembles_take_categories(ensemble, data, tmp_path):
    X, y = data
    scores = ensemble.fit(X, y).decision_function(X)
    assert {column: known.tolist() for column, known in ensemble.categories_.items()} == {
        0: COLOURS,
        2: [10 * k + 3 for k in range(12)],
    }
    assert any(learner.nodes_.left_sets.any() for learner in ensemble.learners_)
    codes = codes_of(ensemble, X)
    total = sum(w * learner.predict(codes) for w, learner in zip(ensemble.weights_, ensemble.learners_, strict=True))
    np.testing.assert_array_equal(total - ensemble.threshold_, scores)
    stages = list(ensemble.staged_decision_function(X))
    np.testing.assert_array_equal(stages[-1], scores)
    np.testing.assert_array_equal(ensemble.truncated(3).decision_function(X), stages[2])
    ensemble.save(tmp_path / "model.npz")
    loaded = type(ensemble).load(tmp_path / "model.npz")
    X_new, y_new = draw(1)
    np.testing.assert_array_equal(loaded.decision_function(X_new), ensemble.decision_function(X_new))
    assert loaded.to_text() == ensemble.to_text()
    assert partial_auc(y_new, ensemble.decision_function(X_new), RANGE) > 0.15  # by chance 0.1


def test_codes_of_categories_are_categories_too(ensemble, data):
    X, y = data
    scores = ensemble.fit(X, y).decision_function(X)
    codes = codes_of(ensemble, X)
    ensemble.set_params(categorical_features=[0, 2]).fit(codes, y)
    np.testing.assert_array_equal(ensemble.decision_function(codes), scores)


def test_threads_change_nothing(ensemble, data, monkeypatch):
    monkeypatch.setattr("paucens.parallel.WORTH_A_THREAD", 1)
    one, two = (clone(ensemble).set_params(n_jobs=n).fit(*data).decision_function(data[0]) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_weights_of_samples_are_as_repeated_samples(ensemble):
    """Also 0, which leaves out a category that no other sample has."""
    if getattr(ensemble, "early_stopping", False) or getattr(ensemble, "row_fraction", 1) < 1:
        pytest.skip("samples are drawn")
    X, y = draw(2, n=150)
    weights = np.random.RandomState(0).randint(0, 4, 150)
    X.loc[weights == 0, "colour"] = "colour without a weight"
    repeated = clone(ensemble).fit(X.loc[np.repeat(X.index, weights)], np.repeat(y, weights))
    ensemble.fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(ensemble.decision_function(X), repeated.decision_function(X))
    assert "colour without a weight" not in ensemble.categories_[0]


# -- the same categories in other forms ------------------------------------------------------------


@given(
    order=st.permutations([*COLOURS, "another"]),
    places=st.permutations([10 * k + 3 for k in range(12)]),
    form=st.sampled_from(["category", "object", "string"]),
)
@settings(deadline=None, max_examples=30, derandomize=True)
def test_neither_the_order_of_categories_nor_their_type_counts(model, data, order, places, form):
    X = data[0].astype({"place": pd.CategoricalDtype(places)})
    X["colour"] = X["colour"].astype(pd.CategoricalDtype(order) if form == "category" else form)
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(data[0]))
    fitted = clone(model).fit(X, data[1])
    np.testing.assert_array_equal(fitted.decision_function(data[0]), model.decision_function(data[0]))
    assert fitted.to_text() == model.to_text()


@pytest.mark.parametrize(
    "wanted",
    [
        [0, 2],
        (2, 0, 2),
        np.array([2, 0]),
        [True, False, True, False],
        np.array([True, False, True, False]),
        ("place", "colour"),
        pd.Index(["colour", "place"]),
        "from_dtype",
    ],
    ids=repr,
)
def test_ways_to_name_them(model, data, wanted, tmp_path):
    X, y = data
    X = as_category(X) if isinstance(wanted, str) else X
    again = clone(model).set_params(categorical_features=wanted).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    if not isinstance(wanted, pd.Index):
        again.save(tmp_path / "model")
        np.testing.assert_array_equal(
            type(again).load(tmp_path / "model").decision_function(X), again.decision_function(X)
        )


@pytest.mark.parametrize("make", [lambda X: X.to_numpy(dtype=object), lambda X: X.to_numpy(dtype=object).tolist()])
def test_arrays_and_lists(model, data, make):
    X, y = data
    again = clone(model).set_params(categorical_features=[0, 2]).fit(make(X), y)
    np.testing.assert_array_equal(again.decision_function(make(X)), model.decision_function(X))


@pytest.mark.parametrize("kind", ["Categorical", "Enum"])
def test_frames_of_polars(model, data, kind):
    polars = pytest.importorskip("polars")
    X, y = data
    text = [None if pd.isna(colour) else colour for colour in X["colour"]]
    dtype = polars.Categorical if kind == "Categorical" else polars.Enum(COLOURS[::-1])
    places = polars.Series(X["place"].astype(str).tolist(), dtype=polars.Categorical)
    frame = polars.DataFrame({"colour": polars.Series(text, dtype=dtype), "a": X["a"], "place": places, "b": X["b"]})
    again = clone(model).set_params(categorical_features="from_dtype").fit(frame, y)
    assert again.categories_[2].tolist() == sorted(str(10 * k + 3) for k in range(12))
    as_text = X.assign(place=X["place"].astype(str))
    expected = clone(model).fit(as_text, y).decision_function(as_text)
    np.testing.assert_array_equal(again.decision_function(frame), expected)
    np.testing.assert_array_equal(again.decision_function(as_text), expected)
    with pytest.raises(ValueError, match="same order"):
        again.decision_function(frame[["a", "colour", "place", "b"]])


def test_features_in_single_precision(data):
    X = codes_of(AdaBoostClassifier(n_estimators=1, categorical_features=[0]).fit(*data), data[0]).astype(np.float32)
    model = AdaBoostClassifier(n_estimators=5, categorical_features=[0, 2]).fit(X, data[1])
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(X.astype(float)))


def test_flags_are_categories(data):
    _, y = data
    flags = pd.DataFrame({"flag": (y == 1) ^ (np.arange(len(y)) % 5 == 0), "zero": 0.0})
    model = AdaBoostClassifier(learner=Stump(), n_estimators=1, categorical_features=["flag"]).fit(flags, y)
    assert model.categories_[0].tolist() == [False, True]
    assert "flag in {False}" in model.to_text()
    expected = model.decision_function(flags)
    np.testing.assert_array_equal(model.decision_function(flags.astype(float)), expected)


def test_frames_without_categories_are_as_without_the_argument(data):
    X, y = data[0][["a", "b"]], data[1]
    plain = AdaBoostClassifier(n_estimators=5).fit(X, y)
    for wanted in ("from_dtype", [], [False, False]):
        model = clone(plain).set_params(categorical_features=wanted).fit(X, y)
        assert model.categories_ == {}
        np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    model = clone(plain).set_params(categorical_features="from_dtype").fit(X.to_numpy(), y)
    np.testing.assert_array_equal(model.decision_function(X.to_numpy()), plain.decision_function(X))


def test_other_tools_pass_frames_on(data):
    X, y = data
    X = as_category(X)
    tree = AdaBoostClassifier(n_estimators=3, categorical_features="from_dtype")
    scores = clone(tree).fit(X, y).decision_function(X)
    pipeline = make_pipeline(FunctionTransformer(), clone(tree)).fit(X, y)
    np.testing.assert_array_equal(pipeline.decision_function(X), scores)
    search = GridSearchCV(clone(tree), {"n_estimators": [2, 3]}, scoring=pauc_scorer(RANGE), cv=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    threshold = FPRThresholdClassifier(clone(tree), 0.1, confidence=None, random_state=0).fit(X, y)
    assert set(threshold.predict(X)) == {0, 1}


# -- missing and new ones --------------------------------------------------------------------------


@pytest.mark.parametrize("new", ["pink", "", 7, 1.5, float("nan"), None, pd.NA], ids=repr)
def test_new_categories_are_as_missing_ones(model, data, new):
    X = data[0].copy()
    X["colour"] = None
    expected = model.decision_function(X)
    X["colour"] = pd.Series([new] * len(X), dtype=object)
    np.testing.assert_array_equal(model.decision_function(X), expected)


def test_new_numbers_are_as_missing_ones(model, data):
    X = data[0].copy()
    X["place"] = np.nan
    expected = model.decision_function(X)
    for new in (4, -3, 3.5, 1e300):
        np.testing.assert_array_equal(model.decision_function(X.assign(place=new)), expected)


def test_a_feature_of_missing_categories_alone_changes_nothing(data):
    X, y = data[0][["a", "b"]], data[1]
    wider = X.assign(nothing=pd.Series([None] * len(X), dtype=object))
    model = AdaBoostClassifier(n_estimators=5, categorical_features=["nothing"]).fit(wider, y)
    assert model.categories_[2].tolist() == []
    plain = AdaBoostClassifier(n_estimators=5).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(model.decision_function(wider), plain)
    np.testing.assert_array_equal(model.decision_function(X.assign(nothing="a")), plain)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("dtype", "must be None, 'from_dtype', or a list of indices .*; got 'dtype'"),
        (3, "must be None, 'from_dtype'"),
        ([0, "colour"], "must be None, 'from_dtype'"),
        ([0, True], "must be None, 'from_dtype'"),
        ([0.5], "must be None, 'from_dtype'"),
        ([[0]], "must be None, 'from_dtype'"),
        ([None], "must be None, 'from_dtype'"),
        ({0, 2}, "must be None, 'from_dtype'"),
        ([0, 4], r"must be indices from 0 to 3; got \[0, 4\]"),
        ([-1], r"must be indices from 0 to 3; got \[-1\]"),
        ([True, False], "holds 2 flags, but X has 4 features"),
        (["city"], r"names 'city', which X does not have. Its features are \['colour', 'a', 'place', 'b'\]"),
    ],
)
def test_columns_that_are_not_there(data, wanted, message):
    with pytest.raises(ValueError, match=message):
        AdaBoostClassifier(n_estimators=2, categorical_features=wanted).fit(*data)


def test_names_take_a_frame(data):
    with pytest.raises(ValueError, match=r"names 'colour', but X has no names. Give indices, or pass a frame"):
        AdaBoostClassifier(n_estimators=2, categorical_features=["colour"]).fit(data[0].to_numpy(), data[1])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", 1] * 200, "'colour': categories must be all text, or all finite numbers; got int, str"),
        ([b"a", b"b"] * 200, "all finite numbers; got bytes"),
        ([1 + 2j, 3] * 200, "all finite numbers; got complex"),
        ([0.0, np.inf] * 200, "all finite numbers; got float"),
        ([[1], [2]] * 200, "text or finite numbers: unhashable type"),
        (pd.date_range("2020-01-01", periods=400), "all finite numbers; got datetime64"),
        (pd.Categorical(pd.date_range("2020-01-01", periods=400)), "all finite numbers; got Timestamp"),
    ],
)
def test_categories_that_are_none(data, values, message):
    X = data[0].assign(colour=values)
    with pytest.raises(ValueError, match=message):
        AdaBoostClassifier(n_estimators=2, categorical_features=["colour"]).fit(X, data[1])


@pytest.mark.parametrize(("max_bins", "number", "room"), [(256, 256, 255), (256, 300, 255), (10, 11, 10), (2, 3, 2)])
def test_more_categories_than_bins(max_bins, number, room):
    X, y = np.arange(600)[:, None] % number, np.arange(600) % 2
    model = AdaBoostClassifier(n_estimators=2, max_bins=max_bins, categorical_features=[0])
    message = f"at index 0 has {number} categories, but there is room for {room}: max_bins is {max_bins}"
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    with pytest.raises(ValueError, match=f"'k' has {number} categories"):
        model.fit(pd.DataFrame({"k": X[:, 0]}), y)
    assert len(model.fit(np.minimum(X, room - 1), y).categories_[0]) == room


def test_text_in_other_columns(data):
    with pytest.raises(ValueError, match=r"X must hold numbers; got text.*categorical_features"):
        AdaBoostClassifier(categorical_features=["place"]).fit(*data)
    with pytest.raises(ValueError, match="X must hold numbers; got text"):
        AdaBoostClassifier(categorical_features="from_dtype").fit(*data)


def test_infinite_numbers_in_other_columns(model, data):
    X = data[0].copy()
    X.loc[5, "a"] = np.inf
    with pytest.raises(ValueError, match="X contains infinity"):
        clone(model).fit(X, data[1])
    with pytest.raises(ValueError, match="X contains infinity"):
        model.decision_function(X)


def test_other_columns_than_in_training(model, data):
    with pytest.raises(ValueError, match="4 features"):
        model.decision_function(data[0].to_numpy()[:, :3])
    with pytest.raises(ValueError, match="feature names"):
        model.decision_function(data[0].rename(columns={"a": "c"}))
    with pytest.raises(ValueError, match="0 sample"):
        model.decision_function(data[0][:0])
    with pytest.raises(ValueError, match="2D array"):
        model.decision_function(data[0]["a"].to_numpy())


@pytest.mark.parametrize(
    "X", [sparse.csr_array(np.eye(8)), np.arange(8.0), np.zeros((0, 2)), np.zeros((8, 2, 2))], ids=type
)
def test_data_that_are_no_table(X):
    with pytest.raises((ValueError, TypeError)) as plain:
        AdaBoostClassifier().fit(X, np.arange(8) % 2)
    with pytest.raises(type(plain.value), match=re.escape(str(plain.value)[:40])):
        AdaBoostClassifier(categorical_features=[0]).fit(X, np.arange(8) % 2)


class Mean:
    """A learner from elsewhere."""

    def fit(self, X, signed_weights):
        return self

    def predict(self, X):
        return np.ones(len(X))


@pytest.mark.parametrize("learner", [Linear(), Mean()], ids=["Linear", "Mean"])
def test_other_learners_refuse_categories(data, learner):
    with pytest.raises(ValueError, match=r"categorical_features are for ensembles of trees, .*OneHotEncoder"):
        AdaBoostClassifier(learner=learner, categorical_features=["colour", "place"]).fit(*data)


def test_a_refused_fit_leaves_the_earlier_one(model, data):
    again = clone(model).fit(*data)
    with pytest.raises(ValueError, match="must be all text"):
        again.fit(data[0].assign(colour=[1, "a"] * 200), data[1])
    np.testing.assert_array_equal(again.decision_function(data[0]), model.decision_function(data[0]))


def test_binned_features_have_none():
    with Threads(1) as threads:
        binned = bin_features(np.arange(8.0)[:, None], 256, threads)
    with pytest.raises(ValueError, match=r"binned already; got categorical_features=\[0\]"):
        fit_binned(AdaBoostClassifier(categorical_features=[0]), binned, 4)


# -- what they are worth ---------------------------------------------------------------------------


def mean_areas(models, seeds, n=600):
    """Return the mean partial AUC of each model on new samples; models come with what they do to a frame."""
    areas = []
    for seed in seeds:
        (X, y), (X_new, y_new) = draw(seed, n), draw(seed + 1000, 3000)
        with warnings.catch_warnings(action="ignore"):
            fitted = [(clone(model).fit(change(X), y), change) for model, change in models]
        areas.append([partial_auc(y_new, one.decision_function(change(X_new)), RANGE) for one, change in fitted])
    return np.mean(areas, axis=0)


def as_numbers(frame):
    """Number the colours by the alphabet."""
    places = frame["colour"].map({colour: k for k, colour in enumerate(COLOURS)})
    return frame.assign(colour=places)


OURS = PAUCEnsClassifier(RANGE, learner=Tree(depth=None, max_leaves=8, leaves="real", leaf_ridge=20), n_estimators=40)


def test_categories_are_worth_more_than_their_numbers():
    with_categories = clone(OURS).set_params(categorical_features=["colour", "place"])
    as_categories, numbered = mean_areas([(with_categories, lambda X: X), (OURS, as_numbers)], range(5))
    assert as_categories > numbered


@pytest.mark.slow
def test_categories_against_scikit_learn():
    ours = PAUCEnsClassifier(RANGE, categorical_features="from_dtype", random_state=0)
    peer = HistGradientBoostingClassifier(random_state=0)
    ours, theirs = mean_areas([(ours, as_category), (peer, as_category)], range(5))
    assert ours >= theirs - 0.01
