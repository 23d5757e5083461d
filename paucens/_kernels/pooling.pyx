"""Images and channels to other sizes, (rows, columns, values of a pixel), and strips smoothed where they stand."""

from cython.view cimport contiguous, strided
from libc.string cimport memcpy

from paucens._kernels.statistics cimport const_row_t, row_t
from paucens._kernels.types cimport code_t, index_t, pixel_t

cdef enum:
    RGB = 3
    BLOCK = 32  # values of a row that are summed up in registers

cdef float NOTHING = -0.  # added to any number, also to -0, it changes nothing


# -- resampling ------------------------------------------------------------------------------------

cdef void mix_block(const pixel_t* rows, Py_ssize_t stride, const float[::1] weights, float* line) noexcept nogil:
    """Write the weighted sum of BLOCK values in some rows; it stays in registers."""
    cdef Py_ssize_t t, x
    cdef float[BLOCK] total
    for x in range(BLOCK):
        total[x] = NOTHING
    for t in range(weights.shape[0]):
        if weights[t] != 0:
            for x in range(BLOCK):
                total[x] += weights[t] * <float> rows[t * stride + x]
    for x in range(BLOCK):
        line[x] = total[x]


cdef void mix_rows(const pixel_t[:, :, ::1] source, Py_ssize_t top, const float[::1] weights,
                   float* line) noexcept nogil:
    """Write the weighted sum of the source rows from `top` on; rows of weight 0 are not read."""
    cdef Py_ssize_t k, x, t, n = source.shape[1] * source.shape[2]
    cdef const pixel_t* rows = &source[top, 0, 0]
    for k in range(n // BLOCK):
        mix_block(rows + BLOCK * k, n, weights, line + BLOCK * k)
    for x in range(n - n % BLOCK, n):
        line[x] = NOTHING
        for t in range(weights.shape[0]):
            if weights[t] != 0:
                line[x] += weights[t] * <float> rows[t * n + x]


cdef void mix_colours(const float* line, const index_t[::1] left, const float[:, ::1] weights,
                      float* mixed) noexcept nogil:
    """Write the pixels of a row of RGB.

    Four values at a time make a vector: the fourth is the next pixel's, and written over by it. Both rows have one more
    value at their end.
    """
    cdef Py_ssize_t x, t, c
    cdef const float* p
    cdef float[RGB + 1] total
    for x in range(left.shape[0]):
        p = line + RGB * left[x]
        for c in range(RGB + 1):
            total[c] = 0
        for t in range(weights.shape[1]):
            if weights[x, t] >= 0:  # always; without a branch, compilers take several t at a time, which is slower
                for c in range(RGB + 1):
                    total[c] += weights[x, t] * p[RGB * t + c]
        for c in range(RGB + 1):
            mixed[RGB * x + c] = total[c]


cdef void mix_channels(const float* line, const index_t[::1] left, const float[:, ::1] weights,
                       Py_ssize_t n_channels, float* mixed) noexcept nogil:
    """Write the pixels of a row of many channels."""
    cdef Py_ssize_t x, t
    for x in range(left.shape[0]):
        for t in range(weights.shape[1]):
            add(line + (left[x] + t) * n_channels, weights[x, t], mixed + x * n_channels, n_channels, t == 0)


cdef inline void add(const_row_t row, float weight, row_t total, Py_ssize_t n, bint first) noexcept nogil:
    cdef Py_ssize_t x
    if first:
        for x in range(n):
            total[x] = weight * row[x]
    else:
        for x in range(n):
            total[x] += weight * row[x]


cdef void write_row(const float* row, pixel_t* out, Py_ssize_t n) noexcept nogil:
    """Write values as pixels, bytes rounded."""
    cdef Py_ssize_t x
    for x in range(n):
        out[x] = <pixel_t> <int> (row[x] + <float> .5) if pixel_t is code_t else <pixel_t> row[x]


def resample(const pixel_t[:, :, ::1] source, const index_t[::1] top, const float[:, ::1] row_weights,
             const index_t[::1] left, const float[:, ::1] column_weights, float[::1] scratch,
             pixel_t[::strided, ::strided, ::contiguous] out, Py_ssize_t start, Py_ssize_t stop):
    """Write rows [start, stop) of an image whose pixels are weighted sums of a rectangle of the source's.

    Pixel (y, x) comes from the source's rows top[y] + t and columns left[x] + u with weights row_weights[y, t] *
    column_weights[x, u]. Bytes are rounded. `scratch` has a row of the source, one of out, and a value behind each.
    """
    cdef Py_ssize_t y, n = source.shape[1] * source.shape[2], n_out = out.shape[1] * out.shape[2]
    cdef float* line = &scratch[0]
    cdef float* mixed = line + n + 1
    with nogil:
        line[n] = 0
        for y in range(start, stop):
            mix_rows(source, top[y], row_weights[y], line)
            if source.shape[2] == RGB:
                mix_colours(line, left, column_weights, mixed)
            else:
                mix_channels(line, left, column_weights, source.shape[2], mixed)
            write_row(mixed, &out[y, 0, 0], n_out)


def repeat_border(pixel_t[:, :, ::1] image, Py_ssize_t down, Py_ssize_t across):
    """Write the outer rows and columns, so many on each side: copies of the nearest pixel inside."""
    cdef Py_ssize_t y, x, c, height = image.shape[0], n = image.shape[2], row = image.shape[1] * n
    cdef pixel_t* first
    cdef pixel_t* last
    with nogil:
        for y in range(down, height - down):
            first, last = &image[y, across, 0], &image[y, image.shape[1] - 1 - across, 0]
            for x in range(1, across + 1):
                for c in range(n):
                    first[c - x * n], last[c + x * n] = first[c], last[c]
        for y in range(down):
            memcpy(&image[y, 0, 0], &image[down, 0, 0], row * sizeof(pixel_t))
            memcpy(&image[height - 1 - y, 0, 0], &image[height - 1 - down, 0, 0], row * sizeof(pixel_t))


# -- smoothing -------------------------------------------------------------------------------------

def smooth_cells(float[::strided, ::strided, ::contiguous] strips, float centre, float side, float[::1] scratch,
                 Py_ssize_t start, Py_ssize_t stop):
    """Smooth channels [start, stop) by [side centre side] both ways, borders repeated, in place.

    `strips` is (rows, channels, columns). `scratch` has room for two rows of these channels, and for a row of one of
    them with a cell more at both ends.
    """
    cdef Py_ssize_t y, k, n = strips.shape[2]
    cdef float* above = &scratch[0]
    cdef float* row = above + (stop - start) * n
    cdef float* between = row + (stop - start) * n  # with a cell more at both ends
    cdef float* here
    with nogil:
        for y in range(strips.shape[0] if n > 0 else 0):
            for k in range(stop - start):
                here = &strips[y, start + k, 0]
                memcpy(row + k * n, here, n * sizeof(float))
                weigh(centre, side, row + k * n, (above if y else row) + k * n,
                      &strips[y + 1, start + k, 0] if y + 1 < strips.shape[0] else row + k * n, between + 1, n)
                between[0], between[n + 1] = between[1], between[n]
                weigh(centre, side, between + 1, between, between + 2, here, n)
            above, row = row, above


cdef inline void weigh(float centre, float side, const_row_t middle, const_row_t one, const_row_t other, row_t out,
                       Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t x
    for x in range(n):
        out[x] = centre * middle[x] + side * (one[x] + other[x])
