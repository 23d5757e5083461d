"""Decision trees as weak learners: scikit-learn estimators around `growing`."""

from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from paucens.learners.binning import MAX_BINS, bin_features
from paucens.learners.growing import GrowingRule, TreeGrower, leaves_of_values
from paucens.parallel import Threads
from paucens.validation import (
    all_or_nothing,
    check_choice,
    check_features,
    check_integer,
    check_positive,
    check_signed_weights,
)


class BinnedLearner(BaseEstimator):
    """What trees and stumps share; ensembles grow these on bins that were made once."""

    @all_or_nothing
    def fit(self, X, signed_weights):
        """Grow a tree on raw features.

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
            Where X or the weights are not finite, their lengths differ or a parameter is out of range.
        """
        X = check_features(self, X)
        weights = check_signed_weights(signed_weights, len(X))
        rule = self.growing_rule(X.shape[1])
        seed = check_random_state(getattr(self, "random_state", None)).randint(2**31)
        with Threads(1) as threads:
            binned = bin_features(X, check_integer("max_bins", self.max_bins, 2, MAX_BINS), threads)
            self.nodes_ = TreeGrower(binned, rule, threads).grow(weights, (seed, 0))
        return self

    def predict(self, X):
        """Return the outputs of the tree, in [-1, 1].

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        output : ndarray of shape (n_samples,), float64
        """
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        with Threads(1) as threads:
            return self.predict_checked(X, threads)

    def predict_checked(self, X, threads):
        """As `predict`, where X is a finite float array already."""
        return self.nodes_.value[leaves_of_values(self.nodes_, X, threads)]

    def growing_rule(self, n_features):
        """Resolve the parameters for data of n_features columns, a GrowingRule; raises ValueError."""
        raise TypeError(f"{type(self).__name__} does not say how it grows.")


class Tree(BinnedLearner):
    """Grow a decision tree on signed weights.

    Parameters
    ----------
    depth : int or None, default=2
        Levels of splits: 1 is a stump, 3 has 8 leaves. None leaves `max_leaves` as the only limit.
    max_leaves : int, optional
        Grow best first, by gain, up to this many leaves; level by level otherwise.
    leaves : {"sign", "real"}, default="sign"
        With "sign" a leaf answers +1 or -1 and splits minimise the weighted classification error.
        With "real" it answers S / (W + r), S the sum of its signed weights and W of their magnitudes,
        and splits maximise the sum of S^2 / (W + r).
    leaf_ridge : float, default=0.0
        r in units of the mean magnitude over the rows of nonzero weight; real leaves only.
    column_fraction : float in (0, 1], default=1.0
        Share of the columns that a tree or node may look at, at least one.
    column_sampling : {"tree", "node"}, default="tree"
        Draw columns once a tree or anew for every node.
    max_bins : int in [2, 256], default=256
        Bins of a feature when fitted alone; exact up to that many distinct values. Inside an
        ensemble its own `max_bins` holds.
    random_state : int, RandomState or None
        Source of the column samples when fitted alone.

    Attributes
    ----------
    nodes_ : TreeNodes
    n_features_in_ : int

    Notes
    -----
    With sign leaves, a node where no split lowers the error is a leaf. Other rules for splits of no or little
    gain (balance, purity, Gini, a leaf, ...) were tried on training halves of USPS: none raised the partial AUC
    beyond the noise of the halves, and some lowered it.

    Equal splits are told apart by the smallest column, then the smallest threshold.

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
        depth=2,
        *,
        max_leaves=None,
        leaves="sign",
        leaf_ridge=0.0,
        column_fraction=1.0,
        column_sampling="tree",
        max_bins=MAX_BINS,
        random_state=None,
    ):
        self.depth = depth
        self.max_leaves = max_leaves
        self.leaves = leaves
        self.leaf_ridge = leaf_ridge
        self.column_fraction = column_fraction
        self.column_sampling = column_sampling
        self.max_bins = max_bins
        self.random_state = random_state

    def growing_rule(self, n_features):
        """Resolve the parameters for data of n_features columns, a GrowingRule; raises ValueError."""
        if self.depth is None and self.max_leaves is None:
            raise ValueError("A tree needs a limit: set depth, max_leaves or both; got None for both.")
        if self.depth is not None:
            check_integer("depth", self.depth, 1)
        if self.max_leaves is not None:
            check_integer("max_leaves", self.max_leaves, 2)
        fraction = check_positive("column_fraction", self.column_fraction, most=1)
        check_choice("column_sampling", self.column_sampling, ("tree", "node"))
        return GrowingRule(
            depth=self.depth,
            max_leaves=self.max_leaves,
            **_leaf_rule(self.leaves, self.leaf_ridge),
            n_columns=max(1, round(fraction * n_features)),
            sample_nodes=fraction < 1 and self.column_sampling == "node",
        )


class Stump(BinnedLearner):
    """Split once: a tree of depth 1.

    Parameters
    ----------
    leaves : {"sign", "real"}, default="sign"
    max_bins : int in [2, 256], default=256
        As in `Tree`.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens import Stump
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Stump(leaves="real").fit(X, [-0.4, -0.1, 0.1, 0.4]).predict(X)
    array([-1., -1.,  1.,  1.])
    """

    def __init__(self, *, leaves="sign", max_bins=MAX_BINS):
        self.leaves = leaves
        self.max_bins = max_bins

    def growing_rule(self, n_features):
        """Resolve the parameters for data of n_features columns, a GrowingRule; raises ValueError."""
        return GrowingRule(1, None, **_leaf_rule(self.leaves, 0.0), n_columns=n_features, sample_nodes=False)


def _leaf_rule(leaves, leaf_ridge):
    check_choice("leaves", leaves, ("sign", "real"))
    return {"real_leaves": leaves == "real", "leaf_ridge": check_positive("leaf_ridge", leaf_ridge, zero=True)}
