"""Binarized normed gradients (BING, Cheng et al. 2014): averages of boxes, gradients, words of bits, scores of windows.

A window is 16 x 8 points that are `step` cells of 4 pixels apart, and there is a window at each cell. So averages,
gradients and words are made for each cell, and each of them is a part of many windows. Eight rows of a window are a
word of 64 bits. Its lower word is the upper word of the window 8 * step cells below it.
"""

from cython.view cimport contiguous, strided
from libc.stdint cimport uint16_t

from paucens._kernels.types cimport code_t, key_t

ctypedef uint16_t count_t  # sums of the pixels of up to 4 x 4 cells, at most 255 * 256

cdef extern from *:
    """
    typedef const unsigned char *__restrict codes_in_t;
    typedef unsigned char *__restrict codes_out_t;
    typedef unsigned short *__restrict counts_out_t;
    typedef const uint64_t *__restrict words_in_t;
    typedef int *__restrict numbers_out_t;
    typedef float *__restrict floats_out_t;
    """
    ctypedef const code_t* codes_in_t
    ctypedef code_t* codes_out_t
    ctypedef count_t* counts_out_t
    ctypedef const key_t* words_in_t
    ctypedef int* numbers_out_t
    ctypedef float* floats_out_t

cdef enum:
    RGB = 3
    CELL = 4  # side of a cell in pixels
    ROWS = 16  # of a window
    COLUMNS = 8
    HALF = 8  # rows of a window in one word
    BITS = 4  # upper bits of a normed gradient that are kept
    LOWEST = 4  # the lowest of them


# -- averages --------------------------------------------------------------------------------------

def sum_cells(const code_t[:, :, ::1] pixels, count_t[::1] scratch, count_t[:, :, ::1] sums,
              Py_ssize_t start, Py_ssize_t stop):
    """Write the sums of the pixels of each cell and colour, for rows [start, stop) of cells.

    sums: (rows, 3, columns); scratch: a row of pixels of 3 colours.
    """
    cdef Py_ssize_t row, colour, x, columns = sums.shape[2]
    with nogil:
        for row in range(start, stop):
            add_lines(&pixels[CELL * row, 0, 0], RGB * pixels.shape[1], &scratch[0], RGB * CELL * columns)
            for x in range(columns):
                for colour in range(RGB):
                    sums[row, colour, x] = scratch[RGB * CELL * x + colour]


cdef void add_lines(codes_in_t line, Py_ssize_t stride, counts_out_t total, Py_ssize_t n) noexcept nogil:
    """Add up four lines, and in each of them four pixels side by side."""
    cdef Py_ssize_t x
    for x in range(n):
        total[x] = <count_t> (line[x] + line[stride + x] + line[2 * stride + x] + line[3 * stride + x])
    for x in range(n - 3 * RGB):
        total[x] = <count_t> (total[x] + total[x + RGB] + total[x + 2 * RGB] + total[x + 3 * RGB])


def average_boxes(const count_t[:, :, ::1] sums, Py_ssize_t step, count_t[::1] scratch, code_t[:, :, ::1] averages,
                  Py_ssize_t start, Py_ssize_t stop):
    """Write the rounded averages of the step x step cells from each cell on to the right and down, rows [start, stop).

    averages: (rows - step + 1, 3, columns - step + 1); scratch: a row of cells of one colour; step <= 4.
    """
    cdef Py_ssize_t row, colour, down, across, n = averages.shape[2]
    with nogil:
        for row in range(start, stop):
            for colour in range(RGB):
                scratch[:n] = 0
                for down in range(step):
                    for across in range(step):
                        add_counts(&sums[row + down, colour, across], &scratch[0], n)
                divide_counts(&scratch[0], CELL * CELL * step * step, &averages[row, colour, 0], n)


cdef void add_counts(const count_t* counts, counts_out_t total, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t x
    for x in range(n):
        total[x] += counts[x]


cdef void divide_counts(const count_t* total, int area, codes_out_t out, Py_ssize_t n) noexcept nogil:
    """Write the averages, halves rounded up: quotients of such small integers are exact enough in single precision."""
    cdef Py_ssize_t x
    for x in range(n):
        out[x] = <code_t> <int> (<float> (total[x] + area / 2) / <float> area)


# -- gradients -------------------------------------------------------------------------------------

def normed_gradients(const code_t[:, :, ::1] averages, Py_ssize_t step, code_t[::1] scratch, code_t[:, ::1] out,
                     Py_ssize_t start, Py_ssize_t stop):
    """Write min(|gx| + |gy|, 255) for rows [start, stop), gx and gy the largest differences of the three colours.

    They are differences of the two neighbours at distance step; the border is repeated outwards.
    averages: (rows, 3, columns); scratch: 3 rows with step more codes on both sides.
    """
    cdef Py_ssize_t row, last = averages.shape[0] - 1, n = averages.shape[2]
    with nogil:
        for row in range(start, stop):
            extend_lines(&averages[row, 0, 0], step, &scratch[0], n)
            differ(&scratch[0], &averages[max(row - step, 0), 0, 0], &averages[min(row + step, last), 0, 0], step,
                   &out[row, 0], n)


cdef void extend_lines(const code_t* line, Py_ssize_t step, code_t* out, Py_ssize_t n) noexcept nogil:
    """Copy the lines of the three colours and repeat their ends."""
    cdef Py_ssize_t _colour, x
    for _colour in range(RGB):
        for x in range(step):
            out[x], out[step + n + x] = line[0], line[n - 1]
        for x in range(n):
            out[step + x] = line[x]
        line += n
        out += n + 2 * step


cdef inline code_t difference(code_t a, code_t b) noexcept nogil:
    return <code_t> (max(a, b) - min(a, b))


cdef void differ(codes_in_t line, codes_in_t above, codes_in_t below, Py_ssize_t step, codes_out_t out,
                 Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t x, right = 2 * step, green = n + 2 * step, blue = 2 * green
    cdef code_t across, down
    for x in range(n):
        across = max(max(difference(line[x], line[x + right]), difference(line[x + green], line[x + green + right])),
                     difference(line[x + blue], line[x + blue + right]))
        down = max(max(difference(above[x], below[x]), difference(above[x + n], below[x + n])),
                   difference(above[x + 2 * n], below[x + 2 * n]))
        out[x] = <code_t> (across + min(down, <code_t> (255 - across)))


def score_gradients(const code_t[::strided, ::contiguous] gradients, const float[:, ::1] weights, bint normalised,
                    Py_ssize_t step, int[::1] scratch, float[:, ::1] scores, Py_ssize_t start, Py_ssize_t stop):
    """Write weights . NG of the windows of rows [start, stop), divided by (mean NG + 4) if normalised.

    gradients: the first one is the first point of the first window; weights: (16, 8); scratch: a row of windows.
    """
    cdef Py_ssize_t row, y, n = scores.shape[1]
    with nogil:
        for row in range(start, stop):
            scores[row, :] = 0
            for y in range(ROWS):
                add_weighted(&gradients[row + y * step, 0], &weights[y, 0], step, &scores[row, 0], n)
            if normalised:
                scratch[:n] = 0
                for y in range(ROWS):
                    add_plain(&gradients[row + y * step, 0], step, &scratch[0], n)
                divide_by_mean(&scratch[0], ROWS * COLUMNS, &scores[row, 0], n)


cdef void add_weighted(codes_in_t p, const float* w, Py_ssize_t s, floats_out_t total, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t x
    cdef float w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3], w4 = w[4], w5 = w[5], w6 = w[6], w7 = w[7]
    for x in range(n):
        total[x] = (total[x] + w0 * <float> p[x] + w1 * <float> p[x + s] + w2 * <float> p[x + 2 * s]
                    + w3 * <float> p[x + 3 * s] + w4 * <float> p[x + 4 * s] + w5 * <float> p[x + 5 * s]
                    + w6 * <float> p[x + 6 * s] + w7 * <float> p[x + 7 * s])


cdef void add_plain(codes_in_t p, Py_ssize_t s, numbers_out_t total, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t x
    for x in range(n):
        total[x] += (p[x] + p[x + s] + p[x + 2 * s] + p[x + 3 * s]
                     + p[x + 4 * s] + p[x + 5 * s] + p[x + 6 * s] + p[x + 7 * s])


cdef void divide_by_mean(const int* total, float share, floats_out_t score, Py_ssize_t n) noexcept nogil:
    """Divide scores by total / share + 4; `share` is a power of two, so that the first quotient is exact."""
    cdef Py_ssize_t x
    for x in range(n):
        score[x] = score[x] / (<float> total[x] / share + 4)


# -- words -----------------------------------------------------------------------------------------

def pack_words(const code_t[::strided, ::contiguous] gradients, Py_ssize_t step, code_t[:, ::1] scratch,
               key_t[:, :, ::1] words, Py_ssize_t start, Py_ssize_t stop):
    """Write the words of bits 4 to 7 of 8 x 8 gradients from each cell on to the right and down, rows [start, stop).

    The first row is the upper byte, the first column the upper bit of a byte. words: (rows, 4, columns), bit 4 first;
    scratch: 2 rows of words with 7 * step more codes.
    """
    cdef Py_ssize_t row, bit, y
    cdef Py_ssize_t n = words.shape[2]
    with nogil:
        for row in range(start, stop):
            for bit in range(BITS):
                if row - step >= start:  # the word above lacks only its next row
                    pack_row(&gradients[row + (HALF - 1) * step, 0], bit, step, &scratch[0, 0], &scratch[1, 0], n)
                    append_row(&words[row - step, bit, 0], &scratch[0, 0], &words[row, bit, 0], n)
                    continue
                words[row, bit, :] = 0
                for y in range(HALF):
                    pack_row(&gradients[row + y * step, 0], bit, step, &scratch[0, 0], &scratch[1, 0], n)
                    append_row(&words[row, bit, 0], &scratch[0, 0], &words[row, bit, 0], n)


cdef void pack_row(codes_in_t line, Py_ssize_t bit, Py_ssize_t s, codes_out_t code, codes_out_t other,
                   Py_ssize_t n) noexcept nogil:
    """Write n bytes of one bit of 8 gradients at distance s: bits become pairs, pairs fours, and fours bytes."""
    cdef Py_ssize_t x
    cdef code_t mask = <code_t> (1 << (LOWEST + bit))
    for x in range(n + 7 * s):
        code[x] = (line[x] & mask) != 0
    for x in range(n + 6 * s):
        other[x] = <code_t> (code[x] << 1 | code[x + s])
    for x in range(n + 4 * s):
        code[x] = <code_t> (other[x] << 2 | other[x + 2 * s])
    for x in range(n):
        code[x] = <code_t> (code[x] << 4 | code[x + 4 * s])


cdef void append_row(const key_t* above, codes_in_t code, key_t* out, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t x
    for x in range(n):
        out[x] = above[x] << 8 | code[x]


def score_words(const key_t[:, :, ::1] words, const key_t[:, ::1] bases, const float[::1] coefficients,
                bint normalised, Py_ssize_t step, int[:, ::1] scratch, float[:, ::1] scores,
                Py_ssize_t start, Py_ssize_t stop):
    """Write sum_j c_j sum_k 2^k (2 |a_j & b_k| - |b_k|) of the windows of rows [start, stop), |.| the number of bits.

    words: by `pack_words`, 8 * step rows more than windows; bases a_j: (n, 2), upper word first. If normalised, scores
    are divided by (mean + 4), mean being that of the gradients without their lower bits. scratch: 2 rows of windows.
    """
    cdef Py_ssize_t row, j, n = scores.shape[1]
    cdef key_t every_bit = ~<key_t> 0
    with nogil:
        for row in range(start, stop):
            weigh_bits(&words[row, 0, 0], &words[row + HALF * step, 0, 0], every_bit, every_bit, &scratch[0, 0], n)
            scores[row, :] = 0
            for j in range(bases.shape[0]):
                weigh_bits(&words[row, 0, 0], &words[row + HALF * step, 0, 0], bases[j, 0], bases[j, 1],
                           &scratch[1, 0], n)
                add_base(&scratch[0, 0], &scratch[1, 0], coefficients[j], &scores[row, 0], n)
            if normalised:
                divide_by_mean(&scratch[0, 0], HALF, &scores[row, 0], n)


cdef inline key_t in_fours(key_t word) noexcept nogil:
    """Count the bits of each four bits."""
    word = word - (word >> 1 & <key_t> 0x5555555555555555)
    return (word & <key_t> 0x3333333333333333) + (word >> 2 & <key_t> 0x3333333333333333)


cdef inline key_t in_bytes(key_t low, key_t high) noexcept nogil:
    """Count the bits of each byte, those of `high` twice: at most 24."""
    cdef key_t fours = in_fours(low) + 2 * in_fours(high)  # at most 12
    return (fours & <key_t> 0x0F0F0F0F0F0F0F0F) + (fours >> 4 & <key_t> 0x0F0F0F0F0F0F0F0F)


cdef void weigh_bits(words_in_t upper, words_in_t lower, key_t a, key_t b, numbers_out_t out,
                     Py_ssize_t n) noexcept nogil:
    """Write sum_k 2^k times the bits of word k that are set in a mask, for n windows side by side.

    There is no instruction for this in the baseline, nor for many words at once in AVX2. These are loops of
    additions and shifts, which become vectors in both.
    """
    cdef Py_ssize_t x
    cdef key_t total
    for x in range(n):
        total = in_bytes(upper[x] & a, upper[n + x] & a) + in_bytes(lower[x] & b, lower[n + x] & b)
        total += 4 * (in_bytes(upper[2 * n + x] & a, upper[3 * n + x] & a)
                      + in_bytes(lower[2 * n + x] & b, lower[3 * n + x] & b))  # at most 240 per byte
        total = (total & <key_t> 0x00FF00FF00FF00FF) + (total >> 8 & <key_t> 0x00FF00FF00FF00FF)
        total += total >> 32
        total += total >> 16
        out[x] = <int> (total & 0xFFFF)


cdef void add_base(const int* every, const int* some, float coefficient, floats_out_t total,
                   Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t x
    for x in range(n):
        total[x] += coefficient * <float> (2 * some[x] - every[x])
