"""The constraint oracle: the most violated ordering of positives against ranked negatives.

Each positive's row of the ordering matrix is a prefix of the negatives ranked by score, so a row is one
number, its length, and a cut is m row lengths and one count for each ranked negative.
"""

from paucens._kernels.types cimport index_t


cdef inline Py_ssize_t count_above(const double* ranked, Py_ssize_t n, double bound) noexcept nogil:
    """Count the entries of a descending array that are larger than `bound`, without a branch."""
    cdef Py_ssize_t low = 0, half
    if n == 0:
        return 0
    while n > 1:
        half = n >> 1
        low += half * (ranked[low + half - 1] > bound)
        n -= half
    return low + (ranked[low] > bound)


cdef inline double row_value(const double* prefix, Py_ssize_t length, Py_ssize_t counted,
                             double score) noexcept nogil:
    """Gain of a row: the positions it counts in the band plus the sum of (t_j - s_i) over its prefix."""
    return counted + prefix[length] - length * score


def row_lengths(const double[::1] positives, const double[::1] ranked, const double[::1] prefix,
                Py_ssize_t j_alpha, Py_ssize_t j_beta, index_t[::1] lengths):
    """Write the best prefix length for each positive.

    positives: scores s_i; ranked: scores t_1 >= t_2 >= ... of at least j_beta negatives; prefix: their
    prefix sums, from 0, looked at where j_alpha > 0. With j_alpha = 0 the best row is every negative of
    the band within the margin. With j_alpha > 0 it is the better of that and the shorter row that stays
    out of the band, whose negatives count nothing. Negatives beyond j_beta (the struct formulation)
    lengthen a row while they score above the positive.
    """
    cdef Py_ssize_t i, short, band, beyond, n_beyond = ranked.shape[0] - j_beta
    cdef double score
    with nogil:
        for i in range(positives.shape[0]):
            score = positives[i]
            band = j_alpha + count_above(&ranked[j_alpha], j_beta - j_alpha, score - 1)
            beyond = 0
            if n_beyond > 0 and ranked[j_beta] > score:
                beyond = count_above(&ranked[j_beta], n_beyond, score)
            if j_alpha > 0 and beyond == 0:
                short = count_above(&ranked[0], j_alpha, score)
                if row_value(&prefix[0], short, 0, score) > row_value(&prefix[0], band, band - j_alpha, score):
                    band = short
            lengths[i] = <index_t> (band + beyond)


def rank_counts(const index_t[::1] lengths, index_t[::1] counts):
    """Write how many rows reach each rank: counts[j] = #{i : lengths[i] > j}."""
    cdef Py_ssize_t i, j, n = counts.shape[0]
    with nogil:
        for j in range(n):
            counts[j] = 0
        for i in range(lengths.shape[0]):
            if lengths[i] > 0:
                counts[lengths[i] - 1] += 1
        for j in range(n - 2, -1, -1):
            counts[j] += counts[j + 1]
