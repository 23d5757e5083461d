"""Base of every classifier here, whatever its scores are made of: two classes, separated at a score of 0; files."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from paucens import persistence
from paucens._types import PathLike
from paucens.base.files import classifier_from_file, classifier_to_file
from paucens.validation import warn_user


class BinaryClassifier(ClassifierMixin, BaseEstimator):
    """Base of classifiers that predict by the sign of `decision_function`; their `fit` sets `classes_`.

    A subclass has the parameter `pos_label` and the methods `_check_parameters`, which raises ValueError or TypeError
    if a parameter is out of range, `_fit_to_file`, which returns what its fit has set as header values and arrays, and
    `_fit_from_file`, which sets it.
    """

    _has_training_threshold = False  # whether the score of 0 is a false positive rate of the training samples

    classes_: np.ndarray
    n_features_in_: int

    def predict(self, X: npt.ArrayLike) -> np.ndarray:
        """Predict the class: `classes_[1]` if the score is positive, otherwise `classes_[0]`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)

        Warns
        -----
        UserWarning
            If the threshold keeps a false positive rate on the training samples only.
        """
        check_is_fitted(self)
        if self._has_training_threshold:
            warn_user(
                f"The threshold of predict keeps the false positive rate of {self.fpr_range[1]:g} on the training "
                "samples, to which the scores were fitted. On new samples the rate may be several times that. "
                "FPRThresholdClassifier sets a threshold that holds for new samples."
            )
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def _direction(self):
        """Return -1 if the positive class is `classes_[0]`, for which scores are to be turned round, otherwise 1."""
        return 1 if self.pos_label is None or self.pos_label == self.classes_[1] else -1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    # -- files -------------------------------------------------------------------------------------

    def save(self, path: PathLike) -> None:
        """Write the fitted classifier to one `.npz` file, without pickle.

        Parameters
        ----------
        path : path-like
            The file is written exactly there, completely or not at all: "model" gets no suffix, an existing file is
            replaced, and a link is followed.

        Raises
        ------
        TypeError
            If a learner is not a `Tree`, `Stump` or `Linear`, a class label is not a number, bool or string, or a
            parameter is of a type that a file cannot hold.
        ValueError
            If a parameter has been set to a value that `fit` would refuse.
        OSError
            If the folder is missing or cannot be written to, or the disk is full.

        Notes
        -----
        Parameters, labels and names of features come back with their types. A generator given as `random_state` does
        not: it is not part of the model.
        """
        persistence.save(path, *self._to_file())

    def _to_file(self):
        """Return what `save` writes, a header and arrays."""
        check_is_fitted(self)
        self._check_parameters()
        own_header, own_arrays = self._fit_to_file()
        header, arrays = classifier_to_file(self)
        return header | own_header, arrays | own_arrays

    @classmethod
    def load(cls, path: PathLike) -> Self:
        """Read a classifier written by `save`; it scores the same, bit for bit.

        Parameters
        ----------
        path : path-like

        Returns
        -------
        model : fitted instance of this class

        Raises
        ------
        ValueError
            If the file is damaged, of another class or version, or holds a number or a parameter that is out of range.
            The message names the file.
        OSError
            If it does not exist or cannot be read.
        """
        with persistence.opened(path, cls.__name__) as (header, arrays):
            return cls._from_file(header, arrays)

    @classmethod
    def _from_file(cls, header, arrays):
        """Make a fitted classifier of what `_to_file` returns."""
        model = classifier_from_file(cls, header, arrays)
        model._check_parameters()
        model._fit_from_file(header, arrays)
        return model
