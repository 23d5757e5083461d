"""Contents of a model file: parameters as JSON values, labels and learners as plain arrays."""

import numpy as np

from paucens.learners import LEARNERS


def estimator_to_json(estimator):
    """Return class and constructor parameters as JSON values, also those of a learner among the parameters."""
    parameters = estimator.get_params(deep=False)
    for name, value in parameters.items():
        if isinstance(value, tuple(LEARNERS.values())):
            parameters[name] = estimator_to_json(value)
        elif name == "random_state" and not isinstance(value, int | np.integer):
            parameters[name] = None  # the state of a generator is not part of the model
    return {"class": type(estimator).__name__, "parameters": parameters}


def parameters_from_json(parameters):
    """Return constructor parameters from the JSON values of `estimator_to_json`."""
    return {
        name: _learner_from_json(value)
        if isinstance(value, dict)
        else tuple(value)
        if isinstance(value, list)
        else value
        for name, value in parameters.items()
    }


def _learner_from_json(value):
    return LEARNERS[value["class"]](**parameters_from_json(value["parameters"]))


def labels_to_array(classes):
    """Return the two labels in a dtype that needs no pickle; raise TypeError if there is none."""
    labels = np.array(classes.tolist())
    if labels.dtype.kind not in "biufU":
        raise TypeError(f"Only labels that are numbers, bools or strings can be saved; got {classes!r}.")
    return labels


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
    """Return the learners of `learners_to_arrays`; raise ValueError if an index points outside its array.

    Parameters
    ----------
    arrays : dict of str to ndarray
    value : dict
        Class and parameters of the learners as `estimator_to_json` returns them.
    n_features : int
    """
    template = _learner_from_json(value)
    template.n_features_in_ = n_features
    return template.from_arrays(arrays)
