"""The weighted sum of learners that all ensembles here are: scores, stages, importances, files."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from paucens import persistence
from paucens._kernels.stores import add_values
from paucens.base.binary import BinaryClassifier
from paucens.base.files import (
    estimator_to_json,
    labels_to_array,
    learners_from_arrays,
    learners_to_arrays,
    parameters_from_json,
)
from paucens.learners import Tree, adapted
from paucens.parallel import Threads
from paucens.validation import check_features, check_integer, warn_user

FEW_ROUNDS = 10  # a fit that ends before needs an explanation
BLOCK = 16_384  # samples whose scores stay in the cache while learner after learner is added


class WeightedEnsemble(BinaryClassifier):
    """f(x) = sum_t weights_[t] h_t(x) - threshold_, and everything that follows from it.

    A subclass has the parameters `learner`, `n_estimators`, `max_bins`, `n_jobs` and `random_state`, and a `fit` that
    ends with a call of `_set_stages`.

    Attributes
    ----------
    default_learner : WeakLearner
        The learner that is used if `learner` is None.
    """

    default_learner = Tree(depth=3)
    _fitted_attributes = ("n_iter_",)  # further attributes for the file, scalars and arrays

    def _set_stages(self, learners, stage_weights, stage_thresholds):
        """Set the learners of a fit and their weights.

        Parameters
        ----------
        learners : list of fitted learners, T of them
        stage_weights : list of ndarray, or ndarray of shape (T,)
            The weights after each round, or one array if earlier weights never change.
        stage_thresholds : array-like of shape (T,)
        """
        self.learners_ = learners
        self.n_iter_ = len(learners)
        self._stage_weights = stage_weights
        self._stage_thresholds = np.asarray(stage_thresholds, dtype=np.float64)
        self.weights_ = stage_weights[-1] if isinstance(stage_weights, list) else stage_weights
        self.threshold_ = float(self._stage_thresholds[-1])

    def warn_of_early_end(self, n_rounds, reason):
        """Warn if a fit that wanted more ended in its first rounds, and say why."""
        if n_rounds < min(FEW_ROUNDS, self.n_estimators):
            warn_user(f"{type(self).__name__} ended after {n_rounds} of {self.n_estimators} rounds: {reason}")

    def set_params(self, **parameters):
        """Set parameters, those of the learner by names like `learner__depth`.

        Raises
        ------
        ValueError
            If a name is not known, or is one of the learner and `learner` is None.
        """
        of_learner = [name for name in parameters if name.startswith("learner__")]
        if of_learner and parameters.get("learner", self.learner) is None:
            default = " ".join(repr(self.default_learner).split())
            raise ValueError(
                f"{of_learner[0]} cannot be set: learner is None, which stands for {default}. Pass that as learner, or "
                "another one, to set its parameters."
            )
        return super().set_params(**parameters)

    # -- scoring -----------------------------------------------------------------------------------

    def decision_function(self, X):
        """Score samples; a positive score means the larger class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,), float64
            sum_t weights_[t] h_t(x) - threshold_.
        """
        X = self._check_new(X)
        scores = np.zeros(len(X))
        with Threads(self.n_jobs) as threads:
            for weight, predictions in zip(self.weights_, self._predictions(X, threads), strict=True):
                scores += weight * predictions.dense
        return scores - self.threshold_

    def staged_decision_function(self, X):
        """Score samples by the model after each round, with its weights and threshold at that time.

        Each learner predicts once, when its round comes. If earlier weights change from round to round, as those of
        PAUCEnsClassifier and AdaBoostLDAClassifier, one byte per sample and learner is held (trees of at most 128
        leaves, `Linear`).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        scores : ndarray of shape (n_samples,), float64
        """
        X = self._check_new(X)
        with Threads(self.n_jobs) as threads:
            rounds = zip(self._stage_weights, self._stage_thresholds, self._predictions(X, threads), strict=True)
            scores, earlier = np.zeros(len(X)), []
            for weights, threshold, predictions in rounds:
                if isinstance(self._stage_weights, list):  # all weights change from round to round
                    earlier.append(predictions.narrow)
                    scores = weighted_sum(weights, earlier, len(X), threads)
                else:
                    scores += weights * predictions.dense
                yield scores - threshold

    def _check_new(self, X):
        check_is_fitted(self)
        return check_features(self, X, reset=False)

    def _predictions(self, X, threads):
        """Yield the `Predictions` of each learner."""
        for learner in self.learners_:
            yield adapted(learner).predictions(X, threads)

    @property
    def feature_importances_(self):
        """Gains of the splits on each feature, ndarray of shape (n_features,), with sum 1 (0 without splits)."""
        check_is_fitted(self)
        gains = np.zeros(self.n_features_in_)
        for learner in self.learners_:
            if not hasattr(learner, "add_gains"):
                raise AttributeError(f"feature_importances_ needs trees; learners_ holds {type(learner).__name__}.")
            learner.add_gains(gains)
        total = gains.sum()
        return gains / total if total > 0 else gains

    # -- files -------------------------------------------------------------------------------------

    def save(self, path):
        """Write the fitted ensemble to one `.npz` file, without pickle.

        Parameters
        ----------
        path : path-like
            The file is written exactly there, completely or not at all.

        Raises
        ------
        TypeError
            If a learner is not a `Tree`, `Stump` or `Linear`, or a class label is not a number, bool or string.
        """
        check_is_fitted(self)
        fitted = {name: getattr(self, name) for name in self._fitted_attributes}
        header = {
            "kind": type(self).__name__,
            "parameters": estimator_to_json(self)["parameters"],
            "learner": estimator_to_json(self.learners_[0]),
            "n_features": self.n_features_in_,
            "fitted": {name: value for name, value in fitted.items() if not isinstance(value, np.ndarray)},
        }
        arrays = {name: value for name, value in fitted.items() if isinstance(value, np.ndarray)}
        arrays |= {"classes": labels_to_array(self.classes_), "stage_thresholds": self._stage_thresholds}
        stages = self._stage_weights
        arrays["weights"] = np.concatenate(stages) if isinstance(stages, list) else stages
        persistence.save(path, header, arrays | learners_to_arrays(self.learners_))

    @classmethod
    def load(cls, path):
        """Read an ensemble written by `save`; it scores the same, bit for bit.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        model : fitted instance of this class

        Raises
        ------
        ValueError
            If the file is damaged, of another class or version, or holds an index out of range.
        """
        header, arrays = persistence.load(path, cls.__name__)
        try:
            model = cls(**parameters_from_json(header["parameters"]))
            model.classes_ = persistence.flat_array(arrays, "classes", "biufU", (2,))
            model.n_features_in_ = check_integer("n_features", header["n_features"], 1)
            for name in cls._fitted_attributes:
                setattr(model, name, arrays[name] if name in arrays else header["fitted"][name])
            learners = learners_from_arrays(arrays, header["learner"], model.n_features_in_)
            n = len(learners)
            thresholds = persistence.flat_array(arrays, "stage_thresholds", "f", (n,))
            weights = persistence.flat_array(arrays, "weights", "f", (n, n * (n + 1) // 2))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is not a complete {cls.__name__}: {error}. Save the model again.") from error
        if len(weights) > n:  # the weights after each round, end to end
            weights = np.split(weights, np.cumsum(np.arange(1, n)))
        model._set_stages(learners, weights, thresholds)
        return model


def weighted_sum(weights, predictions, n_samples, threads):
    """Sum weights[t] predictions[t] over the learners, in their order, as `decision_function` does."""
    scores = np.zeros(n_samples)
    tables = [weight * each.values for weight, each in zip(weights, predictions, strict=True)]

    def add(start, stop):
        for first in range(start, stop, BLOCK):
            last = min(first + BLOCK, stop)
            for table, each in zip(tables, predictions, strict=True):
                if each.index is None:
                    scores[first:last] += table[first:last]
                else:
                    add_values(table, each.index, scores, first, last)

    threads.run(add, n_samples, n_samples * len(tables))
    return scores
