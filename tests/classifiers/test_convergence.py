"""Ensembles whose master is hard to solve: they end, with a certified gap or with a warning that gives it."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from paucens import LinearPAUCSVC, PAUCEnsClassifier, Stump, partial_auc
from paucens.base import Checkpoint, checkpoint, fit_binned
from paucens.cutting_plane import Master, most_violated_cut
from paucens.datasets import load_toy
from paucens.learners import Predictions
from paucens.learners.binning import bin_features
from paucens.parallel import Threads


@pytest.fixture(scope="module")
def toy():
    return load_toy(random_state=0)


def fitted(X, y, **parameters):
    return PAUCEnsClassifier((0, 0.1), learner=Stump(), anneal=False, **parameters).fit(X, y)


@pytest.mark.parametrize("nu", [1e3, 1e6, 1e9])
def test_a_huge_nu_ends_with_a_certified_gap(toy, nu):
    X, y = toy
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fitted(X, y, nu=nu, n_estimators=12)
    assert (model.gap_ <= 1e-2 * model.objective_).all()
    scores = sum(w * h.predict(X) for w, h in zip(model.weights_, model.learners_, strict=True))
    worst = most_violated_cut(scores[y == 1], scores[y == 0], (0, 0.1))
    risk = max(0.0, worst.loss - worst.signed_weights @ np.r_[scores[y == 1], scores[y == 0]])
    assert model.objective_[-1] == pytest.approx(nu * risk + np.square(model.weights_).sum() / 2)
    assert model.n_cuts_.sum() < 600


def test_the_optimum_of_a_huge_nu_is_the_least_risk(toy):
    """Both fits minimise the risk alone, so their risks are equal up to the tolerance."""
    X, y = toy
    risks = [fitted(X, y, nu=nu, n_estimators=8, cut_tolerance=1e-6).objective_[0] / nu for nu in (1e7, 1e9)]
    assert risks[0] == pytest.approx(risks[1], rel=3e-6)


def test_a_nu_beyond_the_precision_of_numbers_warns(toy):
    X, y = toy
    message = r"\d+ of 12 rounds ended early, because of rounding errors or .* of itself above the minimum, .* Lower nu"
    with pytest.warns(ConvergenceWarning, match=message) as record:
        model = fitted(X, y, nu=1e40, n_estimators=12)
    assert record[0].filename == __file__
    assert np.isfinite(model.decision_function(X)).all()
    assert (model.gap_ <= 1.0001 * model.objective_).all()


def test_a_bound_that_rounding_errors_lift_above_the_objective_warns():
    """Constant learners have features of rounding errors, which a huge nu makes weights of 1e24 of."""
    y = np.random.RandomState(0).permutation(np.repeat([1, 0], [17, 13]))
    with pytest.warns(ConvergenceWarning, match=r"1 of 1 rounds ended early, because of rounding errors"):
        model = PAUCEnsClassifier((0, 0.78), n_estimators=3, nu=1e50, anneal=False).fit(np.zeros((30, 1)), y)
    assert model.gap_[0] < -0.5 * model.objective_[0]


@pytest.mark.parametrize("nu", [1e-50, 1e-20, 1e-3])
def test_a_tiny_nu_reaches_any_tolerance(toy, nu):
    """A round lowers the objective by at most 2 nu^2, and no weight is larger than 2 nu."""
    tolerances = {"cut_tolerance": 1e-13, "edge_tolerance": 1e-300}
    model = PAUCEnsClassifier((0, 1), learner=Stump(), n_estimators=3, nu=nu, anneal=False, **tolerances).fit(*toy)
    assert (np.abs(model.gap_) <= 1e-13 * nu).all()
    assert ((1 - 6 * nu) * nu <= model.objective_).all() and (model.objective_ <= nu).all()
    assert (np.abs(model.weights_) <= 2 * nu).all()
    assert model.weights_.any() == (nu > 1e-15)  # what a smaller one gains is a rounding error of nu


@pytest.mark.parametrize(("n_estimators", "formulation"), [(20, "tight"), (20, "struct"), (40, "struct")])
def test_a_narrower_range_keeps_the_weights_within_the_tolerance(toy, n_estimators, formulation):
    """The objective passes that of w = 0 by less than cut_tolerance, but w = 0 would not rank the samples."""
    model = PAUCEnsClassifier(
        (0, 0.01), learner=Stump(), n_estimators=n_estimators, nu=0.001, formulation=formulation
    ).fit(*toy)
    assert 0.001 < model.objective_.max() <= 0.001 / (1 - 1e-2)
    assert (model.objective_ - model.gap_ <= 0.001).all()
    assert partial_auc(toy[1], model.decision_function(toy[0]), (0, 0.01)) > 0.5


@pytest.mark.parametrize("nu", [1e-51, 1e51, 1e-300, 1e300])
@pytest.mark.parametrize("model", [LinearPAUCSVC(), PAUCEnsClassifier()], ids=["linear", "ensemble"])
def test_nu_must_be_in_the_range_of_the_arithmetic(toy, model, nu):
    with pytest.raises(ValueError, match=r"nu must be a number in \[1e-50, 1e\+50\]; got .* Usual values"):
        model.set_params(nu=nu).fit(*toy)


def test_a_huge_nu_resumes_bit_for_bit(toy, tmp_path, monkeypatch):
    """The checkpoint holds how soon the active set takes over."""
    monkeypatch.setattr(checkpoint, "EVERY", 8)
    X, y = toy
    order = np.argsort(1 - y, kind="stable")
    binned = bin_features(X[order], 256, Threads(1))
    model = PAUCEnsClassifier((0, 0.1), learner=Stump(), n_estimators=12, nu=1e7, anneal=False)
    path = tmp_path / "fit.npz"
    whole = fit_binned(model, binned, int(y.sum()), Checkpoint(path))
    assert path.exists()
    weights = whole.weights_
    np.testing.assert_array_equal(fit_binned(model, binned, int(y.sum()), Checkpoint(path)).weights_, weights)


def test_a_round_that_got_stuck_does_not_end_the_next(toy):
    X, y = toy
    master = Master(200, 200, 1e30, "tight", "dense", 2)
    assert not master.stuck
    order = np.argsort(1 - y, kind="stable")
    for column in X[order].T:
        master.append(Predictions(np.tanh(column), None))
        n_calls = master.solve((0, 20), 1e-6)
        assert master.stuck
        assert 10 <= n_calls < 200
