"""Dollar's channels: L, U, V, gradient magnitude M and six orientations O, one value per cell of 4 x 4 or 2 x 2 pixels.

Functions take what `paucens.images.as_rgb` returns and do not check it. An image is cropped to whole cells from its top
left. Dollar's constants are those of Piotr's toolbox (ACF: Dollar, Appel, Belongie and Perona, PAMI 2014).
"""

import numpy as np

from paucens._kernels.builds import chosen

kernels, pooling = chosen("channels"), chosen("pooling")

CELL = 4  # pixels; side of a cell of all channels, unless a preset says otherwise
GROUPS = {"LUV": ["L", "U", "V"], "M": ["M"], "O": [f"O {30 * k}" for k in range(6)]}  # names of the channels; degrees
NORMALISING_RADIUS = 5
RING_ROWS = 31  # padded rows that the kernel of LUV and gradients keeps
BINS_PER_CELL = 8  # that the kernel of histograms keeps
STEPS_PER_PIXEL = 30  # of each of the two passes, in the inner steps that `Threads.run` counts
EXACT = np.empty(0, dtype=np.float32)
LEAST_RADIUS = 1e-30  # of a filter that changes a value in single precision


def triangle(radius) -> np.ndarray:
    """Return the centre and one side of Dollar's triangle filter; with the other side it sums to 1.

    The filter is [1 2 .. r+1 .. 2 1] / (r + 1)^2 for a whole radius r. For r below 1 it is [1 p 1] / (p + 2),
    p = 12 / (r (r + 2)) - 2. A radius of 0 changes nothing.

    Examples
    --------
    >>> [triangle(radius).astype(float).round(3).tolist() for radius in (0, 0.5, 1, 2)]
    [[1.0, 0.0], [0.792, 0.104], [0.5, 0.25], [0.333, 0.222, 0.111]]
    """
    if radius < LEAST_RADIUS:
        taps = [1, 0]
    elif radius <= 1:
        p = 12 / (radius * (radius + 2)) - 2
        taps = [p / (p + 2), 1 / (p + 2)]
    else:
        taps = np.arange(radius + 1, 0, -1) / (radius + 1) ** 2
    return np.array(taps, dtype=np.float32)


def _lightness_table():
    """Compute L at Y = i / 1024; the authors' release looks it up at floor(1024 Y)."""
    y = np.arange(1025) / 1024
    return (np.where(y > (6 / 29) ** 3, 116 * np.cbrt(y) - 16, (29 / 3) ** 3 * y) / 270).astype(np.float32)


LIGHTNESS = _lightness_table()


def luv(rgb, threads, *, table=False) -> np.ndarray:
    """Convert an image to L, U and V, in the ranges [0, 0.37], [0, 1] and [0, 0.89].

    Parameters
    ----------
    rgb : ndarray of shape (height, width, 3), uint8 or float32 in [0, 1]
    threads : paucens.parallel.Threads
    table : bool, default=False
        Whether to take L from the release's table of 1025 entries instead of the formula. It is up to 0.0033 lower in
        dark pixels.

    Returns
    -------
    planes : ndarray of shape (3, height, width), float32

    Notes
    -----
    Values of the file are taken as linear RGB, without gamma, as in Dollar's program. The largest difference from
    the formulas in float64, over all 2^24 colours, is 6e-8 for L, 4e-7 for U and 7e-7 for V.

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
    """Compute L alone, see `luv`; ndarray of shape (height, width), float32."""
    plane = np.empty(rgb.shape[:2], dtype=np.float32)
    _over_rows(kernels.luminance, rgb, plane, threads, table)
    return plane


def _over_rows(convert, rgb, out, threads, table):
    def kernel(start, stop):
        convert(rgb, LIGHTNESS if table else EXACT, out, start, stop)

    if rgb.size:
        threads.run(kernel, len(rgb), rgb.size * STEPS_PER_PIXEL // 3)


def smooth_planes(planes, radius, threads) -> np.ndarray:
    """Smooth planes of shape (n, height, width) by a triangle filter with mirrored borders."""
    out, taps = np.empty_like(planes), triangle(radius)

    def kernel(start, stop):
        scratch = np.empty(planes.shape[2] + 2 * len(taps), dtype=np.float32)
        kernels.smooth_planes(planes, taps, scratch, out, start, stop)

    if planes.size:
        threads.run(kernel, planes.shape[1], planes.size * 4 * len(taps))
    return out


def smooth_cells(strips, radius, threads):
    """Smooth channels of shape (rows, n_channels, columns) in place, by a triangle filter of radius up to 1."""
    centre, side = triangle(radius)

    def kernel(start, stop):
        scratch = np.empty((2 * (stop - start) + 1) * strips.shape[2] + 2, dtype=np.float32)
        pooling.smooth_cells(strips, centre, side, scratch, start, stop)

    if strips.size and radius:
        threads.run(kernel, strips.shape[1], strips.size * 8)


def acf_channels(
    rgb, groups, smooth_luv, smooth_channels, table, threads, out, *, cell=CELL, blended=False, converted=False
):
    """Compute L, U, V, M and O as Dollar's ACF does, each averaged over cells.

    Parameters
    ----------
    rgb : ndarray of shape (height, width, 3), uint8 or float32 in [0, 1]
    groups : collection of str
        Which of "LUV", "M" and "O" to compute.
    smooth_luv : float
        Radius, up to 1, of the triangle filter that smooths L, U and V before anything else; 1 in ACF, 0 in the
        release.
    smooth_channels : float
        Radius of the triangle filter that smooths the channels; 1 in ACF, 0.5 in the release.
    table : bool
        Whether to take L from the release's table, see `luv`.
    threads : paucens.parallel.Threads
    out : ndarray of shape (height // cell, n_channels, width // cell), float32
        Written: 3 channels of LUV, 1 of M and 6 of O, in this order, as far as they are in `groups`. Columns are
        contiguous.
    cell : {2, 4}, default=4
        Side of a cell in pixels.
    blended : bool, default=False
        Whether the orientation of a pixel is shared among the nearest two cells down and across, instead of counted in
        its own.
    converted : bool, default=False
        Whether `rgb` holds L, U and V already, float32.

    Notes
    -----
    M and O of a pixel come from the one of L, U and V with the largest gradient. M is divided by its own smoothed value
    (radius 5) plus 0.005. Each pixel then shares it between the two orientations nearest to its own, out of
    0, pi / 6, .. 5 pi / 6. Memory beyond `out` is M and O, 8 bytes per pixel, and 124 bytes per column and thread.
    """
    places, end = {}, 0
    for group, names in GROUPS.items():
        n_channels = len(names) * (group in groups)
        places[group] = out[:, end : end + n_channels]
        end += n_channels
    rows, _, cols = out.shape
    shape = (cell * rows, cell * cols) if {"M", "O"} & set(groups) else (0, 0)
    magnitude, orientation = np.empty((2, *shape), dtype=np.float32)
    work = STEPS_PER_PIXEL * cell * cell * rows * cols

    def differentiate(start, stop):
        scratch = np.empty(RING_ROWS * (cell * cols + 2), dtype=np.float32)
        kernels.colour_and_gradient(
            rgb,
            converted,
            LIGHTNESS if table else EXACT,
            cell,
            *triangle(smooth_luv),
            scratch,
            places["LUV"],
            magnitude,
            orientation,
            start,
            stop,
        )

    def histogram(start, stop):
        taps = triangle(NORMALISING_RADIUS)
        scratch = np.empty((3 + BINS_PER_CELL // cell) * (cell * cols + 2 * len(taps)), dtype=np.float32)
        bins = places["O"][:, :0] if blended else places["O"]
        kernels.normalise_and_bin(magnitude, orientation, taps, cell, scratch, places["M"], bins, start, stop)
        if blended and places["O"].size:
            kernels.normalise_and_blend(magnitude, orientation, taps, cell, scratch, places["O"], start, stop)

    if rows and cols:
        threads.run(differentiate, rows, work)
        if magnitude.size:
            threads.run(histogram, rows, work)
        smooth_cells(out[:, :end], smooth_channels, threads)


def acf_supports(group, smooth_luv, smooth_channels, *, cell=CELL, blended=False) -> np.ndarray:
    """Compute the supports of "LUV", "M" or "O" (see `ChannelSpec`) for what `acf_channels` is given.

    Examples
    --------
    >>> acf_supports("LUV", 1, 1).tolist(), acf_supports("M", 1, 1).tolist()
    ([[-5, 9], [-5, 9], [-5, 9]], [[-11, 15]])
    """
    reach = int(np.ceil(smooth_luv)) + cell * int(np.ceil(smooth_channels))
    reach += 0 if group == "LUV" else 1 + NORMALISING_RADIUS
    reach += cell // 2 if blended and group == "O" else 0
    return np.array([[-reach, cell + reach]] * len(GROUPS[group]))
