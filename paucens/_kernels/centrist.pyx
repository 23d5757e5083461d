"""Census codes, histograms of small patches of them, and the nearest visual word of each.

A histogram of a patch is a list of rows: row code * (area + 1) + count says that the code occurs count times
among the patch's `area` codes. A word is a column of a table with these rows, so that the similarity of a patch
to all words is a sum of table rows, in integers.
"""

from libc.stdint cimport uint16_t
from libc.string cimport memset

from paucens._kernels.types cimport code_t, grid_t, index_t

ctypedef uint16_t overlap_t  # a count, or a fixed-point similarity: eight words in a vector register

cdef enum:
    CODES = 256
    BLOCK = 64  # words whose sums are formed together


def census(const code_t[:, ::1] image, code_t[:, ::1] codes):
    """Write the census transform: codes[y, x] compares pixel (y + 1, x + 1) with its eight neighbours.

    Bit 7 to 0 are NW, N, NE, W, E, SW, S, SE; a bit is set where the centre is at least as bright.
    """
    cdef Py_ssize_t y, x
    cdef const code_t* above
    cdef const code_t* row
    cdef const code_t* below
    cdef code_t c
    with nogil:
        for y in range(codes.shape[0]):
            above, row, below = &image[y, 0], &image[y + 1, 0], &image[y + 2, 0]
            for x in range(codes.shape[1]):
                c = row[x + 1]
                codes[y, x] = <code_t> (
                    (c >= above[x]) << 7 | (c >= above[x + 1]) << 6 | (c >= above[x + 2]) << 5
                    | (c >= row[x]) << 4 | (c >= row[x + 2]) << 3
                    | (c >= below[x]) << 2 | (c >= below[x + 1]) << 1 | (c >= below[x + 2]))


cdef inline index_t count_patch(const code_t* corner, Py_ssize_t stride, Py_ssize_t side, overlap_t* counts,
                                index_t* rows) noexcept nogil:
    """Write the rows of one patch's histogram and return their number; `counts` is zero before and after."""
    cdef Py_ssize_t y, x, area = side * side
    cdef index_t code, n = 0
    for y in range(side):
        for x in range(side):
            code = corner[y * stride + x]
            rows[n] = code  # stays only if it is the first of its kind
            n += counts[code] == 0
            counts[code] += 1
    for x in range(n):
        code = rows[x]
        rows[x] = code * <index_t> (area + 1) + counts[code]
        counts[code] = 0
    return n


def count_patches(const code_t[::1] codes, const Py_ssize_t[::1] corners, const index_t[::1] strides,
                  Py_ssize_t side, index_t[:, ::1] rows, index_t[::1] n_rows, Py_ssize_t start, Py_ssize_t stop):
    """Write the histograms of patches [start, stop): side x side codes from each corner, `strides` apart.

    `rows` has one more column than a patch can have different codes, for scratch.
    """
    cdef Py_ssize_t i
    cdef overlap_t[CODES] counts
    with nogil:
        memset(counts, 0, sizeof(counts))
        for i in range(start, stop):
            n_rows[i] = count_patch(&codes[corners[i]], strides[i], side, counts, &rows[i, 0])


cdef inline void add_rows(const overlap_t* table, Py_ssize_t width, const index_t* rows, index_t n,
                          overlap_t* total, Py_ssize_t n_columns) noexcept nogil:
    """Write the sum of table rows, of as many columns; four rows at once, so that the sum is stored less often."""
    cdef Py_ssize_t e = 0, k
    cdef const overlap_t* a
    cdef const overlap_t* b
    cdef const overlap_t* c
    cdef const overlap_t* d
    memset(total, 0, n_columns * sizeof(overlap_t))
    while e + 4 <= n:
        a, b = table + rows[e] * width, table + rows[e + 1] * width
        c, d = table + rows[e + 2] * width, table + rows[e + 3] * width
        for k in range(n_columns):
            total[k] = <overlap_t> (total[k] + (a[k] + b[k]) + (c[k] + d[k]))
        e += 4
    while e < n:
        a = table + rows[e] * width
        for k in range(n_columns):
            total[k] = <overlap_t> (total[k] + a[k])
        e += 1


def nearest_words(const index_t[:, ::1] rows, const index_t[::1] n_rows, const overlap_t[:, ::1] table,
                  const grid_t[::1] bias, index_t[::1] words, grid_t[::1] scores, Py_ssize_t start, Py_ssize_t stop):
    """Write the word of largest bias + sum of table rows, the first of equals, and that score.

    Sums of table rows must stay below 2^16.
    """
    cdef Py_ssize_t i, first, k, n_columns, width = table.shape[1]
    cdef overlap_t[BLOCK] total
    cdef grid_t score
    with nogil:
        for i in range(start, stop):
            first = 0
            while first < width:
                n_columns = min(<Py_ssize_t> BLOCK, width - first)
                add_rows(&table[0, first], width, &rows[i, 0], n_rows[i], total, n_columns)
                for k in range(n_columns):
                    score = total[k] + bias[first + k]
                    if first + k == 0 or score > scores[i]:
                        scores[i] = score
                        words[i] = <index_t> (first + k)
                first += BLOCK


def tally(const index_t[:, ::1] rows, const index_t[::1] n_rows, const index_t[::1] words, index_t[:, ::1] members):
    """Add to members[row, word] the number of the word's patches whose histogram has the row."""
    cdef Py_ssize_t i, e
    with nogil:
        for i in range(rows.shape[0]):
            for e in range(n_rows[i]):
                members[rows[i, e], words[i]] += 1
