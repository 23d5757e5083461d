"""AdaBoost whose coefficients are replaced by Fisher's discriminant on the predictions of its learners."""

from contextlib import suppress

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from threadpoolctl import threadpool_limits

from paucens.base import WeightedEnsemble, prepare
from paucens.boosting.rounds import BALANCED, adaboost_coefficient, boosting_rounds, reweighted
from paucens.learners.binning import MAX_BINS
from paucens.parallel import Threads
from paucens.validation import all_or_nothing, check_positive

LARGEST_RIDGE = 1e100  # the diagonal of the scatter with it is finite
NO_SCATTER = 1e-12  # a smaller mean variance of the predictions is a rounding error


class AdaBoostLDAClassifier(WeightedEnsemble):
    """Fit AdaBoost, then weight its learners by Fisher's linear discriminant (Wu et al. 2008).

    Parameters
    ----------
    ridge : float in [0, 1e100], default=1e-6
        Added to the diagonal of the scatter S of T learners, in units of trace(S) / T. Predictions of +-1 are
        often collinear.
    learner : weak learner, default=None
        Any object with fit(X, signed_weights) and predict(X) in [-1, 1]. None means `Tree(depth=3)`.
    n_estimators : int, default=100
        Maximum number of rounds. Fitting stops early at a learner without edge or without error.
    shrinkage : float in (0, 1], default=1.0
        Factor on each coefficient.
    max_bins : int in [2, 256], default=256
        Maximum number of bins per feature.
    categorical_features : None, "from_dtype" or list, default=None
        Features that hold categories, text or numbers: a list of indices, of names or of one flag per feature, or those
        whose columns are categorical in a frame of pandas or polars. Only trees take them. There may be `max_bins` of
        them per feature, at most 255. Missing categories and those that are new in prediction are missing values.
    pos_label : label, default=None
        The positive label; None means the larger of the two. If it is `classes_[0]`, its samples have negative scores:
        those above 0 are of `classes_[1]` in any case.
    n_jobs : int, default=None
        Number of threads, as in joblib; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Source of the column samples of the learners.
    verbose : int, default=0
        Show a progress bar if positive.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    learners_ : list of fitted learners
    weights_ : ndarray of shape (`n_iter_`,)
        `w = (S + ridge trace(S) / T)^-1 (mu+ - mu-)`, `S = S+ + S-` the covariances of the predictions within the
        classes, mu+ and mu- their means. `decision_function` is
        `sum_t weights_[t] learners_[t].predict(X) - threshold_`.
    threshold_ : float
        Halfway between the projected means, w . (mu+ + mu-) / 2.
    n_iter_ : int
        Number of rounds.
    categories_ : dict of int to ndarray
        The categories of these features, sorted. `learners_` know them by their places in there, 0, 1, ...
    n_features_in_ : int
    feature_importances_ : ndarray of shape (n_features,)
        Gains summed over the splits on each feature, with sum 1; for trees only.

    Warns
    -----
    UserWarning
        If fitting ends in the first ten rounds, with the reason.

    Notes
    -----
    The discriminant is solved again for the first t learners at each stage t. Without scatter (a learner without
    error) the stage keeps AdaBoost's weights. Weights may be negative. The predictions on the training samples are
    kept during the fit, 8 bytes each.

    References
    ----------
    Wu, Brubaker, Mullin and Rehg, Fast asymmetric learning for cascade face detection, IEEE Transactions on Pattern
    Analysis and Machine Intelligence 30(3), 2008.

    Examples
    --------
    >>> from paucens import AdaBoostLDAClassifier
    >>> from paucens.datasets import load_toy
    >>> X, y = load_toy(random_state=0)
    >>> AdaBoostLDAClassifier(n_estimators=20).fit(X, y).score(X, y)
    0.9825
    """

    def __init__(
        self,
        *,
        ridge=1e-6,
        learner=None,
        n_estimators=100,
        shrinkage=1.0,
        max_bins=MAX_BINS,
        categorical_features=None,
        pos_label=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.ridge = ridge
        self.learner = learner
        self.n_estimators = n_estimators
        self.shrinkage = shrinkage
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self):
        super()._check_parameters()
        check_positive("shrinkage", self.shrinkage, most=1)
        check_positive("ridge", self.ridge, zero=True, most=LARGEST_RIDGE)

    @all_or_nothing
    def fit(self, X, y, sample_weight=None):
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            float32 and float64 are used without a copy. NaN is a missing value; only trees take them.
        y : array-like of shape (n_samples,)
            Two labels; `pos_label` says which one is positive.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts: a weight of 2 is as two equal samples, and 0 leaves one out. None is 1 each.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the data are infinite, not numeric, sparse or empty, or hold NaN and the learner is not a tree, y has one
            class or more than two, a weight is negative or not finite, a class has no weight, or a parameter is out of
            range.
        """
        self._check_parameters()
        with np.errstate(under="ignore"), Threads(self.n_jobs) as threads:
            training = prepare(self, X, y, threads, sample_weight)
            start, sizes = training.weights.spread(*BALANCED), (training.n_positives, training.n_negatives)
            rounds = boosting_rounds(self, training, start, adaboost_coefficient, reweighted)
            moments = [
                Moments(self.n_estimators, size, weights)
                for size, weights in zip(sizes, training.weights.of_classes, strict=True)
            ]
            self._set_fit(*discriminant_stages(rounds, moments, self.ridge))
        return self


def discriminant_stages(rounds, moments, ridge):
    """Return learners, and weights and thresholds of all stages.

    Parameters
    ----------
    rounds : iterable of learner, predictions, coefficient
    moments : pair of Moments
        Of the positives and of the negatives, still empty.
    ridge : float
    """
    learners, coefficients, stages, thresholds = [], [], [], []
    with threadpool_limits(1):  # the bits of a factorisation depend on the number of threads
        for learner, predictions, coefficient in rounds:
            learners.append(learner)
            coefficients.append(coefficient)
            of_classes = np.split(predictions.dense, [moments[0].n_samples])
            for part, predicted in zip(moments, of_classes, strict=True):
                part.append(predicted)
            positive, negative = (part.mean for part in moments)
            weights = discriminant(positive - negative, sum(part.covariance for part in moments), ridge)
            stages.append(np.array(coefficients) if weights is None else weights)
            thresholds.append(float((stages[-1] * (positive + negative)).sum() / 2))
    return learners, stages, thresholds


class Moments:
    """Mean and covariance of the predictions of the learners so far, on the samples of one class."""

    def __init__(self, n_learners, n_samples, weights=None):
        self._weights = weights  # None: each sample counts 1
        self._predictions = np.empty((n_learners, n_samples))
        self._products = np.empty((n_learners, n_learners))
        self._means = np.empty(n_learners)
        self._t = 0

    @property
    def n_samples(self):
        """Number of samples of the class."""
        return self._predictions.shape[1]

    def append(self, predicted):
        """Add the predictions of one learner, ndarray of shape (n_samples,)."""
        t = self._t
        self._predictions[t] = predicted
        self._means[t] = np.average(predicted, weights=self._weights)
        counted, total = predicted, len(predicted)
        if self._weights is not None:
            counted, total = predicted * self._weights, self._weights.sum()
        # einsum, unlike a product by BLAS, adds in one order whatever the number of threads
        row = np.einsum("ti,i->t", self._predictions[: t + 1], counted) / total
        self._products[t, : t + 1] = self._products[: t + 1, t] = row
        self._t += 1

    @property
    def mean(self):
        """The means, ndarray of shape (t,)."""
        return self._means[: self._t]

    @property
    def covariance(self):
        """The covariance, ndarray of shape (t, t), with the number, or weight, of samples as divisor."""
        return self._products[: self._t, : self._t] - np.outer(self.mean, self.mean)


def discriminant(difference, scatter, ridge):
    """Solve (S + ridge trace(S) / t) w = mu+ - mu- for w.

    Parameters
    ----------
    difference : ndarray of shape (t,)
    scatter : ndarray of shape (t, t)
    ridge : float

    Returns
    -------
    weights : ndarray of shape (t,) or None
        The solution of least norm if S is singular; None without scatter.
    """
    variance = np.trace(scatter) / len(scatter)
    if variance <= NO_SCATTER:
        return None
    scatter = scatter + ridge * variance * np.eye(len(scatter))
    if ridge > 0:
        with suppress(LinAlgError):  # the ridge is smaller than rounding errors
            return cho_solve(cho_factor(scatter), difference)
    return np.linalg.lstsq(scatter, difference)[0]
