# Rows smoothed by a symmetric filter, normalised, pooled over cells, and binned. A cell has 2 or 4 pixels a side.

from libc.string cimport memcpy

from paucens._kernels.statistics cimport const_row_t, row_t

cdef enum:
    BINS = 6
    PLACES = 8  # of a cell while its bins are summed up; bin 6 is bin 0 again


cdef inline Py_ssize_t reflect(Py_ssize_t y, Py_ssize_t n) noexcept nogil:
    """Return where in range(n) y falls when the range is continued by its mirror images, borders repeated."""
    y = y % (2 * n)
    y = y + 2 * n if y < 0 else y
    return y if y < n else 2 * n - 1 - y


cdef inline void weigh_rows(const float[:, ::1] plane, const float[::1] taps, Py_ssize_t y, float* out) noexcept nogil:
    """Write sum over k of taps[|k|] times row y + k."""
    cdef Py_ssize_t k, x, h = plane.shape[0], w = plane.shape[1]
    cdef const_row_t above
    cdef const_row_t below
    cdef row_t total = out
    cdef float tap = taps[0]
    above = &plane[y, 0]
    for x in range(w):
        total[x] = tap * above[x]
    for k in range(1, taps.shape[0]):
        above, below, tap = &plane[reflect(y - k, h), 0], &plane[reflect(y + k, h), 0], taps[k]
        for x in range(w):
            total[x] += tap * (above[x] + below[x])


cdef inline void weigh_columns(float* row, const float[::1] taps, row_t out, Py_ssize_t w) noexcept nogil:
    """Write sum over k of taps[|k|] times row[x + k]; there is room for the mirror image at both ends of the row."""
    cdef Py_ssize_t k, x
    cdef const_row_t r = row
    cdef float tap = taps[0]
    for k in range(1, taps.shape[0]):
        row[-k], row[w - 1 + k] = row[reflect(-k, w)], row[reflect(w - 1 + k, w)]
    for x in range(w):
        out[x] = tap * r[x]
    for k in range(1, taps.shape[0]):
        tap = taps[k]
        for x in range(w):
            out[x] += tap * (r[x - k] + r[x + k])


cdef inline void divide_row(const_row_t magnitude, row_t normal, Py_ssize_t w) noexcept nogil:
    """Divide M by its smoothed value, which stands in `normal`, plus .005."""
    cdef Py_ssize_t x
    for x in range(w):
        normal[x] = magnitude[x] / (normal[x] + <float> .005)


cdef inline void pool_row(const float* row, float* sums, Py_ssize_t n, bint first) noexcept nogil:
    """Add a row to the sums over the rows of a cell, or begin them."""
    cdef Py_ssize_t x
    if first:
        memcpy(sums, row, n * sizeof(float))
    else:
        for x in range(n):
            sums[x] += row[x]


cdef inline void write_means(const float* sums, float[:, :, :] out, Py_ssize_t row, Py_ssize_t channel,
                             Py_ssize_t cell) noexcept nogil:
    """Write the means of the cells of a row, from sums over their rows."""
    cdef Py_ssize_t i
    cdef const float* s
    if cell == 2:
        for i in range(out.shape[2]):
            out[row, channel, i] = (sums[2 * i] + sums[2 * i + 1]) * <float> (1.0 / 4)
        return
    for i in range(out.shape[2]):
        s = sums + 4 * i
        out[row, channel, i] = ((s[0] + s[1]) + (s[2] + s[3])) * <float> (1.0 / 16)


cdef inline void bin_row(const_row_t magnitude, const_row_t orientation, row_t total, Py_ssize_t n_cells,
                         Py_ssize_t cell) noexcept nogil:
    """Add M to the two bins nearest to O; fast if `cell` is a constant."""
    cdef Py_ssize_t i, j
    cdef float position, upper
    cdef float* bins
    for i in range(n_cells):
        for j in range(cell):
            position = orientation[cell * i + j] * <float> (BINS / 3.141592653589793)
            bins = total + PLACES * i + <int> position
            upper = (position - <float> <int> position) * magnitude[cell * i + j]
            bins[0] += magnitude[cell * i + j] - upper
            bins[1] += upper


cdef inline void blend_row(const float* magnitude, const float* orientation, float weight, float* total,
                           Py_ssize_t n_cells, Py_ssize_t cell) noexcept nogil:
    """Add M times a weight to the two bins nearest to O in the two cells nearest to the pixel, as far as there are two.

    Their shares fall linearly with the distance from the middle of the cell.
    """
    cdef Py_ssize_t x, left
    cdef float position, place, lower, upper, share
    cdef float* bins
    for x in range(cell * n_cells):
        position = orientation[x] * <float> (BINS / 3.141592653589793)
        place = (<float> x + <float> .5) / <float> cell + <float> .5  # behind the middle of the cell left of the image
        left = <Py_ssize_t> place - 1
        share = weight * (place - <float> (left + 1))
        bins = total + PLACES * left + <int> position
        upper = (position - <float> <int> position) * magnitude[x]
        lower = magnitude[x] - upper
        if left + 1 < n_cells:
            bins[PLACES] += share * lower
            bins[PLACES + 1] += share * upper
        if left >= 0:
            bins[0] += (weight - share) * lower
            bins[1] += (weight - share) * upper


cdef inline void write_bins(const float* total, float[:, :, :] out, Py_ssize_t row, float gain) noexcept nogil:
    """Write the bins of the cells of a row times a gain."""
    cdef Py_ssize_t i, k
    cdef const float* t
    for i in range(out.shape[2]):
        t = total + PLACES * i
        out[row, 0, i] = (t[0] + t[BINS]) * gain
        for k in range(1, BINS):
            out[row, k, i] = t[k] * gain


cdef inline void raise_ends(float[:, :, :] bins, Py_ssize_t row, float gain) noexcept nogil:
    """Multiply the first and the last cell of a row by a gain."""
    cdef Py_ssize_t k
    for k in range(bins.shape[1] if bins.shape[2] else 0):
        bins[row, k, 0] *= gain
        bins[row, k, bins.shape[2] - 1] *= gain
