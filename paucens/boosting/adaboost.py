"""AdaBoost."""

import numpy as np

from paucens.base import WeightedEnsemble, prepare
from paucens.boosting.rounds import BALANCED, adaboost_coefficient, boosting_rounds, plain_stages, reweighted
from paucens.learners.binning import MAX_BINS
from paucens.parallel import Threads
from paucens.validation import all_or_nothing, check_positive


class AdaBoostClassifier(WeightedEnsemble):
    """Fit discrete AdaBoost (Freund and Schapire 1997), balanced between the classes, with shrinkage.

    Parameters
    ----------
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
    The coefficient is w_t = 1/2 log((1 + r) / (1 - r)) with r the normalised edge sum_l u_l y_l h_t(x_l) / sum_l u_l
    (Schapire and Singer 1999; with sign leaves this is 1/2 log((1 - eps) / eps)), clipped to 5. Weights start at
    0.5/m for each of m positives and 0.5/n for each of n negatives, as in Algorithm 1 of the paper.

    Examples
    --------
    >>> from paucens import AdaBoostClassifier
    >>> from paucens.datasets import load_toy
    >>> X, y = load_toy(random_state=0)
    >>> AdaBoostClassifier(n_estimators=20).fit(X, y).score(X, y)
    0.995

    Categories, of which one is new in prediction:

    >>> from paucens import Stump
    >>> X, y = [["red", 3], ["blue", 1], ["green", 2], ["blue", 4], ["grey", 2]], [1, 0, 1, 0, 0]
    >>> model = AdaBoostClassifier(learner=Stump(), n_estimators=1, categorical_features=[0]).fit(X, y)
    >>> print(model.to_text())
    AdaBoostClassifier, number of trees: 1. Add up the values of the leaves that a sample reaches.
    It is of class 1 if the sum is above 0, otherwise of class 0.
    A category that a question does not list, on either side, counts as missing.
    <BLANKLINE>
    Tree 1
      x[0] in {'blue', 'grey'} or missing: -5
      x[0] in {'green', 'red'}: +5
    >>> model.predict([["green", 1], ["pink", 1]])
    array([1, 0])
    """

    def __init__(
        self,
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
            start = training.weights.spread(*BALANCED)
            rounds = boosting_rounds(self, training, start, adaboost_coefficient, reweighted)
            self._set_fit(*plain_stages(rounds))
        return self
