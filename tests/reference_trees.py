"""A slow twin of growing trees: every split of raw values is tried, with missing values on either side."""

from fractions import Fraction

import numpy as np
from reference import ROUNDING, holds, share

LARGEST = np.finfo(np.float64).max
CODES = range(16)  # of categories


def goes_left(values, threshold, missing_left):
    """Tell which values go left: those up to a threshold, or the categories that a tuple lists."""
    known = np.isin(values, threshold) if isinstance(threshold, tuple) else values <= threshold
    return np.where(np.isnan(values), missing_left, known)


def splits_of(X, u, rows, categorical=()):
    """Yield all splits of a node: column, threshold, whether missing values go left.

    Columns come first, then thresholds halfway between neighbours, both ascending, then missing values on the left. A
    split divides the values that are there, or it divides them from the missing ones; values of weight 0 do not count.
    A node without missing values sends later ones to its heavier child.
    """
    for column in range(X.shape[1]):
        x, weighted = X[:, column], rows & (u != 0)
        if column in categorical:
            yield from ((column, *split) for split in splits_of_categories(x, u, weighted))
            continue
        values, missing, known = np.unique(x[~np.isnan(x)]), weighted & np.isnan(x), weighted & ~np.isnan(x)
        for threshold in (values[:-1] + values[1:]) / 2:
            below, above = known & (x <= threshold), known & (x > threshold)
            if below.any() and above.any():
                sides = (True, False) if missing.any() else (np.abs(u[below]).sum() >= np.abs(u[above]).sum(),)
                yield from ((column, threshold, side) for side in sides)
        if missing.any() and known.any():
            yield column, LARGEST, False


def splits_of_categories(x, u, weighted):
    """Yield the splits of categories in the order of S / W, as tuples of those that go left, with the missing ones."""
    missing, known = weighted & np.isnan(x), weighted & ~np.isnan(x)

    def mass(codes):
        return int(np.abs(u[known & np.isin(x, codes)]).sum())

    def share_of(code):
        return Fraction(int(u[known & (x == code)].sum()), mass([code]))

    order = sorted(np.unique(x[known]), key=share_of)
    for k in range(1, len(order) + missing.any()):
        for with_missing in (True, False) if missing.any() and k < len(order) else (False,):
            left = mass(order[:k]) + with_missing * int(np.abs(u[missing]).sum())
            heavier = 2 * left >= np.abs(u[weighted]).sum()
            missing_left = with_missing if missing.any() else heavier
            others = [c for c in CODES if c not in order and (heavier if (x == c).any() else missing_left)]
            yield tuple(sorted(order[:k] + others)), missing_left


def best_of(X, u, rows, real, ridge, categorical):
    """Return the gain of the first best split of a node and the split; (0, None) if none has a gain."""

    def quality(part):
        signed, mass = int(u[part].sum()), int(np.abs(u[part]).sum())
        return share(signed, mass + ridge) if real else abs(signed)

    base = quality(rows) * (1 + ROUNDING) if real else quality(rows)
    best, found = base, (0, None)
    for split in splits_of(X, u, rows, categorical):
        left = goes_left(X[:, split[0]], *split[1:])
        gain = quality(rows & left) + quality(rows & ~left)
        if gain > best:
            best, found = gain, (gain - base, split)
    return found


def value_of(u, rows, real, ridge, inherited):
    signed, mass = int(u[rows].sum()), int(np.abs(u[rows]).sum()) + ridge
    if real:
        return signed / mass if mass > 0 else inherited
    return float(np.sign(signed)) or inherited


def slow_tree(X, u, depth, max_leaves, real, leaf_ridge, categorical=()):
    """Grow leaf after leaf and return the tree as nested tuples (column, threshold, side, left, right) or values."""
    ridge = leaf_ridge * int(np.abs(u).sum()) / max(np.count_nonzero(u), 1)

    def leaf(rows, level, inherited):
        gain, split = (0, None) if level == depth else best_of(X, u, rows, real, ridge, categorical)
        value = value_of(u, rows, real, ridge, inherited)
        return {"rows": rows, "level": level, "value": value, "gain": gain, "split": split}

    root = leaf(np.full(len(X), True), 0, 0.0 if real else 1.0)
    leaves = [root]  # in order of creation
    while max_leaves is None or len(leaves) < max_leaves:
        node = max(leaves, key=lambda leaf: (leaf["split"] is not None, leaf["gain"]))  # the first one of equals
        if node["split"] is None:
            break
        left = goes_left(X[:, node["split"][0]], *node["split"][1:])
        node["children"] = [leaf(node["rows"] & side, node["level"] + 1, node["value"]) for side in (left, ~left)]
        leaves = [other for other in leaves if other is not node] + node["children"]

    def as_tuples(node):
        return (*node["split"], *map(as_tuples, node["children"])) if "children" in node else node["value"]

    return as_tuples(root)


def nested(nodes, k=0):
    """Return `TreeNodes` as the nested tuples of `slow_tree`."""
    left = nodes.child[k]
    if left == 0:
        return nodes.value[k]
    threshold = nodes.threshold[k]
    if len(nodes.left_sets) and nodes.left_sets[k].any():
        threshold = tuple(c for c in CODES if holds(nodes.left_sets[k], c))
    split = nodes.column[k], threshold, nodes.missing_left[k]
    return (*split, nested(nodes, left), nested(nodes, left + 1))


def grid_of(weights):
    """Return the weights as integers whose magnitudes sum to just below 2**30."""
    exponent = 30 - np.frexp(np.abs(weights).sum())[1]
    return np.rint(np.ldexp(weights, exponent)).astype(np.int64)
