"""Images and channels to other sizes, and channels smoothed where they stand: (rows, columns, values of a pixel)."""

from libc.string cimport memcpy

from paucens._kernels.statistics cimport const_row_t, row_t
from paucens._kernels.types cimport code_t, index_t, pixel_t

cdef enum:
    RGB = 3


# -- resampling ------------------------------------------------------------------------------------

cdef void add_row(const pixel_t* row, float weight, row_t total, Py_ssize_t n, bint first) noexcept nogil:
    cdef Py_ssize_t x
    if first:
        for x in range(n):
            total[x] = weight * <float> row[x]
    else:
        for x in range(n):
            total[x] += weight * <float> row[x]


cdef void mix_rows(const pixel_t[:, :, ::1] source, Py_ssize_t top, const float[::1] weights,
                   float* line) noexcept nogil:
    """Write the weighted sum of the source rows from `top` on; rows of weight 0 are not read."""
    cdef Py_ssize_t t, n = source.shape[1] * source.shape[2]
    cdef bint first = True
    for t in range(weights.shape[0]):
        if weights[t] != 0:
            add_row(&source[top + t, 0, 0], weights[t], line, n, first)
            first = False


cdef inline pixel_t rounded(float value, pixel_t* kind) noexcept nogil:
    return <pixel_t> (value + <float> .5) if pixel_t is code_t else <pixel_t> value


cdef void mix_colours(const float* line, const index_t[::1] left, const float[:, ::1] weights,
                      pixel_t* out) noexcept nogil:
    """Write the pixels of a row of RGB."""
    cdef Py_ssize_t x, t
    cdef float r, g, b, weight
    cdef const float* p
    for x in range(left.shape[0]):
        p = line + RGB * left[x]
        r = g = b = 0
        for t in range(weights.shape[1]):
            weight = weights[x, t]
            r += weight * p[RGB * t]
            g += weight * p[RGB * t + 1]
            b += weight * p[RGB * t + 2]
        out[RGB * x], out[RGB * x + 1], out[RGB * x + 2] = rounded(r, out), rounded(g, out), rounded(b, out)


cdef void mix_channels(const float* line, const index_t[::1] left, const float[:, ::1] weights, row_t total,
                       Py_ssize_t n_channels, pixel_t* out) noexcept nogil:
    """Write the pixels of a row of many channels, using `total` to sum up those of one."""
    cdef Py_ssize_t x, t, c
    for x in range(left.shape[0]):
        for t in range(weights.shape[1]):
            add_row(line + (left[x] + t) * n_channels, weights[x, t], total, n_channels, t == 0)
        for c in range(n_channels):
            out[x * n_channels + c] = rounded(total[c], out)


def resample(const pixel_t[:, :, ::1] source, const index_t[::1] top, const float[:, ::1] row_weights,
             const index_t[::1] left, const float[:, ::1] column_weights, float[::1] scratch,
             pixel_t[:, :, ::1] out, Py_ssize_t start, Py_ssize_t stop):
    """Write rows [start, stop) of an image whose pixels are weighted sums of a rectangle of the source's.

    Pixel (y, x) comes from the source's rows top[y] + t and columns left[x] + u with weights row_weights[y, t] *
    column_weights[x, u]. Bytes are rounded. Source and out are contiguous; `scratch` has a source row and a pixel.
    """
    cdef Py_ssize_t y, n = source.shape[1] * source.shape[2]
    with nogil:
        for y in range(start, stop):
            mix_rows(source, top[y], row_weights[y], &scratch[0])
            if source.shape[2] == RGB:
                mix_colours(&scratch[0], left, column_weights, &out[y, 0, 0])
            else:
                mix_channels(&scratch[0], left, column_weights, &scratch[n], source.shape[2], &out[y, 0, 0])


# -- smoothing -------------------------------------------------------------------------------------

def smooth_cells(float[:, :, :] cells, float centre, float side, float[:, ::1] scratch,
                 Py_ssize_t start, Py_ssize_t stop):
    """Smooth channels [start, stop) by [side centre side] both ways, borders repeated, in place.

    `scratch` is three rows of cells of these channels. Channels of a cell lie side by side.
    """
    cdef Py_ssize_t y, x, n = stop - start, rows = cells.shape[0], cols = cells.shape[1]
    cdef float* above = &scratch[0, 0]
    cdef float* row = &scratch[1, 0]
    cdef float* between = &scratch[2, 0]
    with nogil:
        for y in range(rows if n > 0 and cols > 0 else 0):
            for x in range(cols):
                memcpy(row + x * n, &cells[y, x, start], n * sizeof(float))
            if y == 0:
                memcpy(above, row, cols * n * sizeof(float))
            for x in range(cols):
                weigh(centre, side, row + x * n, above + x * n,
                      &cells[y + 1, x, start] if y + 1 < rows else row + x * n, between + x * n, n)
            for x in range(cols):
                weigh(centre, side, between + x * n, between + max(x - 1, 0) * n,
                      between + min(x + 1, cols - 1) * n, &cells[y, x, start], n)
            above, row = row, above


cdef inline void weigh(float centre, float side, const_row_t middle, const_row_t one, const_row_t other, row_t out,
                       Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t c
    for c in range(n):
        out[c] = centre * middle[c] + side * (one[c] + other[c])
