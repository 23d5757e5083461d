"""The linear weak learner, alone and inside ensembles."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from paucens import AdaBoostClassifier, AdaBoostLDAClassifier, Linear, PAUCEnsClassifier
from paucens.parallel import Threads


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(0)
    y = np.repeat([1, 0], [60, 240])
    X = rng.normal(size=(300, 5)) + 0.5 * y[:, None]
    weights = np.where(y == 1, 1.0, -1.0) * rng.exponential(size=300)
    weights[::3] = 0.0
    return X, y, weights


def test_fit_is_liblinear_on_the_rows_of_nonzero_weight(data):
    X, _, weights = data
    used = weights != 0
    magnitudes = np.abs(weights[used])
    theirs = LinearSVC(C=0.3, dual=False, tol=0.01)
    theirs.fit(X[used], weights[used] > 0, sample_weight=magnitudes / magnitudes.mean())
    mine = Linear(C=0.3).fit(X, weights)
    np.testing.assert_array_equal(mine.coef_, theirs.coef_[0])
    np.testing.assert_array_equal(mine.predict(X), np.where(theirs.decision_function(X) >= 0, 1.0, -1.0))


def test_scale_of_the_weights_and_rows_without_weight_do_not_matter(data):
    X, _, weights = data
    once = Linear().fit(X, weights)
    again = Linear().fit(np.vstack([X, 1e6 * X]), np.concatenate([1e-7 * weights, np.zeros(300)]))
    np.testing.assert_allclose(again.coef_, once.coef_, rtol=1e-9)


def test_a_negative_edge_is_turned_round():
    """With few heavy and many light rows the hinge loss prefers the light ones, here with a negative edge."""
    found = 0
    for seed in range(200):
        rng = np.random.RandomState(seed)
        X = rng.normal(size=(12, 1))
        weights = np.sign(rng.normal(size=12)) * rng.exponential(size=12) ** 3
        svm_weights = np.abs(weights) / np.abs(weights).mean()
        theirs = LinearSVC(dual=False, tol=0.01).fit(X, weights > 0, sample_weight=svm_weights)
        edge = (weights * np.where(theirs.decision_function(X) >= 0, 1, -1)).sum()
        mine = Linear().fit(X, weights)
        assert (weights * mine.predict(X)).sum() == pytest.approx(abs(edge))
        found += edge < 0
    assert found > 0


@pytest.mark.parametrize(("value", "answer"), [(1.0, 1.0), (-1.0, -1.0), (0.0, 1.0)])
def test_one_class_is_predicted_everywhere(data, value, answer):
    X = data[0]
    assert set(Linear().fit(X, np.full(len(X), value)).predict(X)) == {answer}


def test_weights_that_vanish_beside_the_others_are_none(data, capfd):
    """LIBLINEAR would miss their class, and print it."""
    X, _, weights = data
    vanishing = np.where(weights > 0, 1e-200, 1e200) * weights
    assert set(Linear().fit(X, vanishing).predict(X)) == {-1.0}
    assert capfd.readouterr() == ("", "")


def test_learners_are_the_same_alone_and_in_an_ensemble(data):
    X, y, _ = data
    order = np.concatenate([np.flatnonzero(y == 1), np.flatnonzero(y == 0)]).astype(np.int32)[::-1].copy()
    weights = np.random.RandomState(1).normal(size=len(X))
    with Threads(1) as threads:
        trainer = Linear(C=0.5).make_trainer(X, order, 256, threads, 0)
        learner, predictions = trainer.train(weights[order], 0)
    assert trainer.prediction_kind == "sign"
    alone = Linear(C=0.5).fit(X, weights)
    np.testing.assert_array_equal(learner.coef_, alone.coef_)
    np.testing.assert_array_equal(predictions.dense, alone.predict(X)[order])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ensembles_of_linear_learners(data, dtype):
    X, y, _ = data
    X = StandardScaler().fit_transform(X).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", r"AdaBoost\w+ ended after|The threshold of predict")
        for model in (
            PAUCEnsClassifier((0, 0.2), learner=Linear(), n_estimators=15, nu=5.0, anneal=False),
            AdaBoostClassifier(learner=Linear(), n_estimators=15),
            AdaBoostLDAClassifier(learner=Linear(), n_estimators=15),
        ):
            model.fit(X, y)
            by_hand = sum(w * h.predict(X) for w, h in zip(model.weights_, model.learners_, strict=True))
            np.testing.assert_allclose(model.decision_function(X), by_hand - model.threshold_, atol=1e-12)
            np.testing.assert_array_equal(model.decision_function(X[::-1]), model.decision_function(X)[::-1])
            assert model.score(X, y) > 0.7
            with pytest.raises(AttributeError, match="feature_importances_ needs trees; learners_ holds Linear"):
                _ = model.feature_importances_


def test_bad_input(data):
    X, _, weights = data
    with pytest.raises(ValueError, match="signed_weights must be one number per sample"):
        Linear().fit(X, weights[:-1])
    with pytest.raises(ValueError, match="contains NaN"):
        Linear().fit(np.where(X > 2, np.nan, X), weights)
    with pytest.raises(ValueError, match="X has 2 features, but Linear is expecting 5"):
        Linear().fit(X, weights).predict(X[:, :2])


AT_THE_LIMITS = """
import itertools, warnings
import numpy as np
from paucens import Linear
from paucens.learners.linear import LARGEST_C, LARGEST_FEATURE, LEAST_C
rng = np.random.RandomState(0)
with warnings.catch_warnings(action="ignore"):
    for C, n, d in itertools.product((LEAST_C, 1.0, LARGEST_C), (3, 10, 200), (1, 5)):
        X, weights = rng.uniform(-1, 1, size=(n, d)), rng.normal(size=n)
        weights[:2] = 1, -1
        one_cell, columns, rows = X.copy(), X * LARGEST_FEATURE ** np.linspace(-1, 1, d), X.copy()
        one_cell[0, 0] = LARGEST_FEATURE
        rows *= LARGEST_FEATURE ** np.linspace(-1, 1, n)[:, None]
        for features in (LARGEST_FEATURE * X, X / LARGEST_FEATURE, 1e-300 * X, one_cell, columns, rows):
            for u in (weights, weights * 1e-300 ** rng.uniform(size=n)):
                learner = Linear(C).fit(features, u)
                assert np.isfinite(learner.coef_).all() and np.isfinite(learner.intercept_)
"""


def test_liblinear_ends_up_to_the_limits():
    """Beyond them it does not end, and a signal would not reach it; so this runs in a process of its own."""
    subprocess.run([sys.executable, "-c", AT_THE_LIMITS], check=True, timeout=120)


VANISHING = """
import numpy as np
from paucens import Linear

values = [1.147, -0.0566, 0.546, 0.0394, 0.21, -1.498, 0.388, 0.197, 3.196]
weights = np.array([-0.75, 1.5, -0.75, -0.75, 1.5, 1.5, -0.75, -0.75, -0.75])
for exponent in range(-320, 0, 3):
    X = np.array(values)[:, None] * 10.0**exponent
    learner = Linear().fit(X, weights)
    if exponent < -121:
        assert learner.coef_[0] == 0 and learner.fit(np.column_stack([X, values]), weights).coef_[1] != 0
    else:
        assert np.isfinite(learner.coef_).all()
"""


def test_liblinear_ends_if_squares_of_features_vanish():
    """Such features count as 0; for some of these, LIBLINEAR would not end."""
    subprocess.run([sys.executable, "-c", VANISHING], check=True, timeout=120)


@pytest.mark.parametrize("C", [1e-300, 9e-31, 2e30, 1e300])
def test_a_loss_weight_beyond_the_limits_is_refused(data, C):
    message = r"C must be a number in \[1e-30, 1e\+30\]; got .* Usual values are 0\.01 to 100\."
    with pytest.raises(ValueError, match=message):
        Linear(C).fit([[-1.7], [1.5], [-0.9]], [-0.5, 0.25, 0.25])
    with pytest.raises(ValueError, match=message):
        AdaBoostClassifier(learner=Linear(C)).fit(*data[:2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_feature_beyond_the_limits_is_refused(data, dtype):
    X, y, weights = data
    X = X.astype(dtype)
    X[7, 3] = -2e30 if dtype == np.float32 else 1e77
    message = r"Features must lie within \+-1e\+30; column 3 spans .* Standardise the columns first\."
    with pytest.raises(ValueError, match=message):
        Linear().fit(X, weights)
    with pytest.raises(ValueError, match=message):
        PAUCEnsClassifier(learner=Linear()).fit(X, y)


def test_whole_weights_are_repeated_rows(data):
    """Also for the tolerance of LIBLINEAR, which depends on numbers of rows."""
    X, y, _ = data
    order = np.concatenate([np.flatnonzero(y == 1), np.flatnonzero(y == 0)]).astype(np.int32)
    rng = np.random.default_rng(0)
    counts, u = rng.integers(1, 6, size=len(X)), rng.normal(size=len(X))
    rows = np.repeat(np.arange(len(X)), counts)
    with Threads(1) as threads:
        trainer = Linear().make_trainer(X, order, 256, threads, 0, None, counts.astype(float))
        learner, _ = trainer.train((u * counts)[order], 0)
    repeated = Linear().fit(X[rows], u[rows])
    np.testing.assert_allclose(learner.coef_, repeated.coef_, rtol=1e-9)
    assert learner.intercept_ == pytest.approx(repeated.intercept_, rel=1e-9)
