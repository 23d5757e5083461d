"""scikit-learn's own checks of every classifier, and the classifiers in tools of scikit-learn."""

import pickle
from unittest import SkipTest

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from paucens import (
    AdaBoostClassifier,
    AdaBoostLDAClassifier,
    AsymBoostClassifier,
    CSAdaBoostClassifier,
    PAUCBoostClassifier,
    PAUCEnsClassifier,
    Tree,
    partial_auc,
    pauc_scorer,
)
from paucens.datasets import load_toy
from paucens.structural import LinearPAUCSVC

CLASSIFIERS = [
    PAUCEnsClassifier(n_estimators=30),
    PAUCEnsClassifier((0, 1), n_estimators=30, early_stopping=True, validation_fraction=0.3),
    AdaBoostClassifier(n_estimators=30),
    AdaBoostLDAClassifier(n_estimators=30),
    AsymBoostClassifier(2.0, n_estimators=30),
    CSAdaBoostClassifier(1.5, 0.5, n_estimators=30),
    PAUCBoostClassifier(n_estimators=30),
    LinearPAUCSVC(),
]
LEAST_CHECKS = 50
RANGE = (0, 0.2)
SMALL = [
    PAUCEnsClassifier(RANGE, learner=Tree(depth=2), n_estimators=8, nu=10.0, anneal=False, random_state=0),
    AdaBoostClassifier(learner=Tree(depth=2), n_estimators=8, random_state=0),
    AdaBoostLDAClassifier(learner=Tree(depth=2), n_estimators=8, random_state=0),
    AsymBoostClassifier(2.0, learner=Tree(depth=2), n_estimators=8, random_state=0),
    CSAdaBoostClassifier(1.5, 0.5, learner=Tree(depth=2), n_estimators=8, random_state=0),
    PAUCBoostClassifier(RANGE, learner=Tree(depth=2), n_estimators=8, random_state=0),
]

pytestmark = pytest.mark.filterwarnings("ignore:The range .* is narrower:UserWarning")


def name_of(estimator):
    return type(estimator).__name__


@pytest.fixture(params=SMALL, ids=name_of)
def classifier(request):
    return clone(request.param)


@parametrize_with_checks(CLASSIFIERS)
def test_scikit_learn_checks(estimator, check):
    try:
        check(estimator)
    except SkipTest as skipped:  # a check that does not run proves nothing
        raise AssertionError(f"scikit-learn skipped the check: {skipped}") from skipped


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name_of)
def test_scikit_learn_has_many_checks(estimator):
    checks = list(estimator_checks_generator(estimator, mark="skip"))
    assert len(checks) >= LEAST_CHECKS
    assert not any(name_of(check) == "ParameterSet" for check in checks)  # one that is marked to be skipped


def test_clone_keeps_parameters_and_drops_the_fit(classifier):
    copy = clone(classifier.fit(*load_toy(random_state=0)))
    assert not hasattr(copy, "weights_")
    for name, value in classifier.get_params(deep=False).items():
        if name == "learner":
            assert copy.learner is not value and copy.learner.get_params() == value.get_params()
        else:
            assert getattr(copy, name) == value


def test_nested_parameters_are_set(classifier):
    X, y = load_toy(random_state=0)
    classifier.set_params(learner__depth=1, n_estimators=3).fit(X, y)
    assert len(classifier.learners_) == 3
    assert max(len(learner.nodes_.child) for learner in classifier.learners_) == 3  # one split and two leaves


def test_pipeline(classifier):
    X, y = load_toy(random_state=0)
    pipeline = make_pipeline(StandardScaler(), classifier).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    alone = clone(classifier).fit(scaled, y)
    np.testing.assert_array_equal(pipeline.decision_function(X), alone.decision_function(scaled))
    assert pipeline.score(X, y) > 0.8


def test_grid_search_with_partial_auc(classifier):
    X, y = load_toy(random_state=0)
    depths = [1, 3]
    search = GridSearchCV(classifier, {"learner__depth": depths}, scoring=pauc_scorer(RANGE), cv=2).fit(X, y)
    by_hand = []
    for depth in depths:
        folds = []
        for train, test in StratifiedKFold(2).split(X, y):
            model = clone(classifier).set_params(learner__depth=depth).fit(X[train], y[train])
            folds.append(partial_auc(y[test], model.decision_function(X[test]), RANGE))
        by_hand.append(np.mean(folds))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_hand, rtol=1e-12)
    assert search.best_params_["learner__depth"] == depths[int(np.argmax(by_hand))]


def test_parameters_of_no_learner_are_refused_with_the_remedy(classifier):
    X, y = load_toy(20, 20, random_state=0)
    classifier.set_params(learner=None)
    search = GridSearchCV(classifier, {"learner__max_leaves": [3, 5]}, cv=2)
    with pytest.raises(ValueError, match=r"learner__max_leaves cannot be set: learner is None.* Pass that as") as found:
        search.fit(X, y)
    assert " ".join(repr(classifier.default_learner).split()) in str(found.value)
    classifier.set_params(learner=clone(classifier.default_learner))
    assert search.fit(X, y).best_params_["learner__max_leaves"] in (3, 5)
    changed = clone(classifier).set_params(learner=Tree(), learner__depth=7, n_estimators=3)
    assert (changed.learner.depth, changed.n_estimators) == (7, 3)
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        classifier.set_params(depth=3)


def test_one_versus_rest(classifier):
    rng = np.random.RandomState(0)
    kinds = np.repeat(["a", "b", "c"], 60)
    X = rng.normal(size=(180, 3)) + 2 * (kinds[:, None] == ["a", "b", "c"])
    several = OneVsRestClassifier(classifier).fit(X, kinds)
    scores = several.decision_function(X)
    for k, kind in enumerate(several.classes_):
        alone = clone(classifier).fit(X, kinds == kind)
        np.testing.assert_array_equal(scores[:, k], alone.decision_function(X))
    np.testing.assert_array_equal(several.predict(X), several.classes_[scores.argmax(axis=1)])
    assert several.score(X, kinds) > 0.7


def test_probabilities_of_scores_held_out():
    """Sigmoids of scores: in their order, with the same partial AUC, and closer to the truth than the base rate."""
    X, y = load_toy(200, 600, random_state=0)
    X_new, y_new = load_toy(1000, 3000, random_state=1)
    model = PAUCEnsClassifier(RANGE, n_estimators=40, random_state=0)
    calibrated = CalibratedClassifierCV(model, method="sigmoid", ensemble=False, cv=5).fit(X, y)
    probability = calibrated.predict_proba(X_new)[:, 1]
    scores = model.fit(X, y).decision_function(X_new)
    by_score = probability[np.argsort(scores, kind="stable")]
    assert (np.diff(by_score) >= 0).all() and by_score[0] < 0.1 < 0.7 < by_score[-1]
    assert partial_auc(y_new, probability, RANGE) == pytest.approx(partial_auc(y_new, scores, RANGE), abs=1e-9)
    assert brier_score_loss(y_new, probability) < 0.7 * brier_score_loss(y_new, np.full(4000, y.mean()))


def test_calibration(classifier):
    X, y = load_toy(random_state=0)
    calibrated = CalibratedClassifierCV(classifier, cv=3).fit(X, y)
    probability = calibrated.predict_proba(X)[:, 1]
    assert ((probability >= 0) & (probability <= 1)).all()
    assert probability[y == 1].mean() > 0.7 > 0.3 > probability[y == 0].mean()


@pytest.mark.parametrize("tool", ["pickle", "joblib"])
def test_copies_through_files_score_the_same(classifier, tool, tmp_path):
    X, y = load_toy(random_state=0)
    classifier.fit(X, y)
    if tool == "pickle":
        copy = pickle.loads(pickle.dumps(classifier))
    else:
        joblib.dump(classifier, tmp_path / "model.joblib")
        copy = joblib.load(tmp_path / "model.joblib")
    X_new = load_toy(500, 500, random_state=1)[0]
    np.testing.assert_array_equal(copy.decision_function(X_new), classifier.decision_function(X_new))
    for mine, its in zip(classifier.staged_decision_function(X_new), copy.staged_decision_function(X_new), strict=True):
        np.testing.assert_array_equal(mine, its)


def test_data_frames(classifier):
    X, y = load_toy(random_state=0)
    frame = pd.DataFrame(X, columns=["width", "height"])
    classifier.fit(frame, pd.Series(np.where(y == 1, "yes", "no")))
    assert classifier.feature_names_in_.tolist() == ["width", "height"]
    assert classifier.classes_.tolist() == ["no", "yes"]
    scores = classifier.decision_function(frame)
    np.testing.assert_array_equal(scores, clone(classifier).fit(X, y).decision_function(X))
    with pytest.raises(ValueError, match="feature names"):
        classifier.predict(frame[["height", "width"]])


@pytest.mark.parametrize("labels", [[False, True], [-1, 1], ["cancer", "healthy"], [2.0, 7.0]], ids=str)
def test_the_larger_label_is_positive(classifier, labels):
    X, y = load_toy(random_state=0)
    named = np.array(labels)[y]
    classifier.fit(X, named)
    assert classifier.classes_.tolist() == sorted(labels)
    expected = np.where(classifier.decision_function(X) > 0, classifier.classes_[1], classifier.classes_[0])
    np.testing.assert_array_equal(classifier.predict(X), expected)
    assert classifier.score(X, named) > 0.8
