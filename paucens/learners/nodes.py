"""A grown tree as arrays: the leaves that samples reach, and many trees end to end for a file."""

import itertools
from typing import NamedTuple

import numpy as np

from paucens import persistence
from paucens._kernels.trees import apply_codes, apply_values


class TreeNodes(NamedTuple):
    """A grown tree as arrays, one entry per node; node 0 is the root.

    Attributes
    ----------
    column, code : int32
        The split: bins of `column` up to `code` go left.
    threshold : float64
        The same split on feature values: values up to `threshold` go left.
    missing_left : bool
        Whether missing values (NaN) go left; False at leaves.
    missing_seen : bool
        Whether values of `column` were missing in training. If not, or if none of them reached the node with a weight,
        missing values go to the child of more training weight, the left one of equals.
    child : int32
        The left child; the right child is the next node; 0 marks a leaf.
    n_samples : int64
        Number of training samples that reach the node, each counted as often as a whole `sample_weight` says, whatever
        the signed weights; UNKNOWN in files of version 0.1.
    value : float64
        Prediction of the node in [-1, 1], used at leaves.
    gain : float64
        Gain of the split in units of the signed weights; 0 at leaves.
    """

    column: np.ndarray
    code: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    missing_seen: np.ndarray
    child: np.ndarray
    n_samples: np.ndarray
    value: np.ndarray
    gain: np.ndarray


UNKNOWN = -1  # number of samples
LARGEST = np.finfo(np.float64).max  # as a threshold: all values but the missing ones go left
MOST_CODES = 256  # bins are bytes
DTYPES = TreeNodes(np.int32, np.int32, np.float64, np.bool_, np.bool_, np.int32, np.int64, np.float64, np.float64)


def leaves_of_codes(nodes, binned, threads):
    """Find the leaf that each binned sample reaches, ndarray of shape (n_samples,), int32."""
    leaf = np.empty(binned.codes.shape[1], dtype=np.int32)
    first = nodes.missing_left & nodes.missing_seen
    last = nodes.code.astype(np.uint8) + first
    threads.run(
        lambda start, stop: apply_codes(binned.codes, nodes.column, first, last, nodes.child, leaf, start, stop),
        len(leaf),
        8 * len(leaf),
    )
    return leaf


def leaves_of_values(nodes, X, threads):
    """Find the leaf that each row of X (float32 or float64) reaches, ndarray of shape (n_samples,), int32."""
    leaf = np.empty(len(X), dtype=np.int32)
    threads.run(
        lambda start, stop: apply_values(
            X, nodes.column, nodes.threshold, nodes.missing_left, nodes.child, leaf, start, stop
        ),
        len(leaf),
        8 * len(leaf),
    )
    return leaf


def with_n_samples(nodes, leaf, copies=None):
    """Return the nodes with the numbers of samples that reach them.

    Parameters
    ----------
    nodes : TreeNodes
    leaf : ndarray of shape (n_samples,), int32
        The leaf that each sample reaches.
    copies : ndarray of shape (n_samples,), default=None
        How many equal samples each stands for; 1 by default.
    """
    n_samples = np.bincount(leaf, copies, minlength=len(nodes.child)).astype(np.int64)
    for node in np.flatnonzero(nodes.child)[::-1]:  # a child comes after its parent
        n_samples[node] = n_samples[nodes.child[node]] + n_samples[nodes.child[node] + 1]
    return nodes._replace(n_samples=n_samples)


def trees_to_arrays(trees):
    """Return the nodes of all trees end to end and where each tree begins, a dict of arrays."""
    arrays = {
        f"nodes/{field}": np.concatenate([getattr(nodes, field) for nodes in trees]) for field in TreeNodes._fields
    }
    arrays["nodes/start"] = np.cumsum([0] + [len(nodes.child) for nodes in trees])
    return arrays


def trees_from_arrays(arrays, n_features):
    """Return the trees of `trees_to_arrays`, a list of TreeNodes; raise ValueError if a number is out of bounds."""
    start = persistence.array_of(arrays, "nodes/start", np.int64, (None,))
    n_nodes = len(arrays["nodes/child"])
    arrays = _new_fields(arrays) | arrays
    nodes = TreeNodes(
        *(
            persistence.array_of(arrays, f"nodes/{name}", dtype, (n_nodes,))
            for name, dtype in zip(TreeNodes._fields, DTYPES, strict=True)
        )
    )
    sizes = np.diff(start)
    persistence.check_index("nodes/start", start, n_nodes + 1)
    if len(sizes) == 0 or start[0] != 0 or start[-1] != n_nodes or (sizes < 1).any():
        raise ValueError("There are no nodes, or a tree has no node. The file is damaged.")
    _check_nodes(nodes, start[:-1], sizes, n_features)
    return [TreeNodes(*(field[first:last] for field in nodes)) for first, last in itertools.pairwise(start)]


def _new_fields(arrays):
    """Return what files of version 0.1 do not have: samples are not counted, and none was missing, so these go left."""
    child = arrays["nodes/child"]
    fields = {"nodes/n_samples": np.full(len(child), UNKNOWN, dtype=np.int64)}
    if "nodes/missing_left" in arrays or "nodes/missing_seen" in arrays:
        return fields
    return fields | {"nodes/missing_left": child > 0, "nodes/missing_seen": np.zeros(len(child), dtype=bool)}


def _check_nodes(nodes, start, sizes, n_features):
    """Raise ValueError if a node of the trees that begin at `start` is out of bounds."""
    inner = np.flatnonzero(nodes.child)
    left = nodes.child[inner]
    own = (np.arange(len(nodes.child)) - np.repeat(start, sizes))[inner]  # counted from the first node of the tree
    largest = np.repeat(sizes, sizes)[inner] - 2  # the right child is the next node
    persistence.check_index("nodes/child", nodes.child, sizes.max())
    if (left <= own).any() or (left > largest).any():
        raise ValueError("nodes/child: a node is its own ancestor, or lies outside its tree. The file is damaged.")
    persistence.check_index("nodes/column", nodes.column[inner], n_features)
    persistence.check_index("nodes/code", nodes.code, MOST_CODES)
    if (nodes.n_samples < UNKNOWN).any():
        raise ValueError("nodes/n_samples holds a negative number of samples. The file is damaged.")
    if (np.abs(nodes.value) > 1).any():
        raise ValueError("nodes/value holds a prediction outside [-1, 1]. The file is damaged.")
