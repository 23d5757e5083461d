"""How much the training samples count: a sample of weight 2 is as two equal samples."""

from typing import NamedTuple

import numpy as np

from paucens.validation import check_sample_weight, total_weight

REPEATED = 0.25  # share of repeated samples from which on they are merged: fewer but weighted samples take longer each
ODD = np.uint64(0x9E3779B97F4A7C15)
COLUMNS = 64  # of X that are turned at a time


class SampleWeights(NamedTuple):
    """Weights of the training samples, positives first.

    Attributes
    ----------
    n_positives, n_negatives : int
        Numbers of samples.
    values : ndarray of shape (n_positives + n_negatives,), or None
        Positive weights; None if each sample counts 1.
    """

    n_positives: int
    n_negatives: int
    values: np.ndarray | None = None

    @property
    def of_classes(self):
        """The weights of the positives and of the negatives, two arrays; a pair of None if each counts 1."""
        return (None, None) if self.values is None else tuple(np.split(self.values, [self.n_positives]))

    @property
    def totals(self):
        """Total weights of positives and negatives: ints if they are whole numbers, which count repeated samples."""
        if self.values is None:
            return self.n_positives, self.n_negatives
        return tuple(total_weight(weights) for weights in self.of_classes)

    def spread(self, positive, negative):
        """Spread an amount over the samples of each class in proportion to their weights, ndarray of (m + n,)."""
        shares = np.repeat(np.array([positive, negative]) / self.totals, [self.n_positives, self.n_negatives])
        return shares if self.values is None else shares * self.values


def weighted_samples(X, positive, sample_weight):
    """Check the weights of samples and leave out those of weight 0.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    positive : ndarray of bool, shape (n_samples,)
    sample_weight : array-like of shape (n_samples,) or None

    Returns
    -------
    X, positive
        Without the samples of weight 0.
    weights : ndarray or None
        Their weights, None if each counts 1. Sums over a class are exact, in any order: weights that are not whole
        numbers are rounded to multiples of a power of two, about 2^-52 of the sum.
    """
    weights = check_sample_weight(sample_weight, positive)
    if weights is None:
        return X, positive, None
    for rows in (positive, ~positive):
        weights[rows] = _exactly_summable(weights[rows])
    if not weights.all():
        used = weights > 0
        X, positive, weights = X[used], positive[used], weights[used]
    return X, positive, None if (weights == 1).all() else weights


def distinct_samples(X, positive, weights, share=REPEATED):
    """Merge equal samples into one of their total weight, if samples have weights or many are equal.

    They are put in an order that depends on their features alone. So samples of whole weights and repeated samples, in
    any order, end as the same arrays, and their fits are the same, bit for bit. Otherwise rounding errors would decide
    between splits, or cuts, that are equally good.

    Parameters
    ----------
    X, positive, weights
        As `weighted_samples` returns them.
    share : float
        If there are no weights, nothing changes unless more than this share of the samples repeats another one.

    Returns
    -------
    X, positive, weights
    """
    most = (1 - share) * len(X)
    for n_columns in (1, COLUMNS):  # most data end here
        if weights is None and len(np.unique(_keys_of_rows(X[:, :n_columns]))) >= most:
            return X, positive, None
    keys = _keys_of_rows(X)
    order = np.lexsort((positive, keys))
    is_first = np.ones(len(X), dtype=bool)
    is_first[1:] = (np.diff(keys[order]) > 0) | np.diff(positive[order])
    first = np.flatnonzero(is_first)
    if weights is None and len(first) >= most:
        return X, positive, None
    counts = np.add.reduceat(np.ones(len(X)) if weights is None else weights[order], first)
    rows = order[first]
    return X[rows], positive[rows], None if (counts == 1).all() else counts


def _keys_of_rows(X):
    """Return a number for each row that differs if the rows do, but for a chance of 2^-64, uint64 of (n_samples,)."""
    keys = np.zeros(len(X), dtype=np.uint64)
    for start in range(0, X.shape[1], COLUMNS):
        columns = X[:, start : start + COLUMNS].T.astype(np.float64, order="C") + 0.0  # -0.0 is 0.0
        columns[np.isnan(columns)] = np.nan  # of which there are many
        for column in columns.view(np.uint64):
            keys = (keys ^ column) * ODD
            keys ^= keys >> np.uint64(32)
    return keys


def class_weights(positive, weights):
    """Return weights that list the samples in any order, given a mask of the positives, as `SampleWeights`."""
    values = None if weights is None else np.concatenate([weights[positive], weights[~positive]])
    n_positives = int(np.count_nonzero(positive))
    return SampleWeights(n_positives, len(positive) - n_positives, values)


def _exactly_summable(weights):
    total = total_weight(weights)
    if isinstance(total, int):
        return weights
    unit = np.ldexp(1.0, int(np.frexp(total)[1]) - 52)
    return np.rint(weights / unit) * unit
