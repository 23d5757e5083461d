"""Cost-sensitive AdaBoost: a cost in the exponent of each class."""

import numpy as np
from scipy.optimize import brentq

from paucens.boosting.rounds import LARGEST_COEFFICIENT, NO_EDGE, Booster, reweighted
from paucens.learners.binning import MAX_BINS
from paucens.validation import check_positive


class CSAdaBoostClassifier(Booster):
    """Fit cost-sensitive AdaBoost (Masnadi-Shirazi and Vasconcelos 2011).

    Parameters
    ----------
    cost_positive, cost_negative : float, default=1.0
        C1 and C2, the costs of a missed positive and of a false alarm. Equal to 1, this is AdaBoost. The paper's
        k = C1 / C2 with C1 + C2 = 2 is C1 = 2k / (1 + k), C2 = 2 / (1 + k).
    learner, n_estimators, shrinkage, max_bins, n_jobs, random_state, verbose
        As in `AdaBoostClassifier`.

    Attributes
    ----------
    classes_, learners_, weights_, threshold_, n_iter_, feature_importances_
        As in `AdaBoostClassifier`.

    Notes
    -----
    The loss is mean+ exp(-C1 f) + mean- exp(C2 f), balanced between the classes. The coefficient of a learner is
    the root a > 0 of

        2 C1 b cosh(C1 a) + 2 C2 d cosh(C2 a) = C1 T+ exp(-C1 a) + C2 T- exp(-C2 a),

    T+ and T- the weights of the classes, b and d of what is misclassified in them (an output h between -1 and 1
    counts as wrong by (1 - y h) / 2). Left rises and right falls with a, so there is one root exactly where the
    edge under the weights C1 u+, C2 u- is positive. It is at most 5 / max(C1, C2).

    Departure: the source searches the root for every possible split and takes the split of least loss. Here the
    learner is the one of largest edge under the gradient of the loss, the weights C1 u+ and C2 u-, and the root is
    sought once a round.

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
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        super().__init__(
            learner=learner,
            n_estimators=n_estimators,
            shrinkage=shrinkage,
            max_bins=max_bins,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.cost_positive = cost_positive
        self.cost_negative = cost_negative

    def _check_parameters(self):
        super()._check_parameters()
        check_positive("cost_positive", self.cost_positive)
        check_positive("cost_negative", self.cost_negative)

    # The weights carried from round to round are those of the gradient, C1 u+ and -C2 u-.

    def _first_weights(self, m, n):
        weights = super()._first_weights(m, n)
        return np.concatenate([self.cost_positive * weights[:m], self.cost_negative * weights[m:]])

    def _coefficient(self, signed_weights, m, outputs, edge):
        if edge <= NO_EDGE:
            return 0.0
        agreement = signed_weights * outputs.dense
        totals = np.array([signed_weights[:m].sum(), -signed_weights[m:].sum()])
        wrong = np.maximum((totals - [agreement[:m].sum(), agreement[m:].sum()]) / 2, 0)  # C1 b, C2 d
        return cost_sensitive_coefficient(totals, wrong, np.array([self.cost_positive, self.cost_negative]))

    def _reweighted(self, signed_weights, m, outputs, coefficient):
        return reweighted(
            signed_weights, m, outputs, self.cost_positive * coefficient, self.cost_negative * coefficient
        )


def cost_sensitive_coefficient(totals, wrong, costs):
    """Return the root of the hyperbolic equation, at most 5 / max(costs).

    Parameters
    ----------
    totals, wrong, costs : ndarray of shape (2,)
        Of positives and negatives: gradient weight (C1 T+, C2 T-), the part of it that is misclassified, cost. The
        edge (totals - 2 wrong).sum() is positive.

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> round(cost_sensitive_coefficient(half, 0.2 * half, np.ones(2)), 6)  # 1/2 log(.8 / .2)
    0.693147
    """

    def excess(a):
        return float((2 * wrong * np.cosh(costs * a) - totals * np.exp(-costs * a)).sum())

    largest = LARGEST_COEFFICIENT / costs.max()
    return largest if excess(largest) <= 0 else brentq(excess, 0.0, largest, xtol=1e-15)
