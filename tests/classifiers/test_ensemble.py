"""The ensembles: promises of a fit on real digits, on the toy set and on degenerate data."""

import statistics
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone

from paucens import (
    AdaBoostClassifier,
    AdaBoostLDAClassifier,
    AsymBoostClassifier,
    CSAdaBoostClassifier,
    PAUCBoostClassifier,
    PAUCEnsClassifier,
    Stump,
    Tree,
    parallel,
    partial_auc,
)
from paucens.cutting_plane import Master
from paucens.datasets import load_digits_parity, load_toy, load_usps
from paucens.learners import Predictions
from paucens.metrics import rank_range

LEAVES = ["sign", "real"]
LAST_STAND = "All weights are 0"
EARLY_END = r"\w+ ended after \d+ of"


def published(fpr_range=(0, 0.1), leaves="sign", n_estimators=20, nu=1.0, **parameters):
    """Return the published form: depth-3 trees, no annealing."""
    parameters = {"learner": Tree(depth=3, leaves=leaves), "anneal": False, "random_state": 0} | parameters
    return PAUCEnsClassifier(fpr_range, n_estimators=n_estimators, nu=nu, **parameters)


def class_name(estimator):
    return type(estimator).__name__


def boosters(n_estimators=12):
    """Return one ensemble of each kind, with sign and real leaves and a range above zero among them."""
    return {
        "published": published(n_estimators=n_estimators),
        "real": published(leaves="real", n_estimators=n_estimators),
        "default": PAUCEnsClassifier(n_estimators=n_estimators, random_state=0),
        "struct": published((0, 0.2), n_estimators=n_estimators, formulation="struct"),
        "above zero": published((0.1, 0.4), n_estimators=n_estimators),
        "AdaBoost": AdaBoostClassifier(n_estimators=n_estimators, random_state=0),
        "AdaBoost real": AdaBoostClassifier(learner=Tree(depth=2, leaves="real"), n_estimators=n_estimators),
        "Ada + LDA": AdaBoostLDAClassifier(n_estimators=n_estimators),
        "AsymBoost": AsymBoostClassifier(2.0, n_estimators=n_estimators),
        "CS-AdaBoost": CSAdaBoostClassifier(1.5, 0.5, n_estimators=n_estimators),
        "pAUCBoost": PAUCBoostClassifier(n_estimators=n_estimators),
    }


@pytest.fixture(params=boosters(), ids=str)
def booster(request):
    return boosters()[request.param]


@pytest.fixture(scope="module")
def digits():
    return load_digits_parity()


@pytest.fixture(scope="module")
def toy():
    return load_toy(random_state=0)


@pytest.fixture(scope="module")
def hard():
    """Overlapping classes, a third positive, in eight columns, of which only the last is informative."""
    rng = np.random.RandomState(3)
    y = (rng.uniform(size=600) < 1 / 3).astype(int)
    X = rng.normal(size=(600, 8))
    X[:, 7] += 1.6 * y
    return X, y


# -- objective and gap -----------------------------------------------------------------------------


def check_history(model):
    assert len(model.objective_) == len(model.gap_) == len(model.n_cuts_) == model.n_iter_ == len(model.learners_)
    assert (np.diff(model.objective_) <= 0).all()
    assert (model.gap_ >= -1e-12).all()
    assert (model.gap_ <= model.cut_tolerance * model.objective_).all()
    assert (model.objective_ <= model.nu).all()  # that of w = 0
    assert (model.n_cuts_ >= 1).all()


@pytest.mark.parametrize("nu", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("fpr_range", [(0, 0.01), (0, 0.1), (0.05, 0.3), (0, 1)], ids=str)
@pytest.mark.parametrize("formulation", ["tight", "struct"])
def test_objective_never_rises(hard, fpr_range, nu, formulation):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", LAST_STAND)
        model = published(fpr_range, nu=nu, formulation=formulation).fit(*hard)
    check_history(model)


@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize("cut_tolerance", [1e-1, 1e-2, 1e-4])
def test_objective_and_gap_on_digits(digits, leaves, cut_tolerance):
    model = published(leaves=leaves, cut_tolerance=cut_tolerance).fit(*digits)
    check_history(model)
    assert model.objective_[-1] < 0.5 * model.objective_[0]


def test_objective_and_gap_on_usps():
    try:
        X, y = load_usps()
    except FileNotFoundError:
        pytest.skip("USPS is not on this disk")
    half = np.random.RandomState(0).permutation(len(X))[: len(X) // 2]
    model = published(n_estimators=40).fit(X[half], y[half])
    check_history(model)
    assert model.objective_[-1] < 0.5 * model.objective_[0]


@pytest.mark.parametrize("formulation", ["tight", "struct"])
@pytest.mark.parametrize("fpr_range", [(0, 0.1), (0.05, 0.3)], ids=str)
def test_objective_follows_its_definition(hard, fpr_range, formulation):
    """The objective is |w|^2 / 2 + nu R(w), with the risk summed by hand over prefixes."""
    X, y = hard
    model = published(fpr_range, nu=20.0, formulation=formulation).fit(X, y)
    scores = model.decision_function(X)
    positives, ranked = scores[y == 1], np.sort(scores[y == 0])[::-1]
    j_alpha, j_beta = rank_range(len(ranked), fpr_range)
    if formulation == "tight":
        ranked = ranked[:j_beta]
    length = np.arange(len(ranked) + 1)
    loss = np.clip(length - j_alpha, 0, j_beta - j_alpha)
    prefix = np.concatenate([[0], np.cumsum(ranked)])
    rows = [(loss + prefix - length * score).max() for score in positives]
    risk = sum(rows) / len(positives) / (j_beta - j_alpha)
    assert model.objective_[-1] == pytest.approx(model.weights_ @ model.weights_ / 2 + 20.0 * risk, rel=1e-9)


def test_a_tighter_tolerance_comes_closer(digits):
    X, y = digits
    loose, tight = (published((0, 0.5), cut_tolerance=tolerance, n_estimators=1).fit(X, y) for tolerance in (0.3, 1e-6))
    assert tight.objective_[0] <= loose.objective_[0]
    assert tight.objective_[0] >= loose.objective_[0] - loose.gap_[0]  # the certificate


@pytest.mark.parametrize(
    ("anneal", "fpr_range", "narrows"),
    [("auto", (0, 0.05), True), (True, (0, 0.05), True), (False, (0, 0.05), False), ("auto", (0.1, 0.4), False)],
)
def test_annealed_fits_narrow_to_the_requested_range(hard, monkeypatch, anneal, fpr_range, narrows):
    X, y = hard
    ranges, solve = [], Master.solve

    def recorded(self, rank_range, tolerance, new_range=False):
        ranges.append(rank_range)
        return solve(self, rank_range, tolerance, new_range)

    monkeypatch.setattr(Master, "solve", recorded)
    model = PAUCEnsClassifier(fpr_range, n_estimators=50, anneal=anneal, random_state=0).fit(X, y)
    assert (model.gap_ <= model.cut_tolerance * model.objective_).all()
    assert ranges[-1] == rank_range(int((y == 0).sum()), fpr_range)
    assert (len(set(ranges)) > 10) == narrows


# -- stages ----------------------------------------------------------------------------------------


def test_last_stage_is_the_model_itself(booster, hard):
    X, y = hard
    booster.fit(X, y)
    stages = list(booster.staged_decision_function(X))
    assert len(stages) == booster.n_iter_
    np.testing.assert_array_equal(stages[-1], booster.decision_function(X))


@pytest.mark.parametrize("name", ["published", "real", "struct", "above zero", "AdaBoost", "AdaBoost real"])
def test_a_stage_is_the_model_of_a_shorter_fit(name, hard):
    X, y = hard
    longer = boosters()[name].fit(X, y)
    stages = list(longer.staged_decision_function(X))
    for rounds in (1, 5, 8):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", LAST_STAND)
            shorter = clone(longer).set_params(n_estimators=rounds).fit(X, y)
        assert shorter.n_iter_ == rounds
        np.testing.assert_array_equal(shorter.decision_function(X), stages[rounds - 1])


def test_stages_are_not_prefixes_of_the_weights(hard):
    X, y = hard
    model = published().fit(X, y)
    predictions = np.array([learner.predict(X) for learner in model.learners_[:5]])
    prefix = model.weights_[:5] @ predictions
    stage = list(model.staged_decision_function(X))[4]
    assert np.ptp(stage - prefix) > 1e-3  # they differ by more than a threshold


def test_decision_function_is_the_weighted_sum(booster, hard):
    X, y = hard
    booster.fit(X, y)
    total = sum(w * h.predict(X) for w, h in zip(booster.weights_, booster.learners_, strict=True))
    np.testing.assert_allclose(total, booster.decision_function(X) + booster.threshold_, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(booster.predict(X), booster.classes_[(booster.decision_function(X) > 0).astype(int)])


# -- nothing but the data and the seed matters -----------------------------------------------------


def test_predictions_do_not_depend_on_other_rows(booster, hard):
    X, y = hard
    scores = booster.fit(X, y).decision_function(X)
    order = np.random.RandomState(0).permutation(len(X))
    np.testing.assert_array_equal(booster.decision_function(X[order]), scores[order])
    np.testing.assert_array_equal(booster.predict(X[order]), booster.predict(X)[order])
    for row in range(0, len(X), 97):
        assert booster.decision_function(X[row : row + 1])[0] == scores[row]


@pytest.mark.parametrize("contiguous", [np.ascontiguousarray, np.asfortranarray], ids=["C", "F"])
def test_predictions_do_not_depend_on_strides(booster, hard, contiguous):
    X, y = hard
    scores = booster.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(clone(booster).fit(contiguous(X), y).decision_function(contiguous(X)), scores)
    wide = np.repeat(X, 2, axis=1)[:, ::2]
    np.testing.assert_array_equal(booster.decision_function(wide), scores)


def test_threads_change_nothing(booster, hard, monkeypatch):
    X, y = hard
    pieces = []
    original = parallel.blocks
    monkeypatch.setattr(parallel, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(parallel, "blocks", lambda *args: pieces.append(original(*args)) or pieces[-1])
    one = clone(booster).set_params(n_jobs=1).fit(X, y)
    assert not pieces  # one block is not cut
    two = clone(booster).set_params(n_jobs=2).fit(X, y)
    assert max(map(len, pieces)) == 2
    np.testing.assert_array_equal(one.weights_, two.weights_)
    assert one.threshold_ == two.threshold_
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    for mine, yours in zip(one.learners_, two.learners_, strict=True):
        for name, field in mine.nodes_._asdict().items():
            np.testing.assert_array_equal(field, getattr(yours.nodes_, name), err_msg=name)


def test_random_state_decides_the_columns(hard):
    X, y = hard
    learner = Tree(depth=2, column_fraction=0.5)
    for model in (published(learner=learner), AdaBoostClassifier(learner=learner, n_estimators=10)):
        first, again, other = (
            clone(model).set_params(random_state=seed).fit(X, y).decision_function(X) for seed in (1, 1, 2)
        )
        np.testing.assert_array_equal(first, again)
        assert (first != other).any()


@pytest.mark.parametrize("sampling", ["tree", "node"])
def test_column_fraction(hard, sampling):
    X, y = hard
    learner = Tree(depth=3, column_fraction=0.25, column_sampling=sampling)  # 2 of 8
    model = AdaBoostClassifier(learner=learner, n_estimators=12, random_state=0).fit(X, y)
    used = [set(tree.nodes_.column[tree.nodes_.child > 0].tolist()) for tree in model.learners_]
    assert set().union(*used) == set(range(8))
    assert (max(map(len, used)) <= 2) == (sampling == "tree")


def test_a_draw_without_promise_is_repeated_on_all_columns():
    """One column of forty separates the classes, and most draws of one column miss it."""
    rng = np.random.RandomState(0)
    y = np.repeat([1, 0], 32)
    X = np.zeros((64, 40))
    X[:, 13] = y + rng.uniform(0, 0.5, 64)
    stump = Tree(depth=1, column_fraction=1 / 40)
    for model in (AdaBoostClassifier(learner=stump, random_state=0), published((0, 0.5), learner=stump)):
        model.fit(X, y)
        assert model.learners_[0].nodes_.column[0] == 13
        assert model.score(X, y) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_data_are_not_modified(booster, hard, dtype):
    X, y = hard[0].astype(dtype), hard[1].copy()
    X.flags.writeable = y.flags.writeable = False
    before = X.tobytes(), y.tobytes()
    booster.fit(X, y).predict(X)
    assert (X.tobytes(), y.tobytes()) == before


def test_single_precision_scores_equal_double_precision(booster, hard):
    X, y = hard[0].astype(np.float32), hard[1]
    single, double = clone(booster).fit(X, y), clone(booster).fit(X.astype(np.float64), y)
    np.testing.assert_array_equal(single.decision_function(X), double.decision_function(X.astype(np.float64)))


# -- the threshold ---------------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [0.01, 0.02, 0.05, 0.1, 0.29, 1.0])
@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize("depth", [1, 3])
def test_threshold_is_the_best_cut_of_the_range(hard, beta, leaves, depth):
    X, y = hard
    n = int((y == 0).sum())
    rounds = []
    for n_estimators in (1, 3, 15):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", LAST_STAND)
            learner = Tree(depth=depth, leaves=leaves)
            model = published((0, beta), learner=learner, n_estimators=n_estimators, nu=50.0).fit(X, y)
        scores = np.round(model.decision_function(X) + model.threshold_, 12)
        distinct = np.unique(scores)
        cuts = np.concatenate([[distinct[0] - 1], (distinct[:-1] + distinct[1:]) / 2, [distinct[-1] + 1]])
        rates = [((scores[y == 1] > cut).mean(), (scores[y == 0] > cut).mean()) for cut in cuts]
        allowed = np.floor(n * beta + 1e-6) / n
        best = max(tpr - fpr for tpr, fpr in rates if fpr <= allowed + 1e-12)
        above = model.decision_function(X) > 0
        np.testing.assert_allclose(above[y == 1].mean() - above[y == 0].mean(), best, atol=1e-12)
        assert above[y == 0].mean() <= allowed + 1e-12
        assert np.abs(cuts - model.threshold_).min() < 1e-9
        rounds.append(best)
    assert rounds[-1] > 0 or (depth, leaves) == (1, "sign")  # which stalls at narrow ranges


def test_threshold_is_above_all_scores_if_no_threshold_gains():
    """Three positives share the highest score with 37 of 97 negatives, and beta allows fewer."""
    X = np.repeat([[1.0], [0.0]], [40, 60], axis=0)
    y = np.zeros(100, dtype=int)
    y[[0, 1, 2]] = 1
    model = published((0, 0.05), learner=Stump(), n_estimators=3)
    with pytest.warns(UserWarning, match=LAST_STAND):
        model.fit(X, y)
    assert np.isfinite(model.threshold_)
    assert not model.predict(X).any()


# -- how fitting ends ------------------------------------------------------------------------------


def test_all_rounds_are_used(hard):
    model = published(n_estimators=7).fit(*hard)
    assert (model.stop_reason_, model.n_iter_, len(model.weights_)) == ("n_estimators", 7, 7)


def test_stopping_on_the_edge_is_a_certificate(hard):
    """Stumps maximise the edge exactly: one more round gains at most gap + e^2 / 2, more rounds may gain more."""
    X, y = hard
    tolerance = 0.01
    common = {"learner": Stump(), "nu": 1.0, "cut_tolerance": 1e-3}
    stopped = published((0, 0.5), n_estimators=100, edge_tolerance=tolerance, **common).fit(X, y)
    assert stopped.stop_reason_ == "edge"
    assert 1 < stopped.n_iter_ < 100
    longer = published((0, 0.5), n_estimators=100, edge_tolerance=1e-9, **common).fit(X, y)
    np.testing.assert_array_equal(longer.objective_[: stopped.n_iter_], stopped.objective_)
    lower_bound = (1 - tolerance) * (stopped.objective_[-1] - stopped.gap_[-1]) - tolerance * stopped.objective_[-1]
    assert longer.objective_[stopped.n_iter_] >= lower_bound
    assert longer.objective_[-1] < lower_bound  # so it does not bound the gain of all further rounds


@pytest.mark.filterwarnings(f"ignore:{EARLY_END}")
def test_adaboost_stops_at_a_perfect_learner():
    X, y = np.arange(10.0)[:, None], np.arange(10) >= 4
    model = AdaBoostClassifier(n_estimators=50).fit(X, y)
    assert model.n_iter_ == 1
    assert model.weights_.tolist() == [5.0]  # clipped
    assert model.score(X, y) == 1
    assert AdaBoostClassifier(n_estimators=50, shrinkage=0.1).fit(X, y).weights_.tolist() == [0.5]


@pytest.mark.filterwarnings(f"ignore:{EARLY_END}")
@pytest.mark.parametrize("leaves", LEAVES)
def test_adaboost_stops_at_a_learner_without_edge(leaves):
    X = np.ones((32, 2))
    y = np.repeat([0, 1], 16)
    model = AdaBoostClassifier(learner=Tree(depth=2, leaves=leaves), n_estimators=50).fit(X, y)
    assert model.n_iter_ == 1
    assert model.weights_.tolist() == [0.0]


@pytest.mark.filterwarnings(f"ignore:{EARLY_END}")
def test_adaboost_treats_a_rounding_error_as_no_edge():
    X = np.ones((60, 2))
    y = np.repeat([0, 1], 30)
    for kind in (AdaBoostClassifier, CSAdaBoostClassifier):
        model = kind(learner=Tree(depth=2), n_estimators=50).fit(X, y)
        assert model.n_iter_ == 1 and model.weights_.tolist() == [0.0]


def test_perfect_scores_end_well():
    X, y = np.arange(40.0)[:, None], np.arange(40) >= 30
    model = published((0, 0.1), n_estimators=30, nu=10.0).fit(X, y)
    assert model.score(X, y) == 1
    check_history(model)


# -- the stall at w = 0 ----------------------------------------------------------------------------


def test_a_stall_that_stays_is_reported():
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(400, 3)), (rng.uniform(size=400) < 0.2).astype(int)
    model = published((0, 0.01), learner=Stump(), n_estimators=6)
    with pytest.warns(UserWarning, match=LAST_STAND + ".*anneal=True"):
        model.fit(X, y)
    assert model.n_iter_ == 6
    np.testing.assert_array_equal(model.objective_, np.full(6, 1.0))  # nu: w = 0 is the optimum
    assert not model.weights_.any()
    assert np.isfinite(model.threshold_)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.predict(X).shape == (400,)


def test_a_stall_is_fitted_through():
    rng = np.random.RandomState(1)
    y = (rng.uniform(size=1000) < 0.3).astype(int)
    X = rng.normal(size=(1000, 5)) + 0.7 * y[:, None]
    model = published((0, 0.01), n_estimators=40, nu=10.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    stalled = model.objective_ == model.nu
    assert stalled[0] and not stalled[-1]
    assert model.weights_.any()
    stages = list(model.staged_decision_function(X))
    assert np.ptp(stages[0]) == 0
    assert partial_auc(y, stages[-1], (0, 0.01)) > 0.1


# -- ranges ----------------------------------------------------------------------------------------


def test_a_range_narrower_than_one_negative_warns(hard):
    X, y = hard
    n = int((y == 0).sum())
    with pytest.warns(UserWarning, match=r"narrower than one of \d+ negatives.*takes 1000 negatives"):
        narrow = published((0, 0.001), n_estimators=15, nu=10.0).fit(X, y)
    one = published((0, 1 / n), n_estimators=15, nu=10.0).fit(X, y)
    np.testing.assert_array_equal(narrow.objective_, one.objective_)
    np.testing.assert_array_equal(narrow.weights_, one.weights_)


@pytest.mark.parametrize("formulation", ["tight", "struct"])
@pytest.mark.parametrize("fpr_range", [(0.05, 0.1), (0.2, 0.5), (0.5, 1.0)], ids=str)
def test_ranges_above_zero(toy, fpr_range, formulation):
    X, y = toy
    model = published(fpr_range, formulation=formulation, nu=10.0, learner=Stump()).fit(X, y)
    check_history(model)
    assert partial_auc(y, model.decision_function(X), fpr_range) > np.mean(fpr_range) + 0.2


def test_a_range_above_zero_without_negatives_is_refused(hard):
    with pytest.raises(ValueError, match=r"\(0\.1, 0\.1001\) holds no position among \d+ negatives; it takes about"):
        published((0.1, 0.1001)).fit(*hard)


def test_annealing_of_a_range_above_zero_is_refused(hard):
    with pytest.raises(ValueError, match=r"anneal=True .* starts at 0, and no mixture; got \(0\.1, 0\.4\)"):
        published((0.1, 0.4), anneal=True).fit(*hard)


def test_true_and_auto_anneal_in_the_same_way(hard):
    X, y = hard
    auto, true = (published(anneal=anneal).fit(X, y) for anneal in ("auto", True))
    np.testing.assert_array_equal(auto.weights_, true.weights_)
    assert (auto.objective_ != published().fit(X, y).objective_).any()


# -- degenerate data -------------------------------------------------------------------------------


def degenerate():
    rng = np.random.RandomState(0)
    y = np.repeat([1, 0], 30)
    noise = rng.normal(size=(60, 3))
    constant_but_one = np.full((60, 200), 7.0)
    constant_but_one[:, 137] = rng.normal(size=60) + 2 * y
    half_constant = np.column_stack([np.full(60, 3.0), noise[:, 0] + y, np.zeros(60), noise[:, 1]])
    return {
        "perfect learner": (np.column_stack([y, noise]), y),
        "one feature": (noise[:, :1] + y[:, None], y),
        "duplicate rows": (np.repeat(rng.normal(size=(6, 3)), 10, axis=0), np.tile([0, 1], 30)),
        "few distinct rows": (np.repeat(noise[::10], 10, axis=0), np.roll(y, 5)),
        "two samples": (np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1])),
        "two equal samples": (np.ones((2, 2)), np.array([0, 1])),
        "constant columns": (half_constant, y),
        "all constant but one": (constant_but_one, y),
        "all constant": (np.ones((60, 5)), y),
        "one positive": (noise, np.r_[1, np.zeros(59, dtype=int)]),
        "one negative": (noise, np.r_[0, np.ones(59, dtype=int)]),
        "huge values": (1e300 * noise, y),
        "denormal values": (1e-310 * noise, y),
    }


@pytest.mark.parametrize("case", degenerate(), ids=str)
@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize("form", ["default", "published", "struct", "AdaBoost"])
def test_degenerate_data(case, leaves, form):
    X, y = degenerate()[case]
    best_first = Tree(
        depth=None, max_leaves=31, leaves=leaves, leaf_ridge=20, column_fraction=1 / 3, column_sampling="node"
    )
    model = {
        "default": PAUCEnsClassifier(learner=best_first, n_estimators=25),
        "published": published(leaves=leaves, n_estimators=25),
        "struct": published((0, 0.5), leaves=leaves, formulation="struct", n_estimators=25),
        "AdaBoost": AdaBoostClassifier(learner=Tree(depth=3, leaves=leaves), n_estimators=25),
    }[form]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", LAST_STAND)
        warnings.filterwarnings("ignore", "The range .* is narrower")
        warnings.filterwarnings("ignore", EARLY_END)
        scores = model.fit(X, y).decision_function(X)
    assert np.isfinite(scores).all() and np.isfinite(model.weights_).all() and np.isfinite(model.threshold_)
    assert 1 <= model.n_iter_ <= 25
    assert np.isfinite(model.feature_importances_).all()
    np.testing.assert_array_equal(list(model.staged_decision_function(X))[-1], scores)
    if case in ("perfect learner", "two samples", "one positive", "one negative"):
        assert model.score(X, y) == 1
    if case in ("duplicate rows", "two equal samples", "all constant"):
        assert np.ptp(scores) == 0


# -- foreign learners ------------------------------------------------------------------------------


class Signs:
    """The sign of the column of largest edge: neither a tree nor a scikit-learn estimator."""

    seen = ()

    def fit(self, X, signed_weights):
        type(self).seen += ((X, signed_weights),)
        self.edges_ = signed_weights @ np.sign(X - 0.8)
        return self

    def predict(self, X):
        column = int(np.abs(self.edges_).argmax())
        return np.sign(X[:, column] - 0.8) * np.sign(self.edges_[column])


class SignsEstimator(Signs, BaseEstimator):
    """The same learner with get_params, so that scikit-learn can clone it."""


@pytest.mark.parametrize("model", [published((0, 0.5)), AdaBoostClassifier()], ids=class_name)
@pytest.mark.parametrize("learner", [SignsEstimator, Signs])
def test_foreign_learners_are_accepted(hard, model, learner):
    X, y = hard
    learner.seen = ()
    model = clone(model).set_params(learner=learner(), n_estimators=5).fit(X, y)
    assert len(learner.seen) >= model.n_iter_ >= 1
    for features, signed_weights in learner.seen:  # the raw features and a weight for every row, zero or not
        np.testing.assert_array_equal(features, X)
        assert signed_weights.shape == y.shape
        assert (signed_weights[y == 1] >= 0).all() and (signed_weights[y == 0] <= 0).all()
    first = learner.seen[0][1]
    np.testing.assert_allclose(first / np.abs(first).sum(), np.where(y == 1, 0.5 / y.sum(), -0.5 / (y == 0).sum()))
    total = sum(w * h.predict(X) for w, h in zip(model.weights_, model.learners_, strict=True))
    np.testing.assert_allclose(total, model.decision_function(X) + model.threshold_, atol=1e-12)
    assert partial_auc(y, model.decision_function(X), (0, 0.5)) > 0.45  # chance is 0.25
    with pytest.raises(AttributeError, match="needs trees"):
        _ = model.feature_importances_


@pytest.mark.parametrize("model", [published((0, 0.5)), AdaBoostClassifier()], ids=class_name)
def test_foreign_tree_scores_as_ours(hard, model):
    """Compare the dense path of foreign learners with the packed path of our trees."""

    class Wrapped(BaseEstimator):
        def fit(self, X, signed_weights):
            self.tree_ = Tree(depth=3).fit(X, signed_weights)
            return self

        def predict(self, X):
            return self.tree_.predict(X)

    X, y = hard
    model = clone(model).set_params(n_estimators=3)
    ours = clone(model).fit(X, y)
    foreign = clone(model).set_params(learner=Wrapped()).fit(X, y)
    np.testing.assert_allclose(foreign.weights_, ours.weights_, rtol=1e-6)
    np.testing.assert_allclose(foreign.decision_function(X), ours.decision_function(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("model", [published((0, 0.5)), AdaBoostClassifier()], ids=class_name)
def test_objects_that_are_no_learners_are_refused(hard, model):
    class OnlyPredicts(BaseEstimator):
        def predict(self, X):
            return np.zeros(len(X))

    class OnlyFits(BaseEstimator):
        def fit(self, X, signed_weights):
            return self

    for learner, missing in ((OnlyPredicts(), "fit"), (OnlyFits(), "predict"), ("a tree", "fit"), (Tree, None)):
        with pytest.raises(TypeError, match=f"has no {missing}" if missing else None):
            clone(model).set_params(learner=learner).fit(*hard)


@pytest.mark.parametrize("model", [published((0, 0.5)), AdaBoostClassifier()], ids=class_name)
@pytest.mark.parametrize("answer", ["2", "nan", "column", "short"])
def test_predictions_outside_the_interval_are_refused(hard, model, answer):
    X, y = hard
    outputs = {
        "2": np.full(len(X), 2.0),
        "nan": np.full(len(X), np.nan),
        "column": np.zeros((len(X), 1)),
        "short": np.zeros(len(X) - 1),
    }[answer]

    class Answers(BaseEstimator):
        def fit(self, X, signed_weights):
            return self

        def predict(self, X):
            return outputs

    with pytest.raises(ValueError, match=rf"Answers\.predict must return one number in \[-1, 1\] for each of {len(X)}"):
        clone(model).set_params(learner=Answers()).fit(X, y)


# -- AdaBoost --------------------------------------------------------------------------------------


def slow_adaboost(X, y, learner, n_rounds, shrinkage):
    """Run the algorithm of Freund and Schapire, with the coefficient of Schapire and Singer for real leaves."""
    sign = np.where(y == 1, 1.0, -1.0)
    u = np.where(y == 1, 0.5 / (y == 1).sum(), 0.5 / (y == 0).sum())
    weights, score = [], np.zeros(len(y))
    for _ in range(n_rounds):
        h = clone(learner).fit(X, u * sign).predict(X)
        if learner.leaves == "sign":
            error = u[h != sign].sum()
            weight = 0.5 * np.log((1 - error) / error)
        else:
            edge = (u * sign * h).sum()
            weight = 0.5 * np.log((1 + edge) / (1 - edge))
        weights.append(shrinkage * weight)
        score += weights[-1] * h
        u *= np.exp(-weights[-1] * sign * h)
        u /= u.sum()
    return weights, score


@pytest.mark.parametrize("leaves", LEAVES)
@pytest.mark.parametrize("shrinkage", [1.0, 0.3])
@pytest.mark.parametrize("depth", [1, 3])
def test_adaboost_equals_its_slow_twin(hard, leaves, shrinkage, depth):
    X, y = hard
    learner = Tree(depth=depth, leaves=leaves)
    model = AdaBoostClassifier(learner=learner, n_estimators=15, shrinkage=shrinkage).fit(X, y)
    weights, score = slow_adaboost(X, y, learner, 15, shrinkage)
    rounding = 1e-9 if leaves == "sign" else 1e-5  # real leaves are sums on a grid of 2^-30
    np.testing.assert_allclose(model.weights_, weights, rtol=rounding)
    np.testing.assert_allclose(model.decision_function(X), score, atol=rounding)
    assert model.threshold_ == 0


# -- importances, progress, imports ----------------------------------------------------------------


def test_importances_find_the_informative_column(booster, hard):
    X, y = hard
    importances = booster.fit(X, y).feature_importances_
    assert importances.shape == (8,)
    assert importances.sum() == pytest.approx(1)
    assert (importances >= 0).all()
    assert importances.argmax() == 7


def test_importances_are_summed_gains():
    """The gain of a stump is |S_left| + |S_right| - |S|."""
    rng = np.random.RandomState(0)
    y = np.repeat([1, 0], 50)
    X = rng.normal(size=(100, 3)) + y[:, None] * [0.0, 0.5, 1.0]
    model = AdaBoostClassifier(learner=Stump(), n_estimators=1).fit(X, y)
    column = model.learners_[0].nodes_.column[0]
    np.testing.assert_array_equal(model.feature_importances_, np.eye(3)[column])
    model = AdaBoostClassifier(learner=Stump(), n_estimators=10).fit(X, y)
    by_hand = np.zeros(3)
    for learner in model.learners_:
        by_hand[learner.nodes_.column[0]] += learner.nodes_.gain[0]
    np.testing.assert_allclose(model.feature_importances_, by_hand / by_hand.sum())


def test_verbose_shows_progress(hard, capsys):
    X, y = hard
    published(n_estimators=4).fit(X, y)
    assert capsys.readouterr() == ("", "")
    model = published(n_estimators=4, verbose=1).fit(X, y)
    shown = capsys.readouterr().err
    assert "4/4" in shown
    assert f"objective={model.objective_[-1]:.4g}" in shown
    assert f"gap={model.gap_[-1]:.1e}" in shown
    assert f"cuts={model.n_cuts_[-1]}" in shown
    AdaBoostClassifier(n_estimators=4, verbose=1).fit(X, y)
    assert "4/4" in capsys.readouterr().err


def python(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_import_loads_no_heavy_libraries():
    heavy = ["matplotlib", "pandas", "lightgbm", "xgboost", "sklearn.datasets", "paucens.plotting", "paucens.datasets"]
    report = "print([name for name in {} if name in sys.modules and name not in before])"
    loaded = python(f"import sys, sklearn; before = set(sys.modules); import paucens; {report.format(heavy)}")
    assert loaded.strip() == "[]"


@pytest.mark.slow
def test_import_is_fast_compared_with_scikit_learn():
    """Compare the time to import paucens after scikit-learn with the time to import scikit-learn."""
    clock = "from time import process_time as now; start = now(); import sklearn; middle = now(); import paucens; "
    shares = [float(python(clock + "print((now() - middle) / (middle - start))")) for _ in range(5)]
    assert statistics.median(shares) < 0.2


# -- the master, for fixed learners ----------------------------------------------------------------


def test_master_does_not_depend_on_the_order_of_rows(hard):
    X, y = hard
    learners = published((0, 0.5), n_estimators=10, learner=Stump()).fit(X, y).learners_
    rng = np.random.RandomState(0)
    objectives = []
    for _ in range(4):
        order = np.concatenate([rng.permutation(np.flatnonzero(y == 1)), rng.permutation(np.flatnonzero(y == 0))])
        master = Master(int(y.sum()), int((y == 0).sum()), 30.0, "tight", "dense", len(learners))
        for learner in learners:
            master.append(Predictions(learner.predict(X[order]), None))
        master.solve(rank_range(int((y == 0).sum()), (0, 0.1)), 1e-6)
        objectives.append(master.objective)
    assert np.ptp(objectives) <= 1e-6 * objectives[0]
    assert objectives[0] < 0.99 * 30.0
