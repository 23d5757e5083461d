"""Fits on binned features, uninterrupted and resumed: the same ensemble, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest
import sklearn
from sklearn.base import clone

from paucens import (
    AdaBoostClassifier,
    AdaBoostLDAClassifier,
    Linear,
    PAUCBoostClassifier,
    PAUCEnsClassifier,
    Stump,
    Tree,
    persistence,
)
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


@pytest.mark.parametrize("patience", [8, 30])
def test_a_fit_that_stops_early_resumes(patience, monkeypatch, tmp_path):
    monkeypatch.setattr("paucens.base.checkpoint.EVERY", 4)
    X = load_toy(300, 500, random_state=0)[0]  # positives are first
    binned = bin_features(X, 256, Threads(1))
    stopping = {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": patience}
    model = PAUCEnsClassifier((0, 0.2), n_estimators=40, random_state=3, **stopping)
    whole = fit_binned(clone(model), binned, 300)
    n_rounds = len(whole.validation_score_)
    assert n_rounds == min(whole.n_iter_ + patience, 40) > 9
    for after in (5, 9, n_rounds - 1):
        with pytest.raises(KeyboardInterrupt):
            fit_binned(clone(model), binned, 300, CutShort(tmp_path / "fit.npz", after))
    resumed = fit_binned(clone(model), binned, 300, Checkpoint(tmp_path / "fit.npz"))
    for name in ("weights_", "_stage_thresholds", "n_iter_", "validation_score_", *model._fitted_attributes):
        np.testing.assert_array_equal(getattr(whole, name), getattr(resumed, name))
    np.testing.assert_array_equal(whole.decision_function(X), resumed.decision_function(X))


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
    with pytest.raises(TypeError, match=r"Only trees take binned features.*Tree\(depth=3\)"):
        fit_binned(AdaBoostClassifier(learner=Linear()), binned, 5)


# -- what a checkpoint belongs to ------------------------------------------------------------------


@pytest.fixture
def toy():
    X, y = load_toy(random_state=0)
    return bin_features(X[np.argsort(1 - y, kind="stable")], 256, Threads(1)), int(y.sum())


@pytest.fixture
def cut_short(toy, monkeypatch, tmp_path):
    """Return a function that cuts a fit of a model short, and the file that it leaves."""
    monkeypatch.setattr("paucens.base.checkpoint.EVERY", 4)

    def cut(model):
        with pytest.raises(KeyboardInterrupt):
            fit_binned(model, *toy, CutShort(tmp_path / "fit.npz", 5))
        return tmp_path / "fit.npz"

    return cut


BOOSTER = AdaBoostClassifier(learner=Tree(depth=2), n_estimators=8, random_state=3)


@pytest.mark.parametrize(
    "changes",
    [
        {"n_jobs": 2},
        {"verbose": False},
        {"learner__max_bins": 20},
        {"learner__random_state": 5},
        {"shrinkage": np.float64(1)},
        {"random_state": np.int8(3), "n_estimators": np.int16(8)},
    ],
    ids=str,
)
def test_what_changes_no_result_does_not_matter(cut_short, toy, changes):
    path, whole = cut_short(clone(BOOSTER)), fit_binned(clone(BOOSTER), *toy)
    with sklearn.config_context(print_changed_only=False):
        resumed = fit_binned(clone(BOOSTER).set_params(**changes), *toy, Checkpoint(path))
    np.testing.assert_array_equal(resumed.weights_, whole.weights_)


def test_the_default_learner_is_the_one_it_stands_for(cut_short, toy):
    path = cut_short(AdaBoostClassifier(n_estimators=8))
    assert fit_binned(AdaBoostClassifier(learner=Tree(depth=3), n_estimators=8), *toy, Checkpoint(path)).n_iter_ == 8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shrinkage": 0.5}, r"its shrinkage is 1\.0, not 0\.5"),
        ({"learner": Tree(depth=3)}, r"its learner\.depth is 2, not 3"),
        ({"n_estimators": 9, "random_state": None}, "its n_estimators is 8, not 9; its random_state is 3, not None"),
    ],
    ids=str,
)
def test_other_parameters_are_named(cut_short, toy, changes, message):
    path = cut_short(clone(BOOSTER))
    with pytest.raises(ValueError, match=rf"fit\.npz holds another training: {message}\. Give another place"):
        fit_binned(clone(BOOSTER).set_params(**changes), *toy, Checkpoint(path))


def test_other_data_are_named(cut_short, toy):
    path, (binned, n_positives) = cut_short(clone(BOOSTER)), toy
    other = replace(binned, codes=binned.codes ^ 1)
    for data, message in (((other, n_positives), "its digest of the data"), ((binned, 7), "its n_positives is 200")):
        with pytest.raises(ValueError, match=f"holds another training: {message}"):
            fit_binned(clone(BOOSTER), *data, Checkpoint(path))
    stages = [(0, np.array([0], dtype=np.int32))]
    with pytest.raises(ValueError, match=r"holds another training: its stages is \[\], not \[\[0, "):
        fit_binned(clone(BOOSTER), *toy, Checkpoint(path), stages)


def rewrite(path, change):
    """Apply a change to the header and arrays of a checkpoint."""
    header, arrays = persistence.load(path, "Checkpoint")
    header = {key: value for key, value in header.items() if key not in ("format", "format_version")}
    change(header, arrays)
    persistence.save(path, header, arrays)


def test_checkpoints_that_tell_nothing_are_trusted(cut_short, toy):
    """As those written before settings were noted."""
    path, whole = cut_short(clone(BOOSTER)), fit_binned(clone(BOOSTER), *toy)
    rewrite(path, lambda header, arrays: header.pop("settings"))
    np.testing.assert_array_equal(fit_binned(clone(BOOSTER), *toy, Checkpoint(path)).weights_, whole.weights_)


ENSEMBLE = PAUCEnsClassifier((0, 0.1), learner=Tree(depth=2), n_estimators=8, nu=1.0, anneal=False)


@pytest.mark.parametrize(
    ("model", "name", "change"),
    [
        (BOOSTER, "fit/coefficients", lambda a: a[:-1]),
        (BOOSTER, "fit/coefficients", lambda a: a * np.nan),
        (BOOSTER, "nodes/column", lambda a: a + 100),
        (PAUCBoostClassifier(n_estimators=8), "fit/history", lambda a: a[:, :2]),
        (ENSEMBLE, "fit/history", lambda a: a[:-1]),
        (ENSEMBLE, "fit/stages", lambda a: a[:-1]),
        (ENSEMBLE, "fit/thresholds", lambda a: a.astype(str)),
        (ENSEMBLE, "fit/cuts/samples", lambda a: a + 10**6),
        (ENSEMBLE, "fit/screen/samples", lambda a: np.array([-1])),
        (ENSEMBLE, "fit/gram", lambda a: a[:-1]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_damaged_checkpoints_are_named(cut_short, toy, model, name, change):
    path = cut_short(clone(model))
    rewrite(path, lambda header, arrays: arrays.update({name: change(arrays[name])}))
    with pytest.raises(ValueError, match=r"fit\.npz.* part of a checkpoint: remove .*fit\.npz, and its content"):
        fit_binned(clone(model), *toy, Checkpoint(path))


def test_a_truncated_checkpoint_says_what_to_do(cut_short, toy):
    path = cut_short(clone(BOOSTER))
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"not a complete \.npz file .* part of a checkpoint: remove"):
        fit_binned(clone(BOOSTER), *toy, Checkpoint(path))
    path.unlink()
    assert fit_binned(clone(BOOSTER), *toy, Checkpoint(path)).n_iter_ == 8
