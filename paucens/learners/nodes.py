"""A grown tree as arrays: the leaves that samples reach, and many trees end to end for a file."""

import itertools
from typing import NamedTuple

import numpy as np

from paucens import persistence
from paucens._kernels.leaves import apply_codes, apply_mixed_codes, apply_mixed_values, apply_values


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
    left_sets : uint8 of shape (n_nodes, 32), or (0, 32) if no split is one of categories
        For a split of categories, bit c % 8 of byte c // 8 says whether category c goes left, and bit 255 whether
        missing values do; code and threshold are 0. Categories without weight at the node go to the child of more
        training weight. For other splits and leaves, all bits are 0.
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
    left_sets: np.ndarray
    child: np.ndarray
    n_samples: np.ndarray
    value: np.ndarray
    gain: np.ndarray


UNKNOWN = -1  # number of samples
LARGEST = np.finfo(np.float64).max  # as a threshold: all values but the missing ones go left
MOST_CODES = 256  # bins are bytes
SET_BYTES = MOST_CODES // 8
NO_SETS = np.empty((0, SET_BYTES), dtype=np.uint8)
DTYPES = TreeNodes(
    column=np.int32,
    code=np.int32,
    threshold=np.float64,
    missing_left=np.bool_,
    missing_seen=np.bool_,
    left_sets=np.uint8,
    child=np.int32,
    n_samples=np.int64,
    value=np.float64,
    gain=np.float64,
)


def splits_categories(nodes):
    """Tell of each node whether it splits categories, ndarray of shape (n_nodes,), bool."""
    return nodes.left_sets.any(axis=1) if len(nodes.left_sets) else np.zeros(len(nodes.child), dtype=bool)


def left_categories(nodes, node, number):
    """Return which of the categories 0, ..., number - 1 go left at a node that splits categories, ndarray of int."""
    return np.flatnonzero(np.unpackbits(nodes.left_sets[node], count=number, bitorder="little"))


def leaves_of_codes(nodes, binned, threads):
    """Find the leaf that each binned sample reaches, ndarray of shape (n_samples,), int32."""
    first = nodes.missing_left & nodes.missing_seen
    rule = nodes.column, first, nodes.code.astype(np.uint8) + first
    kernel = apply_codes
    if len(nodes.left_sets):
        kernel, rule = apply_mixed_codes, (*rule, splits_categories(nodes), nodes.left_sets)
    return _leaves(kernel, binned.codes, rule, nodes.child, binned.codes.shape[1], threads)


def leaves_of_values(nodes, X, threads):
    """Find the leaf that each row of X (float32 or float64) reaches, ndarray of shape (n_samples,), int32."""
    kernel, rule = apply_values, (nodes.column, nodes.threshold, nodes.missing_left)
    if len(nodes.left_sets):
        kernel, rule = apply_mixed_values, (*rule, splits_categories(nodes), nodes.left_sets)
    return _leaves(kernel, X, rule, nodes.child, len(X), threads)


def _leaves(kernel, samples, rule, child, n_samples, threads):
    leaf = np.empty(n_samples, dtype=np.int32)
    threads.run(lambda start, stop: kernel(samples, *rule, child, leaf, start, stop), n_samples, 8 * n_samples)
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
    fields = [field for field in TreeNodes._fields if field != "left_sets"]
    arrays = {f"nodes/{field}": np.concatenate([getattr(nodes, field) for nodes in trees]) for field in fields}
    if any(len(nodes.left_sets) for nodes in trees):
        arrays["nodes/left_sets"] = np.concatenate([_set_per_node(nodes) for nodes in trees])
    arrays["nodes/start"] = np.cumsum([0] + [len(nodes.child) for nodes in trees])
    return arrays


def _set_per_node(nodes):
    return nodes.left_sets if len(nodes.left_sets) else np.zeros((len(nodes.child), SET_BYTES), dtype=np.uint8)


def trees_from_arrays(arrays, n_features):
    """Return the trees of `trees_to_arrays`, a list of TreeNodes; raise ValueError if a number is out of bounds."""
    start = persistence.array_of(arrays, "nodes/start", np.int64, (None,))
    n_nodes = len(arrays["nodes/child"])
    arrays = _new_fields(arrays) | arrays
    shapes = {"left_sets": [NO_SETS.shape, (n_nodes, SET_BYTES)]}
    nodes = TreeNodes(
        *(
            persistence.array_of(arrays, f"nodes/{name}", dtype, *shapes.get(name, [(n_nodes,)]))
            for name, dtype in zip(TreeNodes._fields, DTYPES, strict=True)
        )
    )
    sizes = np.diff(start)
    persistence.check_index("nodes/start", start, n_nodes + 1)
    if len(sizes) == 0 or start[0] != 0 or start[-1] != n_nodes or (sizes < 1).any():
        raise ValueError("There are no nodes, or a tree has no node. The file is damaged.")
    _check_nodes(nodes, start[:-1], sizes, n_features)
    trees = [TreeNodes(*(field[first:last] for field in nodes)) for first, last in itertools.pairwise(start)]
    return [tree if tree.left_sets.any() else tree._replace(left_sets=NO_SETS) for tree in trees]


def _new_fields(arrays):
    """Return what files may not have: sets of categories, which are left out if there are none, and news since 0.1.

    In version 0.1 samples were not counted, and none was missing, so these go left.
    """
    child = arrays["nodes/child"]
    fields = {"nodes/left_sets": NO_SETS, "nodes/n_samples": np.full(len(child), UNKNOWN, dtype=np.int64)}
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
    by_set = np.flatnonzero(splits_categories(nodes))
    if not np.isin(by_set, inner).all() or (nodes.left_sets[by_set, -1] >> 7 != nodes.missing_left[by_set]).any():
        raise ValueError("nodes/left_sets: a leaf has one, or it is not where missing values go. The file is damaged.")
    if (nodes.n_samples < UNKNOWN).any():
        raise ValueError("nodes/n_samples holds a negative number of samples. The file is damaged.")
    if (np.abs(nodes.value) > 1).any():
        raise ValueError("nodes/value holds a prediction outside [-1, 1]. The file is damaged.")
