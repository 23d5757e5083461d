# Histograms of packed weights, and the best split of one column.

from libc.stdlib cimport qsort
from libc.string cimport memset

from paucens._kernels.types cimport code_t, index_t, sum_t

cdef extern from *:
    bint unlikely(bint condition) nogil  # of Cython: predicted to be false

cdef enum:
    BINS = 256
    MISSING = 255  # the bin of missing values, in columns that have some
    SET_BYTES = 32  # of a set of bins
    CATEGORIES = 2  # of the kinds of columns, see `best_split`


cdef inline sum_t signed_sum(sum_t packed) noexcept nogil:
    return packed >> 32


cdef inline sum_t magnitude(sum_t packed) noexcept nogil:
    return packed & <sum_t> 0xFFFFFFFFU


cdef struct Split:
    double gain
    Py_ssize_t column     # position in `columns`
    Py_ssize_t code       # bins up to this one go left
    bint missing_left     # whether missing values go left
    sum_t left            # packed weight of the left child
    code_t[SET_BYTES] left_set  # for categories: bit c says whether bin c goes left


cdef struct Category:
    sum_t packed
    int code


cdef inline sum_t absolute(sum_t x) noexcept nogil:
    return x if x >= 0 else -x


cdef inline double leaf_gain(sum_t packed, double ridge) noexcept nogil:
    """Return S^2 / (W + r) for a node with real leaves; 0 without weight."""
    cdef double inside = <double> signed_sum(packed), mass = <double> magnitude(packed) + ridge
    return inside * inside / mass if mass > 0 else 0.0


cdef inline double least_gain(sum_t total, bint real_leaves, double ridge) noexcept nogil:
    """Return what the gain of a split must exceed, see `scan_real` and `scan_sign`.

    A real gain below 1e-12 of the node's own value is rounding.
    """
    return leaf_gain(total, ridge) * (1 + 1e-12) if real_leaves else 0.0


cdef inline void scan_sign(const sum_t* histogram, Py_ssize_t n_bins, sum_t total, Py_ssize_t column,
                           Split* best) noexcept nogil:
    """Gain |S_left| + |S_right| - |S|: twice the decrease of the weighted error of sign leaves."""
    cdef Py_ssize_t code, found = -1
    cdef sum_t left = 0, inside, gain, whole = signed_sum(total), most = <sum_t> best.gain + absolute(whole)
    for code in range(n_bins - 1):
        left += histogram[code]
        inside = signed_sum(left)
        gain = absolute(inside) + absolute(whole - inside)
        if gain > most:
            most = gain
            found = code
            best.left = left
    if found >= 0:
        best.gain = <double> (most - absolute(whole))
        best.column = column
        best.code = found


cdef inline void scan_real(const sum_t* histogram, Py_ssize_t n_bins, sum_t total, double ridge, Py_ssize_t column,
                           Split* best) noexcept nogil:
    cdef Py_ssize_t code = -1
    cdef sum_t left = 0
    cdef double gain
    while True:
        code += 1
        while code < n_bins - 1 and histogram[code] == 0:
            code += 1
        if code >= n_bins - 1:
            return
        left += histogram[code]
        if left == total:
            return
        gain = leaf_gain(left, ridge) + leaf_gain(total - left, ridge)
        if gain > best.gain:
            best.gain = gain
            best.column = column
            best.code = code
            best.left = left


cdef inline void offer(sum_t left, Py_ssize_t code, bint missing_left, sum_t total, bint real_leaves, double ridge,
                       Py_ssize_t column, Split* best) noexcept nogil:
    """Keep a split if it is better than the best one so far."""
    cdef sum_t whole = signed_sum(total), inside = signed_sum(left)
    cdef double gain
    if real_leaves:
        gain = leaf_gain(left, ridge) + leaf_gain(total - left, ridge)
    else:
        gain = <double> (absolute(inside) + absolute(whole - inside) - absolute(whole))
    if gain > best.gain:
        best.gain, best.column, best.code = gain, column, code
        best.missing_left, best.left = missing_left, left


cdef inline void scan_missing(const sum_t* histogram, Py_ssize_t n_bins, sum_t total, bint real_leaves, double ridge,
                              Py_ssize_t column, Split* best) noexcept nogil:
    """Scan a column of which values are missing: each split with them on the left and on the right.

    The last one has them alone on the right. The others divide the values that are there.
    """
    cdef Py_ssize_t code
    cdef sum_t missing = histogram[MISSING], known = total - missing, left = 0
    for code in range(n_bins - 1):
        if histogram[code] == 0:
            continue
        left += histogram[code]
        if left == known:
            break
        offer(left + missing, code, True, total, real_leaves, ridge, column, best)
        offer(left, code, False, total, real_leaves, ridge, column, best)
    if known != 0:
        offer(known, n_bins - 1, False, total, real_leaves, ridge, column, best)


# -- categories ------------------------------------------------------------------------------------

cdef inline int by_share(const void* a, const void* b) noexcept nogil:
    """Order categories by S / W, compared exactly; equal ones by their index."""
    cdef const Category* one = <const Category*> a
    cdef const Category* other = <const Category*> b
    cdef sum_t low = signed_sum(one.packed) * magnitude(other.packed)
    cdef sum_t high = signed_sum(other.packed) * magnitude(one.packed)
    if low != high:
        return -1 if low < high else 1
    return one.code - other.code


cdef inline void put(code_t* left_set, Py_ssize_t code, bint inside) noexcept nogil:
    """Put a bin into a set, or take it out."""
    if inside:
        left_set[code >> 3] |= <code_t> (1 << (code & 7))
    else:
        left_set[code >> 3] &= <code_t> ~(1 << (code & 7))


cdef inline void scan_categories(const sum_t* histogram, Py_ssize_t n_bins, sum_t total, bint real_leaves,
                                 double ridge, Py_ssize_t column, Split* best) noexcept nogil:
    """Scan the categories in the order of S / W, as a column of which values may be missing.

    The gain is a convex function of the sums of the left child. So no other set of categories has a larger one.
    """
    cdef Category present[BINS]
    cdef Py_ssize_t k, n = 0
    cdef sum_t missing = histogram[MISSING], left = 0
    for k in range(n_bins):
        if histogram[k] != 0:
            present[n].packed, present[n].code = histogram[k], <int> k
            n += 1
    qsort(present, n, sizeof(Category), by_share)
    for k in range(n - 1):
        left += present[k].packed
        if missing != 0:
            offer(left + missing, k, True, total, real_leaves, ridge, column, best)
        offer(left, k, False, total, real_leaves, ridge, column, best)
    if missing != 0 and n > 0:
        offer(total - missing, n - 1, False, total, real_leaves, ridge, column, best)
    if best.column == column:
        write_left_set(histogram, n_bins, total, present, best)


cdef inline void write_left_set(const sum_t* histogram, Py_ssize_t n_bins, sum_t total, const Category* present,
                                Split* best) noexcept nogil:
    """Turn a number of leading categories into a set; those of no weight go to the heavier child."""
    cdef Py_ssize_t k
    cdef bint heavier_left = left_is_heavier(best, total)
    if histogram[MISSING] == 0:
        best.missing_left = heavier_left
    memset(best.left_set, 255 if best.missing_left else 0, SET_BYTES)  # bins of no category are as missing ones
    for k in range(n_bins):
        put(best.left_set, k, heavier_left and histogram[k] == 0)
    for k in range(best.code + 1):
        put(best.left_set, present[k].code, True)
    best.code = 0


# -- all kinds -------------------------------------------------------------------------------------

cdef inline bint left_is_heavier(const Split* split, sum_t total) noexcept nogil:
    """Tell whether the left child has at least half of the weight."""
    return 2 * magnitude(split.left) >= magnitude(total)


cdef inline void scan(const sum_t* histogram, const index_t* bins, sum_t total, bint real_leaves, double ridge,
                      Py_ssize_t column, Split* best) noexcept nogil:
    """Keep the best split of a column if it is better than the best one so far.

    A node without missing values sends those that come later to its heavier child, the left one of equals.
    """
    if unlikely(bins[1] != 0):
        if bins[1] == CATEGORIES:
            scan_categories(histogram, bins[0], total, real_leaves, ridge, column, best)
            return
        if histogram[MISSING] != 0:
            scan_missing(histogram, bins[0], total, real_leaves, ridge, column, best)
            return
    if real_leaves:
        scan_real(histogram, bins[0], total, ridge, column, best)
    else:
        scan_sign(histogram, bins[0], total, column, best)
    if best.column == column:
        best.missing_left = left_is_heavier(best, total)


# -- histograms ------------------------------------------------------------------------------------

cdef inline void fill_four(const code_t* c0, const code_t* c1, const code_t* c2, const code_t* c3,
                           const index_t* rows, const sum_t* weights, Py_ssize_t n, sum_t* out) noexcept nogil:
    """Accumulate four columns at once, so that each row and its weight are loaded once and the sums are independent."""
    cdef Py_ssize_t k, row
    cdef sum_t weight
    for k in range(n):
        row = rows[k]
        weight = weights[k]
        out[c0[row]] += weight
        out[BINS + c1[row]] += weight
        out[2 * BINS + c2[row]] += weight
        out[3 * BINS + c3[row]] += weight


cdef inline void fill_one(const code_t* codes, const index_t* rows, const sum_t* weights, Py_ssize_t n,
                          sum_t* out) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[codes[rows[k]]] += weights[k]


# -- what the searches return ----------------------------------------------------------------------

cdef inline result(const Split* best, double base, const index_t[::1] columns, const index_t[:, ::1] bins):
    """Return what the searches return."""
    cdef index_t column
    if best.column < 0:
        return 0.0, -1, 0, False, 0, None
    column = columns[best.column]
    left_set = (<const char*> best.left_set)[:SET_BYTES] if bins[column, 1] == CATEGORIES else None
    return best.gain - base, column, best.code, best.missing_left, best.left, left_set
