"""scikit-learn's own checks of every classifier."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from paucens import AdaBoostClassifier, PAUCEnsClassifier

CLASSIFIERS = [PAUCEnsClassifier(n_estimators=30), AdaBoostClassifier(n_estimators=30)]

pytestmark = pytest.mark.filterwarnings("ignore:The range .* is narrower:UserWarning")


@parametrize_with_checks(CLASSIFIERS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
