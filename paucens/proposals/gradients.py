"""Normed gradients at each cell of an image, and their upper bits as words; arguments are not checked."""

import numpy as np

from paucens._kernels.builds import chosen
from paucens.features.channels import CELL
from paucens.images import to_bytes

kernels = chosen("bing")

POINTS = (16, 8)  # rows and columns of a window
BITS = 4  # the upper ones of a gradient, which are kept


def normed_gradients(pixels, step, threads) -> np.ndarray:
    """Compute the normed gradients of an image at each cell of 4 x 4 pixels.

    Parameters
    ----------
    pixels : ndarray of shape (height, width, 3), uint8 or float32, contiguous
        RGB by `paucens.images.as_rgb`; at least `step` cells high and wide.
    step : int
        1 to 4. A point is the mean of the step x step cells from a cell on to the right and down, its neighbours lie
        step cells away.
    threads : paucens.parallel.Threads

    Returns
    -------
    gradients : ndarray of shape (height // 4 - step + 1, width // 4 - step + 1), uint8
        min(|gx| + |gy|, 255). Means are rounded, halves up; the border is repeated outwards.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.parallel import Threads
    >>> ramp = np.repeat(np.arange(24, dtype=np.uint8)[None, :, None], 8, axis=0).repeat(3, axis=2)
    >>> [normed_gradients(ramp, step, Threads(1)).tolist() for step in (1, 2)]
    [[[4, 8, 8, 8, 8, 4], [4, 8, 8, 8, 8, 4]], [[8, 12, 16, 12, 8]]]
    """
    averages = _averages(to_bytes(pixels), step, threads)
    rows, _, columns = averages.shape
    gradients = np.empty((rows, columns), dtype=np.uint8)

    def kernel(start, stop):
        scratch = np.empty(3 * (columns + 2 * step), dtype=np.uint8)
        kernels.normed_gradients(averages, step, scratch, gradients, start, stop)

    threads.run(kernel, rows, averages.size)
    return gradients


def _averages(pixels, step, threads):
    """Return the means of step x step cells, uint8 (rows, 3, columns)."""
    rows, columns = (side // CELL for side in pixels.shape[:2])
    sums = np.empty((rows, 3, columns), dtype=np.uint16)
    averages = np.empty((rows - step + 1, 3, columns - step + 1), dtype=np.uint8)

    def add(start, stop):
        kernels.sum_cells(pixels, np.empty(pixels.shape[1] * 3, dtype=np.uint16), sums, start, stop)

    def divide(start, stop):
        kernels.average_boxes(sums, step, np.empty(columns, dtype=np.uint16), averages, start, stop)

    threads.run(add, rows, pixels.size)
    threads.run(divide, len(averages), averages.size * step**2)
    return averages


def pack_words(gradients, step, grid_shape, threads) -> np.ndarray:
    """Pack the upper four bits of gradients into words of 8 x 8 points.

    Parameters
    ----------
    gradients : ndarray of shape (rows, columns), uint8
        From the first point of the first window on. Columns are contiguous.
    step : int
        Distance of the points in cells.
    grid_shape : tuple of int
        Rows and columns of windows.
    threads : paucens.parallel.Threads

    Returns
    -------
    words : ndarray of shape (rows of windows + 8 * step, 4, columns of windows), uint64
        Of bits 4 to 7. The words of a window are those of its upper half, and 8 * step rows below those of its lower
        half. The first row is the upper byte, the first column the upper bit of a byte.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.parallel import Threads
    >>> gradients = np.zeros((16, 8), dtype=np.uint8)
    >>> gradients[0, 0], gradients[15, 7] = 16, 128 + 15
    >>> words = pack_words(gradients, 1, (1, 1), Threads(1))
    >>> [hex(word) for word in words[0, :, 0]], [hex(word) for word in words[8, :, 0]]
    (['0x8000000000000000', '0x0', '0x0', '0x0'], ['0x0', '0x0', '0x0', '0x1'])
    """
    rows, columns = grid_shape
    words = np.empty((rows + 8 * step, BITS, columns), dtype=np.uint64)

    def kernel(start, stop):
        scratch = np.empty((2, columns + 7 * step), dtype=np.uint8)
        kernels.pack_words(gradients, step, scratch, words, start, stop)

    threads.run(kernel, len(words), words.size * 4)
    return words


def windows_at(gradients, step, rows, columns):
    """Return the windows whose first points lie in these rows and columns, uint8 (n, 16, 8)."""
    down, across = (step * np.arange(n) for n in POINTS)
    return gradients[np.add.outer(rows, down)[:, :, None], np.add.outer(columns, across)[:, None, :]]
