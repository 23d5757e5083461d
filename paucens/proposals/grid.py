"""The windows that a first stage looks at: their size, their places at all sizes of an image, and those in a crop."""

from dataclasses import dataclass

import numpy as np

from paucens.features.channels import CELL
from paucens.features.pyramid import level_pixels, scales
from paucens.parallel import ALONE
from paucens.proposals.gradients import POINTS
from paucens.validation import check_integer, check_positive

HEIGHTS = (64, 128, 192, 256)  # of windows
LEAST_OVERLAP = 0.5  # of a training window with the one around the person, intersection over union


def check_window(shape):
    """Raise ValueError unless the points of a window are whole cells, and few enough for the kernels."""
    if shape not in [(height, height // 2) for height in HEIGHTS]:
        raise ValueError(
            f"window_shape must be (height, width) with height {', '.join(map(str, HEIGHTS))} and half as much width, "
            f"since its {POINTS[0]} x {POINTS[1]} points are 1 to 4 cells of {CELL} pixels wide; got {shape!r}."
        )


def step_of(window_height):
    """Return the distance of the points of a window in cells."""
    return window_height // (POINTS[0] * CELL)


@dataclass(frozen=True)
class Grid:
    """The windows of images at all sizes, and the sizes of windows around the person of a crop."""

    window_shape: tuple
    target: tuple
    margin: int
    per_octave: int
    smooth: float = 0.0

    def __post_init__(self):
        check_window(self.window_shape)
        if not isinstance(self.target, tuple) or len(self.target) != 2:
            raise ValueError(f"target must be a tuple (height, width) in pixels; got {self.target!r}.")
        for side, most in zip(self.target, self.window_shape, strict=True):
            check_positive("target", side, most=most)
        if check_integer("margin", self.margin, CELL * self.step, 4096) % CELL:
            raise ValueError(f"margin must be a multiple of {CELL} pixels; got {self.margin}.")
        check_integer("scales_per_octave", self.per_octave, 1, 64)
        check_positive("smooth", self.smooth, zero=True, most=1)

    @property
    def step(self):
        """Distance of the points of a window in cells."""
        return step_of(self.window_shape[0])

    @property
    def crop(self):
        """Height and width of the window with its margin."""
        return tuple(side + 2 * self.margin for side in self.window_shape)

    @property
    def inner(self):
        """Height and width of all pixels that a window depends on."""
        return tuple(side + 2 * CELL * self.step for side in self.window_shape)

    def crop_shapes(self):
        """List the sizes of a crop at which the window in its middle overlaps the person's enough."""
        shapes = []
        for k in range(-self.per_octave, self.per_octave + 1):
            shape = tuple(2 * round(side / 2 * 2 ** (k / self.per_octave)) for side in self.crop)
            enough = 2.0 ** (-2 * abs(k) / self.per_octave) >= LEAST_OVERLAP
            if enough and all(side >= least for side, least in zip(shape, self.inner, strict=True)):
                shapes.append(shape)
        return shapes

    def levels(self, image_shape):
        """Return the sizes of an image, and rows and columns of windows at each; sizes without windows are left out."""
        levels = scales(image_shape, per_octave=self.per_octave, min_shape=self.target, shrink=CELL)
        shapes = [self._grid_shape(level.shape) for level in levels]
        return [(level, shape) for level, shape in zip(levels, shapes, strict=True) if min(shape) > 0]

    def _overhang(self):
        return [
            CELL * int(np.ceil((side - inner) / 2 / CELL))
            for side, inner in zip(self.window_shape, self.target, strict=True)
        ]

    def _grid_shape(self, level_shape):
        return tuple(
            (side + 2 * over - window) // CELL + 1
            for side, over, window in zip(level_shape, self._overhang(), self.window_shape, strict=True)
        )

    def pixels(self, rgb, level):
        """Return the pixels of a level, its border repeated by overhang and margin."""
        padding = tuple(over + self.margin for over in self._overhang())
        return level_pixels(rgb, level.shape, ALONE, self.smooth, padding)
