"""Parameters of NumPy's types: the same fit as with Python's, without overflow or early rounding."""

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
    Tree,
)
from paucens.datasets import load_toy
from paucens.detector import Window

HALF = np.float16  # its numbers have 11 bits, so that sums in it would differ
PARAMETERS = [
    (AsymBoostClassifier, {"asymmetry": HALF(1.7), "n_estimators": np.int8(100), "shrinkage": HALF(0.3)}),
    (CSAdaBoostClassifier, {"cost_positive": HALF(1.7), "cost_negative": HALF(0.3), "n_estimators": np.int8(5)}),
    (AdaBoostLDAClassifier, {"ridge": np.float32(1e-3), "n_estimators": np.uint8(20)}),
    (AdaBoostClassifier, {"max_bins": np.uint8(200), "n_estimators": np.uint8(5), "n_jobs": np.int8(1)}),
    (AdaBoostClassifier, {"learner": Linear(C=HALF(0.3)), "n_estimators": np.uint8(3)}),
    (PAUCBoostClassifier, {"fpr_range": np.float32([0.1, 0.3]), "n_estimators": np.uint8(5)}),
    (
        PAUCEnsClassifier,
        {
            "fpr_range": (np.float32(0), HALF(0.3)),
            "n_estimators": np.uint8(20),
            "nu": HALF(0.7),
            "cut_tolerance": HALF(0.01),
            "edge_tolerance": HALF(1e-4),
            "anneal": np.True_,
            "random_state": np.int16(3),
        },
    ),
    (
        PAUCEnsClassifier,
        {
            "learner": Tree(None, max_leaves=np.uint8(200), leaves=np.str_("real"), column_fraction=HALF(0.5)),
            "n_estimators": np.uint8(4),
            "random_state": np.uint8(200),
        },
    ),
    (LinearPAUCSVC, {"fpr_range": (HALF(0), HALF(0.9)), "nu": HALF(0.7), "cut_tolerance": HALF(0.01)}),
]


def of_python(value):
    """Return a parameter with Python's scalars for NumPy's."""
    if isinstance(value, Tree | Linear):
        return type(value)(**{name: of_python(inner) for name, inner in value.get_params().items()})
    if isinstance(value, tuple):
        return tuple(map(of_python, value))
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


@pytest.mark.filterwarnings("ignore:All weights are 0", "ignore:After max_iter")
@pytest.mark.parametrize(("kind", "parameters"), PARAMETERS, ids=lambda value: getattr(value, "__name__", ""))
def test_fits_are_the_same(kind, parameters):
    X, y = load_toy(300, 500, random_state=0)
    X = X + y[:, None]
    model = kind(**parameters).fit(X, y)
    for name, value in parameters.items():
        assert getattr(model, name) is value
    other = kind(**{name: of_python(value) for name, value in parameters.items()}).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), other.decision_function(X))
    assert model.n_iter_ == other.n_iter_


def test_a_refused_fit_keeps_parameters_as_they_were_given():
    n_estimators = np.int8(0)
    model = clone(AdaBoostClassifier()).set_params(n_estimators=n_estimators)
    with pytest.raises(ValueError, match="n_estimators must be an integer"):
        model.fit(*load_toy(random_state=0))
    assert model.n_estimators is n_estimators


def test_windows_compute_in_python():
    window = Window((np.uint8(252), np.uint8(64)), (np.uint8(200), HALF(41)), np.uint8(16))
    assert window.crop == (284, 96) and window == Window((252, 64), (200, 41), 16)
    assert all(type(side) is int for side in window.crop)
