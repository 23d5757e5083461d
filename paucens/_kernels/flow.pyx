"""Motion: in which directions the flow differs between a pixel and its neighbours a cell away, summed over cells."""

from libc.math cimport atan2f, sqrtf

cdef enum:
    CELL = 4
    BINS = 6
    OFFSETS = 3  # a cell below, to the right, and both

cdef float BINS_PER_RADIAN = 0.954929658551372


def bin_differences(const float[:, :, ::1] flow, float largest, float[:, :, :] out, Py_ssize_t start, Py_ssize_t stop):
    """Write the mean histograms of the cells in rows [start, stop); see `paucens.features.flow.flow_channels`.

    `flow` is (height, width, 2) and holds whole cells; `out` is (rows, columns, OFFSETS * BINS).
    """
    cdef Py_ssize_t row, column, k, b
    cdef float[BINS] histogram
    with nogil:
        for row in range(start, stop):
            for column in range(out.shape[1]):
                for k in range(OFFSETS):
                    bin_cell(flow, largest, CELL * row, CELL * column, CELL * (k != 1), CELL * (k != 0), histogram)
                    for b in range(BINS):
                        out[row, column, k * BINS + b] = histogram[b] / (CELL * CELL)


cdef void bin_cell(const float[:, :, ::1] flow, float largest, Py_ssize_t top, Py_ssize_t left, Py_ssize_t down,
                   Py_ssize_t right, float* histogram) noexcept nogil:
    """Sum the histograms of the pixels of a cell; the other pixel is so far down and right, with 0 outside."""
    cdef Py_ssize_t y, x, k
    cdef float across, along, size, place, share
    cdef bint inside
    for k in range(BINS):
        histogram[k] = 0
    for y in range(top, top + CELL):
        for x in range(left, left + CELL):
            inside = y + down < flow.shape[0] and x + right < flow.shape[1]
            across, along = -scaled(flow[y, x, 0], largest), -scaled(flow[y, x, 1], largest)
            if inside:
                across += scaled(flow[y + down, x + right, 0], largest)
                along += scaled(flow[y + down, x + right, 1], largest)
            size = sqrtf(across * across + along * along)
            if not size > 0:  # of nan neither
                continue
            place = atan2f(along, across) * BINS_PER_RADIAN
            place += BINS * (place < 0)
            k = <Py_ssize_t> place
            share = place - k
            histogram[k % BINS] += size * (1 - share)
            histogram[(k + 1) % BINS] += size * share


cdef inline float scaled(float value, float largest) noexcept nogil:
    value = largest if value > largest else value
    return (-largest if value < -largest else value) / largest
