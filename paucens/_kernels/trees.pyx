"""Growing of binned decision trees: quantise, histograms, best split.

Sums of weights are integers. A histogram entry packs two of them, S * 2**32 + W with
S the sum of signed weights and W the sum of their magnitudes. So one addition adds
both, and the histogram of a sibling is exactly parent minus child.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from paucens._kernels.splits cimport BINS, Split, fill_four, fill_one, least_gain, result, scan
from paucens._kernels.types cimport code_t, grid_t, index_t, real_t, sum_t

cdef enum:
    TILE = 16  # columns quantised together, so that a row-major X is read by cache lines


# -- binning ---------------------------------------------------------------------------------------

cdef inline code_t bin_of(double value, const double* thresholds) noexcept nogil:
    """Count the thresholds below `value` among 255, padded with infinity, by eight branchless halvings.

    NaN is above all of them, also above infinity, which is what sends it to bin 255.
    """
    cdef Py_ssize_t low = 0, step = BINS // 2
    while step > 0:
        low += step * (not value <= thresholds[low + step - 1])
        step >>= 1
    return <code_t> low


cdef void pad_thresholds(const double* thresholds, Py_ssize_t n, double* padded) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(BINS):
        padded[k] = thresholds[k] if k < n else INFINITY


def quantise(const real_t[:, :] X, const index_t[::1] order, const double[::1] thresholds,
             const index_t[::1] offsets, code_t[:, ::1] codes, Py_ssize_t start, Py_ssize_t stop):
    """Write the bins of columns [start, stop) of X[order] (n, d) into codes (d, n).

    Column j has the ascending thresholds[offsets[j]:offsets[j + 1]]; a value equal to a threshold
    belongs to the bin below it. NaN belongs to bin 255.
    """
    cdef Py_ssize_t row, source, column, width, tile = start
    cdef double padded[TILE][BINS]
    with nogil:
        while tile < stop:
            width = min(<Py_ssize_t> TILE, stop - tile)
            for column in range(width):
                pad_thresholds(&thresholds[0] + offsets[tile + column],
                               offsets[tile + column + 1] - offsets[tile + column], padded[column])
            for row in range(order.shape[0]):
                source = order[row]
                for column in range(width):
                    codes[tile + column, row] = bin_of(X[source, tile + column], padded[column])
            tile += width


# -- weights ---------------------------------------------------------------------------------------

def pack_weights(const grid_t[::1] weights, index_t[::1] rows, sum_t[::1] packed):
    """Write the rows of nonzero weight and their packed weights; return their number."""
    cdef Py_ssize_t row, n = 0
    cdef sum_t weight
    with nogil:
        for row in range(weights.shape[0]):
            weight = weights[row]
            if weight != 0:
                rows[n] = <index_t> row
                packed[n] = weight * <sum_t> 4294967296 + (weight if weight > 0 else -weight)  # C shifts no negatives
                n += 1
    return n


# -- histograms ------------------------------------------------------------------------------------

def fill_histograms(const code_t[:, ::1] codes, const index_t[::1] rows, const sum_t[::1] weights,
                    const index_t[::1] columns, sum_t[:, ::1] histograms, Py_ssize_t start, Py_ssize_t stop):
    """Sum the packed weights of the listed rows by bin, for columns[start:stop].

    rows, weights: the rows of the node with nonzero weight; histograms: (n_columns, 256), overwritten.
    """
    cdef Py_ssize_t k = start, n = rows.shape[0]
    with nogil:
        if start < stop:
            memset(&histograms[start, 0], 0, (stop - start) * BINS * sizeof(sum_t))
        if n > 0:
            while k + 4 <= stop:
                fill_four(&codes[columns[k], 0], &codes[columns[k + 1], 0], &codes[columns[k + 2], 0],
                          &codes[columns[k + 3], 0], &rows[0], &weights[0], n, &histograms[k, 0])
                k += 4
            while k < stop:
                fill_one(&codes[columns[k], 0], &rows[0], &weights[0], n, &histograms[k, 0])
                k += 1


def subtract_histograms(sum_t[:, ::1] parent, const sum_t[:, ::1] child, Py_ssize_t start, Py_ssize_t stop):
    """Turn the histograms of the parent into those of the sibling: parent - child, in place."""
    cdef Py_ssize_t k, code
    with nogil:
        for k in range(start, stop):
            for code in range(BINS):
                parent[k, code] -= child[k, code]


# -- best split ------------------------------------------------------------------------------------

def best_split(const sum_t[:, ::1] histograms, const index_t[::1] columns, const index_t[:, ::1] bins, sum_t total,
               bint real_leaves, double ridge, Py_ssize_t start, Py_ssize_t stop):
    """Find the split of largest gain over columns[start:stop].

    Ties go to the first column, then to the first bin, then to missing values on the left.

    bins: number of bins of each feature without the one of missing values, and its kind: 1 if it has that one, 255, and
    2 if its bins are categories, with or without missing ones; total: packed weight of the node. Return gain, column,
    last bin that goes left, whether missing values go left, packed weight of the left child, and None. For categories
    there are 32 bytes instead of None, whose bit c says whether bin c goes left. Column is -1 if no split has a gain.
    """
    cdef Py_ssize_t k
    cdef Split best
    cdef double base = least_gain(total, real_leaves, ridge)
    best.column = -1
    with nogil:
        best.gain = base
        for k in range(start, stop):
            scan(&histograms[k, 0], &bins[columns[k], 0], total, real_leaves, ridge, k, &best)
    return result(&best, base, columns, bins)
