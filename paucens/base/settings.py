"""What a result depends on, as JSON values, so that a checkpoint is used for its own training only."""

import hashlib
import zlib

import numpy as np
from sklearn.base import BaseEstimator

OF_NO_EFFECT = ("n_jobs", "verbose", "pos_label", "categorical_features")  # binned samples say which are positive
OF_EARLY_STOPPING = ("early_stopping", "validation_fraction", "n_iter_no_change")  # without effect if it is off
OF_LONE_LEARNERS = ("max_bins", "random_state")  # an ensemble uses its own
MOST_NAMED = 4  # differences in a message


def ensemble_settings(ensemble, without=()):
    """Return the class of an ensemble and the parameters that its fit depends on, as JSON values.

    Parameters
    ----------
    ensemble : WeightedEnsemble
    without : sequence of str
        Further parameters to leave out.

    Examples
    --------
    >>> from paucens import AdaBoostClassifier, Linear
    >>> ensemble_settings(AdaBoostClassifier(learner=Linear(), n_jobs=2), ["n_estimators", "max_bins", "random_state"])
    {'class': 'AdaBoostClassifier', 'learner': {'class': 'Linear', 'C': 1.0}, 'shrinkage': 1.0}
    """
    learner = ensemble.default_learner if ensemble.learner is None else ensemble.learner
    unused = () if getattr(ensemble, "early_stopping", False) else OF_EARLY_STOPPING
    settings = _parameters(ensemble, (*OF_NO_EFFECT, *unused, *without))
    return settings | {"learner": _parameters(learner, OF_LONE_LEARNERS)}


def data_settings(binned, n_positives, stages, weights=None):
    """Return what a fit on binned features depends on besides its parameters, as JSON values."""
    n_features, n_samples = binned.codes.shape
    settings = {
        "n_features": n_features,
        "n_samples": n_samples,
        "n_positives": n_positives,
        "digest of the data": [_digest(array) for array in (binned.codes, binned.thresholds, binned.offsets)],
        "stages": [[first, _digest(columns)] for first, columns in stages],
    }
    return settings if weights is None else settings | {"digest of the weights": _digest(weights)}


def check_same(place, known, wanted):
    """Raise ValueError that names what differs, unless a checkpoint has the settings that are wanted.

    Parameters
    ----------
    place : path-like
        Of the checkpoint.
    known, wanted : dict
        Settings, JSON values.

    Examples
    --------
    >>> check_same("work", {"trees": {"depth": 3, "leaves": "sign"}}, {"trees": {"depth": 2, "leaves": "sign"}})
    Traceback (most recent call last):
    ...
    ValueError: work holds another training: its trees.depth is 3, not 2. Give another place, or remove that one.
    """
    known = known if isinstance(known, dict) else {}
    different = [part for name in wanted | known for part in _differences(known.get(name), wanted.get(name), name)]
    if different:
        named = "; ".join(different[:MOST_NAMED])
        more = f"; and {len(different) - MOST_NAMED} more" if len(different) > MOST_NAMED else ""
        raise ValueError(f"{place} holds another training: {named}{more}. Give another place, or remove that one.")


def _differences(known, wanted, name):
    """List where two JSON values differ; dicts of the same names and lists of the same length are entered."""
    if isinstance(known, dict) and isinstance(wanted, dict) and known.keys() == wanted.keys():
        return [part for key in known for part in _differences(known[key], wanted[key], f"{name}.{key}")]
    if isinstance(known, list) and isinstance(wanted, list) and len(known) == len(wanted):
        return [
            part
            for k, (old, new) in enumerate(zip(known, wanted, strict=True))
            for part in _differences(old, new, f"{name}[{k}]")
        ]
    return [] if known == wanted else [f"its {name} is {known}, not {wanted}"]


def _parameters(estimator, without):
    if not isinstance(estimator, BaseEstimator):
        return repr(estimator)
    parameters = estimator.get_params(deep=False)
    values = {name: _plain(value) for name, value in parameters.items() if name not in without}
    return {"class": type(estimator).__name__} | values


def _plain(value):
    """Return a parameter as a JSON value; its type does not matter."""
    if isinstance(value, np.random.RandomState):
        _, words, *position = value.get_state()
        return ["RandomState", _digest(words), *position]
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _digest(array):
    array = np.ascontiguousarray(array)
    if array.nbytes > 2**20:  # fast, for gigabytes that nobody forges
        return f"{zlib.crc32(array):08x}"
    return hashlib.sha256(array).hexdigest()[:16]
