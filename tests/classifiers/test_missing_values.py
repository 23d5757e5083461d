"""Ensembles on features with missing values: trees take them, other learners refuse them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from ensembles import ENSEMBLES, RANGE
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import get_tags

from paucens import (
    AdaBoostClassifier,
    FPRThresholdClassifier,
    Linear,
    LinearPAUCSVC,
    PAUCEnsClassifier,
    Stump,
    Tree,
    partial_auc,
)
from paucens.base import Checkpoint, fit_binned
from paucens.learners.binning import bin_features
from paucens.parallel import Threads


class Mean(BaseEstimator):
    """A learner from elsewhere, of scikit-learn's trees, which take missing values themselves."""

    def fit(self, X, signed_weights):
        self.tree_ = DecisionTreeRegressor(max_depth=1).fit(X, np.sign(signed_weights), np.abs(signed_weights))
        return self

    def predict(self, X):
        return np.clip(self.tree_.predict(X), -1, 1)

    def __sklearn_tags__(self):
        return DecisionTreeRegressor().__sklearn_tags__()


def draw(seed, n=400, d=6, share=0.3):
    """Draw two classes around opposite corners, without the entries that are missing at random."""
    rng = np.random.RandomState(seed)
    y = (rng.rand(n) < 0.3).astype(int)
    X = rng.normal(size=(n, d)) + 0.8 * y[:, None] * np.where(np.arange(d) % 2, 1, -1)
    X[rng.rand(n, d) < share] = np.nan
    return X, y


@pytest.fixture(params=ENSEMBLES, ids=lambda model: f"{type(model).__name__} {model.learner}")
def ensemble(request):
    return clone(request.param)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ensembles_of_trees_take_missing_values(ensemble, dtype, tmp_path):
    X, y = draw(0)
    X = X.astype(dtype)
    scores = ensemble.fit(X, y).decision_function(X)
    assert np.isfinite(scores).all() and len(np.unique(scores)) > 10
    total = sum(w * learner.predict(X) for w, learner in zip(ensemble.weights_, ensemble.learners_, strict=True))
    np.testing.assert_array_equal(total - ensemble.threshold_, scores)
    stages = list(ensemble.staged_decision_function(X))
    np.testing.assert_array_equal(stages[-1], scores)
    np.testing.assert_array_equal(ensemble.truncated(3).decision_function(X), stages[2])
    assert ensemble.feature_importances_.sum() == pytest.approx(1)
    ensemble.save(tmp_path / "model.npz")
    X_new = draw(1)[0]
    loaded = type(ensemble).load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.decision_function(X_new), ensemble.decision_function(X_new))
    assert loaded.to_text() == ensemble.to_text()
    assert partial_auc(draw(1)[1], ensemble.decision_function(X_new), RANGE) > 0.3


def test_a_feature_that_is_missing_everywhere_changes_nothing(ensemble):
    X, y = draw(8)
    wider = np.column_stack([X, np.full(len(X), np.nan)])
    if ensemble.learner is None:
        ensemble.set_params(learner=Tree(depth=2, leaves="real"))  # of all columns
    scores = clone(ensemble).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(ensemble.fit(wider, y).decision_function(wider), scores)
    assert ensemble.feature_importances_[-1] == 0
    wider[:, -1] = 5
    np.testing.assert_array_equal(ensemble.decision_function(wider), scores)


def test_a_threshold_classifier_passes_them_on():
    X, y = draw(9)
    model = FPRThresholdClassifier(AdaBoostClassifier(n_estimators=5), 0.1, confidence=None, random_state=0).fit(X, y)
    scores = model.estimator_.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), (scores > model.threshold_).astype(int))
    assert get_tags(model).input_tags.allow_nan
    assert not get_tags(FPRThresholdClassifier(LinearPAUCSVC())).input_tags.allow_nan


def test_threads_change_nothing(ensemble, monkeypatch):
    X, y = draw(2)
    monkeypatch.setattr("paucens.parallel.WORTH_A_THREAD", 1)
    one, two = (clone(ensemble).set_params(n_jobs=n).fit(X, y).decision_function(X) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_a_binned_fit_is_resumed_with_missing_values(tmp_path, monkeypatch):
    X, y = draw(3)
    X, m = X[np.argsort(-y, kind="stable")], int(y.sum())
    monkeypatch.setattr("paucens.base.checkpoint.EVERY", 3)
    with Threads(1) as threads:
        binned = bin_features(X, 256, threads)
    model = PAUCEnsClassifier(RANGE, n_estimators=6, nu=1.0, random_state=0)
    scores = fit_binned(clone(model), binned, m).decision_function(X)
    np.testing.assert_array_equal(model.fit(X, np.arange(len(X)) < m).decision_function(X), scores)
    for _ in range(2):
        again = fit_binned(clone(model), binned, m, Checkpoint(tmp_path / "fit.npz"))
        np.testing.assert_array_equal(again.decision_function(X), scores)


@pytest.mark.parametrize("missing", [None, pd.NA, np.nan], ids=str)
def test_missing_values_of_frames(missing):
    X, y = draw(4, d=3)
    ranks = np.where(np.isnan(X), np.nan, np.round(X))
    columns = {
        "whole": pd.array([missing if np.isnan(v) else int(v) for v in ranks[:, 0]], dtype="Int64"),
        "float": pd.array([missing if np.isnan(v) else v for v in ranks[:, 1]], dtype="Float32"),
        "plain": ranks[:, 2],
    }
    model = AdaBoostClassifier(n_estimators=5).fit(pd.DataFrame(columns), y)
    expected = clone(model).fit(ranks, y).decision_function(ranks)
    np.testing.assert_array_equal(model.decision_function(pd.DataFrame(columns)), expected)


def test_none_among_objects_is_a_missing_value():
    X, y = draw(4, d=3)
    objects = np.where(np.isnan(X), None, X.astype(object))
    model = AdaBoostClassifier(n_estimators=5).fit(objects, y)
    expected = clone(model).fit(X, y).decision_function(X)
    np.testing.assert_array_equal(model.decision_function(objects), expected)


# -- who takes them --------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [Linear(), Mean()], ids=repr)
@pytest.mark.parametrize("kind", [AdaBoostClassifier, PAUCEnsClassifier])
def test_other_learners_refuse_missing_values(kind, learner):
    X, y = draw(5)
    model = kind(learner=learner, n_estimators=3)
    with pytest.raises(ValueError, match=r"Input X contains NaN. Missing values are for ensembles of trees, .*Imputer"):
        model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(np.nan_to_num(X), y)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.decision_function(X)
    assert not get_tags(model).input_tags.allow_nan


def test_linear_classifiers_and_learners_refuse_missing_values():
    X, y = draw(6)
    for model, response in ((LinearPAUCSVC(), "decision_function"), (Linear(), "predict")):
        assert not get_tags(model).input_tags.allow_nan
        with pytest.raises(ValueError, match="Input X contains NaN"):
            model.fit(X, 2.0 * y - 1)
        with pytest.raises(ValueError, match="Input X contains NaN"):
            getattr(model.fit(np.nan_to_num(X), 2.0 * y - 1), response)(X)


def test_tags_say_who_takes_them(ensemble):
    assert get_tags(ensemble).input_tags.allow_nan
    assert get_tags(ensemble.set_params(learner=Stump())).input_tags.allow_nan
    assert not get_tags(ensemble.set_params(learner=Linear())).input_tags.allow_nan
    assert get_tags(Tree()).input_tags.allow_nan and get_tags(Stump()).input_tags.allow_nan


def test_a_fitted_model_goes_by_its_learners():
    X, y = draw(7)
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.set_params(learner=Linear()).decision_function(X), scores)


# -- what they are worth ---------------------------------------------------------------------------


def mean_areas(models, seeds):
    """Return the mean partial AUC of each model on new samples with 30 % of the values missing at random."""
    areas = []
    for seed in seeds:
        (X, y), (X_new, y_new) = draw(seed, n=600), draw(seed + 1000, n=3000)
        areas.append([partial_auc(y_new, score(model, fill(X), y, fill(X_new)), RANGE) for model, fill in models])
    return np.mean(areas, axis=0)


def score(model, X, y, X_new):
    fitted = clone(model).fit(X, y)
    return fitted.decision_function(X_new)


def as_they_are(X):
    return X


def as_a_small_number(X):
    return np.where(np.isnan(X), -1e4, X)


OURS = PAUCEnsClassifier(RANGE, learner=Tree(depth=None, max_leaves=8, leaves="real", leaf_ridge=20), n_estimators=40)


def test_missing_values_are_worth_at_least_a_small_number():
    as_nan, as_number = mean_areas([(OURS, as_they_are), (OURS, as_a_small_number)], range(5))
    assert as_nan >= as_number


@pytest.mark.slow
def test_missing_values_against_scikit_learn():
    peer = HistGradientBoostingClassifier(random_state=0)
    ours, theirs = mean_areas([(PAUCEnsClassifier(RANGE), as_they_are), (peer, as_they_are)], range(5))
    assert ours >= theirs - 0.01
