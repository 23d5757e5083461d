"""The weighted sum of learners that every ensemble here is: scores, stages, importances, files."""

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from paucens import persistence
from paucens.learners import BinnedLearner, BinnedTrainer, Linear, Tree, checked_outputs, make_trainer
from paucens.model.binary import BinaryClassifier
from paucens.model.checkpoint import Checkpoint
from paucens.model.files import (
    flat_array,
    learners_from_arrays,
    learners_to_arrays,
    plain_estimator,
    plain_labels,
    revived_parameters,
)
from paucens.parallel import Threads
from paucens.validation import all_or_nothing, check_features, check_features_and_target, check_integer


class WeightedEnsemble(BinaryClassifier):
    """f(x) = sum_t weights_[t] h_t(x) - threshold_, and all that follows from it.

    A subclass has the parameters `learner`, `n_estimators`, `max_bins`, `n_jobs` and `random_state`, checks its own
    in `_check_parameters`, fits in `_fit_stages`, which ends with a call of `_set_stages`, and names what else of a
    fit a file must hold.
    """

    _default_learner = Tree(depth=3)
    _fitted_scalars = ("n_iter_",)
    _fitted_arrays = ()

    # -- fitting -----------------------------------------------------------------------------------

    @all_or_nothing
    def fit(self, X, y):
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            float32 and float64 are used as they are, not copied.
        y : array-like of shape (n_samples,)
            Two labels, the larger one positive. Where the alphabet puts them the wrong way round, pass
            `y == "cancer"`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For data that is not finite, not numeric, sparse or empty, for one class or more than two, for
            parameters out of range and for a range with alpha > 0 that holds no negative.
        """
        check_integer("n_estimators", self.n_estimators, 1)
        self._check_parameters()
        with Threads(self.n_jobs) as threads:
            trainer, m, n = self._prepare(X, y, threads)
            self._fit_stages(trainer, m, n, Checkpoint())
        self.n_iter_ = len(self.learners_)
        return self

    @all_or_nothing
    def fit_binned(self, binned, n_positives, checkpoint=None):
        """Fit on features that are in bins already, as detectors do, whose features fill gigabytes.

        Parameters
        ----------
        binned : BinnedData
            Samples listed positives first; the codes may be mapped from a file. Nothing is checked.
        n_positives : int
        checkpoint : Checkpoint, optional
            Where to go on from and what to write meanwhile; the result is that of a fit in one piece, bit for bit.

        Returns
        -------
        self : with classes 0 and 1

        Raises
        ------
        TypeError
            Where the learner is not a tree.
        """
        check_integer("n_estimators", self.n_estimators, 1)
        self._check_parameters()
        learner = self._default_learner if self.learner is None else self.learner
        if not isinstance(learner, BinnedLearner):
            raise TypeError(f"Only trees take features in bins; got the learner {learner!r}. Set Tree(depth=3).")
        self.classes_, self.n_features_in_ = np.array([0, 1]), len(binned.codes)
        with Threads(self.n_jobs) as threads:
            trainer = BinnedTrainer(learner, binned, threads, self._seed())
            self._fit_stages(trainer, n_positives, binned.codes.shape[1] - n_positives, checkpoint or Checkpoint())
        self.n_iter_ = len(self.learners_)
        return self

    def _seed(self):
        return check_random_state(self.random_state).randint(2**31)

    def _prepare(self, X, y, threads):
        """Check the data; return a trainer and the numbers of positives and negatives.

        From here to the end of fit, samples are listed positives first.
        """
        X, positive = check_features_and_target(self, X, y)
        order = np.concatenate([np.flatnonzero(positive), np.flatnonzero(~positive)]).astype(np.int32)
        learner = self._default_learner if self.learner is None else self.learner
        trainer = make_trainer(learner, X, order, self.max_bins, threads, self._seed())
        return trainer, int(positive.sum()), int((~positive).sum())

    def _set_stages(self, learners, stage_weights, stage_thresholds):
        """Set what a fit found.

        Parameters
        ----------
        learners : list of fitted learners, T of them
        stage_weights : list of ndarray
            Weights after each round, or one array of length T where earlier weights never change.
        stage_thresholds : ndarray of shape (T,)
        """
        self.learners_ = learners
        self._stage_weights = stage_weights
        self._stage_thresholds = np.asarray(stage_thresholds, dtype=np.float64)
        self.weights_ = stage_weights[-1] if isinstance(stage_weights, list) else stage_weights
        self.threshold_ = float(self._stage_thresholds[-1])

    # -- scoring -----------------------------------------------------------------------------------

    def decision_function(self, X):
        """Score samples: positive where the larger class is predicted.

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
            for weight, outputs in zip(self.weights_, self._outputs(X, threads), strict=True):
                scores += weight * outputs
        return scores - self.threshold_

    def staged_decision_function(self, X):
        """Score samples by the model as it stood after each round, with the weights and threshold of then.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        scores : ndarray of shape (n_samples,), float64
        """
        X = self._check_new(X)
        with Threads(self.n_jobs) as threads:
            outputs = list(self._outputs(X, threads))
        if isinstance(self._stage_weights, list):
            for weights, threshold in zip(self._stage_weights, self._stage_thresholds, strict=True):
                scores = np.zeros(len(X))
                for weight, output in zip(weights, outputs, strict=False):  # the first len(weights) learners
                    scores += weight * output
                yield scores - threshold
        else:
            scores = np.zeros(len(X))
            for weight, output, threshold in zip(self.weights_, outputs, self._stage_thresholds, strict=True):
                scores += weight * output
                yield scores - threshold

    def _check_new(self, X):
        check_is_fitted(self)
        return check_features(self, X, reset=False)

    def _outputs(self, X, threads):
        """Yield the outputs of one learner after the other, each (n_samples,)."""
        for learner in self.learners_:
            if isinstance(learner, BinnedLearner):
                yield learner.predict_checked(X, threads)
            elif isinstance(learner, Linear):
                yield learner.predict_checked(X)
            else:
                yield checked_outputs(learner, X)

    @property
    def feature_importances_(self):
        """Gain summed over the splits on each feature, ndarray of shape (n_features,) of sum 1 (0 without splits)."""
        check_is_fitted(self)
        gains = np.zeros(self.n_features_in_)
        for learner in self.learners_:
            if not isinstance(learner, BinnedLearner):
                raise AttributeError(f"feature_importances_ needs trees; learners_ holds {type(learner).__name__}.")
            split = learner.nodes_.child > 0
            np.add.at(gains, learner.nodes_.column[split], learner.nodes_.gain[split])
        total = gains.sum()
        return gains / total if total > 0 else gains

    # -- files -------------------------------------------------------------------------------------

    def save(self, path):
        """Write the fitted ensemble to one `.npz` file, without pickle.

        Parameters
        ----------
        path : path-like
            Written exactly there, completely or not at all.

        Raises
        ------
        TypeError
            Where a learner is no `Tree`, `Stump` or `Linear`, or a class label is no number, bool or string.
        """
        check_is_fitted(self)
        header = {
            "kind": type(self).__name__,
            "parameters": plain_estimator(self)["parameters"],
            "learner": plain_estimator(self.learners_[0]),
            "n_features": self.n_features_in_,
            "fitted": {name: getattr(self, name) for name in self._fitted_scalars},
        }
        arrays = {"classes": plain_labels(self.classes_), "stage_thresholds": self._stage_thresholds}
        arrays.update({name: getattr(self, name) for name in self._fitted_arrays})
        arrays.update(learners_to_arrays(self.learners_))
        stages = self._stage_weights
        arrays["weights"] = np.concatenate(stages) if isinstance(stages, list) else stages
        persistence.save(path, header, arrays)

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
            Where the file is damaged, of another class or version, or holds an index out of range.
        """
        header, arrays = persistence.load(path, cls.__name__)
        try:
            model = cls(**revived_parameters(header["parameters"]))
            model.classes_ = flat_array(arrays, "classes", "biufU", (2,))
            model.n_features_in_ = check_integer("n_features", header["n_features"], 1)
            for name in cls._fitted_scalars:
                setattr(model, name, header["fitted"][name])
            for name in cls._fitted_arrays:
                setattr(model, name, arrays[name])
            learners = learners_from_arrays(arrays, header["learner"], model.n_features_in_)
            n = len(learners)
            thresholds = flat_array(arrays, "stage_thresholds", "f", (n,))
            weights = flat_array(arrays, "weights", "f", (n, n * (n + 1) // 2))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is not a complete {cls.__name__}: {error}. Save the model again.") from error
        if len(weights) > n:  # the weights after each round, end to end
            weights = np.split(weights, np.cumsum(np.arange(1, n)))
        model._set_stages(learners, weights, thresholds)
        return model
