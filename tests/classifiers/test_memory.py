"""Memory beyond X while fitting."""

import tracemalloc

import numpy as np
import pytest

from paucens import PAUCEnsClassifier, Tree


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
