"""Stores of the predictions of the learners on the training samples: small in memory, fast to sum.

All stores have one interface: `append` adds a learner, `scores` sums over learners, `project` sums over the samples
of a cut, `take` returns a store of some of the samples, to which `append_from` adds later learners, `scores_of` scores
some without one, and `adds_alike` tells whether learners of weight 0 at the end change how a sum is rounded.
`CodedStore` holds codes of a few bits, see `codings`. `DenseStore` holds floats. `ColumnStore` holds the columns of a
linear model. Samples are listed positives first.
"""

import numpy as np

from paucens._kernels.stores import add_samples, dot_samples
from paucens.cutting_plane.codings import PairCoding, SignCoding, ValueCoding

# As in `codings`: for integers, and for sums of weights.
ADD_SAMPLES, DOT_SAMPLES = ({"i": kernel["index_t"], "f": kernel["double"]} for kernel in (add_samples, dot_samples))
CODINGS = {"sign": SignCoding, "few": PairCoding, "value": ValueCoding}


def make_store(kind, n_learners, n_samples):
    """Make an empty store for at most n_learners learners.

    Parameters
    ----------
    kind : {"sign", "few", "value", "dense", "column"}
        The `prediction_kind` of a trainer, or "column" for the features of a linear model.
    n_learners, n_samples : int
    """
    if kind in CODINGS:
        coding = CODINGS[kind](n_learners)
        n_groups = -(-n_learners // coding.per_group)
        return CodedStore(coding, np.zeros((n_groups, n_samples), dtype=coding.dtype))
    return {"dense": DenseStore, "column": ColumnStore}[kind](np.empty((n_learners, n_samples)))


class CodedStore:
    """Small codes per sample and group of learners.

    Parameters
    ----------
    coding : SignCoding, PairCoding or ValueCoding
        Meaning of the codes.
    codes : ndarray of shape (max_groups, n_samples)
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
    def _used(self):
        """The codes of the groups in use."""
        return self.codes[: -(-self.n_learners // self.coding.per_group)]

    def append(self, predictions):
        """Add the predictions of one learner."""
        self.coding.write(self.n_learners, predictions.values, predictions.index, self.codes)
        self.n_learners += 1

    def append_from(self, store, samples):
        """Add the last learner of the store that this one was taken from."""
        group = self.n_learners // self.coding.per_group
        self.codes[group] = store.codes[group, samples]
        self.n_learners += 1

    def scores(self, weights):
        """Return the weighted sum over all learners for each sample."""
        return self.coding.sum_learners(self._used, weights)

    def scores_of(self, samples, weights):
        """Return the scores of the listed samples, bit for bit those of `scores`."""
        return self.coding.sum_learners(self._used, weights, samples)

    def adds_alike(self, n_learners, n_more):
        """Tell whether learners n_learners, ..., n_more - 1 of weight 0 leave the bits of `scores` as they are."""
        return self.coding.n_fours(n_learners) == self.coding.n_fours(n_more)

    def project(self, cut):
        """Return s . h_t for each learner t, ndarray of shape (n_learners,)."""
        many = len(self._used) >= self.coding.many
        samples, counts = _in_store_order(cut, self.n_samples) if many else (cut.samples, cut.counts)
        return self.coding.sum_samples(self._used, self.n_learners, samples, counts, cut.tied_count) / cut.normaliser

    def take(self, samples):
        """Return a store of the same learners on the listed samples."""
        part = CodedStore(self.coding, np.zeros((len(self.codes), len(samples)), dtype=self.codes.dtype))
        part.n_learners = self.n_learners
        np.take(self._used, samples, axis=1, out=part._used)
        return part


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

    def append(self, predictions):
        """Add the predictions of one learner."""
        self.rows[self.n_learners] = predictions.dense
        self.n_learners += 1

    def append_from(self, store, samples):
        """Add the last learner of the store that this one was taken from."""
        self.rows[self.n_learners] = store.rows[self.n_learners, samples]
        self.n_learners += 1

    def scores(self, weights):
        """Return the weighted sum over all learners for each sample."""
        out = np.zeros(self.n_samples)
        for weight, row in zip(weights, self.rows, strict=False):  # rows beyond n_learners are spare
            out += weight * row
        return out

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

    def scores(self, weights):
        """Return the weighted sum over all columns for each sample."""
        return np.einsum("t,ti->i", weights, self.columns[: self.n_learners])

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
