"""Learners from elsewhere: any object with `fit` and `predict` can stand in an ensemble."""

import numpy as np
from sklearn.base import clone

from paucens.learners.protocol import Predictions


def adapted(learner):
    """Return a learner that ensembles can use: a `WeakLearner` of this package unchanged, any other in an adapter.

    Parameters
    ----------
    learner : object with fit(X, signed_weights) and predict(X) in [-1, 1]

    Returns
    -------
    learner : WeakLearner
    """
    return learner if hasattr(type(learner), "predictions") else ForeignLearner(learner)


class ForeignLearner:
    """Adapter for a learner from elsewhere, which gets the raw features and every row.

    Parameters
    ----------
    learner : object with fit(X, signed_weights) and predict(X) in [-1, 1]
    """

    allow_nan = False

    def __init__(self, learner):
        self._learner = learner

    def check_parameters(self):
        """Raise TypeError if the learner is a class or lacks a method."""
        learner = self._learner
        if isinstance(learner, type):
            raise TypeError(
                f"learner must be an instance; got the class {learner.__name__}. Write {learner.__name__}()."
            )
        for method in ("fit", "predict"):
            if not callable(getattr(learner, method, None)):
                raise TypeError(
                    f"learner must have fit(X, signed_weights) and predict(X); {learner!r} has no {method}. "
                    "Tree(depth=3) and Stump() are ready to use."
                )

    def make_trainer(self, X, order, max_bins, threads, seed, positives=None, weights=None):
        """Prepare X as in `WeakLearner.make_trainer`."""
        return ForeignTrainer(self._learner, X, order)

    def predictions(self, X, threads):
        """Return the predictions; raise ValueError unless the learner returns one number in [-1, 1] per row."""
        predicted = np.asarray(self._learner.predict(X), dtype=np.float64)
        if predicted.shape != (len(X),) or not (np.abs(predicted) <= 1).all():
            raise ValueError(
                f"{type(self._learner).__name__}.predict must return one number in [-1, 1] for each of {len(X)} rows; "
                f"got shape {predicted.shape}, values from {np.min(predicted, initial=0):g} to "
                f"{np.max(predicted, initial=0):g}."
            )
        return Predictions(predicted, None)


class ForeignTrainer:
    """`Trainer` of learners from elsewhere."""

    prediction_kind = "dense"
    last_stage = 0

    def __init__(self, learner, X, order):
        self._learner, self._X, self._order = learner, X, order

    def samples_columns(self, round):
        """Return False: every learner sees all columns."""
        return False

    def train(self, signed_weights, round, every_column=False):
        """Train a copy of the learner on every row; see `Trainer`."""
        learner = clone(self._learner, safe=False)  # an object that scikit-learn cannot clone is copied
        learner.fit(self._X, in_row_order(signed_weights, self._order))
        return learner, self.predictions_of(learner)

    def predictions_of(self, learner):
        """Return the predictions on the training samples."""
        return Predictions(ForeignLearner(learner).predictions(self._X, None).dense[self._order], None)


def in_row_order(signed_weights, order):
    """Return weights that list the samples as `order` does in the order of the rows of X."""
    in_rows = np.empty(len(order))
    in_rows[order] = signed_weights
    return in_rows
