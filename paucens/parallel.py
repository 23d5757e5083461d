"""Blocks of work over threads: kernels take [start, stop) and release the interpreter's lock."""

import itertools
from concurrent.futures import ThreadPoolExecutor

from joblib import effective_n_jobs

WORTH_A_THREAD = 2_000_000  # inner steps below which handing a block over costs more than it gives


def blocks(n_items, n_blocks):
    """Cut range(n_items) into at most n_blocks contiguous pieces of nearly equal length.

    Examples
    --------
    >>> blocks(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    """
    n_blocks = max(1, min(n_blocks, n_items))
    edges = [n_items * k // n_blocks for k in range(n_blocks + 1)]
    return list(itertools.pairwise(edges))


class Threads:
    """Run a kernel over blocks of its items, in as many threads as `n_jobs` allows.

    Parameters
    ----------
    n_jobs : int or None
        As in joblib: None is one thread outside of a joblib context, -1 is all cores.

    Notes
    -----
    Blocks must write to places of their own, so that results do not depend on their number.
    """

    def __init__(self, n_jobs=None):
        self.n_threads = effective_n_jobs(n_jobs)
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, kernel, n_items, work):
        """Call kernel(start, stop) on blocks of range(n_items); `work` is the inner steps of all of it.

        Returns the list of what the calls returned, in order.
        """
        n_blocks = min(self.n_threads, max(1, int(work) // WORTH_A_THREAD))
        pieces = blocks(n_items, n_blocks)
        if len(pieces) == 1:
            return [kernel(*pieces[0])]
        return list(self._pool.map(lambda piece: kernel(*piece), pieces))

    def map(self, work, items):
        """Call work(item) for each of the items, side by side; return the results in order."""
        return [work(item) for item in items] if self._pool is None else list(self._pool.map(work, items))
