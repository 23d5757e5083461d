"""Slow twins of the kernels, in plain NumPy and Python: same names, results returned instead of written."""

import itertools
from fractions import Fraction

import daqp
import numpy as np

ROUNDING = 1e-12
LOW = 0xFFFFFFFF
MISSING = 255
CATEGORIES = 2


# -- trees -----------------------------------------------------------------------------------------


def quantise(X, order, thresholds, offsets):
    columns = [thresholds[a:b] for a, b in itertools.pairwise(offsets)]
    codes = [[sum(t < X[row, j] for t in column) for row in order] for j, column in enumerate(columns)]
    return np.where(np.isnan(X[order].T), MISSING, codes)


def pack_weights(weights):
    rows = [row for row, weight in enumerate(weights) if weight != 0]
    return rows, [int(weights[row]) * 2**32 + abs(int(weights[row])) for row in rows]


def unpack(packed):
    """Split packed sums into the signed sum and the sum of magnitudes."""
    return int(packed) >> 32, int(packed) & LOW


def fill_histograms(codes, rows, weights, columns):
    out = np.zeros((len(columns), 256), dtype=np.int64)
    for k, column in enumerate(columns):
        for row, weight in zip(rows, weights, strict=True):
            out[k, codes[column, row]] += weight
    return out


def subtract_histograms(parent, child):
    return parent - child


def share(signed, mass):
    """Return S^2 / W, or 0 without weight."""
    return float(signed) * float(signed) / mass if mass > 0 else 0.0


def splits(histogram, bins, total):
    """Yield all splits of a column that leave weight on both sides: code, missing_left, packed left sum, left_set."""
    n_bins, kind = bins
    missing, mass = int(histogram[MISSING]) if kind else 0, unpack(total)[1]
    order = by_share(histogram, n_bins) if kind == CATEGORIES else [c for c in range(n_bins) if histogram[c]]
    for k in range(1, len(order) + 1):
        for with_missing in (True, False) if missing else (False,):
            left = sum(int(histogram[c]) for c in order[:k]) + with_missing * missing
            if 0 < unpack(left)[1] < mass:
                heavier = 2 * unpack(left)[1] >= mass
                missing_left = with_missing if missing else heavier
                if kind == CATEGORIES:
                    empty = [c for c in range(n_bins) if not histogram[c]]
                    inside = order[:k] + heavier * empty + missing_left * list(range(n_bins, 256))
                    yield 0, missing_left, left, set_of(inside)
                else:
                    yield order[k - 1] if k < len(order) else n_bins - 1, missing_left, left, None


def by_share(histogram, n_bins):
    """Return the categories of a node in the order of S / W, equal ones in the order of their indices."""
    present = [c for c in range(n_bins) if histogram[c]]
    return sorted(present, key=lambda c: Fraction(*unpack(histogram[c])))


def set_of(codes):
    bits = np.zeros(256, dtype=bool)
    bits[codes] = True
    return np.packbits(bits, bitorder="little").tobytes()


def best_split(histograms, columns, bins, total, real_leaves, ridge, start, stop):
    whole, mass = unpack(total)
    base = share(whole, mass + ridge) * (1 + ROUNDING) if real_leaves else abs(whole)
    best, found = base, (0.0, -1, 0, False, 0, None)
    for k in range(start, stop):
        for code, missing_left, packed, left_set in splits(histograms[k], bins[columns[k]], total):
            left, left_mass = unpack(packed)
            gain = abs(left) + abs(whole - left)
            if real_leaves:
                gain = share(left, left_mass + ridge) + share(whole - left, mass - left_mass + ridge)
            if gain > best:
                best, found = gain, (gain - base, columns[k], code, missing_left, packed, left_set)
    return found


def holds(left_set, code):
    return bool(left_set[code // 8] >> code % 8 & 1)


def partition(codes, first, last, left_set, rows, weights):
    codes = [int(codes[row]) for row in rows]
    goes_left = [holds(left_set, code) if left_set else (code + first) % 256 <= last for code in codes]
    order = np.argsort(np.logical_not(goes_left), kind="stable")
    return sum(goes_left), rows[order], weights[order]


def apply_codes(codes, column, first, last, child):
    return apply_values(np.where(codes == MISSING, np.nan, codes).T, column, last - first, first, child)


def apply_values(X, column, threshold, missing_left, child):
    none = np.zeros(len(child)), [None] * len(child)
    return apply_mixed_values(X, column, threshold, missing_left, *none, child)


def apply_mixed_codes(codes, column, first, last, by_set, left_sets, child):
    X = np.where(codes == MISSING, np.nan, codes).T
    return apply_mixed_values(X, column, last - first, first, by_set, left_sets, child)


def apply_mixed_values(X, column, threshold, missing_left, by_set, left_sets, child):
    leaves = []
    for x in X:
        node = 0
        while child[node]:
            value = x[column[node]]
            left = missing_left[node] if np.isnan(value) else value <= threshold[node]
            if by_set[node]:
                left = holds(left_sets[node], int(value) if value in range(MISSING) else MISSING)
            node = child[node] if left else child[node] + 1
        leaves.append(node)
    return leaves


def scramble(state):
    """Do one step of SplitMix64 in Python's unbounded integers; return the next state and its output."""
    state = z = (state + 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return state, z ^ (z >> 31)


def draw_columns(key, deck, n):
    deck, state = list(deck), 0
    for part in key:
        state = scramble(state)[1] ^ int(part)
    for k in range(n):
        state, z = scramble(state)
        other = k + z % (len(deck) - k)
        deck[k], deck[other] = deck[other], deck[k]
    return deck


# -- stores ----------------------------------------------------------------------------------------


def bit(code, learner):
    """Return +1 if the bit of a learner is set in the code of its group, otherwise -1."""
    return 1 if code >> learner % 8 & 1 else -1


def sum_groups(codes, tables):
    return np.array([sum(table[code] for table, code in zip(tables, column, strict=False)) for column in codes.T])


def add_values(values, index, scores, start, stop):
    within = (np.arange(len(scores)) >= start) & (np.arange(len(scores)) < stop)
    return np.where(within, scores + values[index], scores)


def all_counts(samples, counts, tied_count):
    """Return the counts of all samples of a cut, including the tied ones."""
    return np.concatenate([counts, np.full(len(samples) - len(counts), tied_count)])


def sum_samples(codes, samples, counts, tied_count, n_groups):
    sums = np.zeros((n_groups, 256))
    for g in range(n_groups):
        np.add.at(sums[g], codes[g, samples], all_counts(samples, counts, tied_count))
    return sums


def part(code, learner):
    """Return which of its values a learner predicts, given the code of its pair."""
    return code % 32 if learner % 2 == 0 else code // 32


def sum_pairs(codes, values):
    return np.array(
        [sum(own[part(column[t // 2], t)] for t, own in enumerate(values)) for column in codes.T], dtype=float
    )


def count_pairs(codes, samples, counts, tied_count, places):
    sums = np.zeros((len(places), 64))
    for t, own in enumerate(places):
        np.add.at(sums[t], own[part(codes[t // 2, samples], t)], all_counts(samples, counts, tied_count))
    return sums


def tables_of_signs(weights, n_groups):
    learners = [range(8 * g, min(8 * g + 8, len(weights))) for g in range(n_groups)]
    return np.array([[sum(bit(c, t) * weights[t] for t in group) for c in range(256)] for group in learners])


def fold_signs(sums, n_learners):
    return np.array([sum(bit(c, t) * sums[t // 8, c] for c in range(256)) for t in range(n_learners)])


def set_bits(bit_of_node, node, codes, place):
    return codes + 2**place * bit_of_node[node]


def dot_samples(samples, counts, tied_count, predicted):
    return float(all_counts(samples, counts, tied_count) @ predicted[samples])


def add_samples(samples, counts, tied_count, factor, out):
    out = out.copy()
    np.add.at(out, samples, factor * all_counts(samples, counts, tied_count))
    return out


# -- ordering --------------------------------------------------------------------------------------


def row_length(score, ranked, j_alpha, j_beta, n_ranks):
    """Return the length of the best prefix: the shortest of equals, but reaching into the range wins a tie."""
    length = np.arange(n_ranks + 1)
    prefix = np.concatenate([[0.0], np.cumsum(ranked[:n_ranks])])
    value = np.clip(length - j_alpha, 0, j_beta - j_alpha) + prefix - length * score
    short, long = np.argmax(value[: j_alpha + 1]), j_alpha + np.argmax(value[j_alpha:])
    return int(short if value[short] > value[long] else long)


def order_ranked(positives, ranked, j_alpha, j_beta, n_ranks):
    """Return row lengths, column counts (averaged if a tie crosses the boundary) and pairs lost in the range."""
    lengths = np.array([row_length(s, ranked, j_alpha, j_beta, n_ranks) for s in positives])
    columns = np.zeros(len(ranked))
    columns[:n_ranks] = [np.sum(lengths > j) for j in range(n_ranks)]
    lost = columns[j_alpha:j_beta].sum()
    tied = ranked == ranked[j_beta - 1]
    if tied[j_beta:].any():
        columns[tied] = columns[tied].mean()
    return lengths, columns, lost


# -- dual ------------------------------------------------------------------------------------------


def solve_dual(gram, losses, budget):
    """Maximise losses . x - x' G x / 2 over x >= 0, sum x <= budget, by daqp; return value and x."""
    n = len(losses)
    upper, lower = np.full(n + 1, float(budget)), np.append(np.zeros(n), -1e30)
    x = daqp.solve(np.array(gram), -np.array(losses), np.ones((1, n)), upper, lower, np.zeros(n + 1, np.int32))[0]
    x = np.maximum(x, 0)
    x *= min(1.0, budget / max(x.sum(), 1e-300))
    return float(losses @ x - x @ gram @ x / 2), x


def append_row(features, gram, row, k):
    features, gram = features.copy(), gram.copy()
    features[k, : len(row)] = row
    gram[k, : k + 1] = gram[: k + 1, k] = features[: k + 1, : len(row)] @ row
    return features, gram


def append_column(features, gram, column, t):
    features, gram, k = features.copy(), gram.copy(), len(column)
    features[:k, t] = column
    gram[:k, :k] += np.outer(column, column)
    return features, gram


def combine_rows(features, dual, n_learners):
    return dual @ features[: len(dual), :n_learners]


# -- centrist --------------------------------------------------------------------------------------


def census(image):
    neighbours = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
    height, width = image.shape
    codes = np.zeros((height - 2, width - 2), dtype=np.uint8)
    for y, x in itertools.product(range(1, height - 1), range(1, width - 1)):
        bits = [image[y, x] >= image[y + dy, x + dx] for dy, dx in neighbours]
        codes[y - 1, x - 1] = sum(128 >> k for k, is_set in enumerate(bits) if is_set)
    return codes


def count_patches(codes, corners, strides, side):
    patches = []
    for corner, stride in zip(corners, strides, strict=True):
        patch = [int(codes[corner + y * stride + x]) for y in range(side) for x in range(side)]
        patches.append([code * (side**2 + 1) + patch.count(code) for code in dict.fromkeys(patch)])
    return patches


def nearest_words(patches, table, bias):
    totals = [bias + table[patch].sum(axis=0, dtype=np.int64) for patch in patches]
    return [int(np.argmax(total)) for total in totals], [int(np.max(total)) for total in totals]


def tally(patches, words, members):
    members = members.copy()
    for patch, word in zip(patches, words, strict=True):
        members[patch, word] += 1
    return members


# -- windows ---------------------------------------------------------------------------------------


def partial_sums(strips, first, strip, column, threshold, child, value, bias, shape):
    sums, rows = np.empty((*shape, len(first) - 1), dtype=np.float32), strips.reshape(-1, strips.shape[2])
    for row, x in np.ndindex(shape):
        score = np.float32(bias)
        for tree, root in enumerate(first[:-1]):
            node = root
            while child[node]:
                seen = rows[row * strips.shape[1] + strip[node], x + column[node]]
                node = root + child[node] + (seen > threshold[node])
            score += value[node]
            sums[row, x, tree] = score
    return sums


def group_windows(windows, height, width, overhead):
    def cost(box):
        return (box[1] - box[0] + height) * (box[3] - box[2] + width) + overhead

    def joint(a, b):
        return [min(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), max(a[3], b[3])]

    group, boxes = [], []
    for row, column in windows:
        new = [row, row, column, column]
        gains = [cost(new), *(cost(joint(box, new)) - cost(box) for box in boxes)]
        best = int(np.argmin(gains))
        group.append(len(boxes) if best == 0 else best - 1)
        boxes = [*boxes, new] if best == 0 else [joint(b, new) if k == best - 1 else b for k, b in enumerate(boxes)]
    return merge_boxes(group, boxes, cost, joint)


def merge_boxes(group, boxes, cost, joint):
    """Join the two boxes that gain most by it, until none gain; the last box takes the place of the second."""
    while True:
        pairs = list(itertools.combinations(range(len(boxes)), 2))
        gains = [cost(joint(boxes[a], boxes[b])) - cost(boxes[a]) - cost(boxes[b]) for a, b in pairs]
        if min(gains, default=0) >= 0:
            return group, boxes
        a, b = pairs[int(np.argmin(gains))]
        boxes[a] = joint(boxes[a], boxes[b])
        last = len(boxes) - 1
        boxes[b] = boxes[last] if b < last else boxes[b]
        boxes.pop()
        group = [a if k == b else b if k == last else k for k in group]


def same_nodes(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
