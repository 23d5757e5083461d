"""Growing of trees whose nodes search columns of their own: search without histograms, samples of columns, growth."""

from libc.stdlib cimport qsort
from libc.string cimport memcpy, memset

from paucens._kernels.rows cimport move_left
from paucens._kernels.splits cimport BINS, CATEGORIES, SET_BYTES, Split
from paucens._kernels.splits cimport absolute, fill_four, fill_one, least_gain, magnitude, result, scan, signed_sum
from paucens._kernels.types cimport code_t, index_t, key_t, sum_t

cdef enum:
    MAX_RUNS = 4  # runs of rows, after each of which a column may be given up


cdef struct Samples:
    const code_t* codes    # bins, a row of n_samples per feature
    Py_ssize_t n_samples
    const index_t* bins    # number of bins and kind of each feature, see `best_split`


cdef struct Rule:
    bint real_leaves
    double ridge

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


cdef void search(const Samples* samples, const index_t* rows, const sum_t* weights, Py_ssize_t n,
                 const index_t* columns, Py_ssize_t start, Py_ssize_t stop, sum_t total, const Rule* rule,
                 Split* best) noexcept nogil:
    """Find the best split of n rows over columns[start:stop], see `search_columns`; best.column is -1 if none gains."""
    cdef Py_ssize_t k, c, run, n_runs
    cdef Py_ssize_t ends[MAX_RUNS + 1]
    cdef sum_t seen[MAX_RUNS + 1]
    cdef sum_t histograms[4 * BINS]
    cdef const code_t* four[4]
    cdef bint alive[4]
    best.gain, best.column = least_gain(total, rule.real_leaves, rule.ridge), -1
    if n == 0:
        return
    n_runs = find_runs(rows, weights, n, 1 if rule.real_leaves else MAX_RUNS, ends, seen)
    for k in range(start, stop, 4):
        for c in range(4):
            alive[c] = k + c < stop
            four[c] = samples.codes + columns[k + c] * samples.n_samples if alive[c] else NULL
        memset(histograms, 0, sizeof(histograms))
        for run in range(n_runs):
            if run > 0:
                for c in range(4):
                    alive[c] = alive[c] and best.gain < most_possible(
                        histograms + c * BINS, samples.bins + 2 * columns[k + c], seen[run], total)
            count_rows(four, alive, rows + ends[run], weights + ends[run], ends[run + 1] - ends[run], histograms)
        for c in range(4):
            if alive[c]:
                scan(histograms + c * BINS, samples.bins + 2 * columns[k + c], total, rule.real_leaves, rule.ridge,
                     k + c, best)


def search_columns(const code_t[:, ::1] codes, const index_t[::1] rows, const sum_t[::1] weights,
                   const index_t[::1] columns, const index_t[:, ::1] bins, sum_t total, bint real_leaves,
                   double ridge, Py_ssize_t start, Py_ssize_t stop):
    """Find the split that `fill_histograms` and `best_split` find, four columns at a time, without keeping histograms.

    With sign leaves a column is given up as soon as the rows not counted yet cannot lift it above the best split so
    far (Appel, Fuchs, Dollar and Perona, ICML 2013). This is checked after each of the first runs of ascending rows;
    the heaviest rows should be in the first run. The result does not depend on the order of the rows.
    """
    cdef Samples samples
    cdef Rule rule
    cdef Split best
    cdef Py_ssize_t n = rows.shape[0]
    samples.codes, samples.n_samples, samples.bins = &codes[0, 0], codes.shape[1], &bins[0, 0]
    rule.real_leaves, rule.ridge = real_leaves, ridge
    with nogil:
        search(&samples, &rows[0] if n > 0 else NULL, &weights[0] if n > 0 else NULL, n, &columns[0], start, stop,
               total, &rule, &best)
    return result(&best, least_gain(total, real_leaves, ridge), columns, bins)


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


cdef void draw(key_t state, const index_t[::1] allowed, index_t[::1] deck, Py_ssize_t n) noexcept nogil:
    """Draw columns by a stream, see `draw_columns`."""
    cdef Py_ssize_t k, other
    memcpy(&deck[0], &allowed[0], allowed.shape[0] * sizeof(index_t))
    for k in range(n):
        other = k + <Py_ssize_t> (scramble(&state) % <key_t> (deck.shape[0] - k))
        deck[k], deck[other] = deck[other], deck[k]
    qsort(&deck[0], n, sizeof(index_t), ascending)


cdef key_t stream(const key_t[::1] key) noexcept nogil:
    """Return the state in which the stream of a key begins."""
    cdef key_t state = 0
    cdef Py_ssize_t k
    for k in range(key.shape[0]):
        state = scramble(&state) ^ key[k]
    return state


def draw_columns(const key_t[::1] key, const index_t[::1] allowed, index_t[::1] deck, Py_ssize_t n):
    """Draw n of the allowed columns without replacement, by the stream of `key`; write them to deck[:n], ascending.

    They are the first n steps of a Fisher-Yates shuffle, for which `deck` has room. The stream depends on the integers
    of `key` alone (seed, round, node), not on the state of a generator. The bias of the modulo is below 2**-32.
    """
    with nogil:
        draw(stream(key), allowed, deck, n)


# -- growth ----------------------------------------------------------------------------------------

cdef struct Node:
    double value
    double gain
    sum_t total           # packed weight
    sum_t left            # that of the left child
    index_t start         # its rows
    index_t stop
    index_t depth
    index_t child         # the left one; 0 at a leaf
    index_t column        # -1 if no split gains
    index_t code          # bins up to this one go left
    code_t missing_left
    code_t by_set         # whether categories are split, those in left_set to the left
    code_t[SET_BYTES] left_set


cdef inline bint comes_first(const Node* nodes, bint best_first, index_t a, index_t b) noexcept nogil:
    if best_first and nodes[a].gain != nodes[b].gain:
        return nodes[a].gain > nodes[b].gain
    return a < b


cdef void push(const Node* nodes, bint best_first, index_t* heap, Py_ssize_t n, index_t node) noexcept nogil:
    """Add a node to a heap of n nodes."""
    cdef Py_ssize_t k = n
    while k > 0 and comes_first(nodes, best_first, node, heap[(k - 1) // 2]):
        heap[k] = heap[(k - 1) // 2]
        k = (k - 1) // 2
    heap[k] = node


cdef index_t pop(const Node* nodes, bint best_first, index_t* heap, Py_ssize_t n) noexcept nogil:
    """Take the first node out of a heap of n nodes."""
    cdef index_t first = heap[0], last = heap[n - 1]
    cdef Py_ssize_t k = 0, next = 1
    while next < n - 1:
        if next + 1 < n - 1 and comes_first(nodes, best_first, heap[next + 1], heap[next]):
            next += 1
        if comes_first(nodes, best_first, last, heap[next]):
            break
        heap[k] = heap[next]
        k, next = next, 2 * next + 1
    heap[k] = last
    return first


cdef double leaf_value(sum_t total, const Rule* rule, double inherited) noexcept nogil:
    """Return the value of a leaf; `inherited` is that of its parent."""
    cdef sum_t inside = signed_sum(total)
    cdef double mass = <double> magnitude(total) + rule.ridge
    if rule.real_leaves:
        return <double> inside / mass if mass > 0 else inherited
    return inherited if inside == 0 else 1.0 if inside > 0 else -1.0


cdef void find_split(const Samples* samples, const Rule* rule, const index_t* rows, const sum_t* weights,
                     const index_t* columns, Py_ssize_t n_columns, Node* node) noexcept nogil:
    """Find the best split of a node over some columns."""
    cdef Split best
    search(samples, rows + node.start, weights + node.start, node.stop - node.start, columns, 0, n_columns, node.total,
           rule, &best)
    if best.column < 0:
        return
    node.gain = best.gain - least_gain(node.total, rule.real_leaves, rule.ridge)
    node.column, node.code = columns[best.column], <index_t> best.code
    node.missing_left, node.left = best.missing_left, best.left
    node.by_set = samples.bins[2 * node.column + 1] == CATEGORIES
    if node.by_set:
        memcpy(node.left_set, best.left_set, SET_BYTES)


cdef void make_child(Node* child, const Node* parent, sum_t total, const Rule* rule) noexcept nogil:
    """Make a child of a node, which is a leaf until it is split."""
    child.total, child.value = total, leaf_value(total, rule, parent.value)
    child.start, child.stop, child.depth = parent.start, parent.stop, parent.depth + 1
    child.child, child.column = 0, -1


cdef Py_ssize_t divide(const Samples* samples, const Node* node, index_t* rows, sum_t* weights, index_t* spare_rows,
                       sum_t* spare_weights) noexcept nogil:
    """Move the rows of a node that go left to the front; return their number."""
    cdef bint from_missing = node.missing_left and samples.bins[2 * node.column + 1] == 1  # as the first bin
    cdef const code_t* left_set = NULL
    if node.by_set:
        left_set = &node.left_set[0]
    return move_left(samples.codes + node.column * samples.n_samples, from_missing,
                     <code_t> (node.code + from_missing), left_set, rows + node.start, weights + node.start,
                     node.stop - node.start, spare_rows, spare_weights)


def grow(const code_t[:, ::1] codes, const index_t[:, ::1] bins, index_t[::1] rows, sum_t[::1] weights,
         index_t[::1] spare_rows, sum_t[::1] spare_weights, const key_t[::1] key, const index_t[::1] allowed,
         index_t[::1] deck, Py_ssize_t n_columns, Py_ssize_t depth, Py_ssize_t max_leaves, bint best_first,
         bint real_leaves, double ridge, Node[::1] nodes, index_t[::1] heap):
    """Grow a tree whose nodes draw n_columns of the allowed columns each; return the number of its nodes.

    It is the tree that `TreeGrower` grows by calls of `draw_columns`, `search_columns` and `partition`.

    nodes: room for all nodes, the root with its value, total, start, stop and depth; heap: as long as `nodes`.
    """
    cdef Samples samples
    cdef Rule rule
    cdef Node* parent
    cdef Py_ssize_t k, n_nodes = 1, n_leaves = 1, n_waiting = 0, n_known = 0
    cdef bint draws = n_columns < allowed.shape[0]
    cdef const index_t* columns = &allowed[0]
    cdef key_t state
    if draws:
        columns = &deck[0]
    samples.codes, samples.n_samples, samples.bins = &codes[0, 0], codes.shape[1], &bins[0, 0]
    rule.real_leaves, rule.ridge = real_leaves, ridge
    with nogil:
        while True:
            for k in range(n_known, n_nodes):
                if draws:
                    state = stream(key)
                    draw(scramble(&state) ^ <key_t> k, allowed, deck, n_columns)
                find_split(&samples, &rule, &rows[0], &weights[0], columns, n_columns, &nodes[k])
                if nodes[k].column >= 0:
                    push(&nodes[0], best_first, &heap[0], n_waiting, <index_t> k)
                    n_waiting += 1
            if n_waiting == 0 or n_leaves >= max_leaves:
                break
            parent = &nodes[pop(&nodes[0], best_first, &heap[0], n_waiting)]
            n_waiting -= 1
            parent.child = <index_t> n_nodes
            make_child(&nodes[n_nodes], parent, parent.left, &rule)
            make_child(&nodes[n_nodes + 1], parent, parent.total - parent.left, &rule)
            n_leaves += 1
            n_known = n_nodes
            n_nodes += 2
            if parent.depth + 1 >= depth or n_leaves >= max_leaves:
                n_known = n_nodes  # the children stay leaves
            else:
                k = divide(&samples, parent, &rows[0], &weights[0], &spare_rows[0], &spare_weights[0])
                nodes[n_known].stop = nodes[n_known + 1].start = parent.start + <index_t> k
    return n_nodes
