"""Parameters and data at the ends of what numbers can hold: a fit, or an error that says what is allowed."""

import warnings

import numpy as np
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

CLASSIFIERS = [
    PAUCEnsClassifier(n_estimators=10),
    PAUCEnsClassifier((0, 0.3), learner=Stump(leaves="real"), formulation="struct", nu=100.0, n_estimators=10),
    PAUCEnsClassifier((0, 0.3), learner=Linear(), nu=1.0, n_estimators=10),
    AdaBoostClassifier(learner=Tree(depth=6, leaves="real"), n_estimators=40),
    AsymBoostClassifier(100.0, n_estimators=10),
    CSAdaBoostClassifier(1.9, 0.1, n_estimators=10),
    AdaBoostLDAClassifier(n_estimators=10),
    PAUCBoostClassifier((0, 1), n_estimators=30),
    PAUCBoostClassifier((0.2, 0.3), learner=Stump(), n_estimators=10),
    LinearPAUCSVC((0, 0.3)),
]
EXTREMES = [
    PAUCEnsClassifier(nu=1e-50, n_estimators=3),
    PAUCEnsClassifier(nu=1e50, n_estimators=3),
    PAUCEnsClassifier((0, 5e-324), n_estimators=3),
    PAUCEnsClassifier(cut_tolerance=1e-300, edge_tolerance=1e-300, n_estimators=3),
    PAUCEnsClassifier(cut_tolerance=1e300, edge_tolerance=1e300, n_estimators=3),
    PAUCEnsClassifier(nu=1e-50, cut_tolerance=1e-300, n_estimators=3),
    PAUCEnsClassifier((0, 0.45), nu=1e50, cut_tolerance=1e300, mixture="auto", n_estimators=3),
    PAUCEnsClassifier((0, 0.45), nu=1e50, cut_tolerance=1e300, learner=Stump(), n_estimators=7),
    PAUCEnsClassifier(learner=Tree(depth=10**12, max_leaves=31, leaves="real"), n_estimators=3),
    PAUCEnsClassifier(learner=Tree(leaves="real", leaf_ridge=1e308), n_estimators=3),
    PAUCEnsClassifier(learner=Tree(depth=10**12, max_leaves=10**12, column_fraction=1e-300), n_estimators=3),
    PAUCEnsClassifier(learner=Linear(C=1e-30), n_estimators=3),
    AdaBoostClassifier(shrinkage=5e-324, n_estimators=3),
    AdaBoostClassifier(learner=Tree(leaves="real", leaf_ridge=20), shrinkage=5e-324, n_estimators=3),
    AsymBoostClassifier(5e-324, n_estimators=3),
    AsymBoostClassifier(1.7e308, n_estimators=1),
    CSAdaBoostClassifier(1e-100, 1e-100, n_estimators=3),
    CSAdaBoostClassifier(1e100, 1e-100, n_estimators=3),
    AdaBoostLDAClassifier(ridge=1e100, n_estimators=3),
    AdaBoostLDAClassifier(ridge=5e-324, n_estimators=3),
    PAUCBoostClassifier((0, 1e-9), n_estimators=3),
    PAUCBoostClassifier((1e-300, 0.1), n_estimators=3),
    PAUCBoostClassifier((0.5, 0.5 + 2e-9), n_estimators=3),
    PAUCBoostClassifier((1 - 1e-8, 1), n_estimators=3),
    PAUCBoostClassifier((0.9, 1 - 1e-16), n_estimators=3),
    LinearPAUCSVC((0, 5e-324)),
    LinearPAUCSVC(nu=1e-50, cut_tolerance=1e-300),
    LinearPAUCSVC((0, 1), nu=1e50, cut_tolerance=1e300),
]


def described(estimator):
    return " ".join(repr(estimator).split())


def fitted(model, X, y):
    """Fit, and score in every way, with floating-point errors raised and warnings silenced; check the scores."""
    with np.errstate(all="raise"), warnings.catch_warnings(action="ignore"):
        model = clone(model).fit(X, y)
        scores = model.decision_function(X)
        if hasattr(model, "staged_decision_function"):
            np.testing.assert_array_equal(list(model.staged_decision_function(X))[-1], scores)
        assert set(model.predict(X)) <= set(model.classes_)
    assert np.isfinite(scores).all()
    return model


@pytest.mark.parametrize("unit", [1e-310, 1e-160, 1.0, 1e29], ids=str)
@pytest.mark.parametrize("model", CLASSIFIERS, ids=described)
def test_no_floating_point_error_escapes(model, unit):
    """Users may run with np.errstate(all="raise"); an underflow to 0 is no error here."""
    X, y = load_toy(60, 80, random_state=0)
    fitted(model, unit * X, y)


@pytest.mark.parametrize("model", EXTREMES, ids=described)
def test_extreme_parameters(model):
    fitted(model, *load_toy(40, 60, random_state=0))


def test_features_of_single_precision_whose_sum_is_infinite():
    X, y = load_toy(40, 60, random_state=0)
    X = (1e38 * X / np.abs(X).max(axis=0)).astype(np.float32)
    X[::2] *= -3
    for model in (AdaBoostClassifier(n_estimators=3), PAUCEnsClassifier(n_estimators=3)):
        fitted(model, X, y)
    with np.errstate(all="raise"):
        Tree().fit(X, y - 0.5).predict(X)


def test_a_learner_alone_on_weights_of_all_sizes():
    X, y = load_toy(40, 60, random_state=0)
    weights = (2 * y - 1) * 10.0 ** np.linspace(-300, 300, len(y))
    with np.errstate(all="raise"):
        for learner in (Tree(), Tree(leaves="real"), Stump(), Linear()):
            assert set(np.sign(learner.fit(X, weights).predict(X))) <= {-1, 0, 1}


@pytest.mark.parametrize("fpr_range", [(0, 1e-16), (0, 9e-10), (0.5, 0.5 + 1e-10), (1 - 1e-10, 1)])
def test_a_range_without_digits_is_refused(fpr_range):
    with pytest.raises(ValueError, match=r"fpr_range must be (at least 1e-09 wide|wider than 1e-09 of beta)"):
        PAUCBoostClassifier(fpr_range).fit(*load_toy(40, 60, random_state=0))


@pytest.mark.parametrize("cost", [1e-308, 9e-101, 2e100, 1e308])
@pytest.mark.parametrize("name", ["cost_positive", "cost_negative"])
def test_costs_whose_products_overflow_are_refused(name, cost):
    with pytest.raises(ValueError, match=rf"{name} must be a number in \[1e-100, 1e\+100\]; got .* Usual values"):
        CSAdaBoostClassifier(**{name: cost}).fit(*load_toy(40, 60, random_state=0))


def test_equal_costs_are_adaboost_whatever_their_unit():
    X, y = load_toy(40, 60, random_state=0)
    plain = AdaBoostClassifier(learner=Stump(), n_estimators=5).fit(X, y)
    for cost in (1e-100, 1e-3, 1e100):
        model = CSAdaBoostClassifier(cost, cost, learner=Stump(), n_estimators=5).fit(X, y)
        np.testing.assert_allclose(model.weights_ * cost, plain.weights_, rtol=1e-9)


def test_the_tiniest_range_says_that_no_number_of_negatives_holds_it():
    with pytest.warns(
        UserWarning, match=r"range \(0, 4\.94066e-324\) is narrower than one of 60 .* takes inf negatives"
    ):
        PAUCEnsClassifier((0, 5e-324), n_estimators=2).fit(*load_toy(40, 60, random_state=0))
