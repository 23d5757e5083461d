"""Early stopping: the model is the round that a plain loop over all rounds would pick."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from paucens import Linear, PAUCEnsClassifier, Stump, Tree, partial_auc
from paucens.base import ensemble_settings, fit_binned
from paucens.base.early_stopping import Validation, held_out
from paucens.datasets import load_toy
from paucens.learners import Predictions
from paucens.learners.binning import bin_features
from paucens.parallel import Threads

LONGEST = 60
OLD = Path(__file__).parent / "saved_by_0_1" / "PAUCEnsClassifier.npz"
QUIET = pytest.mark.filterwarnings("ignore:All weights are 0", "ignore:PAUCEnsClassifier ended after")


class Foreign(BaseEstimator):
    """A learner from elsewhere."""

    def fit(self, X, signed_weights):
        self.tree_ = Tree(depth=2).fit(X, signed_weights)
        return self

    def predict(self, X):
        return self.tree_.predict(X)


def stopping(fpr_range=(0, 0.2), **parameters):
    settings = {"early_stopping": True, "validation_fraction": 0.25, "n_iter_no_change": 4, "random_state": 5}
    return PAUCEnsClassifier(fpr_range, n_estimators=LONGEST, **settings | parameters)


MODELS = {
    "default": stopping(),
    "published": stopping(learner=Tree(depth=2), nu=1.0),
    "struct": stopping(learner=Stump(), nu=1.0, formulation="struct"),
    "narrow": stopping((0, 0.02), mixture="auto"),
    "wider": stopping((0, 0.02), train_range=(0, 0.2)),
    "above zero": stopping((0.1, 0.4)),
    "some rows": stopping(row_fraction=0.5, binning="tails"),
    "three threads": stopping(n_jobs=3),
    "other label": stopping(pos_label=0),
    "linear": stopping((0, 1), learner=Linear(), nu=1.0),
    "foreign": stopping(learner=Foreign(), nu=1.0),
    "patient": stopping(n_iter_no_change=LONGEST),
}


@pytest.fixture(scope="module")
def hard():
    """Overlapping classes of unequal size in six columns, of which two are informative."""
    rng = np.random.RandomState(3)
    y = (rng.uniform(size=1200) < 1 / 3).astype(int)
    X = rng.normal(size=(1200, 6))
    X[:, 4:] += 0.8 * y[:, None]
    return X, y


def part_held_out(model, y):
    positive = y == (1 if model.pos_label is None else model.pos_label)
    return held_out(model, positive, check_random_state(model.random_state).randint(2**31))


# -- the model that is kept ------------------------------------------------------------------------


def picked_by_a_loop(model, X, y):
    """Fit all rounds without the part, score each on it, and return fit, scores and number of the best round."""
    held = part_held_out(model, y)
    every = clone(model).set_params(early_stopping=False, anneal=False).fit(X[~held], y[~held])
    sign = 1 if model.pos_label is None else -1
    scores = [
        partial_auc(y[held], sign * stage, model.fpr_range, pos_label=model.pos_label)
        for stage in every.staged_decision_function(X[held])
    ]
    has_weight = np.array([weights.any() for weights in every._stage_weights])
    best, since = int(has_weight.argmax()), 0
    for t in range(best + 1, len(scores)):
        best, since = (t, 0) if scores[t] > scores[best] else (best, since + 1)
        if since == model.n_iter_no_change:
            break
    return every, scores[: t + 1], best + 1


@QUIET
@pytest.mark.parametrize("name", MODELS)
def test_it_is_the_round_that_a_loop_picks(hard, name):
    X, y = hard
    model = clone(MODELS[name]).fit(X, y)
    every, scores, n_best = picked_by_a_loop(MODELS[name], X, y)
    assert model.n_iter_ == len(model.learners_) == len(model.objective_) == n_best
    np.testing.assert_array_equal(model.validation_score_, scores)
    np.testing.assert_array_equal(model.weights_, every.truncated(n_best).weights_)
    stages = zip(model.staged_decision_function(X), every.staged_decision_function(X), strict=False)
    assert all(np.array_equal(mine, its) for mine, its in stages)
    np.testing.assert_array_equal(model.decision_function(X), every.truncated(n_best).decision_function(X))
    ended_before = len(scores) < len(every.learners_)
    assert model.stop_reason_ == ("validation" if ended_before else every.stop_reason_)


def test_missing_values(hard):
    """Values may be missing in either part, of one feature in the part held out alone."""
    X, y = hard[0].copy(), hard[1]
    held = part_held_out(MODELS["default"], y)
    X[np.random.RandomState(0).rand(*X.shape) < 0.1] = np.nan
    X[~held, 5] = np.nan_to_num(X[~held, 5])
    test_it_is_the_round_that_a_loop_picks((X, y), "default")


def test_the_cases_stop_before_and_after_the_last_round(hard):
    reasons = {clone(MODELS[name]).fit(*hard).stop_reason_ for name in ("default", "patient")}
    assert reasons == {"validation", "n_estimators"}


@QUIET
def test_rounds_without_weights_neither_count_nor_win(hard):
    """In a narrow range the weights of the first rounds are all 0, with a validation score of chance."""
    model = stopping((0, 0.02), n_iter_no_change=1, nu=1.0).fit(*hard)
    n_zero = sum(not weights.any() for weights in model._stage_weights)
    assert n_zero > 2
    np.testing.assert_allclose(model.validation_score_[:n_zero], 0.01)
    assert model.n_iter_ > n_zero and model.weights_.any()


class Rounds:
    """Rounds of given scores: a positive is above a given number of ten negatives."""

    def __init__(self, patience):
        positive = np.array([True] + [False] * 10)
        self.validation = Validation(
            SimpleNamespace(fpr_range=(0, 1), n_iter_no_change=patience),
            positive,
            lambda beaten: Predictions(np.append(beaten - 0.5, np.arange(10.0)) / 10, None),
            Threads(1),
        )

    def add(self, beaten, weight=1.0):
        earlier = np.zeros(len(self.validation.scores))
        self.validation.add(beaten, np.append(earlier, weight), 0.0)
        return self.validation.n_kept, bool(self.validation.ended)


def test_the_first_of_equals_is_kept_and_patience_is_exact():
    rounds = Rounds(patience=2)
    assert [rounds.add(beaten) for beaten in (5, 7, 7, 8, 8, 8)] == [
        (1, False),
        (2, False),
        (2, False),
        (4, False),
        (4, False),
        (4, True),
    ]
    np.testing.assert_allclose(rounds.validation.scores, [0.5, 0.7, 0.7, 0.8, 0.8, 0.8])


def test_a_round_below_chance_beats_rounds_without_weights():
    rounds = Rounds(patience=1)
    assert [rounds.add(9, weight=0.0) for _ in range(3)] == [(1, False), (2, False), (3, False)]
    assert rounds.add(2) == (4, False)
    assert rounds.add(9, weight=0.0) == (4, True)
    np.testing.assert_allclose(rounds.validation.scores, [0.5, 0.5, 0.5, 0.2, 0.5])


def test_the_part_has_its_share_of_both_classes(hard):
    y = hard[1] == 1
    model = stopping(validation_fraction=0.1)
    held = held_out(model, y, 7)
    assert held[y].sum() == round(0.1 * y.sum()) and held[~y].sum() == round(0.1 * (~y).sum())
    assert not np.array_equal(held, held_out(model, y, 8))
    np.testing.assert_array_equal(held, held_out(model, y, 7))


def test_off_is_the_default_and_changes_nothing(hard):
    plain = PAUCEnsClassifier(n_estimators=5, random_state=0).fit(*hard)
    unused = clone(plain).set_params(validation_fraction=0.4, n_iter_no_change=1).fit(*hard)
    np.testing.assert_array_equal(unused.decision_function(hard[0]), plain.decision_function(hard[0]))
    assert plain.validation_score_.shape == (0,) and plain.n_iter_ == 5


# -- what it is combined with ----------------------------------------------------------------------


def test_it_does_not_anneal(hard):
    narrow = stopping((0, 0.05), validation_fraction=0.3)
    model, without = (clone(narrow).set_params(anneal=value).fit(*hard) for value in ("auto", False))
    np.testing.assert_array_equal(model.decision_function(hard[0]), without.decision_function(hard[0]))
    with pytest.raises(ValueError, match=r"anneal=True trains early rounds for wider ranges.*mixture='auto'"):
        clone(narrow).set_params(anneal=True).fit(*hard)


def test_truncated_models_and_files(hard, tmp_path):
    model = clone(MODELS["default"]).fit(*hard)
    assert len(model.validation_score_) > model.n_iter_ > 3
    short = model.truncated(3)
    np.testing.assert_array_equal(short.validation_score_, model.validation_score_[:3])
    for one in (model, short):
        one.save(tmp_path / "model.npz")
        copy = PAUCEnsClassifier.load(tmp_path / "model.npz")
        np.testing.assert_array_equal(copy.decision_function(hard[0]), one.decision_function(hard[0]))
        np.testing.assert_array_equal(copy.validation_score_, one.validation_score_)
        assert (copy.stop_reason_, copy.n_iter_) == ("validation", one.n_iter_)
    model.validation_score_ = model.validation_score_[:2]
    model.save(tmp_path / "damaged.npz")
    with pytest.raises(ValueError, match=r"validation_score_ holds fewer than n_iter_ = \d+ values"):
        PAUCEnsClassifier.load(tmp_path / "damaged.npz")


def test_files_from_before_load():
    assert PAUCEnsClassifier.load(OLD).validation_score_.shape == (0,)


def test_checkpoints_from_before_are_used_as_long_as_it_is_off():
    off, on = (ensemble_settings(stopping(early_stopping=value)) for value in (False, True))
    names = {"early_stopping", "validation_fraction", "n_iter_no_change"}
    assert not names & off.keys() and names < on.keys()


def test_features_that_are_binned_already():
    X, y = load_toy(300, 500, random_state=0)
    binned = bin_features(X, 256, Threads(1))  # positives are first
    model = fit_binned(stopping(), binned, 300)
    assert model.stop_reason_ == "validation" and len(model.validation_score_) == model.n_iter_ + 4
    held = part_held_out(model, y)
    for score, stage in zip(model.validation_score_, model.staged_decision_function(X[held]), strict=False):
        assert score == partial_auc(y[held], stage, (0, 0.2))
    stages = [(0, np.array([0], dtype=np.int32)), (5, np.array([0, 1], dtype=np.int32))]
    with pytest.raises(ValueError, match="could end before the last of the stages"):
        fit_binned(stopping(), binned, 300, stages=stages)


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"early_stopping": "auto"}, "early_stopping must be one of True, False; got 'auto'"),
        ({"early_stopping": 1}, "early_stopping must be one of True, False; got 1"),
        ({"validation_fraction": 0}, r"validation_fraction must be a number in \[1e-06, 0.999999\]; got 0"),
        ({"validation_fraction": 1.0}, r"validation_fraction must be a number in \[1e-06, 0.999999\]; got 1.0"),
        ({"n_iter_no_change": 0}, "n_iter_no_change must be an integer, 1 or larger; got 0"),
        ({"early_stopping": False, "n_iter_no_change": 2.5}, "n_iter_no_change must be an integer"),
    ],
)
def test_parameters_out_of_range(hard, parameters, message):
    with pytest.raises(ValueError, match=message):
        stopping(**parameters).fit(*hard)


@pytest.mark.parametrize(
    ("n_positives", "n_negatives", "parameters", "message"),
    [
        (1, 50, {}, "at least 2 positives.* holds out 1 of 1"),
        (50, 1, {"fpr_range": (0, 1)}, "at least 2 negatives.* holds out 1 of 1"),
        (10, 50, {"validation_fraction": 0.99}, "at least 2 positives.*validation_fraction=0.99 holds out 10 of 10"),
        (50, 99, {}, r"\(0, 0.02\) holds no position among the 10 negatives that are held out of 99.* about 50"),
        (50, 99, {"fpr_range": (0.25, 0.28)}, r"\(0.25, 0.28\) holds no position among the 10 neg.* about 67"),
    ],
)
def test_parts_that_are_too_small(n_positives, n_negatives, parameters, message):
    X, y = load_toy(n_positives, n_negatives, random_state=0)
    with pytest.raises(ValueError, match=message):
        stopping(**{"fpr_range": (0, 0.02), "validation_fraction": 0.1} | parameters).fit(X, y)
