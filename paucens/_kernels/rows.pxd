# The rows of a node, and those of them that go left at a split.

from paucens._kernels.types cimport code_t, index_t, sum_t


cdef inline bint holds(const code_t* left_set, code_t code) noexcept nogil:
    """Tell whether a bin is in a set of bits."""
    return (left_set[code >> 3] >> (code & 7)) & 1


cdef inline Py_ssize_t move_left(const code_t* codes, code_t first, code_t last, const code_t* left_set, index_t* rows,
                                 sum_t* weights, Py_ssize_t n, index_t* spare_rows,
                                 sum_t* spare_weights) noexcept nogil:
    """Move the rows that go left to the front, see `partition`; `left_set` is NULL unless categories are split."""
    cdef Py_ssize_t k, left = 0, right = 0
    cdef bint goes_left
    for k in range(n):
        if left_set == NULL:
            goes_left = <code_t> (codes[rows[k]] + first) <= last
        else:
            goes_left = holds(left_set, codes[rows[k]])
        spare_rows[right] = rows[k]
        spare_weights[right] = weights[k]
        rows[left] = rows[k]
        weights[left] = weights[k]
        left += goes_left
        right += not goes_left
    for k in range(right):
        rows[left + k] = spare_rows[k]
        weights[left + k] = spare_weights[k]
    return left
