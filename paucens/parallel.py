"""Blocks of work in threads: kernels take [start, stop) and release the interpreter's lock."""

import itertools
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from joblib import effective_n_jobs

WORTH_A_THREAD = 2_000_000  # inner steps per block; a smaller block is not worth passing to a thread


def blocks(n_items: int, n_blocks: int) -> list[tuple[int, int]]:
    """Cut range(n_items) into at most n_blocks contiguous blocks of nearly equal length.

    Examples
    --------
    >>> blocks(10, 3)
    [(0, 3), (3, 6), (6, 10)]
    """
    n_blocks = max(1, min(n_blocks, n_items))
    edges = [n_items * k // n_blocks for k in range(n_blocks + 1)]
    return list(itertools.pairwise(edges))


class Threads:
    """Threads that run a kernel over blocks of its items, as many as `n_jobs` allows.

    Parameters
    ----------
    n_jobs : int or None
        As in joblib: None means one thread outside a joblib context, -1 all cores.

    Notes
    -----
    Each block must write to memory of its own, so that results do not depend on the number of blocks.
    """

    def __init__(self, n_jobs: int | None = None):
        self.n_threads: int = effective_n_jobs(n_jobs)
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def n_blocks(self, n_items: int, work: float) -> int:
        """Return the number of blocks of `run`."""
        return max(1, min(self.n_threads, n_items, int(work) // WORTH_A_THREAD))

    def run(self, kernel: Callable[[int, int], Any], n_items: int, work: float) -> list[Any]:
        """Call kernel(start, stop) on blocks of range(n_items); return the results in order.

        Parameters
        ----------
        kernel : callable
        n_items : int
        work : number
            Inner steps of all items together, which decide about the number of blocks.
        """
        n_blocks = self.n_blocks(n_items, work)
        if n_blocks == 1:
            return [kernel(0, n_items)]
        pieces = blocks(n_items, n_blocks)
        return list(self._pool.map(lambda piece: kernel(*piece), pieces))

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """Call work(item) for each item, in parallel; return the results in order."""
        return [work(item) for item in items] if self._pool is None else list(self._pool.map(work, items))


ALONE = Threads(1)  # for work inside a pool of threads, which must not wait for that pool
