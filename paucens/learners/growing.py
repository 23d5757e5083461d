"""Growing one tree on binned features: the policy is here, the loops are in `_kernels.trees` and `_kernels.growing`.

Nodes that search columns of their own have little work each. Where threads would not share it, `_kernels.growing.grow`
grows the whole tree in one call, by the same policy and to the same bit.
"""

import heapq
from dataclasses import dataclass

import numpy as np

from paucens._kernels.growing import draw_columns, grow, search_columns
from paucens._kernels.leaves import partition
from paucens._kernels.trees import best_split, fill_histograms, pack_weights, subtract_histograms
from paucens.learners.grid import are_copies, to_grid, without_excess
from paucens.learners.nodes import LARGEST, NO_SETS, SET_BYTES, UNKNOWN, TreeNodes

RUN_SHARES = (0.9, 0.97)  # shares of the mass after which a search of columns pauses, heaviest rows first
MAX_DEPTH = 31  # of trees that may have a leaf per sample
MAX_KEPT_BYTES = 64_000_000  # of histograms kept for subtraction while a tree grows
NODE = np.dtype(  # of `_kernels.growing`
    [
        ("value", "f8"),
        ("gain", "f8"),
        ("total", "i8"),
        ("left", "i8"),
        ("start", "i4"),
        ("stop", "i4"),
        ("depth", "i4"),
        ("child", "i4"),
        ("column", "i4"),
        ("code", "i4"),
        ("missing_left", "u1"),
        ("by_set", "u1"),
        ("left_set", "u1", SET_BYTES),
    ],
    align=True,
)


@dataclass(frozen=True)
class GrowingRule:
    """Rules for growing trees: the resolved parameters of `Tree`."""

    depth: int | None
    max_leaves: int | None
    real_leaves: bool
    leaf_ridge: float
    n_columns: int
    sample_nodes: bool


class _Node:
    """A node of a growing tree: a segment of the rows, its sums and its best split."""

    __slots__ = (
        "child",
        "code",
        "column",
        "depth",
        "gain",
        "histograms",
        "index",
        "left",
        "left_set",
        "missing_left",
        "start",
        "stop",
        "total",
        "value",
    )

    def __init__(self, index, depth, start, stop, total, value):
        self.index, self.depth = index, depth
        self.start, self.stop = start, stop
        self.total, self.value = total, value  # total: packed sums, see _kernels.trees
        self.gain, self.column, self.code, self.missing_left, self.left, self.left_set = 0.0, -1, 0, False, 0, None
        self.child = 0
        self.histograms = None

    def keep_best(self, splits):
        """Keep the best of some splits, the first one of equals."""
        best = splits[0] if len(splits) == 1 else max(splits, key=lambda split: split[0])
        self.gain, self.column, self.code, self.missing_left, self.left, self.left_set = best


class TreeGrower:
    """Grower of trees on one binned data set, with buffers that all trees share.

    Parameters
    ----------
    binned : BinnedData
    rule : GrowingRule
    threads : Threads
    columns : ndarray of int32, optional
        The features that the trees may use, ascending; all by default.
    weights : ndarray of shape (n_samples,), optional
        How much each sample counts in the mean magnitude of the rows; 1 by default. Signed weights contain it.
    """

    def __init__(self, binned, rule, threads, columns=None, weights=None):
        n_features, n_samples = binned.codes.shape
        self.binned, self.rule, self.threads = binned, rule, threads
        self._allowed = np.arange(n_features, dtype=np.int32) if columns is None else columns
        self._has_missing = binned.has_missing
        self._bins = np.column_stack([binned.n_bins, binned.kinds]).astype(np.int32)
        self._counts = weights
        self._copies = weights if weights is not None and are_copies(weights) else None
        self._rows = np.empty(n_samples, dtype=np.int32)
        self._weights = np.empty(n_samples, dtype=np.int64)
        self._spare_rows, self._spare_weights = np.empty_like(self._rows), np.empty_like(self._weights)
        self._deck = np.empty_like(self._allowed)
        self._nodes = self._heap = None  # of `grow`
        self._free = []  # histogram buffers that no node holds

    @property
    def samples_columns(self):
        """Whether trees or nodes draw some of the columns that are allowed."""
        return self.rule.n_columns < len(self._allowed)

    def grow(self, signed_weights, key=(0, 0), every_column=False):
        """Grow a tree that agrees with the signs of the weights as far as it can.

        Parameters
        ----------
        signed_weights : ndarray of shape (n_samples,), float64
            u_l y_l; rows of weight zero are never visited.
        key : tuple of int
            Seed and round, which determine the column samples.
        every_column : bool
            Ignore the rule's column sampling and use all columns that are allowed.

        Returns
        -------
        TreeNodes
            With unknown numbers of samples, see `with_n_samples`.
        """
        lowered = signed_weights if self.rule.real_leaves else without_excess(signed_weights)
        grid, exponent = to_grid(lowered, self._copies)
        n = pack_weights(grid, self._rows, self._weights)
        if self.rule.sample_nodes and not self.rule.real_leaves:
            self._heaviest_first(n)
        total = int(self._weights[:n].sum())
        n_counted = n if self._counts is None else self._counts[self._rows[:n]].sum()
        self._ridge = self.rule.leaf_ridge * _magnitude(total) / (n_counted or 1)
        self._key = key
        self._n_columns = len(self._deck) if every_column else self.rule.n_columns
        self._free = [histograms for histograms in self._free if len(histograms) == self._n_columns]
        if not self.rule.sample_nodes:
            self._columns = self._draw_columns(*key)
        root = _Node(0, 0, 0, n, total, self._leaf_value(total, 0.0 if self.rule.real_leaves else 1.0))
        if self.rule.sample_nodes and not self._shares_work(n):
            return self._as_tree(self._grow_at_once(root), exponent)
        nodes = self._grow_from(root)
        self._free += [node.histograms for node in nodes if node.histograms is not None]
        return self._as_tree(_as_table(nodes), exponent)

    def _heaviest_first(self, n):
        """Order the rows in runs of similar weight, after each of which a search may give up a column.

        The children of a node keep the order.
        """
        rows, weights = self._rows[:n], self._weights[:n]
        magnitudes = _magnitude(weights)
        order = np.argsort(-magnitudes)
        ends = np.searchsorted(np.cumsum(magnitudes[order]), np.array(RUN_SHARES) * magnitudes.sum())
        run = np.zeros(n, dtype=np.int8)
        for end in ends:
            run[order[end:]] += 1
        by_run = np.argsort(run, kind="stable")
        self._rows[:n], self._weights[:n] = rows[by_run], weights[by_run]

    def _grow_from(self, root):
        """Split leaf after leaf: in order of creation down to `depth`, or best first up to `max_leaves`."""
        rule = self.rule
        nodes, frontier, n_leaves = [root], [], 1
        max_leaves = rule.max_leaves or root.stop + 1
        found = self._search_root(root)
        while True:
            for node in found:
                if node.column >= 0:
                    heapq.heappush(frontier, (-node.gain if rule.max_leaves else 0.0, node.index, node))
            if not frontier or n_leaves >= max_leaves:
                return nodes
            parent = heapq.heappop(frontier)[-1]
            children = self._split(parent, len(nodes))
            nodes += children
            n_leaves += 1
            deep = rule.depth is not None and children[0].depth >= rule.depth
            found = [] if deep or n_leaves >= max_leaves else self._search_children(parent, *children)

    def _grow_at_once(self, root):
        """Grow the tree in one call of a kernel; return its nodes as NODE."""
        rule = self.rule
        if self._nodes is None:
            n_samples = len(self._rows)
            most_leaves = min(rule.max_leaves or n_samples, 2 ** min(rule.depth or MAX_DEPTH, MAX_DEPTH), n_samples)
            self._nodes = np.empty(2 * most_leaves - 1, dtype=NODE)
            self._heap = np.empty(len(self._nodes), dtype=np.int32)
        first = self._nodes[:1]
        first["value"], first["total"], first["start"], first["stop"] = root.value, root.total, 0, root.stop
        first["depth"], first["child"], first["column"] = 0, 0, -1
        n = grow(
            self.binned.codes,
            self._bins,
            self._rows,
            self._weights,
            self._spare_rows,
            self._spare_weights,
            np.array(self._key, dtype=np.uint64),
            self._allowed,
            self._deck,
            self._n_columns,
            rule.depth or len(self._nodes),
            rule.max_leaves or len(self._nodes),
            rule.max_leaves is not None,
            rule.real_leaves,
            self._ridge,
            self._nodes,
            self._heap,
        )
        return self._nodes[:n]

    def _split(self, parent, index):
        """Make the two children of a node; their rows are partitioned only when they are searched."""
        right = parent.total - parent.left
        parent.child = index
        depth = parent.depth + 1
        return [
            _Node(index, depth, parent.start, -1, parent.left, self._leaf_value(parent.left, parent.value)),
            _Node(index + 1, depth, -1, parent.stop, right, self._leaf_value(right, parent.value)),
        ]

    def _leaf_value(self, total, inherited):
        if not self.rule.real_leaves:
            return float(np.sign(total >> 32)) or inherited
        mass = _magnitude(total) + self._ridge
        return (total >> 32) / mass if mass > 0 else inherited

    # -- the search for splits ---------------------------------------------------------------------

    def _search_root(self, root):
        self._n_kept = 0
        if self.rule.sample_nodes:
            self._search_sampled(root)
        else:
            root.histograms = self._take_buffer()
            self._search(root)
            self._keep_histograms(root)
        return [root]

    def _search_children(self, parent, left, right):
        """Partition the rows of two siblings and find the best split of each."""
        segment = slice(parent.start, parent.stop)
        first = parent.missing_left and bool(self._has_missing[parent.column])  # counted as the first bin
        left.stop = right.start = parent.start + partition(
            self.binned.codes[parent.column],
            first,
            parent.code + first,
            parent.left_set,
            self._rows[segment],
            self._weights[segment],
            self._spare_rows,
            self._spare_weights,
        )
        if self.rule.sample_nodes:
            self._search_sampled(left)
            self._search_sampled(right)
            return [left, right]
        small, large = (left, right) if left.stop - left.start <= right.stop - right.start else (right, left)
        small.histograms = self._take_buffer()
        if parent.histograms is None:
            large.histograms = self._take_buffer()
            self._search(small)
            self._search(large)
        else:  # the sibling by subtraction
            large.histograms, parent.histograms = parent.histograms, None
            self._n_kept -= 1
            self._search(small, large)
        self._keep_histograms(small)
        self._keep_histograms(large)
        return [left, right]

    def _search_sampled(self, node):
        """Search a node on columns of its own, whose histograms no other node could use."""
        rows, weights = self._rows[node.start : node.stop], self._weights[node.start : node.stop]
        columns = self._draw_columns(*self._key, node.index)

        def search(start, stop):
            return search_columns(
                self.binned.codes,
                rows,
                weights,
                columns,
                self._bins,
                node.total,
                self.rule.real_leaves,
                self._ridge,
                start,
                stop,
            )

        node.keep_best(self.threads.run(search, len(columns), self._work(len(rows))))

    def _work(self, n_rows):
        """Count the inner steps of a search over some rows."""
        return self._n_columns * (n_rows + 256)

    def _shares_work(self, n_rows):
        """Tell whether threads share a search over some rows."""
        return self.threads.n_blocks(self._n_columns, self._work(n_rows)) > 1

    def _search(self, node, sibling=None):
        """Fill the histograms of a node and find its best split; also that of its sibling, which holds the parent's."""
        rows, weights = self._rows[node.start : node.stop], self._weights[node.start : node.stop]
        columns, members = self._columns, [node] if sibling is None else [node, sibling]

        def search(start, stop):
            fill_histograms(self.binned.codes, rows, weights, columns, node.histograms, start, stop)
            if sibling is not None:
                subtract_histograms(sibling.histograms, node.histograms, start, stop)
            return [
                best_split(
                    member.histograms,
                    columns,
                    self._bins,
                    member.total,
                    self.rule.real_leaves,
                    self._ridge,
                    start,
                    stop,
                )
                for member in members
            ]

        found = self.threads.run(search, len(columns), len(columns) * (len(rows) + 256 * len(members)))
        for k, member in enumerate(members):
            member.keep_best([block[k] for block in found])

    # -- buffers and columns -----------------------------------------------------------------------

    def _take_buffer(self):
        return self._free.pop() if self._free else np.empty((self._n_columns, 256), dtype=np.int64)

    def _keep_histograms(self, node):
        """Keep the histograms of a node if a child may subtract from them and memory allows."""
        last = self.rule.depth is not None and node.depth + 1 >= self.rule.depth
        if last or node.column < 0 or (self._n_kept + 1) * node.histograms.nbytes > MAX_KEPT_BYTES:
            self._release_histograms(node)
        else:
            self._n_kept += 1

    def _release_histograms(self, node):
        self._free.append(node.histograms)
        node.histograms = None

    def _draw_columns(self, *key):
        """Draw the columns of one tree or node, ascending, from the stream of (seed, round[, node])."""
        if self._n_columns == len(self._allowed):
            return self._allowed
        draw_columns(np.array(key, dtype=np.uint64), self._allowed, self._deck, self._n_columns)
        return self._deck[: self._n_columns].copy()

    def _as_tree(self, table, exponent):
        """Return the nodes of a table of NODE as a tree; those without a child are leaves."""
        inner = table["child"] > 0
        column, code = np.where(inner, table["column"], -1), np.where(inner, table["code"], 0)
        by_set = inner & (table["by_set"] > 0)
        by_value, threshold = np.flatnonzero(inner & ~by_set), np.zeros(len(table))
        threshold[by_value] = self.binned.thresholds[self.binned.offsets[column[by_value]] + code[by_value]]
        return TreeNodes(
            column=column,
            code=code,
            threshold=np.minimum(threshold, LARGEST),
            missing_left=inner & (table["missing_left"] > 0),
            missing_seen=inner & self._has_missing[column],
            left_sets=np.where(by_set[:, None], table["left_set"], np.uint8(0)) if by_set.any() else NO_SETS,
            child=table["child"].copy(),
            n_samples=np.full(len(table), UNKNOWN, dtype=np.int64),
            value=table["value"].copy(),
            gain=np.ldexp(np.where(inner, table["gain"], 0.0), -exponent),
        )


def _as_table(nodes):
    """Return nodes as a table of NODE."""
    table = np.zeros(len(nodes), dtype=NODE)
    for name in ("value", "gain", "child", "column", "code", "missing_left"):
        table[name] = [getattr(node, name) for node in nodes]
    for row, node in zip(table, nodes, strict=True):
        if node.left_set is not None:
            row["by_set"], row["left_set"] = True, np.frombuffer(node.left_set, dtype=np.uint8)
    return table


def _magnitude(packed):
    return packed & 0xFFFFFFFF
