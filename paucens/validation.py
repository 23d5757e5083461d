"""Checks of what users pass in, and warnings that point at their line.

Messages say what came, what is allowed and what to do.
"""

import functools
import math
import numbers
import os
import sys
import warnings

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import validate_data

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def all_or_nothing(fit):
    """Decorate a `fit` such that its failure leaves the estimator unchanged: unfitted, or with its earlier fit."""

    @functools.wraps(fit)
    def guarded(self, *args, **kwargs):
        before = self.__dict__.copy()
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return guarded


def warn_user(message, category=UserWarning):
    """Warn, and point at the line outside this package that called into it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def check_features(estimator, X, reset=True):
    """Return X as a finite float32 or float64 array, without a copy if it is one already.

    Raises
    ------
    ValueError
        If X is empty, sparse, not finite or of strings, or its number of columns is not the fitted one.
    """
    refuse_strings(X)
    return validate_data(estimator, X, dtype=[np.float64, np.float32], reset=reset)


def check_features_and_target(estimator, X, y):
    """Return X and a mask of the positive samples; set `classes_`, the two labels, of which the larger is positive.

    Raises
    ------
    ValueError
        As `check_features`, and if y has one class or more than two.
    """
    refuse_strings(X)
    X, y = validate_data(estimator, X, y, dtype=[np.float64, np.float32])
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if kind != "binary":
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}. "
            "Turn y into the class that matters against the rest, for example y == 'pedestrian'."
        )
    classes, y = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"Two classes are needed; y holds one class only: {classes[0]!r}.")
    estimator.classes_ = classes
    return X, y == 1


def refuse_strings(X):
    """Raise ValueError if X holds text; text that looks like a number would be converted silently."""
    if hasattr(X, "columns"):  # a frame, column by column
        text = any(_holds_text(X[name].to_numpy()) for name in X.columns if X[name].dtype.kind not in "biuf")
    elif isinstance(X, list | tuple):
        text = _is_rectangular(X) and _holds_text(np.asarray(X))
    else:
        text = _holds_text(X)
    if text:
        raise ValueError("X must hold numbers; got text. Encode text columns as numbers first.")


def _holds_text(values):
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    return kind in ("U", "S") or (kind == "O" and any(isinstance(v, str | bytes) for v in np.ravel(values)))


def _is_rectangular(rows):
    lengths = {len(row) if hasattr(row, "__len__") else -1 for row in rows}
    return len(lengths) == 1


def check_signed_weights(signed_weights, n_samples):
    """Return the weights as a float64 array; raise ValueError if they do not fit the samples."""
    weights = np.asarray(signed_weights, dtype=np.float64)
    if weights.shape != (n_samples,):
        raise ValueError(f"signed_weights must be one number per sample, shape ({n_samples},); got {weights.shape}.")
    with np.errstate(over="ignore"):
        total = np.abs(weights).sum()
    if not np.isfinite(total):
        raise ValueError("signed_weights must be finite, and their sum too; got NaN, infinity or a sum beyond 1e308.")
    return weights


def check_integer(name, value, least, most=None):
    """Return an integer parameter; raise ValueError unless it lies in [least, most]."""
    allowed = f"{least} or larger" if most is None else f"from {least} to {most}"
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise ValueError(f"{name} must be an integer, {allowed}; got {value!r}.")
    if value < least or (most is not None and value > most):
        raise ValueError(f"{name} must be an integer, {allowed}; got {value!r}.")
    return int(value)


def check_positive(name, value, zero=False, most=np.inf):
    """Return a real parameter; raise ValueError unless it is finite, positive (or 0) and at most `most`."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not 0 <= value <= min(most, sys.float_info.max) or (value == 0 and not zero):
        bound = "" if most == np.inf else f" and at most {most:g}"
        raise ValueError(
            f"{name} must be a finite number, {'0 or larger' if zero else 'larger than 0'}{bound}; got {value!r}."
        )
    return float(value)


def check_number(name, value):
    """Return a real parameter, which may be infinite; raise ValueError for anything else, including nan."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or math.isnan(value):
        raise ValueError(f"{name} must be a number, not nan; got {value!r}.")
    return float(value)


def check_choice(name, value, allowed):
    """Return a parameter; raise ValueError unless it is one of the allowed values."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in allowed):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}.")
    return value
