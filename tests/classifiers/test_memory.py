"""Memory beyond X while fitting and while scoring stage by stage."""

import tracemalloc

import numpy as np
import pytest

from paucens import AdaBoostClassifier, AdaBoostLDAClassifier, Linear, PAUCEnsClassifier, Stump, Tree
from paucens.datasets import load_toy


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fit_needs_little_more_than_bins(dtype):
    n, d, rounds = 20_000, 2000, 12
    rng = np.random.RandomState(0)
    X = rng.randint(0, 256, size=(n, d)).astype(dtype)
    y = X[:, :10].sum(axis=1) + rng.normal(0, 300, n) > 1275
    model = PAUCEnsClassifier((0, 0.1), learner=Tree(depth=3), n_estimators=rounds, nu=1.0, anneal=False)
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    bins, outputs, scores = n * d, n * -(-rounds // 8), 8 * n
    assert peak <= 1.3 * (bins + outputs + scores) + 8_000_000


@pytest.mark.parametrize(
    ("model", "bytes_per_prediction"),
    [
        (PAUCEnsClassifier((0, 0.5), n_estimators=60, nu=1.0), 1),
        (PAUCEnsClassifier((0, 0.5), learner=Linear(), n_estimators=60, nu=1e-3, anneal=True), 1),
        (AdaBoostLDAClassifier(learner=Stump(), n_estimators=60), 1),
        (AdaBoostClassifier(learner=Stump(), n_estimators=60), 0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_stages_hold_a_byte_per_prediction_or_nothing(model, bytes_per_prediction):
    model.fit(*load_toy(random_state=0))
    X = load_toy(20_000, 20_000, random_state=1)[0]
    n, last = len(X), None
    tracemalloc.start()
    for scores in model.staged_decision_function(X):
        last = scores
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(last, model.decision_function(X))
    assert model.n_iter_ > 20
    assert peak <= bytes_per_prediction * n * model.n_iter_ + 6 * 8 * n + 100_000


def test_a_learner_predicts_when_its_round_comes():
    model = PAUCEnsClassifier((0, 0.5), learner=Stump(), n_estimators=20).fit(*load_toy(random_state=0))
    calls, predict = [], Stump.predictions
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stump, "predictions", lambda *args: calls.append(1) or predict(*args))
        next(iter(model.staged_decision_function(np.zeros((3, 2)))))
    assert len(calls) == 1
