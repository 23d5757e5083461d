"""AsymBoost: AdaBoost that leans towards one class a little in every round."""

import math

import numpy as np

from paucens.boosting.rounds import Booster
from paucens.learners.binning import MAX_BINS
from paucens.validation import check_positive


class AsymBoostClassifier(Booster):
    """Fit AsymBoost (Viola and Jones 2002): the asymmetry k is spread evenly over the rounds.

    Parameters
    ----------
    asymmetry : float, default=1.0
        k, how many times as much a missed positive costs as a false alarm. 1 is AdaBoost.
    learner, n_estimators, shrinkage, max_bins, n_jobs, random_state, verbose
        As in `AdaBoostClassifier`.

    Attributes
    ----------
    classes_, learners_, weights_, threshold_, n_iter_, feature_importances_
        As in `AdaBoostClassifier`.

    Notes
    -----
    Before each of the T = n_estimators rounds the weights are multiplied by k^(y / 2T), y = +1 or -1, and
    normalised. Put into the first round at once, the asymmetry would be used up by the first learner. T must be
    known beforehand: the stage after t rounds has taken in k^(t / T) only, and so has a fit that stops early.

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
        self.asymmetry = asymmetry

    def _check_parameters(self):
        super()._check_parameters()
        check_positive("asymmetry", self.asymmetry)

    def _first_weights(self, m, n):
        return self._tilted(super()._first_weights(m, n), m)

    def _reweighted(self, signed_weights, m, outputs, coefficient):
        return self._tilted(super()._reweighted(signed_weights, m, outputs, coefficient), m)

    def _tilted(self, signed_weights, m):
        """Multiply positives by k^(1 / 2T) and negatives by its inverse."""
        factor = math.exp(math.log(self.asymmetry) / (2 * self.n_estimators))
        return np.concatenate([signed_weights[:m] * factor, signed_weights[m:] / factor])
