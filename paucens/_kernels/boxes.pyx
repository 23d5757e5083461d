"""Overlaps of boxes, greedy suppression, and matching of detections to people.

A box is a row x, y, w, h and possibly further columns; its area is w * h. Boxes without area overlap nothing.
"""

from paucens._kernels.types cimport index_t

ctypedef const double* box_t


cdef inline double intersection(box_t a, box_t b) noexcept nogil:
    cdef double w = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    cdef double h = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    return w * h if w > 0 and h > 0 else 0


cdef inline double over_union(box_t a, box_t b) noexcept nogil:
    cdef double common = intersection(a, b)
    return common / (a[2] * a[3] + b[2] * b[3] - common) if common > 0 else 0


cdef inline double over_first(box_t a, box_t b) noexcept nogil:
    cdef double common = intersection(a, b)
    return common / (a[2] * a[3]) if common > 0 else 0


cdef inline double over_smaller(box_t a, box_t b) noexcept nogil:
    cdef double common = intersection(a, b)
    return common / min(a[2] * a[3], b[2] * b[3]) if common > 0 else 0


def overlaps(const double[:, ::1] boxes, const double[:, ::1] others, bint by_first, double[:, ::1] out):
    """Write the overlap of each box with each of the others: intersection / union, or / area of the first box."""
    cdef Py_ssize_t i, j
    with nogil:
        for i in range(boxes.shape[0]):
            for j in range(others.shape[0]):
                if by_first:
                    out[i, j] = over_first(&boxes[i, 0], &others[j, 0])
                else:
                    out[i, j] = over_union(&boxes[i, 0], &others[j, 0])


def suppress(const double[:, ::1] boxes, double overlap, bint by_smaller, index_t[::1] leader):
    """Write for each box, best first, the best kept box that overlaps it by more than `overlap`, itself if it is kept.

    The overlap is intersection / smaller area, or / union. Only kept boxes remove others.
    """
    cdef Py_ssize_t i, j
    cdef double shared
    with nogil:
        for i in range(boxes.shape[0]):
            leader[i] = <index_t> i
        for i in range(boxes.shape[0]):
            if leader[i] != i:
                continue
            for j in range(i + 1, boxes.shape[0]):
                if leader[j] == j:
                    if by_smaller:
                        shared = over_smaller(&boxes[i, 0], &boxes[j, 0])
                    else:
                        shared = over_union(&boxes[i, 0], &boxes[j, 0])
                    if shared > overlap:
                        leader[j] = <index_t> i


# -- matching --------------------------------------------------------------------------------------

cdef Py_ssize_t best_free(box_t detection, const double[:, ::1] truth, const unsigned char[::1] matched,
                          double overlap) noexcept nogil:
    """Find the unmatched person of largest IoU, at least `overlap`; the last of equal ones, -1 for none."""
    cdef Py_ssize_t g, best = -1
    cdef double shared, most = overlap
    for g in range(truth.shape[0]):
        if not matched[g]:
            shared = over_union(detection, &truth[g, 0])
            if shared >= most:
                most = shared
                best = g
    return best


cdef bint is_excused(box_t detection, const double[:, ::1] ignore, double overlap) noexcept nogil:
    """Return whether the share of the detection in one ignore region is large enough."""
    cdef Py_ssize_t i
    for i in range(ignore.shape[0]):
        if over_first(detection, &ignore[i, 0]) >= overlap:
            return True
    return False


def match(const double[:, ::1] detections, const double[:, ::1] truth, const double[:, ::1] ignore, double overlap,
          signed char[::1] status, unsigned char[::1] matched):
    """Match the detections of one image, best first, in the order of preference of dbEval.

    status: 1 true, 0 false, -1 ignored, written; matched: the people that are found, all 0 on entry.
    """
    cdef Py_ssize_t d, g
    with nogil:
        for d in range(detections.shape[0]):
            g = best_free(&detections[d, 0], truth, matched, overlap)
            if g >= 0:
                matched[g] = True
                status[d] = 1
            else:
                status[d] = -1 if is_excused(&detections[d, 0], ignore, overlap) else 0
