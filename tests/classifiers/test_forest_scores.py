"""All trees in one call: the scores of learner after learner, bit for bit, and arrays that follow the model."""

import pickle

import numpy as np
import pytest

from paucens import AdaBoostClassifier, PAUCEnsClassifier, Stump, Tree
from paucens.learners import Linear

RNG = np.random.RandomState(0)
Y = np.repeat([0, 1], [150, 50])
X = RNG.normal(size=(200, 4)) + 0.8 * Y[:, None]
MISSING = np.where(RNG.rand(*X.shape) < 0.2, np.nan, X)
MODELS = [
    PAUCEnsClassifier((0, 0.2), n_estimators=12, random_state=0),
    PAUCEnsClassifier((0, 0.2), n_estimators=8, learner=Stump()),
    AdaBoostClassifier(n_estimators=7, learner=Tree(depth=2), pos_label=0),
]


def one_by_one(model, X):
    """Return the scores, one learner after the other."""
    scores = np.zeros(len(X))
    for weight, learner in zip(model.weights_, model.learners_, strict=True):
        scores += weight * learner.predict(X)
    return scores - model.threshold_


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("data", [X, MISSING], ids=["known", "missing"])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_scores_are_those_of_learner_after_learner(model, data, n_jobs):
    fitted = model.set_params(n_jobs=n_jobs).fit(data, Y)
    large = np.finfo(np.float64).max * np.where(RNG.rand(70, 4) < 0.5, -1, 1)  # whose sums overflow
    for new in (data, data.astype(np.float32), np.asfortranarray(data), data[::-3], data[:1], MISSING, large):
        np.testing.assert_array_equal(fitted.decision_function(new), one_by_one(fitted, new))


def test_the_arrays_follow_the_model():
    model = PAUCEnsClassifier((0, 0.2), n_estimators=12, random_state=0).fit(X, Y)
    before = model.decision_function(X)
    stages = list(model.staged_decision_function(X))
    np.testing.assert_array_equal(model.truncated(5).decision_function(X), stages[4])
    np.testing.assert_array_equal(model.decision_function(X), before)
    model.weights_ = 2 * model.weights_
    np.testing.assert_array_equal(model.decision_function(X), one_by_one(model, X))
    model.fit(X[::2], Y[::2])
    np.testing.assert_array_equal(model.decision_function(X), one_by_one(model, X))


def test_a_pickle_does_not_hold_the_trees_twice():
    model = PAUCEnsClassifier((0, 0.2), n_estimators=12, random_state=0).fit(X, Y)
    before, scores = len(pickle.dumps(model)), model.decision_function(X)
    assert len(pickle.dumps(model)) == before
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), scores)


def test_learners_that_are_no_trees_score_as_before():
    model = PAUCEnsClassifier((0, 0.2), n_estimators=3, learner=Linear()).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), one_by_one(model, X))
