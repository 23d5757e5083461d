"""An ensemble of trees laid out for scanning images."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

WHOLE_DEPTH = 3  # trees of at most this depth are also laid out as complete trees, for many windows at once
INNER = 2**WHOLE_DEPTH - 1


@dataclass(frozen=True, eq=False)
class DetectorTrees:
    """All trees, one after the other, and the values that their nodes look at.

    Attributes
    ----------
    first : ndarray of shape (n_trees + 1,), int32
        First node of each tree.
    place : ndarray of shape (n_nodes, 3), int32
        Row and column in the window and channel of the value that a node looks at; 0 at leaves.
    threshold : ndarray of shape (n_nodes,), float32
        Larger values go to the right child.
    child : ndarray of shape (n_nodes,), int32
        Left child, counted from the first node of the tree; the right child is the node after it. 0 marks a leaf.
    value : ndarray of shape (n_nodes,), float32
        Contribution of a leaf to the score.
    rejection : ndarray of shape (n_trees,), float32
        A window is rejected if its sum after a tree is not larger than this.
    bias : ndarray of shape (), float32
        The score before the first tree.
    """

    first: np.ndarray
    place: np.ndarray
    threshold: np.ndarray
    child: np.ndarray
    value: np.ndarray
    rejection: np.ndarray
    bias: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the attributes by name, for a file."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def with_rejection(self, rejection: npt.ArrayLike) -> Self:
        """Return the same trees with another soft cascade.

        Parameters
        ----------
        rejection : float or array-like of shape (n_trees,)
            A window is rejected if its sum after a tree is not larger than this; in single precision.

        Returns
        -------
        trees : DetectorTrees

        Raises
        ------
        ValueError
            If there is not one number per tree, or one for all, or a number is nan.
        """
        given = np.asarray(rejection)
        if given.dtype.kind not in "iuf" or given.shape not in ((), self.rejection.shape) or np.isnan(given).any():
            raise ValueError(
                f"rejection must be a number or {len(self.rejection)} of them, one per tree, not nan; got "
                f"{rejection!r}. positive_traces finds them."
            )
        with np.errstate(over="ignore"):
            return replace(self, rejection=np.full_like(self.rejection, given))

    def without_rejection(self) -> Self:
        """Return the same trees without a soft cascade: each window gets the sum of all of them."""
        return self.with_rejection(-np.inf)

    def part(self, start: int, stop: int) -> "DetectorTrees":
        """Return trees [start, stop) alone, with the same bias."""
        nodes = slice(*self.first[[start, stop]])
        return DetectorTrees(
            first=self.first[start : stop + 1] - self.first[start],
            rejection=self.rejection[start:stop],
            bias=self.bias,
            **{name: getattr(self, name)[nodes] for name in ("place", "threshold", "child", "value")},
        )

    def layout(self, n_channels: int) -> tuple[np.ndarray, ...]:
        """Return what the kernel takes of the trees, for strips of this number of channels; kept for the next call.

        Returns
        -------
        arrays : tuple of ndarrays
            first, strip, column, threshold, child, value and rejection; strip, column and threshold of the inner nodes
            and value of the leaves in heap order, empty if `whole` is None. A strip is a row of one channel.
        """
        if n_channels not in self._layouts:
            row, column, channel = (np.ascontiguousarray(part) for part in self.place.T)
            strip = row * np.int32(n_channels) + channel
            nodes = self.first, strip, column, self.threshold, self.child, self.value, self.rejection
            inner, leaves = self.whole or (np.empty((0, INNER), dtype=int), np.empty((0, INNER + 1), dtype=int))
            whole = strip[inner], column[inner], self.threshold[inner], self.value[leaves]
            self._layouts[n_channels] = nodes + whole
        return self._layouts[n_channels]

    @cached_property
    def _layouts(self):
        return {}

    def n_leading_within(self, channels: npt.ArrayLike) -> int:
        """Count the trees before the first one that looks at another channel than these, indices of channels."""
        outside = (self.child > 0) & ~np.isin(self.place[:, 2], channels)
        if not outside.any():
            return len(self.rejection)
        return int(np.searchsorted(self.first, np.argmax(outside), side="right")) - 1

    @cached_property
    def whole(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Indices of the nodes of all trees in heap order, (n_trees, 7), and of their leaves, (n_trees, 8).

        None if a tree is deeper than `WHOLE_DEPTH`. A leaf above the last level is repeated below itself.
        """
        heap = np.empty((len(self.rejection), 2 * INNER + 1), dtype=np.int32)
        heap[:, 0] = self.first[:-1]
        for k in range(INNER):
            inner = self.child[heap[:, k]] > 0
            left = np.where(inner, self.first[:-1] + self.child[heap[:, k]], heap[:, k])
            heap[:, 2 * k + 1], heap[:, 2 * k + 2] = left, left + inner
        if self.child[heap[:, INNER:]].any():
            return None
        return heap[:, :INNER], heap[:, INNER:]


def detector_trees(learners, weights, threshold, places, rejection):
    """Lay out an ensemble for scanning.

    Parameters
    ----------
    learners : list of Tree or Stump, fitted
    weights : ndarray of shape (n_trees,)
    threshold : float
        Subtracted from the weighted sum.
    places : ndarray of shape (n_features, 3)
        Row, column and channel of each feature of the learners.
    rejection : ndarray of shape (n_trees,)
        Sums, threshold subtracted, at or below which a window is rejected.

    Returns
    -------
    DetectorTrees

    Notes
    -----
    Where missing values would go is left out: channels have none.
    """
    nodes = [learner.nodes_ for learner in learners]
    sizes = [len(tree.child) for tree in nodes]
    column = np.concatenate([tree.column for tree in nodes])
    value = np.concatenate([weight * tree.value for weight, tree in zip(weights, nodes, strict=True)])
    child = np.concatenate([tree.child for tree in nodes])
    return DetectorTrees(
        first=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
        place=np.where(child[:, None] > 0, places[column], 0).astype(np.int32),
        threshold=floats_at_most(np.concatenate([tree.threshold for tree in nodes])),
        child=child.astype(np.int32),
        value=value.astype(np.float32),
        rejection=np.asarray(rejection, dtype=np.float32),
        bias=np.float32(-threshold),
    )


def floats_at_most(thresholds):
    """Round down to float32: for a float32 x, x > threshold keeps its truth value."""
    exact = np.asarray(thresholds, dtype=np.float64)
    with np.errstate(over="ignore"):  # of what is beyond the largest float
        rounded = exact.astype(np.float32)
        return np.where(rounded > exact, np.nextafter(rounded, np.float32(-np.inf)), rounded)
