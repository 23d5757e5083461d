"""Linear scores trained for one slice of the ROC curve: support vector machines for partial AUC and AUC."""

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from paucens.base import (
    BinaryClassifier,
    class_weights,
    distinct_samples,
    history_from_file,
    history_to_file,
    weighted_samples,
)
from paucens.cutting_plane import COARSEST, Master, check_nu, training_rank_range, training_threshold
from paucens.learners import Predictions
from paucens.learners.linear import column_ranges, row_products
from paucens.metrics import check_fpr_range
from paucens.persistence import array_of
from paucens.progress import progress_bar
from paucens.validation import (
    all_or_nothing,
    check_choice,
    check_features,
    check_features_and_target,
    check_integer,
    check_positive,
    check_verbose,
    warn_user,
)

AT_ONCE = 16  # columns taken from X in one pass over its rows
LARGEST = 1e100  # largest feature; its square and sums of squares must be finite
HISTORY = {"objective_": np.float64, "gap_": np.float64}  # see `history_from_file`
FAR_OUT = 1e6  # range of a column, relative to that of nine tenths of it, from which on there are outliers
N_LOOKED_AT = 256  # values of a column, half of which lie close together if nine tenths of all do


class LinearPAUCSVC(BinaryClassifier):
    """Fit a linear score that maximises the area under the ROC curve between two false positive rates.

    Parameters
    ----------
    fpr_range : tuple of two floats, default=(0.0, 0.1)
        0 <= alpha < beta <= 1, the range to maximise the area in. (0, 1) is SVM_AUC.
    nu : float, default=1.0
        Weight of the risk relative to `|w|^2 / 2`.
    formulation : {"tight", "struct"}, default="tight"
        Whether orderings are of the best j_beta negatives or of all negatives.
    cut_tolerance : float, default=1e-3
        Cutting planes stop when (primal - dual) <= cut_tolerance * primal.
    max_iter : int, default=10_000
        Maximum number of cuts.
    pos_label : label, default=None
        The positive label, whose detection at few false alarms is maximised; None means the larger of the two. If it is
        `classes_[0]`, its samples have negative scores: those above 0 are of `classes_[1]` in any case.
    verbose : int, default=0
        Show a progress bar with objective, gap and cuts in use if positive.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    coef_ : ndarray of shape (1, n_features)
        The weights w.
    intercept_ : ndarray of shape (1,)
        Minus the threshold of largest TPR - FPR among those of FPR <= beta on the training samples.
    n_iter_ : int
        Number of cuts.
    objective_, gap_ : ndarray of shape (`n_iter_`,)
        `|w|^2 / 2 + nu R(w)` of the best w after each cut, and an upper bound on its distance from the minimum,
        certified by the dual.
    n_features_in_ : int

    Warns
    -----
    UserWarning
        If the range is narrower than one negative, and if w = 0 is the optimum.
    ConvergenceWarning
        If max_iter cuts do not reach cut_tolerance, or rounding errors keep the fit from it.

    Notes
    -----
    This is SVM_pAUC of Narasimhan and Agarwal, "struct" of ICML 2013 and "tight" of KDD 2013. On [0, 1] both are
    SVM_AUC of Joachims (ICML 2005): nu is the weight of the mean of max(0, 1 - (s_i - t_j)) over all pairs of a
    positive of score s_i and a negative of score t_j. On [0, beta] "tight" takes the mean over the pairs with the
    j_beta highest negatives.

    We depart from the sources as follows: ranks are whole numbers and the loss is divided by m (j_beta - j_alpha)
    (ERRATA.md, E3), the tolerance is relative, and there is an intercept, which is chosen after w.

    A linear score is an ensemble whose learners are the columns, so the cutting planes are those of
    `PAUCEnsClassifier`. They work on one copy of X, float64, with centred columns; a shift of a column does not
    matter. The scale does: standardise the columns, or `|w|^2` means little and more cuts are needed. Large columns
    make `|w|^2` negligible, as a large nu does. Columns whose units differ by more than 1e12 or so leave no digits to
    the smaller ones. Results do not depend on the number of threads that BLAS may use.

    With alpha = 0, w = 0 is the optimum for every nu if no w lifts the mean score of the positives above the mean
    of the j_beta best negatives, as happens for weak features and narrow ranges.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from paucens import partial_auc
    >>> from paucens.structural import LinearPAUCSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> malignant = y == 0
    >>> model = make_pipeline(StandardScaler(), LinearPAUCSVC((0, 0.1))).fit(X[::2], malignant[::2])
    >>> round(partial_auc(malignant[1::2], model.decision_function(X[1::2]), (0, 0.1)), 3)
    0.955
    """

    _has_training_threshold = True

    def __init__(
        self,
        fpr_range=(0.0, 0.1),
        *,
        nu=1.0,
        formulation="tight",
        cut_tolerance=1e-3,
        max_iter=10_000,
        pos_label=None,
        verbose=0,
    ):
        self.fpr_range = fpr_range
        self.nu = nu
        self.formulation = formulation
        self.cut_tolerance = cut_tolerance
        self.max_iter = max_iter
        self.pos_label = pos_label
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X, y, sample_weight=None):
        """Fit the classifier.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Standardised columns.
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
            If the data are not finite, not numeric, empty or beyond 1e100, y has one class or more than two, a weight
            is negative or not finite, a class has no weight, a parameter is out of range, or a range with alpha > 0
            holds no negative.
        TypeError
            If X is sparse.
        """
        self._check_parameters()
        samples = weighted_samples(*check_features_and_target(self, X, y), sample_weight)
        X, positive, values = distinct_samples(*samples, share=0.0)
        weights = class_weights(positive, values)
        n = weights.totals[1]
        rank_range = training_rank_range(n, self.fpr_range)
        sizes = weights.n_positives, weights.n_negatives
        master = Master(*sizes, self.nu, self.formulation, "column", X.shape[1], sample_weights=weights.values)
        with np.errstate(under="ignore"):
            for column in _centred_columns(X, np.argsort(~positive, kind="stable")):
                master.append(Predictions(column, None))
            limit = self._make_cuts(master, rank_range)
            self.coef_ = master.weights[None]
            scores, beta = row_products(X, self.coef_[0]), check_fpr_range(self.fpr_range)[1]
            of_classes = scores[positive], scores[~positive]
            self.intercept_ = np.array([-training_threshold(*of_classes, n, beta, weights=weights.of_classes)])
            self.coef_, self.intercept_ = self._direction() * self.coef_, self._direction() * self.intercept_
        self._warn(limit)
        return self

    def _check_parameters(self):
        check_fpr_range(self.fpr_range)
        check_nu(self.nu)
        check_positive("cut_tolerance", self.cut_tolerance)
        check_choice("formulation", self.formulation, ("tight", "struct"))
        check_integer("max_iter", self.max_iter, 1)
        check_verbose(self.verbose)

    def _make_cuts(self, master, rank_range):
        """Make cuts until the tolerance or a limit is reached; return what stopped progress, None if nothing did."""
        history, ended = [], False
        with progress_bar(verbose=self.verbose, desc="SVM_pAUC", unit="cut") as progress:
            while not ended and len(history) < self.max_iter:
                ended = master.step(rank_range, self.cut_tolerance)
                gap = master.objective - master.bound
                history.append((master.objective, gap))
                progress.update()
                progress.set_postfix(
                    objective=f"{master.objective:.4g}", gap=f"{gap:.1e}", cuts=len(master.cuts), refresh=False
                )
        self.n_iter_ = len(history)
        self.objective_, self.gap_ = (np.array(column) for column in zip(*history, strict=True))
        if abs(gap) <= min(self.cut_tolerance, COARSEST) * master.objective:
            return None
        return "rounding errors" if ended else f"max_iter = {self.max_iter}"

    def _warn(self, limit):
        if limit is not None:
            warn_user(
                f"The fit ended after {self.n_iter_} cuts because of {limit}: the objective of "
                f"{self.objective_[-1]:.4g} may be {self.gap_[-1]:.2g} above the minimum, more than cut_tolerance = "
                f"{self.cut_tolerance:g} of it. Standardise the columns, lower nu, or raise cut_tolerance or max_iter.",
                ConvergenceWarning,
            )
        elif not self.coef_.any():
            warn_user(
                "coef_ is 0: no linear score lifts the positives above the best negatives of the range, so every "
                "sample gets the same score. A wider range or better features help, or PAUCEnsClassifier."
            )

    def decision_function(self, X):
        """Score samples; a positive score means the larger class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,), float64
            X @ coef_[0] + intercept_[0].
        """
        check_is_fitted(self)
        return row_products(check_features(self, X, reset=False), self.coef_[0]) + self.intercept_[0]

    def _fit_to_file(self):
        history, arrays = history_to_file(self, ["n_iter_", *HISTORY])
        return {"fitted": history}, arrays | {"coef_": self.coef_, "intercept_": self.intercept_}

    def _fit_from_file(self, header, arrays):
        self.coef_ = array_of(arrays, "coef_", np.float64, (1, self.n_features_in_))
        self.intercept_ = array_of(arrays, "intercept_", np.float64, (1,))
        history_from_file(self, HISTORY, header["fitted"], arrays)
        with np.errstate(over="ignore"):
            length = np.square(self.coef_).sum()
        if not np.isfinite(length):
            raise ValueError("The length of coef_ is infinite. The file is damaged.")


def _centred_columns(X, order):
    """Yield the columns as float64, rows in this order, each shifted by the middle of its range.

    Orderings give positives and negatives the same total weight, so a shift changes no constraint. A constant column
    becomes exactly 0. If a few samples lie so far out that the middle would cost the others their digits, the shift is
    the median.
    """
    low, high = column_ranges(X, LARGEST)
    middle, limits = low / 2 + high / 2, (high - low) / FAR_OUT
    some = np.random.RandomState(0).randint(len(X), size=N_LOOKED_AT)
    for start in range(0, X.shape[1], AT_ONCE):
        part = slice(start, start + AT_ONCE)
        columns = X[order, part].T.astype(np.float64, order="C")
        for k in np.flatnonzero(_spread(columns[:, some], 4) < limits[part]):  # seldom any: the rest is slow
            if 0 < _spread(columns[k], 20) < limits[start + k]:
                middle[start + k] = np.partition(columns[k], len(X) // 2)[len(X) // 2]
        yield from columns - middle[part, None]


def _spread(columns, n):
    """Return the width of the range of values without an n-th at either end, along the last axis."""
    ranks = [columns.shape[-1] // n, columns.shape[-1] - 1 - columns.shape[-1] // n]
    low, high = np.moveaxis(np.partition(columns, ranks, axis=-1)[..., ranks], -1, 0)
    return high - low
