"""The sliding window of a detector: its size, the object in it, and the features it has."""

from dataclasses import dataclass, field

import numpy as np

from paucens.features.channels import CELL
from paucens.persistence import LATER, settings_of
from paucens.validation import check_choice, check_integer, check_positive

MOST_PIXELS = 4096  # of a side: larger windows are mistakes


@dataclass(frozen=True, repr=False)
class Window:
    """The sliding window; sizes are (height, width) in pixels.

    Attributes
    ----------
    shape : tuple of int, default=(128, 64)
        Size of the window, multiples of the side of a cell.
    target : tuple of float, default=(100.0, 41.0)
        Size of the object in the middle of the window and of the training crops, which is the box of a detection. On
        rendered streets, boxes of 100 are 3.6 % too high after training on people of 96 pixels, and 1.8 % too low after
        people of 100. INRIA's crops lie between: people of 95 to 98 pixels, one or two above the middle.
    margin : int, default=16
        Pixels around the window that features may depend on, a multiple of the side of a cell. Training crops are
        larger than the window by it on all sides.
    inside : bool, default=False
        Whether windows must lie inside the image. Otherwise they may leave it as long as the object need not.
    cell : int, default=4
        Side of a cell in pixels, that of the channels.
    stride : int, default=4
        Distance of neighbouring windows in pixels, a multiple of the side of a cell.

    Raises
    ------
    ValueError
        If a size is not a multiple of the cell, or the target does not fit into the window.

    Examples
    --------
    >>> window = Window()
    >>> window.cells, window.crop, window.padding
    ((32, 16), (160, 96), (32, 28))
    """

    shape: tuple = (128, 64)
    target: tuple = (100.0, 41.0)
    margin: int = 16
    inside: bool = False
    cell: int = field(default=CELL, metadata=LATER)
    stride: int = field(default=CELL, metadata=LATER)

    def __post_init__(self):
        for name in ("shape", "target"):
            sides = getattr(self, name)
            if not isinstance(sides, tuple) or len(sides) != 2:
                raise ValueError(f"{name} of a window must be a tuple (height, width) in pixels; got {sides!r}.")
        cell = check_integer("cell of a window", self.cell, 1, MOST_PIXELS)
        shape = tuple(_whole_cells("shape", side, cell, cell) for side in self.shape)
        pairs = zip(self.target, shape, strict=True)
        checked = {
            "shape": shape,
            "target": tuple(check_positive("target of a window", inner, most=side) for inner, side in pairs),
            "margin": _whole_cells("margin", self.margin, 0, cell),
            "inside": check_choice("inside of a window", self.inside, (True, False)),
            "cell": cell,
            "stride": _whole_cells("stride", self.stride, cell, cell),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)  # the class is frozen for everybody else

    def __repr__(self):
        return f"Window({', '.join(f'{name}={value!r}' for name, value in settings_of(self).items())})"

    @property
    def cells(self):
        """Number of rows and columns of cells in the window."""
        return tuple(side // self.cell for side in self.shape)

    @property
    def crop(self):
        """Size of the window with its margin."""
        return tuple(side + 2 * self.margin for side in self.shape)

    @property
    def overhang(self):
        """Number of pixels, whole cells, by which a window may leave the image down and across."""
        if self.inside:
            return 0, 0
        return tuple(
            int(np.ceil((side - inner) / 2 / self.cell)) * self.cell
            for side, inner in zip(self.shape, self.target, strict=True)
        )

    @property
    def padding(self):
        """Number of pixels added on each side of an image: the overhang, and the margin around the windows there."""
        return tuple(side + self.margin for side in self.overhang)

    @property
    def least_image(self):
        """Height and width in pixels that suffice for an image to hold a window: four cells, or more."""
        sides = self.shape if self.inside else self.target
        return tuple(max(int(np.ceil(side)), 4 * self.cell) for side in sides)

    def boxes(self, cells, ratio):
        """Compute the boxes of the objects in windows.

        Parameters
        ----------
        cells : ndarray of shape (k, 2)
            Row and column of each window in the grid of a level.
        ratio : tuple of float
            Height and width of the level divided by those of the image.

        Returns
        -------
        boxes : ndarray of shape (k, 4), float64
            x, y, w, h in pixels of the image.
        """
        inset = (np.array(self.shape) - self.target) / 2 - self.overhang
        corners = (self.stride * np.asarray(cells) + inset) / ratio
        sizes = np.broadcast_to(np.array(self.target) / ratio, corners.shape)
        return np.concatenate([corners[:, ::-1], sizes[:, ::-1]], axis=1)

    def checked_heights(self, min_height, max_height):
        """Return a range of heights of objects as floats; raise ValueError unless heights lie in it.

        Parameters
        ----------
        min_height, max_height : float or None
            In pixels. Without `min_height`, the range begins at the height of the target. None remains None.
        """
        heights = {"min_height": min_height, "max_height": max_height}
        least, largest = (None if height is None else check_positive(name, height) for name, height in heights.items())
        smallest = self.target[0] if least is None else least
        if largest is not None and largest < smallest:
            raise ValueError(
                f"max_height is {largest:g}, but only people of {smallest:g} pixels and more are searched for; give a "
                "min_height below it."
            )
        return least, largest

    def height_in_image(self, ratio):
        """Return the height of windows in pixels of the image.

        Parameters
        ----------
        ratio : tuple of float
            That of their level, as for `boxes`.
        """
        return self.shape[0] / ratio[0]

    def grid_shape(self, level_shape):
        """Count the rows and columns of windows on a level.

        Parameters
        ----------
        level_shape : tuple of int
            Height and width of the level in pixels.
        """
        return tuple(
            max(0, (side + 2 * pad - crop) // self.stride + 1)
            for side, pad, crop in zip(level_shape, self.padding, self.crop, strict=True)
        )

    def features(self, spec):
        """List the values of a window that depend on nothing outside its crop.

        Parameters
        ----------
        spec : ChannelSpec

        Returns
        -------
        places : ndarray of shape (n_features, 3), int32
            Row, column and channel, channel by channel.
        """
        inside = [
            (first >= 0) & (last <= side)
            for side, (first, last) in zip(self.crop, self._dependencies(spec), strict=True)
        ]  # (n_channels, n_rows) and (n_channels, n_columns)
        channel, row, column = np.nonzero(inside[0][:, :, None] & inside[1][:, None, :])
        return np.stack([row, column, channel], axis=1).astype(np.int32)

    def _dependencies(self, spec):
        """Yield the first and last pixel of the crop that each cell of each channel depends on: down, then across."""
        for n_cells in self.cells:
            start = self.margin + self.cell * np.arange(n_cells)
            yield start + spec.supports[:, :1], start + spec.supports[:, 1:]


def _whole_cells(name, side, least, cell):
    """Return a number of pixels; raise ValueError unless it is a multiple of the side of a cell."""
    pixels = check_integer(f"{name} of a window", side, least, MOST_PIXELS)
    if pixels % cell:
        raise ValueError(f"{name} of a window must be made of whole cells of {cell} pixels; got {side}.")
    return pixels


def with_heights(boxes, least, largest):
    """Change heights outside [least, largest] to the nearest one inside, around the middle of the box.

    Parameters
    ----------
    boxes : ndarray of shape (k, 5), float64
        x, y, w, h, score.
    least, largest : float or None
        None for no bound.

    Returns
    -------
    boxes : ndarray of shape (k, 5), float64

    Examples
    --------
    >>> with_heights(np.array([[10.0, 20.0, 40.0, 101.0, 3.0]]), 90, 100).tolist()
    [[10.0, 20.5, 40.0, 100.0, 3.0]]
    """
    x, y, width, height, score = boxes.T
    inside = np.clip(height, 0 if least is None else least, np.inf if largest is None else largest)
    return np.column_stack([x, y + (height - inside) / 2, width, inside, score])
