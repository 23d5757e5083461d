"""The sizes at which an image is searched."""

from dataclasses import dataclass

import numpy as np

from paucens.validation import check_integer, check_number, check_positive

GRID = np.arange(0, 1, 0.01)  # where in half a cell a scale may move to
MOST_SCALES = 64  # per factor of two
MOST_PIXELS = 400_000_000  # of an enlarged image: 1.2 GB, and as much for its border
LONGEST_SIDE = 2**31 - 1  # of an image and of a cell
ROUNDING = 1e-9  # of octaves, which are sums of logarithms


@dataclass(frozen=True)
class Level:
    """One size of an image.

    Attributes
    ----------
    scale : float
        Factor of both sides, before they are rounded to whole cells.
    shape : tuple of int
        Height and width in pixels, multiples of the cell size.
    ratio : tuple of float
        Height and width divided by those of the image, exactly. Divide boxes found on this level by them.
    channels : ndarray of shape (rows, columns, n_channels), float32, or None
        None unless they have been computed.
    """

    scale: float
    shape: tuple[int, int]
    ratio: tuple[float, float]
    channels: np.ndarray | None = None


def scales(
    shape: tuple[int, ...],
    *,
    per_octave: float = 8,
    octaves_up: float = 0,
    min_shape: tuple[float, float] = (50, 20.5),
    shrink: int = 4,
) -> list[Level]:
    """List the sizes at which to search an image, from the largest to the smallest.

    Parameters
    ----------
    shape : tuple of int
        Height and width of the image.
    per_octave : float, default=8
        Number of sizes per factor of two, at most 64.
    octaves_up : float, default=0
        Octaves of sizes larger than the image.
    min_shape : tuple of float, default=(50, 20.5)
        Height and width of the objects that are searched for; no level is smaller.
    shrink : int, default=4
        Side of a cell in pixels.

    Returns
    -------
    levels : list of Level
        Without channels; empty if the image is smaller than `min_shape`.

    Raises
    ------
    ValueError
        If an argument is out of range, or the image would be enlarged beyond 400 million pixels.

    Notes
    -----
    As Dollar's `chnsPyramid`: scale i is 2^(octaves_up - i / per_octave), moved by at most a quarter of a cell of the
    shorter side so that height and width come nearest to whole cells. Levels of equal scale are listed once. A minimum
    below four cells is raised to four cells.

    Examples
    --------
    >>> levels = scales((480, 640))
    >>> len(levels), [level.shape for level in levels[:3]], sum(h * w for h, w in (level.shape for level in levels))
    (27, [(480, 640), (440, 588), (404, 540)], 1913232)
    """
    per_octave = check_positive("per_octave", per_octave, most=MOST_SCALES)
    min_shape = [check_positive("min_shape", side) for side in _two_sides("min_shape", min_shape)]
    height, width = shape = [check_integer("shape", side, 1, LONGEST_SIDE) for side in _two_sides("shape", shape)]
    shrink = check_integer("shrink", shrink, 1, LONGEST_SIDE)
    octaves_up = _checked_octaves(octaves_up, height * width)
    smallest = np.maximum(min_shape, 4 * shrink)
    octaves = octaves_up + np.log2(min(shape / smallest))
    if octaves < -ROUNDING:
        return []
    levels = []
    for i in range(int(per_octave * octaves + ROUNDING) + 1):
        scale = _nearest_to_cells(2 ** (octaves_up - i / per_octave), min(shape), max(shape), shrink)
        if levels and scale == levels[-1].scale:
            continue
        rows, cols = (int(_rounded(side * scale / shrink)) * shrink for side in shape)
        levels.append(Level(scale, (rows, cols), (rows / height, cols / width)))
    return levels


def _two_sides(name, sides):
    """Return height and width; raise ValueError unless there are two of them."""
    is_pair = len(sides) == 2 if isinstance(sides, tuple | list) else getattr(sides, "shape", None) == (2,)
    if not is_pair:
        raise ValueError(f"{name} must be height and width, such as (480, 640); got {sides!r}.")
    return sides


def _checked_octaves(octaves_up, n_pixels):
    """Return a number of octaves; raise ValueError unless an image may be enlarged so much."""
    octaves, most = check_number("octaves_up", octaves_up), max(np.log2(MOST_PIXELS / n_pixels) / 2, 0)
    if not -np.inf < octaves <= most:
        raise ValueError(
            f"octaves_up is {octaves:g}; for an image of {n_pixels} pixels it may be at most {most:.1f}, since at most "
            f"{MOST_PIXELS // 10**6} million pixels are searched. Ask for less, or cut the image."
        )
    return octaves


def _rounded(x):
    return np.floor(x + 0.5)


def _nearest_to_cells(scale, shorter, longer, shrink):
    """Move a scale by up to a quarter of a cell of the shorter side so that both sides come nearest to whole cells."""
    middle = _rounded(shorter * scale / shrink) * shrink
    candidates = (middle + (GRID - 0.5) * shrink / 2) / shorter
    errors = [np.abs(side * candidates - _rounded(side * candidates / shrink) * shrink) for side in (shorter, longer)]
    return float(candidates[np.argmin(np.maximum(*errors))])
