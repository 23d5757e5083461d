# Rows of RGB to L, U and V as Dollar scales them: CIE's over 270, of U and V what exceeds their lowest, -88 and -134.

from paucens._kernels.statistics cimport row_t
from paucens._kernels.types cimport code_t, pixel_t

cdef enum:
    PLANES = 3


cdef inline float cube_root(float x) noexcept nogil:
    """Return the cube root for x in [.008, 1], relative error below 9e-8.

    A quartic (within 5.7 %), a step of Halley's and a step of Newton's method.
    """
    cdef float y = <float> 0.18447 + x * (
        <float> 3.96686 + x * (<float> -12.0746 + x * (<float> 16.7225 + x * <float> -7.85611)))
    cdef float cube = y * y * y
    y = y * (cube + <float> 2 * x) / (<float> 2 * cube + x)
    return y + (x / (y * y) - y) * <float> (1.0 / 3)


cdef inline float luma(float r, float g, float b) noexcept nogil:
    """Return Y of XYZ."""
    return (<float> .222015 * r + <float> .706655 * g) + <float> .071330 * b


cdef inline float lightness(float y) noexcept nogil:
    """Return L of Y, in [0, .37]."""
    cdef float knee = <float> .008856451679035631, steep = <float> (903.2962962962963 / 270)  # (6/29)^3, (29/3)^3
    cdef float bright = <float> (116.0 / 270) * cube_root(y if y > knee else knee) - <float> (16.0 / 270)
    cdef float dark = steep * y
    return bright if y > knee else dark


cdef inline void convert(float white, row_t red, row_t green, row_t blue, Py_ssize_t w) noexcept nogil:
    """Replace R, G, B by Y, u' - un and v' - vn."""
    cdef Py_ssize_t i
    cdef float r, g, b, x, y, z, total
    for i in range(w):
        r, g, b = red[i] / white, green[i] / white, blue[i] / white
        x = (<float> .430574 * r + <float> .341550 * g) + <float> .178325 * b
        y = luma(r, g, b)
        z = (<float> .020183 * r + <float> .129553 * g) + <float> .939180 * b
        total = ((x + <float> 15 * y) + <float> 3 * z) + <float> 1e-35
        red[i] = y
        green[i] = <float> 4 * x / total - <float> .197833
        blue[i] = <float> 9 * y / total - <float> .468331


cdef inline void lighten(float* row, const float[::1] table, Py_ssize_t w) noexcept nogil:
    """Replace Y by L: from a table at floor(1024 Y), or by the formula where the table is empty."""
    cdef Py_ssize_t x
    if table.shape[0]:
        for x in range(w):
            row[x] = table[<Py_ssize_t> (<float> 1024 * row[x])]
    else:
        for x in range(w):
            row[x] = lightness(row[x])


cdef inline void luv_row(const pixel_t* rgb, const float[::1] table, float* l, float* u, float* v,
                         Py_ssize_t w) noexcept nogil:
    """Write a row of L, U and V."""
    cdef Py_ssize_t x
    for x in range(w):
        l[x], u[x], v[x] = <float> rgb[PLANES * x], <float> rgb[PLANES * x + 1], <float> rgb[PLANES * x + 2]
    convert(<float> 255 if pixel_t is code_t else <float> 1, l, u, v, w)
    lighten(l, table, w)
    for x in range(w):
        u[x] = <float> 13 * l[x] * u[x] + <float> (88.0 / 270)
        v[x] = <float> 13 * l[x] * v[x] + <float> (134.0 / 270)
