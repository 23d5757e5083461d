"""From signed weights to a fitted learner and its outputs on the training samples."""

import copy
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from paucens.learners.binning import MAX_BINS, bin_features
from paucens.learners.growing import TreeGrower, leaves_of_codes
from paucens.learners.linear import Linear
from paucens.learners.tree import BinnedLearner
from paucens.validation import check_integer, check_positive


class Outputs(NamedTuple):
    """What a learner answers on the training samples: values[index], or values alone.

    Attributes
    ----------
    values : ndarray of float64
        One value a node of a tree, or one a sample where `index` is None.
    index : ndarray of shape (n_samples,), int32, or None
    """

    values: np.ndarray
    index: np.ndarray | None

    @property
    def dense(self):
        """One output a sample, ndarray of shape (n_samples,), float64."""
        return self.values if self.index is None else self.values[self.index]


def make_trainer(learner, X, order, max_bins, threads, seed):
    """Prepare X once for the many fits of an ensemble.

    Parameters
    ----------
    learner : estimator with fit(X, signed_weights) and predict(X) in [-1, 1]
    X : ndarray of shape (n_samples, n_features), float32 or float64
    order : ndarray of int32
        The rows of X in the order of the signed weights to come (positives first).
    max_bins : int
    threads : Threads
    seed : int
        Column samples of round t come from (seed, t).

    Returns
    -------
    trainer : object with train(signed_weights, round, every_column=False) -> learner, Outputs,
        `samples_columns`, whether `every_column` makes a difference, and `outputs`, what the learners
        answer: "sign", "value" (at most 256 of them) or "dense".
    """
    if isinstance(learner, BinnedLearner):
        max_bins = check_integer("max_bins", max_bins, 2, MAX_BINS)
        return BinnedTrainer(learner, bin_features(X, max_bins, threads, order), threads, seed)
    if isinstance(learner, Linear):
        return _LinearTrainer(learner, X, order)
    if isinstance(learner, type):
        raise TypeError(f"learner must be an instance; got the class {learner.__name__}. Write {learner.__name__}().")
    for method in ("fit", "predict"):
        if not callable(getattr(learner, method, None)):
            raise TypeError(
                f"learner must have fit(X, signed_weights) and predict(X); {learner!r} has no {method}. "
                "Tree(depth=3) and Stump() are ready to use."
            )
    return _RawTrainer(learner, X, order)


class BinnedTrainer:
    """Trains our own trees, on bins made once.

    Parameters
    ----------
    learner : Tree or Stump
    binned : BinnedData
        Samples in the order of the signed weights to come.
    threads : Threads
    seed : int
    """

    def __init__(self, learner, binned, threads, seed):
        n_features = len(binned.codes)
        rule = learner.growing_rule(n_features)
        self.binned = binned
        self.samples_columns = rule.n_columns < n_features
        self.outputs = _kind_of_outputs(rule)
        self._grower = TreeGrower(binned, rule, threads)
        self._threads, self._seed = threads, seed
        self._template = clone(learner)
        self._template.n_features_in_ = n_features

    def train(self, signed_weights, round, every_column=False):
        learner = copy.copy(self._template)
        learner.nodes_ = self._grower.grow(signed_weights, (self._seed, round), every_column)
        return learner, self.outputs_of(learner)

    def outputs_of(self, learner):
        """What a learner of this trainer answers on the training samples, Outputs."""
        return Outputs(learner.nodes_.value, leaves_of_codes(learner.nodes_, self.binned, self._threads))


class _RawTrainer:
    """Trains any other learner on the features as they came and on every row."""

    samples_columns = False
    outputs = "dense"

    def __init__(self, learner, X, order):
        self._learner, self._X, self._order = learner, X, order

    def train(self, signed_weights, round, every_column=False):
        learner = clone(self._learner, safe=False)  # a plain object is copied
        learner.fit(self._X, self._in_rows(signed_weights))
        return learner, Outputs(checked_outputs(learner, self._X)[self._order], None)

    def _in_rows(self, signed_weights):
        in_rows = np.empty(len(self._X))
        in_rows[self._order] = signed_weights
        return in_rows


class _LinearTrainer(_RawTrainer):
    """Trains linear classifiers, on features checked once; their outputs are bits."""

    outputs = "sign"

    def __init__(self, learner, X, order):
        check_positive("C", learner.C)
        super().__init__(learner, X, order)

    def train(self, signed_weights, round, every_column=False):
        learner = clone(self._learner).fit_checked(self._X, self._in_rows(signed_weights))
        is_positive = learner.predict_checked(self._X)[self._order] > 0
        return learner, Outputs(np.array([-1.0, 1.0]), is_positive.astype(np.int32))


def _kind_of_outputs(rule):
    if not rule.real_leaves:
        return "sign"
    most_leaves = min(rule.max_leaves or np.inf, 2.0 ** (np.inf if rule.depth is None else rule.depth))
    return "value" if 2 * most_leaves - 1 <= 256 else "dense"  # a value a node


def checked_outputs(learner, X):
    """Outputs of a foreign learner as float64; raise ValueError unless they are one number a row in [-1, 1]."""
    outputs = np.asarray(learner.predict(X), dtype=np.float64)
    if outputs.shape != (len(X),) or not (np.abs(outputs) <= 1).all():
        raise ValueError(
            f"{type(learner).__name__}.predict must return one number in [-1, 1] for each of {len(X)} rows; got "
            f"shape {outputs.shape}, values from {np.min(outputs, initial=0):g} to {np.max(outputs, initial=0):g}."
        )
    return outputs
