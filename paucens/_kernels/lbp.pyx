"""Local binary patterns: a label for each pixel, and how often each label occurs in windows around a cell.

Counts are bytes, 64 of them a pixel: one for each label, one for the border's, the rest fills up. Those of the
columns of a patch are kept up by one increment and one decrement a pixel; from there on all labels of a window are
one loop over 64 bytes, which vectorises.
"""

from cython.view cimport contiguous, strided
from libc.math cimport sqrtf
from libc.stdint cimport uint16_t
from libc.string cimport memcpy, memset

from paucens._kernels.types cimport code_t

ctypedef uint16_t count_t  # up to 256

cdef enum:
    LABELS = 58  # and the label of the border, which no channel shows
    LANES = 64
    CELL = 4
    LARGEST = 16  # side of a patch
    STRIP = 32  # cells side by side that are done together: what a row needs fits the L1 cache
    BLOCKS = (STRIP + 1) * LANES

cdef struct strip_t:
    code_t[(1 + CELL * (STRIP + 1) + LARGEST) * LANES] columns  # counts over the rows of a patch; a column more
    code_t[LANES] window     # counts of the last window
    code_t[2 * BLOCKS] most  # largest counts of 4 x 4 windows; then not 0 if that is 256, which a byte shows as 0
    code_t[2 * BLOCKS] above
    count_t[LABELS][STRIP] counts  # of the cells of a row


def label_pixels(const float[::strided, ::contiguous] plane, const code_t[::1] table, code_t[:, ::1] labels,
                 Py_ssize_t start, Py_ssize_t stop):
    """Write table[code] of the pixels in rows [start, stop), 58 on the outermost pixels of the plane.

    Bit 0 to 7 of the code are E, SE, S, SW, W, NW, N, NE; a bit is set where the neighbour is larger.
    """
    cdef Py_ssize_t y, x, h = plane.shape[0], w = plane.shape[1]
    cdef code_t* row
    with nogil:
        for y in range(start, stop):
            row = &labels[y, 0]
            if y == 0 or y == h - 1 or w < 3:
                memset(row, LABELS, w)
                continue
            compare(&plane[y - 1, 0], &plane[y, 0], &plane[y + 1, 0], row, w)
            for x in range(1, w - 1):
                row[x] = table[row[x]]
            row[0] = row[w - 1] = LABELS


cdef void compare(const float* above, const float* row, const float* below, code_t* codes,
                  Py_ssize_t w) noexcept nogil:
    cdef Py_ssize_t x
    cdef float c
    for x in range(1, w - 1):
        c = row[x]
        codes[x] = <code_t> (
            (row[x + 1] > c) | (below[x + 1] > c) << 1 | (below[x] > c) << 2 | (below[x - 1] > c) << 3
            | (row[x - 1] > c) << 4 | (above[x - 1] > c) << 5 | (above[x] > c) << 6 | (above[x + 1] > c) << 7)


def pool_patches(const code_t[:, ::1] labels, Py_ssize_t patch, bint pooled,
                 float[::strided, ::strided, ::contiguous] out, Py_ssize_t start, Py_ssize_t stop):
    """Write the share of each label in a patch, for cell rows [start, stop).

    Pooled, it is the largest share of the 8 x 8 patches centred around the middle of the cell, else that of the
    one patch centred on it. Patches of 4, 8 or 16 pixels; those that leave the image take no part. `out` is
    (rows, labels, columns).
    """
    cdef strip_t strip
    cdef Py_ssize_t left = 0
    with nogil:
        while left < out.shape[2]:
            pool_strip(&strip, labels, patch, pooled, out, left, min(left + STRIP, out.shape[2]), start, stop)
            left += STRIP


cdef inline void pool_strip(strip_t* strip, const code_t[:, ::1] labels, Py_ssize_t patch, bint pooled,
                            float[::strided, ::strided, ::contiguous] out, Py_ssize_t left, Py_ssize_t right,
                            Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Fill a strip of cells, by rows of blocks: a block is 4 x 4 windows (or one), a cell pools 2 x 2 blocks."""
    cdef Py_ssize_t block, row, span = CELL if pooled else 1, n_rows = labels.shape[0] - patch + 1
    cdef Py_ssize_t offset = (-2 if pooled else 2) - patch // 2  # of a cell's first window, down and across
    cdef Py_ssize_t x = CELL * left + offset, top = max(0, CELL * start + offset)
    cdef Py_ssize_t first = max(0, -x), last = min(CELL * (right - left + pooled), labels.shape[1] - patch + 1 - x)
    memset(strip, 0, sizeof(strip_t))
    for row in range(top, min(top + patch, labels.shape[0])):
        count_row(labels, row, x, strip.columns + LANES, first, last + patch - 1)
    for block in range(start, stop + pooled):
        memset(strip.most, 0, sizeof(strip.most))
        for row in range(max(0, CELL * block + offset), min(CELL * block + offset + span, n_rows)):
            while top < row:
                move_down(labels, top, patch, x, strip.columns + LANES, first, last + patch - 1)
                top += 1
            if pooled:
                slide(strip, patch, first, last)
            else:
                count_centred(strip, patch, first, last)
        if pooled:
            pair_blocks(strip.most)
        if block - pooled >= start:
            write_cells(strip, 1.0 / (patch * patch), out, block - pooled, left, right)
        if pooled:
            strip.above = strip.most


cdef inline void count_row(const code_t[:, ::1] labels, Py_ssize_t row, Py_ssize_t x, code_t* columns,
                           Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Count the labels of a row in their columns; column 0 is pixel x."""
    cdef Py_ssize_t k
    for k in range(first, last):
        columns[k * LANES + labels[row, x + k]] += 1


cdef inline void move_down(const code_t[:, ::1] labels, Py_ssize_t top, Py_ssize_t patch, Py_ssize_t x, code_t* columns,
                           Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Count the row below the patches and discount their top row."""
    cdef Py_ssize_t k
    cdef const code_t* leaving = &labels[top, x + first]
    cdef const code_t* coming = &labels[top + patch, x + first]
    columns += first * LANES
    for k in range(last - first):
        columns[leaving[k]] -= 1
        columns[coming[k]] += 1
        columns += LANES


cdef inline void slide(strip_t* strip, Py_ssize_t patch, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Raise the largest counts of blocks by those of the windows of a row."""
    cdef Py_ssize_t x, i
    memset(strip.window, 0, sizeof(strip.window))
    for x in range(first, min(last, first + 1) + patch - 2):
        for i in range(LANES):
            strip.window[i] += strip.columns[(x + 1) * LANES + i]
    x = first
    while x < last:
        if x % CELL or x + CELL > last:
            raise_block(strip, patch, x, 1, True)
            x += 1
        elif patch == LARGEST:
            raise_block(strip, patch, x, CELL, True)
            x += CELL
        else:
            raise_block(strip, patch, x, CELL, False)
            x += CELL


cdef inline void raise_block(strip_t* strip, Py_ssize_t patch, Py_ssize_t x, Py_ssize_t n, bint wide) noexcept nogil:
    """Slide on over n windows, from column x, and raise their block."""
    cdef Py_ssize_t i, k, block = x // CELL * LANES, leaving = x * LANES, coming = (x + patch) * LANES
    cdef code_t count, largest, full
    for i in range(LANES):
        count, largest, full = strip.window[i], strip.most[block + i], 0
        for k in range(n):
            count = <code_t> (count + strip.columns[coming + k * LANES + i] - strip.columns[leaving + k * LANES + i])
            largest = max(largest, count)
            if wide:  # the column that came in has some, yet there are 0: there are 256
                full |= strip.columns[coming + k * LANES + i] if count == 0 else 0
        strip.window[i] = count
        strip.most[block + i] = largest
        if wide:
            strip.most[BLOCKS + block + i] |= full


cdef inline void pair_blocks(code_t* most) noexcept nogil:
    """Raise each block by the one on its right; the last one of a strip, which has none, is not used any more."""
    cdef Py_ssize_t i
    for i in range(2 * BLOCKS - LANES):
        most[i] = max(most[i], most[i + LANES])


cdef inline void count_centred(strip_t* strip, Py_ssize_t patch, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Write the counts of the one window of each cell."""
    cdef Py_ssize_t cell, i, k, block, column
    cdef code_t[LANES] count
    cdef code_t full
    for cell in range((first + CELL - 1) // CELL, (last + CELL - 1) // CELL):
        block, column = cell * LANES, (1 + CELL * cell) * LANES
        memset(count, 0, sizeof(count))
        for k in range(patch):
            for i in range(LANES):
                count[i] += strip.columns[column + k * LANES + i]
        for i in range(LANES):
            strip.most[block + i] = count[i]
            full = strip.columns[column + i]
            strip.most[BLOCKS + block + i] = full if count[i] == 0 else 0


cdef inline void write_cells(strip_t* strip, float share, float[::strided, ::strided, ::contiguous] out, Py_ssize_t row,
                             Py_ssize_t left, Py_ssize_t right) noexcept nogil:
    cdef Py_ssize_t cell, i, k
    cdef count_t[LANES] counts
    cdef count_t count
    cdef float* shares
    for cell in range(right - left):
        for i in range(LANES):
            k = cell * LANES + i
            count = max(strip.most[k], strip.above[k])
            counts[i] = max(count, <count_t> (LARGEST * max(strip.most[BLOCKS + k], strip.above[BLOCKS + k])))
        for i in range(LABELS):
            strip.counts[i][cell] = counts[i]
    for i in range(LABELS):
        shares = &out[row, i, left]
        for cell in range(right - left):
            shares[cell] = share * <float> <int> strip.counts[i][cell]


def histogram_cells(const code_t[:, ::1] labels, float[:, :, :] out, Py_ssize_t start, Py_ssize_t stop):
    """Write sqrt(h / sum h) of the labels around each cell of rows [start, stop), h with bilinear weights.

    A pixel counts for the four cells whose centres are around it. `out` is (rows, labels, columns).
    """
    cdef Py_ssize_t row, cell
    cdef count_t[LANES] counts
    with nogil:
        for row in range(start, stop):
            for cell in range(out.shape[2]):
                memset(counts, 0, sizeof(counts))
                count_around(labels, CELL * row - CELL // 2, CELL * cell - CELL // 2, counts)
                take_roots(counts, out, row, cell)


cdef inline void count_around(const code_t[:, ::1] labels, Py_ssize_t top, Py_ssize_t left,
                              count_t* counts) noexcept nogil:
    """Count the labels of 8 x 8 pixels in 64ths; their weights are 1 3 5 7 7 5 3 1 eighths, down and across."""
    cdef Py_ssize_t y, x, h = labels.shape[0], w = labels.shape[1]
    cdef int weight
    for y in range(max(0, top), min(top + 2 * CELL, h)):
        weight = eighths(y - top)
        for x in range(max(0, left), min(left + 2 * CELL, w)):
            counts[labels[y, x]] += <count_t> (weight * eighths(x - left))


cdef inline int eighths(Py_ssize_t k) noexcept nogil:
    return <int> min(2 * k + 1, 15 - 2 * k)


cdef inline void take_roots(const count_t* counts, float[:, :, :] out, Py_ssize_t row, Py_ssize_t cell) noexcept nogil:
    cdef Py_ssize_t i
    cdef int total = 0
    cdef float scale
    for i in range(LABELS):
        total += counts[i]
    scale = 1 / (sqrtf(<float> total) + <float> 8e-10)  # 1e-10 where a pixel weighs 1
    for i in range(LABELS):
        out[row, i, cell] = scale * sqrtf(<float> <int> counts[i])


def pool_cells(float[::strided, ::strided, ::contiguous] out, float[::1] scratch, Py_ssize_t start, Py_ssize_t stop):
    """Write to channels 58 .. 115 the largest values of 0 .. 57 in 4 x 4 cells, the cell itself their top left one.

    `out` is (rows, channels, columns); `scratch` has CELL - 1 values more than a row.
    """
    cdef Py_ssize_t row, i, cols = out.shape[2]
    if cols == 0:
        return
    with nogil:
        memset(&scratch[cols], 0, (CELL - 1) * sizeof(float))  # right of the image
        for row in range(start, stop):
            for i in range(LABELS):
                take_largest_below(out, row, i, &scratch[0])
                take_largest_beside(&scratch[0], &out[row, LABELS + i, 0], cols)


cdef inline void take_largest_below(const float[::strided, ::strided, ::contiguous] out, Py_ssize_t row, Py_ssize_t i,
                                    float* largest) noexcept nogil:
    """Write the largest values of a channel in a row and the three below."""
    cdef Py_ssize_t y, x, cols = out.shape[2]
    cdef const float* values
    memcpy(largest, &out[row, i, 0], cols * sizeof(float))
    for y in range(row + 1, min(row + CELL, out.shape[0])):
        values = &out[y, i, 0]
        for x in range(cols):
            largest[x] = max(largest[x], values[x])


cdef inline void take_largest_beside(const float* row, float* out, Py_ssize_t cols) noexcept nogil:
    """Write the largest of each value and the three on its right."""
    cdef Py_ssize_t x
    for x in range(cols):
        out[x] = max(max(row[x], row[x + 1]), max(row[x + 2], row[x + 3]))
