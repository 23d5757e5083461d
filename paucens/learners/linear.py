"""A linear classifier as weak learner, through LIBLINEAR."""

import copy

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from paucens.learners.foreign import in_row_order
from paucens.learners.protocol import Predictions
from paucens.persistence import array_of
from paucens.validation import all_or_nothing, check_features, check_signed_weights, check_within

TOLERANCE = 0.01  # LIBLINEAR's own default for this solver
# Beyond these limits products of features and C overflow in LIBLINEAR, and it runs on for ever.
LARGEST_FEATURE = 1e30
SMALLEST_FEATURE = 1e-120  # smaller values count as 0: times C and squared they would vanish, and LIBLINEAR not end
LEAST_C, LARGEST_C = 1e-30, 1e30
BLOCK_BYTES = 1_000_000  # of rows that are copied at a time


class Linear(BaseEstimator):
    """Fit a linear classifier to signed weights; predict +1 or -1.

    Parameters
    ----------
    C : float in [1e-30, 1e30], default=1.0
        Weight of the loss of a sample of mean magnitude relative to `|coef|^2 / 2`. With weights of samples in an
        ensemble, the mean is per unit of weight.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    n_features_in_ : int

    Notes
    -----
    The solver is LIBLINEAR (Fan et al. 2008) through scikit-learn's `LinearSVC`: the squared hinge loss, solved in the
    primal, which draws no random numbers, to LIBLINEAR's default tolerance. Magnitudes are rescaled to mean 1 over the
    rows of nonzero weight; the other rows are left out. If only one class has weight, that class is predicted for
    every row. A classifier with a negative edge is turned round.

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

    allow_nan = False

    def __init__(self, C=1.0):
        self.C = C

    @all_or_nothing
    def fit(self, X, signed_weights):
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        signed_weights : array-like of shape (n_samples,)
            u_l y_l: the magnitude says how much a sample counts, the sign to which class it belongs.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X or the weights are not finite, a feature is beyond 1e30, their lengths differ or C is out of range.
        """
        X = check_features(self, X)
        weights = check_signed_weights(signed_weights, len(X))
        self.check_parameters()
        column_ranges(X, LARGEST_FEATURE)
        with np.errstate(under="ignore"):
            return self._fit_checked(X, weights)

    def _fit_checked(self, X, weights, sample_weight=None):
        self.n_features_in_ = X.shape[1]
        mean = _mean_magnitude(weights, sample_weight) if weights.any() else 1.0
        magnitudes = np.abs(weights) / mean
        used = np.flatnonzero(magnitudes)  # weights that vanish beside the others are none
        positive = weights[used] > 0
        if positive.all() or not positive.any():
            self.coef_, self.intercept_ = np.zeros(X.shape[1]), 1.0 if positive.all() else -1.0
            return self
        tolerance = TOLERANCE
        if sample_weight is not None:
            counted = np.bincount(positive, sample_weight[used])
            tolerance *= _rarer_share(counted) / _rarer_share(np.bincount(positive))
        svm = LinearSVC(C=self.C, dual=False, tol=tolerance)
        rows = X[used]
        rows[np.abs(rows) < SMALLEST_FEATURE] = 0.0
        svm.fit(rows, positive, sample_weight=magnitudes[used])
        self.coef_, self.intercept_ = svm.coef_[0], float(svm.intercept_[0])
        if float((weights * self.predictions(X).dense).sum()) < 0:
            self.coef_, self.intercept_ = -self.coef_, -self.intercept_
        return self

    def predict(self, X):
        """Predict +1 on the hyperplane and above, -1 below.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        predicted : ndarray of shape (n_samples,), float64
        """
        check_is_fitted(self)
        return self.predictions(check_features(self, X, reset=False)).dense

    # -- the protocol of weak learners -------------------------------------------------------------

    def check_parameters(self):
        """Raise ValueError if C is out of range."""
        check_within("C", self.C, LEAST_C, LARGEST_C, "0.01 to 100")

    def make_trainer(self, X, order, max_bins, threads, seed, positives=None, weights=None):
        """Prepare X for the learners of an ensemble; see `WeakLearner`."""
        column_ranges(X, LARGEST_FEATURE)
        return LinearTrainer(self, X, order, weights)

    def predictions(self, X, threads=None):
        """Return what `predict` returns as `Predictions`, for an X that is already a finite float array."""
        is_positive = row_products(X, self.coef_) + self.intercept_ >= 0
        return Predictions(np.array([-1.0, 1.0]), is_positive.astype(np.int32))

    @staticmethod
    def to_arrays(learners):
        """Return the coefficients of all learners end to end, a dict of arrays."""
        return {
            "linear/coef": np.concatenate([learner.coef_ for learner in learners]),
            "linear/intercept": np.array([learner.intercept_ for learner in learners]),
        }

    def from_arrays(self, arrays):
        """Return the learners in `arrays`; raise ValueError if the file is damaged."""
        intercepts = array_of(arrays, "linear/intercept", np.float64, (None,))
        coefs = array_of(arrays, "linear/coef", np.float64, (len(intercepts) * self.n_features_in_,))
        if len(intercepts) == 0:
            raise ValueError("There is no linear learner. The file is damaged.")
        learners = []
        for coef, intercept in zip(np.split(coefs, len(intercepts)), intercepts, strict=True):
            learner = copy.copy(self)
            learner.coef_, learner.intercept_ = coef, float(intercept)
            learners.append(learner)
        return learners


class LinearTrainer:
    """`Trainer` of linear classifiers, whose predictions are bits."""

    prediction_kind = "sign"
    last_stage = 0

    def __init__(self, learner, X, order, weights=None):
        self._learner, self._X, self._order, self._weights = learner, X, order, weights

    def samples_columns(self, round):
        """Return False: every learner sees all columns."""
        return False

    def train(self, signed_weights, round, every_column=False):
        """Train the learner of a round; see `Trainer`."""
        signed_weights = in_row_order(signed_weights, self._order)
        learner = clone(self._learner)._fit_checked(self._X, signed_weights, self._weights)
        return learner, self.predictions_of(learner)

    def predictions_of(self, learner):
        """Return the predictions on the training samples."""
        predicted = learner.predictions(self._X)
        return Predictions(predicted.values, predicted.index[self._order])


def _mean_magnitude(weights, sample_weight):
    """Return the mean magnitude over the rows of nonzero weight, each of which counts `sample_weight` times."""
    used = weights != 0
    if sample_weight is None:
        return np.abs(weights[used]).mean()
    return np.abs(weights[used]).sum() / sample_weight[used].sum()


def _rarer_share(counts):
    """Return the factor that LIBLINEAR puts on its tolerance: the share of the rarer class, of rows for LIBLINEAR."""
    return counts.min() / counts.sum()


@np.errstate(under="ignore")
def row_products(X, coef):
    """Compute X @ coef such that the result for a row depends on neither the other rows nor the layout or type of X.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64
    coef : ndarray of shape (n_features,)

    Returns
    -------
    products : ndarray of shape (n_samples,), float64
    """
    products = np.empty(len(X))
    height = max(1, BLOCK_BYTES // (8 * X.shape[1]))
    for start in range(0, len(X), height):
        rows = np.ascontiguousarray(X[start : start + height], dtype=np.float64)
        # Unlike a product by BLAS or einsum, a sum along contiguous rows adds in the same order for every row.
        np.sum(rows * coef, axis=1, out=products[start : start + height])
    return products


def column_ranges(X, largest):
    """Return the smallest and the largest value of each column, two arrays of float64.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64
    largest : float

    Raises
    ------
    ValueError
        If a value is beyond +-largest.
    """
    low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    widest = int(np.argmax(np.maximum(-low, high)))
    if max(-low[widest], high[widest]) > largest:
        raise ValueError(
            f"Features must lie within +-{largest:g}; column {widest} spans {low[widest]:g} to {high[widest]:g}. "
            "Standardise the columns first."
        )
    return low, high
