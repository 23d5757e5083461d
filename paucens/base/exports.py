"""A fitted ensemble of trees for other programs: a table of its nodes, and JSON."""

import json
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from paucens.base.categories import sides_of
from paucens.learners.nodes import splits_categories

if TYPE_CHECKING:
    from pandas import DataFrame

NONE = -1  # no node, no feature, no number of samples
WHOLE = ("left_child", "right_child", "parent", "feature", "count")  # columns of integers, with NONE


class ExportedTrees:
    """What an ensemble of trees can be exported as; a mixin of `WeightedEnsemble`."""

    def trees_to_dataframe(self) -> "DataFrame":
        """Return the trees as a table of one row per node, in the manner of LightGBM and XGBoost.

        Returns
        -------
        frame : pandas.DataFrame
            Its columns are:

            - tree, node: numbers, both from 0; node 0 is the root;
            - depth: 0 at the root;
            - left_child, right_child, parent: nodes of the same tree, missing where there is none;
            - feature: its name, or its number if the features have no names; missing at leaves;
            - threshold: values up to it go left; missing at leaves and splits of categories;
            - left_categories: list of those that go left, None if a threshold splits, or nothing. The others of
              `categories_` go right, and new ones as missing values do. Only models with categories have this column;
            - missing_left: whether missing values go left; missing at leaves;
            - gain: that of the split, in units of the signed weights of its round; missing at leaves;
            - value: the prediction times the weight of the tree. The sum over the leaves that a sample reaches, less
              `threshold_`, is its score;
            - count: number of training samples that reach the node, without those of `sample_weight` 0 and as often
              as a whole `sample_weight` says; missing in models from files of version 0.1.

        Raises
        ------
        AttributeError
            If the learners are not trees.
        ImportError
            If pandas is missing.

        Examples
        --------
        >>> from paucens import PAUCEnsClassifier, Stump
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
        >>> model = PAUCEnsClassifier((0, 1), learner=Stump(), n_estimators=1, nu=1.0).fit(X, y)
        >>> print(model.trees_to_dataframe()[["node", "parent", "feature", "threshold", "value", "count"]].round(3))
           node  parent  feature  threshold  value  count
        0     0    <NA>        0        0.5  0.511      4
        1     1       0     <NA>        NaN -0.511      1
        2     2       0     <NA>        NaN  0.511      3
        """
        check_is_fitted(self)
        return as_frame(self)

    def to_json(self) -> str:
        """Write the trees as JSON, from which any language can compute the scores.

        Returns
        -------
        text : str
            An object with "class", "classes", "n_features", "feature_names" (null without names), "threshold" and
            "trees". A tree has arrays of one entry per node, named as those of scikit-learn's trees: "children_left"
            and "children_right" (-1 at leaves), "feature" (-1 at leaves), "threshold", "missing_go_to_left", "value"
            (that of `trees_to_dataframe`) and "n_node_samples" (-1 if unknown). Numbers are written in full. If the
            model has categories, there are also "categories", an object that lists those of each feature by its number,
            and in each tree "left_categories", as in `trees_to_dataframe`; the threshold is 0 then.

        Raises
        ------
        AttributeError
            If the learners are not trees.

        Notes
        -----
        SHAP values of the score of a model without categories, which add up to `decision_function`::

            dump = json.loads(model.to_json())
            trees = [
                {
                    "children_left": np.array(tree["children_left"]),
                    "children_right": np.array(tree["children_right"]),
                    "children_default": np.where(
                        tree["missing_go_to_left"], tree["children_left"], tree["children_right"]
                    ),
                    "features": np.array(tree["feature"]),
                    "thresholds": np.array(tree["threshold"]),
                    "values": np.array(tree["value"])[:, None],
                    "node_sample_weight": np.array(tree["n_node_samples"], dtype=float),
                }
                for tree in dump["trees"]
            ]
            explainer = shap.TreeExplainer({"trees": trees, "base_offset": -dump["threshold"]})
            explanation = explainer(X)

        Examples
        --------
        A sample is of the class `classes[1]` if its score is above 0:

        >>> import json
        >>> from paucens import PAUCEnsClassifier
        >>> from paucens.datasets import load_toy
        >>> X, y = load_toy(random_state=0)
        >>> model = PAUCEnsClassifier(n_estimators=5, random_state=0).fit(X, y)
        >>> def score(model, row):
        ...     total = 0.0
        ...     for tree in model["trees"]:
        ...         node = 0
        ...         while tree["children_left"][node] >= 0:
        ...             value = row[tree["feature"][node]]
        ...             is_missing = value != value  # NaN
        ...             left = tree["missing_go_to_left"][node] if is_missing else value <= tree["threshold"][node]
        ...             node = tree["children_left" if left else "children_right"][node]
        ...         total += tree["value"][node]
        ...     return total - model["threshold"]
        >>> bool(score(json.loads(model.to_json()), X[7]) == model.decision_function(X[[7]])[0])
        True
        """
        check_is_fitted(self)
        return as_json(self)


def trees_of(model, wanted):
    """List the weight and the nodes of each tree; raise AttributeError that says what was wanted if there are none."""
    for learner in model.learners_:
        if not hasattr(learner, "nodes_"):
            raise AttributeError(f"{wanted} needs trees; learners_ holds {type(learner).__name__}.")
    return [(weight, learner.nodes_) for weight, learner in zip(model.weights_, model.learners_, strict=True)]


def as_frame(model):
    """Return a frame of one row per node; see `trees_to_dataframe`."""
    trees = trees_of(model, "trees_to_dataframe")
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("trees_to_dataframe needs pandas: pip install pandas. to_json does without.") from error
    parts = [_rows(t, weight, nodes) for t, (weight, nodes) in enumerate(trees)]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    columns["missing_left"] = pd.arrays.BooleanArray(columns["missing_left"], columns["left_child"] == NONE)
    columns |= {name: pd.arrays.IntegerArray(columns[name].astype(np.int64), columns[name] == NONE) for name in WHOLE}
    frame = pd.DataFrame(columns)
    if model.categories_:
        lists = [each for _, nodes in trees for each in _left_categories(model.categories_, nodes)]
        frame.insert(frame.columns.get_loc("missing_left"), "left_categories", pd.Series(lists, dtype=object))
    if hasattr(model, "feature_names_in_"):
        frame["feature"] = frame["feature"].map(dict(enumerate(model.feature_names_in_)))
    return frame


def _rows(t, weight, nodes):
    """Return the columns of one tree."""
    left, right = _children(nodes)
    inner = np.flatnonzero(nodes.child)
    parent, depth = np.full(len(left), NONE), np.zeros(len(left), dtype=np.int64)
    parent[left[inner]] = parent[right[inner]] = inner
    for node in range(1, len(left)):  # a child comes after its parent
        depth[node] = depth[parent[node]] + 1
    return {
        "tree": np.full(len(left), t),
        "node": np.arange(len(left)),
        "depth": depth,
        "left_child": left,
        "right_child": right,
        "parent": parent,
        "feature": nodes.column,
        "threshold": np.where((left == NONE) | splits_categories(nodes), np.nan, nodes.threshold),
        "missing_left": nodes.missing_left,
        "gain": np.where(left == NONE, np.nan, nodes.gain),
        "value": weight * nodes.value,
        "count": nodes.n_samples,
    }


def _children(nodes):
    """Return the left and the right child of each node, NONE at leaves."""
    left = np.where(nodes.child > 0, nodes.child, NONE)
    return left, np.where(nodes.child > 0, nodes.child + 1, NONE)


def _left_categories(categories, nodes):
    """List those that go left, for each node; None if it does not split categories."""
    by_set = splits_categories(nodes)
    return [sides_of(categories, nodes, node)[0] if by_set[node] else None for node in range(len(by_set))]


def as_json(model):
    """Return an ensemble as text in JSON; see `to_json`."""
    trees, names = trees_of(model, "to_json"), getattr(model, "feature_names_in_", None)
    whole = {
        "class": type(model).__name__,
        "classes": model.classes_.tolist(),
        "n_features": model.n_features_in_,
        "feature_names": None if names is None else names.tolist(),
        "threshold": model.threshold_,
        "trees": [_tree_to_json(weight, nodes) for weight, nodes in trees],
    }
    if model.categories_:
        whole["categories"] = {column: known.tolist() for column, known in model.categories_.items()}
        for tree, (_, nodes) in zip(whole["trees"], trees, strict=True):
            tree["left_categories"] = _left_categories(model.categories_, nodes)
    return json.dumps(whole, allow_nan=False)


def _tree_to_json(weight, nodes):
    left, right = _children(nodes)
    return {
        "children_left": left.tolist(),
        "children_right": right.tolist(),
        "feature": nodes.column.tolist(),
        "threshold": nodes.threshold.tolist(),
        "missing_go_to_left": nodes.missing_left.tolist(),
        "value": (weight * nodes.value).tolist(),
        "n_node_samples": nodes.n_samples.tolist(),
    }
