"""Checks of what users pass in, and warnings that point at their line.

Messages say what came, what is allowed and what to do. Functions for estimators import scikit-learn when they run: it
is slow to import, and metrics and detectors do without.
"""

import contextlib
import functools
import math
import numbers
import os
import sys
import warnings
from collections.abc import Callable
from typing import TypeVar

import numpy as np

EXACT = 2**53  # floats hold all integers up to here
FLOATS = [np.float64, np.float32]
LEAST_TOTAL, LARGEST_TOTAL = 1e-50, 1e50  # of weights of samples: products with other weights are finite
Fit = TypeVar("Fit", bound=Callable)
PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def all_or_nothing(fit: Fit) -> Fit:
    """Decorate a `fit` such that its failure leaves the estimator unchanged: unfitted, or with its earlier fit.

    Parameters that are scalars of NumPy are Python's while it runs: their arithmetic does not overflow or round early.
    """

    @functools.wraps(fit)
    def guarded(self, *args, **kwargs):
        before = self.__dict__.copy()
        scalars = {name: value for name, value in before.items() if isinstance(value, np.generic)}
        self.__dict__.update({name: value.item() for name, value in scalars.items()})
        try:
            fitted = fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        self.__dict__.update(scalars)
        return fitted

    return guarded


def warn_user(message, category=UserWarning):
    """Warn, and point at the line outside this package that called into it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith((PACKAGE, contextlib.__file__)):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def check_features(estimator, X, reset=True, allow_nan=False):
    """Return X as a finite float32 or float64 array, without a copy if it is one already; NaN may be allowed.

    Raises
    ------
    ValueError
        If X is empty, sparse, not finite or of strings, or its number of columns is not the fitted one.
    """
    refuse_strings(X)
    X = _validated(estimator, X, reset=reset)
    return X if allow_nan else _without_nan(X)


def check_features_and_target(estimator, X, y, allow_nan=False):
    """Return X and a mask of the positive samples; set `classes_`, the two labels.

    Raises
    ------
    ValueError
        As `check_features`, and if y has one class or more than two, or not the label `pos_label` of the estimator.
    """
    refuse_strings(X)
    X, y = _validated(estimator, X, y)
    if not allow_nan:
        _without_nan(X)
    estimator.classes_, code = check_two_classes(y)
    return X, code == positive_code(estimator.classes_, estimator.pos_label)


def _without_nan(X):
    """Return X; raise ValueError if it holds NaN."""
    if np.isnan(X.min()):
        raise ValueError(
            "Input X contains NaN. Missing values are for ensembles of trees, learner=Tree() or Stump(). For others, "
            "fill them in first, for example with sklearn.impute.SimpleImputer."
        )
    return X


def check_two_classes(y):
    """Return the two labels, sorted, and which of them each sample has, 0 or 1.

    Raises
    ------
    ValueError
        If y has one class or more than two, or is no target of a classification.
    """
    from sklearn.utils.multiclass import check_classification_targets, type_of_target

    if len(y) == 0:
        raise ValueError("y must hold two classes; got 0 samples.")
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if kind != "binary":
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}. "
            "Turn y into the class that matters against the rest, for example y == 'pedestrian'."
        )
    classes, code = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"Two classes are needed; y holds one class only: {classes[0]!r}.")
    return classes, code


def positive_code(classes, pos_label):
    """Return which of two sorted labels is the positive one, 0 or 1; warn if nobody says so of labels that are text.

    Raises
    ------
    ValueError
        If `pos_label` is neither None nor one of them.
    """
    labels = classes.tolist()
    if pos_label is None:
        if isinstance(labels[1], str):
            warn_user(
                f"The positive class is {labels[1]!r}, the last one of the labels by the alphabet. Set "
                f"pos_label={labels[0]!r} if that is the class to detect, or pos_label={labels[1]!r}."
            )
        return 1
    if pos_label not in labels:
        raise ValueError(f"pos_label must be one of the labels {labels}; got {pos_label!r}.")
    return labels.index(pos_label)


@np.errstate(over="ignore", invalid="ignore")  # the sum that tells whether all are finite may overflow either way
def _validated(estimator, X, y="no_validation", reset=True):
    from sklearn.utils.validation import validate_data

    return validate_data(estimator, X, y, dtype=FLOATS, reset=reset, ensure_all_finite="allow-nan")


def refuse_strings(X):
    """Raise ValueError if X holds text; text that looks like a number would be converted silently."""
    if hasattr(X, "columns"):
        text = _frame_holds_text(X)
    elif isinstance(X, list | tuple):
        text = _is_rectangular(X) and _holds_text(np.asarray(X))
    else:
        text = _holds_text(X)
    if text:
        raise ValueError("X must hold numbers; got text. Encode it, or let trees take it as categorical_features.")


def _frame_holds_text(frame):
    """Tell whether a frame of any library holds text; columns whose type is a number are not looked at."""
    others = [k for k, dtype in enumerate(getattr(frame, "dtypes", [None])) if not _is_of_numbers(dtype)]
    if not others:
        return False
    return _holds_text(np.asarray(frame.iloc[:, others] if hasattr(frame, "iloc") else frame))


def _is_of_numbers(dtype):
    """Tell whether the type of a column, of pandas or of polars, is one of numbers."""
    return getattr(dtype, "kind", "") in ("b", "i", "u", "f") or (hasattr(dtype, "is_numeric") and dtype.is_numeric())


def _holds_text(values):
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    return kind in ("U", "S") or (kind == "O" and any(isinstance(v, str | bytes) for v in np.ravel(values)))


def _is_rectangular(rows):
    lengths = {len(row) if hasattr(row, "__len__") else -1 for row in rows}
    return len(lengths) == 1


def as_floats(name, values, expected):
    """Return numbers as a float64 array, infinite where they are too large for it.

    Raises
    ------
    ValueError
        If there are no real numbers: text, also if it looks like numbers, complex numbers, None, lists of unequal
        length. The message says what is expected.
    """
    try:
        array = np.asarray(values)
    except ValueError:  # lists of unequal length
        array = np.array(None)
    if array.dtype == object:
        array = np.array([_as_real(value) for value in array.flat], dtype=object).reshape(array.shape)
        if all(value is not None for value in array.flat):
            array = array.astype(np.float64)
    if array.dtype.kind not in "biuf" and array.size > 0:
        raise ValueError(f"{name} must be {expected}; got {values!r:.100}.")
    with np.errstate(over="ignore"):
        return array.astype(np.float64, copy=False)


def _as_real(value):
    """Return a real number as a float, infinite if it is too large, and None for anything else."""
    return _float_of(value) if isinstance(value, numbers.Real) else None


def check_sample_weight(sample_weight, positive):
    """Return how much each sample counts as a new float64 array, or None if it is None.

    Raises
    ------
    ValueError
        If the weights are not one finite number per sample, one is negative, a class (`positive` is a mask) has no
        weight, or the sum is out of range.
    """
    if sample_weight is None:
        return None
    weights = np.array(as_floats("sample_weight", sample_weight, "one real number per sample"))
    if weights.shape != positive.shape:
        raise ValueError(f"sample_weight must be one number per sample, shape {positive.shape}; got {weights.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise ValueError(
            f"sample_weight must be finite and not negative; got {weights[wrong[0]]:g} for sample {wrong[0]} "
            f"({len(wrong)} such samples). A weight of 0 leaves a sample out."
        )
    for rows, which in ((slice(None), "samples"), (positive, "positives"), (~positive, "negatives")):
        if not weights[rows].any():
            raise ValueError(f"sample_weight is zero for all {which}; at least one sample of each class must count.")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not LEAST_TOTAL <= total <= LARGEST_TOTAL:
        raise ValueError(
            f"sample_weight must have a sum in [{LEAST_TOTAL:g}, {LARGEST_TOTAL:g}]; got {total:g}. Divide it by its "
            "mean, so that samples count about 1."
        )
    return weights


def total_weight(weights):
    """Return the sum of weights: an int if all are whole numbers, which count repeated samples, otherwise a float."""
    total = weights.sum()
    return int(total) if total < EXACT and (weights == np.rint(weights)).all() else float(total)


def check_signed_weights(signed_weights, n_samples):
    """Return the weights as a float64 array; raise ValueError if they do not fit the samples."""
    weights = as_floats("signed_weights", signed_weights, "one number per sample")
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
    if not isinstance(value, numbers.Integral) or is_flag(value):
        raise ValueError(f"{name} must be an integer, {allowed}; got {value!r}.")
    if value < least or (most is not None and value > most):
        raise ValueError(f"{name} must be an integer, {allowed}; got {value!r}.")
    return int(value)


def check_positive(name, value, zero=False, most=np.inf):
    """Return a real parameter; raise ValueError unless it is finite, positive (or 0) and at most `most`."""
    number = _as_float(value)
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero) or number > most:
        bound = "" if most == np.inf else f" and at most {most:g}"
        raise ValueError(
            f"{name} must be a finite number, {'0 or larger' if zero else 'larger than 0'}{bound}; got {value!r}."
        )
    return number


def check_within(name, value, least, largest, usual):
    """Return a real parameter; raise ValueError unless it lies in [least, largest], which excludes nan."""
    number = _as_float(value)
    if not least <= number <= largest:
        raise ValueError(
            f"{name} must be a number in [{least:g}, {largest:g}]; got {value!r}. Usual values are {usual}."
        )
    return number


def check_level(name, value):
    """Return a confidence level; raise ValueError unless it is a number between 0 and 1, exclusive."""
    number = _as_float(value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must be a confidence level between 0 and 1, such as 0.95; got {value!r}.")
    return number


def check_number(name, value):
    """Return a real parameter, which may be infinite; raise ValueError for anything else, including nan."""
    number = _as_float(value)
    if math.isnan(number):
        raise ValueError(f"{name} must be a number, not nan; got {value!r}.")
    return number


def _as_float(value):
    """Return a real number as a float, infinite if it is too large, and nan for anything else, flags too."""
    return _float_of(value) if isinstance(value, numbers.Real) and not is_flag(value) else math.nan


def _float_of(value):
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def is_flag(value):
    """Tell whether a value is True or False, of Python or of NumPy."""
    return isinstance(value, bool | np.bool_)


def check_flag(name, value):
    """Return a parameter as True or False; raise TypeError if it is neither."""
    if not is_flag(value):
        raise TypeError(f"{name} must be True or False; got {value!r}.")
    return bool(value)


def check_choice(name, value, allowed):
    """Return the one of the allowed values that a parameter is, strings or flags; raise ValueError if it is none."""
    for choice in allowed:
        if choice is (bool(value) if is_flag(value) else value) or (isinstance(value, str) and value == choice):
            return choice
    raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}.")


def check_verbose(value):
    """Return the parameter `verbose` as an integer; raise ValueError unless it is a flag or an integer from 0 on."""
    return check_integer("verbose", int(value) if is_flag(value) else value, 0)


def check_jobs(value):
    """Return the parameter `n_jobs`; raise ValueError unless it is None or an integer other than 0."""
    if value is None:
        return None
    if not isinstance(value, numbers.Integral) or is_flag(value) or value == 0:
        raise ValueError(
            f"n_jobs must be None or an integer other than 0, such as 2 threads or -1 for all cores; got {value!r}."
        )
    return int(value)
