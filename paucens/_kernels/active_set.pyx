"""An active set for the dual of the restricted master: exact, whatever the condition of the Gram matrix.

The dual is that of `_kernels.dual`, with the slack as one more cut of loss 0 and features 0, so that the weights of all
cuts have the sum 1. Cuts have a last coordinate of 1. Then cuts are independent if no point has two sets of weights,
and the sum of weights is a coordinate like the others. The members are independent cuts, which carry all weight. An
orthonormal basis of their span makes the optimum of their weights a diagonal system.
"""

from libc.math cimport copysign, fabs, sqrt

from paucens._kernels.types cimport index_t

cdef double DEPENDENT = 1e-13  # a cut nearer to the span of members than this share of its length depends on them
cdef double ROUNDING = 1e-15  # bound on the rounding error of a mean of coordinates in [-1, 1]

cdef struct ActiveSet:
    Py_ssize_t n_cuts, width, room, size
    const double* cuts    # (n_cuts, width)
    const double* losses
    double* x             # weights of the cuts
    index_t* members
    double* basis         # (room, width), orthonormal: shares' cuts[members]
    double* shares        # (room, room), a row per member
    double* inside        # (room,), coordinates in the basis
    double* outside       # (width,), what the basis leaves
    double* target        # (room,), weights of the members that are optimal if they may be negative
    double* weights       # (width,), of the learners, then the level of losses - features . weights


cdef inline double dot(const double* a, const double* b, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef double total = 0
    for i in range(n):
        total += a[i] * b[i]
    return total


cdef inline void add(double* a, double factor, const double* b, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        a[i] += factor * b[i]


cdef bint split(ActiveSet* s, Py_ssize_t cut) noexcept nogil:
    """Write the coordinates of a cut in the basis and what is left; return whether it is independent of the members.

    The second pass removes rounding errors of the first.
    """
    cdef Py_ssize_t p, _
    cdef double part
    cdef const double* whole = s.cuts + cut * s.width
    for p in range(s.size):
        s.inside[p] = 0
    for p in range(s.width):
        s.outside[p] = whole[p]
    for _ in range(2):
        for p in range(s.size):
            part = dot(s.basis + p * s.width, s.outside, s.width)
            s.inside[p] += part
            add(s.outside, -part, s.basis + p * s.width, s.width)
    return s.size < s.room and (
        sqrt(dot(s.outside, s.outside, s.width)) > DEPENDENT * sqrt(dot(whole, whole, s.width)))


cdef void append(ActiveSet* s, Py_ssize_t cut) noexcept nogil:
    """Add an independent cut, which was split, to the members; its part outside the span joins the basis."""
    cdef Py_ssize_t i, n = s.size
    cdef double length = sqrt(dot(s.outside, s.outside, s.width))
    cdef double* share
    for i in range(n):
        share = s.shares + i * s.room
        share[n] = -dot(share, s.inside, n) / length
    share = s.shares + n * s.room
    for i in range(n):
        share[i] = 0
    share[n] = 1 / length
    for i in range(s.width):
        s.basis[n * s.width + i] = s.outside[i] / length
    s.members[n] = <index_t> cut
    s.size += 1


cdef void leave(ActiveSet* s, Py_ssize_t member) noexcept nogil:
    """Take out a member: a reflection of the basis moves its share to the last element, which goes with it."""
    cdef Py_ssize_t i, p, n = s.size
    cdef double length
    cdef double* mirror = s.inside
    for p in range(n):
        mirror[p] = s.shares[member * s.room + p]
    mirror[n - 1] += copysign(sqrt(dot(mirror, mirror, n)), mirror[n - 1])
    length = sqrt(dot(mirror, mirror, n))
    for p in range(n):
        mirror[p] /= length
    for i in range(n):
        add(s.shares + i * s.room, -2 * dot(s.shares + i * s.room, mirror, n), mirror, n)
    for i in range(s.width):
        s.outside[i] = 0
    for p in range(n):
        add(s.outside, mirror[p], s.basis + p * s.width, s.width)
    for p in range(n):
        add(s.basis + p * s.width, -2 * mirror[p], s.outside, s.width)
    s.x[s.members[member]] = 0
    s.size -= 1
    for i in range(member, s.size):
        s.members[i] = s.members[i + 1]
        for p in range(s.size):
            s.shares[i * s.room + p] = s.shares[(i + 1) * s.room + p]


cdef bint join(ActiveSet* s, Py_ssize_t cut) noexcept nogil:
    """Take a cut into the set; while it is a combination of members, one of these gives it all of its weight.

    Return False if there is no number to do it with.
    """
    cdef Py_ssize_t i, losing
    cdef double step = 0
    while not split(s, cut):
        losing = -1
        for i in range(s.size):
            s.target[i] = dot(s.shares + i * s.room, s.inside, s.size)  # shares of the members in the cut
            if s.target[i] > 0 and (losing < 0 or s.x[s.members[i]] / s.target[i] < step):
                losing = i
                step = s.x[s.members[i]] / s.target[i]
        if losing < 0:
            return False
        for i in range(s.size):
            s.x[s.members[i]] = max(s.x[s.members[i]] - step * s.target[i], 0.0)
        s.x[cut] += step
        leave(s, losing)
    append(s, cut)
    return True


cdef void solve_members(ActiveSet* s) noexcept nogil:
    """Write the optimal weights of the members, those of the learners and the level."""
    cdef Py_ssize_t i, p, last = s.width - 1
    cdef double of_sum = 0, of_losses = 0, multiplier, missing
    for p in range(s.size):
        s.inside[p] = 0
    for i in range(s.size):
        add(s.inside, s.losses[s.members[i]], s.shares + i * s.room, s.size)
    for p in range(s.size):
        of_sum += s.basis[p * s.width + last] * s.basis[p * s.width + last]
        of_losses += s.basis[p * s.width + last] * s.inside[p]
    multiplier = (of_losses - 1) / of_sum
    for i in range(s.width):
        s.weights[i] = 0
    for p in range(s.size):
        s.inside[p] -= multiplier * s.basis[p * s.width + last]
        add(s.weights, s.inside[p], s.basis + p * s.width, s.width)
    s.weights[last] = multiplier + 1
    for i in range(s.size):
        s.target[i] = dot(s.shares + i * s.room, s.inside, s.size)
    # Near 0 the learners' weights cancel, but each member's loss - features . weights tells what is missing.
    for p in range(s.size):
        s.inside[p] = 0
    for i in range(s.size):
        missing = s.losses[s.members[i]] - dot(s.cuts + s.members[i] * s.width, s.weights, s.width)
        add(s.inside, missing, s.shares + i * s.room, s.size)
    for p in range(s.size):
        add(s.weights, s.inside[p], s.basis + p * s.width, s.width)


cdef Py_ssize_t move(ActiveSet* s) noexcept nogil:
    """Move the members' weights to their target; if one reaches 0 on the way, stop there and return it, else -1."""
    cdef Py_ssize_t i, first = -1
    cdef double now, share = 1, total = 0
    for i in range(s.size):
        now = s.x[s.members[i]]
        if s.target[i] < 0 and (first < 0 or now / (now - s.target[i]) < share):
            first = i
            share = now / (now - s.target[i])
    for i in range(s.size):
        now = s.x[s.members[i]]
        s.x[s.members[i]] = max(now + share * (s.target[i] - now), 0.0) if first >= 0 else s.target[i]
        total += s.x[s.members[i]]
    for i in range(s.size):
        s.x[s.members[i]] /= total
    return first


cdef Py_ssize_t steepest(ActiveSet* s, double* slope) noexcept nogil:
    """Find the cut of largest loss - features . weights."""
    cdef Py_ssize_t k, best = 0
    cdef double own
    for k in range(s.n_cuts):
        own = s.losses[k] - dot(s.cuts + k * s.width, s.weights, s.width - 1)
        if k == 0 or own > slope[0]:
            best = k
            slope[0] = own
    return best


cdef double value_of_weights(ActiveSet* s) noexcept nogil:
    """Return the value of x, less what it may owe to rounding errors; 0 if it is negative."""
    cdef Py_ssize_t i, t
    cdef double value = 0, length
    for t in range(s.width - 1):
        s.outside[t] = 0
    for i in range(s.size):
        value += s.x[s.members[i]] * s.losses[s.members[i]]
        add(s.outside, s.x[s.members[i]], s.cuts + s.members[i] * s.width, s.width - 1)
    for t in range(s.width - 1):
        length = fabs(s.outside[t]) + ROUNDING
        value -= length * length / 2
    return max(value, 0.0)


cdef void start(ActiveSet* s, const index_t[::1] order) noexcept nogil:
    """Make members of the listed cuts, as far as they are independent; the others lose their weight."""
    cdef Py_ssize_t k
    cdef double total = 0
    for k in range(order.shape[0]):
        if split(s, order[k]):
            append(s, order[k])
            total += s.x[order[k]]
        else:
            s.x[order[k]] = 0
    for k in range(order.shape[0]):
        s.x[order[k]] /= total


def solve_active_set(const double[:, ::1] cuts, const double[::1] losses, const index_t[::1] order, double tolerance,
                     Py_ssize_t max_pivots, double[::1] x, double[::1] weights, index_t[::1] members,
                     double[:, ::1] basis, double[:, ::1] shares, double[::1] spare):
    """Change the members until the duality gap is at most `tolerance`; return the value and the gap.

    cuts (n_cuts, width): features in [-1, 1], then 1; order: the cuts of positive x, to start from. x: weights of
    sum 1, improved; weights (width,): of the learners, then a level, written. members, basis, shares, spare: room
    for min(n_cuts, width) cuts, that many rows of both widths, and twice that many numbers and one row.
    """
    cdef ActiveSet s
    cdef Py_ssize_t leaving, joined = -1, _
    cdef double slope = 0, value = 0, gap = 0
    s.n_cuts, s.width, s.room, s.size = cuts.shape[0], cuts.shape[1], members.shape[0], 0
    s.cuts, s.losses, s.x, s.members = &cuts[0, 0], &losses[0], &x[0], &members[0]
    s.basis, s.shares, s.weights = &basis[0, 0], &shares[0, 0], &weights[0]
    s.inside, s.target, s.outside = &spare[0], &spare[s.room], &spare[2 * s.room]
    with nogil:
        start(&s, order)
        for _ in range(max_pivots):
            solve_members(&s)
            leaving = move(&s)
            if leaving >= 0:
                if s.members[leaving] == joined and x[joined] == 0:
                    break  # only a rounding error made it join
                leave(&s, leaving)
                continue
            joined = steepest(&s, &slope)
            value = value_of_weights(&s)
            gap = dot(s.weights, s.weights, s.width - 1) / 2 + slope - value
            if not gap > tolerance or slope <= weights[s.width - 1] or is_member(&s, joined) or not join(&s, joined):
                break
    return value, gap


cdef bint is_member(ActiveSet* s, Py_ssize_t cut) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(s.size):
        if s.members[i] == cut:
            return True
    return False
