"""Stores of the predictions of the learners on the training samples: small in memory, fast to sum.

All stores have one interface: `append` adds a learner, `scores` sums over learners, `project` sums over the samples
of a cut, `take` returns a store of some of the samples, `scores_of` scores some without one, and `adds_alike` tells
whether learners of weight 0 at the end change how a sum is rounded. `CodedStore` holds
bytes: bits of eight learners that predict +-1, or codes of one learner of few values. `DenseStore` holds floats.
`ColumnStore` holds the columns of a linear model. Samples are listed positives first.
"""

import numpy as np

from paucens._kernels.stores import (
    add_samples,
    dot_samples,
    fold_signs,
    set_bits,
    sum_groups,
    sum_groups_of,
    sum_samples,
    tables_of_signs,
)

# The kernels for counts that are integers ("i") and sums of weights ("f"). A choice by the types of all arguments is
# slow beside the sum over a small cut.
ADD_SAMPLES, DOT_SAMPLES, SUM_SAMPLES = (
    {"i": kernel["index_t"], "f": kernel["double"]} for kernel in (add_samples, dot_samples, sum_samples)
)
N_CODES = 256
AT_ONCE = 4  # groups that `sum_groups` adds up before it adds them to a score
MANY_GROUPS = 32  # from this number on it pays to sort the samples of a cut before they are summed


def make_store(kind, n_learners, n_samples):
    """Make an empty store for at most n_learners learners.

    Parameters
    ----------
    kind : {"sign", "value", "dense", "column"}
        The `prediction_kind` of a trainer, or "column" for the features of a linear model.
    n_learners, n_samples : int
    """
    if kind == "sign":
        return CodedStore(SignCodes(), np.zeros((-(-n_learners // SignCodes.per_group), n_samples), dtype=np.uint8))
    if kind == "value":
        return CodedStore(ValueCodes(n_learners), np.zeros((n_learners, n_samples), dtype=np.uint8))
    return {"dense": DenseStore, "column": ColumnStore}[kind](np.empty((n_learners, n_samples)))


class CodedStore:
    """One byte per sample and group of learners: sums over learners are look-ups, sums over samples histograms.

    Parameters
    ----------
    coding : SignCodes or ValueCodes
        Meaning of the bytes.
    codes : ndarray of shape (max_groups, n_samples), uint8
    """

    bounded = True  # predictions are in [-1, 1]

    def __init__(self, coding, codes):
        self.coding, self.codes = coding, codes
        self.n_learners = 0

    @property
    def n_samples(self):
        """Number of samples in the store."""
        return self.codes.shape[1]

    @property
    def n_groups(self):
        """Number of groups in use."""
        return -(-self.n_learners // self.coding.per_group)

    def append(self, predictions, samples=None):
        """Add the predictions of one learner for the listed samples, or for all."""
        index = predictions.index if samples is None else predictions.index[samples]
        self.coding.write(self.n_learners, predictions.values, index, self.codes)
        self.n_learners += 1

    def scores(self, weights, out):
        """Write the weighted sum over all learners for each sample."""
        sum_groups(self.codes, self.coding.tables(weights, self.n_groups), out, 0, len(out))

    def adds_alike(self, n_learners, n_more):
        """Tell whether learners n_learners, ..., n_more - 1 of weight 0 leave the bits of `scores` as they are."""
        n_whole, n_more_whole = (-(-n // self.coding.per_group) // AT_ONCE for n in (n_learners, n_more))
        return n_whole == n_more_whole

    def scores_of(self, samples, weights):
        """Return the scores of the listed samples, bit for bit those of `scores`."""
        out = np.empty(len(samples))
        sum_groups_of(self.codes, self.coding.tables(weights, self.n_groups), samples, out)
        return out

    def project(self, cut):
        """Return s . h_t for each learner t, ndarray of shape (n_learners,)."""
        sums = np.empty((self.n_groups, self.coding.width))
        many = self.n_groups >= MANY_GROUPS
        samples, counts = _in_store_order(cut, self.n_samples) if many else (cut.samples, cut.counts)
        SUM_SAMPLES[counts.dtype.kind](self.codes, samples, counts, cut.tied_count, sums)
        return self.coding.fold(sums, self.n_learners) / cut.normaliser

    def take(self, samples):
        """Return a store of the same learners on the listed samples."""
        part = CodedStore(self.coding, np.zeros((len(self.codes), len(samples)), dtype=np.uint8))
        part.n_learners = self.n_learners
        np.take(self.codes[: self.n_groups], samples, axis=1, out=part.codes[: self.n_groups])
        return part


class SignCodes:
    """Coding of eight learners per byte, which predict +-1."""

    per_group = 8
    width = N_CODES  # of a table

    def write(self, t, values, index, codes):
        """Write the predictions values[index] of learner t."""
        group, bit = divmod(t, self.per_group)
        set_bits((values > 0).astype(np.uint8), index, codes[group], bit)

    def tables(self, weights, n_groups):
        """Return the weighted sum of the learners of each group for each code."""
        tables = np.empty((n_groups, N_CODES))
        tables_of_signs(weights, tables)
        return tables

    def fold(self, sums, n_learners):
        """Return the sum for each learner, given the sums for each group and code."""
        row = np.empty(n_learners)
        fold_signs(sums, row)
        return row


class ValueCodes:
    """Coding of one learner per byte, which predicts at most 256 values."""

    per_group = 1

    def __init__(self, n_learners):
        self._values = np.zeros((n_learners, N_CODES))
        self.width = 8  # of a table: a power of 2, so that NumPy adds in the same order as for the widest one

    def write(self, t, values, index, codes):
        """Write the predictions values[index] of learner t."""
        codes[t] = index
        self._values[t, : len(values)] = values
        self.width = max(self.width, 1 << (len(values) - 1).bit_length())

    def tables(self, weights, n_groups):
        """Return the weighted value of each learner for each code."""
        return self._values[:n_groups, : self.width] * weights[:, None]

    def fold(self, sums, n_learners):
        """Return the sum for each learner, given the sums for each learner and code."""
        return (self._values[:n_learners, : self.width] * sums).sum(axis=1)


class DenseStore:
    """One float64 per learner and sample.

    Parameters
    ----------
    rows : ndarray of shape (max_learners, n_samples), float64
    """

    bounded = True

    def __init__(self, rows):
        self.rows = rows
        self.n_learners = 0

    @property
    def n_samples(self):
        """Number of samples in the store."""
        return self.rows.shape[1]

    def append(self, predictions, samples=None):
        """Add the predictions of one learner for the listed samples, or for all."""
        self.rows[self.n_learners] = predictions.dense if samples is None else predictions.dense[samples]
        self.n_learners += 1

    def scores(self, weights, out):
        """Write the weighted sum over all learners for each sample."""
        out[:] = 0
        for weight, row in zip(weights, self.rows, strict=False):  # rows beyond n_learners are spare
            out += weight * row

    def adds_alike(self, n_learners, n_more):
        """Tell whether learners n_learners, ..., n_more - 1 of weight 0 leave the bits of `scores` as they are."""
        return True

    def scores_of(self, samples, weights):
        """Return the scores of the listed samples, bit for bit those of `scores`."""
        out = np.zeros(len(samples))
        for weight, row in zip(weights, self.rows, strict=False):
            out += weight * row[samples]
        return out

    def project(self, cut):
        """Return s . h_t for each learner t, ndarray of shape (n_learners,)."""
        return np.array([project(cut, row) for row in self.rows[: self.n_learners]])

    def take(self, samples):
        """Return a store of the same learners on the listed samples."""
        part = DenseStore(np.empty((len(self.rows), len(samples))))
        part.n_learners = self.n_learners
        np.take(self.rows[: self.n_learners], samples, axis=1, out=part.rows[: self.n_learners])
        return part


class ColumnStore:
    """Columns of features in place of learners, of any size; all of them are summed at once.

    Sums are made by einsum, which unlike BLAS adds in one order whatever the number of threads. There is neither
    `take` nor `scores_of`: without a bound on the columns no sample may be left out.

    Parameters
    ----------
    columns : ndarray of shape (max_columns, n_samples), float64
    """

    bounded = False

    def __init__(self, columns):
        self.columns = columns
        self.n_learners = 0

    @property
    def n_samples(self):
        """Number of samples in the store."""
        return self.columns.shape[1]

    def append(self, predictions):
        """Add a column."""
        self.columns[self.n_learners] = predictions.dense
        self.n_learners += 1

    def scores(self, weights, out):
        """Write the weighted sum over all columns for each sample."""
        np.einsum("t,ti->i", weights, self.columns[: self.n_learners], out=out)

    def adds_alike(self, n_learners, n_more):
        """Tell whether learners n_learners, ..., n_more - 1 of weight 0 leave the bits of `scores` as they are."""
        return n_learners == n_more

    def project(self, cut):
        """Return s . h_t for each column t, ndarray of shape (n_learners,)."""
        return np.einsum("ti,i->t", self.columns[: self.n_learners], cut.signed_weights)


def _in_store_order(cut, n_samples):
    """Return samples and counts of a cut in the order of the store, which is faster to read; the tied ones last."""
    n = len(cut.counts)
    count = np.zeros(n_samples, dtype=cut.counts.dtype)
    count[cut.samples[:n]] = cut.counts
    samples = np.flatnonzero(count).astype(np.int32)
    return np.concatenate([samples, cut.samples[n:]]), count[samples]


def project(cut, predicted):
    """Return s . h of one learner, its predictions given as float64 of shape (n_samples,)."""
    return DOT_SAMPLES[cut.counts.dtype.kind](cut.samples, cut.counts, cut.tied_count, predicted) / cut.normaliser


def add(cut, factor, out):
    """Add a factor times the counts of all samples of a cut to `out`."""
    ADD_SAMPLES[cut.counts.dtype.kind](cut.samples, cut.counts, cut.tied_count, factor, out)
