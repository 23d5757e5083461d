"""Score every window of one size of an image by an ensemble of trees.

Channels are stored as strips (row, channel, column), so that the values of a feature for the windows of a row are
contiguous. They may be some rows and columns of a larger array, but with all channels: the distance from the last
channel of a row to the first one of the next is that of two channels.

While many windows of a row are alive, each tree is applied to all of them at once, then to a list of those that are
left; the last ones are followed one by one.
"""

from cython.view cimport contiguous, strided
from libc.math cimport INFINITY

from paucens._kernels.types cimport index_t

cdef extern from *:
    """
    typedef float *__restrict scores_t;
    """
    ctypedef float* scores_t

cdef enum:
    INNER = 7   # nodes of a complete tree of depth 3
    LEAVES = 8
    TOGETHER = 8  # trees between two counts of the windows alive
    FEW = 12  # when one window in so many is alive, those alone are looked at
    ALONE = 2  # so few windows are followed one after the other: each tree would wait for the one before
    LANES = 16  # number of windows taken at once; those beyond the end of a row are dead


cdef void add_tree(const float* p, Py_ssize_t stride, const index_t* strip, const index_t* column, const float* t,
                   const float* leaf, float rejected, Py_ssize_t n, scores_t score) noexcept nogil:
    """Add one complete tree to the scores of n windows; scores up to `rejected` become -infinity, which means dead.

    n is a multiple of LANES, so that no window is left for a loop without vectors.
    """
    cdef const float* p0 = p + strip[0] * stride + column[0]
    cdef const float* p1 = p + strip[1] * stride + column[1]
    cdef const float* p2 = p + strip[2] * stride + column[2]
    cdef const float* p3 = p + strip[3] * stride + column[3]
    cdef const float* p4 = p + strip[4] * stride + column[4]
    cdef const float* p5 = p + strip[5] * stride + column[5]
    cdef const float* p6 = p + strip[6] * stride + column[6]
    cdef float l0 = leaf[0], l1 = leaf[1], l2 = leaf[2], l3 = leaf[3]
    cdef float l4 = leaf[4], l5 = leaf[5], l6 = leaf[6], l7 = leaf[7]
    cdef float t0 = t[0], t1 = t[1], t2 = t[2], t3 = t[3], t4 = t[4], t5 = t[5], t6 = t[6]
    cdef float a, b, c, d, total
    cdef Py_ssize_t x
    for x in range(n):
        a = l1 if p3[x] > t3 else l0
        b = l3 if p4[x] > t4 else l2
        c = l5 if p5[x] > t5 else l4
        d = l7 if p6[x] > t6 else l6
        a = b if p1[x] > t1 else a
        c = d if p2[x] > t2 else c
        total = score[x] + (c if p0[x] > t0 else a)
        score[x] = total if total > rejected else -INFINITY


cdef Py_ssize_t count_living(const float* score, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t x, living = 0
    for x in range(n):
        living += score[x] > -INFINITY
    return living


cdef Py_ssize_t list_living(const float* score, Py_ssize_t n, index_t* living) noexcept nogil:
    cdef Py_ssize_t x, count = 0
    for x in range(n):
        living[count] = <index_t> x
        count += score[x] > -INFINITY
    return count


cdef Py_ssize_t add_tree_to_some(const float* p, const Py_ssize_t* offset, Py_ssize_t stride, const index_t* strip,
                                 const index_t* column, const float* t, const float* leaf, float rejected,
                                 index_t* living, Py_ssize_t n, float* score) noexcept nogil:
    """Add one complete tree to the scores of n windows; list those that live on, and return how many there are."""
    cdef Py_ssize_t[INNER] place
    cdef Py_ssize_t k, node, kept = 0
    cdef const float* q
    cdef index_t x
    cdef float total
    for k in range(INNER):
        place[k] = strip[k] * stride + column[k]
    for k in range(n):
        x = living[k]
        q = p + offset[x]
        node = 1 + (q[place[0]] > t[0])
        node = 2 * node + 1 + (q[place[node]] > t[node])
        node = 2 * node + 1 + (q[place[node]] > t[node])
        total = score[x] + leaf[node - INNER]
        score[x] = total if total > rejected else -INFINITY
        living[kept] = x
        kept += total > rejected
    return kept


cdef float follow(const float* p, Py_ssize_t stride, const index_t* first, const index_t* strip, const index_t* column,
                  const float* threshold, const index_t* child, const float* value, const float* rejection,
                  Py_ssize_t tree, Py_ssize_t n_trees, float score) noexcept nogil:
    """Continue one window from `tree` until it is dead or all trees are added."""
    cdef Py_ssize_t node
    while tree < n_trees:
        node = first[tree]
        while child[node] != 0:
            node = first[tree] + child[node] + (p[strip[node] * stride + column[node]] > threshold[node])
        score = score + value[node]
        if not score > rejection[tree]:
            return -INFINITY
        tree += 1
    return score


def scan(const float[::strided, ::strided, ::contiguous] strips, const index_t[::1] first, const index_t[::1] strip,
         const index_t[::1] column, const float[::1] threshold, const index_t[::1] child, const float[::1] value,
         const float[::1] rejection, const index_t[:, ::1] whole_strip, const index_t[:, ::1] whole_column,
         const float[:, ::1] whole_threshold, const float[:, ::1] whole_leaf, float[::1] scratch, index_t[::1] living,
         Py_ssize_t[::1] offset, float[:, ::1] scores, Py_ssize_t start, Py_ssize_t stop):
    """Add all trees to the scores of the windows of rows [start, stop); rejected windows get -infinity.

    strips: (rows, k, columns), followed by LANES - 1 floats that may be read; scores: (rows, columns) of the windows,
    one window per cell, sums so far, -infinity for windows that are dead already; scratch, living and offset: (columns
    of windows + LANES - 1,) or more.
    first (n_trees + 1,), strip, column, threshold, child, value (n_nodes,): nodes of all trees end to end. A node looks
    at strip row * k + channel, counted from the first row of the window. Children are counted from the first node of
    their tree, 0 at leaves; values above the threshold go to the right child, the node after the left child.
    rejection (n_trees,): a window whose sum after tree t is not above rejection[t] is rejected.
    whole_strip, whole_column, whole_threshold (n_trees, 7), whole_leaf (n_trees, 8): the same trees in heap order if
    none is deeper than 3; otherwise n_trees is 0.
    """
    cdef Py_ssize_t row, x, tree, _k, count, width = scores.shape[1], stride = strips.strides[1] // sizeof(float)
    cdef Py_ssize_t n_trees = rejection.shape[0], n_whole = whole_strip.shape[0]
    cdef Py_ssize_t padded = (width + LANES - 1) // LANES * LANES
    cdef const float* cells
    cdef float* score
    if start >= stop or width == 0 or n_trees == 0:
        return
    with nogil:
        for x in range(width):
            offset[x] = x
        for row in range(start, stop):
            cells, score = &strips[row, 0, 0], &scratch[0]
            for x in range(padded):
                score[x] = scores[row, x] if x < width else -INFINITY
            tree, count = 0, count_living(score, width)
            while tree < n_whole and count * FEW > width:
                for _k in range(min(<Py_ssize_t> TOGETHER, n_whole - tree)):
                    add_tree(cells, stride, &whole_strip[tree, 0], &whole_column[tree, 0], &whole_threshold[tree, 0],
                             &whole_leaf[tree, 0], rejection[tree], padded, score)
                    tree += 1
                count = count_living(score, width)
            count = list_living(score, width, &living[0])
            while tree < n_whole and count > ALONE:
                count = add_tree_to_some(cells, &offset[0], stride, &whole_strip[tree, 0], &whole_column[tree, 0],
                                         &whole_threshold[tree, 0], &whole_leaf[tree, 0], rejection[tree], &living[0],
                                         count, score)
                tree += 1
            for x in range(count):
                score[living[x]] = follow(cells + living[x], stride, &first[0], &strip[0], &column[0], &threshold[0],
                                          &child[0], &value[0], &rejection[0], tree, n_trees, score[living[x]])
            for x in range(width):
                scores[row, x] = score[x]


def score_windows(const float[::strided, ::strided, ::contiguous] strips, const index_t[:, ::1] windows,
                  const index_t[::1] first, const index_t[::1] strip, const index_t[::1] column,
                  const float[::1] threshold, const index_t[::1] child, const float[::1] value,
                  const float[::1] rejection, const index_t[:, ::1] whole_strip, const index_t[:, ::1] whole_column,
                  const float[:, ::1] whole_threshold, const float[:, ::1] whole_leaf, index_t[::1] living,
                  Py_ssize_t[::1] offset, float[::1] scores):
    """Add all trees to the scores of single windows; rejected windows get -infinity.

    windows (n, 2): row and column of the first cell of each; scores (n,): sums so far; living and offset: (n,). The
    others are as in `scan`, and so are the scores, to the bit.
    """
    cdef Py_ssize_t k, tree = 0, n_whole = whole_strip.shape[0], stride = strips.strides[1] // sizeof(float)
    cdef Py_ssize_t count, n = windows.shape[0], n_trees = rejection.shape[0]
    cdef const float* cells
    if n == 0 or n_trees == 0:
        return
    with nogil:
        cells = &strips[0, 0, 0]
        for k in range(n):
            offset[k] = windows[k, 0] * strips.shape[1] * stride + windows[k, 1]
        count = list_living(&scores[0], n, &living[0])
        while tree < n_whole and count > ALONE:
            count = add_tree_to_some(cells, &offset[0], stride, &whole_strip[tree, 0], &whole_column[tree, 0],
                                     &whole_threshold[tree, 0], &whole_leaf[tree, 0], rejection[tree], &living[0],
                                     count, &scores[0])
            tree += 1
        for k in range(count):
            scores[living[k]] = follow(cells + offset[living[k]], stride, &first[0], &strip[0], &column[0],
                                       &threshold[0], &child[0], &value[0], &rejection[0], tree, n_trees,
                                       scores[living[k]])


def partial_sums(const float[::strided, ::strided, ::contiguous] strips, const index_t[::1] first,
                 const index_t[::1] strip, const index_t[::1] column, const float[::1] threshold,
                 const index_t[::1] child, const float[::1] value, float bias, float[:, :, ::1] sums,
                 Py_ssize_t start, Py_ssize_t stop):
    """Write the sum after each tree of the windows of rows [start, stop); no window is rejected.

    sums: (rows, columns, n_trees) of the windows, one window per cell; the others are as in `scan`. The same values are
    added in the same order, so a sum equals that of `scan` to the bit.
    """
    cdef Py_ssize_t row, x, tree, node, right, stride = strips.strides[1] // sizeof(float)
    cdef const float* cells
    cdef float score
    with nogil:
        for row in range(start, stop):
            for x in range(sums.shape[1]):
                cells, score = &strips[row, 0, x], bias
                for tree in range(sums.shape[2]):
                    node = first[tree]
                    while child[node] != 0:
                        right = cells[strip[node] * stride + column[node]] > threshold[node]
                        node = first[tree] + child[node] + right
                    score = score + value[node]
                    sums[row, x, tree] = score
