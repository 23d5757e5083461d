"""The protocol of the weak learners in this package: what an ensemble asks of them besides `fit` and `predict`.

A new learner is one class that fulfils `WeakLearner`, with its `Trainer`, and an entry in `paucens.learners.LEARNERS`.
"""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from paucens.parallel import Threads


class Predictions(NamedTuple):
    """Predictions of one learner on some samples: values[index], or values alone.

    Attributes
    ----------
    values : ndarray of float64
        One value per node of a tree, or one per sample if `index` is None.
    index : ndarray of shape (n_samples,), int32 or uint8, or None
    """

    values: np.ndarray
    index: np.ndarray | None

    @property
    def dense(self) -> np.ndarray:
        """One prediction per sample, ndarray of shape (n_samples,), float64."""
        return self.values if self.index is None else self.values[self.index]

    @property
    def narrow(self) -> Self:
        """The same with an index of bytes, if there are at most 256 values."""
        return (
            self if self.index is None or len(self.values) > 256 else self._replace(index=self.index.astype(np.uint8))
        )


class Trainer(Protocol):
    """Training data prepared once, for the many learners of one ensemble.

    Attributes
    ----------
    prediction_kind : {"sign", "few", "value", "dense"}
        Whether learners predict +-1, one of at most 32 or of at most 256 values each, or any number in [-1, 1]. Of few
        values there may be up to 256, if no more than 32 are predicted.
    last_stage : int
        First round from which on learners may see all columns that they will ever see. A weak learner before it says
        nothing about those after it.
    """

    prediction_kind: str
    last_stage: int

    def samples_columns(self, round: int) -> bool:
        """Tell whether `every_column` makes a difference in a round."""

    def train(self, signed_weights: npt.ArrayLike, round: int, every_column: bool = False) -> tuple[Any, Predictions]:
        """Train the learner of a round; return it and its `Predictions` on the training samples."""

    def predictions_of(self, learner: Any) -> Predictions:
        """Return the `Predictions` of a learner of this trainer on the training samples."""


@runtime_checkable
class WeakLearner(Protocol):
    """A scikit-learn estimator that trains on signed weights, inside an ensemble or alone.

    Attributes
    ----------
    allow_nan : bool
        Whether X may hold missing values, NaN.
    """

    allow_nan: bool

    def fit(self, X: npt.ArrayLike, signed_weights: npt.ArrayLike) -> Any:
        """Fit the learner alone, on raw features."""

    def predict(self, X: npt.ArrayLike) -> np.ndarray:
        """Predict values in [-1, 1] for raw features."""

    def check_parameters(self) -> None:
        """Raise ValueError or TypeError if a parameter is out of range, whatever the data are."""

    def make_trainer(
        self,
        X: np.ndarray,
        order: np.ndarray,
        max_bins: int,
        threads: "Threads",
        seed: Any,
        positives: np.ndarray | None = None,
        weights: np.ndarray | None = None,
    ) -> Trainer:
        """Prepare X for the learners of an ensemble.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features), float32 or float64
            Finite but for missing values, if `allow_nan`; so it is for `predictions`.
        order : ndarray of int32
            The rows of X in the order of the signed weights (positives first).
        max_bins : int
        threads : Threads
        seed : int
            Column samples of round t come from (seed, t).
        positives : ndarray of int32, default=None
            Rows of the positives, for bins that see the tails; learners without bins do without.
        weights : ndarray of shape (n_samples,), default=None
            How much each row of X counts. Signed weights contain this factor already; it is for means over rows and
            quantiles.

        Returns
        -------
        Trainer
        """

    def predictions(self, X: np.ndarray, threads: "Threads") -> Predictions:
        """Return what `predict` returns as `Predictions`, for an X that is a checked float array already."""

    @staticmethod
    def to_arrays(learners: list[Any]) -> dict[str, np.ndarray]:
        """Return fitted learners as named arrays, end to end, for a file."""

    def from_arrays(self, arrays: dict[str, np.ndarray]) -> list[Any]:
        """Return the learners in `arrays`, with the parameters and `n_features_in_` of this one.

        Raises
        ------
        ValueError
            If an index points outside its array, or an array has another shape or type or is not finite.
        """
