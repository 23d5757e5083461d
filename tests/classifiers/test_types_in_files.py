"""What a model file keeps besides numbers: names of features, labels and parameters, each with its type."""

import json
import warnings
import zipfile
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from paucens import (
    AdaBoostClassifier,
    AdaBoostLDAClassifier,
    AsymBoostClassifier,
    CSAdaBoostClassifier,
    Linear,
    LinearPAUCSVC,
    PAUCBoostClassifier,
    PAUCEnsClassifier,
    Stump,
    Tree,
)
from paucens.datasets import load_toy

RANGE = (0, 0.2)
CLASSIFIERS = [
    PAUCEnsClassifier(RANGE, learner=Stump(), n_estimators=3, nu=10.0, anneal=False),
    AdaBoostClassifier(learner=Linear(), n_estimators=3),
    AdaBoostLDAClassifier(n_estimators=3),
    AsymBoostClassifier(2.0, n_estimators=3),
    CSAdaBoostClassifier(1.5, 0.5, n_estimators=3),
    PAUCBoostClassifier(RANGE, n_estimators=3),
    LinearPAUCSVC((0, 1)),
]


@pytest.fixture(params=CLASSIFIERS, ids=lambda one: type(one).__name__)
def classifier(request):
    return clone(request.param)


@pytest.fixture(scope="module")
def data():
    return load_toy(random_state=0)


def through_file(model, folder):
    model.save(folder / "model.npz")
    return type(model).load(folder / "model.npz")


# -- names of features -----------------------------------------------------------------------------


def test_names_of_features_come_back(classifier, data, tmp_path):
    """Exchanged columns are refused after loading as before, and the right frame raises no warning."""
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "ä b"])
    copy = through_file(classifier.fit(frame, y), tmp_path)
    assert copy.feature_names_in_.tolist() == ["a", "ä b"] and copy.feature_names_in_.dtype == object
    assert copy.n_features_in_ == 2 and type(copy.n_features_in_) is int
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(copy.decision_function(frame), classifier.decision_function(frame))
    with pytest.raises(ValueError, match="must be in the same order"):
        copy.decision_function(frame[["ä b", "a"]])
    with pytest.raises(ValueError, match="feature names"):
        copy.predict(frame.rename(columns={"a": "c"}))


def test_models_without_names_have_none_after_loading(classifier, data, tmp_path):
    assert not hasattr(through_file(classifier.fit(*data), tmp_path), "feature_names_in_")


# -- labels ----------------------------------------------------------------------------------------

LABELS = [
    np.array(["no", "yes"], dtype=object),
    np.array(["a", "a\0"], dtype=object),
    np.array(["ä", "日本"]),
    *(np.array([3, 8], dtype=kind) for kind in ("i1", "i2", "i4", "i8", "u1", "u8", "f2", "f4", "f8", "g")),
    np.array([False, True]),
]


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: labels.dtype.str)
def test_labels_come_back_with_their_type(data, labels, tmp_path):
    X, y = data
    model = AdaBoostClassifier(n_estimators=2).fit(X, labels[y])
    copy = through_file(model, tmp_path)
    assert copy.classes_.dtype == model.classes_.dtype == labels.dtype
    assert copy.classes_.tolist() == labels.tolist()
    predicted = copy.predict(X)
    assert predicted.dtype == labels.dtype and predicted.tolist() == model.predict(X).tolist()


def test_labels_of_a_series_come_back(classifier, data, tmp_path):
    X, y = data
    copy = through_file(classifier.fit(X, pd.Series(np.array(["no", "yes"])[y])), tmp_path)
    assert copy.classes_.dtype == classifier.classes_.dtype and copy.classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("labels", [[0, 1], [0, "yes"], [None, "yes"], [b"no", b"yes"]], ids=str)
def test_objects_other_than_strings_are_not_saved(data, labels, tmp_path):
    model = AdaBoostClassifier(n_estimators=2).fit(*data)
    model.classes_ = np.array(labels, dtype=object)
    with pytest.raises(TypeError, match="classes_ holds Python objects; of these, only strings can be saved"):
        model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


# -- parameters ------------------------------------------------------------------------------------

PARAMETERS = [
    {"fpr_range": np.array([0, 0.2])},
    {"fpr_range": [0, 0.2]},
    {"fpr_range": (np.float32(0), np.float64(0.25))},
    {"nu": np.float32(0.7), "n_estimators": np.int16(3), "cut_tolerance": np.float16(0.125)},
    {"nu": 1, "edge_tolerance": 5e-324},
    {"anneal": np.False_, "formulation": np.str_("struct")},
    {"learner": Tree(depth=np.int8(2), leaf_ridge=np.float32(0.1), random_state=np.uint32(3))},
    {"random_state": np.int64(2**31), "n_jobs": np.int8(1), "verbose": False, "max_bins": np.uint8(200)},
]


def same(one, other):
    """Tell whether two parameters have one type and one value."""
    if isinstance(one, Tree):
        return all(same(*pair) for pair in zip(one.get_params().values(), other.get_params().values(), strict=True))
    if isinstance(one, list | tuple):
        return type(one) is type(other) and all(same(*pair) for pair in zip(one, other, strict=True))
    return type(one) is type(other) and np.array_equal(one, other)


@pytest.mark.filterwarnings("ignore:All weights are 0")
@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_parameters_come_back_with_their_types(data, parameters, tmp_path):
    model = PAUCEnsClassifier(RANGE, n_estimators=3, nu=1.0).set_params(**parameters).fit(*data)
    copy = through_file(model, tmp_path)
    assert repr(copy) == repr(model)
    for name, value in model.get_params(deep=False).items():
        assert same(value, getattr(copy, name)), name
    np.testing.assert_array_equal(copy.decision_function(data[0]), model.decision_function(data[0]))


def test_flags_of_numpy_mean_what_those_of_python_mean(data):
    X, y = data
    for flag in (True, False):
        scores = [
            PAUCEnsClassifier(RANGE, n_estimators=5, nu=1.0, anneal=kind(flag), random_state=0)
            .fit(X, y)
            .decision_function(X)
            for kind in (bool, np.bool_)
        ]
        np.testing.assert_array_equal(*scores)
    with pytest.raises(ValueError, match="anneal=True narrows"):
        PAUCEnsClassifier((0.1, 0.2), anneal=np.True_).fit(X, y)


def test_parameters_that_no_file_can_hold(data, tmp_path):
    model = AdaBoostClassifier(n_estimators=2).fit(*data)
    with pytest.raises(TypeError, match="shrinkage is a Fraction, which a file cannot hold"):
        model.set_params(shrinkage=Fraction(1, 2)).save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match=r"shrinkage must be a finite number.*got 3"):
        model.set_params(shrinkage=3).save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


# -- linear SVMs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", ["tight", "struct"])
def test_linear_svms_come_back(data, formulation, tmp_path):
    X, y = data[0] + 2 * data[1][:, None], data[1]
    model = LinearPAUCSVC((0, 0.9), nu=2.0, formulation=formulation).fit(X, np.where(y == 1, "ill", "healthy"))
    copy = through_file(model, tmp_path)
    for name in ("coef_", "intercept_", "objective_", "gap_", "classes_"):
        one, other = getattr(model, name), getattr(copy, name)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    assert copy.n_iter_ == model.n_iter_ and repr(copy) == repr(model)
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    copy.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "model.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "model.npz") as archive:
        assert json.loads(archive.read("header.json"))["kind"] == "LinearPAUCSVC"


@pytest.mark.parametrize("kind", [AdaBoostClassifier, PAUCEnsClassifier])
def test_linear_svms_are_no_ensembles(data, kind, tmp_path):
    LinearPAUCSVC((0, 1)).fit(*data).save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match=f"holds a model of kind 'LinearPAUCSVC', expected '{kind.__name__}'"):
        kind.load(tmp_path / "model.npz")
