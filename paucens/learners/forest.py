"""All trees of an ensemble as one set of arrays, so that samples are scored in one call."""

from typing import NamedTuple

import numpy as np

from paucens._kernels.leaves import add_trees


class Forest(NamedTuple):
    """Trees end to end, for scores that are sums over trees.

    Attributes
    ----------
    root : ndarray of shape (n_trees,), int32
        The first node of each tree.
    column, threshold, missing_left, child
        As in `TreeNodes`, one entry per node of all trees; children are counted from the first node of all.
    value : ndarray of float64
        Prediction of the node times the weight of its tree.
    """

    root: np.ndarray
    column: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    child: np.ndarray
    value: np.ndarray

    @classmethod
    def of(cls, weights, trees):
        """Put trees together, given their weights and their nodes, a list of TreeNodes without splits of categories."""
        sizes = [len(nodes.child) for nodes in trees]
        root = np.cumsum([0, *sizes[:-1]]).astype(np.int32)
        names = "column", "threshold", "missing_left"
        column, threshold, missing_left = (np.concatenate([getattr(nodes, name) for nodes in trees]) for name in names)
        child = np.concatenate([nodes.child for nodes in trees])
        child = np.where(child > 0, child + np.repeat(root, sizes), 0).astype(np.int32)
        value = np.concatenate([weight * nodes.value for weight, nodes in zip(weights, trees, strict=True)])
        return cls(root, column, threshold, missing_left.view(np.uint8), child, value)

    def add_scores(self, X, scores, threads):
        """Add the weighted prediction of each tree, in their order, to the scores of the rows of X."""
        threads.run(lambda start, stop: add_trees(X, *self, scores, start, stop), len(X), 8 * len(X) * len(self.root))
