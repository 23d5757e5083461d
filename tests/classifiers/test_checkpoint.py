"""Fits on binned features, uninterrupted and resumed: the same ensemble, bit for bit."""

import numpy as np
import pytest
from sklearn.base import clone

from paucens import AdaBoostClassifier, AdaBoostLDAClassifier, PAUCBoostClassifier, PAUCEnsClassifier, Stump, Tree
from paucens.base import fit_binned
from paucens.base.checkpoint import EVERY, Checkpoint
from paucens.datasets import load_digits_parity, load_toy
from paucens.learners.binning import bin_features
from paucens.parallel import Threads

SAMPLED = Tree(depth=3, column_fraction=1 / 8, column_sampling="node")
ENSEMBLES = [
    AdaBoostClassifier(learner=SAMPLED, n_estimators=200, shrinkage=0.1, random_state=3),
    AdaBoostLDAClassifier(n_estimators=150, random_state=3),
    PAUCEnsClassifier((0, 0.1), n_estimators=200, random_state=3),
    PAUCEnsClassifier((0, 0.1), learner=SAMPLED, n_estimators=150, random_state=3),
    PAUCEnsClassifier((0, 0.1), n_estimators=200, nu=1.0, anneal=False, random_state=3),
    PAUCEnsClassifier((0, 0.3), n_estimators=150, formulation="struct", random_state=3),
]


class CutShort(Checkpoint):
    """A checkpoint that interrupts the fit after some learners."""

    def __init__(self, path, after):
        super().__init__(path)
        self._after = after

    def keep(self, learners, state):
        super().keep(learners, state)
        if len(learners) >= self._after:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits_parity()
    order = np.argsort(1 - y, kind="stable")  # positives first
    return X[order], y[order]


@pytest.fixture(scope="module")
def binned(digits):
    return bin_features(digits[0], 256, Threads(1))


@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=lambda model: type(model).__name__)
def test_a_resumed_fit_equals_an_uninterrupted_one(ensemble, digits, binned, tmp_path):
    X, y = digits
    whole = clone(ensemble).fit(X, y)
    assert len(whole.learners_) > 2 * EVERY  # so that the second resumed fit starts at another checkpoint
    for after in (EVERY + 5, 2 * EVERY + 7):
        with pytest.raises(KeyboardInterrupt):
            fit_binned(clone(ensemble), binned, int(y.sum()), CutShort(tmp_path / "fit.npz", after))
    resumed = fit_binned(clone(ensemble), binned, int(y.sum()), Checkpoint(tmp_path / "fit.npz"))
    for one, other in zip(whole.staged_decision_function(X), resumed.staged_decision_function(X), strict=True):
        np.testing.assert_array_equal(one, other)
    for name in type(ensemble)._fitted_attributes:
        np.testing.assert_array_equal(getattr(whole, name), getattr(resumed, name))
        assert np.asarray(getattr(whole, name)).dtype == np.asarray(getattr(resumed, name)).dtype


@pytest.mark.parametrize("kind", [AdaBoostClassifier, PAUCBoostClassifier, PAUCEnsClassifier])
def test_a_fit_resumes_at_any_checkpoint(kind, monkeypatch, tmp_path):
    monkeypatch.setattr("paucens.base.checkpoint.EVERY", 4)
    for name in ("LEAST", "SPARE"):  # few negatives are kept, so that a screen is restored
        monkeypatch.setattr(f"paucens.cutting_plane.screening.{name}", 1)
    X, y = load_toy(random_state=0)
    X, y = X[np.argsort(1 - y, kind="stable")], -np.sort(-y)
    binned, model = bin_features(X, 256, Threads(1)), kind(learner=Tree(depth=2, leaves="real"), n_estimators=14)
    whole = clone(model).fit(X, y)
    for after in (5, 11):
        with pytest.raises(KeyboardInterrupt):
            fit_binned(clone(model), binned, int(y.sum()), CutShort(tmp_path / "fit.npz", after))
    resumed = fit_binned(clone(model), binned, int(y.sum()), Checkpoint(tmp_path / "fit.npz"))
    assert len(resumed.learners_) == 14
    for name in ("weights_", "_stage_thresholds", *kind._fitted_attributes):
        np.testing.assert_array_equal(getattr(whole, name), getattr(resumed, name))


def test_nothing_is_written_before_the_first_interval_is_over(digits, binned, tmp_path):
    model = AdaBoostClassifier(learner=Stump(), n_estimators=EVERY - 1)
    fit_binned(model, binned, int(digits[1].sum()), Checkpoint(tmp_path / "fit.npz"))
    assert not (tmp_path / "fit.npz").exists()


def test_without_a_checkpoint_it_equals_fit(digits, binned):
    X, y = digits
    for model in (AdaBoostClassifier(n_estimators=5), PAUCBoostClassifier(n_estimators=5)):
        scores = clone(model).fit(X, y).decision_function(X)
        np.testing.assert_array_equal(fit_binned(clone(model), binned, int(y.sum())).decision_function(X), scores)


def test_only_trees_take_bins(binned):
    class Foreign:
        fit = predict = None

    with pytest.raises(TypeError, match=r"Only trees take binned features.*Tree\(depth=3\)"):
        fit_binned(AdaBoostClassifier(learner=Foreign()), binned, 5)
