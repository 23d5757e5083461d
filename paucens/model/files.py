"""What a model file holds: parameters as JSON, labels and learners as plain arrays, every index checked."""

import copy
import itertools

import numpy as np

from paucens import persistence
from paucens.learners import Linear, Stump, Tree
from paucens.learners.growing import TreeNodes

SAVED_LEARNERS = {"Tree": Tree, "Stump": Stump, "Linear": Linear}
NODE_DTYPES = TreeNodes(np.int32, np.int32, np.float64, np.int32, np.float64, np.float64)


def plain_estimator(estimator):
    """Class and constructor parameters as JSON values, learners among them likewise."""
    parameters = estimator.get_params(deep=False)
    for name, value in parameters.items():
        if isinstance(value, tuple(SAVED_LEARNERS.values())):
            parameters[name] = plain_estimator(value)
        elif name == "random_state" and not isinstance(value, int | np.integer):
            parameters[name] = None  # the state of a generator is not part of the model
    return {"class": type(estimator).__name__, "parameters": parameters}


def revived_parameters(parameters):
    """Constructor parameters from the JSON values of `plain_estimator`."""
    return {
        name: _revived_learner(value) if isinstance(value, dict) else tuple(value) if isinstance(value, list) else value
        for name, value in parameters.items()
    }


def _revived_learner(plain):
    return SAVED_LEARNERS[plain["class"]](**revived_parameters(plain["parameters"]))


def plain_labels(classes):
    """The two labels in a dtype that needs no pickle; raise TypeError where there is none."""
    labels = np.array(classes.tolist())
    if labels.dtype.kind not in "biufU":
        raise TypeError(f"Only labels that are numbers, bools or strings can be saved; got {classes!r}.")
    return labels


def learners_to_arrays(learners):
    """All learners end to end: the columns of the nodes of trees and where each begins, or linear coefficients.

    Raises
    ------
    TypeError
        Where a learner is none of `SAVED_LEARNERS`.
    """
    for learner in learners:
        if type(learner).__name__ not in SAVED_LEARNERS:
            *names, last = SAVED_LEARNERS
            raise TypeError(
                f"Only ensembles of {', '.join(names)} or {last} can be saved; this one holds {type(learner).__name__}."
            )
    if isinstance(learners[0], Linear):
        return {
            "linear/coef": np.concatenate([learner.coef_ for learner in learners]),
            "linear/intercept": np.array([learner.intercept_ for learner in learners]),
        }
    arrays = {
        f"nodes/{field}": np.concatenate([getattr(learner.nodes_, field) for learner in learners])
        for field in TreeNodes._fields
    }
    arrays["nodes/start"] = np.cumsum([0] + [len(learner.nodes_.child) for learner in learners])
    return arrays


def flat_array(arrays, name, kinds, lengths=None):
    """One of the arrays, where it is flat, of one of the dtype kinds and lengths; raise ValueError otherwise."""
    array = arrays[name]
    if array.ndim != 1 or array.dtype.kind not in kinds or (lengths is not None and len(array) not in lengths):
        allowed = "" if lengths is None else f" and of length {' or '.join(map(str, lengths))}"
        raise ValueError(
            f"{name} must be flat{allowed}; it is {array.dtype} of shape {array.shape}. The file is damaged."
        )
    return array


def learners_from_arrays(arrays, plain, n_features):
    """The learners again; raise ValueError where an index of a tree leads outside of an array."""
    template = _revived_learner(plain)
    template.n_features_in_ = n_features
    return _linear(arrays, template) if isinstance(template, Linear) else _trees(arrays, template)


def _linear(arrays, template):
    intercepts = flat_array(arrays, "linear/intercept", "f")
    coefs = flat_array(arrays, "linear/coef", "f", (len(intercepts) * template.n_features_in_,))
    if len(intercepts) == 0 or not (np.isfinite(coefs).all() and np.isfinite(intercepts).all()):
        raise ValueError("There is no linear learner, or one that is not finite. The file is damaged.")
    learners = []
    for coef, intercept in zip(np.split(coefs, len(intercepts)), intercepts, strict=True):
        learner = copy.copy(template)
        learner.coef_, learner.intercept_ = coef, float(intercept)
        learners.append(learner)
    return learners


def _trees(arrays, template):
    start = flat_array(arrays, "nodes/start", "iu")
    fields = [
        arrays[f"nodes/{name}"].astype(dtype, casting="same_kind")
        for name, dtype in zip(TreeNodes._fields, NODE_DTYPES, strict=True)
    ]
    n_nodes = len(fields[0])
    persistence.check_index("nodes/start", start, n_nodes + 1)
    if any(field.shape != (n_nodes,) for field in fields) or len(start) < 2 or start[0] != 0 or start[-1] != n_nodes:
        raise ValueError("There are no nodes, or their columns differ in length. The file is damaged.")
    learners = []
    for first, last in itertools.pairwise(start):
        learner = copy.copy(template)
        learner.nodes_ = TreeNodes(*(field[first:last] for field in fields))
        _check_nodes(learner.nodes_, template.n_features_in_)
        learners.append(learner)
    return learners


def _check_nodes(nodes, n_features):
    n, inner = len(nodes.child), nodes.child != 0
    persistence.check_index("nodes/child", nodes.child, n)
    persistence.check_index("nodes/child", nodes.child[inner], n - 1)  # the right child is the next node
    persistence.check_index("nodes/column", nodes.column[inner], n_features)
    if n == 0 or (nodes.child[inner] <= np.flatnonzero(inner)).any():
        raise ValueError("A tree has no node, or a node that is its own ancestor. The file is damaged.")
