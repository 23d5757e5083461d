"""RGB to LUV, gradients and orientation histograms. Rows stream through rings: only M and O are ever whole.

Rows of a ring have a pixel more at both ends, a copy of the border pixel: so the symmetric border of a triangle of
radius 1 and one-sided differences need no branch.
"""

from libc.math cimport fabsf, sqrtf
from libc.string cimport memset

from paucens._kernels.colours cimport PLANES, lighten, luma, luv_row
from paucens._kernels.histograms cimport PLACES, bin_row, blend_row, divide_row, pool_row, raise_ends
from paucens._kernels.histograms cimport weigh_columns, weigh_rows, write_bins, write_means
from paucens._kernels.statistics cimport atan_unit, const_row_t, row_t
from paucens._kernels.types cimport code_t, pixel_t

cdef enum:
    KEPT = 4  # rows of a ring; a power of two, of which three are in use


# -- colour ----------------------------------------------------------------------------------------

def luv(const pixel_t[:, :, ::1] rgb, const float[::1] table, float[:, :, ::1] planes,
        Py_ssize_t start, Py_ssize_t stop):
    """Write rows [start, stop) of the planes L, U, V."""
    cdef Py_ssize_t y, w = planes.shape[2]
    with nogil:
        for y in range(start, stop):
            luv_row(&rgb[y, 0, 0], table, &planes[0, y, 0], &planes[1, y, 0], &planes[2, y, 0], w)


def luminance(const pixel_t[:, :, ::1] rgb, const float[::1] table, float[:, ::1] plane,
              Py_ssize_t start, Py_ssize_t stop):
    """Write rows [start, stop) of L, the same bits as `luv`'s."""
    cdef Py_ssize_t x, y, w = plane.shape[1]
    cdef const pixel_t* p
    cdef float* row
    cdef float white = <float> 255 if pixel_t is code_t else <float> 1
    with nogil:
        for y in range(start, stop):
            p, row = &rgb[y, 0, 0], &plane[y, 0]
            for x in range(w):
                row[x] = luma(<float> p[PLANES * x] / white, <float> p[PLANES * x + 1] / white,
                              <float> p[PLANES * x + 2] / white)
            lighten(row, table, w)


# -- gradient --------------------------------------------------------------------------------------

cdef inline void pad_row(float* row, Py_ssize_t w) noexcept nogil:
    """Copy the border pixels of row[1 .. w] outwards."""
    row[0], row[w + 1] = row[1], row[w]


cdef void smooth_row(float centre, float side, const_row_t above, const_row_t row, const_row_t below,
                     row_t between, row_t out, Py_ssize_t w) noexcept nogil:
    """Write the row smoothed by [side centre side] both ways; all rows are padded."""
    cdef Py_ssize_t x
    for x in range(w + 2):
        between[x] = centre * row[x] + side * (above[x] + below[x])
    for x in range(1, w + 1):
        out[x] = centre * between[x] + side * (between[x - 1] + between[x + 1])
    pad_row(out, w)


cdef void steepest(const_row_t slope_x, float slope_y, const_row_t above, const_row_t row, const_row_t below,
                   row_t gx, row_t gy, row_t square, Py_ssize_t w) noexcept nogil:
    """Keep the larger of the gradient so far and this plane's; the earlier plane wins ties. Entry x is pixel x.

    Slopes are .5 inside, and 1 where a neighbour is a copy: one-sided differences. Before the first plane gx and gy are
    0, and the square is -1.
    """
    cdef Py_ssize_t x
    cdef float dx, dy, s, take, keep
    for x in range(w):
        dx, dy = (row[x + 2] - row[x]) * slope_x[x], (below[x + 1] - above[x + 1]) * slope_y
        s = dx * dx + dy * dy
        take = 1 if s > square[x] else 0  # a sum with weights 0 and 1: three choices would become a branch
        keep = <float> 1 - take
        gx[x], gy[x], square[x] = take * dx + keep * gx[x], take * dy + keep * gy[x], take * s + keep * square[x]


cdef void polar(const_row_t gx, const_row_t gy, const_row_t square, row_t magnitude, row_t orientation,
                Py_ssize_t w) noexcept nogil:
    """Write M and O: acos(Gx / M), Gx with the sign changed where Gy < 0, at most pi - 1e-6; pi / 2 without gradient.

    From the arc tangent, which float32 carries to 3.1e-7 everywhere; the arc cosine loses 3e-4 near 0 and pi.
    """
    cdef Py_ssize_t x
    cdef float ax, ay, larger, smaller, bend, turned, left, signed_x
    cdef float half_pi = 1.5707963267948966, pi = 3.141592653589793, cap = 3.141591653589793
    for x in range(w):  # both sides of every choice are computed first: so the loop has no branch
        ax, ay, left = fabsf(gx[x]), fabsf(gy[x]), -gx[x]
        larger = ax if ax > ay else ay
        smaller = ay if ax > ay else ax
        larger = larger if larger > 0 else <float> 1
        bend = atan_unit(smaller / larger)
        turned = half_pi - bend
        bend = bend if ax > ay else turned
        turned = pi - bend
        turned = turned if turned < cap else cap
        signed_x = left if gy[x] < 0 else gx[x]
        orientation[x] = turned if signed_x < 0 else bend
        magnitude[x] = sqrtf(square[x])


# -- the ten channels ------------------------------------------------------------------------------

cdef struct rings_t:
    float* raw        # KEPT rows of three planes, each a padded row
    float* smooth     # the same, smoothed
    float* sums       # three rows, over the rows of a cell; behind them three for the gradient or a row half smoothed
    float* slopes     # one row
    Py_ssize_t width  # of a padded row


cdef inline float* ring_row(float* ring, Py_ssize_t y, Py_ssize_t plane, Py_ssize_t width) noexcept nogil:
    return ring + ((y & (KEPT - 1)) * PLANES + plane) * width


cdef void gradient_row(rings_t* rings, Py_ssize_t y, Py_ssize_t h, float* magnitude, float* orientation) noexcept nogil:
    """Write M and O of row y from the smoothed rows around it."""
    cdef Py_ssize_t k, up = max(y - 1, 0), down = min(y + 1, h - 1), n = rings.width, w = n - 2
    cdef float* scratch = rings.sums + PLANES * n
    memset(scratch, 0, 2 * n * sizeof(float))
    for k in range(w):
        scratch[2 * n + k] = -1  # any gradient is larger
    for k in range(PLANES):
        steepest(rings.slopes, <float> .5 if down - up == 2 else <float> 1, ring_row(rings.smooth, up, k, n),
                 ring_row(rings.smooth, y, k, n), ring_row(rings.smooth, down, k, n),
                 scratch, scratch + n, scratch + 2 * n, w)
    polar(scratch, scratch + n, scratch + 2 * n, magnitude, orientation, w)


def colour_and_gradient(const pixel_t[:, :, ::1] rgb, bint converted, const float[::1] table, Py_ssize_t cell,
                        float centre, float side, float[::1] scratch, float[:, :, :] colour, float[:, ::1] magnitude,
                        float[:, ::1] orientation, Py_ssize_t start, Py_ssize_t stop):
    """Write L, U, V of cell rows [start, stop), and M and O of their pixels, from LUV smoothed by [side centre side].

    `rgb` holds L, U and V already if it is `converted`. A cell has 2 or 4 pixels a side. `colour` is (rows, 3,
    columns). It, or `magnitude` with `orientation`, may be empty: then they are not wanted. `scratch` has
    (2 KEPT + 2) PLANES + 1 padded rows.
    """
    cdef Py_ssize_t h = cell * (rgb.shape[0] // cell), w = cell * (rgb.shape[1] // cell), k, y, n = w + 2, made
    cdef bint is_colour = colour.shape[1] > 0, is_gradient = magnitude.shape[0] > 0
    cdef Py_ssize_t first = max(cell * start - is_gradient, 0), last = min(cell * stop + is_gradient, h)
    cdef rings_t rings
    if stop <= start or w == 0:
        return
    rings.raw, rings.width = &scratch[0], n
    rings.smooth = rings.raw + KEPT * PLANES * n
    rings.sums = rings.smooth + KEPT * PLANES * n
    rings.slopes = rings.sums + 2 * PLANES * n
    for k in range(w):
        rings.slopes[k] = .5
    rings.slopes[0] = rings.slopes[w - 1] = 1
    with nogil:
        made = max(first - 1, 0)  # rows below this one are in the ring
        for y in range(first, last):
            while made < min(y + 2, h):
                load_row(&rgb[made, 0, 0], converted, table, ring_row(rings.raw, made, 0, n), n)
                made += 1
            for k in range(PLANES):
                smooth_row(centre, side, ring_row(rings.raw, max(y - 1, 0), k, n), ring_row(rings.raw, y, k, n),
                           ring_row(rings.raw, min(y + 1, h - 1), k, n), rings.sums + PLANES * n,
                           ring_row(rings.smooth, y, k, n), w)
            if is_colour and cell * start <= y < cell * stop:
                pool_row(ring_row(rings.smooth, y, 0, n), rings.sums, PLANES * n, y % cell == 0)
                if y % cell == cell - 1:
                    for k in range(PLANES):
                        write_means(rings.sums + k * n + 1, colour, y // cell, k, cell)
            if is_gradient and y > cell * start:
                gradient_row(&rings, y - 1, h, &magnitude[y - 1, 0], &orientation[y - 1, 0])
        if is_gradient and last == h:
            gradient_row(&rings, h - 1, h, &magnitude[h - 1, 0], &orientation[h - 1, 0])


cdef inline void load_row(const pixel_t* rgb, bint converted, const float[::1] table, float* planes,
                          Py_ssize_t n) noexcept nogil:
    """Write the padded rows of L, U and V."""
    cdef Py_ssize_t k, x
    if converted:
        for x in range(n - 2):
            for k in range(PLANES):
                planes[k * n + 1 + x] = <float> rgb[PLANES * x + k]
    else:
        luv_row(rgb, table, planes + 1, planes + n + 1, planes + 2 * n + 1, n - 2)
    for k in range(PLANES):
        pad_row(planes + k * n, n - 2)


# -- normalisation and histograms ------------------------------------------------------------------

def smooth_planes(const float[:, :, ::1] planes, const float[::1] taps, float[::1] scratch,
                  float[:, :, ::1] out, Py_ssize_t start, Py_ssize_t stop):
    """Write rows [start, stop) of planes smoothed both ways by a symmetric filter; scratch has w + 2 len(taps)."""
    cdef Py_ssize_t k, y, reach = taps.shape[0]
    with nogil:
        for k in range(planes.shape[0]):
            for y in range(start, stop):
                weigh_rows(planes[k], taps, y, &scratch[reach])
                weigh_columns(&scratch[reach], taps, &out[k, y, 0], planes.shape[2])


cdef struct normal_t:
    float* line    # a row of M, smoothed down, with room for its mirror images
    float* row     # of normalised M
    float* sums    # over the rows of a cell
    float* total   # bins of a row of cells
    Py_ssize_t width, reach


cdef inline normal_t places(float[::1] scratch, Py_ssize_t w, Py_ssize_t reach) noexcept nogil:
    """Share out scratch: rows with room for the filter, two or, with cells of 2 pixels, four for the bins."""
    cdef Py_ssize_t n = w + 2 * reach
    cdef normal_t own
    own.line, own.row, own.sums, own.total = &scratch[reach], &scratch[n], &scratch[2 * n], &scratch[3 * n]
    own.width, own.reach = w, reach
    return own


cdef inline void normalise(const float[:, ::1] magnitude, const float[::1] taps, Py_ssize_t y,
                           normal_t own) noexcept nogil:
    weigh_rows(magnitude, taps, y, own.line)
    weigh_columns(own.line, taps, own.row, own.width)
    divide_row(&magnitude[y, 0], own.row, own.width)


def normalise_and_bin(const float[:, ::1] magnitude, const float[:, ::1] orientation, const float[::1] taps,
                      Py_ssize_t cell, float[::1] scratch, float[:, :, :] mean, float[:, :, :] bins, Py_ssize_t start,
                      Py_ssize_t stop):
    """Write cell rows [start, stop) of M / (M smoothed by taps + .005) and of its six orientation bins.

    A cell has 2 or 4 pixels a side. `mean` (rows, 1, columns) or `bins` (rows, 6, columns) may be empty. `scratch` has
    3 + 8 / cell rows of w + 2 len(taps).
    """
    cdef Py_ssize_t y, w = magnitude.shape[1], n_cells = w // cell
    cdef normal_t own
    if stop <= start:
        return
    own = places(scratch, w, taps.shape[0])
    with nogil:
        for y in range(cell * start, cell * stop):
            normalise(magnitude, taps, y, own)
            if mean.shape[1]:
                pool_row(own.row, own.sums, w, y % cell == 0)
                if y % cell == cell - 1:
                    write_means(own.sums, mean, y // cell, 0, cell)
            if bins.shape[1]:
                if y % cell == 0:
                    memset(own.total, 0, PLACES * n_cells * sizeof(float))
                if cell == 4:
                    bin_row(own.row, &orientation[y, 0], own.total, n_cells, 4)
                else:
                    bin_row(own.row, &orientation[y, 0], own.total, n_cells, 2)
                if y % cell == cell - 1:
                    write_bins(own.total, bins, y // cell, <float> 1 / <float> (cell * cell))


def normalise_and_blend(const float[:, ::1] magnitude, const float[:, ::1] orientation, const float[::1] taps,
                        Py_ssize_t cell, float[::1] scratch, float[:, :, :] bins, Py_ssize_t start, Py_ssize_t stop):
    """Write cell rows [start, stop) of the six bins of `normalise_and_bin`, pixels shared among neighbouring cells.

    Each pixel belongs to the nearest two cells down and across, by its distance from their middles. Cells at the border
    get 7/8 of what others get, and are raised by 8/7.
    """
    cdef Py_ssize_t y, row, w = magnitude.shape[1], n_cells = w // cell, n_rows = magnitude.shape[0] // cell
    cdef float weight, gain, border = <float> (8.0 / 7)
    cdef normal_t own
    if stop <= start:
        return
    own = places(scratch, w, taps.shape[0])
    with nogil:
        for row in range(start, stop):
            memset(own.total, 0, PLACES * n_cells * sizeof(float))
            for y in range(max(cell * row - cell // 2, 0), min(cell * (row + 1) + cell // 2, cell * n_rows)):
                normalise(magnitude, taps, y, own)
                weight = 1 - fabsf((<float> y + <float> .5) / <float> cell - (<float> row + <float> .5))
                blend_row(own.row, &orientation[y, 0], weight, own.total, n_cells, cell)
            gain = <float> 1 / <float> (cell * cell)
            gain = gain * border if row == 0 else gain
            write_bins(own.total, bins, row, gain * border if row == n_rows - 1 else gain)
            raise_ends(bins, row, border)
