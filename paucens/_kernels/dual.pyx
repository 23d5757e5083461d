"""The restricted master: its Gram matrix as cuts and learners are added, and its dual.

The dual is a concave quadratic over a small simplex,

    maximise  losses . x - x' G x / 2   subject to  x >= 0, sum x <= budget,

solved by pairwise steps (sequential minimal optimisation) on the simplex with a slack entry, whose loss and
Gram row are 0. G may be singular; it always is if there are more cuts than learners.
"""

cdef double TINY = 1e-14


cdef double duality_gap(const double* x, const double* gradient, Py_ssize_t n, double budget,
                        Py_ssize_t* steepest) noexcept nogil:
    """Return budget * max(0, max gradient) - x . gradient; also find the steepest entry, -1 for the slack."""
    cdef Py_ssize_t k
    cdef double top = 0, inner = 0
    steepest[0] = -1
    for k in range(n):
        inner += x[k] * gradient[k]
        if gradient[k] > top:
            top = gradient[k]
            steepest[0] = k
    return budget * top - inner


cdef Py_ssize_t partner(const double[:, ::1] gram, const double* x, const double* gradient, Py_ssize_t n,
                        Py_ssize_t up, double slack, double* curvature) noexcept nogil:
    """Find the entry to lower while `up` rises: the one whose pair gains most, -1 for the slack, -2 for none."""
    cdef Py_ssize_t k, best = -2
    cdef double rise = gradient[up] if up >= 0 else 0.0
    cdef double own = gram[up, up] if up >= 0 else 0.0
    cdef double difference, bend, gain, most = 0
    if up >= 0 and slack > 0 and rise > 0:
        bend = max(own, TINY)
        most = rise * rise / bend
        curvature[0] = bend
        best = -1
    for k in range(n):
        difference = rise - gradient[k]
        if x[k] > 0 and difference > 0:
            bend = own + gram[k, k]
            if up >= 0:
                bend -= 2 * gram[up, k]
            bend = max(bend, TINY)
            gain = difference * difference / bend
            if gain > most:
                most = gain
                best = k
                curvature[0] = bend
    return best


def solve_dual(const double[:, ::1] gram, const double[::1] losses, double budget, double[::1] x,
               double[::1] gradient, double tolerance, Py_ssize_t max_steps):
    """Improve the feasible x until the duality gap is at most `tolerance`; return the value, the gap and the steps.

    gram: at least (n, n), of which the leading n = len(x) rows and columns are used; gradient: losses - G x,
    written.
    """
    cdef Py_ssize_t n = x.shape[0], i, j, k, steps = 0
    cdef double slack = budget, value = 0, gap = 0, curvature = 1, step, available
    if n == 0:
        return 0.0, 0.0, 0
    with nogil:
        for k in range(n):
            slack -= x[k]
            gradient[k] = losses[k]
        slack = max(slack, 0.0)
        for k in range(n):
            if x[k] > 0:
                for i in range(n):
                    gradient[i] -= gram[k, i] * x[k]
        while True:
            gap = duality_gap(&x[0], &gradient[0], n, budget, &i)
            if gap <= tolerance or steps >= max_steps:
                break
            j = partner(gram, &x[0], &gradient[0], n, i, slack, &curvature)
            if j == -2:
                break
            step = ((gradient[i] if i >= 0 else 0.0) - (gradient[j] if j >= 0 else 0.0)) / curvature
            available = x[j] if j >= 0 else slack
            step = min(step, available)
            if i >= 0:
                x[i] += step
            else:
                slack += step
            if j >= 0:
                x[j] = x[j] - step if step < available else 0.0
            else:
                slack = slack - step if step < available else 0.0
            for k in range(n):
                if i >= 0:
                    gradient[k] -= step * gram[i, k]
                if j >= 0:
                    gradient[k] += step * gram[j, k]
            steps += 1
        for k in range(n):
            value += x[k] * (losses[k] + gradient[k]) / 2
    return value, gap, steps


def combine_rows(const double[:, ::1] features, const double[::1] dual, double[::1] weights):
    """Write w = Phi' lambda over the leading rows and columns of `features`."""
    cdef Py_ssize_t k, t
    with nogil:
        for t in range(weights.shape[0]):
            weights[t] = 0
        for k in range(dual.shape[0]):
            if dual[k] > 0:
                for t in range(weights.shape[0]):
                    weights[t] += dual[k] * features[k, t]


def append_row(double[:, ::1] features, double[:, ::1] gram, const double[::1] row, Py_ssize_t k):
    """Write `row` as row k of Phi and its products with rows 0..k as row and column k of G."""
    cdef Py_ssize_t i, t
    cdef double product
    with nogil:
        for t in range(row.shape[0]):
            features[k, t] = row[t]
        for i in range(k + 1):
            product = 0
            for t in range(row.shape[0]):
                product += features[i, t] * row[t]
            gram[i, k] = gram[k, i] = product


def append_column(double[:, ::1] features, double[:, ::1] gram, const double[::1] column, Py_ssize_t t):
    """Write `column` as column t of Phi and add its outer product to G."""
    cdef Py_ssize_t i, j
    with nogil:
        for i in range(column.shape[0]):
            features[i, t] = column[i]
            for j in range(column.shape[0]):
                gram[i, j] += column[i] * column[j]
