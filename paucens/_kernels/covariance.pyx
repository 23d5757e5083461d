"""Pooled covariance of seven statistics of the pixels, for patches of 4, 8, 16 and 32 pixels in one pass.

An image is worked through in tiles of SPAN columns, and a tile in chunks of four rows, [4m - 1, 4m + 3): the windows
whose last row lies in a chunk are those that a cell pools. `moments.pxd` has the sums that all else comes from.
"""

from cython.view cimport contiguous, strided
from libc.math cimport INFINITY, sqrtf
from libc.stdint cimport uint8_t, uintptr_t

from paucens._kernels.moments cimport ANOTHER, CHANNELS, ITSELF, LEVELS, ROWS, SPAN, WIDE, X, Y
from paucens._kernels.moments cimport Feature, Moments, Partner
from paucens._kernels.moments cimport contrast_pixels, contrast_rows, contrast_windows
from paucens._kernels.moments cimport products_of_pixels, products_of_windows
from paucens._kernels.statistics cimport STATISTICS, const_row_t, differentiate, keep_larger, measure, row_t
from paucens._kernels.types cimport index_t

cdef enum:
    PIXELS = LEVELS    # in the place of a level: the statistics themselves
    CELLS = 48         # of a tile: SPAN / 4

cdef struct Tile:      # all that a tile keeps, and where it is
    Moments moments
    float[SPAN + 4] best
    float[STATISTICS][SPAN] maxima   # of the statistics over those rows of a cell that have been seen
    float[LEVELS + 1][CHANNELS][CELLS] cells
    float[WIDE] slope
    float[3][WIDE + 8] lines
    float[2][WIDE] gradient
    float[4][WIDE] others
    Py_ssize_t x0, columns
    Py_ssize_t[LEVELS + 1] n_inside  # columns with a patch inside the image
    Py_ssize_t[LEVELS + 1] n_cells
    Py_ssize_t[LEVELS + 1] row       # of the cells that the chunk completes
    Py_ssize_t[LEVELS + 1] first     # row and column of the chunk and the cell that are pooled,
    Py_ssize_t[LEVELS + 1] n_rows    # and how many rows: none, one or all four
    Py_ssize_t[LEVELS] slot          # of the ring, for the chunk

cdef struct Plan:      # what is wanted of an image
    Py_ssize_t n_planes, height, width, start, stop, top_level
    bint pooled
    Py_ssize_t[LEVELS + 1] channel   # the first of a patch size, -1 where it is not wanted
    Py_ssize_t[LEVELS + 1] shift     # cells between that of a patch's first pixel and its own
    Py_ssize_t[LEVELS + 1] offset    # the row and column of four that counts without pooling
    float[LEVELS + 1][CHANNELS] factor, lowest, highest
    const char* planes
    float floor                      # variances up to this count as none
    const float* ridge               # is added to variances under the root
    char* out
    Py_ssize_t plane_stride, line_stride, row_stride, channel_stride  # bytes


cdef inline Py_ssize_t n_windows(const Tile* tile, Py_ssize_t level) noexcept nogil:
    """Return how many columns have windows of a level; the last of 1 and of 4 pixels reach beyond the tile."""
    return tile.columns - (ROWS << level) if 0 < level < LEVELS else tile.columns


cdef inline Py_ssize_t place(Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Return the channel of features i and j <= i of [x, y, the seven]: rows from the third, columns up to i."""
    return i * (i + 1) // 2 + j - 3


# -- from sums to channels -------------------------------------------------------------------------

cdef void invert_roots(const_row_t d, row_t scale, float floor, float ridge, Py_ssize_t n) noexcept nogil:
    """Write 1 / sqrt(D + ridge), 0 where D is at most `floor`, in the rows of the chunk."""
    cdef Py_ssize_t k, c
    cdef float x
    for k in range(ROWS):
        for c in range(k * SPAN, k * SPAN + n):
            x = d[c] + ridge
            x = <float> 1 / sqrtf(x if d[c] > floor else <float> 1)
            scale[c] = x if d[c] > floor else <float> 0


cdef inline float largest(float a, float b) noexcept nogil:
    return a if a > b else b


cdef inline float entry(Partner partner, const float* d, const float* a, const float* b, Py_ssize_t c) noexcept nogil:
    """Return a variance or a correlation, up to a factor that a patch size has."""
    if partner == ITSELF:
        return d[c]
    if partner == ANOTHER:
        return d[c] * (a[c] * b[c])
    return d[c] * b[c]


cdef inline void pool_rows(Partner partner, const_row_t d, const_row_t a, const_row_t b, row_t best,
                           Py_ssize_t n_rows, Py_ssize_t n) noexcept nogil:
    """Write the maxima of entries over one row, or four."""
    cdef Py_ssize_t c
    if n_rows == 1:
        for c in range(n):
            best[c] = entry(partner, d, a, b, c)
    else:
        for c in range(n):
            best[c] = largest(
                largest(entry(partner, d, a, b, c), entry(partner, d, a, b, SPAN + c)),
                largest(entry(partner, d, a, b, 2 * SPAN + c), entry(partner, d, a, b, 3 * SPAN + c)))


cdef void collect(Tile* tile, bint pooled, Py_ssize_t level, Py_ssize_t channel) noexcept nogil:
    """Put a channel into the cells of a level: the maximum of four columns each, or one."""
    cdef Py_ssize_t c, g, inside = tile.n_inside[level]
    if pooled:
        for c in range(inside, inside + 3):  # where the image ends amidst a cell
            tile.best[c] = tile.best[inside - 1]
        for g in range(tile.n_cells[level]):
            tile.cells[level][channel][g] = largest(largest(tile.best[4 * g], tile.best[4 * g + 1]),
                                                    largest(tile.best[4 * g + 2], tile.best[4 * g + 3]))
    else:
        for g in range(tile.n_cells[level]):
            tile.cells[level][channel][g] = tile.best[tile.first[level] + ROWS * g]


cdef void hand_over(const Plan* plan, Tile* tile, Py_ssize_t level, Py_ssize_t n_channels) noexcept nogil:
    """Write the cells of a level, scaled and within bounds.

    Were each channel written as soon as it is collected, the whole would take a tenth longer.
    """
    cdef Py_ssize_t g, channel
    cdef float value, factor, lowest, highest
    cdef const_row_t cells
    cdef row_t out
    for channel in range(n_channels):
        factor, lowest = plan.factor[level][channel], plan.lowest[level][channel]
        highest, cells = plan.highest[level][channel], tile.cells[level][channel]
        out = <float*> (plan.out + tile.row[level] * plan.row_stride
                        + (plan.channel[level] + channel) * plan.channel_stride) + tile.x0 // ROWS + plan.shift[level]
        for g in range(tile.n_cells[level]):
            value = largest(cells[g] * factor, lowest)
            out[g] = value if value < highest else highest


cdef inline void correlate(Partner partner, const Plan* plan, Tile* tile, Py_ssize_t i, Py_ssize_t j,
                           Py_ssize_t channel) noexcept nogil:
    """Carry on D of statistics i and j, or of x or y and j, and collect its channel at every level."""
    cdef Moments* m = &tile.moments
    cdef Feature* a = &m.features[i]
    cdef Feature* b = &m.features[j]
    cdef Py_ssize_t level, n, first, side
    cdef float* d
    cdef float n_less
    products_of_pixels(partner, m, i, j, channel, tile.columns)
    for level in range(plan.top_level + 1):
        n, first, side = n_windows(tile, level), tile.first[level], 2 << level
        d = m.total[level & 1][0]
        if level:
            products_of_windows(partner, a.left[level][0], b.left[level][0], a.top[level][0], b.top[level][0],
                                m.total[(level - 1) & 1][0], m.pairs[channel].ring[tile.slot[level]][0], d, side, n)
        if tile.n_rows[level]:
            if partner == ITSELF:
                n_less = 4 * side * side - 1
                invert_roots(d, a.scale[level][0], plan.floor * n_less, plan.ridge[i] * n_less, n)
            pool_rows(partner, d + first * SPAN, a.scale[level][first], b.scale[level][first], tile.best,
                      tile.n_rows[level], n)
            collect(tile, plan.pooled, level, channel)


# -- a chunk of rows -------------------------------------------------------------------------------

cdef void load_line(const float* row, Py_ssize_t width, Py_ssize_t x, row_t line, Py_ssize_t n) noexcept nogil:
    """Copy n pixels from column x - 1 on, the border pixel for those outside."""
    cdef Py_ssize_t c, inside = min(width - x + 1, n)
    line[0] = row[x - 1 if x else 0]
    for c in range(1, inside):
        line[c] = row[x - 1 + c]
    for c in range(inside, n):
        line[c] = row[width - 1]


cdef void measure_row(const Plan* plan, Tile* tile, Py_ssize_t y, Py_ssize_t k) noexcept nogil:
    """Write the statistics of pixels (y, x0 ...) as row k of the chunk."""
    cdef Py_ssize_t p, n = tile.columns + 8, last = plan.height - 1, stride = plan.line_stride
    cdef const char* plane
    cdef Feature* f = tile.moments.features
    cdef float slope = 0.5 if 0 < y < last else 1
    for p in range(plan.n_planes):
        plane = plan.planes + p * plan.plane_stride
        load_line(<const float*> (plane + max(y - 1, 0) * stride), plan.width, tile.x0, tile.lines[0], n + 2)
        load_line(<const float*> (plane + y * stride), plan.width, tile.x0, tile.lines[1], n + 2)
        load_line(<const float*> (plane + min(y + 1, last) * stride), plan.width, tile.x0, tile.lines[2], n + 2)
        if p == 0:
            differentiate(tile.lines[0], tile.lines[1], tile.lines[2], tile.slope, slope,
                          tile.gradient[0], tile.gradient[1], f[5].value[k], f[6].value[k], n)
        else:
            differentiate(tile.lines[0], tile.lines[1], tile.lines[2], tile.slope, slope,
                          tile.others[0], tile.others[1], tile.others[2], tile.others[3], n)
            keep_larger(tile.others[0], tile.others[1], tile.others[2], tile.others[3],
                        tile.gradient[0], tile.gradient[1], f[5].value[k], f[6].value[k], n)
    measure(tile.gradient[0], tile.gradient[1], f[0].value[k], f[1].value[k], f[2].value[k], f[3].value[k],
            f[4].value[k], n)


cdef void pool_statistics(const Plan* plan, Tile* tile) noexcept nogil:
    """Write the maxima of each statistic over the cells that the first row of the chunk completes."""
    cdef Py_ssize_t i, c
    cdef float* seen
    cdef const float* value
    for i in range(STATISTICS):
        seen, value = tile.maxima[i], tile.moments.features[i].value[0]
        if tile.n_rows[PIXELS]:
            for c in range(tile.n_inside[PIXELS]):
                tile.best[c] = largest(seen[c], value[c])
            collect(tile, True, PIXELS, i)
        for c in range(tile.n_inside[PIXELS]):
            seen[c] = largest(value[WIDE + c], largest(value[2 * WIDE + c], value[3 * WIDE + c]))


cdef void contrast(const Plan* plan, Tile* tile, Feature* f) noexcept nogil:
    """Write all contrasts of a statistic in the chunk."""
    cdef Moments* m = &tile.moments
    cdef Py_ssize_t k, level, n = tile.columns
    for k in range(ROWS):
        contrast_pixels(f.value[k], f.left1[k], f.left2[k], m.total[0][k], n)
    contrast_rows(f.history[0], m.total[0][0], f.top1[0], f.top2[0], n)
    for level in range(1, plan.top_level + 1):
        for k in range(ROWS):
            contrast_windows(m.total[(level - 1) & 1][k], f.ring[tile.slot[level]][k], f.left[level][k],
                             f.top[level][k], m.total[level & 1][k], 2 << level, n_windows(tile, level))


cdef void plan_chunk(const Plan* plan, Tile* tile, Py_ssize_t chunk) noexcept nogil:
    """Note, level by level, where the ring stands and which cells the chunk completes."""
    cdef Py_ssize_t level, lag
    cdef bint last = ROWS * chunk == plan.height  # only its first row is in the image
    for level in range(LEVELS + 1):
        lag = 1 if level == PIXELS else 1 << level  # chunks from a patch's first row to its last
        tile.row[level] = chunk - lag + plan.shift[level]
        tile.first[level] = plan.offset[level]
        tile.n_rows[level] = ROWS if plan.pooled and not last else 1
        if (plan.channel[level] < 0 or chunk < lag or not plan.start <= tile.row[level] < plan.stop
                or last and plan.offset[level] > 0 or tile.n_cells[level] == 0):
            tile.n_rows[level] = 0
        if 0 < level < LEVELS:
            tile.slot[level] = (1 << (level - 1)) - 1 + (chunk & ((1 << (level - 1)) - 1))


cdef void describe_chunk(const Plan* plan, Tile* tile, Py_ssize_t chunk) noexcept nogil:
    """Take in four rows, from 4 chunk - 1 (those outside of the image repeat the border); write what they complete."""
    cdef Py_ssize_t i, j, k, level
    plan_chunk(plan, tile, chunk)
    for k in range(ROWS):
        measure_row(plan, tile, min(max(ROWS * chunk - 1 + k, 0), plan.height - 1), k)
    pool_statistics(plan, tile)
    for i in range(STATISTICS):
        contrast(plan, tile, &tile.moments.features[i])
        correlate(ITSELF, plan, tile, i, i, place(i + 2, i + 2))
    for i in range(STATISTICS):
        correlate(X, plan, tile, i, i, place(i + 2, 0))
        correlate(Y, plan, tile, i, i, place(i + 2, 1))
        for j in range(i):
            correlate(ANOTHER, plan, tile, i, j, place(i + 2, j + 2))
    for level in range(LEVELS + 1):
        if tile.n_rows[level]:
            hand_over(plan, tile, level, STATISTICS if level == PIXELS else CHANNELS)


cdef void describe_tile(const Plan* plan, Tile* tile, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Work through chunks [begin, end) of the tile."""
    cdef Py_ssize_t c, chunk, level, side
    for c in range(tile.columns + 8):
        tile.slope[c] = 0.5 if 0 < tile.x0 + c < plan.width - 1 else 1
    for level in range(LEVELS + 1):
        side = 1 if level == PIXELS else ROWS << level
        tile.n_inside[level] = max(min(plan.width - tile.x0 - side + 1, n_windows(tile, level)), 0)
        tile.n_cells[level] = max(tile.n_inside[level] - plan.offset[level] + ROWS - 1, 0) // ROWS
    for chunk in range(begin, end):
        describe_chunk(plan, tile, chunk)


# -- an image --------------------------------------------------------------------------------------

def scratch_bytes():
    """Return how many bytes a call needs for itself."""
    return sizeof(Tile) + 64


cdef void plan_levels(Plan* plan, const index_t[:, ::1] levels, bint clipped) noexcept:
    """Note what is wanted of each patch size, and the scale and bounds of its channels."""
    cdef Py_ssize_t level, i, j
    cdef float n
    for level in range(LEVELS + 1):
        n = (ROWS << level) ** 2
        plan.channel[level] = levels[level, 0]
        plan.shift[level], plan.offset[level] = levels[level, 1], levels[level, 2]
        for j in range(CHANNELS):
            plan.factor[level][j], plan.lowest[level][j], plan.highest[level][j] = 1, 0 if clipped else -1, 1
        for i in range(2, STATISTICS + 2):
            plan.factor[level][place(i, 0)] = plan.factor[level][place(i, 1)] = sqrtf(12 / (n * (n - 1)))
            plan.factor[level][place(i, i)], plan.highest[level][place(i, i)] = 1 / (n - 1), INFINITY
    for j in range(STATISTICS):
        plan.factor[PIXELS][j], plan.highest[PIXELS][j] = 1, INFINITY


def covariance(const float[::strided, ::strided, ::contiguous] planes, const index_t[:, ::1] levels, bint pooled,
               bint clipped, float floor, const float[::1] ridge, float[::strided, ::strided, ::contiguous] out,
               uint8_t[::1] scratch, Py_ssize_t start, Py_ssize_t stop):
    """Write rows [start, stop) of the cells, (rows, channels, columns): 7 statistics, and 42 channels per patch size.

    `levels` has a row for patches of 4, 8, 16 and 32 pixels and one for the statistics: their first channel (-1: not
    wanted), by how many cells they are shifted, and which of the four rows and columns is the one that counts where
    nothing is pooled. Cells without a patch inside the image are left as they are. What stands in `scratch` before does
    not matter.
    """
    cdef Plan plan
    cdef Py_ssize_t level, widest, columns, begin = start, end = stop, n_tiles, step, t
    cdef Tile* tile = <Tile*> ((<uintptr_t> &scratch[0] + 63) & ~<uintptr_t> 63)
    plan.n_planes, plan.height, plan.width = planes.shape[0], ROWS * out.shape[0], ROWS * out.shape[2]
    plan.planes, plan.out = <const char*> &planes[0, 0, 0], <char*> &out[0, 0, 0]
    plan.plane_stride, plan.line_stride = planes.strides[0], planes.strides[1]
    plan.row_stride, plan.channel_stride = out.strides[0], out.strides[1]
    plan.floor, plan.ridge = floor, &ridge[0]
    plan.pooled, plan.start, plan.stop, plan.top_level = pooled, start, stop, 0
    plan_levels(&plan, levels, clipped)
    for level in range(LEVELS):
        if plan.channel[level] >= 0:
            plan.top_level = level
            begin = min(begin, start - plan.shift[level])
            end = max(end, stop - 1 + (1 << level) - plan.shift[level])
    begin, end = max(begin, 0), min(end, plan.height // ROWS)
    # Tiles overlap by the widest patch, and their windows must reach to the end of the cell of the last.
    widest = max(ROWS << plan.top_level, 8)
    columns = max(plan.width + ROWS - widest, 8)
    n_tiles = (columns + SPAN - widest - 1) // (SPAN - widest)
    step = ((columns + n_tiles - 1) // n_tiles + 7) // 8 * 8
    n_tiles = (columns + step - 1) // step
    tile.columns = step + widest
    with nogil:
        for t in range(n_tiles):
            tile.x0 = t * step
            describe_tile(&plan, tile, begin, end + 1)
