"""What the learners answer on the training samples, stored small, summed fast.

Four stores share one interface: bits for learners of outputs +-1, bytes for learners of few values, floats for
any other, and floats of any size for the columns of a linear model. Samples are listed positives first.
"""

import numpy as np

from paucens._kernels.outputs import dot_samples, fold_signs, set_bits, sum_groups, sum_samples, tables_of_signs

CODES = 256
MANY_GROUPS = 32  # from so many on it pays to bring the samples of a cut in order before they are summed


class _CodedStore:
    """Bytes and a table a group: sums over learners are look-ups, sums over samples histograms."""

    bounded = True  # outputs lie in [-1, 1]
    learners_per_group = 1

    def __init__(self, n_learners, n_samples):
        self.n_learners = 0
        n_groups = -(-n_learners // self.learners_per_group)
        self.codes = np.zeros((n_groups, n_samples), dtype=np.uint8)

    @property
    def n_samples(self):
        """Samples in the store."""
        return self.codes.shape[1]

    @property
    def n_groups(self):
        """Groups in use."""
        return -(-self.n_learners // self.learners_per_group)

    def scores(self, weights, out):
        """Write the weighted sum of all learners for each sample."""
        sum_groups(self.codes, self._tables(weights), out, 0, len(out))

    def project(self, cut):
        """s . h_t for each learner t, ndarray of shape (n_learners,)."""
        sums = np.empty((self.n_groups, CODES))
        many = self.n_groups >= MANY_GROUPS
        samples, counts = _in_order(cut, self.n_samples) if many else (cut.samples, cut.counts)
        sum_samples(self.codes, samples, counts, cut.tied_count, sums)
        return self._fold(sums) / cut.normaliser

    def take(self, samples):
        """The same learners on a list of samples."""
        part = type(self)(0, 0)
        part.__dict__.update(self.__dict__)
        part.codes = np.zeros((len(self.codes), len(samples)), dtype=np.uint8)
        np.take(self.codes[: self.n_groups], samples, axis=1, out=part.codes[: self.n_groups])
        return part


class SignStore(_CodedStore):
    """Eight learners a byte."""

    learners_per_group = 8

    def append(self, outputs, samples=None):
        """Add the outputs of one learner, all +-1, of the listed samples or of all."""
        group, bit = divmod(self.n_learners, 8)
        node = outputs.index if samples is None else outputs.index[samples]
        set_bits((outputs.values > 0).astype(np.uint8), node, self.codes[group], bit)
        self.n_learners += 1

    def _tables(self, weights):
        tables = np.empty((self.n_groups, CODES))
        tables_of_signs(weights, tables)
        return tables

    def _fold(self, sums):
        row = np.empty(self.n_learners)
        fold_signs(sums, row)
        return row


class ValueStore(_CodedStore):
    """One learner a byte and its at most 256 values."""

    def __init__(self, n_learners, n_samples):
        super().__init__(n_learners, n_samples)
        self.values = np.zeros((n_learners, CODES))

    def append(self, outputs, samples=None):
        """Add the outputs of one learner of few values, of the listed samples or of all."""
        node = outputs.index if samples is None else outputs.index[samples]
        self.codes[self.n_learners] = node
        self.values[self.n_learners, : len(outputs.values)] = outputs.values
        self.n_learners += 1

    def _tables(self, weights):
        return self.values[: self.n_learners] * weights[:, None]

    def _fold(self, sums):
        return (self.values[: self.n_learners] * sums).sum(axis=1)


class DenseStore:
    """One float64 a learner and sample."""

    bounded = True

    def __init__(self, n_learners, n_samples):
        self.n_learners = 0
        self.outputs = np.empty((n_learners, n_samples))

    @property
    def n_samples(self):
        """Samples in the store."""
        return self.outputs.shape[1]

    def append(self, outputs, samples=None):
        """Add the outputs of one learner, of the listed samples or of all."""
        dense = outputs.dense
        self.outputs[self.n_learners] = dense if samples is None else dense[samples]
        self.n_learners += 1

    def scores(self, weights, out):
        """Write the weighted sum of all learners for each sample."""
        out[:] = 0
        for weight, outputs in zip(weights, self.outputs, strict=False):  # rows beyond n_learners are spare
            out += weight * outputs

    def project(self, cut):
        """s . h_t for each learner t, ndarray of shape (n_learners,)."""
        return np.array([project(cut, outputs) for outputs in self.outputs[: self.n_learners]])

    def take(self, samples):
        """The same learners on a list of samples."""
        part = DenseStore(0, 0)
        part.n_learners = self.n_learners
        part.outputs = np.empty((len(self.outputs), len(samples)))
        np.take(self.outputs[: self.n_learners], samples, axis=1, out=part.outputs[: self.n_learners])
        return part


class ColumnStore(DenseStore):
    """Columns of features in the place of learners: all outputs are scored at once, and may be of any size.

    By einsum: unlike BLAS it adds in one order whatever the number of threads.
    """

    bounded = False

    def scores(self, weights, out):
        """Write the weighted sum of all columns for each sample."""
        np.einsum("t,ti->i", weights, self.outputs[: self.n_learners], out=out)

    def project(self, cut):
        """s . h_t for each column t, ndarray of shape (n_learners,)."""
        return np.einsum("ti,i->t", self.outputs[: self.n_learners], cut.signed_weights)


def _in_order(cut, n_samples):
    """Samples and counts of a cut by place in the store, where it is read faster than by rank; the tied ones last."""
    n = len(cut.counts)
    count = np.zeros(n_samples, dtype=np.int32)
    count[cut.samples[:n]] = cut.counts
    samples = np.flatnonzero(count).astype(np.int32)
    return np.concatenate([samples, cut.samples[n:]]), count[samples]


def project(cut, outputs):
    """s . h of one learner, its outputs as float64 of shape (n_samples,)."""
    return dot_samples(cut.samples, cut.counts, cut.tied_count, outputs) / cut.normaliser


STORES = {"sign": SignStore, "value": ValueStore, "dense": DenseStore, "column": ColumnStore}
