"""Group windows of an image into rectangles that are cheap to compute, one after the other."""

from paucens._kernels.types cimport index_t

cdef enum:
    TOP, BOTTOM, LEFT, RIGHT  # of a rectangle, the last ones included


cdef inline double cost(index_t top, index_t bottom, index_t left, index_t right, Py_ssize_t height, Py_ssize_t width,
                        double overhead) noexcept nogil:
    """Return the cells that windows from (top, left) to (bottom, right) cover, and the overhead of a rectangle."""
    return <double> (bottom - top + height) * (right - left + width) + overhead


cdef inline double own(const index_t[:, ::1] boxes, Py_ssize_t k, Py_ssize_t height, Py_ssize_t width,
                       double overhead) noexcept nogil:
    return cost(boxes[k, TOP], boxes[k, BOTTOM], boxes[k, LEFT], boxes[k, RIGHT], height, width, overhead)


cdef inline double joint(const index_t[:, ::1] boxes, Py_ssize_t k, Py_ssize_t other, Py_ssize_t height,
                         Py_ssize_t width, double overhead) noexcept nogil:
    return cost(min(boxes[k, TOP], boxes[other, TOP]), max(boxes[k, BOTTOM], boxes[other, BOTTOM]),
                min(boxes[k, LEFT], boxes[other, LEFT]), max(boxes[k, RIGHT], boxes[other, RIGHT]),
                height, width, overhead)


cdef void join(index_t[:, ::1] boxes, Py_ssize_t k, Py_ssize_t other) noexcept nogil:
    boxes[k, TOP] = min(boxes[k, TOP], boxes[other, TOP])
    boxes[k, BOTTOM] = max(boxes[k, BOTTOM], boxes[other, BOTTOM])
    boxes[k, LEFT] = min(boxes[k, LEFT], boxes[other, LEFT])
    boxes[k, RIGHT] = max(boxes[k, RIGHT], boxes[other, RIGHT])


def group_windows(const index_t[:, ::1] windows, Py_ssize_t height, Py_ssize_t width, double overhead,
                  index_t[::1] group, index_t[:, ::1] boxes):
    """Assign each window to a rectangle; return how many there are.

    windows (n, 2): row and column of each, in order of rows; height, width: cells that a window covers, its margin
    included; overhead: cells whose cost equals that of one more rectangle.
    group (n,): the rectangle of each window; boxes (n, 4): first and last row and column of the windows of each.
    A window joins the rectangle whose cost it raises least, or starts one. Then the two rectangles that gain most by it
    are joined, until none gain.
    """
    cdef Py_ssize_t i, k, other, best, best_other, n_boxes = 0
    cdef double least, change
    with nogil:
        for i in range(windows.shape[0]):
            boxes[n_boxes, TOP] = boxes[n_boxes, BOTTOM] = windows[i, 0]
            boxes[n_boxes, LEFT] = boxes[n_boxes, RIGHT] = windows[i, 1]
            best, least = n_boxes, own(boxes, n_boxes, height, width, overhead)
            for k in range(n_boxes):
                change = joint(boxes, k, n_boxes, height, width, overhead) - own(boxes, k, height, width, overhead)
                if change < least:
                    best, least = k, change
            group[i] = <index_t> best
            if best == n_boxes:
                n_boxes += 1
            else:
                join(boxes, best, n_boxes)
        while True:
            least = 0
            for k in range(n_boxes):
                for other in range(k + 1, n_boxes):
                    change = (joint(boxes, k, other, height, width, overhead)
                              - own(boxes, k, height, width, overhead) - own(boxes, other, height, width, overhead))
                    if change < least:
                        best, best_other, least = k, other, change
            if least == 0:
                break
            n_boxes -= 1
            join(boxes, best, best_other)
            boxes[best_other, :] = boxes[n_boxes, :]
            for i in range(windows.shape[0]):
                if group[i] == best_other:
                    group[i] = <index_t> best
                elif group[i] == n_boxes:
                    group[i] = <index_t> best_other
    return n_boxes
