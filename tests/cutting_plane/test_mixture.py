"""A mixture of ranges: its risk is the mean of theirs, its minimum that of an independent solver."""

import numpy as np
import pytest
from scipy.optimize import minimize

from paucens import PAUCEnsClassifier, Stump, Tree
from paucens.cutting_plane import Master, wider_ranges
from paucens.cutting_plane.cut import find_cut
from paucens.datasets import load_toy
from paucens.learners import Predictions

M, N, T, NU = 20, 60, 5, 2.0
WIDER = [(0.5, (0, 60)), (0.2, (0, 20))]
WANTED = (0, 6)
RANGES = [(0, 60), (0, 20), WANTED]
SHARES = [0.5, 0.2, 0.3]


def draw(seed):
    rng = np.random.default_rng(seed)
    H = np.sign(rng.normal(size=(T, M + N)) + 0.6 * np.repeat([1, 0], [M, N]))
    return H, [Predictions(np.array([-1.0, 1.0]), (row > 0).astype(np.int32)) for row in H]


def objective(weights, H, formulation):
    """Compute the objective from the cut of each range."""
    scores, risk = weights @ H, 0.0
    for share, one in zip(SHARES, RANGES, strict=True):
        signed, loss = find_cut(scores[:M], scores[M:], one, formulation)[0]
        risk += share * (loss - signed @ scores)
    return weights @ weights / 2 + NU * max(0.0, risk)


def solved(H, predictions, formulation, kind="sign"):
    master = Master(M, N, NU, formulation, kind, T, WIDER)
    for each in predictions:
        master.append(each)
        master.solve(WANTED, 1e-6)
    return master


@pytest.mark.parametrize("formulation", ["tight", "struct"])
@pytest.mark.parametrize("seed", range(3))
def test_the_minimum_is_that_of_a_general_solver(seed, formulation):
    H, predictions = draw(seed)
    master = solved(H, predictions, formulation)
    assert master.objective == pytest.approx(objective(master.weights, H, formulation), rel=1e-12)
    starts = [np.zeros(T), master.weights, np.ones(T) / T]
    best = min(
        minimize(
            objective, start, (H, formulation), method="Nelder-Mead", options={"maxiter": 20_000, "xatol": 1e-7}
        ).fun
        for start in starts
    )
    assert master.bound - 1e-9 <= best
    assert master.objective <= best * (1 + 1e-5)


def test_the_signed_weights_are_the_gradient_of_the_dual():
    H, predictions = draw(0)
    master = solved(H, predictions, "tight")
    np.testing.assert_allclose(H @ master.signed_weights(), master.weights, atol=1e-3)


def test_widening_keeps_the_cuts():
    H, predictions = draw(1)
    master = solved(H, predictions, "tight")
    master.weights = np.zeros(T)
    k = len(master.cuts)
    assert master.widen() and len(master.cuts) == k
    np.testing.assert_allclose(master.shares, [0.75, 0.1, 0.15])
    signed = np.array([[part.signed_weights for part in cut] for cut in master.cuts])
    signed = np.einsum("r,kri->ki", master.shares, signed)
    np.testing.assert_allclose(master._features[:k, :T], signed @ H.T, atol=1e-12)
    np.testing.assert_allclose(master._gram[:k, :k], signed @ H.T @ H @ signed.T, atol=1e-12)
    while master.widen():
        pass
    assert master.shares.tolist() == [1, 0, 0]


def test_one_share_is_no_mixture():
    _, predictions = draw(2)
    plain, mixed = Master(M, N, NU, "tight", "sign", T), Master(M, N, NU, "tight", "sign", T, [(0.0, (0, 60))])
    for master in (plain, mixed):
        for each in predictions:
            master.append(each)
            master.solve(WANTED, 1e-4)
    np.testing.assert_array_equal(plain.weights, mixed.weights)


@pytest.mark.parametrize(
    ("mixture", "expected"),
    [
        (None, []),
        ("auto", [(1 / 3, (0, 1000)), (1 / 3, (0, 100))]),
        ([(0.01, 1)], [(0, (0, 1000))]),
        ([(0.01, 0.6), (0.5, 0.4)], [(0, (0, 1000)), (0.4, (0, 500))]),
    ],
)
def test_ranges_of_a_mixture(mixture, expected):
    found = wider_ranges(1000, (0, 0.01), mixture)
    assert [one for _, one in found] == [one for _, one in expected]
    assert [share for share, _ in found] == pytest.approx([share for share, _ in expected])


def test_decades_go_down_to_the_wanted_range():
    assert [one for _, one in wider_ranges(1000, (0, 0.05), "auto")] == [(0, 1000), (0, 100)]
    assert [one for _, one in wider_ranges(1000, (0, 0.1), "auto")] == [(0, 1000)]
    assert wider_ranges(1000, (0, 1), "auto") == []


@pytest.mark.parametrize(
    ("mixture", "message"),
    [
        ("some", "mixture must be None, 'auto' or pairs"),
        (0.5, "mixture must be None, 'auto' or pairs"),
        ([(1, 0.5), (0.1, -0.5)], "mixture must be None, 'auto' or pairs"),
        ([(1, 0.5), (2, 0.5)], "mixture must be None, 'auto' or pairs"),
        ([(1, 0.5, 1)], "mixture must be None, 'auto' or pairs"),
        ([(1, 0.5), (0.1, 0.4)], "shares of sum 1"),
        ([(0.1, 0.5), (0.1, 0.5)], "distinct betas"),
        ([(1, 0.5), (0.2, 0.5)], r"Add \(0.1, its share\)"),
    ],
)
def test_bad_mixtures(mixture, message):
    with pytest.raises(ValueError, match=message):
        PAUCEnsClassifier((0, 0.1), mixture=mixture).fit(*load_toy(30, 40, random_state=0))


def test_a_mixture_needs_a_range_from_0_on_and_no_annealing():
    data = load_toy(30, 40, random_state=0)
    with pytest.raises(ValueError, match="ranges that start at 0"):
        PAUCEnsClassifier((0.1, 0.2), mixture=[(0.2, 1)]).fit(*data)
    with pytest.raises(ValueError, match=r"anneal=True .* no mixture"):
        PAUCEnsClassifier((0, 0.1), mixture="auto", anneal=True).fit(*data)


@pytest.mark.parametrize("n_estimators", [1, 2])
def test_few_trees_of_a_narrow_range_are_no_constant(n_estimators):
    """Alone, the range [0, 0.01] has w = 0 as its minimum here."""
    X, y = load_toy(300, 3000, random_state=0)
    options = {"learner": Stump(), "n_estimators": n_estimators, "nu": 1.0}
    with pytest.warns(UserWarning, match="All weights are 0"):
        PAUCEnsClassifier((0, 0.01), anneal=False, **options).fit(X, y)
    for mixture in ("auto", [(0.01, 0.98), (1, 0.02)]):
        model = PAUCEnsClassifier((0, 0.01), mixture=mixture, **options).fit(X, y)
        assert model.weights_.any() and len(np.unique(model.decision_function(X))) > 1


def test_a_file_keeps_the_mixture(tmp_path):
    X, y = load_toy(60, 90, random_state=0)
    mixture = [(1, 0.25), (0.2, 0.75)]
    model = PAUCEnsClassifier((0, 0.2), learner=Tree(depth=2), n_estimators=4, nu=1.0, mixture=mixture).fit(X, y)
    model.save(tmp_path / "model.npz")
    loaded = PAUCEnsClassifier.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert [tuple(pair) for pair in loaded.mixture] == mixture
    assert (np.diff(model.objective_) <= 0).all() and (model.gap_ <= 0.01 * model.objective_).all()
