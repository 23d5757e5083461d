"""Cost-sensitive AdaBoost: a cost in the exponent of each class."""

import numpy as np
from scipy.optimize import brentq

from paucens.base import WeightedEnsemble, prepare
from paucens.boosting.rounds import BALANCED, LARGEST_COEFFICIENT, NO_EDGE, boosting_rounds, plain_stages, reweighted
from paucens.learners.binning import MAX_BINS
from paucens.parallel import Threads
from paucens.validation import all_or_nothing, check_positive, check_within

LEAST_COST, LARGEST_COST = 1e-100, 1e100  # products of costs, weights and coefficients are finite


class CSAdaBoostClassifier(WeightedEnsemble):
    """Fit cost-sensitive AdaBoost (Masnadi-Shirazi and Vasconcelos 2011).

    Parameters
    ----------
    cost_positive : float in [1e-100, 1e100], default=1.0
        C1, the cost of a missed positive. If both costs are 1, this is AdaBoost.
    cost_negative : float in [1e-100, 1e100], default=1.0
        C2, the cost of a false alarm. The paper's k = C1 / C2 with C1 + C2 = 2 is C1 = 2k / (1 + k),
        C2 = 2 / (1 + k).
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
    The loss is mean+ exp(-C1 f) + mean- exp(C2 f), balanced between the classes. The coefficient of a learner is
    the root a > 0 of

        2 C1 b cosh(C1 a) + 2 C2 d cosh(C2 a) = C1 T+ exp(-C1 a) + C2 T- exp(-C2 a).

    T+ and T- are the weights of the classes, b and d their misclassified parts (a prediction h between -1 and 1
    counts as wrong by (1 - y h) / 2). The left side rises and the right side falls with a, so there is one root if
    the edge under the weights C1 u+, C2 u- is positive, and none otherwise. It is at most 5 / max(C1, C2).

    Departure: the source searches the root for every possible split and takes the split of least loss. Here the
    learner is the one of largest edge under the gradient of the loss, the weights C1 u+ and C2 u-, and the root is
    searched once per round.

    References
    ----------
    Masnadi-Shirazi and Vasconcelos, Cost-sensitive boosting, IEEE Transactions on Pattern Analysis and Machine
    Intelligence 33(2), 2011.

    Examples
    --------
    >>> from paucens import CSAdaBoostClassifier
    >>> from paucens.datasets import load_toy
    >>> X, y = load_toy(random_state=0)
    >>> model = CSAdaBoostClassifier(cost_positive=1.6, cost_negative=0.4, n_estimators=20).fit(X, y)
    >>> float((model.predict(X) == 1)[y == 1].mean())
    1.0
    """

    def __init__(
        self,
        cost_positive=1.0,
        cost_negative=1.0,
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
        self.cost_positive = cost_positive
        self.cost_negative = cost_negative
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
        for name in ("cost_positive", "cost_negative"):
            check_within(name, getattr(self, name), LEAST_COST, LARGEST_COST, "0.01 to 100")

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
        costs = np.array([self.cost_positive, self.cost_negative], dtype=np.float64)

        def coefficient_of(signed_weights, n_positives, predictions, edge):
            if edge <= NO_EDGE:
                return 0.0
            return cost_sensitive_coefficient(*misclassified(signed_weights, n_positives, predictions), costs)

        def reweight(signed_weights, n_positives, predictions, coefficient):
            return reweighted(signed_weights, n_positives, predictions, *(costs * coefficient))

        with np.errstate(under="ignore"), Threads(self.n_jobs) as threads:
            training = prepare(self, X, y, threads, sample_weight)
            # The weights carried from round to round are those of the gradient, C1 u+ and -C2 u-.
            start = training.weights.spread(*BALANCED) * np.repeat(costs, [training.n_positives, training.n_negatives])
            rounds = boosting_rounds(self, training, start, coefficient_of, reweight)
            self._set_fit(*plain_stages(rounds))
        return self


def misclassified(signed_weights, n_positives, predictions):
    """Return the weight of each class, C1 T+ and C2 T-, and the misclassified part of it, C1 b and C2 d."""
    agreement = signed_weights * predictions.dense
    totals = np.array([signed_weights[:n_positives].sum(), -signed_weights[n_positives:].sum()])
    wrong = np.maximum((totals - [agreement[:n_positives].sum(), agreement[n_positives:].sum()]) / 2, 0)
    return totals, wrong


def cost_sensitive_coefficient(totals, wrong, costs):
    """Return the root of the hyperbolic equation, at most 5 / max(costs).

    Parameters
    ----------
    totals, wrong, costs : ndarray of shape (2,)
        For positives and negatives: the weight of the gradient (C1 T+, C2 T-), the misclassified part of it, and the
        cost. The edge (totals - 2 wrong).sum() is positive.

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> round(cost_sensitive_coefficient(half, 0.2 * half, np.ones(2)), 6)  # 1/2 log(0.8 / 0.2)
    0.693147
    """

    def excess(a):
        return float((2 * wrong * np.cosh(costs * a) - totals * np.exp(-costs * a)).sum())

    largest = LARGEST_COEFFICIENT / costs.max()
    return largest if excess(largest) <= 0 else brentq(excess, 0.0, largest, xtol=min(1e-15, 1e-13 * largest))
