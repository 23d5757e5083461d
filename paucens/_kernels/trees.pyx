"""Growing of binned decision trees: quantise, histograms, best split, samples of columns.

Sums of weights are integers. A histogram entry packs two of them, S * 2**32 + W with
S the sum of signed weights and W the sum of their magnitudes. So one addition adds
both, and the histogram of a sibling is exactly parent minus child.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

from paucens._kernels.splits cimport BINS, CATEGORIES, SET_BYTES, Split
from paucens._kernels.splits cimport absolute, leaf_gain, magnitude, scan, signed_sum
from paucens._kernels.types cimport code_t, grid_t, index_t, key_t, real_t, sum_t

cdef enum:
    TILE = 16  # columns quantised together, so that a row-major X is read by cache lines
    MAX_RUNS = 4  # runs of rows, after each of which a column may be given up

cdef double ROUNDING = 1e-12  # a real gain below this share of the node's own value counts as none


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

cdef void fill_four(const code_t* c0, const code_t* c1, const code_t* c2, const code_t* c3,
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


cdef void fill_one(const code_t* codes, const index_t* rows, const sum_t* weights, Py_ssize_t n,
                   sum_t* out) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[codes[rows[k]]] += weights[k]


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
    cdef double base = 0
    best.column = -1
    with nogil:
        if real_leaves:
            base = leaf_gain(total, ridge) * (1 + ROUNDING)
        best.gain = base
        for k in range(start, stop):
            scan(&histograms[k, 0], &bins[columns[k], 0], total, real_leaves, ridge, k, &best)
    return result(&best, base, columns, bins)


cdef result(const Split* best, double base, const index_t[::1] columns, const index_t[:, ::1] bins):
    """Return what the searches return."""
    cdef index_t column
    if best.column < 0:
        return 0.0, -1, 0, False, 0, None
    column = columns[best.column]
    left_set = (<const char*> best.left_set)[:SET_BYTES] if bins[column, 1] == CATEGORIES else None
    return best.gain - base, column, best.code, best.missing_left, best.left, left_set


# -- search without histograms ---------------------------------------------------------------------

cdef inline double most_possible(const sum_t* histogram, const index_t* bins, sum_t seen, sum_t total) noexcept nogil:
    """Bound the gain of a column when only rows of packed weight `seen` are in its histogram.

    Each of the other rows adds at most its magnitude to |S_left| + |S_right|.
    """
    cdef Split split
    split.gain, split.column = 0, -1
    scan(histogram, bins, seen, False, 0, 0, &split)
    return split.gain + <double> (absolute(signed_sum(seen)) - absolute(signed_sum(total))
                                  + magnitude(total) - magnitude(seen))


cdef void count_rows(const code_t** codes, const bint* alive, const index_t* rows, const sum_t* weights,
                     Py_ssize_t n, sum_t* histograms) noexcept nogil:
    """Add n rows to the histograms of those among four columns that are still alive."""
    cdef Py_ssize_t c
    if alive[0] and alive[1] and alive[2] and alive[3]:
        fill_four(codes[0], codes[1], codes[2], codes[3], rows, weights, n, histograms)
        return
    for c in range(4):
        if alive[c]:
            fill_one(codes[c], rows, weights, n, histograms + c * BINS)


def search_columns(const code_t[:, ::1] codes, const index_t[::1] rows, const sum_t[::1] weights,
                   const index_t[::1] columns, const index_t[:, ::1] bins, sum_t total, bint real_leaves,
                   double ridge, Py_ssize_t start, Py_ssize_t stop):
    """Find the split that `fill_histograms` and `best_split` find, four columns at a time, without keeping histograms.

    With sign leaves a column is given up as soon as the rows not counted yet cannot lift it above the best split so
    far (Appel, Fuchs, Dollar and Perona, ICML 2013). This is checked after each of the first runs of ascending rows;
    the heaviest rows should be in the first run. The result does not depend on the order of the rows.
    """
    cdef Py_ssize_t k, c, run, n_runs, n = rows.shape[0]
    cdef Py_ssize_t ends[MAX_RUNS + 1]
    cdef sum_t seen[MAX_RUNS + 1]
    cdef sum_t histograms[4 * BINS]
    cdef const code_t* four[4]
    cdef bint alive[4]
    cdef double base = leaf_gain(total, ridge) * (1 + ROUNDING) if real_leaves else 0
    cdef Split best
    best.gain, best.column = base, -1
    if n == 0:
        return result(&best, base, columns, bins)
    with nogil:
        n_runs = find_runs(&rows[0], &weights[0], n, 1 if real_leaves else MAX_RUNS, ends, seen)
        for k in range(start, stop, 4):
            for c in range(4):
                alive[c] = k + c < stop
                four[c] = &codes[columns[k + c], 0] if alive[c] else NULL
            memset(histograms, 0, sizeof(histograms))
            for run in range(n_runs):
                if run > 0:
                    for c in range(4):
                        alive[c] = alive[c] and best.gain < most_possible(
                            histograms + c * BINS, &bins[columns[k + c], 0], seen[run], total)
                count_rows(four, alive, &rows[0] + ends[run], &weights[0] + ends[run], ends[run + 1] - ends[run],
                           histograms)
            for c in range(4):
                if alive[c]:
                    scan(histograms + c * BINS, &bins[columns[k + c], 0], total, real_leaves, ridge, k + c, &best)
    return result(&best, base, columns, bins)


cdef Py_ssize_t find_runs(const index_t* rows, const sum_t* weights, Py_ssize_t n, Py_ssize_t max_runs,
                          Py_ssize_t* ends, sum_t* seen) noexcept nogil:
    """Write the start of each run of ascending rows and the packed weight before it; return the number of runs."""
    cdef Py_ssize_t k, n_runs = 1
    cdef sum_t total = weights[0]
    ends[0] = seen[0] = 0
    for k in range(1, n):
        if n_runs < max_runs and rows[k] < rows[k - 1]:
            ends[n_runs] = k
            seen[n_runs] = total
            n_runs += 1
        total += weights[k]
    ends[n_runs] = n
    seen[n_runs] = total
    return n_runs


# -- column sampling -------------------------------------------------------------------------------

cdef inline key_t scramble(key_t* state) noexcept nogil:
    """Advance a SplitMix64 stream (Steele, Lea and Flood, OOPSLA 2014)."""
    cdef key_t z
    state[0] += <key_t> 0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <key_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <key_t> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef int ascending(const void* a, const void* b) noexcept nogil:
    return (<const index_t*> a)[0] - (<const index_t*> b)[0]  # columns are not negative


def draw_columns(const key_t[::1] key, const index_t[::1] allowed, index_t[::1] deck, Py_ssize_t n):
    """Draw n of the allowed columns without replacement, by the stream of `key`; write them to deck[:n], ascending.

    They are the first n steps of a Fisher-Yates shuffle, for which `deck` has room. The stream depends on the integers
    of `key` alone (seed, round, node), not on the state of a generator. The bias of the modulo is below 2**-32.
    """
    cdef key_t state = 0
    cdef Py_ssize_t k, other
    with nogil:
        for k in range(key.shape[0]):
            state = scramble(&state) ^ key[k]
        memcpy(&deck[0], &allowed[0], allowed.shape[0] * sizeof(index_t))
        for k in range(n):
            other = k + <Py_ssize_t> (scramble(&state) % <key_t> (deck.shape[0] - k))
            deck[k], deck[other] = deck[other], deck[k]
        qsort(&deck[0], n, sizeof(index_t), ascending)
