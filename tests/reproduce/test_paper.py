"""What the paper's formulas say, run: the errata of ERRATA.md, by number, and the statements that hold."""

import itertools
import math
import warnings

import numpy as np
import pytest

from paucens import PAUCEnsClassifier, Stump, Tree, partial_auc
from paucens.cutting_plane import Master, most_violated_cut
from paucens.datasets import load_toy
from paucens.learners import Predictions
from paucens.metrics import rank_range

# -- the paper's definitions, slowly ---------------------------------------------------------------


def rankings(m, n):
    """Matrices pi of m positives and n negatives and the order of the negatives, one for each ranking."""
    for ranking in itertools.permutations(range(m + n)):
        place = np.argsort(ranking)  # positives are 0..m - 1
        yield (place[m:] < place[:m, None]).astype(int), np.argsort(place[m:])


def slow_violation(positives, negatives, j_alpha, j_beta, formulation, printed=False):
    """The largest Delta - w'(phi(pi*) - phi(pi)) over subsets and rankings; `printed` drops w'phi(pi*), as E11."""
    m, n = len(positives), len(negatives)
    c = m * (j_beta - j_alpha)
    best = (-np.inf, None, None)
    for zeta in itertools.combinations(range(n), j_beta if formulation == "tight" else n):
        gaps = positives[:, None] - negatives[list(zeta)]
        for pi, order in rankings(m, len(zeta)):
            loss = pi[:, order[j_alpha:j_beta]].sum()
            gain = -(pi * gaps).sum() if not printed else ((1 - pi) * gaps).sum()
            value = (loss + gain) / c
            if value > best[0] + 1e-12:
                best = (value, zeta, (loss - (pi * gaps).sum()) / c)
    return best


def violation(positives, negatives, fpr_range, formulation="tight"):
    cut = most_violated_cut(positives, negatives, fpr_range, formulation)
    return cut.loss - cut.signed_weights @ np.concatenate([positives, negatives])


def printed_risk(positives, negatives, alpha, beta):
    """EQ:pauc with its c = m n (beta - alpha) and its strict inequality."""
    n = len(negatives)
    j_alpha, j_beta = rank_range(n, (alpha, beta))
    ranked = np.sort(negatives)[::-1][j_alpha:j_beta]
    return (positives[:, None] < ranked).sum() / (len(positives) * n * (beta - alpha))


def risk_with_end_terms(positives, negatives, alpha, beta):
    """The same with Narasimhan and Agarwal's end terms: the negatives j_alpha and j_beta + 1 count in part."""
    n = len(negatives)
    j_alpha, j_beta = rank_range(n, (alpha, beta))
    share = np.zeros(n + 2)  # of the negative ranked j, 1 to n
    share[j_alpha + 1 : j_beta + 1] = 1
    share[j_alpha] += j_alpha - n * alpha
    share[j_beta + 1] += n * beta - j_beta
    lost = (positives[:, None] < np.sort(negatives)[::-1]).mean(axis=0)
    return lost @ share[1:-1] / (n * (beta - alpha))


def new_master(m, n, nu, n_learners, formulation="tight"):
    return Master(m, n, nu, formulation, "dense", n_learners)


def solved(outputs, m, n, nu, rank_range, tolerance=1e-10, formulation="tight"):
    """A master over fixed outputs, one row a learner, positives first, solved to the end."""
    master = new_master(m, n, nu, len(outputs) + 1, formulation)
    for h in outputs:
        master.append(Predictions(np.asarray(h, dtype=float), None))
    master.solve(rank_range, tolerance)
    return master


def random_outputs(rng, n_learners, m, n):
    """Learners that answer +-1, right with probability .65."""
    sign = np.repeat([1.0, -1.0], [m, n])
    return np.where(rng.uniform(size=(n_learners, m + n)) < 0.65, sign, -sign)


# -- E1, E2: orderings -----------------------------------------------------------------------------


def test_e1_per_pair_rule_overestimates():
    """One positive at 0, negatives at -.5 and -.8, the second position counts."""
    positives, negatives = np.array([0.0]), np.array([-0.5, -0.8])
    counts = np.array([0, 1])  # the margin is asked of position 2 only
    per_pair = np.maximum(counts + negatives - positives, 0).sum()
    assert per_pair == pytest.approx(0.2)
    value = slow_violation(positives, negatives, 1, 2, "tight")[0]
    assert value == 0
    assert violation(positives, negatives, (0.5, 1)) == pytest.approx(0)


@pytest.mark.parametrize("formulation", ["tight", "struct"])
@pytest.mark.parametrize("fpr_range", [(1 / 3, 2 / 3), (1 / 3, 1), (2 / 3, 1), (0, 1 / 3), (0, 1)], ids=str)
def test_e1_prefix_oracle_is_exact(fpr_range, formulation):
    rng = np.random.RandomState(0)
    j_alpha, j_beta = rank_range(3, fpr_range)
    for case in range(12):
        positives, negatives = rng.normal(size=2), rng.normal(size=3)
        if case % 3 == 0:
            positives, negatives = np.round(positives), np.round(negatives)
        slow = slow_violation(positives, negatives, j_alpha, j_beta, formulation)[0]
        assert violation(positives, negatives, fpr_range, formulation) == pytest.approx(slow, abs=1e-12)


def test_e1_per_pair_rule_holds_for_alpha_0_only():
    rng = np.random.RandomState(0)
    wrong = {0: 0, 2: 0}
    for _ in range(200):
        positives, negatives = rng.normal(size=3), np.sort(rng.normal(size=6))[::-1]
        for j_alpha in wrong:
            ranked = negatives[:4]
            margin = (np.arange(4) >= j_alpha).astype(float)
            per_pair = np.maximum(margin + ranked - positives[:, None], 0).sum() / (3 * (4 - j_alpha))
            exact = violation(positives, negatives, (j_alpha / 6, 4 / 6))
            assert per_pair >= exact - 1e-12
            wrong[j_alpha] += per_pair > exact + 1e-9
    assert wrong[0] == 0
    assert wrong[2] > 50


def test_e2_not_every_matrix_is_an_ordering():
    matrices = {pi.tobytes() for pi, _ in rankings(2, 2)}
    assert len(matrices) == 14  # of 16
    assert np.eye(2, dtype=int).tobytes() not in matrices
    assert (1 - np.eye(2, dtype=int)).tobytes() not in matrices


def test_e2_the_oracle_chooses_the_best_negatives():
    rng = np.random.RandomState(1)
    for _ in range(20):
        positives, negatives = rng.normal(size=2), rng.normal(size=4)
        _, zeta, _ = slow_violation(positives, negatives, 0, 2, "tight")
        top = np.argsort(-negatives)[:2]
        value = np.maximum(1 + negatives[top] - positives[:, None], 0).sum() / 4
        assert violation(positives, negatives, (0, 0.5)) == pytest.approx(value)
        if value > 0:
            chosen = np.maximum(1 + negatives[list(zeta)] - positives[:, None], 0).sum() / 4
            assert chosen == pytest.approx(value)


# -- E3, E4, E5: the risk --------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "printed"), [(33, 3 / 3.3), (19, 1 / 1.9)])
def test_e3_the_worst_ranking_does_not_score_1(n, printed):
    positives, negatives = np.zeros(5), np.arange(1.0, n + 1)
    assert printed_risk(positives, negatives, 0, 0.1) == pytest.approx(printed)
    y, score = np.repeat([1, 0], [5, n]), np.concatenate([positives, negatives])
    assert partial_auc(y, score, (0, 0.1)) == 0
    assert most_violated_cut(positives, negatives, (0, 0.1)).loss == 1


def test_e3_fractional_end_terms_make_it_the_area():
    rng = np.random.RandomState(0)
    errors = []
    while len(errors) < 500:
        m, n = rng.randint(1, 20), rng.randint(5, 60)
        alpha, beta = np.sort(rng.uniform(size=2))
        j_alpha, j_beta = rank_range(n, (alpha, beta))
        if j_beta <= j_alpha:
            continue
        positives, negatives = rng.normal(0.5, size=m), rng.normal(size=n)
        area = partial_auc(np.repeat([1, 0], [m, n]), np.concatenate([positives, negatives]), (alpha, beta))
        printed = printed_risk(positives, negatives, alpha, beta)
        whole = printed * n * (beta - alpha) / (j_beta - j_alpha)
        errors.append(
            [
                abs(risk - (1 - area))
                for risk in (printed, whole, risk_with_end_terms(positives, negatives, alpha, beta))
            ]
        )
    printed, whole, exact = np.array(errors).T
    assert exact.max() < 1e-12
    assert printed.max() > 0.3
    assert printed.mean() > 2 * whole.mean() > 0


def test_e4_products_are_rounded():
    assert (math.floor(100 * 0.29), math.ceil(100 * 0.07)) == (28, 8)
    assert rank_range(100, (0.07, 0.29)) == (7, 29)
    floors = ceils = 0
    for n, k in itertools.product(range(1, 2001), range(1, 101)):
        below, above = n * k // 100, -(-n * k // 100)
        floors += math.floor(n * (k / 100)) != below
        ceils += math.ceil(n * (k / 100)) != above
        assert rank_range(n, (k / 100, k / 100)) == (above, below)
    assert (floors, ceils) == (98, 290)


def test_e4_a_range_may_hold_no_position():
    assert rank_range(10, (0.11, 0.19)) == (2, 1)
    with pytest.raises(ValueError, match=r"j_beta = 1 does not exceed j_alpha = 2"):
        most_violated_cut([0.0], np.arange(10.0), (0.11, 0.19))
    # the end terms would count j_alpha - n alpha = .9 and n beta - j_beta = .9 of one negative, for .8
    np.testing.assert_allclose(2 - 10 * 0.11 + 10 * 0.19 - 1, 1 + 10 * 0.08)
    score = np.concatenate([[5.5], np.arange(10.0)[::-1]])
    assert partial_auc(np.repeat([1, 0], [1, 10]), score, (0.11, 0.19)) == 0  # a positive below the 4 best


def test_e5_a_constant_score_is_perfect_by_the_formula():
    positives, negatives = np.zeros(4), np.zeros(20)
    assert printed_risk(positives, negatives, 0.1, 0.3) == 0
    auc = (positives[:, None] > negatives).mean()
    assert auc == 0  # EQ:auc charges ties in full, EQ:pauc not at all
    y, score = np.repeat([1, 0], [4, 20]), np.zeros(24)
    assert partial_auc(y, score, (0.1, 0.3)) == pytest.approx(0.2)
    assert most_violated_cut(positives, negatives, (0.1, 0.3)).loss == 1  # negatives come first in the oracle


# -- E6, E7, E8: the dual --------------------------------------------------------------------------

# One positive at +1, negatives at +1 and -1, both positions count. Rows of pi: (0,0), (1,0), (1,1).
LOSSES, FEATURES = np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.0, 1.0])


def test_e6_the_printed_dual_is_unbounded():
    direction = np.array([-1.0, 1.0, 0.0])
    assert direction.sum() == 0 and FEATURES @ direction == 0

    def objective(dual):
        return LOSSES @ dual - (FEATURES @ dual) ** 2 / 2

    values = [objective(step * direction) for step in (0, 10, 1000)]  # all have 0 <= sum <= nu
    np.testing.assert_allclose(values, [0, 5, 500])
    # With lambda >= 0 it is the primal's value: .625 at (0, .5, .5), where the master ends too.
    assert objective(np.array([0, 0.5, 0.5])) == 0.625
    grid = itertools.product(np.linspace(0, 1, 41), repeat=2)
    assert max(objective(np.array([0, a, b])) for a, b in grid if a + b <= 1) == 0.625
    master = solved([[1, 1, -1]], 1, 2, 1.0, (0, 2))
    assert master.objective == pytest.approx(0.625)
    assert master.weights == pytest.approx([0.5], abs=1e-4)


def test_e7_one_matrix_on_two_subsets_is_two_constraints():
    first = most_violated_cut([0.0], [2.0, -2.0], (0, 0.5))
    second = most_violated_cut([0.0], [-2.0, 2.0], (0, 0.5))
    assert first.loss == second.loss == 1
    assert first.signed_weights.tolist() == [1, -1, 0]
    assert second.signed_weights.tolist() == [1, 0, -1]


def fixed_learners(fpr_range=(0, 0.1), nu=10.0, n_estimators=10):
    X, y = load_toy(random_state=0)  # positives first
    model = PAUCEnsClassifier(fpr_range, learner=Stump(), n_estimators=n_estimators, nu=nu, anneal=False).fit(X, y)
    return np.array([learner.predict(X) for learner in model.learners_]), int(y.sum()), int((y == 0).sum())


def test_e8_more_than_j_beta_negatives_have_weight():
    outputs, m, n = fixed_learners()
    master = solved(outputs, m, n, 10.0, (0, 20), 1e-4)
    assert np.count_nonzero(master.signed_weights()[m:]) > 20


def test_e8_the_dropped_factor_changes_the_stopping_rule_only():
    """Divided by c or not, the same learner is best; below epsilon or not depends on the factor."""
    rng = np.random.RandomState(0)
    outputs = random_outputs(rng, 30, 20, 40)
    weights = solved(outputs[:3], 20, 40, 1.0, (0, 4)).signed_weights()
    edges, printed = outputs @ weights, outputs @ (weights * 20 * 4)
    assert edges.argmax() == printed.argmax()
    epsilon = 2 * edges.max()
    assert edges.max() < epsilon < printed.max()


# -- E9 to E12: what a round gains -----------------------------------------------------------------


@pytest.mark.parametrize(("nu", "objective"), [(0.1, 0.08), (1.0, 0.125)])
def test_e9_one_pair(nu, objective):
    """h(+) = 1, h(-) = -1, so A = 2. Proposition 2 promises A^2 = 4, its rescaled form nu^2 A^2 / 2."""
    outputs, edge_gap = [[1.0, -1.0]], 2.0
    master = solved(outputs, 1, 1, nu, (0, 1))
    assert master.objective == pytest.approx(objective)
    decrease = nu - master.objective
    assert decrease < edge_gap**2
    if nu == 1.0:
        assert decrease == pytest.approx(0.875)
        assert decrease < nu**2 * edge_gap**2 / 2
    assert master.weights[0] ** 2 / 2 <= decrease <= (nu * edge_gap) ** 2 / 2 + 1e-9


def test_e10_proposition_2_fails_and_its_repaired_form_holds():
    rng = np.random.RandomState(0)
    printed_fails = rescaled_fails = moved = 0
    for _ in range(200):
        m, n, nu = rng.randint(2, 8), rng.randint(4, 16), 10.0 ** rng.uniform(-1, 1)
        j_beta = rng.randint(1, n + 1)
        outputs = random_outputs(rng, 4, m, n)
        master = solved(outputs[:3], m, n, nu, (0, j_beta))
        before, gap = master.objective, master.objective - master.bound
        edge = float(master.signed_weights() @ outputs[3])
        master.append(Predictions(outputs[3], None))
        master.solve((0, j_beta), 1e-10)
        decrease = before - master.objective
        assert decrease <= edge**2 / 2 + gap + 1e-9
        assert decrease >= master.weights[-1] ** 2 / 2 - 1e-6 * nu
        scores = master.weights @ outputs
        cut = most_violated_cut(scores[:m], scores[m:], (0, j_beta / n))
        promise = float(cut.signed_weights @ outputs[3])
        printed_fails += decrease < promise**2 - 1e-6
        rescaled_fails += decrease < nu**2 * promise**2 / 2 - 1e-6
        moved += decrease > 1e-3 * nu
    assert moved > 100
    assert printed_fails > 50
    assert rescaled_fails > 50


def test_e11_the_printed_maximiser_picks_the_wrong_subset():
    positives, negatives = np.array([1.0]), np.array([0.5, -0.5])
    _, zeta, value = slow_violation(positives, negatives, 0, 1, "tight", printed=True)
    assert zeta == (1,) and value == 0  # the worse negative, no violation
    best, zeta, _ = slow_violation(positives, negatives, 0, 1, "tight")
    assert zeta == (0,) and best == 0.5
    assert violation(positives, negatives, (0, 0.5)) == 0.5


def test_e12_the_largest_edge_is_not_always_the_best_learner():
    rng = np.random.RandomState(0)
    others = 0
    for _ in range(60):
        outputs = random_outputs(rng, 8, 6, 12)
        master = solved(outputs[:2], 6, 12, 3.0, (0, 4))
        edges = outputs[2:] @ master.signed_weights()
        objectives = [solved([*outputs[:2], h], 6, 12, 3.0, (0, 4)).objective for h in outputs[2:]]
        others += min(objectives) < objectives[int(edges.argmax())] - 1e-3
    assert 0 < others < 60


def test_e12_a_greedy_tree_does_not_maximise_the_edge():
    """The exclusive or of two columns, and a third that is right for 3 of 5 rows: the greedy root takes it."""
    rows = np.array(list(itertools.product([0.0, 1.0], repeat=2)))
    X = np.column_stack([np.repeat(rows, 5, axis=0), np.zeros(20)])
    sign = np.where(X[:, 0] != X[:, 1], 1.0, -1.0)
    X[:, 2] = np.where(np.arange(20) % 5 < 3, sign > 0, sign < 0)
    greedy = Tree(depth=2).fit(X, sign / 20).predict(X) @ sign / 20
    below, above = np.where(X[:, 1] == 1, 1, -1), np.where(X[:, 1] == 1, -1, 1)
    by_hand = np.where(X[:, 0] == 0, below, above) @ sign / 20  # a split on column 0, then one on column 1 on each side
    assert by_hand == 1
    assert greedy == pytest.approx(0.2)


# -- E13, E14, E16: tolerances and nu --------------------------------------------------------------


def test_e13_an_absolute_epsilon_stops_at_once():
    """No edge exceeds the sum of the weights, 2 nu: at nu = 1e-5 every learner is below 1e-4."""
    X = load_toy(random_state=0)[0]
    nu, epsilon = 1e-5, 1e-4
    weights = new_master(200, 200, nu, 1).signed_weights()
    assert np.abs(weights).sum() == pytest.approx(2 * nu)
    assert abs(weights @ Stump().fit(X, weights).predict(X)) < epsilon
    # Algorithm 2 starts from an arbitrary subset, and its own test accepts the solution for that cut.
    outputs, m, n = fixed_learners((0, 0.2))
    exact = solved(outputs, m, n, nu, (0, 40), 1e-7 * nu).weights / nu
    for subset in (slice(m, m + 40), slice(m + n - 40, m + n)):
        signed_weights = np.zeros(m + n)
        signed_weights[:m], signed_weights[subset] = 1 / m, -1 / 40
        features = outputs @ signed_weights
        weights, xi = nu * features, 1 - nu * features @ features
        scores = weights @ outputs
        assert violation(scores[:m], scores[m:], (0, 0.2)) <= xi + epsilon
        assert np.abs(features - exact).max() > 0.1


def test_e13_our_default_tolerances_are_too_coarse_for_tiny_nu_as_well():
    """F lies in nu (1 - 8 nu t .. 1]: the gain of a round is at most 2 nu^2, below 1e-4 nu where nu < 5e-5."""
    X, y = load_toy(random_state=0)
    common = {"learner": Stump(), "n_estimators": 10, "anneal": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        tiny = PAUCEnsClassifier((0, 0.2), nu=1e-5, **common).fit(X, y)
    assert (tiny.stop_reason_, tiny.n_iter_) == ("edge", 1)
    fine = PAUCEnsClassifier((0, 0.2), nu=1e-5, edge_tolerance=1e-9, cut_tolerance=1e-9, **common).fit(X, y)
    assert fine.n_iter_ == 10


def test_e14_the_grid_of_the_paper_is_inert():
    """Below nu = 1 / (4 t) no pair reaches the margin, and the solution is nu times one vector."""
    outputs, m, n = fixed_learners((0, 0.2))
    t, directions = len(outputs), []
    assert t == 10
    for nu in (1e-4, 5e-4, 1e-3, 0.02):
        assert nu < 1 / (4 * t)
        master = solved(outputs, m, n, nu, (0, 40), 1e-7 * nu)
        scores = master.weights @ outputs
        assert np.ptp(scores) <= 4 * nu * t
        assert scores[:m].max() - scores[m:].min() < 1
        directions.append(master.weights / nu)
    for direction in directions[1:]:
        np.testing.assert_allclose(direction, directions[0], atol=1e-3)
    wide = solved(outputs, m, n, 10.0, (0, 40), 1e-6)
    assert np.abs(wide.weights / 10.0 - directions[0]).max() > 0.1
    y = np.repeat([1, 0], [m, n])
    assert partial_auc(y, wide.weights @ outputs, (0, 0.2)) > partial_auc(y, directions[0] @ outputs, (0, 0.2))


def test_e16_more_cuts_for_larger_nu():
    outputs, m, n = fixed_learners(nu=100.0)
    counts = []
    for nu in (0.1, 1.0, 100.0):
        master = new_master(m, n, nu, len(outputs))
        for h in outputs:
            master.append(Predictions(h, None))
        counts.append(master.solve((0, 20), 1e-3))
    assert counts[0] < counts[1] < counts[2]


# -- what the paper says and what holds ------------------------------------------------------------


def test_initial_weights_are_the_first_cut():
    """At w = 0 all negatives tie: the average cut has 1/m on positives and -1/n on negatives."""
    cut = most_violated_cut(np.zeros(5), np.zeros(20), (0, 0.2))
    np.testing.assert_allclose(cut.signed_weights, np.repeat([1 / 5, -1 / 20], [5, 20]))
    weights = new_master(5, 20, 0.5, 1).signed_weights()
    np.testing.assert_allclose(weights, 0.5 * cut.signed_weights)  # .5/m and .5/n


@pytest.mark.parametrize("formulation", ["tight", "struct"])
@pytest.mark.parametrize("fpr_range", [(0, 0.1), (0.1, 0.3)], ids=str)
def test_positive_and_negative_weights_have_one_sum(fpr_range, formulation):
    outputs, m, n = fixed_learners()
    ranks = rank_range(n, fpr_range)
    master = new_master(m, n, 10.0, len(outputs), formulation)
    for h in outputs:
        master.append(Predictions(h, None))
        master.solve(ranks, 1e-3)
        weights = master.signed_weights()
        assert (weights[:m] >= 0).all() and (weights[m:] <= 0).all()
        assert weights[:m].sum() == pytest.approx(-weights[m:].sum())
        assert weights[:m].sum() > 0


def test_proposition_1_objective_never_rises_and_weights_are_edges():
    """With exact masters; also the KKT expansion w_t = s . h_t under the dual (EQ:KKT)."""
    outputs, m, n = fixed_learners()
    master = new_master(m, n, 10.0, len(outputs))
    objectives = []
    for h in outputs:
        master.append(Predictions(h, None))
        master.solve((0, 20), 1e-9)
        objectives.append(master.objective)
    assert (np.diff(objectives) <= 0).all() and objectives[-1] < objectives[0]
    np.testing.assert_allclose(outputs @ master.signed_weights(), master.weights, atol=1e-3)


@pytest.mark.parametrize("fpr_range", [(0, 0.25), (0.25, 0.5), (0.5, 1), (0, 1)], ids=str)
def test_tight_is_below_struct_and_both_above_the_risk(fpr_range):
    rng = np.random.RandomState(0)
    strictly = 0
    for case in range(300):
        positives, negatives = rng.normal(0.5, size=4), rng.normal(size=8)
        if case % 2:
            positives, negatives = np.round(positives), np.round(negatives)
        tight, struct = (violation(positives, negatives, fpr_range, form) for form in ("tight", "struct"))
        j_alpha, j_beta = rank_range(8, fpr_range)
        risk = (positives[:, None] <= np.sort(negatives)[::-1][j_alpha:j_beta]).mean()
        assert risk - 1e-12 <= tight <= struct + 1e-12
        strictly += tight < struct - 1e-9
    assert strictly > 0 or fpr_range[1] == 1
