"""Rows of windows on a level of an image, with the pixels and the channels that they are scored on."""

from typing import NamedTuple

import numpy as np

from paucens.features.levels import Level

SLACK = 16  # floats that the scan may read behind the strips


class Band(NamedTuple):
    """Some rows of windows on a level, their pixels and their channels.

    Attributes
    ----------
    level : Level or None
        None for a crop.
    first_row : int
        The first row of windows of the band, counted from the first one of the level.
    shape : tuple of int
        Rows and columns of windows in the band.
    pixels : ndarray of shape (height, width, 3), uint8, or (height, width, 5), float32, or None
        Those of the windows and of their margin (`paucens.features.motion`). None if the channels are not computed from
        pixels.
    strips : ndarray of shape (rows, n_channels, columns), float32, or None
        Channels of the cells in the windows, the inner part of strips with the margin. Columns are contiguous, and
        `SLACK` more floats are behind them in memory. None before they are computed.
    """

    level: Level | None
    first_row: int
    shape: tuple[int, int]
    pixels: np.ndarray | None
    strips: np.ndarray | None = None


def windows_where(wanted):
    """Return rows and columns where a mask is true, row by row, int32 (n, 2); np.argwhere is slower where few are."""
    return np.stack(np.divmod(np.flatnonzero(wanted), wanted.shape[1]), axis=1).astype(np.int32)


def empty_strips(rows, n_channels, columns):
    """Return memory for strips, with `SLACK` floats of 0 behind them."""
    memory = np.empty(rows * n_channels * columns + SLACK, dtype=np.float32)
    memory[-SLACK:] = 0
    return memory[:-SLACK].reshape(rows, n_channels, columns)
