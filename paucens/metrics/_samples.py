"""Checked samples as tallies: the weight of each class at each place, a place being the rank of a distinct score."""

import math
from numbers import Integral

import numpy as np

from paucens.validation import EXACT


def tallies_of(y_true, y_score, sample_weight, pos_label):
    """Return the distinct scores, best first, and the tallies of the positives and the negatives."""
    is_positive = check_labels(y_true, pos_label)
    scores = check_column("y_score", y_score, len(is_positive))
    weight = None
    if sample_weight is not None:
        weight = check_weights(sample_weight, is_positive)
        kept = weight > 0
        if not kept.all():
            is_positive, weight = is_positive[kept], weight[kept]
            scores = _exact(scores[kept], scores)  # the integers that are left may be small
    distinct, place = places(scores)
    return distinct, *tally(place, is_positive, weight)


def places(scores):
    """Return the distinct scores, best first, and the place of each sample among them; 0 is the best."""
    distinct, rank = np.unique(scores, return_inverse=True)
    return distinct[::-1], len(distinct) - 1 - rank


def tally(place, is_positive, weight=None):
    """Count (or weigh, in a unit of their own) the positives and the negatives at each place."""
    length = place.max() + 1
    return tuple(
        np.bincount(place[rows], None if weight is None else _scaled(weight[rows]), minlength=length)
        for rows in (is_positive, ~is_positive)
    )


def last_place(counts, most):
    """Return the last place, from the best one on, above which lie at most so many samples of a tally."""
    return int(np.searchsorted(counts.cumsum() - counts, most, side="right")) - 1


def _scaled(weight):
    """Divide by the power of two above the largest weight: exact, and no sum overflows or vanishes."""
    exponent = math.frexp(weight.max())[1]
    half = exponent // 2  # 2^1073 is no float
    return weight * 2.0**-half * 2.0 ** (half - exponent)


def check_labels(y_true, pos_label):
    """Return a mask of the samples whose label is the positive one of the two."""
    labels = np.asarray(y_true)
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(f"y_true must be one label per sample, shape (n,), n > 0; got shape {labels.shape}.")
    try:
        is_missing = bool(np.any(labels != labels))
        classes = np.unique(labels)
    except TypeError:
        is_missing = True
    if is_missing:
        raise ValueError("y_true has labels that are missing or cannot be compared; drop those rows or recode.")
    if len(classes) != 2:
        shown = ", ".join(map(repr, classes[:5].tolist())) + (", ..." if len(classes) > 5 else "")
        raise ValueError(
            f"y_true must hold two labels, one positive and one negative; got {len(classes)}: {shown}. "
            "With more classes, compare one class with the rest: y_true == label."
        )
    if pos_label is not None and pos_label not in classes.tolist():
        raise ValueError(f"pos_label must be one of the labels {classes.tolist()}; got {pos_label!r}.")
    return labels == (classes[1] if pos_label is None else pos_label)


def check_weights(sample_weight, is_positive):
    """Return one weight per sample; none may be negative, and those of a class must not all be 0."""
    weight = check_column("sample_weight", sample_weight, len(is_positive), exact=False)
    if weight.min() < 0:
        raise ValueError(f"sample_weight must not be negative; got {weight.min():g}. Weight 0 leaves a row out.")
    for rows, kind in ((is_positive, "positives"), (~is_positive, "negatives")):
        if not weight[rows].any():
            raise ValueError(f"sample_weight is 0 for all {kind}; at least one of them must count.")
    return weight


def check_column(name, values, n_samples, exact=True):
    """Return one finite number per sample: floats or, if they must stay exact, integers beyond 2^53."""
    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError(
            f"{name} must be one number per sample, shape (n,); got shape {column.shape}. "
            "If it comes from predict_proba, take the column of the positive class: [:, 1]."
        )
    if len(column) != n_samples:
        raise ValueError(f"y_true and {name} must have the same length; got {n_samples} and {len(column)}.")
    try:
        if column.dtype.kind not in "biufO":
            raise TypeError
        column = _exact(column, values) if exact else column.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be real numbers; got dtype {column.dtype}.") from None
    wrong = np.flatnonzero(~np.isfinite(column)) if column.dtype.kind == "f" else ()
    if len(wrong):
        raise ValueError(
            f"{name} must be finite; got {column[wrong[0]]} at row {wrong[0]} ({len(wrong)} such rows). "
            "Drop or replace them; a monotone rescaling of the scores changes no result."
        )
    return column


def _exact(column, values):
    """Convert a column to floats, except for integers that reach beyond 2^53 and for long floats."""
    if column.dtype.kind == "f" and not hasattr(values, "dtype") and np.abs(column).max() > EXACT:
        column = np.asarray(values, dtype=object)  # NumPy makes floats of a list such as [2**63, 1]
    if column.dtype.kind == "O" and all(isinstance(value, Integral) for value in column):
        column = np.array([int(value) for value in column], dtype=object)
    elif column.dtype.kind not in "iu":
        return column if column.dtype.itemsize > 8 else column.astype(float)
    return column if column.max() > EXACT or column.min() < -EXACT else column.astype(float)
