"""Binning of features: at most 256 bins each, found once, so that every tree works on bytes.

Missing values are NaN. In a column that has some they fill a bin of their own, which leaves 255 for the others.
"""

from dataclasses import dataclass

import numpy as np

from paucens._kernels.trees import quantise
from paucens.validation import total_weight

MAX_BINS = 256
CATEGORIES = 2
BLOCK_BYTES = 4_000_000  # of feature values sorted at once, so that X is never copied as a whole


@dataclass(frozen=True)
class BinnedData:
    """Features as bin codes, one contiguous row of bytes per feature.

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_samples), uint8
    thresholds : ndarray of float64
        Ascending thresholds of feature j at [offsets[j], offsets[j + 1]); code c holds the values
        in (threshold[c - 1], threshold[c]]. If values of a feature are missing, the last one is infinity: beyond it are
        the missing values, of code 255.
    offsets : ndarray of shape (n_features + 1,), int32
    categorical : tuple of int, default=()
        Features whose bins are categories.
    """

    codes: np.ndarray
    thresholds: np.ndarray
    offsets: np.ndarray
    categorical: tuple = ()

    @property
    def n_bins(self):
        """Number of bins of each feature, without that of missing values, ndarray of shape (n_features,), int32."""
        return np.diff(self.offsets) + np.int32(1) - self.has_missing

    @property
    def has_missing(self):
        """Whether values of each feature are missing, ndarray of shape (n_features,), bool."""
        last = np.append(self.thresholds, 0.0)[self.offsets[1:] - 1]
        return (np.diff(self.offsets) > 0) & (last == np.inf)

    @property
    def kinds(self):
        """What the bins of each feature are: 0 values, 1 values with missing ones, 2 categories; ndarray, int32."""
        kinds = self.has_missing.astype(np.int32)
        kinds[list(self.categorical)] = CATEGORIES
        return kinds


def thresholds_of(values, max_bins, positives=None, weights=None, positive_weights=None):
    """Find the thresholds of one feature: all midpoints if they are few, quantiles otherwise.

    Parameters
    ----------
    values : ndarray of shape (n_samples,), sorted
    max_bins : int
        Maximum number of bins, so there are at most max_bins - 1 thresholds.
    positives : ndarray, sorted, default=None
        Values of the positives, for bins that see the tails: a quarter each of the thresholds are quantiles of all
        values, quantiles of the positives, and ranks from either end, whose logarithms are evenly spaced.
    weights, positive_weights : ndarray, default=None
        How much each of the values counts; 1 by default.

    Returns
    -------
    thresholds : ndarray of float64, strictly ascending

    Examples
    --------
    >>> thresholds_of(np.array([0.0, 0.0, 1.0, 3.0]), max_bins=256)
    array([0.5, 2. ])
    """
    values = values.astype(np.float64, copy=False)
    last = np.flatnonzero(values[:-1] < values[1:])  # the last sample of each distinct value except the largest
    if len(last) >= max_bins:
        ends, total = _ranks(len(values), weights)
        if positives is None or len(positives) == 0:
            chosen = _quantiles(total, max_bins)
        else:
            chosen = _quantiles_and_tails(values, ends, total, positives, positive_weights, max_bins)
        places = np.searchsorted(ends[last], chosen, side="left")
        last = last[np.unique(np.minimum(places, len(last) - 1))]
    below, above = values[last], values[last + 1]
    middle = below / 2 + above / 2  # the halves first: no overflow
    return np.where((below <= middle) & (middle < above), middle, below)


def _ranks(n, weights):
    """Return the rank at which each of n sorted values ends, and the last of these, an int if ranks are whole."""
    if weights is None:
        return np.arange(1, n + 1), n
    return np.cumsum(weights), total_weight(weights)


def _quantiles(total, n_parts):
    """Return the rank at which each of the parts ends, but the last one."""
    ends = np.arange(1, n_parts) * total
    return ends // n_parts if isinstance(total, int) else ends / n_parts


def _quantiles_and_tails(values, ends, total, positives, positive_weights, max_bins):
    """Return max_bins - 1 ranks of sorted values: quantiles of all and of the positives, and near either end."""
    part = max_bins // 4
    positive_ends, total_positive = _ranks(len(positives), positive_weights)
    quantiles = _quantiles(total_positive, part + 1)
    quantiles[quantiles == 0] = total_positive  # fewer positives than quantiles
    of_positives = positives[np.searchsorted(positive_ends, quantiles)]
    from_end = np.geomspace(1 if isinstance(total, int) else total / len(values), total / 2, part)
    if isinstance(total, int):
        from_end = from_end.astype(np.int64)
    rest = max_bins - 3 * part  # of the thresholds, one less
    known = ends[np.searchsorted(values, of_positives, side="right") - 1]
    return np.concatenate([_quantiles(total, rest), known, from_end, total - from_end])


def _thresholds_and_missing(values, max_bins, positives, weights, positive_weights):
    """Find the thresholds of one feature whose sorted values may end with NaN, as in `BinnedData`."""
    if len(values) == 0 or not np.isnan(values[-1]):
        return thresholds_of(values, max_bins, positives, weights, positive_weights)
    values, weights = _without_missing(values, weights)
    positives, positive_weights = _without_missing(positives, positive_weights)
    known = thresholds_of(values, min(max_bins, MAX_BINS - 1), positives, weights, positive_weights)
    return np.append(known, np.inf)


def _without_missing(values, weights):
    """Return sorted values, and their weights, without NaN, which come last."""
    if values is None:
        return None, None
    n_known = np.searchsorted(values, np.nan)
    return values[:n_known], None if weights is None else weights[:n_known]


def find_thresholds(X, max_bins, threads, positives=None, weights=None, categorical=None):
    """Find the thresholds of every feature of X.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64, any strides
    max_bins : int in [2, 256]
        Of the values that are there; at most 255 in a column with missing values.
    threads : Threads
    positives : ndarray of int32, default=None
        Rows of the positives, for bins that see the tails, see `thresholds_of`.
    weights : ndarray of shape (n_samples,), default=None
        How much each row counts.
    categorical : dict of int to int, default=None
        The features that hold categories 0 to k - 1, each of which is a bin, and k for each, at most 255.

    Returns
    -------
    thresholds, offsets : ndarray
        As in `BinnedData`.
    """
    n_samples, n_features = X.shape
    width = max(1, BLOCK_BYTES // max(1, n_samples * X.itemsize))
    found = [None] * n_features

    def find(start, stop):
        for first in range(start, stop, width):
            last = min(first + width, stop)
            columns, counts = _sorted_columns(X[:, first:last], weights)
            own, own_counts = [None] * len(columns), [None] * len(columns)
            if positives is not None:
                own, own_counts = _sorted_columns(X[positives, first:last], weights, positives)
            found[first:last] = [
                _thresholds_and_missing(one, max_bins, its, count, its_count)
                for one, its, count, its_count in zip(columns, own, counts, own_counts, strict=True)
            ]

    threads.run(find, n_features, 20 * X.size)
    for column, number in (categorical or {}).items():
        found[column] = np.append(np.arange(number - 1) + 0.5, found[column][np.isinf(found[column])])
    offsets = np.zeros(n_features + 1, dtype=np.int32)
    np.cumsum([len(thresholds) for thresholds in found], out=offsets[1:])
    return np.concatenate([np.empty(0), *found]), offsets


def _sorted_columns(X, weights, rows=slice(None)):
    """Return the columns of X, sorted, and the weights of the rows in the order of each; None if there are none."""
    if weights is None:
        return np.sort(X.T, axis=1), [None] * X.shape[1]
    order = np.argsort(X.T, axis=1, kind="stable")  # so that ties are added up in the same order everywhere
    return np.take_along_axis(X.T, order, axis=1), weights[rows][order]


def code_features(X, thresholds, offsets, threads, order=None):
    """Code the features of X by known thresholds, uint8 of shape (n_features, n_samples).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64, any strides
    thresholds, offsets : ndarray
        As in `BinnedData`.
    threads : Threads
    order : ndarray of int32, optional
        The rows of X that the codes list, in this order; all rows in their own order by default.
    """
    if order is None:
        order = np.arange(len(X), dtype=np.int32)
    thresholds = np.append(thresholds, np.inf)  # one spare entry, so that an empty list has an address
    codes = np.empty((X.shape[1], len(order)), dtype=np.uint8)
    threads.run(
        lambda start, stop: quantise(X, order, thresholds, offsets, codes, start, stop), X.shape[1], 10 * X.size
    )
    return codes


def bin_features(X, max_bins, threads, order=None, positives=None, weights=None, categorical=None):
    """Bin every feature of X.

    Parameters
    ----------
    X, max_bins, threads, positives, weights, categorical
        As in `find_thresholds`.
    order
        As in `code_features`.

    Returns
    -------
    BinnedData
    """
    thresholds, offsets = find_thresholds(X, max_bins, threads, positives, weights, categorical)
    codes = code_features(X, thresholds, offsets, threads, order)
    return BinnedData(codes, thresholds, offsets, tuple(categorical or ()))
