"""What the codes of a store of predictions mean, and sums over learners or samples by that meaning."""

import numpy as np

from paucens._kernels.pairs import count_pairs, sum_pairs
from paucens._kernels.stores import fold_signs, set_bits, sum_groups, sum_samples, tables_of_signs

# The kernels for counts that are integers ("i") and sums of weights ("f"). A choice by the types of all arguments is
# slow beside the sum over a small cut.
COUNT_PAIRS, SUM_SAMPLES = ({"i": kernel["index_t"], "f": kernel["double"]} for kernel in (count_pairs, sum_samples))
N_CODES = 256  # of a byte
FEW = 32  # values of a learner that shares its code with another


class ByteCoding:
    """One byte per sample and group of learners: sums over learners are look-ups, sums over samples histograms."""

    dtype = np.uint8
    many = 32  # groups from which on it pays to sort the samples of a cut before they are summed

    def sum_learners(self, codes, weights, samples=None):
        """Return the weighted sum over all learners, for each sample or for the listed ones; the bits are the same."""
        scores = np.empty(codes.shape[1] if samples is None else len(samples))
        sum_groups(codes, self._tables(weights, len(codes)), samples, scores)
        return scores

    def sum_samples(self, codes, n_learners, samples, counts, tied_count):
        """Return the sum over the samples of a cut for each learner."""
        sums = np.empty((len(codes), self._width))
        SUM_SAMPLES[counts.dtype.kind](codes, samples, counts, tied_count, sums)
        return self._fold(sums, n_learners)

    def n_fours(self, n_learners):
        """Return how many times four terms are added up before they are added to a score; the rest come one by one."""
        return -(-n_learners // self.per_group) // 4


class SignCoding(ByteCoding):
    """Coding of eight learners per byte, which predict +-1."""

    per_group = 8
    _width = N_CODES  # of a table

    def __init__(self, n_learners):
        pass  # the codes say it all

    def write(self, t, values, index, codes):
        """Write the predictions values[index] of learner t."""
        group, bit = divmod(t, self.per_group)
        set_bits((values > 0).astype(np.uint8), index, codes[group], bit)

    def _tables(self, weights, n_groups):
        """Return the weighted sum of the learners of each group for each code."""
        tables = np.empty((n_groups, N_CODES))
        tables_of_signs(weights, tables)
        return tables

    def _fold(self, sums, n_learners):
        """Return the sum for each learner, given the sums for each group and code."""
        row = np.empty(n_learners)
        fold_signs(sums, row)
        return row


class Values:
    """The values that each learner can predict, at most 256."""

    def __init__(self, n_learners):
        self._values = np.zeros((n_learners, N_CODES))
        self._width = 8  # a power of 2, so that NumPy adds in the same order as for the widest learner

    def _write_values(self, t, values):
        self._values[t, : len(values)] = values
        self._width = max(self._width, 1 << (len(values) - 1).bit_length())

    def _fold(self, sums, n_learners):
        """Return the sum for each learner, given the sums for each learner and value."""
        return (self._values[:n_learners, : self._width] * sums).sum(axis=1)


class ValueCoding(Values, ByteCoding):
    """Coding of one learner per byte, which predicts at most 256 values."""

    per_group = 1

    def write(self, t, values, index, codes):
        """Write the predictions values[index] of learner t."""
        self._write_values(t, values)
        codes[t] = index

    def _tables(self, weights, n_groups):
        """Return the weighted value of each learner for each code."""
        return self._values[:n_groups, : self._width] * weights[:, None]


class PairCoding(Values):
    """Coding of two learners per 16 bits, which predict at most 32 values each: half the look-ups, the same bits."""

    dtype = np.uint16
    per_group = 2
    many = 16

    def __init__(self, n_learners):
        super().__init__(n_learners)
        self._places = np.zeros((n_learners, FEW), dtype=np.uint8)  # of the value of each code, among all values
        self._few_values = np.zeros((n_learners, FEW))

    def write(self, t, values, index, codes):
        """Write the predictions values[index] of learner t."""
        self._write_values(t, values)
        used = np.flatnonzero(np.bincount(index))
        self._places[t, : len(used)], self._few_values[t, : len(used)] = used, values[used]
        pair, second = divmod(t, self.per_group)
        code_of = np.zeros(len(values), dtype=self.dtype)
        code_of[used] = np.arange(len(used)) * FEW**second
        codes[pair] |= code_of[index]

    def sum_learners(self, codes, weights, samples=None):
        """Return the weighted sum over all learners, for each sample or for the listed ones; the bits are the same."""
        scores = np.empty(codes.shape[1] if samples is None else len(samples))
        sum_pairs(codes, self._few_values[: len(weights)] * weights[:, None], samples, scores)
        return scores

    def sum_samples(self, codes, n_learners, samples, counts, tied_count):
        """Return the sum over the samples of a cut for each learner."""
        sums = np.zeros((n_learners, self._width))
        COUNT_PAIRS[counts.dtype.kind](codes, samples, counts, tied_count, self._places, sums)
        return self._fold(sums, n_learners)

    def n_fours(self, n_learners):
        """Return how many times four terms are added up before they are added to a score; the rest come one by one."""
        return n_learners // 4
