"""Inputs of `fuzz_estimators`: data and parameters of every kind that is allowed, and of some that are not."""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.utils import get_tags

from paucens import (
    AdaBoostClassifier,
    AdaBoostLDAClassifier,
    AsymBoostClassifier,
    CSAdaBoostClassifier,
    Linear,
    LinearPAUCSVC,
    PAUCBoostClassifier,
    PAUCEnsClassifier,
    Stump,
    Tree,
)
from paucens.metrics import rank_range
from paucens.validation import total_weight

MOST_OF_LINEAR = 1e30  # largest feature of `Linear`
MOST_OF_SVM = 1e100  # largest feature of `LinearPAUCSVC`


class Case(NamedTuple):
    """One input.

    Attributes
    ----------
    model : estimator, not fitted
    X : ndarray of any real type and layout
    y : ndarray
        Labels, or signed weights for a learner.
    weights : ndarray of shape (n_samples,) or None
        `sample_weight` of a classifier.
    spoilt : str
        What is wrong with the input; empty if it must be accepted.
    """

    model: object
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None
    spoilt: str


# -- data ------------------------------------------------------------------------------------------

VALUES = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "few": lambda rng, shape: rng.integers(-2, 3, shape) / 2,
    "sparse": lambda rng, shape: (rng.random(shape) < 0.1).astype(float),
    "integers": lambda rng, shape: rng.integers(-100, 101, shape).astype(float),
    "large": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.uniform(5, 29),
    "huge": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.uniform(31, 307),
    "largest": lambda rng, shape: rng.choice([-1.0, 0.0, 1.0], shape) * np.finfo(float).max,
    "small": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.uniform(-320, -5),
    "neighbours": lambda rng, shape: 1.0 + rng.integers(0, 9, shape) * 2.0**-52,
    "many magnitudes": lambda rng, shape: rng.choice([-1, 1], shape) * 10.0 ** rng.uniform(-30, 29, shape),
    "units": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.integers(-12, 13, shape[1]),
    "offset": lambda rng, shape: 1e6 + rng.normal(size=shape),
    "outlier": lambda rng, shape: np.where(rng.random(shape) < 0.05, 1e20, rng.normal(size=shape)),
}
TYPES = (np.float64, np.float64, np.float32, np.int8, np.uint8, np.int64, np.bool_, np.float16)
LAYOUTS = {
    "C": lambda X: X,
    "Fortran": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "part of wider rows": lambda X: np.pad(X, ((0, 0), (1, 2)))[:, 1:-2],
    "swapped bytes": lambda X: X.astype(X.dtype.newbyteorder()),
}
LABELS = ([0, 1], [False, True], [-1, 1], ["no", "yes"], [2.0, 7.0], [-(2**62), 2**62])


def draw_features(rng):
    """Draw features with columns that are constant, repeated or opposite to others."""
    n, d = int(rng.choice([2, 3, 9, 30, 60, 300], p=[0.1, 0.1, 0.2, 0.3, 0.2, 0.1])), int(rng.choice([1, 2, 5, 17]))
    values = pick(rng, VALUES)(rng, (n, d))
    for column in range(1, d):
        kind = rng.integers(8)
        if kind < 3:
            other = values[:, rng.integers(column)]
            values[:, column] = [other, -other, np.full(n, values[0, column])][kind]
    if rng.random() < 0.2:
        values = values[rng.integers(n, size=n)]  # repeated rows
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        kind = np.dtype(TYPES[rng.integers(len(TYPES))])
        limits = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind) if kind.kind in "iu" else None
        cast = values if limits is None else np.clip(values, float(limits.min) / 2, float(limits.max) / 2)
        return pick(rng, LAYOUTS)(cast.astype(kind))


def draw_classes(rng, X):
    """Draw which rows are positive, one at least of each class; often they have to do with the features."""
    n = len(X)
    if rng.random() < 0.2:
        positive = np.zeros(n, dtype=bool)
    elif rng.random() < 0.5:
        positive = rng.random(n) < rng.random()
    else:
        column = X[:, rng.integers(X.shape[1])]
        positive = (column > np.sort(column)[rng.integers(n)]) ^ (rng.random(n) < rng.choice([0, 0.1, 0.3]))
    first, second = rng.choice(n, 2, replace=False)
    positive[first], positive[second] = True, False
    return positive


WEIGHTS = {
    "equal": lambda rng, n: np.ones(n),
    "some zero": lambda rng, n: rng.integers(0, 3, n).astype(float),
    "uniform": lambda rng, n: rng.random(n),
    "many magnitudes": lambda rng, n: 10.0 ** rng.uniform(-300, 300, n),
    "large": lambda rng, n: rng.random(n) * 1e305,
    "small": lambda rng, n: rng.integers(0, 9, n) * 5e-324,
    "one heavy": lambda rng, n: np.where(np.arange(n) == rng.integers(n), 1e12, rng.random(n)),
    "all zero": lambda rng, n: np.zeros(n),
}


SAMPLE_WEIGHTS = {
    "whole": lambda rng, n: rng.integers(0, 5, n),
    "equal": lambda rng, n: np.full(n, rng.choice([1.0, 3.0, 0.3])),
    "uniform": lambda rng, n: rng.random(n),
    "quarters": lambda rng, n: rng.integers(1, 9, n) / 4,
    "some magnitudes": lambda rng, n: 10.0 ** rng.uniform(-4, 4, n),
}


# -- estimators ------------------------------------------------------------------------------------


def pick(rng, choices):
    """Choose one of the values of a dictionary or list."""
    values = list(choices.values()) if isinstance(choices, dict) else choices
    return values[rng.integers(len(values))]


def draw_tree(rng):
    leaves, fraction = pick(rng, ["sign", "real"]), pick(rng, [1.0, 1.0, 0.3, 1e-300])
    depth, most = pick(rng, [(1, None), (2, None), (3, None), (None, 4), (10**9, 31), (8, 2), (3, 10**9)])
    return Tree(
        depth,
        max_leaves=most,
        leaves=leaves,
        leaf_ridge=pick(rng, [0.0, 1.0, 20, 1e308]) if leaves == "real" else 0.0,
        column_fraction=fraction,
        column_sampling=pick(rng, ["tree", "node"]),
        max_bins=draw_bins(rng),
        random_state=int(rng.integers(2**31)),
    )


def draw_bins(rng):
    return pick(rng, [256, 256, 256, 2, 3, 10])


LEARNERS = {
    "tree": draw_tree,
    "stump": lambda rng: Stump(leaves=pick(rng, ["sign", "real"]), max_bins=draw_bins(rng)),
    "linear": lambda rng: Linear(C=pick(rng, [1.0, 1.0, 1e-30, 1e30, 100])),
}


def draw_learner(rng):
    return LEARNERS[rng.choice(list(LEARNERS), p=[0.7, 0.15, 0.15])](rng)


def draw_range(rng):
    kind = rng.integers(6)
    if kind < 2:
        return pick(rng, [(0, 0.1), (0.0, 0.3), (0, 1), (0, 1e-9), (0, 5e-324)])
    if kind < 4:
        return 0.0, float(rng.random())
    alpha, beta = np.sort(rng.choice(21, 2, replace=False)) / 20
    return float(alpha), float(beta)


def draw_nu(rng):
    return pick(rng, [0.001, 0.03, 1.0, 10.0, 1000.0, 1e-50, 1e50])


def draw_tolerance(rng):
    return pick(rng, [1e-2, 1e-2, 1e-3, 1.0, 1e-300, 1e300])


def common(rng):
    """Draw the parameters that all ensembles have."""
    return {
        "learner": pick(rng, [None, draw_learner(rng), draw_learner(rng), draw_learner(rng)]),
        "n_estimators": int(rng.integers(1, 8)),
        "max_bins": draw_bins(rng),
        "random_state": int(rng.integers(2**31)),
    }


def shrinkage(rng):
    return {"shrinkage": pick(rng, [1.0, 1.0, 0.1, 5e-324])}


def draw_mixture(rng, beta):
    wide = [] if beta == 1 else [(1, 0.25)]
    return pick(rng, [None, "auto", [*wide, (beta, 1 - sum(share for _, share in wide))], [(beta, 1.0)]])


def draw_ensemble(rng):
    fpr_range = draw_range(rng)
    return PAUCEnsClassifier(
        fpr_range,
        train_range=pick(rng, [None, None, fpr_range]),
        mixture=draw_mixture(rng, fpr_range[1]) if fpr_range[0] == 0 else None,
        row_fraction=pick(rng, [1.0, 1.0, 0.5, 1e-9]),
        binning=pick(rng, ["quantile", "tails"]),
        nu=draw_nu(rng),
        anneal=pick(rng, ["auto", False]),
        formulation=pick(rng, ["tight", "struct"]),
        cut_tolerance=draw_tolerance(rng),
        edge_tolerance=draw_tolerance(rng),
        **common(rng),
    )


def draw_stopping(rng):
    """Draw an ensemble that holds out samples to stop by."""
    return draw_ensemble(rng).set_params(
        early_stopping=True,
        validation_fraction=pick(rng, [0.1, 0.3, 0.5, 0.9]),
        n_iter_no_change=int(rng.integers(1, 4)),
    )


def draw_svm(rng):
    return LinearPAUCSVC(
        draw_range(rng),
        nu=draw_nu(rng),
        formulation=pick(rng, ["tight", "struct"]),
        cut_tolerance=draw_tolerance(rng),
        max_iter=pick(rng, [1, 10, 200]),
    )


def draw_cost(rng):
    return pick(rng, [1.0, 1.6, 0.4, 100.0, 1e-100, 1e100])


CLASSIFIERS = {
    "PAUCEns": draw_ensemble,
    "PAUCEns too": draw_ensemble,
    "PAUCEns with early stopping": draw_stopping,
    "SVM": draw_svm,
    "AdaBoost": lambda rng: AdaBoostClassifier(**shrinkage(rng), **common(rng)),
    "AsymBoost": lambda rng: AsymBoostClassifier(
        pick(rng, [1.0, 4.0, 5e-324, 1.7e308]), **shrinkage(rng), **common(rng)
    ),
    "CS-AdaBoost": lambda rng: CSAdaBoostClassifier(draw_cost(rng), draw_cost(rng), **shrinkage(rng), **common(rng)),
    "Ada + LDA": lambda rng: AdaBoostLDAClassifier(ridge=pick(rng, [1e-6, 1e-6, 0, 5e-324, 1e100]), **common(rng)),
    "pAUCBoost": lambda rng: PAUCBoostClassifier(draw_range(rng), **common(rng)),
}


# -- what is refused -------------------------------------------------------------------------------


def draw_case(rng):
    """Draw an input; one in eight is spoilt."""
    X = draw_features(rng)
    positive = draw_classes(rng, X)
    if rng.random() < 0.25:
        model = draw_learner(rng)
        with np.errstate(all="ignore"):
            magnitudes = pick(rng, WEIGHTS)(rng, len(X))
            y = np.where(positive, 1.0, -1.0) * (magnitudes if np.isfinite(magnitudes.sum()) else 1.0)
    else:
        model = pick(rng, CLASSIFIERS)(rng)
        y = np.array(pick(rng, LABELS))[positive.astype(int)]
    if takes_missing(model) and X.dtype.kind == "f" and rng.random() < 0.3:
        X[rng.random(X.shape) < pick(rng, [0.05, 0.3, 0.9])] = np.nan
    weights = pick(rng, SAMPLE_WEIGHTS)(rng, len(X)) if y.dtype != float and rng.random() < 0.3 else None
    if weights is not None and getattr(model, "early_stopping", False):
        weights = np.ceil(weights).clip(max=9)  # equal rows of other weights may be one row, and are held out as one
    spoilt = limits_passed(model, X, positive, weights)
    if not spoilt and rng.random() < 1 / 8:
        spoilt, X, y, weights = spoil(rng, model, X, y, weights)
    elif takes_missing(model) and hasattr(model, "categorical_features") and rng.random() < 0.3:
        fits = [len(np.unique(column[column == column])) <= min(model.max_bins, 255) for column in X.T]
        model.set_params(categorical_features=(np.array(fits) & (rng.random(len(fits)) < 0.6)).tolist())
    for array in (X, y) if weights is None else (X, y, weights):
        array.flags.writeable = rng.random() < 0.5
    return Case(model, X, y, weights, spoilt)


def takes_missing(model):
    return get_tags(model).input_tags.allow_nan


def limits_passed(model, X, positive, weights):
    """Name a documented limit that an input does not keep."""
    n_negatives = int((~positive).sum())
    if weights is not None:
        if not weights[positive].any() or not weights[~positive].any():
            return "a class without weight"
        X, n_negatives = X[weights > 0], total_weight(weights[~positive].astype(float))
    largest = float(np.abs(X.astype(float)).max())
    if isinstance(getattr(model, "learner", model), Linear) and largest > MOST_OF_LINEAR:
        return "features too large for Linear"
    if isinstance(model, LinearPAUCSVC) and largest > MOST_OF_SVM:
        return "features too large for the SVM"
    if getattr(model, "early_stopping", False):
        rows = np.repeat(positive, 1 if weights is None else weights.astype(int))
        sizes = int(rows.sum()), int((~rows).sum())
        n_held = [max(1, round(model.validation_fraction * size)) for size in sizes]
        if any(held == size for held, size in zip(n_held, sizes, strict=True)):
            return "a class of which no sample is left to train on"
        low, high = rank_range(n_held[1], model.fpr_range)
        if high <= low:
            return "range without a rank among those held out"
        n_negatives -= n_held[1]
    if hasattr(model, "fpr_range"):
        alpha, beta = model.fpr_range
        if beta - alpha < 1e-9 and isinstance(model, PAUCBoostClassifier):
            return "range too narrow"
        low, high = rank_range(n_negatives, (alpha, beta))
        if alpha > 0 and high <= low and not isinstance(model, PAUCBoostClassifier):
            return "range without a rank"
    return ""


UNSPOILT = {"verbose", "depth", "max_leaves", "pos_label", "n_jobs", "categorical_features"}


def spoil(rng, model, X, y, weights):
    """Spoil an input; return how, and the features, labels and weights."""
    kind = pick(rng, ["value", "length", "empty", "type", "parameter", "target"] + ["weight"] * (weights is not None))
    if kind == "value":
        X = X.astype(float)
        values = [np.inf, -np.inf] + [np.nan] * (not takes_missing(model))
        X[rng.integers(len(X)), rng.integers(X.shape[1])] = rng.choice(values)
    elif kind == "weight":
        weights = weights.astype(float)
        weights[rng.integers(len(X))] = rng.choice([-1.0, np.nan, np.inf])
    elif kind == "length":
        y = y[1:]
    elif kind == "empty":
        X = X[:, :0]
    elif kind == "type":
        X = pick(rng, [X[:, 0], X[None], X.astype(str), X.astype(complex) + 1j])
    elif kind == "parameter":
        name = pick(rng, sorted(set(model.get_params(deep=False)) - UNSPOILT))
        model.set_params(**{name: pick(rng, [-1, np.nan, "x", [], object()])})
    elif hasattr(model, "decision_function"):
        y = pick(
            rng, [np.full(len(y), y[0]), np.arange(len(y)) if len(y) > 2 else y[:0], y.astype(object)[:, None, None]]
        )
    else:
        y = np.where(np.arange(len(y)) == 0, np.nan, y)
    return kind, X, np.array(y), weights
