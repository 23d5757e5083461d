"""Rows that go down binned decision trees: partition at a split, apply to leaves."""

from paucens._kernels.rows cimport holds, move_left
from paucens._kernels.types cimport code_t, index_t, real_t, sum_t

cdef extern from *:
    bint unlikely(bint condition) nogil  # of Cython: predicted to be false

cdef enum:
    MISSING = 255  # the bin of missing values
    BLOCK = 64  # rows that go down a tree together, a level at a time, so that none waits for the loads of another


def partition(const code_t[::1] codes, code_t first, code_t last, bytes left_set, index_t[::1] rows,
              sum_t[::1] weights, index_t[::1] spare_rows, sum_t[::1] spare_weights):
    """Move the rows that go left to the front, keeping the order; return their number.

    If `first` is 1, codes are counted from the missing values, 255, on, and `last` is so too: then these go left. For
    categories, `left_set` says which ones go left, bit by bit; otherwise it is None.
    """
    cdef Py_ssize_t left = 0
    cdef const unsigned char* bits = NULL
    if left_set is not None:
        bits = left_set
    with nogil:
        if rows.shape[0] > 0:
            left = move_left(&codes[0], first, last, bits, &rows[0], &weights[0], rows.shape[0], &spare_rows[0],
                             &spare_weights[0])
    return left


def apply_codes(const code_t[:, ::1] codes, const index_t[::1] column, const code_t[::1] first, const code_t[::1] last,
                const index_t[::1] child, index_t[::1] leaf, Py_ssize_t start, Py_ssize_t stop):
    """Write the leaf that each of the rows [start, stop) reaches; child[k] is the left child, 0 at a leaf.

    first and last of each node are those of `partition`.
    """
    cdef Py_ssize_t row, k, n, n_above
    cdef index_t node
    cdef index_t above[BLOCK]
    with nogil:
        while start < stop:
            n_above = start_at(0, child, min(<Py_ssize_t> BLOCK, stop - start), &leaf[start], above)
            while n_above > 0:
                n, n_above = n_above, 0
                for k in range(n):
                    row = start + above[k]
                    node = leaf[row]
                    node = child[node] + (<code_t> (codes[column[node], row] + first[node]) > last[node])
                    leaf[row] = node
                    above[n_above] = above[k]  # always written, but kept only above a leaf
                    n_above += child[node] != 0
            start += BLOCK


cdef inline Py_ssize_t start_at(index_t root, const index_t[::1] child, Py_ssize_t n, index_t* node,
                                index_t* above) noexcept nogil:
    """Put n rows at the root and list them; return how many are above a leaf, all or none."""
    cdef Py_ssize_t k
    for k in range(n):
        node[k], above[k] = root, <index_t> k
    return n if child[root] != 0 else 0


cdef void go_down(const real_t[:, :] X, Py_ssize_t first, Py_ssize_t n, index_t root, const index_t[::1] column,
                  const double[::1] threshold, const code_t[::1] missing_left, const index_t[::1] child,
                  index_t* node) noexcept nogil:
    """Write the leaves that the rows first, ..., first + n - 1 of X reach from a root.

    Whether a value is NaN is asked only once, of the sum of all.
    """
    cdef Py_ssize_t k, n_left, n_above
    cdef index_t at
    cdef real_t value, total = 0
    cdef index_t above[BLOCK]
    n_above = start_at(root, child, n, node, above)
    while n_above > 0:
        n_left, n_above = n_above, 0
        for k in range(n_left):
            at = node[above[k]]
            value = X[first + above[k], column[at]]
            total += value
            at = child[at] + (value > threshold[at])
            node[above[k]] = at
            above[n_above] = above[k]  # always written, but kept only above a leaf
            n_above += child[at] != 0
    if unlikely(total != total):  # a value was NaN, or they overflowed
        for k in range(n):
            node[k] = leaf_past_missing(X, first + k, root, column, threshold, missing_left, child)


def apply_values(const real_t[:, :] X, const index_t[::1] column, const double[::1] threshold,
                 const code_t[::1] missing_left, const index_t[::1] child, index_t[::1] leaf, Py_ssize_t start,
                 Py_ssize_t stop):
    """Do as `apply_codes` on feature values: left if the value is at most the threshold, or NaN and missing_left."""
    with nogil:
        while start < stop:
            go_down(X, start, min(<Py_ssize_t> BLOCK, stop - start), 0, column, threshold, missing_left, child,
                    &leaf[start])
            start += BLOCK


def add_trees(const real_t[:, :] X, const index_t[::1] root, const index_t[::1] column, const double[::1] threshold,
              const code_t[::1] missing_left, const index_t[::1] child, const double[::1] value, double[::1] scores,
              Py_ssize_t start, Py_ssize_t stop):
    """Add the value of the leaf that each of the rows [start, stop) reaches in each tree, tree by tree, to its score.

    Nodes are those of all trees, as in `apply_values`; root has the first node of each tree.
    """
    cdef Py_ssize_t k, n, tree
    cdef index_t leaf[BLOCK]
    with nogil:
        while start < stop:
            n = min(<Py_ssize_t> BLOCK, stop - start)
            for tree in range(root.shape[0]):
                go_down(X, start, n, root[tree], column, threshold, missing_left, child, leaf)
                for k in range(n):
                    scores[start + k] += value[leaf[k]]
            start += BLOCK


cdef inline index_t leaf_past_missing(const real_t[:, :] X, Py_ssize_t row, index_t node, const index_t[::1] column,
                                      const double[::1] threshold, const code_t[::1] missing_left,
                                      const index_t[::1] child) noexcept nogil:
    """Find the leaf that a row reaches from a node, if some of its values may be NaN."""
    cdef real_t value
    while child[node] != 0:
        value = X[row, column[node]]
        node = child[node] + (value > threshold[node] or (value != value and missing_left[node] == 0))
    return node


# -- trees with splits on categories ---------------------------------------------------------------

def apply_mixed_codes(const code_t[:, ::1] codes, const index_t[::1] column, const code_t[::1] first,
                      const code_t[::1] last, const code_t[::1] by_set, const code_t[:, ::1] left_sets,
                      const index_t[::1] child, index_t[::1] leaf, Py_ssize_t start, Py_ssize_t stop):
    """Do as `apply_codes`, with left_sets (n_nodes, 32) at the nodes where by_set is not 0."""
    cdef Py_ssize_t row
    cdef index_t node
    cdef code_t code
    with nogil:
        for row in range(start, stop):
            node = 0
            while child[node] != 0:
                code = codes[column[node], row]
                if by_set[node]:
                    node = child[node] + (not holds(&left_sets[node, 0], code))
                else:
                    node = child[node] + (<code_t> (code + first[node]) > last[node])
            leaf[row] = node


cdef inline code_t category_of(double value) noexcept nogil:
    """Return the bin of a category; any value that is none counts as missing."""
    if not 0 <= value < MISSING or <code_t> value != value:
        return MISSING
    return <code_t> value


def apply_mixed_values(const real_t[:, :] X, const index_t[::1] column, const double[::1] threshold,
                       const code_t[::1] missing_left, const code_t[::1] by_set, const code_t[:, ::1] left_sets,
                       const index_t[::1] child, index_t[::1] leaf, Py_ssize_t start, Py_ssize_t stop):
    """Do as `apply_mixed_codes` on feature values, those of categories being their bins."""
    cdef Py_ssize_t row
    cdef index_t node
    cdef real_t value
    cdef bint goes_left
    with nogil:
        for row in range(start, stop):
            node = 0
            while child[node] != 0:
                value = X[row, column[node]]
                if by_set[node]:
                    goes_left = holds(&left_sets[node, 0], category_of(value))
                else:
                    goes_left = value <= threshold[node] or (value != value and missing_left[node] != 0)
                node = child[node] + (not goes_left)
            leaf[row] = node
