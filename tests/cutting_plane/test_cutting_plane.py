"""The master against the full problem with all cuts, its working set, its screening and its stores."""

import numpy as np
import pytest
from reference_orderings import brute_force, every_cut, full_solution

from paucens.cutting_plane import Master, cut, master, screening
from paucens.cutting_plane.stores import make_store, project
from paucens.learners import Predictions

KINDS = ["sign", "few", "value", "dense"]
FORMULATIONS = ["tight", "struct"]


def draw_predictions(rng, kind, n_positives, n_negatives, n_learners, separation=1.0):
    """Draw predictions, as a trainer returns them, of learners that separate the classes a little."""
    n = n_positives + n_negatives
    found = []
    for _ in range(n_learners):
        raw = rng.normal(size=n) + separation * (np.arange(n) < n_positives)
        if kind == "dense":
            found.append(Predictions(np.tanh(raw), None))
        else:
            values = np.array([-1.0, -1.0, 1.0, 1.0]) if kind == "sign" else np.array([-0.75, 0.1, 0.3, 1.0])
            found.append(Predictions(values, np.digitize(raw, [-0.5, 0.2, 0.9]).astype(np.int32)))
    return found


def stacked(predictions):
    return np.array([each.dense for each in predictions])


def permuted(predictions, order):
    return [
        Predictions(o.values[order], None) if o.index is None else Predictions(o.values, o.index[order])
        for o in predictions
    ]


def solved(predictions, m, n, nu, rank_range, tolerance, *, store="dense", formulation="tight", at_once=False):
    """Return a master that was solved after each of its learners, or only after the last one."""
    found = Master(m, n, nu, formulation, store, len(predictions))
    for t, each in enumerate(predictions):
        found.append(each)
        if not at_once or t == len(predictions) - 1:
            found.solve(rank_range, tolerance)
    return found


def risk(scores, m, rank_range, formulation="tight"):
    """Return the surrogate risk: the value of the most violated cut."""
    found, _ = cut.find_cut(scores[:m].copy(), scores[m:].copy(), rank_range, formulation)
    return found.loss - found.signed_weights @ scores


def primal(weights, predictions, m, nu, rank_range, formulation="tight"):
    return weights @ weights / 2 + nu * max(0.0, risk(weights @ stacked(predictions), m, rank_range, formulation))


@pytest.fixture(autouse=True)
def bounded_renewals(monkeypatch):
    """Fail, rather than hang, if an oracle renews its samples again and again."""
    renew, at = screening.ScreenedScores.renew, []

    def bounded(self, weights, j_beta):
        at[:] = [*(w for w in at if np.array_equal(w, weights)), weights.copy()]
        assert len(at) < 10, "the screen is renewed again and again at the same weights"
        renew(self, weights, j_beta)

    monkeypatch.setattr(screening.ScreenedScores, "renew", bounded)


# -- the full problem ------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rank_range", [(0, 1), (0, 3), (1, 2), (1, 4), (2, 4)])
def test_objective_and_bound_enclose_the_optimum_of_the_full_problem(kind, formulation, rank_range):
    rng = np.random.RandomState(sum(rank_range))
    n_moved = 0
    for nu in (0.3, 3.0, 30.0):
        predictions = draw_predictions(rng, kind, 3, 4, 4, separation=1.5)
        features, losses = every_cut(stacked(predictions), 3, *rank_range, formulation)
        weights, optimum = full_solution(features, losses, nu)
        assert primal(weights, predictions, 3, nu, rank_range, formulation) == pytest.approx(optimum, abs=1e-9)
        for tolerance in (1e-1, 1e-2, 1e-5):
            found = solved(predictions, 3, 4, nu, rank_range, tolerance, store=kind, formulation=formulation)
            assert found.bound <= optimum + 1e-6 * nu
            assert found.objective >= optimum - 1e-6 * nu
            assert found.objective - found.bound <= tolerance * found.objective
            assert found.objective == pytest.approx(primal(found.weights, predictions, 3, nu, rank_range, formulation))
        np.testing.assert_allclose(found.weights, weights, atol=3 * np.sqrt(2e-5 * nu))
        n_moved += optimum < 0.99 * nu
    assert n_moved > 0


def test_cuts_of_the_working_set_never_exceed_the_surrogate():
    rng = np.random.RandomState(0)
    for rank_range in ((0, 2), (1, 3)):
        predictions = draw_predictions(rng, "dense", 3, 4, 3, separation=1.0)
        found = solved(predictions, 3, 4, 5.0, rank_range, 1e-4)
        assert len(found.cuts) > 3
        for _ in range(20):
            scores = rng.normal(size=3) @ stacked(predictions)
            highest = brute_force(scores[:3], scores[3:], *rank_range, "tight")
            assert all(each.loss - each.signed_weights @ scores <= highest + 1e-12 for (each,) in found.cuts)


def test_a_perfect_learner_has_a_known_solution():
    """F(w) = w^2 / 2 + nu (1 - 2 w)_+ is least at min(1 / 2, 2 nu)."""
    index = np.repeat([0, 1], [5, 7]).astype(np.int32)
    for nu in (0.01, 0.1, 1.0):
        found = solved([Predictions(np.array([1.0, -1.0]), index)], 5, 7, nu, (0, 3), 1e-8, store="sign")
        weight = min(0.5, 2 * nu)
        assert found.weights[0] == pytest.approx(weight, abs=1e-3)
        assert found.objective == pytest.approx(weight**2 / 2 + nu * (1 - 2 * weight), rel=1e-7)


def test_learners_that_do_not_help_get_no_weight():
    rng = np.random.RandomState(0)
    predictions = draw_predictions(rng, "sign", 30, 40, 3, separation=-2.0)
    found = solved([Predictions(np.ones(4), o.index) for o in predictions] + predictions, 30, 40, 2.0, (0, 1), 1e-2)
    if found.weights.any():  # with negative weights the learners may help; then the objective is lower
        assert found.objective < 2.0
    constant = solved([Predictions(np.ones(4), predictions[0].index)], 30, 40, 2.0, (0, 4), 1e-2)
    assert not constant.weights.any()
    assert constant.objective == 2.0
    assert constant.bound >= 2.0 * 0.99


# -- invariance ------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("rank_range", [(0, 6), (5, 20)])
def test_stores_give_the_same_objective(rank_range, formulation):
    predictions = draw_predictions(np.random.RandomState(1), "sign", 30, 60, 11)
    tolerance = 1e-4
    masters = [solved(predictions, 30, 60, 2.0, rank_range, tolerance, store=s, formulation=formulation) for s in KINDS]
    for found in masters:
        assert found.objective < 1.9
        assert found.objective == pytest.approx(masters[0].objective, rel=tolerance)
        assert found.objective == pytest.approx(primal(found.weights, predictions, 30, 2.0, rank_range, formulation))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_the_order_of_rows_changes_nothing_beyond_the_tolerance(kind, formulation):
    rng = np.random.RandomState(2)
    predictions, tolerance = draw_predictions(rng, kind, 25, 50, 6), 1e-4
    order = np.concatenate([rng.permutation(25), 25 + rng.permutation(50)])
    for rank_range in ((0, 5), (3, 9)):
        a = solved(predictions, 25, 50, 3.0, rank_range, tolerance, store=kind, formulation=formulation)
        b = solved(
            permuted(predictions, order), 25, 50, 3.0, rank_range, tolerance, store=kind, formulation=formulation
        )
        assert a.objective == pytest.approx(b.objective, rel=tolerance)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_warm_start_reaches_the_objective_of_a_cold_start(kind, formulation):
    predictions, rank_range, tolerance = draw_predictions(np.random.RandomState(3), kind, 30, 80, 9), (0, 8), 1e-4
    warm = Master(30, 80, 2.0, formulation, kind, 9)
    objectives, calls = [warm.objective], []
    for t in range(9):
        warm.append(predictions[t])
        calls.append(warm.solve(rank_range, tolerance))
        objectives.append(warm.objective)
        assert warm.weights.shape == (t + 1,)
        cold = solved(
            predictions[: t + 1], 30, 80, 2.0, rank_range, tolerance, store=kind, formulation=formulation, at_once=True
        )
        assert warm.objective == pytest.approx(cold.objective, rel=tolerance)
    assert objectives[0] == 2.0
    assert (np.diff(objectives) <= 0).all()
    fresh = Master(30, 80, 2.0, formulation, kind, 9)
    for each in predictions:
        fresh.append(each)
    assert calls[-1] < fresh.solve(rank_range, tolerance)


def test_solving_again_is_cheap_and_a_finer_tolerance_continues():
    predictions, rank_range = draw_predictions(np.random.RandomState(4), "dense", 30, 80, 5), (0, 8)
    found = solved(predictions, 30, 80, 2.0, rank_range, 1e-2)
    coarse = found.objective
    assert found.solve(rank_range, 1e-2) == 1
    assert found.solve(rank_range, 1e-6) > 1
    assert coarse * 0.99 <= found.objective <= coarse
    assert found.objective - found.bound <= 1e-6 * found.objective


@pytest.mark.parametrize("kind", KINDS)
def test_a_narrower_range_keeps_the_cuts_and_finds_its_own_optimum(kind):
    predictions, tolerance = draw_predictions(np.random.RandomState(5), kind, 20, 60, 6), 1e-4
    found, rank_range = Master(20, 60, 2.0, "tight", kind, 6), None
    for each, j_beta in zip(predictions, (60, 30, 30, 10, 4, 2), strict=True):
        new_range = (0, j_beta) != rank_range
        rank_range = 0, j_beta
        found.append(each)
        kept = len(found.cuts)
        found.solve(rank_range, tolerance, new_range=new_range and kept > 0)
        assert len(found.cuts) > kept
        so_far = predictions[: len(found.weights)]
        assert found.objective == pytest.approx(primal(found.weights, so_far, 20, 2.0, rank_range))
        assert found.objective - found.bound <= tolerance * found.objective
        alone = solved(so_far, 20, 60, 2.0, rank_range, tolerance, store=kind, at_once=True)
        assert found.objective == pytest.approx(alone.objective, rel=tolerance)
        assert found.bound <= alone.objective * (1 + 1e-9)
        assert alone.bound <= found.objective * (1 + 1e-9)


# -- the working set -------------------------------------------------------------------------------


def test_features_and_gram_follow_from_the_cuts():
    for kind in KINDS:
        predictions = draw_predictions(np.random.RandomState(6), kind, 20, 50, 10)
        found = solved(predictions, 20, 50, 3.0, (0, 5), 1e-4, store=kind)
        k, S = len(found.cuts), np.array([each.signed_weights for (each,) in found.cuts])
        assert k > 32  # the working set had to grow
        features = S @ stacked(predictions).T
        np.testing.assert_allclose(found._features[:k], features, atol=1e-12)
        np.testing.assert_allclose(found._gram[:k, :k], features @ features.T, atol=1e-11)
        np.testing.assert_array_equal(found._losses[:k], [each.loss for (each,) in found.cuts])
        assert (found._dual[:k] >= 0).all()
        assert found._dual[:k].sum() <= 3.0 * (1 + 1e-9)
        np.testing.assert_allclose(found.signed_weights(), found._dual[:k] @ S, atol=1e-12)


def test_signed_weights_balance_and_give_the_edge():
    rng = np.random.RandomState(7)
    predictions = draw_predictions(rng, "value", 20, 50, 6)
    found = Master(20, 50, 3.0, "tight", "value", 6)
    start = found.signed_weights()
    np.testing.assert_allclose(start, np.repeat([3 / 20, -3 / 50], [20, 50]))
    for each in predictions:
        found.append(each)
        found.solve((0, 5), 1e-3)
        weights = found.signed_weights()
        assert (weights[:20] >= 0).all()
        assert (weights[20:] <= 0).all()
        assert weights[:20].sum() == pytest.approx(-weights[20:].sum(), rel=1e-12)
        assert 0 < weights[:20].sum() <= 3.0 * (1 + 1e-9)
    (new,) = draw_predictions(rng, "dense", 20, 50, 1)
    k = len(found.cuts)
    column = np.array([project(each, new.dense) for (each,) in found.cuts])
    assert column @ found._dual[:k] == pytest.approx(found.signed_weights() @ new.dense, abs=1e-12)


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_dropping_idle_cuts_does_not_change_the_optimum(monkeypatch, limit):
    predictions, rank_range, tolerance = draw_predictions(np.random.RandomState(8), "sign", 40, 100, 20), (0, 10), 1e-4
    monkeypatch.setattr(master, "IDLE_LIMIT", 10**9)
    kept = solved(predictions, 40, 100, 2.0, rank_range, tolerance, store="sign")
    monkeypatch.setattr(master, "IDLE_LIMIT", limit)
    dropped = solved(predictions, 40, 100, 2.0, rank_range, tolerance, store="sign")
    assert len(dropped.cuts) < 0.8 * len(kept.cuts)
    assert dropped.objective == pytest.approx(kept.objective, rel=tolerance)
    k, S = len(dropped.cuts), np.array([each.signed_weights for (each,) in dropped.cuts])
    np.testing.assert_allclose(dropped._features[:k], S @ stacked(predictions).T, atol=1e-12)
    np.testing.assert_allclose(dropped._gram[:k, :k], dropped._features[:k] @ dropped._features[:k].T, atol=1e-11)


def test_active_cuts_are_never_dropped(monkeypatch):
    monkeypatch.setattr(master, "IDLE_LIMIT", 0)
    predictions = draw_predictions(np.random.RandomState(9), "sign", 40, 100, 8)
    found = solved(predictions[:7], 40, 100, 2.0, (0, 10), 1e-4, store="sign")
    found = solved(predictions, 40, 100, 2.0, (0, 10), 1e-4, store="sign")
    before, weights = len(found.cuts), found.signed_weights()
    found._drop_idle()
    assert 0 < len(found.cuts) < before
    np.testing.assert_allclose(found.signed_weights(), weights, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_decrease_of_a_round_lies_between_its_two_bounds(kind, formulation):
    """Proposition 2, repaired (ERRATA.md, E10): w_tt^2 / 2 <= F_{t-1} - F_t <= e_t^2 / 2."""
    predictions = draw_predictions(np.random.RandomState(10), kind, 15, 40, 10, separation=0.8)
    tolerance, wide, over = 1e-6, 0, 0
    for nu in (0.2, 2.0):
        found = Master(15, 40, nu, formulation, kind, 10)
        objective, gap = found.objective, 0.0
        for t, each in enumerate(predictions):
            edge = found.signed_weights() @ each.dense
            found.append(each)
            found.solve((0, 6), tolerance)
            decrease = objective - found.objective
            if t > 0:  # the weights before the first cut are no dual solution
                assert decrease <= edge**2 / 2 + gap + 1e-12
                wide += decrease > 1e-3 * nu
                over += decrease < edge**2  # the paper's claim
            gap, objective = found.objective - found.bound, found.objective
            assert gap > -1e-12 * nu
            away = np.sqrt(2 * max(gap, 0.0))  # largest distance from the optimum, by convexity
            weight = max(0.0, abs(found.weights[t]) - away)
            assert weight**2 / 2 <= decrease + gap + 1e-12
    assert wide > 3
    assert over > 3


# -- the screen ------------------------------------------------------------------------------------


class Watched(Master):
    """A master that compares each of its cuts with the one found from all scores."""

    screened = 0

    def _find_cut(self, weights, rank_range):
        found = super()._find_cut(weights, rank_range)
        store, m = self.screen._all, self.n_positives
        scores = store.scores(weights)
        expected, lowest = cut.find_cut(scores[:m], scores[m:], rank_range, self.formulation)
        if self.screen._samples is not None:
            self.screened += 1
            outside = np.setdiff1d(np.arange(store.n_samples), self.screen._samples)
            assert scores[outside].max() < lowest
            np.testing.assert_array_equal(outside, self.screen._left_out)
            assert (scores[outside] <= self.screen._left_scores + self.screen._largest_rise(weights)).all()
        mine = self.screen.unscreened(found[0])
        assert mine.n_samples == expected.n_samples
        np.testing.assert_array_equal(mine.signed_weights, expected.signed_weights)
        assert mine.loss == expected.loss
        return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("rank_range", [(0, 4), (2, 6)])
def test_screening_changes_nothing(monkeypatch, kind, formulation, rank_range):
    predictions, m, n = draw_predictions(np.random.RandomState(23), kind, 40, 600, 12, separation=1.0), 40, 600
    if formulation == "struct":  # few negatives above the lowest positive, so that the others can be left out
        predictions = draw_predictions(np.random.RandomState(23), kind, 5, 600, 12, separation=2.0)
        m = 5
    found = {}
    for least in (1, 10**6):
        monkeypatch.setattr(screening, "LEAST", least)
        monkeypatch.setattr(screening, "SPARE", 2)
        found[least] = Watched(m, n, 1.0, formulation, kind, 12)
        for t, each in enumerate(predictions):
            found[least].append(each)
            found[least].solve(rank_range, 1e-3)
            positives, negatives = found[least].scores(rank_range[1])
            scores = found[least].weights @ stacked(predictions[: t + 1])
            np.testing.assert_allclose(positives, scores[:m], atol=1e-12)
            best = np.sort(scores[m:])[::-1][: rank_range[1] + 1]
            np.testing.assert_allclose(np.sort(negatives)[::-1][: rank_range[1] + 1], best, atol=1e-12)
    assert found[1].screened > 10
    assert found[10**6].screened == 0
    assert found[1].objective == pytest.approx(found[10**6].objective, rel=1e-9)
    np.testing.assert_allclose(found[1].weights, found[10**6].weights, atol=1e-9)


def test_the_screen_follows_a_narrowing_range(monkeypatch):
    monkeypatch.setattr(screening, "LEAST", 1)
    predictions = draw_predictions(np.random.RandomState(12), "value", 40, 600, 10, separation=1.0)
    found, rank_range = Watched(40, 600, 1.0, "tight", "value", 10), None
    for each, j_beta in zip(predictions, (600, 300, 100, 50, 50, 20, 8, 4, 2, 1), strict=True):
        found.append(each)
        found.solve((0, j_beta), 1e-3, new_range=rank_range is not None and rank_range != j_beta)
        rank_range = j_beta
    assert found.screened > 10


def test_scores_that_differ_by_rounding_only_do_not_trap_the_oracle():
    """Weights of 1e-17 mean 0 if the dual cancels, as is common at w = 0, the exact optimum of many rounds."""
    ranks = np.arange(8010)
    predictions = [Predictions(np.array([-1.0, 1.0]), (ranks < last).astype(np.int32)) for last in (210, 4000)]
    found = Master(10, 8000, 1.0, "tight", "sign", 2)
    for each in predictions:
        found.append(each)
    weights = np.array([3e-17, 2e-17])
    (violated,) = found._find_cut(weights, (0, 4))
    assert violated.loss == 1.0


def test_a_certificate_counts_every_change_of_the_weights():
    """No score that was left out reaches what is certified, and what no score reaches is certified in the end."""
    store = make_store("dense", 3, 2010)
    screen = screening.ScreenedScores(store, 10, "tight")
    rng = np.random.RandomState(0)
    for each in draw_predictions(rng, "dense", 10, 2000, 2):
        screen.append(each)
    assert screen.certifies(-1e9, np.ones(2))  # nothing is left out yet
    screen.renew(np.array([1.0, 2.0]), 1)
    outside = np.setdiff1d(np.arange(2010), screen._samples)

    def largest(weights):
        return store.scores(weights)[outside].max()

    for weights in ([1.0, 2.0], [0.9, 2.2], [1.0, 2.0, -0.6]):
        if len(weights) > 2:
            screen.append(draw_predictions(rng, "dense", 10, 2000, 1)[0])
        limit = largest(np.array(weights))
        assert not screen.certifies(limit, np.array(weights))
        assert not screen.certifies(limit - 0.1, np.array(weights))
        assert screen.certifies(limit + 2.0, np.array(weights))
    assert screen.certifies(np.nextafter(largest(np.array([1.0, 2.0, 0.0])), 9), np.array([1.0, 2.0, 0.0]))


@pytest.mark.parametrize("kind", KINDS)
def test_cached_scores_are_current(kind):
    """Whatever happened since the last call with the same weights, the bits are those of a new screen."""
    rng = np.random.RandomState(0)
    predictions = draw_predictions(rng, kind, 10, 4000, 8)
    screen = screening.ScreenedScores(make_store(kind, 8, 4010), 10, "tight")
    for t in range(1, 9):
        screen.append(predictions[t - 1])
        weights = rng.randint(0, 4, size=t) / 8
        for at, j_beta in ((weights, 40), (weights, 40), (weights / 2, 900), (weights, 40)):
            if t % 3 == 0:
                screen.renew(at, j_beta)
            store = make_store(kind, 8, 4010)
            for each in predictions[:t]:
                store.append(each)
            scores = store.scores(at)
            found = np.concatenate(screen.scores(at, j_beta))
            kept = np.arange(4010) if screen._samples is None else screen._samples
            np.testing.assert_array_equal(found, scores[kept])


# -- the stores ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_learners", [1, 8, 9, 37])
def test_stores_sum_the_predictions(kind, n_learners):
    rng = np.random.RandomState(n_learners)
    predictions = draw_predictions(rng, kind, 20, 31, n_learners)
    store, samples = make_store(kind, n_learners + 3, 51), np.sort(rng.permutation(51)[:17]).astype(np.int32)
    taken_at = n_learners // 2
    part = store.take(samples) if taken_at == 0 else None
    for t, each in enumerate(predictions):
        store.append(each)
        if part is not None:
            part.append_from(store, samples)
        if t + 1 == taken_at:
            part = store.take(samples)
    H, weights = stacked(predictions), rng.normal(size=n_learners)
    assert (store.n_learners, store.n_samples, part.n_samples) == (n_learners, 51, 17)
    scores = store.scores(weights)
    np.testing.assert_allclose(scores, weights @ H, atol=1e-13)
    np.testing.assert_array_equal(part.scores(weights), scores[samples])
    np.testing.assert_array_equal(store.scores_of(samples, weights), scores[samples])

    tied = np.round(scores)
    found, _ = cut.find_cut(tied[:20], tied[20:], (0, 5))
    np.testing.assert_allclose(store.project(found), H @ found.signed_weights, atol=1e-13)
    np.testing.assert_allclose([project(found, h) for h in H], H @ found.signed_weights, atol=1e-13)


def test_stores_are_as_small_as_promised():
    sizes = {kind: make_store(kind, 80, 1000).codes.nbytes for kind in ("sign", "few", "value")}
    assert sizes == {"sign": 10 * 1000, "few": 80 * 1000, "value": 80 * 1000}
    assert make_store("dense", 80, 1000).rows.nbytes == 8 * 80 * 1000


@pytest.mark.parametrize("kind", KINDS)
def test_unused_learners_change_no_bit_if_a_store_says_so(kind):
    """Scores that are known are not computed again while only learners of weight 0 are added."""
    rng, told = np.random.RandomState(3), 0
    predictions = draw_predictions(rng, kind, 60, 60, 40)
    store = make_store(kind, 40, 120)
    for t, each in enumerate(predictions):
        store.append(each)
        weights = rng.normal(size=t + 1)
        known = store.scores(weights)
        later = make_store(kind, 40, 120)
        for n, one in enumerate(predictions[: t + 4]):
            later.append(one)
            if n > t and store.adds_alike(t + 1, n + 1):
                told += 1
                np.testing.assert_array_equal(later.scores(np.append(weights, np.zeros(n - t))), known)
    assert told > 30


@pytest.mark.parametrize("n_values", [1, 2, 31, 32])
@pytest.mark.parametrize("n_learners", [1, 2, 3, 6, 70])
def test_pairs_give_the_bits_of_single_learners(n_values, n_learners):
    """Values that nobody predicts, as those of inner nodes, take no part of a code."""
    rng = np.random.RandomState(n_values)
    stores = [make_store(kind, n_learners, 500) for kind in ("few", "value")]
    for _ in range(n_learners):
        used = np.sort(rng.permutation(2 * n_values - 1)[:n_values])
        index = used[np.minimum(rng.geometric(0.2, 500) - 1, n_values - 1)].astype(np.int32)
        drawn = Predictions(rng.uniform(-1, 1, 2 * n_values - 1), index)
        for store in stores:
            store.append(drawn)
    weights, samples = rng.exponential(size=n_learners), np.sort(rng.permutation(500)[:200]).astype(np.int32)
    few, single = (store.scores(weights) for store in stores)
    np.testing.assert_array_equal(few, single)
    np.testing.assert_array_equal(stores[0].scores_of(samples, weights), single[samples])
    np.testing.assert_array_equal(stores[0].take(samples).scores(weights), single[samples])
    rounded = np.round(single, 1)
    for counts in (None, rng.randint(1, 4, 500).astype(float), rng.exponential(size=500)):
        of_classes = (None, None) if counts is None else (counts[:100], counts[100:])
        rank = 40 if counts is None else 0.1 * counts[100:].sum()
        found, _ = cut.find_cut(rounded[:100], rounded[100:], (0, rank), weights=of_classes)
        np.testing.assert_array_equal(*(store.project(found) for store in stores))


def test_scores_stay_the_same_while_a_store_fills():
    for kind in KINDS:
        predictions = draw_predictions(np.random.RandomState(13), kind, 10, 10, 12)
        store, before = make_store(kind, 12, 20), None
        for t, each in enumerate(predictions):
            store.append(each)
            weights = np.zeros(t + 1)
            weights[0] = 0.7
            scores = store.scores(weights)
            assert before is None or np.allclose(scores, before, atol=1e-14)
            before = scores
