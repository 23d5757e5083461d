"""The weighted sum of learners that all ensembles here are: scores, stages, importances, files."""

import copy
import weakref
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from paucens import persistence
from paucens._kernels.stores import add_values
from paucens.base.binary import BinaryClassifier
from paucens.base.categories import (
    categories_from_file,
    categories_to_file,
    check_categorical_features,
    check_new_table,
    check_splits,
)
from paucens.base.exports import ExportedTrees
from paucens.base.files import (
    estimator_to_json,
    history_from_file,
    history_to_file,
    learners_from_arrays,
    learners_to_arrays,
)
from paucens.base.readable import as_text
from paucens.learners import Tree, adapted
from paucens.learners.binning import MAX_BINS
from paucens.learners.forest import Forest
from paucens.parallel import Threads
from paucens.validation import check_integer, check_jobs, check_verbose, warn_user

HISTORY = {}  # attributes besides n_iter_ that tell how a fit went, see `history_from_file`
FEW_ROUNDS = 10  # a fit that ends before needs an explanation
FORESTS = weakref.WeakKeyDictionary()  # of fitted ensembles: learners, weights, and the trees put together
BLOCK = 16_384  # samples whose scores stay in the cache while learner after learner is added


class WeightedEnsemble(ExportedTrees, BinaryClassifier):
    """`f(x) = sum_t weights_[t] h_t(x) - threshold_`, and everything that follows from it.

    A subclass has the parameters `learner`, `n_estimators`, `max_bins`, `categorical_features`, `n_jobs` and
    `random_state`, and a `fit` that begins with `prepare` and ends with a call of `_set_fit`.

    Attributes
    ----------
    default_learner : WeakLearner
        The learner that is used if `learner` is None.
    """

    default_learner: Any = Tree(depth=3)
    _fitted_attributes = HISTORY
    _history = ()  # names of other attributes with a value per round

    learners_: list[Any]
    weights_: np.ndarray
    threshold_: float
    n_iter_: int
    categories_: dict[int, Any]

    def _set_fit(self, learners, stage_weights, stage_thresholds):
        """Set the result of a fit, as `_set_stages` does, with scores above 0 for `classes_[1]`."""
        sign = self._direction()
        by_round = isinstance(stage_weights, list)
        turned = [sign * weights for weights in stage_weights] if by_round else sign * stage_weights
        self._set_stages(learners, turned, sign * np.asarray(stage_thresholds, dtype=np.float64))

    def _set_stages(self, learners, stage_weights, stage_thresholds):
        """Set the learners and their weights.

        Parameters
        ----------
        learners : list of fitted learners, T of them
        stage_weights : list of ndarray, or ndarray of shape (T,)
            The weights after each round, or one array if earlier weights never change.
        stage_thresholds : array-like of shape (T,)
        """
        self.learners_ = learners
        self.n_iter_ = len(learners)
        self._stage_weights = stage_weights
        self._stage_thresholds = np.asarray(stage_thresholds, dtype=np.float64)
        self.weights_ = stage_weights[-1] if isinstance(stage_weights, list) else stage_weights
        self.threshold_ = float(self._stage_thresholds[-1])

    def warn_of_early_end(self, n_rounds: int, reason: str) -> None:
        """Warn if a fit that wanted more ended in its first rounds, and say why."""
        if n_rounds < min(FEW_ROUNDS, self.n_estimators):
            warn_user(f"{type(self).__name__} ended after {n_rounds} of {self.n_estimators} rounds: {reason}")

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, those of the learner by names like `learner__depth`.

        Parameters
        ----------
        **parameters
            New values by name.

        Raises
        ------
        ValueError
            If a name is not known, or is one of the learner and `learner` is None.
        """
        of_learner = [name for name in parameters if name.startswith("learner__")]
        if of_learner and parameters.get("learner", self.learner) is None:
            default = " ".join(repr(self.default_learner).split())
            raise ValueError(
                f"{of_learner[0]} cannot be set: learner is None, which stands for {default}. Pass that as learner, or "
                "another one, to set its parameters."
            )
        return super().set_params(**parameters)

    # -- scoring -----------------------------------------------------------------------------------

    def decision_function(self, X: npt.ArrayLike) -> np.ndarray:
        """Score samples; a positive score means the larger class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,), float64
            `sum_t weights_[t] h_t(x) - threshold_`.
        """
        X = self._check_new(X)
        scores = np.zeros(len(X))
        forest = self._forest()
        with np.errstate(under="ignore"), Threads(self.n_jobs) as threads:
            if forest is not None:
                forest.add_scores(X, scores, threads)
            else:
                for weight, predictions in zip(self.weights_, self._predictions(X, threads), strict=True):
                    scores += weight * predictions.dense
        return scores - self.threshold_

    def _forest(self):
        """Return the trees put together, made once; None if learners are no trees, or some split categories."""
        learners, weights, forest = FORESTS.get(self, (None, None, None))
        if learners is not self.learners_ or weights is not self.weights_:
            trees = [getattr(learner, "nodes_", None) for learner in self.learners_]
            usable = all(nodes is not None and len(nodes.left_sets) == 0 for nodes in trees)
            with np.errstate(under="ignore"):
                forest = Forest.of(self.weights_, trees) if usable else None
            FORESTS[self] = self.learners_, self.weights_, forest
        return forest

    def staged_decision_function(self, X: npt.ArrayLike) -> Iterator[np.ndarray]:
        """Score samples by the model after each round, with its weights and threshold at that time.

        Each learner predicts once, when its round comes. If earlier weights change from round to round, as those of
        PAUCEnsClassifier and AdaBoostLDAClassifier, one byte per sample and learner is held (trees of at most 128
        leaves, `Linear`).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        scores : ndarray of shape (n_samples,), float64
        """
        X = self._check_new(X)
        with Threads(self.n_jobs) as threads:
            rounds = zip(self._stage_weights, self._stage_thresholds, self._predictions(X, threads), strict=True)
            scores, earlier = np.zeros(len(X)), []
            for weights, threshold, predictions in rounds:
                with np.errstate(under="ignore"):
                    if isinstance(self._stage_weights, list):  # all weights change from round to round
                        earlier.append(predictions.narrow)
                        scores = weighted_sum(weights, earlier, len(X), threads)
                    else:
                        scores += weights * predictions.dense
                yield scores - threshold

    def _check_new(self, X):
        check_is_fitted(self)
        return check_new_table(self, X, adapted(self.learners_[0]).allow_nan)

    def _predictions(self, X, threads):
        """Yield the `Predictions` of each learner."""
        for learner in self.learners_:
            yield adapted(learner).predictions(X, threads)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Gains of the splits on each feature, ndarray of shape (n_features,), with sum 1 (0 without splits)."""
        check_is_fitted(self)
        gains = np.zeros(self.n_features_in_)
        for learner in self.learners_:
            if not hasattr(learner, "add_gains"):
                raise AttributeError(f"feature_importances_ needs trees; learners_ holds {type(learner).__name__}.")
            learner.add_gains(gains)
        total = gains.sum()
        return gains / total if total > 0 else gains

    # -- smaller and readable models ---------------------------------------------------------------

    def truncated(self, n: int) -> Self:
        """Return the model as it stood after round n, with the weights and the threshold of then.

        Parameters
        ----------
        n : int
            From 1 to `n_iter_`.

        Returns
        -------
        model : fitted instance of this class
            It scores as stage n of `staged_decision_function` does, and shares its learners with this model.

        Raises
        ------
        ValueError
            If n is out of range.
        """
        check_is_fitted(self)
        n = check_integer("n", n, 1, self.n_iter_)
        model = copy.copy(self)
        model._set_stages(self.learners_[:n], self._stage_weights[:n], self._stage_thresholds[:n])
        for name in (*self._fitted_attributes, *self._history):
            if isinstance(getattr(self, name), np.ndarray):
                setattr(model, name, getattr(self, name)[:n])
        return model

    def to_text(self, digits: int = 4) -> str:
        """Write the trees as text, from which scores can be computed by hand.

        Parameters
        ----------
        digits : int, default=4
            Significant digits of thresholds and values, from 1 to 17; 17 lose nothing.

        Returns
        -------
        text : str
            A block per tree, with its weight multiplied into its leaves. Where missing values go is said of the
            features of which some were missing in training.

        Raises
        ------
        AttributeError
            If the learners are not trees.

        Examples
        --------
        >>> from paucens import PAUCEnsClassifier, Stump
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
        >>> model = PAUCEnsClassifier((0, 1), learner=Stump(), n_estimators=1, nu=1.0).fit(X, y)
        >>> print(model.to_text())
        PAUCEnsClassifier, number of trees: 1. Add up the values of the leaves that a sample reaches.
        It is of class 1 if the sum is above 0, otherwise of class 0.
        <BLANKLINE>
        Tree 1
          x[0] <= 0.5: -0.511
          x[0] > 0.5: +0.511
        """
        check_is_fitted(self)
        return as_text(self, check_integer("digits", digits, 1, 17))

    # -- parameters and files ----------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = adapted(self.default_learner if self.learner is None else self.learner).allow_nan
        return tags

    def _check_parameters(self):
        check_integer("n_estimators", self.n_estimators, 1)
        check_integer("max_bins", self.max_bins, 2, MAX_BINS)
        check_jobs(self.n_jobs)
        check_categorical_features(self.categorical_features)
        check_random_state(self.random_state)
        check_verbose(self.verbose)
        adapted(self.default_learner if self.learner is None else self.learner).check_parameters()

    def _fit_to_file(self):
        stages = self._stage_weights
        arrays = learners_to_arrays(self.learners_) | {
            "weights": np.concatenate(stages) if isinstance(stages, list) else stages,
            "stage_thresholds": self._stage_thresholds,
        }
        history, more = history_to_file(self, ["n_iter_", *self._fitted_attributes])
        header = {"learner": estimator_to_json(self.learners_[0]), "fitted": history}
        return header | categories_to_file(self.categories_), arrays | more

    def _fit_from_file(self, header, arrays):
        learners = learners_from_arrays(arrays, header["learner"], self.n_features_in_)
        self.categories_ = categories_from_file(header, self.n_features_in_)
        check_splits([learner.nodes_ for learner in learners if hasattr(learner, "nodes_")], self.categories_)
        n = len(learners)
        thresholds = persistence.array_of(arrays, "stage_thresholds", np.float64, (n,))
        weights = persistence.array_of(arrays, "weights", np.float64, (n,), (n * (n + 1) // 2,))
        with np.errstate(over="ignore"):
            largest = np.abs(weights).sum() + np.abs(thresholds).max()
        if not np.isfinite(largest):
            raise ValueError("The sum of the weights is infinite. The file is damaged.")
        if len(weights) > n:  # the weights after each round, end to end
            weights = np.split(weights, np.cumsum(np.arange(1, n)))
        history_from_file(self, self._fitted_attributes, header["fitted"], arrays)
        if self.n_iter_ != n:
            raise ValueError(f"n_iter_ is {self.n_iter_}, but there are {n} learners. The file is damaged.")
        self._set_stages(learners, weights, thresholds)


def weighted_sum(weights, predictions, n_samples, threads):
    """Sum weights[t] predictions[t] over the learners, in their order, as `decision_function` does."""
    scores = np.zeros(n_samples)
    tables = [weight * each.values for weight, each in zip(weights, predictions, strict=True)]

    def add(start, stop):
        for first in range(start, stop, BLOCK):
            last = min(first + BLOCK, stop)
            for table, each in zip(tables, predictions, strict=True):
                if each.index is None:
                    scores[first:last] += table[first:last]
                else:
                    add_values(table, each.index, scores, first, last)

    threads.run(add, n_samples, n_samples * len(tables))
    return scores
