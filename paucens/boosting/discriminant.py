"""AdaBoost whose coefficients are replaced by Fisher's discriminant on the outputs of its learners."""

from contextlib import suppress

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from threadpoolctl import threadpool_limits

from paucens.boosting.rounds import Booster
from paucens.learners.binning import MAX_BINS
from paucens.validation import check_positive

NO_SCATTER = 1e-12  # mean variance of an output that is rounding


class AdaBoostLDAClassifier(Booster):
    """Fit AdaBoost, then weigh its learners by Fisher's linear discriminant (Wu et al. 2008).

    Parameters
    ----------
    ridge : float, default=1e-6
        Added to the diagonal of the scatter S of T learners, in units of trace(S) / T. Outputs +-1 are often
        collinear.
    learner, n_estimators, shrinkage, max_bins, n_jobs, random_state, verbose
        As in `AdaBoostClassifier`.

    Attributes
    ----------
    classes_, learners_, n_iter_, feature_importances_
        As in `AdaBoostClassifier`.
    weights_, threshold_
        w = (S + ridge trace(S) / T)^-1 (mu+ - mu-), S = S+ + S- the covariances of the outputs within the classes,
        mu+ and mu- their means; the threshold is halfway between the projected means, w . (mu+ + mu-) / 2.

    Notes
    -----
    The discriminant is solved anew for the first t learners of every stage t. Without scatter (a learner without
    error) the stage keeps AdaBoost's weights. Weights may be negative. The outputs on the training samples are kept
    during the fit, 8 bytes each.

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
        self.ridge = ridge

    def _check_parameters(self):
        super()._check_parameters()
        check_positive("ridge", self.ridge, zero=True)

    def _assemble(self, rounds, m, n):
        moments = (Moments(self.n_estimators, m), Moments(self.n_estimators, n))
        learners, coefficients, stages, thresholds = [], [], [], []
        with threadpool_limits(1):  # the bits of a factorisation depend on the number of threads
            for learner, outputs, coefficient in rounds:
                learners.append(learner)
                coefficients.append(coefficient)
                for part, of_class in zip(moments, np.split(outputs.dense, [m]), strict=True):
                    part.append(of_class)
                positive, negative = (part.mean for part in moments)
                weights = discriminant(positive - negative, sum(part.covariance for part in moments), self.ridge)
                stages.append(np.array(coefficients) if weights is None else weights)
                thresholds.append(float((stages[-1] * (positive + negative)).sum() / 2))
        self._set_stages(learners, stages, np.array(thresholds))


class Moments:
    """Mean and covariance of the outputs of the learners so far, on the samples of one class."""

    def __init__(self, n_learners, n_samples):
        self._outputs = np.empty((n_learners, n_samples))
        self._products = np.empty((n_learners, n_learners))
        self._means = np.empty(n_learners)
        self._t = 0

    def append(self, outputs):
        """Add the outputs of one learner, ndarray of shape (n_samples,)."""
        t = self._t
        self._outputs[t] = outputs
        self._means[t] = outputs.mean()
        # einsum, unlike a product by BLAS, adds in one order whatever the number of threads
        row = np.einsum("ti,i->t", self._outputs[: t + 1], outputs) / len(outputs)
        self._products[t, : t + 1] = self._products[: t + 1, t] = row
        self._t += 1

    @property
    def mean(self):
        """ndarray of shape (t,)."""
        return self._means[: self._t]

    @property
    def covariance(self):
        """ndarray of shape (t, t), divided by the number of samples."""
        return self._products[: self._t, : self._t] - np.outer(self.mean, self.mean)


def discriminant(difference, scatter, ridge):
    """Solve (S + ridge trace(S) / t) w = mu+ - mu-; the least w where S is singular, None without scatter.

    Parameters
    ----------
    difference : ndarray of shape (t,)
    scatter : ndarray of shape (t, t)
    ridge : float
    """
    variance = np.trace(scatter) / len(scatter)
    if variance <= NO_SCATTER:
        return None
    scatter = scatter + ridge * variance * np.eye(len(scatter))
    if ridge > 0:
        with suppress(LinAlgError):  # a ridge below rounding
            return cho_solve(cho_factor(scatter), difference)
    return np.linalg.lstsq(scatter, difference)[0]
