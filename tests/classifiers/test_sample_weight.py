"""Weights of samples: fits equal those of repeated samples; what a scale changes; what is refused; files."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

from paucens import (
    AdaBoostClassifier,
    AdaBoostLDAClassifier,
    AsymBoostClassifier,
    CSAdaBoostClassifier,
    Linear,
    LinearPAUCSVC,
    PAUCBoostClassifier,
    PAUCEnsClassifier,
    Stump,
    Tree,
)
from paucens.base import distinct_samples, fit_binned
from paucens.base.checkpoint import Checkpoint
from paucens.datasets import load_toy
from paucens.learners.binning import bin_features
from paucens.parallel import Threads

RANGE, REAL = (0, 0.2), Tree(depth=2, leaves="real", leaf_ridge=2)


class Mean(BaseEstimator):
    """A learner from elsewhere: which of the means of the classes is nearer in the first column."""

    def fit(self, X, signed_weights):
        mass = np.abs(signed_weights)
        self.means_ = [np.average(X[rows, 0], weights=mass[rows]) for rows in (signed_weights > 0, signed_weights < 0)]
        return self

    def predict(self, X):
        above, below = (np.abs(X[:, 0] - mean) for mean in self.means_)
        return np.where(above <= below, 1.0, -1.0)


MODELS = {
    "published": PAUCEnsClassifier(RANGE, learner=Tree(depth=3), n_estimators=8, nu=1.0, anneal=False),
    "default": PAUCEnsClassifier(RANGE, n_estimators=12, random_state=0),
    "few bins": PAUCEnsClassifier(RANGE, n_estimators=8, max_bins=8, nu=0.3, random_state=0),
    "tails": PAUCEnsClassifier(RANGE, n_estimators=8, max_bins=16, nu=0.3, binning="tails", random_state=0),
    "alpha": PAUCEnsClassifier((0.1, 0.4), learner=REAL, n_estimators=8, nu=0.7),
    "rows": PAUCEnsClassifier(RANGE, n_estimators=8, nu=0.3, row_fraction=0.5, random_state=0),
    "early stopping": PAUCEnsClassifier(
        RANGE, n_estimators=8, nu=0.3, early_stopping=True, n_iter_no_change=3, validation_fraction=0.3, random_state=0
    ),
    "struct": PAUCEnsClassifier(RANGE, learner=REAL, formulation="struct", n_estimators=8, nu=0.7, anneal=False),
    "mixture": PAUCEnsClassifier(RANGE, learner=Tree(depth=2), mixture="auto", n_estimators=8, nu=0.5),
    "train_range": PAUCEnsClassifier(RANGE, learner=REAL, train_range=(0, 0.5), n_estimators=8, nu=0.7),
    "dense": PAUCEnsClassifier(RANGE, learner=Mean(), n_estimators=3, nu=0.7),
    "linear": PAUCEnsClassifier(RANGE, learner=Linear(), n_estimators=5, nu=0.7),
    "AdaBoost": AdaBoostClassifier(n_estimators=6),
    "real AdaBoost": AdaBoostClassifier(learner=REAL, n_estimators=8, max_bins=8),
    "linear AdaBoost": AdaBoostClassifier(learner=Linear(), n_estimators=4),
    "LDA": AdaBoostLDAClassifier(learner=Tree(depth=2), n_estimators=6),
    "AsymBoost": AsymBoostClassifier(2.0, n_estimators=6),
    "cost-sensitive": CSAdaBoostClassifier(1.5, 0.5, learner=Tree(depth=2), n_estimators=6),
    "pAUCBoost": PAUCBoostClassifier(RANGE, learner=Tree(depth=2), n_estimators=4),
    "SVM": LinearPAUCSVC(RANGE),
    "SVM, [0.1, 0.3]": LinearPAUCSVC((0.1, 0.3), formulation="struct", nu=3.0),
}
few = settings(deadline=None, max_examples=5, derandomize=True)
seeds = st.integers(0, 2**32 - 1)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def draw(seed, n=120, decimals=6):
    """Draw samples that no small tree separates; every third one is positive."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 3 == 0).astype(int)
    return np.round(rng.normal(size=(n, 3)) + 0.7 * y[:, None], decimals), y, rng


@pytest.fixture(params=MODELS, ids=str)
def model(request):
    return clone(MODELS[request.param])


def scores_of(model, X, y, weights, X_new):
    return clone(model).fit(X, y, sample_weight=weights).decision_function(X_new)


# -- repeated samples ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
@given(seed=seeds, decimals=st.sampled_from([1, 6]))
@few
def test_whole_weights_are_repeated_samples(name, seed, decimals):
    X, y, rng = draw(seed, decimals=decimals)
    weights, order = rng.integers(0, 5, size=len(y)), rng.permutation(len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    repeated = clone(MODELS[name]).fit(X[rows], y[rows])
    weighted = clone(MODELS[name]).fit(X[order], y[order], sample_weight=weights[order])
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))


@pytest.mark.parametrize(
    "model",
    [
        PAUCEnsClassifier(random_state=0),
        AdaBoostClassifier(),
        AdaBoostLDAClassifier(),
        AsymBoostClassifier(2.0),
        CSAdaBoostClassifier(1.5, 0.5),
        PAUCBoostClassifier(),
        LinearPAUCSVC(),
        *(PAUCEnsClassifier(learner=learner, nu=1.0, n_estimators=40) for learner in (Stump(), REAL, Linear())),
    ],
    ids=lambda model: f"{type(model).__name__} {getattr(model, 'learner', None)}",
)
def test_scikit_learns_check_of_repeated_samples(model):
    check_sample_weight_equivalence_on_dense_data(type(model).__name__, model)


@pytest.mark.parametrize("name", ["default", "AdaBoost", "real AdaBoost", "tails"])
def test_samples_with_missing_values_can_have_weights(name):
    X, y, rng = draw(11)
    X[rng.random(X.shape) < 0.2] = np.nan
    weights, order = rng.integers(0, 5, size=len(y)), rng.permutation(len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    expected = scores_of(MODELS[name], X[rows], y[rows], None, X)
    np.testing.assert_array_equal(scores_of(MODELS[name], X[order], y[order], weights[order], X), expected)


@given(seed=seeds)
@few
def test_few_repeated_samples_are_weights_too(seed):
    """Too few to be merged: the fits take different ways to the same result, up to rounding errors."""
    X, y, rng = draw(seed, n=200)
    weights = np.where(rng.random(200) < 0.1, 2, 1)
    rows = np.repeat(np.arange(200), weights)
    for name in ("AdaBoost", "real AdaBoost", "LDA", "AsymBoost", "linear AdaBoost", "few bins"):
        expected = scores_of(MODELS[name], X[rows], y[rows], None, X)
        np.testing.assert_allclose(scores_of(MODELS[name], X, y, weights, X), expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_samples_are_merged_in_an_order_of_their_own(dtype):
    X = np.array([[1, 0.5], [2, np.nan], [1, 0.5], [2, np.nan], [1, 0.5], [0.0, 3], [-0.0, 3]], dtype=dtype)
    X[1, 1] = -np.array(np.nan, dtype=dtype)  # other bits
    positive = np.array([1, 0, 1, 0, 0, 1, 1]) > 0
    for order in (np.arange(7), np.random.default_rng(0).permutation(7)):
        merged, its_class, counts = distinct_samples(X[order], positive[order], None)
        found = {(str(row + 0.0), bool(one)): count for row, one, count in zip(merged, its_class, counts, strict=True)}
        assert found == {("[1.  0.5]", True): 2, ("[1.  0.5]", False): 1, ("[ 2. nan]", False): 2, ("[0. 3.]", True): 2}
        assert merged.dtype == dtype
        np.testing.assert_array_equal(merged[:, 0] + 0.0, distinct_samples(X, positive, None)[0][:, 0] + 0.0)


def test_samples_stay_as_they_are_if_few_are_equal():
    X, y, _ = draw(0, n=40)
    X[:8] = X[8:16]  # a fifth
    assert distinct_samples(X, y == 1, None)[0] is X
    X[:12] = X[12:24]
    y[:12] = y[12:24]
    merged, its_class, counts = distinct_samples(X, y == 1, None)
    assert len(merged) == 28 and counts.sum() == 40 and counts.max() == 2
    np.testing.assert_array_equal(np.unique(merged, axis=0), np.unique(X, axis=0))
    assert its_class.sum() == len(np.unique(X[y == 1], axis=0))


def test_trees_count_repeated_samples():
    X, y, rng = draw(12)
    weights = rng.integers(0, 5, size=len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    for fitted in (AdaBoostClassifier().fit(X, y, weights), AdaBoostClassifier().fit(X[rows], y[rows])):
        assert {int(learner.nodes_.n_samples[0]) for learner in fitted.learners_} == {weights.sum()}


def test_weights_of_zero_leave_samples_out_and_ones_are_none(model):
    X, y, rng = draw(1)
    weights = rng.integers(0, 2, size=len(y))
    kept = weights > 0
    expected = scores_of(model, X[kept], y[kept], None, X)
    np.testing.assert_array_equal(scores_of(model, X, y, weights, X), expected)
    np.testing.assert_array_equal(scores_of(model, X, y, np.ones(len(y)), X), scores_of(model, X, y, None, X))
    far = np.where(kept[:, None], X, 1e6)  # what is left out does not matter at all
    np.testing.assert_array_equal(scores_of(model, far, y, weights, X), expected)


@pytest.mark.parametrize("name", MODELS)
def test_real_weights_do_not_depend_on_the_order_of_samples(name):
    X, y, rng = draw(2)
    weights, order = rng.exponential(size=len(y)), rng.permutation(len(y))
    found = scores_of(MODELS[name], X[order], y[order], weights[order], X)
    np.testing.assert_array_equal(found, scores_of(MODELS[name], X, y, weights, X))


# -- scale -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["published", "mixture", "AdaBoost", "LDA", "AsymBoost", "pAUCBoost", "SVM"])
def test_the_scale_of_real_weights_does_not_matter(name):
    """Risks, means and ranges are relative to the total weight. A power of two adds no rounding errors."""
    X, y, rng = draw(3)
    weights = rng.exponential(size=len(y))
    expected = scores_of(MODELS[name], X, y, weights, X)
    for scale in (2.0**-60, 2.0**30):
        np.testing.assert_array_equal(scores_of(MODELS[name], X, y, scale * weights, X), expected)


@pytest.mark.parametrize("name", ["AdaBoost", "LDA", "AsymBoost", "pAUCBoost"])
def test_any_scale_will_do_for_boosters(name):
    X, y, rng = draw(3)
    weights = rng.exponential(size=len(y))
    found = scores_of(MODELS[name], X, y, 0.3 * weights, X)
    np.testing.assert_allclose(found, scores_of(MODELS[name], X, y, weights, X), rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", ["published", "SVM"])
def test_any_scale_has_the_same_risk(name):
    """Rounding errors decide between cuts that are equally violated, and so where within the tolerance a fit ends."""
    X, y, rng = draw(3)
    weights = rng.exponential(size=len(y))
    one, other = (clone(MODELS[name]).fit(X, y, sample_weight=scale * weights) for scale in (1.0, 0.3))
    assert abs(one.objective_[-1] - other.objective_[-1]) <= max(one.gap_[-1], other.gap_[-1])


def test_leaf_ridge_counts_samples():
    """It is in units of the mean magnitude per unit of weight, so it weighs less if all weights are larger; so is C."""
    X, y, rng = draw(4)
    weights = rng.exponential(size=len(y))
    ridge, other = (AdaBoostClassifier(learner=Tree(2, leaves="real", leaf_ridge=r), n_estimators=4) for r in (1, 8))
    expected = scores_of(ridge, X, y, weights, X)
    np.testing.assert_allclose(scores_of(other, X, y, 8 * weights, X), expected, rtol=0, atol=1e-6)
    assert np.abs(scores_of(ridge, X, y, 8 * weights, X) - expected).max() > 1e-3
    linear, other = (AdaBoostClassifier(learner=Linear(C), n_estimators=3) for C in (1, 1 / 8))
    expected = scores_of(linear, X, y, weights, X)
    np.testing.assert_allclose(scores_of(other, X, y, 8 * weights, X), expected, rtol=0, atol=1e-6)


def test_classes_can_be_weighted_apart():
    """Both classes are balanced already, so a weight of a whole class changes nothing but counts."""
    X, y, _ = draw(5)
    for name in ("AdaBoost", "LDA", "linear AdaBoost"):
        found = scores_of(MODELS[name], X, y, np.where(y == 1, 2.5, 1.0), X)
        np.testing.assert_allclose(found, scores_of(MODELS[name], X, y, None, X), rtol=0, atol=1e-7)


def test_heavy_negatives_are_kept_below_the_positives():
    """The risk follows the weights: negatives that count ten times as much are pushed down first."""
    X, y, _ = draw(6, n=600)
    heavy = (y == 0) & (X[:, 0] > 0.5)
    model = PAUCEnsClassifier((0, 0.3), learner=Tree(depth=2), n_estimators=10, nu=1.0, anneal=False)
    plain, weighted = (scores_of(model, X, y, weights, X) for weights in (None, np.where(heavy, 10.5, 1.0)))
    shares = [(scores[heavy][:, None] > scores[y == 1]).mean() for scores in (plain, weighted)]
    assert shares[1] < shares[0]


def test_the_threshold_keeps_the_weighted_rate():
    X, y, rng = draw(7, n=400)
    weights = rng.exponential(size=len(y))
    for name in ("published", "struct", "pAUCBoost", "SVM"):
        fitted = clone(MODELS[name]).fit(X, y, sample_weight=weights)
        passed = fitted.decision_function(X) > 0
        assert weights[passed & (y == 0)].sum() <= 0.2 * weights[y == 0].sum() * (1 + 1e-9)
        assert passed[y == 1].any() or not fitted.decision_function(X).std() > 0, name


def test_early_stopping_judges_weighted_samples():
    X, y, rng = draw(8, n=300)
    model = PAUCEnsClassifier(RANGE, n_estimators=20, early_stopping=True, n_iter_no_change=5, random_state=0)
    weights = rng.exponential(size=len(y))
    scores = [clone(model).fit(X, y, sample_weight=each).validation_score_ for each in (weights, 3 * weights, None)]
    assert not np.array_equal(scores[0][:3], scores[2][:3])


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(7), r"must be one number per sample, shape \(120,\); got \(7,\)"),
        (np.ones((120, 1)), r"must be one number per sample, shape \(120,\); got \(120, 1\)"),
        (2.0, r"must be one number per sample, shape \(120,\); got \(\)"),
        (["a"] * 120, "sample_weight must be one real number per sample"),
        (np.full(120, 1j), "sample_weight must be one real number per sample"),
        (np.where(np.arange(120) == 5, -1.0, 1), r"finite and not negative; got -1 for sample 5 \(1 such samples\)"),
        (np.where(np.arange(120) == 5, np.nan, 1), "finite and not negative; got nan for sample 5"),
        (np.where(np.arange(120) > 5, np.inf, 1), r"got inf for sample 6 \(114 such samples\)"),
        (np.zeros(120), "zero for all samples; at least one sample of each class must count"),
        (np.arange(120) % 3 > 0, "zero for all positives; at least one sample of each class must count"),
        (np.arange(120) % 3 == 0, "zero for all negatives; at least one sample of each class must count"),
        (np.full(120, 1e300), r"a sum in \[1e-50, 1e\+50\]; got 1.2e\+302. Divide it by its mean"),
        (np.full(120, 1e308), r"a sum in \[1e-50, 1e\+50\]; got inf"),
        (np.full(120, 1e-60), r"a sum in \[1e-50, 1e\+50\]; got 1.2e-58"),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["AdaBoost", "published", "SVM"])
def test_weights_that_make_no_sense_are_refused(name, weights, message):
    X, y, _ = draw(0)
    with pytest.raises(ValueError, match=message):
        clone(MODELS[name]).fit(X, y, sample_weight=weights)


def test_a_range_that_repeated_samples_leave_empty_is_empty_for_whole_weights():
    X, y, _ = draw(0, n=12)
    model = PAUCEnsClassifier((0.11, 0.12), n_estimators=2, random_state=0)
    with pytest.raises(ValueError, match="holds no position among 9 negatives"):
        model.fit(X, y, sample_weight=np.where(np.arange(12) == 1, 2.0, 1.0))
    model.fit(X, y, sample_weight=np.where(np.arange(12) == 1, 2.5, 1.0))  # a part of a negative is in the range


def test_weights_are_not_changed():
    X, y, rng = draw(0)
    weights = rng.exponential(size=len(y))
    before = weights.copy()
    AdaBoostClassifier(n_estimators=2).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(weights, before)


# -- together with the rest ------------------------------------------------------------------------


def test_weights_pass_through_a_pipeline():
    X, y, rng = draw(0)
    weights, scaled = rng.integers(1, 4, size=len(y)), StandardScaler().fit_transform(X)
    pipeline = make_pipeline(StandardScaler(), AdaBoostClassifier(n_estimators=4))
    pipeline.fit(X, y, adaboostclassifier__sample_weight=weights)
    expected = AdaBoostClassifier(n_estimators=4).fit(scaled, y, weights).decision_function(scaled)
    np.testing.assert_array_equal(pipeline.decision_function(X), expected)


def test_saved_models_with_weights_score_the_same(tmp_path):
    X, y, rng = draw(0)
    for name in ("published", "AdaBoost", "SVM"):
        fitted = clone(MODELS[name]).fit(X, y, sample_weight=rng.exponential(size=len(y)))
        fitted.save(tmp_path / "model.npz")
        loaded = type(fitted).load(tmp_path / "model.npz")
        np.testing.assert_array_equal(loaded.decision_function(X), fitted.decision_function(X))


class CutShort(Checkpoint):
    """A checkpoint that interrupts the fit after six learners."""

    def keep(self, learners, state):
        super().keep(learners, state)
        if len(learners) >= 6:
            raise KeyboardInterrupt


@pytest.mark.parametrize("weights", ["whole", "real"])
@pytest.mark.parametrize("name", ["published", "default", "AdaBoost"])
def test_checkpoints_belong_to_their_weights(name, weights, monkeypatch, tmp_path):
    monkeypatch.setattr("paucens.base.checkpoint.EVERY", 4)
    X, y = load_toy(random_state=0)
    binned, rng = bin_features(X[np.argsort(1 - y, kind="stable")], 256, Threads(1)), np.random.default_rng(0)
    counts = rng.integers(0, 5, len(y)) if weights == "whole" else rng.exponential(size=len(y))
    model, path = clone(MODELS[name]).set_params(n_estimators=9, random_state=0), tmp_path / "fit.npz"
    with pytest.raises(KeyboardInterrupt):
        fit_binned(clone(model), binned, int(y.sum()), CutShort(path), sample_weight=counts)
    for other in (None, counts + 1):
        with pytest.raises(ValueError, match=r"holds another training: its .*digest of the weights"):
            fit_binned(clone(model), binned, int(y.sum()), Checkpoint(path), sample_weight=other)
    resumed = fit_binned(clone(model), binned, int(y.sum()), Checkpoint(path), sample_weight=counts)
    whole = fit_binned(clone(model), binned, int(y.sum()), sample_weight=counts)
    np.testing.assert_array_equal(resumed.decision_function(X), whole.decision_function(X))
