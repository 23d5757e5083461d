# Sums and products of deviations of the windows of a tile: what covariances are made of.
#
# A window of twice the size is two windows side by side, and its sums of squares and products follow from theirs:
#
#     D = D_a + D_b + e_i e_j,    e_i = (S_a,i - S_b,i) / sqrt(2 n),
#
# n the pixels of either, S its sums, D its sums of products of deviations from the means (Chan, Golub and LeVeque
# 1983). Nothing is ever subtracted from a sum of squares, so float32 keeps its precision in patches however flat; and a
# window's numbers come from its pixels alone, in a fixed order: the same bits in every tile, block and build.
#
# A tile is worked through in chunks of four rows. A window belongs to the chunk that holds its last row, and stands in
# the column of its first pixel. Of earlier chunks a tile keeps what windows still to come need: three rows below 4
# pixels, then rings of 1, 2 and 4 chunks.

from paucens._kernels.statistics cimport STATISTICS, const_row_t, row_t

cdef enum:
    SPAN = 192         # columns of a tile, at most
    WIDE = SPAN + 8    # with those that its last windows reach into
    ROWS = 4           # of a chunk, of a cell
    LEVELS = 4         # patches of 4 << level pixels
    SLOTS = 7          # chunks in the rings of the levels above 0: 1 + 2 + 4
    CHANNELS = 42      # of a patch size: 7 variances, 21 correlations of statistics, 14 with x and y

cdef enum Partner:     # what a statistic is multiplied with
    ITSELF
    ANOTHER
    X
    Y

cdef struct Feature:   # a statistic: values and contrasts e of the chunk, sums S of earlier ones
    float[ROWS][WIDE] value
    float[ROWS][WIDE] left1          # e of 1 x 1 pixels beside 1 x 1
    float[ROWS][SPAN] left2          # of 1 x 2 beside 1 x 2
    float[ROWS][SPAN] top1           # of 1 x 4 above 1 x 4
    float[ROWS][SPAN] top2           # of 2 x 4 above 2 x 4
    float[LEVELS][ROWS][SPAN] left   # of windows of half the size
    float[LEVELS][ROWS][SPAN] top    # of two of them side by side
    float[LEVELS][ROWS][SPAN] scale  # 1 / sqrt(D_ii)
    float[3][SPAN] history
    float[SLOTS][ROWS][SPAN] ring

cdef struct Pair:      # D of two features in earlier chunks
    float[3][SPAN] history
    float[SLOTS][ROWS][SPAN] ring

cdef struct Moments:   # of a tile
    Feature[STATISTICS] features
    Pair[CHANNELS] pairs
    float[2][ROWS][SPAN] total       # S or D at one level and at the next


# -- sums ------------------------------------------------------------------------------------------

cdef inline void contrast_pixels(const_row_t value, row_t left1, row_t left2, row_t total, Py_ssize_t n) noexcept nogil:
    """Write the contrasts of 1 and 2 pixels side by side, and the sums of four, of a row."""
    cdef Py_ssize_t c
    cdef float root_half = 0.7071067811865476, half = 0.5
    for c in range(n + 2):
        left1[c] = (value[c] - value[c + 1]) * root_half
    for c in range(n):
        left2[c] = ((value[c] + value[c + 1]) - (value[c + 2] + value[c + 3])) * half
        total[c] = (value[c] + value[c + 1]) + (value[c + 2] + value[c + 3])


cdef inline void contrast_rows(row_t history, row_t total, row_t top1, row_t top2, Py_ssize_t n) noexcept nogil:
    """Write the contrasts of 1 and 2 rows of 4 pixels; `total` goes from sums of 1 x 4 pixels to 4 x 4."""
    cdef Py_ssize_t c
    cdef float s0, s1, s2, s3, u0, u1, u2, u3, root_eighth = 0.35355339059327373, quarter = 0.25
    for c in range(n):
        s0, s1, s2, s3 = total[c], total[SPAN + c], total[2 * SPAN + c], total[3 * SPAN + c]
        u0, u1, u2, u3 = history[c] + s0, s0 + s1, s1 + s2, s2 + s3
        top1[c] = (history[c] - s0) * root_eighth
        top1[SPAN + c] = (s0 - s1) * root_eighth
        top1[2 * SPAN + c] = (s1 - s2) * root_eighth
        top1[3 * SPAN + c] = (s2 - s3) * root_eighth
        top2[c] = (history[SPAN + c] - u0) * quarter
        top2[SPAN + c] = (history[2 * SPAN + c] - u1) * quarter
        top2[2 * SPAN + c] = (u0 - u2) * quarter
        top2[3 * SPAN + c] = (u1 - u3) * quarter
        total[c] = history[SPAN + c] + u0
        total[SPAN + c] = history[2 * SPAN + c] + u1
        total[2 * SPAN + c] = u0 + u2
        total[3 * SPAN + c] = u1 + u3
        history[c], history[SPAN + c], history[2 * SPAN + c] = s3, u2, u3


cdef inline void contrast_windows(const_row_t total, row_t ring, row_t left, row_t top, row_t merged,
                                  Py_ssize_t side, Py_ssize_t n) noexcept nogil:
    """Write the contrasts of windows of `side` pixels, side by side and then above each other, and the sums of four."""
    cdef Py_ssize_t c
    cdef float s, by_left = 0.7071067811865476 / side, by_top = 0.5 / side
    for c in range(n):
        s = total[c] + total[c + side]
        left[c] = (total[c] - total[c + side]) * by_left
        top[c] = (ring[c] - s) * by_top
        merged[c] = ring[c] + s
        ring[c] = s


# -- sums of products ------------------------------------------------------------------------------

cdef inline float product4(Partner partner, Moments* m, Py_ssize_t i, Py_ssize_t j, Py_ssize_t k,
                           Py_ssize_t c) noexcept nogil:
    """Return D of the 1 x 4 pixels from row k, column c."""
    cdef float x1 = -0.7071067811865476, x2 = -2  # contrasts of x
    if partner == Y:
        return 0
    if partner == X:
        return ((m.features[j].left1[k][c] + m.features[j].left1[k][c + 2]) * x1
                + m.features[j].left2[k][c] * x2)
    return (
        m.features[i].left1[k][c] * m.features[j].left1[k][c]
        + m.features[i].left1[k][c + 2] * m.features[j].left1[k][c + 2]
    ) + m.features[i].left2[k][c] * m.features[j].left2[k][c]


cdef inline float over(Partner partner, float upper, float lower, float a, float b, float y) noexcept nogil:
    """Return D of a window from those of its upper and lower half and their contrasts, y that of their rows."""
    if partner == X:
        return upper + lower
    if partner == Y:
        return (upper + lower) + b * y
    return (upper + lower) + a * b


cdef inline float over1(Partner partner, Moments* m, Py_ssize_t i, Py_ssize_t j, Py_ssize_t k, Py_ssize_t c,
                        float upper, float lower) noexcept nogil:
    """Return D of 2 x 4 pixels that end in row k from those of the rows."""
    return over(partner, upper, lower, m.features[i].top1[k][c], m.features[j].top1[k][c], -1.4142135623730951)


cdef inline float over2(Partner partner, Moments* m, Py_ssize_t i, Py_ssize_t j, Py_ssize_t k, Py_ssize_t c,
                        float upper, float lower) noexcept nogil:
    """Return D of 4 x 4 pixels that end in row k from those of the halves."""
    return over(partner, upper, lower, m.features[i].top2[k][c], m.features[j].top2[k][c], -4)


cdef inline void products_of_pixels(Partner partner, Moments* m, Py_ssize_t i, Py_ssize_t j, Py_ssize_t channel,
                                    Py_ssize_t n) noexcept nogil:
    """Write D of all windows of 4 x 4 pixels that end in the chunk to `total[0]`.

    Every access names a member of the moments: so the compiler knows, without asking at run time, that none overlap.
    """
    cdef Py_ssize_t c
    cdef float t0, t1, t2, t3, u0, u1, u2, u3
    for c in range(n):
        t0 = product4(partner, m, i, j, 0, c)
        t1 = product4(partner, m, i, j, 1, c)
        t2 = product4(partner, m, i, j, 2, c)
        t3 = product4(partner, m, i, j, 3, c)
        u0 = over1(partner, m, i, j, 0, c, m.pairs[channel].history[0][c], t0)
        u1 = over1(partner, m, i, j, 1, c, t0, t1)
        u2 = over1(partner, m, i, j, 2, c, t1, t2)
        u3 = over1(partner, m, i, j, 3, c, t2, t3)
        m.total[0][0][c] = over2(partner, m, i, j, 0, c, m.pairs[channel].history[1][c], u0)
        m.total[0][1][c] = over2(partner, m, i, j, 1, c, m.pairs[channel].history[2][c], u1)
        m.total[0][2][c] = over2(partner, m, i, j, 2, c, u0, u2)
        m.total[0][3][c] = over2(partner, m, i, j, 3, c, u1, u3)
        m.pairs[channel].history[0][c] = t3
        m.pairs[channel].history[1][c] = u2
        m.pairs[channel].history[2][c] = u3


cdef inline void products_of_windows(Partner partner, const_row_t left_a, const_row_t left_b, const_row_t top_a,
                                     const_row_t top_b, const_row_t small, row_t ring, row_t out,
                                     Py_ssize_t side, Py_ssize_t n) noexcept nogil:
    """Write D of the chunk's windows of twice `side` from that of windows of `side`."""
    cdef Py_ssize_t k, c
    cdef float t, x = -0.7071067811865476 * side * side, y = -side * side  # contrasts of x and y
    for k in range(ROWS):
        for c in range(k * SPAN, k * SPAN + n):
            t = small[c] + small[c + side]
            if partner == X:
                t = t + left_b[c] * x
            elif partner != Y:
                t = t + left_a[c] * left_b[c]
            out[c] = over(partner, ring[c], t, top_a[c], top_b[c], y)
            ring[c] = t
