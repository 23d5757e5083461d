"""Linear SVM_pAUC and SVM_AUC against their definitions, generic solvers and brute force, and their errors."""

import itertools
import pickle
import tracemalloc
import warnings

import daqp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from reference_orderings import every_cut, full_solution
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from paucens import LinearPAUCSVC, partial_auc, pauc_scorer, structural
from paucens.cutting_plane import Master, master, most_violated_cut, training_threshold
from paucens.cutting_plane.stores import make_store
from paucens.learners import Predictions

FINE = 1e-6
FORMULATIONS = ["tight", "struct"]


def draw(seed, m, n, d, separation=3.0):
    """Draw Gaussian rows in random order, with positives shifted along the first column."""
    rng = np.random.RandomState(seed)
    y = rng.permutation(np.repeat([1, 0], [m, n]))
    X = rng.normal(size=(m + n, d))
    X[:, 0] += separation * y
    return X, y


def mean_pair_hinge(scores, y, j_beta):
    """Return the mean of max(0, 1 - (s_i - t_j)) over positives i and the j_beta best negatives j."""
    best = np.sort(scores[y == 0])[::-1][:j_beta]
    return np.maximum(0, 1 - scores[y == 1][:, None] + best).mean()


def objective(w, X, y, j_beta, nu):
    return w @ w / 2 + nu * mean_pair_hinge(X @ w, y, j_beta)


def generic_solution(X, y, j_beta, nu, ridge=1e-6):
    """Minimise the pairwise hinge as one quadratic programme, over every subset of j_beta negatives.

        minimise |w|^2 / 2 + nu z  with  p_ij >= max(0, 1 - (s_i - t_j)),  z >= mean of p_ij over i and j in the subset

    There is one slack per pair. daqp needs a strictly convex objective: the ridge on slacks costs at most
    ridge |p, z|^2 / 2.
    """
    positives, negatives = X[y == 1], X[y == 0]
    m, n, d = len(positives), len(negatives), X.shape[1]
    gaps = (positives[:, None] - negatives).reshape(m * n, d)
    subsets = list(itertools.combinations(range(n), j_beta))
    shares = np.zeros((len(subsets), m, n))
    for share, subset in zip(shares, subsets, strict=True):
        share[:, subset] = 1 / (m * j_beta)
    rows = np.block(
        [
            [-gaps, -np.eye(m * n), np.zeros((m * n, 1))],
            [np.zeros((len(subsets), d)), shares.reshape(-1, m * n), -np.ones((len(subsets), 1))],
        ]
    )
    n_free = d + m * n + 1
    upper = np.concatenate([np.full(n_free, 1e6), np.full(m * n, -1.0), np.zeros(len(subsets))])
    lower = np.concatenate([np.full(d, -1e6), np.zeros(m * n + 1), np.full(len(rows), -1e30)])
    hessian = np.diag(np.where(np.arange(n_free) < d, 1.0, ridge))
    linear = np.append(np.zeros(n_free - 1), nu)
    x, _, status, _ = daqp.solve(hessian, linear, rows, upper, lower, np.zeros(len(upper), np.int32))
    assert status == 1
    slacks = ridge * x[d:] @ x[d:] / 2
    return x[:d], objective(x[:d], X, y, j_beta, nu), slacks


def check_history(model):
    assert model.objective_.shape == model.gap_.shape == (model.n_iter_,)
    assert (np.diff(model.objective_) <= 0).all()
    assert (np.diff(model.objective_ - model.gap_) >= -1e-12 * model.nu).all()  # the bound, except for rounding
    assert (model.gap_ >= -1e-12 * model.objective_).all()
    w = model.coef_[0]
    assert model.objective_[-1] >= w @ w / 2


# -- the optimum -----------------------------------------------------------------------------------


@pytest.mark.parametrize("nu", [0.1, 1.0, 30.0])
@pytest.mark.parametrize(("m", "n", "j_beta"), [(8, 11, 11), (5, 7, 1), (5, 7, 3), (4, 6, 6), (1, 6, 2), (6, 1, 1)])
def test_pairwise_hinge_by_a_generic_solver(m, n, j_beta, nu):
    """j_beta = n is SVM_AUC."""
    X, y = draw(m + n + j_beta, m, n, 3)
    weights, optimum, slacks = generic_solution(X, y, j_beta, nu)
    model = LinearPAUCSVC((0, j_beta / n), nu=nu, cut_tolerance=FINE).fit(X, y)
    check_history(model)
    found = objective(model.coef_[0], X, y, j_beta, nu)
    assert model.objective_[-1] == pytest.approx(found, rel=1e-12)
    assert found <= optimum * (1 + FINE)
    assert (model.objective_ - model.gap_ <= optimum + 1e-12).all()
    assert optimum <= found + slacks + 1e-9
    assert np.linalg.norm(model.coef_[0] - weights) <= np.sqrt(2 * (slacks + FINE * found)) + 1e-6
    assert optimum < nu  # w = 0 is not the optimum in this case


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("rank_range", [(0, 4), (0, 1), (0, 2), (1, 2), (1, 4), (2, 3)])
def test_optimum_over_all_orderings(formulation, rank_range):
    for nu in (0.3, 3.0, 30.0):
        X, y = draw(sum(rank_range), 3, 4, 2)
        columns = np.vstack([X[y == 1], X[y == 0]]).T
        weights, optimum = full_solution(*every_cut(columns, 3, *rank_range, formulation), nu)
        fpr_range = rank_range[0] / 4, rank_range[1] / 4
        model = LinearPAUCSVC(fpr_range, nu=nu, formulation=formulation, cut_tolerance=FINE).fit(X, y)
        check_history(model)
        assert model.objective_[-1] == pytest.approx(optimum, rel=2 * FINE, abs=1e-9)
        np.testing.assert_allclose(model.coef_[0], weights, atol=3 * np.sqrt(2e-5 * nu))
        assert optimum < 0.99 * nu


def test_both_formulations_are_svm_auc_on_the_full_range():
    X, y = draw(0, 30, 60, 4)
    tight, struct = (LinearPAUCSVC((0, 1), formulation=f, cut_tolerance=FINE).fit(X, y) for f in FORMULATIONS)
    np.testing.assert_allclose(tight.objective_, struct.objective_, rtol=1e-12)


def test_one_column_that_separates_the_classes():
    """F(w) = w^2 / 2 + nu (1 - 2 w)_+ is least at min(1 / 2, 2 nu)."""
    y = np.array([0, 1, 0, 1, 0])
    for nu in (0.01, 0.1, 1.0):
        model = LinearPAUCSVC((0, 0.5), nu=nu, cut_tolerance=1e-9).fit(2.0 * y[:, None] - 1, y)
        assert model.coef_[0, 0] == pytest.approx(min(0.5, 2 * nu), abs=np.sqrt(2e-9 * nu))
        assert model.score(2.0 * y[:, None] - 1, y) == 1


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_columns_are_summed_like_learners(formulation):
    columns = 100 * np.random.RandomState(0).normal(size=(7, 90))
    stores = [make_store(kind, 9, 90) for kind in ("column", "dense")]
    for store in stores:
        for column in columns:
            store.append(Predictions(column, None))
    mine, theirs = (store.scores(np.arange(7.0)) for store in stores)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    cut = most_violated_cut(np.round(mine[:30], -3), np.round(mine[30:], -3), (0.1, 0.5), formulation)
    np.testing.assert_allclose(stores[0].project(cut), stores[1].project(cut), atol=1e-11)


def test_idle_cuts_are_dropped_and_the_optimum_stays(monkeypatch):
    X, y = draw(1, 100, 900, 8)
    masters, found = [], {}
    monkeypatch.setattr(structural, "Master", lambda *all, **more: masters.append(Master(*all, **more)) or masters[-1])
    for limit in (3, 20, 10**9):
        monkeypatch.setattr(master, "IDLE_LIMIT", limit)
        found[limit] = LinearPAUCSVC(nu=1000.0).fit(X, y)
    few, default, every = (len(each.cuts) for each in masters)
    assert few < default < every == found[10**9].n_iter_
    for model in found.values():
        assert model.objective_[-1] == pytest.approx(found[20].objective_[-1], rel=1e-3)


# -- the fitted classifier -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_decision_function_and_threshold(dtype):
    X, y = draw(2, 80, 400, 6)
    X = X.astype(dtype)
    before = X.copy()
    model = LinearPAUCSVC((0, 0.1)).fit(X, y)
    np.testing.assert_array_equal(X, before)
    assert (model.coef_.shape, model.intercept_.shape) == ((1, 6), (1,))
    assert model.n_features_in_ == 6
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, X @ model.coef_[0] + model.intercept_[0], atol=1e-12)
    plain = X @ model.coef_[0]
    assert -model.intercept_[0] == pytest.approx(training_threshold(plain[y == 1], plain[y == 0], 400, 0.1))
    predicted = model.predict(X)
    np.testing.assert_array_equal(predicted, (scores > 0).astype(int))
    assert predicted[y == 0].mean() <= 0.1 < predicted[y == 1].mean()
    np.testing.assert_array_equal(model.decision_function(X[::-1]), scores[::-1])


def test_it_beats_the_full_range_in_its_own_range():
    """A twentieth of the negatives are like positives in the first column, but not in the second."""
    rng = np.random.RandomState(0)
    y = np.repeat([1, 0], [1000, 4000])
    X = rng.normal(size=(5000, 2))
    X[:, 0] += 2 * y
    hard = (y == 0) & (np.arange(5000) % 20 == 0)
    X[hard] = [2, 2] + 0.3 * rng.normal(size=(hard.sum(), 2))
    narrow, full = (LinearPAUCSVC((0, beta), nu=30.0).fit(X, y).decision_function(X) for beta in (0.1, 1))
    assert partial_auc(y, narrow, (0, 0.1)) > partial_auc(y, full, (0, 0.1)) + 0.01
    assert partial_auc(y, full, (0, 1)) > partial_auc(y, narrow, (0, 1))


@pytest.mark.parametrize("labels", [[False, True], [-1, 1], ["cancer", "healthy"], [2.0, 7.0]], ids=str)
def test_the_larger_label_is_positive(labels):
    X, y = draw(4, 50, 100, 3, separation=3.0)
    named = np.array(labels)[y]
    model = LinearPAUCSVC().fit(X, named)
    assert model.classes_.tolist() == sorted(labels)
    np.testing.assert_array_equal(model.coef_, LinearPAUCSVC().fit(X, y).coef_)
    assert set(model.predict(X)) == set(labels)
    assert model.score(X, named) > 0.8


def test_tools_of_scikit_learn():
    X, y = draw(5, 60, 240, 4)
    pipeline = make_pipeline(StandardScaler(), LinearPAUCSVC((0, 0.2)))
    nus = [1e-3, 1.0]
    search = GridSearchCV(pipeline, {"linearpaucsvc__nu": nus}, scoring=pauc_scorer((0, 0.2)), cv=3).fit(X, y)
    assert search.best_params_["linearpaucsvc__nu"] in nus
    assert search.best_score_ > 0.3
    probability = CalibratedClassifierCV(pipeline, cv=3).fit(X, y).predict_proba(X)[:, 1]
    assert probability[y == 1].mean() > 0.4 > 0.3 > probability[y == 0].mean()
    model = pipeline.fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    assert not hasattr(clone(model)[-1], "coef_")


def test_data_frames():
    X, y = draw(6, 30, 60, 2)
    frame = pd.DataFrame(X, columns=["width", "height"])
    model = LinearPAUCSVC().fit(frame, y)
    assert model.feature_names_in_.tolist() == ["width", "height"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["height", "width"]])


def test_progress_bar_if_verbose(capsys):
    X, y = draw(7, 30, 60, 2)
    LinearPAUCSVC().fit(X, y)
    assert capsys.readouterr().err == ""
    LinearPAUCSVC(verbose=1).fit(X, y)
    assert "SVM_pAUC" in capsys.readouterr().err


def test_memory_is_one_copy():
    X, y = draw(8, 500, 9500, 100)
    tracemalloc.start()
    try:
        LinearPAUCSVC().fit(X, y)
        assert tracemalloc.get_traced_memory()[1] < 1.7 * X.nbytes
    finally:
        tracemalloc.stop()


# -- invariance ------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("fpr_range", [(0, 0.1), (0.05, 0.2), (0, 1)], ids=str)
def test_order_shift_and_layout_change_nothing_beyond_the_tolerance(fpr_range, formulation):
    X, y = draw(9, 60, 240, 5)
    model = LinearPAUCSVC(fpr_range, formulation=formulation, cut_tolerance=FINE)
    plain = clone(model).fit(X, y)
    order = np.random.RandomState(0).permutation(300)
    for other, labels in ((X[order], y[order]), (X + np.array([0, 1e3, -7, 1, 1e5]), y), (np.asfortranarray(X), y)):
        again = clone(model).fit(other, labels)
        assert again.objective_[-1] == pytest.approx(plain.objective_[-1], rel=FINE)
        np.testing.assert_allclose(again.coef_, plain.coef_, atol=2 * np.sqrt(2 * FINE))


@pytest.mark.parametrize("d", [1, 5, 17, 40_000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_neither_layout_nor_type_nor_other_rows_change_a_score(d, dtype):
    X, y = draw(22, 20, 30, d)
    X = X.astype(dtype)
    model = LinearPAUCSVC((0, 0.3), nu=0.1, cut_tolerance=0.5).fit(X, y)
    scores = model.decision_function(X)
    wider = np.pad(X, ((0, 0), (1, 2)))[:, 1:-2]
    for other in (X.astype(np.float64), np.asfortranarray(X), wider, np.repeat(X, 2, axis=0)[::2]):
        again = clone(model).fit(other, y)
        np.testing.assert_array_equal(again.coef_, model.coef_)
        np.testing.assert_array_equal(again.decision_function(other), scores)
        np.testing.assert_array_equal(again.decision_function(other[7:8]), scores[7:8])
        np.testing.assert_array_equal(again.decision_function(other[3:30]), scores[3:30])


@pytest.mark.parametrize("scale", [1e-3, 8.0, 1e4])
def test_scale_of_all_columns_is_equivalent_to_nu(scale):
    """The objective |w|^2 / 2 + nu R of X a equals that of X with nu a^2, divided by a^2."""
    X, y = draw(10, 60, 240, 5)
    plain = LinearPAUCSVC(nu=2.0, cut_tolerance=FINE).fit(X, y)
    scaled = LinearPAUCSVC(nu=2.0 / scale**2, cut_tolerance=FINE).fit(scale * X, y)
    assert scaled.objective_[-1] * scale**2 == pytest.approx(plain.objective_[-1], rel=FINE)
    np.testing.assert_allclose(scaled.coef_ * scale, plain.coef_, atol=3 * np.sqrt(FINE))


def test_constant_columns_get_no_weight_and_change_nothing():
    X, y = draw(11, 60, 240, 4)
    plain = LinearPAUCSVC().fit(X, y)
    padded = LinearPAUCSVC().fit(np.column_stack([X[:, :2], np.full(300, 0.1), X[:, 2:], np.full(300, -1e9)]), y)
    assert (padded.coef_[0, [2, 5]] == 0).all()
    np.testing.assert_allclose(padded.coef_[0, [0, 1, 3, 4]], plain.coef_[0], rtol=1e-9)


@pytest.mark.parametrize("d", [3, 10_500])
def test_threads_of_blas_change_nothing(d):
    X, y = draw(12, 20, 60, d)
    with threadpool_limits(1):
        one = LinearPAUCSVC().fit(X, y)
    with threadpool_limits(2):
        two = LinearPAUCSVC().fit(X, y)
    for name in ("coef_", "intercept_", "objective_", "gap_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


# -- difficult data --------------------------------------------------------------------------------


def test_all_weights_0_warn():
    X, y = draw(13, 200, 2000, 3, separation=0.0)
    with pytest.warns(UserWarning, match="coef_ is 0: no linear score lifts the positives") as record:
        model = LinearPAUCSVC((0, 0.01)).fit(X, y)
    assert record[0].filename == __file__
    assert model.objective_[-1] == 1.0  # of w = 0
    assert (model.coef_ == 0).all()
    assert np.isfinite(model.intercept_).all()
    assert (model.predict(X) == 0).all()


@pytest.mark.parametrize("X", [np.ones((2, 1)), [[0.0], [1.0]], np.full((40, 2), 1e-300), np.eye(6), -np.eye(6)])
def test_degenerate_data(X):
    y = np.arange(len(X)) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "coef_ is 0")
        warnings.filterwarnings("ignore", "The range .* is narrower")
        model = LinearPAUCSVC().fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.gap_[-1] <= 1e-3 * model.objective_[-1]


def six_samples(scale):
    return scale * np.array([[3.0], [1.0], [2.0], [5.0], [4.0], [6.0]]), np.array([0, 0, 1, 0, 1, 1])


@pytest.mark.parametrize("scale", [1, 1e2, 1e3, 1e6, 1e9])
def test_features_of_any_size_take_few_cuts(scale):
    """At w = 1 / (3 scale), where the mean hinge of the nine pairs is 20 / 27, the objective is least."""
    X, y = six_samples(scale)
    assert mean_pair_hinge(X[:, 0] / (3 * scale), y, 3) == pytest.approx(20 / 27)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearPAUCSVC((0, 1), cut_tolerance=FINE).fit(X, y)
    check_history(model)
    assert model.objective_[-1] == pytest.approx(20 / 27 + 1 / (18 * scale**2), rel=FINE)
    assert model.coef_[0, 0] * scale == pytest.approx(1 / 3, rel=1e-6)
    assert model.n_iter_ < 10


def ages_and_incomes(n):
    """Draw ages in years and incomes per year, and who bought something."""
    rng = np.random.RandomState(0)
    ages, incomes = rng.uniform(20, 80, n), rng.uniform(1e4, 2e5, n)
    return np.column_stack([ages, incomes]), rng.logistic(size=n) < ages / 10 + incomes / 3e4 - 10


def least_mean_hinge(X, y):
    """Minimise the mean of max(0, 1 - (s_i - t_j)) over all pairs as a linear programme: the optimum for a huge nu."""
    gaps = (X[y][:, None] - X[~y]).reshape(-1, X.shape[1])
    n_pairs, n_columns = gaps.shape
    cost = np.repeat([0.0, 1 / n_pairs], [n_columns, n_pairs])
    free = [(None, None)] * n_columns + [(0, None)] * n_pairs
    solved = linprog(cost, np.hstack([-gaps, -np.eye(n_pairs)]), np.full(n_pairs, -1.0), bounds=free)
    assert solved.status == 0
    return solved.fun


def test_unscaled_columns_take_few_cuts():
    X, y = ages_and_incomes(60)
    model = LinearPAUCSVC((0, 1)).fit(X, y)
    check_history(model)
    optimum = least_mean_hinge(X / X.std(axis=0), y)
    assert optimum * (1 - 1e-9) <= model.objective_[-1] <= optimum * 1.001 + np.square(model.coef_).sum() / 2
    assert model.n_iter_ < 60
    X, y = ages_and_incomes(1000)
    for fpr_range in ((0, 1), (0, 0.5), (0.1, 0.6)):
        model = LinearPAUCSVC(fpr_range).fit(X, y)
        check_history(model)
        assert model.gap_[-1] <= 1e-3 * model.objective_[-1] < 1e-3
        assert model.n_iter_ < 60


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("nu", [1e4, 1e8, 1e12])
def test_a_huge_nu_takes_few_cuts(formulation, nu):
    X, y = draw(20, 40, 120, 4, separation=2.0)
    columns = np.vstack([X[y == 1], X[y == 0]]).T
    model = LinearPAUCSVC((0, 0.2), nu=nu, formulation=formulation).fit(X, y)
    check_history(model)
    assert model.gap_[-1] <= 1e-3 * model.objective_[-1]
    scores = model.coef_[0] @ columns
    worst = most_violated_cut(scores[:40], scores[40:], (0, 0.2), formulation)
    risk = max(0.0, worst.loss - worst.signed_weights @ scores)
    assert model.objective_[-1] == pytest.approx(nu * risk + np.square(model.coef_).sum() / 2)
    assert model.n_iter_ < 150


def test_rounding_errors_end_the_fit_with_a_warning():
    """Columns whose units differ by 1e18 leave no digit to the smaller ones."""
    X, y = draw(21, 30, 90, 7, separation=1.0)
    with pytest.warns(
        ConvergenceWarning, match=r"cuts because of rounding errors: the objective .* Standardise"
    ) as found:
        model = LinearPAUCSVC((0, 1)).fit(X * 1e3 ** np.arange(7), y)
    assert found[0].filename == __file__
    check_history(model)
    assert model.n_iter_ < 200
    assert model.gap_[-1] > 1e-3 * model.objective_[-1]


@pytest.mark.parametrize("scale", [1e-90, 1e3, 1e90])
def test_any_scale_gives_finite_weights(scale):
    X, y = draw(14, 20, 80, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "The fit ended", ConvergenceWarning)
        warnings.filterwarnings("ignore", "coef_ is 0")
        model = LinearPAUCSVC(max_iter=30).fit(scale * X, y)
    assert np.isfinite(model.decision_function(scale * X)).all()
    check_history(model)


def test_a_tolerance_below_rounding_errors_warns():
    X, y = draw(15, 60, 240, 5)
    with pytest.warns(ConvergenceWarning, match=r"because of rounding errors: .* more than cut_tolerance = 1e-300"):
        model = LinearPAUCSVC(cut_tolerance=1e-300).fit(X, y)
    assert model.gap_[-1] <= 1e-12 * model.objective_[-1]


def test_the_limit_of_cuts_warns():
    X, y = draw(15, 60, 240, 5)
    solved = LinearPAUCSVC().fit(X, y)
    message = r"3 cuts because of max_iter = 3: the objective of 0\.\d+ may be 0\.\d+ above .* = 0\.001 of it\. Stand"
    with pytest.warns(ConvergenceWarning, match=message) as record:
        model = LinearPAUCSVC(max_iter=3).fit(X, y)
    assert record[0].filename == __file__
    assert model.n_iter_ == 3 < solved.n_iter_
    np.testing.assert_array_equal(model.objective_, solved.objective_[:3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearPAUCSVC(max_iter=solved.n_iter_).fit(X, y)


def test_a_range_narrower_than_one_negative_warns():
    X, y = draw(16, 20, 50, 3, separation=3.0)
    message = r"range \(0, 0\.001\) is narrower than one of 50 negatives.*takes 1000 negatives"
    with pytest.warns(UserWarning, match=message) as record:
        narrow = LinearPAUCSVC((0, 0.001)).fit(X, y)
    assert record[0].filename == __file__
    np.testing.assert_array_equal(narrow.coef_, LinearPAUCSVC((0, 0.02)).fit(X, y).coef_)


@pytest.mark.parametrize("far", [1e6, 1e9, 1e11, 1e13, 1e30])
@pytest.mark.parametrize(("row", "sign"), [(0, 1), (200, -1)], ids=["positive", "negative"])
@pytest.mark.filterwarnings("ignore:The fit ended")
def test_one_sample_far_out_in_its_own_direction_changes_little(row, sign, far):
    """It is scored right by any weight, so the others decide; its size must take no digits from them."""
    rng = np.random.RandomState(0)
    y = np.repeat([1, 0], 150)
    X = rng.normal(size=(300, 3))
    X[:, :2] += 1.5 * y[:, None]
    plain = LinearPAUCSVC((0, 0.5)).fit(X, y)
    X[row, 0] = sign * far
    model = LinearPAUCSVC((0, 0.5)).fit(X, y)
    assert model.score(X, y) >= plain.score(X, y) - 0.02
    if far <= 1e13:
        np.testing.assert_allclose(model.coef_, plain.coef_, atol=0.02)
        np.testing.assert_allclose(model.intercept_, plain.intercept_, atol=0.1)
        check_history(model)


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"fpr_range": (0.1, 0.1)}, "fpr_range must be two rates 0 <= alpha < beta <= 1"),
        ({"fpr_range": 0.1}, "fpr_range must be two rates"),
        ({"fpr_range": (0.5, 0.51)}, r"\(0\.5, 0\.51\) holds no position among 30 negatives; it takes about 200"),
        ({"nu": 0.0}, r"nu must be a number in \[1e-50, 1e\+50\]; got 0.0"),
        ({"nu": np.inf}, "nu must be a number in"),
        ({"cut_tolerance": -1}, "cut_tolerance must be a finite number, larger than 0; got -1"),
        ({"formulation": "loose"}, "formulation must be one of 'tight', 'struct'; got 'loose'"),
        ({"max_iter": 0}, "max_iter must be an integer, 1 or larger; got 0"),
        ({"max_iter": 1e4}, "max_iter must be an integer"),
    ],
    ids=str,
)
def test_bad_parameters(parameters, message):
    X, y = draw(17, 30, 30, 2)
    with pytest.raises(ValueError, match=message):
        LinearPAUCSVC(**parameters).fit(X, y)


@pytest.mark.filterwarnings("ignore:The range .* is narrower")
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.array([[0.0], [np.nan]]), [0, 1], "contains NaN"),
        (np.array([[0, -2e100], [1, 0]]), [0, 1], r"within \+-1e\+100; column 1 spans -2e\+100 to 0\. Standardise"),
        ([["a"], ["b"]], [0, 1], "X must hold numbers; got text"),
        (np.eye(3), [0, 1, 2], "Only binary classification is supported"),
        (np.eye(3), [1, 1, 1], "one class only"),
        (np.eye(3), [0, 1], "inconsistent numbers of samples"),
    ],
    ids=["nan", "huge", "text", "three classes", "one class", "lengths"],
)
def test_bad_data(X, y, message):
    with pytest.raises(ValueError, match=message):
        LinearPAUCSVC().fit(X, y)


def test_sparse_data_are_refused():
    X, y = draw(18, 30, 30, 2)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        LinearPAUCSVC().fit(scipy.sparse.csr_matrix(X), y)


def test_a_refused_fit_leaves_the_earlier_one():
    X, y = draw(19, 30, 30, 2)
    model = LinearPAUCSVC(nu=-1.0)
    with pytest.raises(ValueError, match="nu must be"):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    scores = model.set_params(nu=1.0).fit(X, y).decision_function(X)
    with pytest.raises(ValueError, match="column 0 spans"):
        model.fit(1e101 * X[:, :1], y)
    np.testing.assert_array_equal(model.decision_function(X), scores)
    with pytest.raises(ValueError, match="X has 3 features, but LinearPAUCSVC is expecting 2"):
        model.predict(np.ones((4, 3)))
