"""The window that a detector slides: its size, the object in it, what its features may see, which cells they are."""

from dataclasses import dataclass

import numpy as np

from paucens.features.channels import CELL
from paucens.validation import check_integer, check_positive

MOST_PIXELS = 4096  # of a side: windows beyond it are slips


@dataclass(frozen=True)
class Window:
    """Sizes in pixels, all as (height, width).

    Attributes
    ----------
    shape : tuple of int
        The window, multiples of the cell, 4.
    target : tuple of float
        The object in the middle of it: what a detection's box is.
    margin : int
        Pixels around the window that features may see, a multiple of the cell; training crops are larger than the
        window by it on all sides.

    Raises
    ------
    ValueError
        For sizes that are not multiples of the cell, and a target that is not inside of the window.

    Examples
    --------
    >>> window = Window()
    >>> window.cells, window.crop, window.padding
    ((32, 16), (160, 96), (32, 28))
    """

    shape: tuple = (128, 64)
    target: tuple = (100.0, 41.0)
    margin: int = 16

    def __post_init__(self):
        for name in ("shape", "target"):
            sides = getattr(self, name)
            if not isinstance(sides, tuple) or len(sides) != 2:
                raise ValueError(f"{name} of a window must be a tuple (height, width) in pixels; got {sides!r}.")
        for name, side, least in (*(("shape", side, CELL) for side in self.shape), ("margin", self.margin, 0)):
            if check_integer(f"{name} of a window", side, least, MOST_PIXELS) % CELL:
                raise ValueError(f"{name} of a window must be made of whole cells of {CELL} pixels; got {side}.")
        for inner, side in zip(self.target, self.shape, strict=True):
            check_positive("target of a window", inner, most=side)

    @property
    def cells(self):
        """Rows and columns of cells in the window."""
        return tuple(side // CELL for side in self.shape)

    @property
    def crop(self):
        """The window with its margin."""
        return tuple(side + 2 * self.margin for side in self.shape)

    @property
    def overhang(self):
        """By how much a window may leave the image, so that the object in it need not: whole cells."""
        return tuple(
            int(np.ceil((side - inner) / 2 / CELL)) * CELL for side, inner in zip(self.shape, self.target, strict=True)
        )

    @property
    def padding(self):
        """What is added on each side of an image: the overhang, and the margin around the windows there."""
        return tuple(side + self.margin for side in self.overhang)

    def boxes(self, cells, ratio):
        """Boxes of the objects in windows.

        Parameters
        ----------
        cells : ndarray of shape (k, 2)
            Row and column of each window among those of a level, `positions`.
        ratio : tuple of float
            Height and width of the level divided by those of the image.

        Returns
        -------
        boxes : ndarray of shape (k, 4), float64
            x, y, w, h in pixels of the image.
        """
        inset = (np.array(self.shape) - self.target) / 2 - self.overhang
        corners = (CELL * np.asarray(cells) + inset) / ratio
        sizes = np.broadcast_to(np.array(self.target) / ratio, corners.shape)
        return np.concatenate([corners[:, ::-1], sizes[:, ::-1]], axis=1)

    def positions(self, level_shape):
        """How many rows and columns of windows a level of this height and width has."""
        return tuple(
            max(0, (side + 2 * pad - crop) // CELL + 1)
            for side, pad, crop in zip(level_shape, self.padding, self.crop, strict=True)
        )

    def offered(self, spec):
        """Places of the values of a window that depend on nothing outside of its crop.

        Parameters
        ----------
        spec : ChannelSpec

        Returns
        -------
        places : ndarray of shape (n_features, 3), int32
            Row, column and channel, channel by channel.
        """
        inside = [
            (first >= 0) & (last <= side) for side, (first, last) in zip(self.crop, self._seen(spec), strict=True)
        ]  # (n_channels, n_rows) and (n_channels, n_columns)
        channel, row, column = np.nonzero(inside[0][:, :, None] & inside[1][:, None, :])
        return np.stack([row, column, channel], axis=1).astype(np.int32)

    def _seen(self, spec):
        """First and last pixel of the crop that each cell depends on, for each channel: down, then across."""
        for n_cells in self.cells:
            start = self.margin + CELL * np.arange(n_cells)
            yield start + spec.supports[:, :1], start + spec.supports[:, 1:]
