"""A classifier at an operating point: scores of any estimator, and a threshold whose false positive rate holds."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.utils import _safe_indexing, assert_all_finite, get_tags
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter, indexable

from paucens import boosting, persistence
from paucens._types import PathLike
from paucens.ensemble import PAUCEnsClassifier
from paucens.metrics import threshold_at_fpr
from paucens.metrics.binomial import largest_rate, most_above
from paucens.structural import LinearPAUCSVC
from paucens.validation import (
    all_or_nothing,
    check_integer,
    check_level,
    check_number,
    check_positive,
    check_sample_weight,
    check_two_classes,
    check_within,
    positive_code,
)

SMALLEST = np.nextafter(0, 1)
OF_ESTIMATOR = "estimator/"  # what the names of its arrays begin with in a file
SAVED = {
    kind.__name__: kind
    for kind in (PAUCEnsClassifier, LinearPAUCSVC, *(getattr(boosting, name) for name in boosting.__all__))
}


def _response_of(estimator):
    """Name the method that scores samples."""
    for name in ("decision_function", "predict_proba"):
        if hasattr(estimator, name):
            return name
    raise ValueError(f"The estimator must have decision_function or predict_proba; {estimator!r} has neither.")


class FPRThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Set the threshold of a classifier such that its false positive rate stays within a bound on new samples.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier of two classes with `decision_function` or `predict_proba`. One that is fitted
        already comes in a ``sklearn.frozen.FrozenEstimator``.
    max_fpr : float, default=0.01
        Bound on the false positive rate, in (0, 1].
    confidence : float, default=0.95
        Probability that the bound holds. None sets the threshold that keeps the bound on the samples it is set on; on
        new ones it is broken about half of the time.
    cv : int, splitter or None, default=None
        None holds out a part of the samples, which sets the threshold. Otherwise the samples are scored by
        cross-validation, and the estimator is fitted again to all of them. That wastes no samples, but the scores are
        those of other fits, so nothing is guaranteed.
    test_size : float or int, default=0.3
        Share, or number, of the samples that are held out; not used with `cv` or a `FrozenEstimator`.
    pos_label : label, default=None
        The positive label; None means the larger of the two.
    random_state : int, RandomState or None, default=None
        Source of the split.

    Attributes
    ----------
    estimator_ : fitted classifier
    threshold_ : float
        Samples whose score is above it are predicted positive. It is a threshold of ``estimator_.decision_function``,
        or of the ``predict_proba`` of the positive class if there is none. If the positive class is the smaller one
        of the labels, it is one of the negative of the decision function.
    fpr_bound_ : float
        The rate that holds with the confidence, at most `max_fpr`. Without a confidence, the rate of the samples that
        set the threshold.
    n_negatives_ : int
        Number of negatives, of nonzero weight, that set the threshold.
    classes_ : ndarray of shape (2,)
        The labels, sorted.

    Notes
    -----
    With ``cv=None`` or a `FrozenEstimator` the guarantee is exact. The false positive rate on new samples of the same
    distribution exceeds `max_fpr` with a probability of at most 1 - confidence, for every distribution of scores (see
    `threshold_at_fpr`). The probability is over the samples that set the threshold. It is not for samples that belong
    together, such as frames of a video: they are not independent.

    Weights do not change what the guarantee is about, samples that were drawn independently: repeated ones are not, and
    a rate of unequal weights is no share of samples. So with a confidence negatives of unequal weight are refused, and
    each one counts once. Without a confidence, rates are weighted.

    A guarantee takes negatives: 299 that set the threshold for a rate of 0.01 at 0.95, 2995 for 0.001. With fewer,
    `fit` says how many it takes.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from paucens import FPRThresholdClassifier
    >>> from paucens.datasets import load_toy
    >>> X, y = load_toy(400, 2000, random_state=0)
    >>> model = FPRThresholdClassifier(LogisticRegression(), max_fpr=0.05, random_state=0).fit(X, y)
    >>> X_new, y_new = load_toy(400, 20000, random_state=1)
    >>> round(float(model.predict(X_new)[y_new == 0].mean()), 3)
    0.031

    A model that is fitted already, with a threshold from samples that it has not seen:

    >>> from sklearn.frozen import FrozenEstimator
    >>> fitted = LogisticRegression().fit(X[::2], y[::2])
    >>> model = FPRThresholdClassifier(FrozenEstimator(fitted), max_fpr=0.05).fit(X[1::2], y[1::2])
    >>> model.n_negatives_
    1000
    """

    classes_: np.ndarray
    estimator_: Any
    threshold_: float
    fpr_bound_: float
    n_negatives_: int

    def __init__(
        self,
        estimator: Any,
        max_fpr: float = 0.01,
        *,
        confidence: float | None = 0.95,
        cv: Any = None,
        test_size: float = 0.3,
        pos_label: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.estimator = estimator
        self.max_fpr = max_fpr
        self.confidence = confidence
        self.cv = cv
        self.test_size = test_size
        self.pos_label = pos_label
        self.random_state = random_state

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
        *,
        groups: npt.ArrayLike | None = None,
    ) -> Self:
        """Fit the estimator and set the threshold.

        Parameters
        ----------
        X : whatever the estimator is fitted to, of n_samples rows
        y : array-like of shape (n_samples,)
            Two labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts, for the estimator and for the threshold; 0 leaves one out. With a confidence
            the negatives that count must have equal weights, such as those of a class. A split drawn at random draws
            samples, not weights.
        groups : array-like of shape (n_samples,), default=None
            Groups of samples that a splitter given as `cv` keeps together.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If y has one class or more than two, a parameter is out of range, there are too few negatives for the
            confidence, or weights are not allowed: negative, not finite, zero for a class, unequal among the negatives
            with a confidence, or for an estimator whose fit takes none.
        """
        check_positive("max_fpr", self.max_fpr, most=1)
        if self.confidence is not None:
            check_level("confidence", self.confidence)
        if groups is not None and self.cv is None:
            raise ValueError("groups are for a splitter. Pass one as cv, such as sklearn.model_selection.GroupKFold().")
        X, y = indexable(X, y)
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        self.classes_, code = check_two_classes(y)
        self._positive = positive_code(self.classes_, self.pos_label)
        is_positive = code == self._positive
        weights = check_sample_weight(sample_weight, is_positive)
        if weights is not None:
            self._check_use_of_weights(weights[~is_positive])
        scores, rows = self._fit_and_score(X, y, groups, weights)
        self._set_threshold(scores, is_positive[rows], None if weights is None else weights[rows])
        self._take_features_of_estimator()
        return self

    def _take_features_of_estimator(self):
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    def _check_use_of_weights(self, of_negatives):
        """Raise ValueError if weights would be ignored, or would void the guarantee, which counts samples."""
        frozen = isinstance(self.estimator, FrozenEstimator)
        if not frozen and not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                f"{type(self.estimator).__name__}.fit takes no sample_weight. Fit the estimator with weights in its "
                "own way and pass FrozenEstimator(fitted), or set sample_weight=None."
            )
        counted = of_negatives[of_negatives > 0]
        if self.confidence is not None and counted.min() < counted.max():
            raise ValueError(
                "The guarantee of a confidence counts negatives, so that they must have equal weights; got weights "
                f"from {counted.min():g} to {counted.max():g}. Set confidence=None for the weighted rate. If weights "
                "are for the estimator only, pass FrozenEstimator(fitted with weights), and no weights here."
            )

    def _fit_and_score(self, X, y, groups, weights):
        """Fit the estimator; return scores of samples for the threshold, and which rows these are."""
        rows = np.arange(len(y))
        if self.cv is not None:
            arguments = {} if weights is None else {"sample_weight": weights}
            self.estimator_ = clone(self.estimator).fit(X, y, **arguments)
            method = _response_of(self.estimator_)
            response = cross_val_predict(
                self.estimator, X, y, groups=groups, cv=self.cv, method=method, params=arguments or None
            )
            return self._of_positives(response), rows
        if isinstance(self.estimator, FrozenEstimator):
            self.estimator_ = self.estimator
        else:
            fitted, rows = train_test_split(rows, test_size=self.test_size, stratify=y, random_state=self.random_state)
            arguments = {} if weights is None else {"sample_weight": weights[fitted]}
            self.estimator_ = clone(self.estimator).fit(_safe_indexing(X, fitted), y[fitted], **arguments)
        return self._scores(_safe_indexing(X, rows)), rows

    def _set_threshold(self, scores, is_positive, weights):
        if weights is not None and self.confidence is not None:  # negatives have equal weights, or 0
            scores, is_positive, weights = scores[weights > 0], is_positive[weights > 0], None
        self.threshold_ = threshold_at_fpr(
            is_positive, scores, self.max_fpr, confidence=self.confidence, sample_weight=weights
        )
        counts = np.ones(len(scores)) if weights is None else weights
        n = self.n_negatives_ = int(np.count_nonzero(counts[~is_positive]))
        if self.confidence is None:
            above = scores[~is_positive] > self.threshold_
            self.fpr_bound_ = float(np.average(above, weights=counts[~is_positive]))
        else:
            error = 1 - self.confidence
            self.fpr_bound_ = largest_rate(most_above(n, self.max_fpr, error), n, error)

    def _scores(self, X):
        return self._of_positives(getattr(self.estimator_, _response_of(self.estimator_))(X))

    def _of_positives(self, response):
        """Return scores that are larger for the positive class."""
        if np.ndim(response) == 2:
            return response[:, self._positive]
        return response if self._positive == 1 else -response

    def decision_function(self, X: Any) -> np.ndarray:
        """Return how far the scores are from the threshold; above 0 the prediction is `classes_[1]`.

        Parameters
        ----------
        X : whatever the estimator predicts from, of n_samples rows

        Returns
        -------
        scores : ndarray of shape (n_samples,), float64
            The score minus `threshold_`. If the positive class is `classes_[0]`, the negative of that.
        """
        check_is_fitted(self)
        margin = self._scores(X) - np.float64(self.threshold_)
        if self._positive == 1:
            return margin
        return np.where(margin > 0, -margin, np.maximum(-margin, SMALLEST))  # at the threshold is not above it

    def predict(self, X: Any) -> np.ndarray:
        """Predict the positive class if the score is above `threshold_`, otherwise the other one.

        Parameters
        ----------
        X : whatever the estimator predicts from, of n_samples rows

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        above = self.decision_function(X) > 0
        return self.classes_[above.astype(int)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    # -- files -------------------------------------------------------------------------------------

    def save(self, path: PathLike) -> None:
        """Write a classifier of this package and its threshold to one `.npz` file, without pickle.

        Parameters
        ----------
        path : path-like
            As in the `save` of the classifier.

        Raises
        ------
        TypeError
            If the estimator is not a classifier of this package, or its own `save` would raise it.
        OSError
            If the folder is missing or cannot be written to, or the disk is full.
        """
        check_is_fitted(self)
        estimator = self.estimator_.estimator if isinstance(self.estimator_, FrozenEstimator) else self.estimator_
        if type(estimator) not in SAVED.values():
            raise TypeError(
                f"Only classifiers of paucens can be saved; this one holds {type(estimator).__name__}. Use joblib or "
                "skops for others."
            )
        header, arrays = estimator._to_file()
        own = {
            "kind": type(self).__name__,
            "max_fpr": self.max_fpr,
            "confidence": self.confidence,
            "pos_label_is": self._positive,
            "threshold": float(self.threshold_),
            "fpr_bound": self.fpr_bound_,
            "n_negatives": self.n_negatives_,
            "estimator": header,
        }
        persistence.save(path, own, {OF_ESTIMATOR + name: array for name, array in arrays.items()})

    @classmethod
    def load(cls, path: PathLike) -> Self:
        """Read a classifier written by `save`; it scores and predicts the same, bit for bit.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        model : FPRThresholdClassifier
            Its estimator is fitted already, in a `FrozenEstimator`.

        Raises
        ------
        ValueError
            If the file is damaged, of another class or version, or holds a number or a parameter that is out of range.
            The message names the file.
        OSError
            If it does not exist or cannot be read.
        """
        with persistence.opened(path, cls.__name__) as (header, arrays):
            own = {name.removeprefix(OF_ESTIMATOR): array for name, array in arrays.items()}
            estimator = SAVED[header["estimator"]["kind"]]._from_file(header["estimator"], own)
            positive = check_integer("pos_label_is", header["pos_label_is"], 0, 1)
            model = cls(
                FrozenEstimator(estimator),
                check_positive("max_fpr", header["max_fpr"], most=1),
                confidence=header["confidence"],
                pos_label=estimator.classes_[positive],
            )
            if model.confidence is not None:
                check_level("confidence", model.confidence)
            model.estimator_, model.classes_, model._positive = model.estimator, estimator.classes_, positive
            model.threshold_ = check_number("threshold", header["threshold"])
            model.fpr_bound_ = check_within("fpr_bound", header["fpr_bound"], 0, 1, "0.01")
            model.n_negatives_ = check_integer("n_negatives", header["n_negatives"], 1)
            model._take_features_of_estimator()
        return model
