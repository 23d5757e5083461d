"""The weighted sum of learners that every ensemble here is: scores, stages, importances, files."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from paucens import persistence
from paucens.learners import BinnedLearner, Stump, Tree, checked_outputs, make_trainer
from paucens.learners.growing import TreeNodes
from paucens.parallel import Threads
from paucens.validation import check_features, check_features_and_target

SAVED_LEARNERS = {"Tree": Tree, "Stump": Stump}


class WeightedEnsemble(ClassifierMixin, BaseEstimator):
    """f(x) = sum_t weights_[t] h_t(x) - threshold_, and all that follows from it.

    Subclasses fit; they set `classes_`, `n_features_in_` and call `_set_stages`.
    """

    # -- fitting -----------------------------------------------------------------------------------

    def _prepare(self, X, y, learner, threads):
        """Check the data; return a trainer and the numbers of positives and negatives.

        From here to the end of fit, samples are listed positives first.
        """
        X, positive = check_features_and_target(self, X, y)
        order = np.concatenate([np.flatnonzero(positive), np.flatnonzero(~positive)]).astype(np.int32)
        seed = check_random_state(self.random_state).randint(2**31)
        trainer = make_trainer(learner, X, order, self.max_bins, threads, seed)
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
        return self

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

    def predict(self, X):
        """Predict the class: `classes_[1]` where the score is positive.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def _check_new(self, X):
        check_is_fitted(self)
        return check_features(self, X, reset=False)

    def _outputs(self, X, threads):
        """Yield the outputs of one learner after the other, each (n_samples,)."""
        for learner in self.learners_:
            if isinstance(learner, BinnedLearner):
                yield learner.predict_checked(X, threads)
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
