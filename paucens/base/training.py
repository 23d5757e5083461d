"""Preparation of training data: from X and y to a trainer, the numbers of samples and a checkpoint."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from paucens.base.categories import check_table_and_target, without_unused
from paucens.base.checkpoint import Checkpoint
from paucens.base.early_stopping import NoValidation, Validation, held_out_and_rest, stops_early
from paucens.base.settings import data_settings, ensemble_settings
from paucens.base.weights import SampleWeights, class_weights, distinct_samples, weighted_samples
from paucens.learners import Trainer, adapted
from paucens.learners.binning import BinnedData, bin_features


class TrainingData(NamedTuple):
    """Prepared training data; samples are listed positives first from here to the end of a fit.

    Attributes
    ----------
    trainer : Trainer
    weights : SampleWeights
    checkpoint : Checkpoint
        File to resume from, and to write while fitting.
    seed : int
        Of all that is drawn in the fit.
    validation : Validation or NoValidation
        Of samples that are held out, which are not among those above.
    """

    trainer: Trainer
    weights: SampleWeights
    checkpoint: Checkpoint
    seed: int
    validation: Validation | NoValidation

    @property
    def n_positives(self):
        """Number of positives."""
        return self.weights.n_positives

    @property
    def n_negatives(self):
        """Number of negatives."""
        return self.weights.n_negatives


class BinnedSamples(NamedTuple):
    """Samples whose features are binned already, positives first; `prepare` takes them in place of X.

    The attributes are the arguments of `fit_binned`.
    """

    binned: BinnedData
    n_positives: int
    checkpoint: Checkpoint
    stages: Sequence


def prepare(ensemble, X, y, threads, sample_weight=None):
    """Check the data and prepare it for training; set `classes_`, `categories_` and `n_features_in_` of the ensemble.

    This is where the weights of samples enter. From here on they are part of the signed weights that learners are
    trained on, which start in proportion to them, and of every mean and every count of samples.

    Parameters
    ----------
    ensemble : WeightedEnsemble
        Its learner, max_bins and random_state are used.
    X : array-like of shape (n_samples, n_features), or BinnedSamples
    y : array-like of shape (n_samples,), or None for BinnedSamples
    threads : Threads
    sample_weight : array-like of shape (n_samples,), default=None
        Samples of weight 0 are left out.

    Returns
    -------
    TrainingData
    """
    learner = adapted(ensemble.default_learner if ensemble.learner is None else ensemble.learner)
    if isinstance(X, BinnedSamples):
        return _prepare_binned(ensemble, learner, X, threads, sample_weight)
    X, positive = check_table_and_target(ensemble, X, y, learner)
    X, positive, weights = weighted_samples(X, positive, sample_weight)
    ensemble.categories_ = without_unused(ensemble.categories_, X)
    X, positive, weights = distinct_samples(X, positive, weights)
    seed, validation = _seed(ensemble), NoValidation()
    if stops_early(ensemble):
        (rows, weights_held), (rest, weights) = held_out_and_rest(ensemble, positive, weights, seed)
        X_held = X[rows]
        validation = Validation(
            ensemble, positive[rows], lambda fitted: adapted(fitted).predictions(X_held, threads), threads, weights_held
        )
        X, positive = X[rest], positive[rest]
    order = np.concatenate([np.flatnonzero(positive), np.flatnonzero(~positive)]).astype(np.int32)
    positives = np.flatnonzero(positive) if getattr(ensemble, "binning", "quantile") == "tails" else None
    if ensemble.categories_:
        numbers = {column: len(known) for column, known in ensemble.categories_.items()}
        binned = bin_features(X, ensemble.max_bins, threads, order, positives, weights, numbers)
        trainer = learner.make_binned_trainer(
            binned, threads, seed, weights=None if weights is None else weights[order]
        )
    else:
        trainer = learner.make_trainer(X, order, ensemble.max_bins, threads, seed, positives, weights)
    return TrainingData(trainer, class_weights(positive, weights), Checkpoint(), seed, validation)


def _prepare_binned(ensemble, learner, samples, threads, sample_weight):
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
    if ensemble.categorical_features is not None:
        raise ValueError(
            f"The features are binned already; got categorical_features={ensemble.categorical_features!r}. Set None."
        )
    binned = samples.binned
    n_features, n_samples = binned.codes.shape
    ensemble.classes_, ensemble.n_features_in_, ensemble.categories_ = np.array([0, 1]), n_features, {}
    positive = np.arange(n_samples) < samples.n_positives
    codes, positive, weights = weighted_samples(binned.codes.T, positive, sample_weight)
    if len(codes) < n_samples:
        binned = replace(binned, codes=np.ascontiguousarray(codes.T))
    samples.checkpoint.bind(
        lambda: ensemble_settings(ensemble) | data_settings(binned, int(positive.sum()), samples.stages, weights)
    )
    seed, validation = _seed(ensemble), NoValidation()
    if stops_early(ensemble):
        (rows, weights_held), (rest, weights) = held_out_and_rest(ensemble, positive, weights, seed)
        of_held = learner.make_binned_trainer(_rows_of(binned, rows), threads, seed)
        validation = Validation(ensemble, positive[rows], of_held.predictions_of, threads, weights_held)
        binned, positive = _rows_of(binned, rest), positive[rest]
    trainer = learner.make_binned_trainer(binned, threads, seed, samples.stages, weights)
    return TrainingData(trainer, class_weights(positive, weights), samples.checkpoint, seed, validation)


def _rows_of(binned, rows):
    """Return a copy of some of the samples; a mapped file stays as it is."""
    return replace(binned, codes=np.take(binned.codes, rows, axis=1))


def _seed(ensemble):
    return check_random_state(ensemble.random_state).randint(2**31)


def fit_binned(ensemble, binned, n_positives, checkpoint=None, stages=(), sample_weight=None):
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
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    ensemble : fitted, with classes 0 and 1

    Raises
    ------
    TypeError
        If the learner is not a tree.
    ValueError
        If the checkpoint is damaged or belongs to another fit: to other data, parameters that matter, weights or
        stages; or if the ensemble stops early and there is more than one stage.
    """
    checkpoint = checkpoint or Checkpoint()
    with checkpoint.locked():
        return ensemble.fit(BinnedSamples(binned, n_positives, checkpoint, stages), None, sample_weight)
