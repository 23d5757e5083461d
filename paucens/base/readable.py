"""A fitted ensemble of trees as text that people can read and compute by hand."""

from paucens.base.exports import trees_of


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
    for t, (weight, nodes) in enumerate(trees_of(model, "to_text")):
        lines += ["", f"Tree {t + 1}", *_branches(nodes, weight, names, digits)]
    return "\n".join(lines)


def _branches(nodes, weight, names, digits):
    """Yield the lines of a tree, each node's left part before its right one."""
    if nodes.child[0] == 0:
        yield f"  always: {weight * nodes.value[0]:+.{digits}g}"
    stack = _parts(nodes, 0, 1)
    while stack:
        node, question, depth = stack.pop()
        column, sign, threshold = question
        line = f"{'  ' * depth}{names[column]} {sign} {threshold:.{digits}g}:"
        if nodes.child[node] > 0:
            yield line
            stack += _parts(nodes, node, depth + 1)
        else:
            yield f"{line} {weight * nodes.value[node]:+.{digits}g}"


def _parts(nodes, node, depth):
    """List the two children of a node, the left one last, with what leads to them."""
    left = nodes.child[node]
    if left == 0:
        return []
    column, threshold = nodes.column[node], nodes.threshold[node]
    return [(left + 1, (column, ">", threshold), depth), (left, (column, "<=", threshold), depth)]
