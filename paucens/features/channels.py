"""Dollar's channels: L, U, V, gradient magnitude M and six orientations O, a value for each cell of 4 x 4 pixels.

Functions take what `paucens.images.as_rgb` returns and check nothing. An image is cropped to whole cells, its top left
kept. Dollar's constants are those of Piotr's toolbox (ACF: Dollar, Appel, Belongie and Perona, PAMI 2014).
"""

import numpy as np

from paucens._kernels.builds import chosen

kernels, pooling = chosen("channels"), chosen("pooling")

CELL = 4  # pixels, of all channels
GROUPS = {"LUV": ["L", "U", "V"], "M": ["M"], "O": [f"O {30 * k}" for k in range(6)]}  # names in their order; degrees
NORMALISING_RADIUS = 5
RING_ROWS = 31  # padded rows that the kernel of LUV and gradients keeps
STEPS_A_PIXEL = 30  # of each of the two passes, in the inner steps that `Threads.run` counts
EXACT = np.empty(0, dtype=np.float32)


def triangle(radius) -> np.ndarray:
    """Return the centre and one side of Dollar's triangle filter; with the other side it sums to 1.

    [1 2 .. r+1 .. 2 1] / (r + 1)^2 for a whole radius r; below 1 [1 p 1] / (p + 2) of the same variance,
    p = 12 / (r (r + 2)) - 2. A radius of 0 leaves things as they are.

    Examples
    --------
    >>> [triangle(radius).astype(float).round(3).tolist() for radius in (0, 0.5, 1, 2)]
    [[1.0, 0.0], [0.792, 0.104], [0.5, 0.25], [0.333, 0.222, 0.111]]
    """
    if radius == 0:
        taps = [1, 0]
    elif radius <= 1:
        p = 12 / (radius * (radius + 2)) - 2
        taps = [p / (p + 2), 1 / (p + 2)]
    else:
        taps = np.arange(radius + 1, 0, -1) / (radius + 1) ** 2
    return np.array(taps, dtype=np.float32)


def _lightness_table():
    """L at Y = i / 1024, which the release looks up at floor(1024 Y)."""
    y = np.arange(1025) / 1024
    return (np.where(y > (6 / 29) ** 3, 116 * np.cbrt(y) - 16, (29 / 3) ** 3 * y) / 270).astype(np.float32)


LIGHTNESS = _lightness_table()


def luv(rgb, threads, *, table=False) -> np.ndarray:
    """Convert an image to L, U and V, in the ranges [0, .37], [0, 1] and [0, .89].

    Parameters
    ----------
    rgb : ndarray of shape (height, width, 3), uint8 or float32 in [0, 1]
    threads : paucens.parallel.Threads
    table : bool, default=False
        Take L from the release's table of 1025 entries instead of the formula: up to .0033 lower, in dark pixels.

    Returns
    -------
    planes : ndarray of shape (3, height, width), float32

    Notes
    -----
    Linear RGB is taken for what the file holds, without gamma, as Dollar does. The largest difference from the
    formulas in float64, on all 2^24 colours, is 6e-8 for L, 4e-7 for U and 7e-7 for V.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.parallel import Threads
    >>> white_and_red = np.array([[[255, 255, 255], [255, 0, 0]]], dtype=np.uint8)
    >>> luv(white_and_red, Threads(1)).astype(float).round(4)[:, 0].tolist()
    [[0.3704, 0.2009], [0.3259, 0.9863], [0.4963, 0.6388]]
    """
    planes = np.empty((3, *rgb.shape[:2]), dtype=np.float32)
    _over_rows(kernels.luv, rgb, planes, threads, table)
    return planes


def luminance(rgb, threads, *, table=False) -> np.ndarray:
    """Return the plane L of `luv` alone, of shape (height, width)."""
    plane = np.empty(rgb.shape[:2], dtype=np.float32)
    _over_rows(kernels.luminance, rgb, plane, threads, table)
    return plane


def _over_rows(convert, rgb, out, threads, table):
    def kernel(start, stop):
        convert(rgb, LIGHTNESS if table else EXACT, out, start, stop)

    if rgb.size:
        threads.run(kernel, len(rgb), rgb.size * STEPS_A_PIXEL // 3)


def smooth_planes(planes, radius, threads) -> np.ndarray:
    """Smooth planes of shape (n, height, width) by a triangle filter, borders mirrored."""
    out, taps = np.empty_like(planes), triangle(radius)

    def kernel(start, stop):
        scratch = np.empty(planes.shape[2] + 2 * len(taps), dtype=np.float32)
        kernels.smooth_planes(planes, taps, scratch, out, start, stop)

    if planes.size:
        threads.run(kernel, planes.shape[1], planes.size * 4 * len(taps))
    return out


def smooth_cells(cells, radius, threads):
    """Smooth channels of shape (rows, columns, n_channels) where they stand, by a triangle of radius up to 1."""
    centre, side = triangle(radius)

    def kernel(start, stop):
        scratch = np.empty((3, cells.shape[1] * (stop - start)), dtype=np.float32)
        pooling.smooth_cells(cells, centre, side, scratch, start, stop)

    if cells.size and radius:
        threads.run(kernel, cells.shape[2], cells.size * 8)


def acf_channels(rgb, groups, first, after, table, threads, out):
    """Write L, U, V, M and O as Dollar's ACF computes them, each pooled by means over cells.

    Parameters
    ----------
    rgb : ndarray of shape (height, width, 3), uint8 or float32 in [0, 1]
    groups : collection of str
        Which of "LUV", "M" and "O" are wanted.
    first : float
        Radius, up to 1, of the triangle that smooths L, U and V before anything else; 1 in ACF, 0 in the release.
    after : float
        Radius of the triangle that smooths the channels; 1 in ACF, .5 in the release.
    table : bool
        Whether L comes from the release's table.
    threads : paucens.parallel.Threads
    out : ndarray of shape (height // 4, width // 4, n_channels), float32
        Is written: 3 channels of LUV, 1 of M, 6 of O, as many of them as are wanted, in this order.

    Notes
    -----
    M and O come, at each pixel, from the one of L, U and V whose gradient is largest. M is divided by its own
    smoothed value (radius 5) plus .005, then each pixel gives it to the two orientations nearest to its own, of
    0, pi / 6, .. 5 pi / 6. Memory beyond `out` is M and O, 8 bytes a pixel, and 124 bytes a column and thread.
    """
    places, end = {}, 0
    for group, names in GROUPS.items():
        n_channels = len(names) * (group in groups)
        places[group] = out[..., end : end + n_channels]
        end += n_channels
    rows, cols = out.shape[:2]
    shape = (CELL * rows, CELL * cols) if {"M", "O"} & set(groups) else (0, 0)
    magnitude, orientation = np.empty((2, *shape), dtype=np.float32)
    work = STEPS_A_PIXEL * CELL * CELL * rows * cols

    def differentiate(start, stop):
        scratch = np.empty(RING_ROWS * (CELL * cols + 2), dtype=np.float32)
        kernels.colour_and_gradient(
            rgb,
            LIGHTNESS if table else EXACT,
            *triangle(first),
            scratch,
            places["LUV"],
            magnitude,
            orientation,
            start,
            stop,
        )

    def histogram(start, stop):
        taps = triangle(NORMALISING_RADIUS)
        scratch = np.empty(5 * (CELL * cols + 2 * len(taps)), dtype=np.float32)
        kernels.normalise_and_bin(magnitude, orientation, taps, scratch, places["M"], places["O"], start, stop)

    if rows and cols:
        threads.run(differentiate, rows, work)
        if magnitude.size:
            threads.run(histogram, rows, work)
        smooth_cells(out[..., :end], after, threads)


def acf_supports(group, first, after) -> np.ndarray:
    """Return the supports of "LUV", "M" or "O", as `ChannelSpec` defines them, for radii as in `acf_channels`.

    Examples
    --------
    >>> acf_supports("LUV", 1, 1).tolist(), acf_supports("M", 1, 1).tolist()
    ([[-5, 9], [-5, 9], [-5, 9]], [[-11, 15]])
    """
    reach = int(np.ceil(first)) + CELL * int(np.ceil(after))
    reach += 0 if group == "LUV" else 1 + NORMALISING_RADIUS
    return np.array([[-reach, CELL + reach]] * len(GROUPS[group]))
