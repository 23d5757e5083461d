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
    child : int32
        The left child; the right child is the next node; 0 marks a leaf.
    value : float64
        Prediction of the node in [-1, 1], used at leaves.
    gain : float64
        Gain of the split in units of the signed weights; 0 at leaves.
    """

    column: np.ndarray
    code: np.ndarray
    threshold: np.ndarray
    child: np.ndarray
    value: np.ndarray
    gain: np.ndarray


DTYPES = TreeNodes(np.int32, np.int32, np.float64, np.int32, np.float64, np.float64)


def leaves_of_codes(nodes, binned, threads):
    """Find the leaf that each binned sample reaches, ndarray of shape (n_samples,), int32."""
    leaf = np.empty(binned.codes.shape[1], dtype=np.int32)
    threads.run(
        lambda start, stop: apply_codes(binned.codes, nodes.column, nodes.code, nodes.child, leaf, start, stop),
        len(leaf),
        8 * len(leaf),
    )
    return leaf


def leaves_of_values(nodes, X, threads):
    """Find the leaf that each row of X (float32 or float64) reaches, ndarray of shape (n_samples,), int32."""
    leaf = np.empty(len(X), dtype=np.int32)
    threads.run(
        lambda start, stop: apply_values(X, nodes.column, nodes.threshold, nodes.child, leaf, start, stop),
        len(leaf),
        8 * len(leaf),
    )
    return leaf


def trees_to_arrays(trees):
    """Return the nodes of all trees end to end and where each tree begins, a dict of arrays."""
    arrays = {
        f"nodes/{field}": np.concatenate([getattr(nodes, field) for nodes in trees]) for field in TreeNodes._fields
    }
    arrays["nodes/start"] = np.cumsum([0] + [len(nodes.child) for nodes in trees])
    return arrays


def trees_from_arrays(arrays, n_features):
    """Return the trees of `trees_to_arrays`, a list of TreeNodes; raise ValueError if an index is out of bounds."""
    start = persistence.flat_array(arrays, "nodes/start", "iu")
    fields = [
        arrays[f"nodes/{name}"].astype(dtype, casting="same_kind")
        for name, dtype in zip(TreeNodes._fields, DTYPES, strict=True)
    ]
    n_nodes = len(fields[0])
    persistence.check_index("nodes/start", start, n_nodes + 1)
    if any(field.shape != (n_nodes,) for field in fields) or len(start) < 2 or start[0] != 0 or start[-1] != n_nodes:
        raise ValueError("There are no nodes, or their columns differ in length. The file is damaged.")
    trees = [TreeNodes(*(field[first:last] for field in fields)) for first, last in itertools.pairwise(start)]
    for nodes in trees:
        _check_nodes(nodes, n_features)
    return trees


def _check_nodes(nodes, n_features):
    n, inner = len(nodes.child), nodes.child != 0
    persistence.check_index("nodes/child", nodes.child, n)
    persistence.check_index("nodes/child", nodes.child[inner], n - 1)  # the right child is the next node
    persistence.check_index("nodes/column", nodes.column[inner], n_features)
    if n == 0 or (nodes.child[inner] <= np.flatnonzero(inner)).any():
        raise ValueError("A tree has no node, or a node that is its own ancestor. The file is damaged.")
