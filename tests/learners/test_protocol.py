"""The protocol of weak learners: learners of the package fulfil it, others get an adapter."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from paucens import AdaBoostClassifier
from paucens.learners import LEARNERS, Tree, WeakLearner, adapted
from paucens.parallel import Threads

KINDS = {"sign", "few", "value", "dense"}


class Column(BaseEstimator):
    """A learner from elsewhere: the sign of a column."""

    def fit(self, X, signed_weights):
        self.column_ = int(np.abs(signed_weights @ np.sign(X)).argmax())
        return self

    def predict(self, X):
        return np.sign(X[:, self.column_])


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(60, 3))
    return X, np.where(X[:, 1] + rng.normal(size=60) > 0, 1.0, -1.0) * rng.exponential(size=60)


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_of_the_package_fulfil_it(name):
    learner = LEARNERS[name]()
    assert isinstance(learner, WeakLearner)
    assert adapted(learner) is learner


def test_others_are_adapted():
    learner = Column()
    assert not isinstance(learner, WeakLearner)
    assert adapted(learner) is not learner
    assert adapted(Tree) is not Tree  # a class is not a learner


@pytest.mark.parametrize("learner", [*(learner() for learner in LEARNERS.values()), Column()], ids=repr)
def test_trainers_train_on_samples_in_the_given_order(data, learner):
    X, weights = data
    order = np.random.RandomState(1).permutation(len(X)).astype(np.int32)
    with Threads(1) as threads:
        trainer = adapted(learner).make_trainer(X, order, 256, threads, 0)
        fitted, predictions = trainer.train(weights[order], 0)
        again = trainer.predictions_of(fitted)
    assert trainer.prediction_kind in KINDS
    assert trainer.samples_columns(0) is False and trainer.last_stage == 0
    np.testing.assert_array_equal(predictions.dense, fitted.predict(X)[order])
    np.testing.assert_array_equal(again.dense, predictions.dense)
    assert (weights * fitted.predict(X)).sum() > 0


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_come_back_from_arrays(data, name):
    X, weights = data
    learners = [LEARNERS[name]().fit(X, w) for w in (weights, -weights[::-1])]
    template = LEARNERS[name]()
    template.n_features_in_ = 3
    loaded = template.from_arrays(LEARNERS[name].to_arrays(learners))
    for one, other in zip(learners, loaded, strict=True):
        np.testing.assert_array_equal(other.predict(X), one.predict(X))


def test_a_new_learner_needs_no_change_elsewhere(data):
    """A learner that fulfils the protocol is trained by its own trainer."""
    X, weights = data

    class Counted(Tree):
        made = 0

        def make_trainer(self, *arguments):
            Counted.made += 1
            return super().make_trainer(*arguments)

    model = AdaBoostClassifier(learner=Counted(depth=2), n_estimators=3).fit(X, weights > 0)
    assert Counted.made == 1
    assert all(isinstance(learner, Counted) for learner in model.learners_)
