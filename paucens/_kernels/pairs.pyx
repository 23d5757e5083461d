"""Predictions of many learners on many samples, one code of 16 bits per sample and pair of learners.

A learner has at most 32 values, and its part of a code says which one. A sum over learners takes one look-up per pair,
in a table of the sums of any two values, and a sum over samples one histogram per pair. Sums are those of `stores`, bit
for bit.
"""

from libc.string cimport memset
from paucens._kernels.types cimport code_t, count_t, index_t, pair_t

cdef enum:
    BITS = 5  # per learner
    VALUES = 1 << BITS
    CODES = VALUES * VALUES


cdef void add_pair(const double* first, const double* second, double* table) noexcept nogil:
    """Write the sum of a value of the first and of one of the second learner for each code of the pair."""
    cdef Py_ssize_t i, j
    for j in range(VALUES):
        for i in range(VALUES):
            table[j * VALUES + i] = first[i] + second[j]


def sum_pairs(const pair_t[:, ::1] codes, const double[:, ::1] values, const index_t[::1] samples,
              double[::1] scores):
    """Write scores[k] = sum_t values[t, part t of the code of i], i = samples[k], or k if samples is None.

    The bits are the same either way.
    """
    cdef Py_ssize_t t = 0, i, k, n = scores.shape[0], n_learners = values.shape[0]
    cdef bint some = samples is not None
    cdef double low[CODES]
    cdef double high[CODES]
    with nogil:
        for k in range(n):
            scores[k] = 0
        while t + 4 <= n_learners:
            add_pair(&values[t, 0], &values[t + 1, 0], low)
            add_pair(&values[t + 2, 0], &values[t + 3, 0], high)
            for k in range(n):
                i = samples[k] if some else k
                scores[k] += low[codes[t // 2, i]] + high[codes[t // 2 + 1, i]]
            t += 4
        while t < n_learners:
            for k in range(n):
                i = samples[k] if some else k
                scores[k] += values[t, codes[t // 2, i] >> BITS * (t % 2) & (VALUES - 1)]
            t += 1


cdef void count_codes(const pair_t* code, const pair_t* next_code, const index_t[::1] samples,
                      const index_t[::1] counts, long long* sums) noexcept nogil:
    """Add the counts to the sums of two pairs, CODES each, so that one addition need not wait for the previous one."""
    cdef Py_ssize_t k
    for k in range(counts.shape[0]):
        sums[code[samples[k]]] += counts[k]
        sums[CODES + next_code[samples[k]]] += counts[k]


cdef void split_sums(const long long* sums, double* first, double* second) noexcept nogil:
    """Write the sums for the values of either learner of a pair."""
    cdef Py_ssize_t i, j
    cdef long long total
    cdef long long totals[VALUES]
    memset(totals, 0, sizeof(totals))
    for j in range(VALUES):
        total = 0
        for i in range(VALUES):
            totals[i] += sums[j * VALUES + i]
            total += sums[j * VALUES + i]
        second[j] = <double> total
    for i in range(VALUES):
        first[i] = <double> totals[i]


def count_pairs(const pair_t[:, ::1] codes, const index_t[::1] samples, const count_t[::1] counts,
                double tied_count, const code_t[:, ::1] places, double[:, ::1] sums):
    """Add the counts of a cut's samples whose part of the code for learner t is c to sums[t, places[t, c]].

    Samples beyond the end of `counts` have the count `tied_count` each.
    """
    cdef Py_ssize_t t, i, k, last, start = 0, n = counts.shape[0], n_learners = sums.shape[0]
    cdef long long together[2 * CODES]
    cdef double parts[4][VALUES]
    cdef double count
    if count_t is index_t:
        start = n
        with nogil:
            for t in range(0, n_learners, 4):
                last = min(t + 2, n_learners - 1) // 2  # the first pair once more if there is no other
                memset(together, 0, sizeof(together))
                count_codes(&codes[t // 2, 0], &codes[last, 0], samples, counts, together)
                split_sums(together, parts[0], parts[1])
                split_sums(together + CODES, parts[2], parts[3])
                for k in range(min(4, n_learners - t)):
                    for i in range(VALUES):
                        sums[t + k, places[t + k, i]] += parts[k][i]
    with nogil:
        for t in range(n_learners):
            for k in range(start, samples.shape[0]):
                count = counts[k] if k < n else tied_count
                sums[t, places[t, codes[t // 2, samples[k]] >> BITS * (t % 2) & (VALUES - 1)]] += count
