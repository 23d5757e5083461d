"""Bad input to the classifiers: errors say what came and what is allowed, and nothing is left half-fitted."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from paucens import (
    AdaBoostClassifier,
    AdaBoostLDAClassifier,
    AsymBoostClassifier,
    CSAdaBoostClassifier,
    Linear,
    PAUCBoostClassifier,
    PAUCEnsClassifier,
    Stump,
    Tree,
)

BOTH = {
    "pAUCEns": PAUCEnsClassifier(learner=Tree(depth=2), n_estimators=3, nu=1.0),
    "AdaBoost": AdaBoostClassifier(learner=Tree(depth=2), n_estimators=3),
    "Ada + LDA": AdaBoostLDAClassifier(learner=Tree(depth=2), n_estimators=3),
    "AsymBoost": AsymBoostClassifier(2.0, learner=Tree(depth=2), n_estimators=3),
    "CS-AdaBoost": CSAdaBoostClassifier(1.5, 0.5, learner=Tree(depth=2), n_estimators=3),
    "pAUCBoost": PAUCBoostClassifier(learner=Tree(depth=2), n_estimators=3),
}


@pytest.fixture(params=BOTH)
def classifier(request):
    return clone(BOTH[request.param])


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(0)
    y = np.repeat([0, 1], 30)
    return rng.normal(size=(60, 3)) + 2 * y[:, None], y


def refused(estimator, X, y, message, error=ValueError):
    """Check that the error is raised and that no attribute of a fit is left."""
    with pytest.raises(error, match=message):
        estimator.fit(X, y)
    for attribute in ("weights_", "learners_", "threshold_"):
        assert not hasattr(estimator, attribute)


def with_entry(X, value):
    X = X.copy()
    X[7, 1] = value
    return X


# -- data ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_that_are_infinite(classifier, data, value, dtype):
    X, y = data[0].copy(), data[1]
    X[3, 2] = np.nan  # which is a missing value
    refused(classifier, with_entry(X, value).astype(dtype), y, "X contains infinity")
    with pytest.raises(ValueError, match="X contains infinity"):
        classifier.fit(X, y).predict(with_entry(X, value))


def test_numbers_too_large_for_single_precision(classifier, data):
    X, y = data
    with np.errstate(over="ignore"):
        X = with_entry(X, 1e300).astype(np.float32)
    refused(classifier, X, y, "X contains infinity")


@pytest.mark.parametrize(
    "y", [np.zeros(60, int), np.ones(60, int), np.full(60, "cancer"), np.ones(60, bool)], ids=lambda y: str(y[0])
)
def test_one_class(classifier, data, y):
    refused(classifier, data[0], y, "(?i)two classes are needed.*one class")


@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "b", "c"]], ids=str)
def test_three_classes(classifier, data, labels):
    refused(classifier, data[0], np.resize(labels, 60), "Only binary classification is supported.*multiclass.*y ==")


def test_targets_that_are_not_labels(classifier, data):
    X, y = data
    refused(classifier, X, y + 0.25 * np.arange(60), "continuous")
    refused(classifier, X, np.column_stack([y, 1 - y]), "(?i)multilabel|shape|1d")
    refused(classifier, X, np.where(y == 1, 1.0, np.nan), "NaN")
    refused(classifier, X, None, "(?i)requires y|y cannot be None")


def test_no_samples_and_no_features(classifier, data):
    X, y = data
    refused(classifier, X[:0], y[:0], r"0 sample\(s\)")
    refused(classifier, X[:, :0], y, r"0 feature\(s\)")
    refused(classifier, [], [], "2D array")
    refused(classifier, X[:, 0], y, "Expected 2D array, got 1D array")
    refused(classifier, X[:, :, None], y, "dim")


def test_lengths_that_differ(classifier, data):
    X, y = data
    refused(classifier, X, y[:-1], r"\[60, 59\]")


@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "coo_array"])
def test_sparse_features(classifier, data, form):
    X, y = data
    sparse = getattr(scipy.sparse, form)(X)
    refused(classifier, sparse, y, "(?i)sparse", TypeError)
    with pytest.raises(TypeError, match=r"(?i)sparse.*dense"):
        classifier.fit(X, y).predict(sparse)


@pytest.mark.parametrize(
    "make",
    [
        lambda X: X.astype(str),
        lambda X: X.astype(bytes),
        lambda X: X.astype(str).astype(object),
        lambda X: with_entry(X.astype(object), "1.5"),
        lambda X: with_entry(X.astype(object), "red"),
        lambda X: X.astype(str).tolist(),
        pytest.param(lambda X: pd.DataFrame(X.astype(str))),
    ],
    ids=["str", "bytes", "object of str", "one number as str", "one word", "lists of str", "frame of str"],
)
def test_strings(classifier, data, make):
    X, y = data
    refused(classifier, make(X), y, "(?i)numbers; got text|string")
    with pytest.raises(ValueError, match=r"(?i)numbers; got text|string"):
        classifier.fit(X, y).predict(make(X))


@pytest.mark.parametrize("thing", [{}, [1, 2], object()], ids=["dict", "list", "object"])
def test_objects_that_are_not_numbers(classifier, data, thing):
    X, y = data
    objects = X.astype(object)
    objects[7, 1] = thing
    with pytest.raises((ValueError, TypeError)):
        classifier.fit(objects, y)
    assert not hasattr(classifier, "weights_")


def test_complex_numbers(classifier, data):
    X, y = data
    refused(classifier, X + 1j, y, "(?i)complex")


def test_objects_that_are_numbers_are_accepted(classifier, data):
    X, y = data
    expected = clone(classifier).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(classifier.fit(X.astype(object), y).decision_function(X), expected)


@pytest.mark.parametrize("method", ["predict", "decision_function", "staged_decision_function"])
def test_other_numbers_of_features(classifier, data, method):
    X, y = data
    classifier.fit(X, y)
    for other in (X[:, :2], np.column_stack([X, X])):
        with pytest.raises(ValueError, match=f"X has {other.shape[1]} features, but .* is expecting 3 features"):
            list(getattr(classifier, method)(other))


@pytest.mark.parametrize("method", ["predict", "decision_function", "staged_decision_function"])
def test_models_that_are_not_fitted(classifier, method):
    with pytest.raises(NotFittedError, match=f"This {type(classifier).__name__} instance is not fitted yet"):
        list(getattr(classifier, method)(np.zeros((2, 3))))
    with pytest.raises(NotFittedError):
        _ = classifier.feature_importances_


REFUSALS = [
    pytest.param(lambda model, X, y: (with_entry(X, np.inf), y), id="infinity"),
    pytest.param(lambda model, X, y: (X[:0], y[:0]), id="empty"),
    pytest.param(lambda model, X, y: (scipy.sparse.csr_array(X), y), id="sparse"),
    pytest.param(lambda model, X, y: (X.astype(str), y), id="strings"),
    pytest.param(lambda model, X, y: (X, y[:-1]), id="lengths"),
    pytest.param(lambda model, X, y: (model.set_params(n_estimators=0) and X, y), id="no rounds"),
    pytest.param(lambda model, X, y: (X, np.zeros_like(y)), id="one class"),
    pytest.param(lambda model, X, y: (X, np.arange(60) % 3), id="three classes"),
    pytest.param(lambda model, X, y: (model.set_params(learner__depth=0) and X, y), id="learner"),
    pytest.param(lambda model, X, y: (model.set_params(max_bins=1) and X, y), id="bins"),
    pytest.param(lambda model, X, y: (model.set_params(learner="tree") and X, y), id="no learner"),
]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refused_fit_leaves_the_estimator_unfitted(classifier, data, refusal):
    X, y = data
    with pytest.raises((ValueError, TypeError)):
        classifier.fit(*refusal(classifier, X, y))
    with pytest.raises(NotFittedError):
        classifier.predict(X)


def test_a_refused_range_leaves_the_estimator_unfitted(data):
    X, y = data
    model = PAUCEnsClassifier((0.5, 0.5001), learner=Stump())
    with pytest.raises(ValueError, match="holds no position"):
        model.fit(X, y)
    assert not hasattr(model, "weights_")


def test_a_refused_fit_leaves_the_earlier_one(classifier, data):
    """The earlier fit still scores as before."""
    X, y = data
    scores = classifier.fit(X, y).decision_function(X)
    labels = classifier.predict(X)
    with pytest.raises(ValueError, match="infinity"):
        classifier.fit(with_entry(X, np.inf), y)
    with pytest.raises(ValueError, match="n_estimators"):
        classifier.set_params(n_estimators=0).fit(X, 1 - y)
    np.testing.assert_array_equal(classifier.decision_function(X), scores)
    np.testing.assert_array_equal(classifier.predict(X), labels)


def test_a_refused_learner_leaves_the_earlier_fit(classifier, data):
    X, y = data
    labels = classifier.fit(X, y).predict(X)
    with pytest.raises(ValueError, match="max_bins"):
        classifier.set_params(max_bins=1).fit(X, np.where(y == 1, "yes", "no"))
    np.testing.assert_array_equal(classifier.predict(X), labels)


# -- parameters ------------------------------------------------------------------------------------


RANGES = [
    (0.1, 0.0),
    (0.1, 0.1),
    (-0.1, 0.5),
    (0, 1.5),
    (0,),
    (0, 0.1, 0.2),
    0.1,
    None,
    "01",
    ("0", "1"),
    (0, np.nan),
    (np.nan, 0.5),
    [[0, 1]],
]


@pytest.mark.parametrize("fpr_range", RANGES, ids=repr)
def test_ranges(data, fpr_range):
    for kind in (PAUCEnsClassifier, PAUCBoostClassifier):
        refused(kind(fpr_range), *data, "fpr_range must be two rates 0 <= alpha < beta <= 1; got")


@pytest.mark.parametrize("value", [0, 0.0, -1.0, np.nan, np.inf, "1", None, True, [1.0]], ids=repr)
@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("nu", r"in \[1e-50, 1e\+50\]"),
        ("cut_tolerance", "finite number, larger than 0"),
        ("edge_tolerance", "finite number, larger than 0"),
    ],
)
def test_positive_numbers(data, name, allowed, value):
    refused(PAUCEnsClassifier(**{name: value}), *data, rf"{name} must be .*{allowed}; got {re.escape(repr(value))}")


@pytest.mark.parametrize("value", [0, -0.5, 1.5, np.nan, "1", None, True], ids=repr)
def test_shrinkage(data, value):
    refused(AdaBoostClassifier(shrinkage=value), *data, "shrinkage must be a finite .* than 0 and at most 1")


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "1", None, True], ids=repr)
@pytest.mark.parametrize(
    ("kind", "name", "allowed"),
    [
        (AsymBoostClassifier, "asymmetry", "finite number, larger than 0"),
        (CSAdaBoostClassifier, "cost_positive", r"in \[1e-100, 1e\+100\]"),
        (CSAdaBoostClassifier, "cost_negative", r"in \[1e-100, 1e\+100\]"),
    ],
)
def test_costs(data, kind, name, allowed, value):
    refused(kind(**{name: value}), *data, rf"{name} must be .*{allowed}; got {value!r}")


@pytest.mark.parametrize("value", [-1e-9, np.nan, np.inf, "0", None], ids=repr)
def test_ridge(data, value):
    message = rf"ridge must be a finite number, 0 or larger and at most 1e\+100; got {value!r}"
    refused(AdaBoostLDAClassifier(ridge=value), *data, message)


@pytest.mark.parametrize("value", [0, -1.0, np.nan, "1", None], ids=repr)
def test_loss_weight_of_a_linear_learner(data, value):
    message = rf"C must be a number in \[1e-30, 1e\+30\]; got {value!r}"
    refused(AdaBoostClassifier(learner=Linear(C=value)), *data, message)
    refused(Linear(C=value), data[0], data[1] - 0.5, message)


@pytest.mark.parametrize("value", [0, -3, 2.0, "10", None, True], ids=repr)
def test_numbers_of_rounds(classifier, data, value):
    classifier.set_params(n_estimators=value)
    refused(classifier, *data, f"n_estimators must be an integer, 1 or larger; got {value!r}")


@pytest.mark.parametrize("value", [1, 257, 0, 16.0, None], ids=repr)
def test_numbers_of_bins(classifier, data, value):
    classifier.set_params(max_bins=value)
    refused(classifier, *data, f"max_bins must be an integer, from 2 to 256; got {value!r}")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("anneal", "yes", "'auto', True, False"),
        ("anneal", None, "'auto', True, False"),
        ("anneal", 1, "'auto', True, False"),
        ("formulation", "Tight", "'tight', 'struct'"),
        ("formulation", None, "'tight', 'struct'"),
        ("formulation", ["tight"], "'tight', 'struct'"),
    ],
    ids=repr,
)
def test_choices(data, name, value, allowed):
    refused(PAUCEnsClassifier(**{name: value}), *data, f"{name} must be one of {allowed}; got ")


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (Tree(depth=0), "depth must be an integer, 1 or larger; got 0"),
        (Tree(depth=2.5), "depth must be an integer"),
        (Tree(depth=None), "set depth, max_leaves or both"),
        (Tree(max_leaves=1), "max_leaves must be an integer, 2 or larger; got 1"),
        (Tree(leaves="mean"), "leaves must be one of 'sign', 'real'; got 'mean'"),
        (Tree(leaf_ridge=-1), "leaf_ridge must be a finite number, 0 or larger; got -1"),
        (Tree(column_fraction=0), "column_fraction must be a finite number, larger than 0 and at most 1; got 0"),
        (Tree(column_fraction=1.1), "column_fraction"),
        (Tree(column_sampling="leaf"), "column_sampling must be one of 'tree', 'node'; got 'leaf'"),
        (Stump(leaves=None), "leaves must be one of"),
    ],
    ids=repr,
)
def test_learners(classifier, data, learner, message):
    refused(classifier.set_params(learner=learner), *data, message)


def test_ranges_that_need_more_negatives(data):
    X, y = data  # 30 negatives
    refused(
        PAUCEnsClassifier((0.5, 0.51)),
        X,
        y,
        r"range \(0\.5, 0\.51\) holds no position among 30 negatives; "
        r"it takes about 200 negatives, or a wider range",
    )


def test_random_state_and_jobs(classifier, data):
    with pytest.raises(ValueError, match="seed"):
        clone(classifier).set_params(random_state="x").fit(*data)
    with pytest.raises(ValueError, match="n_jobs"):
        clone(classifier).set_params(n_jobs=0).fit(*data)
