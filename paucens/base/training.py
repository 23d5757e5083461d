"""Preparation of training data: from X and y to a trainer, the numbers of samples and a checkpoint."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from paucens.base.checkpoint import Checkpoint
from paucens.base.early_stopping import NoValidation, Validation, held_out, stops_early
from paucens.base.settings import data_settings, ensemble_settings
from paucens.learners import Trainer, adapted
from paucens.learners.binning import BinnedData
from paucens.validation import check_features_and_target


class TrainingData(NamedTuple):
    """Prepared training data; samples are listed positives first from here to the end of a fit.

    Attributes
    ----------
    trainer : Trainer
    n_positives, n_negatives : int
    checkpoint : Checkpoint
        File to resume from, and to write while fitting.
    seed : int
        Of all that is drawn in the fit.
    validation : Validation or NoValidation
        Of samples that are held out, which are not among those above.
    """

    trainer: Trainer
    n_positives: int
    n_negatives: int
    checkpoint: Checkpoint
    seed: int
    validation: Validation | NoValidation


class BinnedSamples(NamedTuple):
    """Samples whose features are binned already, positives first; `prepare` takes them in place of X.

    The attributes are the arguments of `fit_binned`.
    """

    binned: BinnedData
    n_positives: int
    checkpoint: Checkpoint
    stages: Sequence


def prepare(ensemble, X, y, threads):
    """Check the data and prepare it for training; set `classes_` and `n_features_in_` of the ensemble.

    Parameters
    ----------
    ensemble : WeightedEnsemble
        Its learner, max_bins and random_state are used.
    X : array-like of shape (n_samples, n_features), or BinnedSamples
    y : array-like of shape (n_samples,), or None for BinnedSamples
    threads : Threads

    Returns
    -------
    TrainingData
    """
    learner = adapted(ensemble.default_learner if ensemble.learner is None else ensemble.learner)
    if isinstance(X, BinnedSamples):
        return _prepare_binned(ensemble, learner, X, threads)
    X, positive = check_features_and_target(ensemble, X, y, learner.allow_nan)
    seed, validation = _seed(ensemble), NoValidation()
    if stops_early(ensemble):
        held = held_out(ensemble, positive, seed)
        X_held = X[held]
        validation = Validation(
            ensemble, positive[held], lambda fitted: adapted(fitted).predictions(X_held, threads), threads
        )
        X, positive = X[~held], positive[~held]
    order = np.concatenate([np.flatnonzero(positive), np.flatnonzero(~positive)]).astype(np.int32)
    positives = np.flatnonzero(positive) if getattr(ensemble, "binning", "quantile") == "tails" else None
    trainer = learner.make_trainer(X, order, ensemble.max_bins, threads, seed, positives)
    return TrainingData(trainer, int(positive.sum()), int((~positive).sum()), Checkpoint(), seed, validation)


def _prepare_binned(ensemble, learner, samples, threads):
    if not hasattr(learner, "make_binned_trainer"):
        raise TypeError(f"Only trees take binned features; got the learner {ensemble.learner!r}. Set Tree(depth=3).")
    if getattr(ensemble, "binning", "quantile") != "quantile":
        raise ValueError(f"The features are binned already; got binning={ensemble.binning!r}. Set binning='quantile'.")
    if ensemble.pos_label not in (None, 1):
        raise ValueError(
            f"pos_label must be None or 1 for samples that are listed by class; got {ensemble.pos_label!r}."
        )
    if stops_early(ensemble) and len(samples.stages) > 1:
        raise ValueError(
            "early_stopping=True could end before the last of the stages, whose features no tree would use then. Set "
            "early_stopping=False, or train without stages."
        )
    n_features, n_samples = samples.binned.codes.shape
    ensemble.classes_, ensemble.n_features_in_ = np.array([0, 1]), n_features
    samples.checkpoint.bind(
        lambda: ensemble_settings(ensemble) | data_settings(samples.binned, samples.n_positives, samples.stages)
    )
    binned, positive = samples.binned, np.arange(n_samples) < samples.n_positives
    seed, validation = _seed(ensemble), NoValidation()
    if stops_early(ensemble):
        held = held_out(ensemble, positive, seed)
        of_held = learner.make_binned_trainer(_rows_of(binned, held), threads, seed)
        validation = Validation(ensemble, positive[held], of_held.predictions_of, threads)
        binned, positive = _rows_of(binned, ~held), positive[~held]
    trainer = learner.make_binned_trainer(binned, threads, seed, samples.stages)
    m = int(positive.sum())
    return TrainingData(trainer, m, len(positive) - m, samples.checkpoint, seed, validation)


def _rows_of(binned, mask):
    """Return a copy of some of the samples; a mapped file stays as it is."""
    return replace(binned, codes=np.compress(mask, binned.codes, axis=1))


def _seed(ensemble):
    return check_random_state(ensemble.random_state).randint(2**31)


def fit_binned(ensemble, binned, n_positives, checkpoint=None, stages=()):
    """Fit an ensemble of trees on binned features, for detectors, whose features fill gigabytes.

    Parameters
    ----------
    ensemble : WeightedEnsemble
    binned : BinnedData
        Samples listed positives first; the codes may be mapped from a file. Nothing is checked.
    n_positives : int
    checkpoint : Checkpoint, default=None
        File to resume from, and to write while fitting. The result equals that of an uninterrupted fit, bit for bit.
        Another fit that uses the file is waited for.
    stages : sequence of (int, ndarray of int32), default=()
        The first round of each stage, ascending from 0, and the features that its trees may use, ascending. By default
        all trees may use all features.

    Returns
    -------
    ensemble : fitted, with classes 0 and 1

    Raises
    ------
    TypeError
        If the learner is not a tree.
    ValueError
        If the checkpoint is damaged or belongs to another fit: to other data, parameters that matter, or stages; or if
        the ensemble stops early and there is more than one stage.
    """
    checkpoint = checkpoint or Checkpoint()
    with checkpoint.locked():
        return ensemble.fit(BinnedSamples(binned, n_positives, checkpoint, stages), None)
