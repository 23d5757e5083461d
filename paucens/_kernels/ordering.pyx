"""The constraint oracle: the most violated ordering of positives against ranked negatives.

The row of each positive in the ordering matrix is a prefix of the negatives ranked by score. So a row is
one number, its length, and a cut is m row lengths and one count per ranked negative.
"""

from libc.string cimport memset
from paucens._kernels.types cimport index_t, key_t


cdef enum:
    LANES = 8  # simultaneous searches, so that none waits for the loads of another
    DIGITS = 8  # bytes of a key
    VALUES = 256  # of a byte


cdef inline key_t falling_key(double value) noexcept nogil:
    """Return a whole number that rises as the value falls; 0 and -0 have the same."""
    cdef double falling = 0 - value
    cdef key_t bits = (<key_t*> &falling)[0]
    return ~bits if bits >> 63 else bits | <key_t> 1 << 63


def rank_falling(const double[::1] values, key_t[:, ::1] keys, index_t[:, ::1] order):
    """Rank finite values, the largest first; ties keep their order. Return which row of `order` has the ranking.

    Both rows of keys and order, (2, n), are written: the keys are sorted byte by byte, the least significant one
    first, from row to row. A byte that is the same in all keys is passed over.
    """
    cdef Py_ssize_t n = values.shape[0], i, digit, value, source = 0
    cdef index_t starts[DIGITS][VALUES]
    cdef index_t total, count
    cdef key_t key
    with nogil:
        memset(starts, 0, sizeof(starts))
        for i in range(n):
            key = falling_key(values[i])
            keys[0, i], order[0, i] = key, <index_t> i
            for digit in range(DIGITS):
                starts[digit][key >> 8 * digit & (VALUES - 1)] += 1
        for digit in range(DIGITS):
            if n == 0 or starts[digit][keys[0, 0] >> 8 * digit & (VALUES - 1)] == n:
                continue
            total = 0
            for value in range(VALUES):
                count = starts[digit][value]
                starts[digit][value] = total
                total += count
            move_by_digit(&keys[source, 0], &order[source, 0], n, 8 * digit, starts[digit], &keys[1 - source, 0],
                          &order[1 - source, 0])
            source = 1 - source
    return source


cdef void move_by_digit(const key_t* keys, const index_t* order, Py_ssize_t n, int shift, index_t* starts,
                        key_t* moved_keys, index_t* moved_order) noexcept nogil:
    """Move the keys and their places to where the keys of their byte start; the starts move on."""
    cdef Py_ssize_t i, value
    for i in range(n):
        value = keys[i] >> shift & (VALUES - 1)
        moved_keys[starts[value]] = keys[i]
        moved_order[starts[value]] = order[i]
        starts[value] += 1


cdef void count_above(const double* ranked, Py_ssize_t n, const double* scores, double margin, Py_ssize_t m,
                      index_t* counts) noexcept nogil:
    """Write counts[i] = #{j < n : ranked[j] + margin > scores[i]} by branchless binary searches."""
    cdef Py_ssize_t lane, lanes, width, half, first = 0
    cdef double bound[LANES]
    cdef const double* low[LANES]
    while first < m:
        lanes = min(<Py_ssize_t> LANES, m - first)
        for lane in range(LANES):
            bound[lane] = scores[first + (lane if lane < lanes else 0)] - margin
            low[lane] = ranked
        width = n
        while width > 1:
            half = width >> 1
            for lane in range(LANES):
                low[lane] += half if low[lane][half - 1] > bound[lane] else 0
            width -= half
        for lane in range(lanes):
            counts[first + lane] = <index_t> (low[lane] - ranked) + (n > 0 and low[lane][0] > bound[lane])
        first += LANES


cdef inline double row_value(const double* prefix, Py_ssize_t length, Py_ssize_t in_range,
                             double score) noexcept nogil:
    """Return the gain of a row: its number of ranks in the range plus the sum of (t_j - s_i) over its prefix."""
    return in_range + prefix[length] - length * score


cdef void row_lengths(const double[::1] positives, const double[::1] ranked, const double[::1] prefix,
                      Py_ssize_t j_alpha, Py_ssize_t j_beta, Py_ssize_t n_ranks,
                      index_t[::1] lengths, index_t[::1] spare) noexcept nogil:
    """Write the best prefix length for each positive.

    With j_alpha = 0 the row holds every negative of the range within the margin. With j_alpha > 0 it is the
    better of two: the row up to the last such negative, and the shorter row that ends before the range, whose
    negatives have no loss. Negatives beyond j_beta (the struct formulation) lengthen a row while they score
    above the positive.
    """
    cdef Py_ssize_t i, length, m = positives.shape[0]
    cdef double score
    count_above(&ranked[j_alpha], j_beta - j_alpha, &positives[0], 1, m, &lengths[0])
    if j_alpha > 0:
        count_above(&ranked[0], j_alpha, &positives[0], 0, m, &spare[0])
        for i in range(m):
            score = positives[i]
            length = j_alpha + lengths[i]
            lengths[i] = <index_t> length
            if row_value(&prefix[0], spare[i], 0, score) > row_value(&prefix[0], length, length - j_alpha, score):
                lengths[i] = spare[i]
    if n_ranks > j_beta:
        count_above(&ranked[0], n_ranks, &positives[0], 0, m, &spare[0])
        for i in range(m):
            lengths[i] = max(lengths[i], spare[i])  # beyond j_beta only if the row reaches j_beta


cdef void rank_counts(const index_t[::1] lengths, index_t[::1] counts) noexcept nogil:
    """Write the number of rows that reach each rank: counts[j] = #{i : lengths[i] > j}, which never rises."""
    cdef Py_ssize_t i, j, n = counts.shape[0]
    for j in range(n):
        counts[j] = 0
    for i in range(lengths.shape[0]):
        if lengths[i] > 0:
            counts[lengths[i] - 1] += 1
    for j in range(n - 2, -1, -1):
        counts[j] += counts[j + 1]


def order_ranked(const double[::1] positives, const double[::1] ranked, const index_t[::1] negatives,
                 const double[::1] prefix, Py_ssize_t j_alpha, Py_ssize_t j_beta,
                 index_t[::1] lengths, index_t[::1] reached, index_t[::1] samples, index_t[::1] counts):
    """Find the most violated ordering of positives against ranked negatives and list its samples.

    positives: scores s_i; ranked: scores t_1 >= t_2 >= ... of at least j_beta negatives, including all that
    tie with the j_beta-th; negatives: their indices; prefix: prefix sums of `ranked` from 0, used if
    j_alpha > 0. lengths (m,) and reached (one entry per rank that may count) are written: rows of the
    positives, columns of the negatives. samples, counts: the positives below any negative with their row
    lengths, m + the negatives above any positive with minus their counts; the negatives tied at the boundary
    last.

    Return the number of samples, the number of counts (the tied negatives have none), the count of each tied
    negative and the number of pairs lost in the range.
    """
    cdef Py_ssize_t m = positives.shape[0], n_ranks = reached.shape[0]
    cdef Py_ssize_t i, j, k = 0, n_counts, start = j_beta, stop = j_beta
    cdef double tied = 0, lost = 0
    with nogil:
        row_lengths(positives, ranked, prefix, j_alpha, j_beta, n_ranks, lengths, samples)
        rank_counts(lengths, reached)
        while stop < ranked.shape[0] and ranked[stop] == ranked[j_beta - 1]:
            stop += 1
        if stop > j_beta:  # a tie crosses the boundary
            while start > 0 and ranked[start - 1] == ranked[j_beta - 1]:
                start -= 1
        for j in range(j_alpha, j_beta):
            lost += reached[j]
        for i in range(m):  # always written, but kept only if positive: no branch to mispredict
            samples[k] = <index_t> i
            counts[k] = lengths[i]
            k += lengths[i] > 0
        for j in range(n_ranks):
            if reached[j] == 0:
                break
            if start <= j < stop:
                tied += reached[j]
            else:
                samples[k] = <index_t> (m + negatives[j])
                counts[k] = -reached[j]
                k += 1
        n_counts = k
        if tied > 0:
            for j in range(start, stop):
                samples[k] = <index_t> (m + negatives[j])
                k += 1
            tied /= stop - start
    return k, n_counts, -tied, lost
