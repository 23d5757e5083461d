"""Predictions of many learners on many samples, one byte per sample and group of learners.

A group is eight learners that predict +-1, one bit each, or one learner of at most 256 values. Either
way a sum over learners takes one table look-up per group, and a sum over samples one histogram per group.
"""

from libc.string cimport memset
from paucens._kernels.types cimport code_t, count_t, index_t, place_t

cdef enum:
    CODES = 256
    BITS = 8


def sum_groups(const code_t[:, ::1] codes, const double[:, ::1] tables, const index_t[::1] samples,
               double[::1] scores):
    """Write scores[k] = sum_g tables[g, codes[g, i]], i = samples[k], or k if samples is None; to the same bits."""
    cdef Py_ssize_t g = 0, i, k, n = scores.shape[0], n_groups = tables.shape[0], width = tables.shape[1]
    cdef bint some = samples is not None
    cdef const double* t
    with nogil:
        for k in range(n):
            scores[k] = 0
        while g + 4 <= n_groups:  # four groups at once, so that the score is loaded and stored once
            t = &tables[g, 0]
            for k in range(n):
                i = samples[k] if some else k
                scores[k] += ((t[codes[g, i]] + t[width + codes[g + 1, i]])
                              + (t[2 * width + codes[g + 2, i]] + t[3 * width + codes[g + 3, i]]))
            g += 4
        while g < n_groups:
            t = &tables[g, 0]
            for k in range(n):
                scores[k] += t[codes[g, samples[k] if some else k]]
            g += 1


def add_values(const double[::1] values, const place_t[::1] index, double[::1] scores, Py_ssize_t start,
               Py_ssize_t stop):
    """Add values[index[i]] to scores[i] for i in [start, stop)."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(start, stop):
            scores[i] += values[index[i]]


cdef void count_codes(const code_t* codes, Py_ssize_t stride, const index_t[::1] samples, const index_t[::1] counts,
                      Py_ssize_t width, long long* sums) noexcept nogil:
    """Add the counts to the sums of eight groups, `width` each, whose codes are `stride` apart.

    An addition waits for the previous one to the same address; the other groups fill that time.
    """
    cdef Py_ssize_t k, i
    cdef long long count
    for k in range(counts.shape[0]):
        i, count = samples[k], counts[k]
        sums[codes[i]] += count
        sums[width + codes[stride + i]] += count
        sums[2 * width + codes[2 * stride + i]] += count
        sums[3 * width + codes[3 * stride + i]] += count
        sums[4 * width + codes[4 * stride + i]] += count
        sums[5 * width + codes[5 * stride + i]] += count
        sums[6 * width + codes[6 * stride + i]] += count
        sums[7 * width + codes[7 * stride + i]] += count


def sum_samples(const code_t[:, ::1] codes, const index_t[::1] samples, const count_t[::1] counts,
                double tied_count, double[:, ::1] sums):
    """Write sums[g, c] = sum of the counts of a cut's samples whose code in group g is c, at most 255.

    Samples beyond the end of `counts` have the count `tied_count` each.
    """
    cdef Py_ssize_t g, k, n = counts.shape[0], n_groups = sums.shape[0], n_whole = 0, width = sums.shape[1]
    cdef double* s
    cdef long long together[8 * CODES]
    if count_t is index_t:
        n_whole = n_groups // 8 * 8
    with nogil:
        if count_t is index_t:
            for g in range(0, n_whole, 8):
                s = &sums[g, 0]
                memset(together, 0, 8 * width * sizeof(together[0]))
                count_codes(&codes[g, 0], codes.shape[1], samples, counts, width, together)
                for k in range(8 * width):
                    s[k] = together[k]
        for g in range(n_groups):
            s = &sums[g, 0]
            if g >= n_whole:
                for k in range(width):
                    s[k] = 0
                for k in range(n):
                    s[codes[g, samples[k]]] += counts[k]
            for k in range(n, samples.shape[0]):
                s[codes[g, samples[k]]] += tied_count


def tables_of_signs(const double[::1] weights, double[:, ::1] tables):
    """Write tables[g, c] = sum of +-weights of the learners of group g, + if their bit of c is set."""
    cdef Py_ssize_t t, g, bit, c, n = weights.shape[0]
    cdef double twice
    with nogil:
        for g in range(tables.shape[0]):
            tables[g, 0] = 0
            for t in range(g * BITS, min(n, (g + 1) * BITS)):
                tables[g, 0] -= weights[t]
            for bit in range(BITS):
                t = g * BITS + bit
                twice = 2 * weights[t] if t < n else 0.0
                for c in range(1 << bit):
                    tables[g, c + (1 << bit)] = tables[g, c] + twice


def fold_signs(double[:, ::1] sums, double[::1] row):
    """Write row[t] = sum over codes of +-sums, + if the bit of learner t is set; `sums` is overwritten.

    The table is folded in half bit after bit, from the top: the difference of the halves belongs to the bit,
    and their sum is folded next.
    """
    cdef Py_ssize_t g, bit, c, half, n = row.shape[0]
    cdef double difference
    with nogil:
        for g in range(sums.shape[0]):
            for bit in range(BITS - 1, -1, -1):
                half = 1 << bit
                difference = 0
                for c in range(half):
                    difference += sums[g, c + half] - sums[g, c]
                    sums[g, c] += sums[g, c + half]
                if g * BITS + bit < n:
                    row[g * BITS + bit] = difference


def set_bits(const code_t[::1] bit_of_node, const index_t[::1] node, code_t[::1] codes, Py_ssize_t bit):
    """Set bit `bit` of the code of each sample to the bit of its node; the bit must be clear."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(node.shape[0]):
            codes[i] |= <code_t> (bit_of_node[node[i]] << bit)


def dot_samples(const index_t[::1] samples, const count_t[::1] counts, double tied_count,
                const double[::1] predicted):
    """Return the sum of the counts of a cut times the predictions of one learner."""
    cdef Py_ssize_t k, n = counts.shape[0]
    cdef double total = 0
    with nogil:
        for k in range(n):
            total += counts[k] * predicted[samples[k]]
        for k in range(n, samples.shape[0]):
            total += tied_count * predicted[samples[k]]
    return total


def add_samples(const index_t[::1] samples, const count_t[::1] counts, double tied_count, double factor,
                double[::1] out):
    """Add a factor times the counts of a cut to out."""
    cdef Py_ssize_t k, n = counts.shape[0]
    with nogil:
        for k in range(n):
            out[samples[k]] += factor * counts[k]
        for k in range(n, samples.shape[0]):
            out[samples[k]] += factor * tied_count
