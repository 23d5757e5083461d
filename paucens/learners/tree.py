"""Decision trees as weak learners: scikit-learn estimators around `growing`."""

import bisect
import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from paucens.learners.binning import MAX_BINS, bin_features
from paucens.learners.growing import GrowingRule, TreeGrower
from paucens.learners.nodes import (
    TreeNodes,
    leaves_of_codes,
    leaves_of_values,
    trees_from_arrays,
    trees_to_arrays,
    with_n_samples,
)
from paucens.learners.protocol import Predictions
from paucens.parallel import Threads
from paucens.validation import (
    all_or_nothing,
    check_choice,
    check_features,
    check_integer,
    check_positive,
    check_signed_weights,
    total_weight,
)

if TYPE_CHECKING:
    from paucens.learners.protocol import Trainer

ANY_DEPTH = 8  # at which a tree may have more nodes than a byte can count


class TreeLearner(BaseEstimator):
    """Base of `Tree` and `Stump`, which differ in their parameters and resolve them in `growing_rule`."""

    allow_nan = True
    nodes_: TreeNodes
    n_features_in_: int

    @all_or_nothing
    def fit(self, X: npt.ArrayLike, signed_weights: npt.ArrayLike) -> Self:
        """Grow a tree on raw features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            NaN is a missing value.
        signed_weights : array-like of shape (n_samples,)
            u_l y_l: the magnitude says how much a sample counts, the sign to which class it belongs.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X is infinite, the weights are not finite, their lengths differ or a parameter is out of range.
        """
        X = check_features(self, X, allow_nan=True)
        weights = check_signed_weights(signed_weights, len(X))
        rule = self.growing_rule(X.shape[1])
        seed = check_random_state(getattr(self, "random_state", None)).randint(2**31)
        with np.errstate(under="ignore"), Threads(1) as threads:
            binned = bin_features(X, check_integer("max_bins", self.max_bins, 2, MAX_BINS), threads)
            nodes = TreeGrower(binned, rule, threads).grow(weights, (seed, 0))
            self.nodes_ = with_n_samples(nodes, leaves_of_codes(nodes, binned, threads))
        return self

    def predict(self, X: npt.ArrayLike) -> np.ndarray:
        """Predict the values of the leaves, in [-1, 1].

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        predicted : ndarray of shape (n_samples,), float64
        """
        check_is_fitted(self)
        X = check_features(self, X, reset=False, allow_nan=True)
        with Threads(1) as threads:
            return self.predictions(X, threads).dense

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # -- the protocol of weak learners -------------------------------------------------------------

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        self.growing_rule(1)
        check_integer("max_bins", self.max_bins, 2, MAX_BINS)
        check_random_state(getattr(self, "random_state", None))

    def make_trainer(
        self,
        X: np.ndarray,
        order: np.ndarray,
        max_bins: int,
        threads: Threads,
        seed: Any,
        positives: np.ndarray | None = None,
        weights: np.ndarray | None = None,
    ) -> "Trainer":
        """Bin X for the trees of an ensemble; see `WeakLearner`."""
        max_bins = check_integer("max_bins", max_bins, 2, MAX_BINS)
        binned = bin_features(X, max_bins, threads, order, positives, weights)
        return TreeTrainer(self, binned, threads, seed, weights=None if weights is None else weights[order])

    def make_binned_trainer(
        self, binned: Any, threads: Threads, seed: Any, stages: Any = (), weights: np.ndarray | None = None
    ) -> Any:
        """Do as `make_trainer`, for features that are binned already, positives first; the rest as in `TreeTrainer`."""
        return TreeTrainer(self, binned, threads, seed, stages, weights)

    def predictions(self, X: np.ndarray, threads: Threads | None) -> Predictions:
        """Return what `predict` returns as `Predictions`, for an X that is a checked float array already."""
        return Predictions(self.nodes_.value, leaves_of_values(self.nodes_, X, threads))

    def add_gains(self, gains: np.ndarray) -> None:
        """Add the gain of each split to the entry of its feature, for `feature_importances_`."""
        split = self.nodes_.child > 0
        np.add.at(gains, self.nodes_.column[split], self.nodes_.gain[split])

    @staticmethod
    def to_arrays(learners: list[Any]) -> dict[str, np.ndarray]:
        """Return the nodes of all learners end to end, a dict of arrays."""
        return trees_to_arrays([learner.nodes_ for learner in learners])

    def from_arrays(self, arrays: dict[str, np.ndarray]) -> list[Any]:
        """Return the learners in `arrays`; raise ValueError if an index is out of bounds."""
        learners = []
        for nodes in trees_from_arrays(arrays, self.n_features_in_):
            learner = copy.copy(self)
            learner.nodes_ = nodes
            learners.append(learner)
        return learners


class TreeTrainer:
    """`Trainer` of trees, on bins that are made once.

    Parameters
    ----------
    learner : Tree or Stump
    binned : BinnedData
        Samples in the order of the signed weights.
    threads : Threads
    seed : int
        Column samples of round t come from (seed, t).
    stages : sequence of (int, ndarray of int32), default=()
        The first round of each stage, ascending from 0, and the columns that its trees may use, ascending. A fraction
        of the columns is one of these. By default all trees may use all columns.
    weights : ndarray of shape (n_samples,), default=None
        How much each sample counts, in the order of the signed weights.
    """

    def __init__(self, learner, binned, threads, seed, stages=(), weights=None):
        n_features = len(binned.codes)
        stages = stages or [(0, np.arange(n_features, dtype=np.int32))]
        self._first_rounds = [first for first, _ in stages]
        self._growers = [
            TreeGrower(binned, learner.growing_rule(len(columns)), threads, columns, weights) for _, columns in stages
        ]
        self.last_stage = self._first_rounds[-1]
        self.prediction_kind = _prediction_kind(self._growers[0].rule)  # the same in all stages
        self._binned, self._threads, self._seed = binned, threads, seed
        self._copies = weights if weights is not None and isinstance(total_weight(weights), int) else None
        self._template = clone(learner)
        self._template.n_features_in_ = n_features

    def samples_columns(self, round):
        """Tell whether the trees of a round draw from the columns that they may use."""
        return self._grower(round).samples_columns

    def train(self, signed_weights, round, every_column=False):
        """Grow the tree of a round; see `Trainer`."""
        learner = copy.copy(self._template)
        learner.nodes_ = self._grower(round).grow(signed_weights, (self._seed, round), every_column)
        predictions = self.predictions_of(learner)
        learner.nodes_ = with_n_samples(learner.nodes_, predictions.index, self._copies)
        return learner, predictions

    def _grower(self, round):
        """Return the grower of the stage that a round belongs to."""
        return self._growers[bisect.bisect_right(self._first_rounds, round) - 1]

    def predictions_of(self, learner):
        """Return the predictions on the training samples."""
        return Predictions(learner.nodes_.value, leaves_of_codes(learner.nodes_, self._binned, self._threads))


def _prediction_kind(rule):
    if not rule.real_leaves:
        return "sign"
    max_leaves = min(rule.max_leaves or np.inf, 2 ** min(rule.depth or ANY_DEPTH, ANY_DEPTH))
    if max_leaves <= 32:
        return "few"
    return "value" if 2 * max_leaves - 1 <= 256 else "dense"  # one value per node


class Tree(TreeLearner):
    """Grow a decision tree on signed weights.

    Parameters
    ----------
    depth : int or None, default=2
        Levels of splits: 1 is a stump, 3 has 8 leaves. With None, `max_leaves` is the only limit.
    max_leaves : int or None, default=None
        Grow best first, by gain, up to this many leaves. With None, grow level by level.
    leaves : {"sign", "real"}, default="sign"
        With "sign" a leaf predicts +1 or -1 and splits minimise the weighted classification error.
        With "real" it predicts S / (W + r), S the sum of its signed weights and W of their magnitudes,
        and splits maximise the sum of S^2 / (W + r).
    leaf_ridge : float, default=0.0
        r in units of the mean magnitude over the rows of nonzero weight; for real leaves only. With weights of samples
        in an ensemble, the mean is per unit of weight.
    column_fraction : float in (0, 1], default=1.0
        Share of the columns that a tree or node may use, at least one column.
    column_sampling : {"tree", "node"}, default="tree"
        Draw columns once per tree or once per node.
    max_bins : int in [2, 256], default=256
        Maximum number of bins per feature when fitted alone; splits are exact for features with up to
        that many distinct values. Missing values have one more bin, so the others have at most 255 beside them. Inside
        an ensemble the `max_bins` of the ensemble applies.
    random_state : int, RandomState or None, default=None
        Source of the column samples when fitted alone.

    Attributes
    ----------
    nodes_ : TreeNodes
    n_features_in_ : int

    Notes
    -----
    With sign leaves, a node that no split improves is a leaf. Other rules for splits of little or no gain
    (balance, purity, Gini, a leaf, ...) were tried on training halves of USPS: none raised the partial AUC
    by more than the noise of the halves, and some lowered it.

    Missing values (NaN) are tried on either side of each split, and alone on one. The node keeps the better side, and
    missing values follow it in prediction. If none reached the node in training, they go to the child of more training
    weight (sum of magnitudes), the left one of equals.

    Categories, which ensembles take, are sorted by S / W at each node, and the first ones go left. No other set of them
    has a larger gain, since it is a convex function of the sums of a child. Those of which no weight reached the node
    go to the child of more training weight.

    Ties between equal splits go to the smallest column, then to the smallest threshold, or the fewest categories on the
    left, then to missing values on the left. Equal categories keep their order. Weights are rounded to a grid, on which
    sums are exact: weights below 2^-31 of the sum of all magnitudes count as 0. With sign leaves a single weight that
    outweighs all others leaves them the grid.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens import Tree
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Tree(depth=1).fit(X, [-0.5, -0.1, 0.2, 0.2]).predict(X)
    array([-1., -1.,  1.,  1.])
    """

    def __init__(
        self,
        depth: int | None = 2,
        *,
        max_leaves: int | None = None,
        leaves: str = "sign",
        leaf_ridge: float = 0.0,
        column_fraction: float = 1.0,
        column_sampling: str = "tree",
        max_bins: int = MAX_BINS,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.depth = depth
        self.max_leaves = max_leaves
        self.leaves = leaves
        self.leaf_ridge = leaf_ridge
        self.column_fraction = column_fraction
        self.column_sampling = column_sampling
        self.max_bins = max_bins
        self.random_state = random_state

    def growing_rule(self, n_features: int) -> Any:
        """Resolve the parameters for data of n_features columns, a GrowingRule; raise ValueError if one is wrong."""
        if self.depth is None and self.max_leaves is None:
            raise ValueError("A tree needs a limit: set depth, max_leaves or both; got None for both.")
        depth = None if self.depth is None else check_integer("depth", self.depth, 1)
        max_leaves = None if self.max_leaves is None else check_integer("max_leaves", self.max_leaves, 2)
        fraction = check_positive("column_fraction", self.column_fraction, most=1)
        check_choice("column_sampling", self.column_sampling, ("tree", "node"))
        return GrowingRule(
            depth=depth,
            max_leaves=max_leaves,
            **_leaf_rule(self.leaves, self.leaf_ridge),
            n_columns=max(1, round(fraction * n_features)),
            sample_nodes=fraction < 1 and self.column_sampling == "node",
        )


class Stump(TreeLearner):
    """Split once: a tree of depth 1.

    Parameters
    ----------
    leaves : {"sign", "real"}, default="sign"
        With "sign" a leaf predicts +1 or -1 and the split minimises the weighted classification error.
        With "real" it predicts S / W, S the sum of its signed weights and W of their magnitudes, and the
        split maximises the sum of S^2 / W.
    max_bins : int in [2, 256], default=256
        Maximum number of bins per feature when fitted alone; splits are exact for features with up to
        that many distinct values. Inside an ensemble the `max_bins` of the ensemble applies.

    Attributes
    ----------
    nodes_ : TreeNodes
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from paucens import Stump
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Stump(leaves="real").fit(X, [-0.4, -0.1, 0.1, 0.4]).predict(X)
    array([-1., -1.,  1.,  1.])
    """

    def __init__(self, *, leaves: str = "sign", max_bins: int = MAX_BINS):
        self.leaves = leaves
        self.max_bins = max_bins

    def growing_rule(self, n_features: int) -> Any:
        """Resolve the parameters for data of n_features columns, a GrowingRule; raise ValueError if one is wrong."""
        return GrowingRule(1, None, **_leaf_rule(self.leaves, 0.0), n_columns=n_features, sample_nodes=False)


def _leaf_rule(leaves, leaf_ridge):
    check_choice("leaves", leaves, ("sign", "real"))
    return {"real_leaves": leaves == "real", "leaf_ridge": check_positive("leaf_ridge", leaf_ridge, zero=True)}
