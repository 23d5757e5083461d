"""Fits that end in their first rounds warn and say why; those that use their rounds do not."""

import warnings

import numpy as np
import pytest

from paucens import AdaBoostClassifier, AdaBoostLDAClassifier, PAUCBoostClassifier, PAUCEnsClassifier, Stump
from paucens.datasets import load_toy

BOOSTERS = [AdaBoostClassifier, AdaBoostLDAClassifier, PAUCBoostClassifier]
Y = np.arange(40) >= 30
SEPARATED, CONSTANT = np.arange(40.0)[:, None], np.ones((40, 2))


@pytest.mark.parametrize("kind", BOOSTERS)
@pytest.mark.parametrize(("X", "reason"), [(SEPARATED, "the training samples are separated"), (CONSTANT, "chance")])
def test_the_reason_is_named(kind, X, reason):
    with pytest.warns(UserWarning, match=f"{kind.__name__} ended after 1 of 50 rounds: .*{reason}.* help"):
        kind(n_estimators=50).fit(X, Y)


def test_an_ensemble_names_its_tolerance():
    model = PAUCEnsClassifier((0, 0.2), n_estimators=50, anneal=False, edge_tolerance=0.5)
    with pytest.warns(UserWarning, match=r"ended after \d of 50 rounds: .* edge_tolerance = 0.5 of it"):
        model.fit(SEPARATED, Y)
    assert model.stop_reason_ == "edge"


@pytest.mark.parametrize("model", [*(kind() for kind in BOOSTERS), PAUCEnsClassifier((0, 0.5))])
@pytest.mark.parametrize("n_estimators", [3, 20])
def test_all_rounds_are_no_reason_to_warn(model, n_estimators):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(learner=Stump(), n_estimators=n_estimators).fit(*load_toy(80, 120, random_state=0))


def test_as_many_rounds_as_were_asked_for_are_not_early():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AdaBoostClassifier(n_estimators=1).fit(SEPARATED, Y)
