"""Filters of channels (LDCF: Nam, Dollar and Han, NIPS 2014): local decorrelation before the trees look at them."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from paucens.features.pyramid import resize

MOST_FILTERS, LONGEST_SIDE = 64, 31


def checked_filters(filters, n_channels) -> np.ndarray:
    """Return filters as float32, of shape (n, n_channels, height, width); raise ValueError if they are none."""
    given = np.asarray(filters)
    is_number = given.dtype.kind in "iuf" and given.ndim == 4 and np.isfinite(given).all()
    sides = given.shape[2:]
    if (
        not is_number
        or given.shape[1] != n_channels
        or not 0 < len(given) <= MOST_FILTERS
        or any(side % 2 == 0 or side > LONGEST_SIDE for side in sides)
    ):
        raise ValueError(
            f"filters must be finite numbers of shape (n, {n_channels}, height, width), n at most {MOST_FILTERS}, "
            f"height and width odd and at most {LONGEST_SIDE}; got {given.dtype} of shape {given.shape}."
        )
    return np.ascontiguousarray(given, dtype=np.float32)


def filtered(strips, filters, threads) -> np.ndarray:
    """Convolve each channel with its filters, then halve both sides.

    Parameters
    ----------
    strips : ndarray of shape (rows, n_channels, columns), float32
    filters : ndarray of shape (n, n_channels, height, width), float32
        From `checked_filters`.
    threads : paucens.parallel.Threads

    Returns
    -------
    halved : ndarray of shape (ceil(rows / 2), n * n_channels, ceil(columns / 2)), float32
        All channels of the first filter, then those of the second.

    Notes
    -----
    As `acfDetect` of Dollar's toolbox: outside the strips there is 0, and the halving is that of `resize`.

    Examples
    --------
    >>> from paucens.parallel import Threads
    >>> ones, mean = np.ones((4, 1, 4), np.float32), np.full((1, 1, 3, 3), 1 / 9)
    >>> filtered(ones, checked_filters(mean, 1), Threads(1))[:, 0].astype(float).round(3).tolist()
    [[0.694, 0.694], [0.694, 0.694]]
    """
    n, n_channels, height, width = filters.shape
    rows, _, columns = strips.shape
    padded = np.pad(strips, ((height // 2, height // 2), (0, 0), (width // 2, width // 2)))
    taps = np.ascontiguousarray(filters[:, :, ::-1, ::-1].swapaxes(0, 1)).reshape(n_channels, n, height * width)
    out = np.empty((rows, n, n_channels, columns), dtype=np.float32)

    def kernel(start, stop):
        for y in range(start, stop):  # row by row, so that results do not depend on the number of threads
            windows = sliding_window_view(
                padded[y : y + height], columns, axis=2
            )  # (height, n_channels, width, columns)
            windows = windows.transpose(1, 0, 2, 3).reshape(n_channels, height * width, columns)
            out[y] = np.matmul(taps, windows).swapaxes(0, 1)

    threads.run(kernel, rows, filters.size * rows * columns)
    out = out.reshape(rows, n * n_channels, columns)
    cells = np.ascontiguousarray(np.moveaxis(out, 1, 2))
    return np.moveaxis(resize(cells, ((rows + 1) // 2, (columns + 1) // 2), threads), 2, 1)
