"""`FPRThresholdClassifier`: the bound on new samples, in simulation and resampled; which threshold it is; errors."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from paucens import (
    AdaBoostClassifier,
    FPRThresholdClassifier,
    LinearPAUCSVC,
    PAUCBoostClassifier,
    PAUCEnsClassifier,
    Stump,
    fpr_interval,
    persistence,
    threshold_at_fpr,
)
from paucens.datasets import load_tabular, load_toy

PLAIN = FPRThresholdClassifier(LogisticRegression(), 0.1, confidence=None, random_state=0)


@parametrize_with_checks(
    [
        PLAIN,
        FPRThresholdClassifier(LogisticRegression(), 0.1, confidence=None, cv=3),
        FPRThresholdClassifier(AdaBoostClassifier(learner=Stump(), n_estimators=3), 0.1, confidence=None),
    ]
)
@pytest.mark.filterwarnings("ignore:AdaBoostClassifier ended after")
def test_scikit_learns_checks(estimator, check):
    check(estimator)


class Column(ClassifierMixin, BaseEstimator):
    """Scores are the first column; nothing is learnt."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


def binormal(rng, m, n):
    y = np.repeat([1, 0], [m, n])
    return (2 * y + rng.normal(size=m + n))[:, None], y


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("max_fpr", [0.01, 0.05])
def test_the_bound_holds_in_simulation(max_fpr, confidence):
    """400 draws of binormal scores, whose true rate is known."""
    rng = np.random.default_rng(0)
    model = FPRThresholdClassifier(FrozenEstimator(Column().fit(None, [0, 1])), max_fpr, confidence=confidence)
    broken = sum(norm.sf(model.fit(*binormal(rng, 5, 700)).threshold_) > max_fpr for _ in range(400))
    assert binomtest(broken, 400, 1 - confidence, "greater").pvalue > 0.01
    assert broken >= 400 * (1 - confidence) / 4  # nor is it far too strict


@pytest.mark.parametrize("confidence", [None, 0.95])
def test_cross_fitted_scores_and_plain_rules_promise_nothing(confidence):
    """Held-out scores of a classifier that learns nothing are exchangeable, so even these keep it on average."""
    rng = np.random.default_rng(1)
    model = FPRThresholdClassifier(Column(), 0.05, confidence=confidence, cv=3)
    broken = sum(norm.sf(model.fit(*binormal(rng, 30, 700)).threshold_) > 0.05 for _ in range(100)) / 100
    assert 0.35 < broken < 0.65 if confidence is None else broken < 0.12


ESTIMATORS = {
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    "forest": RandomForestClassifier(20, max_depth=4, random_state=0),
    "boosting": AdaBoostClassifier(learner=Stump(), n_estimators=20),
}


def population(name):
    """Return a set that is large beside what a model is fitted to, so that the rate in the rest is the true one."""
    if name == "generated":
        return make_classification(40_000, weights=[0.8], class_sep=0.7, flip_y=0.05, random_state=0)
    try:
        return load_tabular("htru2", return_X_y=True)
    except FileNotFoundError as error:
        pytest.skip(str(error))


@pytest.mark.slow
@pytest.mark.parametrize("data", ["generated", "htru2"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_bound_holds_for_resampled_sets(name, data):
    X, y = population(data)
    broken = 0
    for seed in range(200):
        X_fit, X_new, y_fit, y_new = train_test_split(X, y, train_size=1500, stratify=y, random_state=seed)
        model = FPRThresholdClassifier(ESTIMATORS[name], 0.02, confidence=0.9, random_state=seed).fit(X_fit, y_fit)
        broken += model.predict(X_new)[y_new == 0].mean() > 0.02
    assert binomtest(broken, 200, 0.1, "greater").pvalue > 0.01


@pytest.fixture(scope="module")
def toy():
    return load_toy(300, 1500, random_state=0)


def test_the_threshold_is_that_of_the_held_out_part(toy):
    X, y = toy
    model = FPRThresholdClassifier(LogisticRegression(), 0.05, random_state=3).fit(X, y)
    X_fit, X_out, y_fit, y_out = train_test_split(X, y, test_size=0.3, stratify=y, random_state=3)
    fitted = LogisticRegression().fit(X_fit, y_fit)
    np.testing.assert_array_equal(model.estimator_.coef_, fitted.coef_)
    assert model.threshold_ == threshold_at_fpr(y_out, fitted.decision_function(X_out), 0.05, confidence=0.95)
    assert model.n_negatives_ == 450
    assert 0.03 < model.fpr_bound_ <= 0.05
    np.testing.assert_array_equal(model.predict(X), (fitted.decision_function(X) > model.threshold_).astype(int))


def test_the_bound_is_the_rate_that_holds():
    rng = np.random.default_rng(2)
    X, y = binormal(rng, 5, 1000)
    model = FPRThresholdClassifier(FrozenEstimator(Column().fit(X, y)), 0.01).fit(X, y)
    above = int((X[y == 0, 0] > model.threshold_).sum())
    assert above == 4
    assert model.fpr_bound_ == fpr_interval(y, X[:, 0], model.threshold_, level=0.9).high
    plain = FPRThresholdClassifier(FrozenEstimator(Column().fit(X, y)), 0.01, confidence=None).fit(X, y)
    assert plain.fpr_bound_ == 0.01


def test_cross_fitting(toy):
    X, y = toy
    splits = StratifiedKFold(4, shuffle=True, random_state=0)
    model = FPRThresholdClassifier(LogisticRegression(), 0.05, cv=splits).fit(X, y)
    scores = cross_val_predict(LogisticRegression(), X, y, cv=splits, method="decision_function")
    assert model.threshold_ == threshold_at_fpr(y, scores, 0.05, confidence=0.95)
    assert model.n_negatives_ == 1500
    np.testing.assert_array_equal(model.estimator_.coef_, LogisticRegression().fit(X, y).coef_)


def test_groups_stay_together(toy):
    X, y = toy
    groups = np.arange(len(y)) % 7
    model = FPRThresholdClassifier(LogisticRegression(), 0.05, cv=GroupKFold(5)).fit(X, y, groups=groups)
    scores = cross_val_predict(LogisticRegression(), X, y, groups=groups, cv=GroupKFold(5), method="decision_function")
    assert model.threshold_ == threshold_at_fpr(y, scores, 0.05, confidence=0.95)


def test_probabilities_are_scores_where_there_is_no_decision_function(toy):
    X, y = toy
    forest = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    for positive in (0, 1):
        model = FPRThresholdClassifier(FrozenEstimator(forest), 0.05, pos_label=positive).fit(X, y)
        column = forest.predict_proba(X)[:, positive]
        assert model.threshold_ == threshold_at_fpr(y, column, 0.05, confidence=0.95, pos_label=positive)
        np.testing.assert_array_equal(model.predict(X) == positive, column > model.threshold_)


@pytest.mark.parametrize("positive", ["fraud", "legit"])
def test_either_label_can_be_the_positive_one(positive):
    """Scores are whole numbers, so that some lie at the threshold, where neither is positive."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(2000) < 0.4, "legit", "fraud")
    X = np.round(3 * rng.normal(size=(2000, 1)) + 2 * (y == "legit")[:, None])
    model = FPRThresholdClassifier(FrozenEstimator(Column().fit(X, y)), 0.1, pos_label=positive).fit(X, y)
    score = X[:, 0] if positive == "legit" else -X[:, 0]
    assert (score == model.threshold_).any()
    predicted = model.predict(X) == positive
    np.testing.assert_array_equal(predicted, score > model.threshold_)
    assert predicted[y != positive].mean() <= 0.1
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) == model.classes_[1])


def test_frames_keep_their_names(toy):
    X, y = toy
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = FPRThresholdClassifier(LogisticRegression(), 0.05, random_state=0).fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == ["a", "b"] and model.n_features_in_ == 2


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (FPRThresholdClassifier(Column(), 0), "max_fpr must be a finite number, larger than 0 and at most 1"),
        (FPRThresholdClassifier(Column(), 1.5), "max_fpr must be a finite number, larger than 0 and at most 1"),
        (FPRThresholdClassifier(Column(), confidence=1), "confidence must be a confidence level between 0 and 1"),
        (FPRThresholdClassifier(Column(), 0.01, pos_label=2), r"pos_label must be one of the labels \[0, 1\]; got 2"),
        (FPRThresholdClassifier(Column(), 0.001), "takes 2995 negatives or more; got 450"),
        (FPRThresholdClassifier(BaseEstimator()), "must have fit|no attribute 'fit'"),
    ],
)
def test_what_cannot_be_had_is_refused(toy, model, message):
    with pytest.raises((ValueError, AttributeError, TypeError), match=message):
        model.fit(*toy)
    assert not hasattr(model, "threshold_")


def test_an_estimator_without_scores_is_refused(toy):
    class Silent(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            return self

    with pytest.raises(ValueError, match="must have decision_function or predict_proba; Silent"):
        FPRThresholdClassifier(Silent()).fit(*toy)


def test_groups_without_a_splitter_are_refused(toy):
    with pytest.raises(ValueError, match="groups are for a splitter"):
        FPRThresholdClassifier(Column()).fit(*toy, groups=np.zeros(len(toy[1])))


# -- thresholds of training scores -----------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        PAUCEnsClassifier((0, 0.2), learner=Stump(), n_estimators=3, nu=1.0),
        PAUCBoostClassifier((0, 0.2), learner=Stump(), n_estimators=3),
        LinearPAUCSVC((0, 0.2)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_predict_says_that_its_threshold_is_of_the_training_samples(toy, model):
    X, y = toy
    model.fit(X, y)
    with pytest.warns(UserWarning, match=r"false positive rate of 0\.2 on the training .* FPRThresholdClassifier"):
        model.predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.decision_function(X)
        FPRThresholdClassifier(FrozenEstimator(model), 0.2).fit(X, y).predict(X)


def test_boosters_without_a_range_promise_nothing(toy):
    model = AdaBoostClassifier(learner=Stump(), n_estimators=3).fit(*toy)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(toy[0])


# -- weights ---------------------------------------------------------------------------------------


def draw_weighted(n=900):
    rng = np.random.default_rng(5)
    X, y = make_classification(n, 6, weights=[0.7], flip_y=0.1, random_state=3)
    return X, y, rng.integers(0, 4, size=n)


def test_weights_reach_the_estimator_and_the_threshold():
    X, y, weights = draw_weighted()
    for test_size in (0.3, 0.5):
        model = FPRThresholdClassifier(
            LogisticRegression(), 0.1, confidence=None, test_size=test_size, random_state=0
        ).fit(X, y, sample_weight=weights)
        fitted, rows = train_test_split(np.arange(len(y)), test_size=test_size, stratify=y, random_state=0)
        alone = LogisticRegression().fit(X[fitted], y[fitted], sample_weight=weights[fitted])
        scores = alone.decision_function(X[rows])
        assert model.threshold_ == threshold_at_fpr(y[rows], scores, 0.1, sample_weight=weights[rows])
        negatives = y[rows] == 0
        above = weights[rows][negatives & (scores > model.threshold_)].sum()
        assert model.fpr_bound_ == pytest.approx(above / weights[rows][negatives].sum())
        assert model.n_negatives_ == np.count_nonzero(weights[rows][negatives])


def test_weights_in_cross_validation_are_repeated_rows():
    X, y, weights = draw_weighted()
    rows, fold = np.repeat(np.arange(len(y)), weights), np.arange(len(y)) % 3
    splits = [[(np.flatnonzero(of != k), np.flatnonzero(of == k)) for k in range(3)] for of in (fold, fold[rows])]
    weighted, repeated = (
        FPRThresholdClassifier(LinearPAUCSVC((0, 0.3)), 0.1, confidence=None, cv=each) for each in splits
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weighted.fit(X, y, sample_weight=weights)
        repeated.fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))
    assert weighted.fpr_bound_ == pytest.approx(repeated.fpr_bound_)


def test_a_guarantee_counts_each_negative_once():
    """Weights of a class leave the distribution of its scores as it is; those of single negatives do not."""
    X, y, weights = draw_weighted()
    of_class = np.where(y == 1, weights + 1, np.where(weights > 0, 2.0, 0.0))
    frozen = FrozenEstimator(LogisticRegression().fit(X, y))
    model = FPRThresholdClassifier(frozen, 0.05).fit(X, y, sample_weight=of_class)
    kept = of_class > 0
    plain = FPRThresholdClassifier(frozen, 0.05).fit(X[kept], y[kept])
    assert (model.threshold_, model.fpr_bound_, model.n_negatives_) == (
        plain.threshold_,
        plain.fpr_bound_,
        plain.n_negatives_,
    )
    with pytest.raises(ValueError, match=r"they must have equal weights; got weights from 1 to 3.* confidence=None"):
        FPRThresholdClassifier(frozen, 0.05).fit(X, y, sample_weight=weights)


def test_weights_that_nobody_would_use_are_refused():
    X, y, weights = draw_weighted()
    with pytest.raises(ValueError, match=r"Column\.fit takes no sample_weight.* FrozenEstimator\(fitted\)"):
        FPRThresholdClassifier(Column(), 0.1, confidence=None).fit(X, y, sample_weight=weights)
    FPRThresholdClassifier(FrozenEstimator(Column().fit(X, y)), 0.1, confidence=None).fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="sample_weight must be finite and not negative; got -1"):
        FPRThresholdClassifier(LogisticRegression(), 0.1).fit(X, y, sample_weight=np.full(len(y), -1))


# -- files -----------------------------------------------------------------------------------------

SAVED = [PAUCEnsClassifier((0, 0.2), n_estimators=5, nu=1.0, random_state=0), AdaBoostClassifier(n_estimators=5)]


@pytest.mark.parametrize("confidence", [0.9, None])
@pytest.mark.parametrize("estimator", SAVED, ids=lambda model: type(model).__name__)
def test_a_saved_threshold_predicts_the_same(estimator, confidence, tmp_path):
    X, y = load_toy(100, 400, random_state=0)
    y = np.array(["hit", "miss"])[y]
    model = FPRThresholdClassifier(estimator, 0.1, confidence=confidence, pos_label="hit", random_state=0)
    model.fit(pd.DataFrame(X, columns=["a", "b"]), y)
    model.save(tmp_path / "model.npz")
    copy = FPRThresholdClassifier.load(tmp_path / "model.npz")
    new = pd.DataFrame(load_toy(random_state=1)[0], columns=["a", "b"])
    np.testing.assert_array_equal(copy.decision_function(new), model.decision_function(new))
    np.testing.assert_array_equal(copy.predict(new), model.predict(new))
    for name in ("threshold_", "fpr_bound_", "n_negatives_", "n_features_in_", "max_fpr", "confidence"):
        assert getattr(copy, name) == getattr(model, name), name
    with pytest.raises(ValueError, match="feature names"):
        copy.predict(new[["b", "a"]])
    copy.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "model.npz").read_bytes()


@pytest.mark.parametrize("max_fpr", [1.0, 1e-9])
def test_a_threshold_that_all_or_no_samples_pass_is_saved(max_fpr, tmp_path):
    X, y = load_toy(random_state=0)
    model = FPRThresholdClassifier(SAVED[1], max_fpr, confidence=None, random_state=0).fit(X, y)
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(FPRThresholdClassifier.load(tmp_path / "model.npz").predict(X), model.predict(X))


def test_a_classifier_from_elsewhere_is_not_saved(tmp_path):
    model = FPRThresholdClassifier(LogisticRegression(), confidence=None).fit(*load_toy(random_state=0))
    with pytest.raises(TypeError, match="Only classifiers of paucens can be saved; this one holds LogisticRegression"):
        model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threshold": "high"}, "threshold must be a number"),
        ({"max_fpr": 2.0}, "max_fpr"),
        ({"confidence": -1}, "confidence"),
        ({"n_negatives": 0}, "n_negatives"),
        ({"pos_label_is": 2}, "pos_label_is"),
        ({"estimator": {"kind": "partial_auc"}}, "partial_auc"),
    ],
)
def test_a_damaged_threshold_is_refused(change, message, tmp_path):
    model = FPRThresholdClassifier(SAVED[1], 0.1, confidence=None).fit(*load_toy(random_state=0))
    model.save(tmp_path / "model.npz")
    header, arrays = persistence.load(tmp_path / "model.npz", "FPRThresholdClassifier")
    persistence.save(tmp_path / "model.npz", header | change, arrays)
    with pytest.raises(ValueError, match=message) as error:
        FPRThresholdClassifier.load(tmp_path / "model.npz")
    assert "model.npz" in str(error.value)
