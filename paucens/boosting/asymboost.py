"""AsymBoost: AdaBoost that favours one class a little in every round."""

import math

import numpy as np

from paucens.base import WeightedEnsemble, prepare
from paucens.boosting.rounds import BALANCED, adaboost_coefficient, boosting_rounds, plain_stages, reweighted
from paucens.learners.binning import MAX_BINS
from paucens.parallel import Threads
from paucens.validation import all_or_nothing, check_positive


class AsymBoostClassifier(WeightedEnsemble):
    """Fit AsymBoost (Viola and Jones 2002), which spreads the asymmetry k evenly over the rounds.

    Parameters
    ----------
    asymmetry : float, default=1.0
        k, how many times as much a missed positive costs as a false alarm. 1 is AdaBoost.
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
        `decision_function` is `sum_t weights_[t] learners_[t].predict(X) - threshold_`.
    threshold_ : float
        0.
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
    Before each of the T = n_estimators rounds the weights are multiplied by k^(y / 2T), y = +1 or -1, and
    normalised. If the whole asymmetry were put into the first round, the first learner would use it up. T must be
    known beforehand: the stage after t rounds contains k^(t / T) only, and so does a fit that stops early.

    References
    ----------
    Viola and Jones, Fast and robust classification using asymmetric AdaBoost and a detector cascade, NIPS 2002.

    Examples
    --------
    >>> from paucens import AsymBoostClassifier
    >>> from paucens.datasets import load_toy
    >>> X, y = load_toy(random_state=0)
    >>> model = AsymBoostClassifier(asymmetry=4.0, n_estimators=20).fit(X, y)
    >>> float((model.predict(X) == 1)[y == 1].mean())
    1.0
    """

    def __init__(
        self,
        asymmetry=1.0,
        *,
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
        self.asymmetry = asymmetry
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
        check_positive("asymmetry", self.asymmetry)

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
        factor = math.exp(math.log(self.asymmetry) / (2 * self.n_estimators))  # k^(1 / 2T)

        def reweight(signed_weights, n_positives, predictions, coefficient):
            return tilted(reweighted(signed_weights, n_positives, predictions, coefficient), n_positives, factor)

        with np.errstate(under="ignore"), Threads(self.n_jobs) as threads:
            training = prepare(self, X, y, threads, sample_weight)
            start = tilted(training.weights.spread(*BALANCED), training.n_positives, factor)
            rounds = boosting_rounds(self, training, start, adaboost_coefficient, reweight)
            self._set_fit(*plain_stages(rounds))
        return self


def tilted(signed_weights, n_positives, factor):
    """Return weights with those of positives multiplied by a factor and those of negatives divided by it."""
    return np.concatenate([signed_weights[:n_positives] * factor, signed_weights[n_positives:] / factor])
