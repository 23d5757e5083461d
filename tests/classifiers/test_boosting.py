"""Variants of AdaBoost: each against its formula, and against AdaBoost if both must agree."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from paucens import (
    AdaBoostClassifier,
    AdaBoostLDAClassifier,
    AsymBoostClassifier,
    CSAdaBoostClassifier,
    PAUCBoostClassifier,
    Stump,
    Tree,
    partial_auc,
)
from paucens.boosting.cost_sensitive import cost_sensitive_coefficient
from paucens.boosting.discriminant import discriminant
from paucens.boosting.smoothed import SmoothedArea
from paucens.datasets import load_digits_parity, load_toy

LEAVES = ["sign", "real"]


@pytest.fixture(scope="module")
def toy():
    return load_toy(random_state=0)


@pytest.fixture(scope="module")
def hard():
    """Overlapping classes, so that no learner is perfect."""
    rng = np.random.RandomState(3)
    y = np.repeat([1, 0], [150, 350])
    return rng.normal(size=(500, 6)) + 0.6 * y[:, None], y


def stage_scores(model, X):
    return np.array(list(model.staged_decision_function(X)))


def start_of(y):
    """Return the signs of the samples and the first weights of AdaBoost."""
    return np.where(y == 1, 1.0, -1.0), np.where(y == 1, 0.5 / (y == 1).sum(), 0.5 / (y == 0).sum())


# -- AsymBoost -------------------------------------------------------------------------------------


@pytest.mark.parametrize("leaves", LEAVES)
def test_asymboost_without_asymmetry_is_adaboost(hard, leaves):
    X, y = hard
    learner = Tree(depth=2, leaves=leaves)
    asymmetric = AsymBoostClassifier(1.0, learner=learner, n_estimators=20).fit(X, y)
    symmetric = AdaBoostClassifier(learner=learner, n_estimators=20).fit(X, y)
    np.testing.assert_array_equal(stage_scores(asymmetric, X), stage_scores(symmetric, X))


@pytest.mark.parametrize("k", [0.25, 3.0])
def test_asymboost_equals_its_slow_twin(hard, k):
    X, y = hard
    n_rounds = 12
    sign, u = start_of(y)
    score = np.zeros(len(y))
    for _ in range(n_rounds):
        u *= np.exp(sign * math.log(math.sqrt(k)) / n_rounds)
        u /= u.sum()
        h = Stump().fit(X, u * sign).predict(X)
        error = u[h != sign].sum()
        weight = 0.5 * math.log((1 - error) / error)
        score += weight * h
        u *= np.exp(-weight * sign * h)
    model = AsymBoostClassifier(k, learner=Stump(), n_estimators=n_rounds).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), score, rtol=1e-9, atol=1e-9)


# -- cost-sensitive AdaBoost -----------------------------------------------------------------------


@pytest.mark.parametrize("leaves", LEAVES)
def test_cost_sensitive_adaboost_with_equal_costs_is_adaboost(hard, leaves):
    X, y = hard
    learner = Tree(depth=2, leaves=leaves)
    equal = CSAdaBoostClassifier(1.0, 1.0, learner=learner, n_estimators=20).fit(X, y)
    symmetric = AdaBoostClassifier(learner=learner, n_estimators=20).fit(X, y)
    rounding = 1e-12 if leaves == "sign" else 1e-6  # real leaves are sums on a grid of 2^-30
    np.testing.assert_allclose(stage_scores(equal, X), stage_scores(symmetric, X), rtol=0, atol=rounding)


def test_equal_costs_only_scale_the_score(hard):
    X, y = hard
    doubled = CSAdaBoostClassifier(2.0, 2.0, learner=Stump(), n_estimators=10).fit(X, y)
    plain = AdaBoostClassifier(learner=Stump(), n_estimators=10).fit(X, y)
    np.testing.assert_allclose(2 * doubled.decision_function(X), plain.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("costs", [(1.4, 0.6), (0.5, 1.5)])
def test_every_coefficient_minimises_the_cost_sensitive_loss(hard, costs):
    """For predictions of +-1, the coefficient minimises the loss along the new learner, not a bound on it."""
    X, y = hard
    model = CSAdaBoostClassifier(*costs, learner=Stump(), n_estimators=8).fit(X, y)
    _, u = start_of(y)
    rate = np.where(y == 1, -costs[0], costs[1])
    score = np.zeros(len(y))
    for learner, weight in zip(model.learners_, model.weights_, strict=True):
        h = learner.predict(X)

        def loss(a, score=score, h=h):
            return (u * np.exp(rate * (score + a * h))).sum()

        best = minimize_scalar(loss, bounds=(0, 5), method="bounded", options={"xatol": 1e-9})
        assert weight == pytest.approx(best.x, abs=1e-6)
        score += weight * h


@given(
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    costs=st.tuples(st.floats(0.05, 20), st.floats(0.05, 20)),
    lean=st.floats(0.01, 0.99),
)
@settings(deadline=None, max_examples=200)
def test_the_hyperbolic_root_is_a_root(shares, costs, lean):
    totals, costs = np.array([lean, 1 - lean]), np.array(costs)
    wrong = totals * shares
    edge = totals.sum() - 2 * wrong.sum()
    if edge <= 1e-9:
        return
    a = cost_sensitive_coefficient(totals, wrong, costs)
    left, right = 2 * wrong * np.cosh(costs * a), totals * np.exp(-costs * a)
    assert 0 < a <= 5 / costs.max()
    assert left.sum() == pytest.approx(right.sum(), abs=1e-9 * costs.max()) or a == 5 / costs.max()


def test_costlier_positives_are_found_more_often(hard):
    X, y = hard
    rates = []
    for k in (0.5, 1.0, 2.5):
        model = CSAdaBoostClassifier(2 * k / (1 + k), 2 / (1 + k), learner=Stump(), n_estimators=10).fit(X, y)
        rates.append((model.predict(X)[y == 1] == 1).mean())
    assert rates == sorted(rates) and rates[0] < rates[-1]


# -- AdaBoost + LDA --------------------------------------------------------------------------------


@pytest.mark.parametrize("leaves", LEAVES)
def test_weights_are_fishers_discriminant(leaves):
    """The solution of scikit-learn with equal priors has the same direction, at every stage of full rank."""
    X, y = load_digits_parity()
    model = AdaBoostLDAClassifier(ridge=0, learner=Tree(depth=3, leaves=leaves), n_estimators=12).fit(X, y)
    predicted = np.column_stack([learner.predict(X) for learner in model.learners_])
    stages = stage_scores(model, X)
    for t in (1, 2, 5, 12):
        theirs = LinearDiscriminantAnalysis(solver="lsqr", priors=[0.5, 0.5]).fit(predicted[:, :t], y)
        expected = theirs.decision_function(predicted[:, :t])
        scale = np.abs(stages[t - 1]).max() / np.abs(expected).max()
        np.testing.assert_allclose(stages[t - 1], scale * expected, atol=1e-8 * np.abs(stages[t - 1]).max())
    np.testing.assert_array_equal(stages[-1], model.decision_function(X))


def test_learners_are_those_of_adaboost(hard):
    X, y = hard
    model = AdaBoostLDAClassifier(n_estimators=10).fit(X, y)
    plain = AdaBoostClassifier(n_estimators=10).fit(X, y)
    for mine, its in zip(model.learners_, plain.learners_, strict=True):
        np.testing.assert_array_equal(mine.predict(X), its.predict(X))


def test_threshold_is_halfway_between_the_projected_means(hard):
    X, y = hard
    model = AdaBoostLDAClassifier(n_estimators=10).fit(X, y)
    scores = model.decision_function(X)
    assert scores[y == 1].mean() == pytest.approx(-scores[y == 0].mean())


def test_without_scatter_adaboost_keeps_its_weights():
    X, y = np.arange(10.0)[:, None], np.arange(10) >= 4
    model = AdaBoostLDAClassifier(n_estimators=50).fit(X, y)
    assert model.weights_.tolist() == [5.0]
    assert model.threshold_ == 0
    assert model.score(X, y) == 1


@pytest.mark.parametrize("ridge", [0.0, 1e-300, 1e-6])
def test_collinear_learners(ridge):
    """Two equal columns of predictions share a weight; a third, consistent one keeps its own."""
    rng = np.random.RandomState(0)
    h = rng.normal(size=(3, 200))
    scatter = np.cov(h[[0, 0, 1]])
    weights = discriminant(np.array([1.0, 1.0, 0.5]), scatter, ridge)
    np.testing.assert_allclose(scatter @ weights, [1.0, 1.0, 0.5], atol=1e-4)
    assert weights[0] == pytest.approx(weights[1], rel=1e-4)


def test_a_large_ridge_gives_the_difference_of_the_means(hard):
    X, y = hard
    model = AdaBoostLDAClassifier(ridge=1e9, n_estimators=6).fit(X, y)
    predicted = np.column_stack([learner.predict(X) for learner in model.learners_])
    difference = predicted[y == 1].mean(axis=0) - predicted[y == 0].mean(axis=0)
    np.testing.assert_allclose(model.weights_ / model.weights_[0], difference / difference[0], rtol=1e-6)


# -- pAUCBoost (our reading) -----------------------------------------------------------------------


def noisy_area(positives, negatives, fpr_range):
    """Return the area by its definition, on a fine grid: the ROC curve of scores with noise N(0, 1/2)."""
    grid = np.linspace(-30, 30, 200_001)
    tpr, fpr = (
        np.mean([norm.sf(grid, score, math.sqrt(0.5)) for score in scores], axis=0) for scores in (positives, negatives)
    )
    ends = np.interp(fpr_range, fpr[::-1], tpr[::-1])
    inside = (fpr > fpr_range[0]) & (fpr < fpr_range[1])
    x = np.concatenate([[fpr_range[0]], fpr[inside][::-1], [fpr_range[1]]])
    y = np.concatenate([[ends[0]], tpr[inside][::-1], [ends[1]]])
    return np.trapezoid(y, x) / (fpr_range[1] - fpr_range[0])


@pytest.mark.parametrize("fpr_range", [(0, 0.1), (0.05, 0.4), (0.3, 1), (0, 1)])
@pytest.mark.parametrize("spread", [0.0, 1.0, 6.0])
def test_smoothed_area_is_that_of_noisy_scores(fpr_range, spread):
    rng = np.random.RandomState(0)
    scores = spread * rng.normal(size=20) + np.repeat([spread, 0], 10)
    area = SmoothedArea(scores, 10, fpr_range)
    assert area.value == pytest.approx(noisy_area(scores[:10], scores[10:], fpr_range), abs=1e-6)


def test_the_whole_smoothed_area_is_a_mean_over_pairs():
    rng = np.random.RandomState(0)
    s, t = rng.normal(1, 2, size=7), rng.normal(0, 2, size=9)
    pairs = norm.cdf(s[:, None] - t)
    assert SmoothedArea(np.concatenate([s, t]), 7, (0, 1)).value == pytest.approx(pairs.mean(), abs=1e-9)


@pytest.mark.parametrize("fpr_range", [(0, 0.1), (0.1, 0.5)])
def test_smoothed_gradient_is_the_slope_of_the_area(fpr_range):
    rng = np.random.RandomState(1)
    scores = rng.normal(size=18) + np.repeat([1.0, 0], 9)
    gradient = SmoothedArea(scores, 9, fpr_range).gradient()
    step = 1e-4
    for i in range(18):
        change = step * (np.arange(18) == i)
        rise = SmoothedArea(scores + change, 9, fpr_range).value - SmoothedArea(scores - change, 9, fpr_range).value
        assert gradient[i] == pytest.approx(rise / (2 * step), abs=1e-6)
    assert gradient[:9].sum() == pytest.approx(-gradient[9:].sum())  # a common shift changes nothing


@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize("fpr_range", [(0, 0.05), (0.1, 0.3), (0, 1)])
def test_the_smoothed_objective_does_not_fall(hard, fpr_range, leaves):
    X, y = hard
    model = PAUCBoostClassifier(fpr_range, learner=Tree(depth=2, leaves=leaves), n_estimators=25).fit(X, y)
    assert len(model.objective_) == model.n_iter_ > 5
    assert (np.diff(model.objective_) > 0).all()
    assert model.objective_[0] > sum(fpr_range) / 2  # of a constant score
    scores = model.decision_function(X) + model.threshold_
    ranked = np.concatenate([scores[y == 1], scores[y == 0]])
    assert SmoothedArea(ranked, int(y.sum()), fpr_range).value == pytest.approx(model.objective_[-1], abs=1e-9)


def test_paucboost_beats_adaboost_in_its_range(toy):
    X, y = toy
    X_new, y_new = load_toy(2000, 2000, random_state=1)
    fits = [
        clone(model).fit(X, y)
        for model in (
            PAUCBoostClassifier((0, 0.2), learner=Stump(), n_estimators=10),
            AdaBoostClassifier(learner=Stump(), n_estimators=10),
        )
    ]
    ours, theirs = (partial_auc(y_new, model.decision_function(X_new), (0, 0.2)) for model in fits)
    assert ours > theirs + 0.02


@pytest.mark.parametrize("fpr_range", [(0, 1e-9), (1e-17, 0.1), (0.5, 1 - 1e-16), (0.5, 0.5 + 1e-8)])
def test_paucboost_fits_ranges_that_end_at_the_edge_of_floats(toy, fpr_range):
    model = PAUCBoostClassifier(fpr_range, learner=Stump(), n_estimators=3).fit(*toy)
    assert (np.diff(model.objective_) > 0).all() and 0 < model.objective_[0] < 1


@pytest.mark.parametrize("fpr_range", [(0, 1e-160), (0, 5e-324), (0.5, 0.5 + 6e-10)])
def test_paucboost_refuses_ranges_that_it_cannot_resolve(toy, fpr_range):
    with pytest.raises(ValueError, match=r"fpr_range must be at least 1e-09 wide.*Widen it"):
        PAUCBoostClassifier(fpr_range).fit(*toy)


def test_paucboost_ends_well_on_perfect_and_on_hopeless_data():
    X, y = np.arange(40.0)[:, None], np.arange(40) >= 30
    with pytest.warns(UserWarning, match=r"ended after 1 of 50 rounds: the training samples are separated"):
        perfect = PAUCBoostClassifier(n_estimators=50).fit(X, y)
    with pytest.warns(UserWarning, match=r"ended after 1 of 50 rounds: no further learner does better than chance"):
        hopeless = PAUCBoostClassifier(n_estimators=50).fit(np.ones((40, 2)), y)
    assert perfect.score(X, y) == 1
    assert hopeless.weights_.tolist() == [0.0] and hopeless.n_iter_ == 1
    assert hopeless.objective_.tolist() == [pytest.approx(0.05)]
