"""The positive class of a fit: its detection is maximised, whichever place its label has in the order."""

import warnings

import numpy as np
import pytest

from paucens import (
    AdaBoostClassifier,
    AdaBoostLDAClassifier,
    AsymBoostClassifier,
    CSAdaBoostClassifier,
    FPRThresholdClassifier,
    LinearPAUCSVC,
    PAUCBoostClassifier,
    PAUCEnsClassifier,
    Stump,
)
from paucens.base import fit_binned
from paucens.datasets import load_toy

ENSEMBLES = [
    AdaBoostClassifier(learner=Stump(), n_estimators=5),
    AdaBoostLDAClassifier(learner=Stump(), n_estimators=5),
    AsymBoostClassifier(3.0, learner=Stump(), n_estimators=5),
    CSAdaBoostClassifier(2.0, 1.0, learner=Stump(), n_estimators=5),
    PAUCBoostClassifier((0, 0.2), learner=Stump(), n_estimators=5),
    PAUCEnsClassifier((0, 0.2), learner=Stump(), n_estimators=5, nu=1.0, anneal=False),
]
MODELS = [*ENSEMBLES, LinearPAUCSVC((0, 0.2))]


@pytest.fixture(scope="module")
def toy():
    return load_toy(60, 90, random_state=0)


def named(models):
    return [pytest.param(model, id=type(model).__name__) for model in models]


@pytest.mark.parametrize("model", named(MODELS))
def test_the_first_label_as_the_positive_one_is_the_same_fit_turned_round(toy, model):
    X, y = toy
    usual = model.fit(X, y).decision_function(X)
    predicted = model.predict(X)
    turned = model.set_params(pos_label="a").fit(X, np.where(y == 1, "a", "b"))
    np.testing.assert_array_equal(turned.decision_function(X), -usual)
    assert turned.classes_.tolist() == ["a", "b"]
    clear = usual != 0
    np.testing.assert_array_equal((turned.predict(X) == "a")[clear], (predicted == 1)[clear])
    model.set_params(pos_label=None)


@pytest.mark.parametrize("model", named(ENSEMBLES))
def test_stages_and_parts_are_turned_too(toy, model):
    X, y = toy
    model.set_params(pos_label=0).fit(X, 1 - y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(list(model.staged_decision_function(X))[-1], scores)
    by_hand = sum(w * h.predict(X) for w, h in zip(model.weights_, model.learners_, strict=True)) - model.threshold_
    np.testing.assert_allclose(scores, by_hand, atol=1e-12)
    model.set_params(pos_label=None)


@pytest.mark.parametrize("model", named(MODELS))
def test_a_file_keeps_the_direction(toy, model, tmp_path):
    X, y = toy
    model.set_params(pos_label="no").fit(X, np.where(y == 1, "no", "yes"))
    model.save(tmp_path / "model.npz")
    loaded = type(model).load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.pos_label == "no"
    model.set_params(pos_label=None)


@pytest.mark.parametrize(
    "model", named([*ENSEMBLES, LinearPAUCSVC((0, 1)), FPRThresholdClassifier(LinearPAUCSVC((0, 1)), 0.2)])
)
def test_text_without_a_positive_label_gives_a_warning(toy, model):
    X, y = toy
    labels = np.where(y == 1, "fraud", "legit")
    with pytest.warns(
        UserWarning, match="The positive class is 'legit', .* Set pos_label='fraud' if that is the class"
    ):
        model.fit(X, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "The positive class is 'legit'", module="paucens.operating_point")
        model.set_params(pos_label=None).fit(X, y)


@pytest.mark.parametrize("model", named(MODELS))
@pytest.mark.parametrize("label", [2, "1", 0.5])
def test_a_label_that_no_sample_has_is_refused(toy, model, label):
    with pytest.raises(ValueError, match=r"pos_label must be one of the labels \[0, 1\]; got"):
        model.set_params(pos_label=label).fit(*toy)
    model.set_params(pos_label=None)


def test_detectors_have_no_other_positive_class():
    with pytest.raises(ValueError, match="pos_label must be None or 1 for samples that are listed by class; got 0"):
        fit_binned(AdaBoostClassifier(pos_label=0), None, 3)
