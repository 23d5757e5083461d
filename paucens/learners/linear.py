"""A linear classifier as weak learner, through LIBLINEAR."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from paucens.validation import all_or_nothing, check_features, check_positive, check_signed_weights

TOLERANCE = 0.01  # LIBLINEAR's own default for this solver


class Linear(BaseEstimator):
    """Fit a linear classifier to signed weights; answer +1 or -1.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss of a sample of mean magnitude against |coef|^2 / 2.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    n_features_in_ : int

    Notes
    -----
    LIBLINEAR (Fan et al. 2008) through scikit-learn's `LinearSVC`: squared hinge loss, solved in the primal, which
    draws no random numbers, to LIBLINEAR's default tolerance. Magnitudes are rescaled to mean 1 over the rows that
    have a weight; rows without are left out. Where only one class has weight, the answer is that class for every row.
    A classifier of negative edge is turned round.

    The hinge loss is not the edge, so the stopping rule of an ensemble of these is no certificate (ERRATA.md, E12).
    Features should be of similar scale: put a `StandardScaler` before the ensemble.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens import Linear
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Linear().fit(X, [-0.4, -0.1, 0.1, 0.4]).predict(X)
    array([-1., -1.,  1.,  1.])
    """

    def __init__(self, C=1.0):
        self.C = C

    @all_or_nothing
    def fit(self, X, signed_weights):
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        signed_weights : array-like of shape (n_samples,)
            u_l y_l: the magnitude says how much a sample counts, the sign on which side it belongs.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Where X or the weights are not finite, their lengths differ or C is not positive.
        """
        X = check_features(self, X)
        weights = check_signed_weights(signed_weights, len(X))
        check_positive("C", self.C)
        return self.fit_checked(X, weights)

    def fit_checked(self, X, weights):
        """As `fit`, where X and the weights have been checked."""
        self.n_features_in_ = X.shape[1]
        used = np.flatnonzero(weights)
        positive, magnitudes = weights[used] > 0, np.abs(weights[used])
        if positive.all() or not positive.any():
            self.coef_, self.intercept_ = np.zeros(X.shape[1]), 1.0 if positive.all() else -1.0
            return self
        svm = LinearSVC(C=self.C, dual=False, tol=TOLERANCE)
        svm.fit(X[used], positive, sample_weight=magnitudes / magnitudes.mean())
        self.coef_, self.intercept_ = svm.coef_[0], float(svm.intercept_[0])
        if float((weights * self.predict_checked(X)).sum()) < 0:
            self.coef_, self.intercept_ = -self.coef_, -self.intercept_
        return self

    def predict(self, X):
        """Return the outputs, +1 on the hyperplane and above, -1 below.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        output : ndarray of shape (n_samples,), float64
        """
        check_is_fitted(self)
        return self.predict_checked(check_features(self, X, reset=False))

    def predict_checked(self, X):
        """As `predict`, where X is a finite float array already."""
        # einsum, unlike a product by BLAS, adds in the same order for every row
        return np.where(np.einsum("ij,j->i", X, self.coef_) + self.intercept_ >= 0, 1.0, -1.0)
