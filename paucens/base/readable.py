"""A fitted ensemble of trees as text that people can read and compute by hand."""

from paucens.base.categories import sides_of
from paucens.base.exports import trees_of
from paucens.learners.nodes import LARGEST, splits_categories


def as_text(model, digits):
    """Write an ensemble of trees as text, with the weights multiplied into the leaves; see `to_text`."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"x[{k}]" for k in range(model.n_features_in_)]
    low, high = model.classes_.tolist()
    lines = [
        f"{type(model).__name__}, number of trees: {len(model.learners_)}. "
        "Add up the values of the leaves that a sample reaches.",
        f"It is of class {high!r} if the sum is above {model.threshold_:.{digits}g}, otherwise of class {low!r}.",
    ]
    if model.categories_:
        lines.append("A category that a question does not list, on either side, counts as missing.")
    for t, (weight, nodes) in enumerate(trees_of(model, "to_text")):
        lines += ["", f"Tree {t + 1}", *_branches(nodes, weight, names, model.categories_, digits)]
    return "\n".join(lines)


def _branches(nodes, weight, names, categories, digits):
    """Yield the lines of a tree, each node's left part before its right one."""
    by_set = splits_categories(nodes)
    if nodes.child[0] == 0:
        yield f"  always: {weight * nodes.value[0]:+.{digits}g}"
    stack = [(0, "", 0)]
    while stack:
        node, question, depth = stack.pop()
        line = f"{'  ' * depth}{question}:"
        left = nodes.child[node]
        if depth > 0:
            yield line if left > 0 else f"{line} {weight * nodes.value[node]:+.{digits}g}"
        if left > 0:
            name = names[nodes.column[node]]
            if by_set[node]:
                below, above = _memberships(nodes, node, name, sides_of(categories, nodes, node))
            else:
                below, above = _comparisons(nodes, node, name, digits)
            stack += [(left + 1, above, depth + 1), (left, below, depth + 1)]


def _memberships(nodes, node, name, sides):
    """Return which categories go left and which go right, with the missing ones."""
    below, above = (f"{name} in {{{', '.join(map(repr, side))}}}" for side in sides)
    return _with_missing(nodes, node, below, above)


def _comparisons(nodes, node, name, digits):
    """Return what holds for the samples that go left and for those that go right; missing values if there were any."""
    threshold = nodes.threshold[node]
    if threshold == LARGEST:
        return f"{name} is not missing", f"{name} is missing"
    below, above = f"{name} <= {threshold:.{digits}g}", f"{name} > {threshold:.{digits}g}"
    return _with_missing(nodes, node, below, above) if nodes.missing_seen[node] else (below, above)


def _with_missing(nodes, node, below, above):
    return (f"{below} or missing", above) if nodes.missing_left[node] else (below, f"{above} or missing")
