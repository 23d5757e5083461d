# The seven statistics of a row of pixels (the paper's Section 3.1): M, O2, O1, |Ix|, |Iy|, |Ixx|, |Iyy|.
#
# Rows are padded with a copy of the border pixel, and `slope` is .5 inside and 1 where the neighbour is such a copy:
# so central differences become one-sided ones, and halves of second differences |first differences|, without a branch.

from libc.math cimport fabsf, sqrtf

cdef extern from *:
    """
    typedef float *__restrict row_t;
    typedef const float *__restrict const_row_t;
    """
    ctypedef float* row_t              # rows that overlap no other: what lets the compiler use vectors
    ctypedef const float* const_row_t

cdef enum:
    STATISTICS = 7


cdef inline float atan_unit(float t) noexcept nogil:
    """Return atan(t) for t in [0, 1], within 1.3e-7 (weighted least squares towards the minimax polynomial)."""
    cdef float s = t * t
    cdef float a = 0.999999336, b = -0.333298608, c = 0.199465655, d = -0.139086286
    cdef float e = 0.0964219493, f = -0.0559122931, g = 0.021862934, h = -0.00405456048
    return t * (a + s * (b + s * (c + s * (d + s * (e + s * (f + s * (g + s * h)))))))


cdef inline void differentiate(const_row_t above, const_row_t row, const_row_t below, const_row_t slope_x,
                               float slope_y, row_t gx, row_t gy, row_t gxx, row_t gyy, Py_ssize_t n) noexcept nogil:
    """Write the signed first derivatives and the absolute second ones; entry c belongs to pixel c + 1 of the rows."""
    cdef Py_ssize_t c
    for c in range(n):
        gx[c] = (row[c + 2] - row[c]) * slope_x[c]
        gy[c] = (below[c + 1] - above[c + 1]) * slope_y
        gxx[c] = fabsf((row[c + 2] + row[c]) - <float> 2 * row[c + 1]) * slope_x[c]
        gyy[c] = fabsf((below[c + 1] + above[c + 1]) - <float> 2 * row[c + 1]) * slope_y


cdef inline void keep_larger(const_row_t gx, const_row_t gy, const_row_t gxx, const_row_t gyy,
                             row_t best_x, row_t best_y, row_t best_xx, row_t best_yy, Py_ssize_t n) noexcept nogil:
    """Replace the best derivatives where the others have the larger gradient; the earlier plane wins ties."""
    cdef Py_ssize_t c
    cdef bint larger
    for c in range(n):
        larger = gx[c] * gx[c] + gy[c] * gy[c] > best_x[c] * best_x[c] + best_y[c] * best_y[c]
        best_x[c] = gx[c] if larger else best_x[c]
        best_y[c] = gy[c] if larger else best_y[c]
        best_xx[c] = gxx[c] if larger else best_xx[c]
        best_yy[c] = gyy[c] if larger else best_yy[c]


cdef inline void measure(const_row_t gx, const_row_t gy, row_t magnitude, row_t signed_angle, row_t angle,
                         row_t along_x, row_t along_y, Py_ssize_t n) noexcept nogil:
    """Write M, O2, O1, |Ix| and |Iy|.

    O1 = atan(|Iy| / |Ix|). O2 = acos(Ix / M), Ix with the sign changed where Iy < 0, at most pi - 1e-6 (Dollar's
    rule): it is O1 or pi - O1. Both are pi / 2 at zero gradient. Between colours of equal U or V, Iy is what their
    rounding leaves: down to -1e-6 it counts as 0, lest O2 be 0 or pi by chance.
    """
    cdef Py_ssize_t c
    cdef float ax, ay, larger, smaller, bend, turned
    cdef float half_pi = 1.5707963267948966, pi = 3.141592653589793, cap = 3.141591653589793, rounding = 1e-6
    for c in range(n):
        ax, ay = fabsf(gx[c]), fabsf(gy[c])
        along_x[c], along_y[c] = ax, ay
        magnitude[c] = sqrtf(ax * ax + ay * ay)
        larger = ax if ax > ay else ay
        smaller = ay if ax > ay else ax
        bend = atan_unit(smaller / (larger if larger > 0 else <float> 1))
        bend = bend if ax > ay else half_pi - bend
        angle[c] = bend
        turned = pi - bend
        turned = turned if turned < cap else cap
        signed_angle[c] = turned if (-gx[c] if gy[c] < -rounding else gx[c]) < 0 else bend
