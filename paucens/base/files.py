"""Contents of a model file: parameters and labels with their types as JSON values, learners as plain arrays."""

import numbers

import numpy as np

from paucens.learners import LEARNERS
from paucens.persistence import array_of, typed, untyped
from paucens.validation import check_integer

MOST_FEATURES = 2**31 - 1  # the columns of trees are int32
LABELS = "biufUO"  # kinds of dtypes


def classifier_to_file(classifier):
    """Return what every classifier has, a header and arrays: kind, parameters, features and labels."""
    header = {
        "kind": type(classifier).__name__,
        "parameters": estimator_to_json(classifier)["parameters"],
        "n_features": classifier.n_features_in_,
    }
    if hasattr(classifier, "feature_names_in_"):
        header["feature_names"] = classifier.feature_names_in_.tolist()
    labels = classifier.classes_
    if labels.dtype.kind not in LABELS:
        raise TypeError(f"Only labels that are numbers, bools or strings can be saved; got {labels!r}.")
    if labels.dtype.kind == "O":
        return header | {"classes": typed(labels, "classes_")}, {}
    return header, {"classes": labels}


def classifier_from_file(kind, header, arrays):
    """Make a classifier of the contents of its file, without what its own fit sets; parameters are not checked."""
    classifier = kind(**parameters_from_json(header["parameters"]))
    n_features = classifier.n_features_in_ = check_integer("n_features", header["n_features"], 1, MOST_FEATURES)
    if "feature_names" in header:
        classifier.feature_names_in_ = _checked_names(header["feature_names"], n_features)
    labels = untyped(header["classes"]) if "classes" in header else arrays["classes"]
    classifier.classes_ = _checked_labels(labels)
    return classifier


def estimator_to_json(estimator):
    """Return class and constructor parameters as JSON values, also those of a learner among the parameters."""
    parameters = estimator.get_params(deep=False)
    for name, value in parameters.items():
        if type(value) in LEARNERS.values():
            parameters[name] = estimator_to_json(value)
        elif name == "random_state" and not isinstance(value, numbers.Integral):
            parameters[name] = None  # the state of a generator is not part of the model
        else:
            parameters[name] = typed(value, name)
    return {"class": type(estimator).__name__, "parameters": parameters}


def parameters_from_json(parameters):
    """Return constructor parameters from the JSON values of `estimator_to_json`."""
    return {
        name: _learner_from_json(value) if isinstance(value, dict) and "class" in value else untyped(value)
        for name, value in parameters.items()
    }


def learners_to_arrays(learners):
    """Return all learners end to end, a dict of arrays; raise TypeError if one is from elsewhere."""
    for learner in learners:
        if type(learner) not in LEARNERS.values():
            *names, last = LEARNERS
            raise TypeError(
                f"Only ensembles of {', '.join(names)} or {last} can be saved; this one holds {type(learner).__name__}."
            )
    return learners[0].to_arrays(learners)


def learners_from_arrays(arrays, value, n_features):
    """Return the learners of `learners_to_arrays`; raise ValueError if an array or a parameter is out of range.

    Parameters
    ----------
    arrays : dict of str to ndarray
    value : dict
        Class and parameters of the learners as `estimator_to_json` returns them.
    n_features : int
    """
    template = _learner_from_json(value)
    template.check_parameters()
    template.n_features_in_ = n_features
    return template.from_arrays(arrays)


def history_to_file(estimator, attributes):
    """Return attributes as a dict of header values and one of arrays; see `history_from_file`."""
    values = {name: getattr(estimator, name) for name in attributes}
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    return {name: value for name, value in values.items() if name not in arrays}, arrays


def history_from_file(estimator, attributes, header, arrays):
    """Set attributes that tell how a fit went; raise ValueError if one does not fit the others.

    Parameters
    ----------
    estimator : BinaryClassifier
    attributes : dict of str to tuple or dtype
        The values that are allowed, or the type of an array of one number per round.
    header : dict
        Values, and `"n_iter_"`, the number of rounds.
    arrays : dict of str to ndarray
    """
    n_rounds = estimator.n_iter_ = check_integer("n_iter_", header["n_iter_"], 1)
    for name, allowed in attributes.items():
        if not isinstance(allowed, tuple):
            setattr(estimator, name, array_of(arrays, name, allowed, (n_rounds,)))
        elif header[name] in allowed:
            setattr(estimator, name, header[name])
        else:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}; it is {header[name]!r}. It is damaged.")


def _learner_from_json(value):
    return LEARNERS[value["class"]](**parameters_from_json(value["parameters"]))


def _checked_names(names, n_features):
    """Return the names of features in the form of scikit-learn."""
    if not isinstance(names, list) or len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise ValueError(f"feature_names must be {n_features} strings, one per feature. The file is damaged.")
    return np.array(names, dtype=object)


def _checked_labels(labels):
    """Return the labels if they are two, ascending, and of a type that labels may have."""
    kind = labels.dtype.kind
    if labels.shape != (2,) or kind not in LABELS or (kind == "O" and not all(isinstance(one, str) for one in labels)):
        raise ValueError(f"classes must be two numbers, bools or strings; got {labels!r}. The file is damaged.")
    if not labels[0] < labels[1] or (kind == "f" and np.isinf(labels).any()):
        raise ValueError(f"classes must be finite and ascend; got {labels!r}. The file is damaged.")
    return labels
