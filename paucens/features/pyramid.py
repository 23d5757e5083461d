"""An image at many sizes: its sizes, its pixels and its channels, computed or approximated level by level."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from paucens._kernels.builds import chosen
from paucens.images import as_rgb
from paucens.parallel import Threads
from paucens.validation import check_integer, check_number, check_positive

kernels = chosen("pooling")

GRID = np.arange(0, 1, 0.01)  # where in half a cell a scale may move to
MOST_SCALES = 64  # per factor of two
MOST_PIXELS = 400_000_000  # of an enlarged image: 1.2 GB, and as much for its border


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
    shape: tuple
    ratio: tuple
    channels: np.ndarray | None = None


def scales(shape, *, per_octave=8, octaves_up=0, min_shape=(50, 20.5), shrink=4) -> list[Level]:
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
    check_positive("per_octave", per_octave, most=MOST_SCALES)
    for side in min_shape:
        check_positive("min_shape", side)
    height, width = shape
    _check_octaves(octaves_up, height * width)
    smallest = np.maximum(min_shape, 4 * shrink)
    n_scales = int(np.floor(per_octave * (octaves_up + np.log2(min(shape / smallest))) + 1))
    levels = []
    for i in range(max(n_scales, 0)):
        scale = _nearest_to_cells(2 ** (octaves_up - i / per_octave), min(shape), max(shape), shrink)
        if levels and scale == levels[-1].scale:
            continue
        rows, cols = (int(_rounded(side * scale / shrink)) * shrink for side in shape)
        levels.append(Level(scale, (rows, cols), (rows / height, cols / width)))
    return levels


def _check_octaves(octaves_up, n_pixels):
    """Raise ValueError unless an image may be enlarged so much."""
    most = np.log2(MOST_PIXELS / n_pixels) / 2
    if not -np.inf < check_number("octaves_up", octaves_up) <= max(most, 0):
        raise ValueError(
            f"octaves_up is {octaves_up:g}; for an image of {n_pixels} pixels it may be at most {max(most, 0):.1f}, "
            f"since at most {MOST_PIXELS // 10**6} million pixels are searched. Ask for less, or cut the image."
        )


def _rounded(x):
    return np.floor(x + 0.5)


def _nearest_to_cells(scale, shorter, longer, shrink):
    """Move a scale by up to a quarter of a cell of the shorter side so that both sides come nearest to whole cells."""
    middle = _rounded(shorter * scale / shrink) * shrink
    candidates = (middle + (GRID - 0.5) * shrink / 2) / shorter
    errors = [np.abs(side * candidates - _rounded(side * candidates / shrink) * shrink) for side in (shorter, longer)]
    return float(candidates[np.argmin(np.maximum(*errors))])


# -- resampling ------------------------------------------------------------------------------------


def resize(pixels, shape, threads, smooth=0.0) -> np.ndarray:
    """Resample an image, or channels, to another height and width.

    Parameters
    ----------
    pixels : ndarray of shape (height, width, n), uint8 or float32
    shape : tuple of int
        The new height and width.
    threads : paucens.parallel.Threads
    smooth : float in [0, 1], default=0.0
        Radius r of the triangle filter that smooths the result (convTri of Dollar's toolbox): [1 p 1] / (2 + p) down
        and across, p = 12 / (r (r + 2)) - 2.

    Returns
    -------
    resized : ndarray of shape (*shape, n)
        Of the same type, bytes rounded; `pixels` itself if the shape stays the same and nothing is smoothed.

    Notes
    -----
    As Dollar's `imResample`: if a side shrinks, a new pixel is the mean over the area it covers; if it grows, new
    pixels are interpolated linearly between the centres of old ones.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.parallel import Threads
    >>> ramp = np.arange(6, dtype=np.float32).reshape(1, 6, 1)
    >>> [resize(ramp, (1, width), Threads(1)).ravel().astype(float).round(2).tolist() for width in (3, 4)]
    [[0.5, 2.5, 4.5], [0.33, 1.67, 3.33, 4.67]]
    """
    if pixels.shape[:2] == tuple(shape) and smooth == 0:
        return pixels
    out = np.empty((*shape, pixels.shape[2]), dtype=pixels.dtype)
    _resample(pixels, threads, smooth, out)
    return out


def _resample(pixels, threads, smooth, out):
    """Write what `resize` returns, also if nothing changes."""
    pixels = np.ascontiguousarray(pixels)
    rows, columns = (_taps(old, new, smooth) for old, new in zip(pixels.shape[:2], out.shape[:2], strict=True))

    def kernel(start, stop):
        scratch = np.empty((pixels.shape[1] + out.shape[1]) * pixels.shape[2] + 2, dtype=np.float32)
        kernels.resample(pixels, *rows, *columns, scratch, out, start, stop)

    threads.run(kernel, len(out), 2 * pixels.size + out.size * columns[1].shape[1])


@lru_cache(maxsize=128)  # of the levels of images of one size, whose sides are two entries each
def _taps(n_old, n_new, smooth):
    """Return the first old pixel that each new one depends on, and weights; read only."""
    taps = _smoothed(*_weights(n_old, n_new), n_old, smooth)
    for array in taps:
        array.setflags(write=False)
    return taps


def _weights(n_old, n_new):
    """Return the first old pixel that each new one depends on, int32 (n_new,), and weights (n_new, n_taps)."""
    if n_new <= n_old:
        edges = np.arange(n_new + 1) * n_old / n_new
        n_taps = int((np.ceil(edges[1:]) - np.floor(edges[:-1])).max())
        first = np.minimum(np.floor(edges[:-1]), n_old - n_taps)
        place = first[:, None] + np.arange(n_taps)
        overlap = np.minimum(edges[1:, None], place + 1) - np.maximum(edges[:-1, None], place)
        weights = np.maximum(overlap, 0) * n_new / n_old
    else:
        centre = np.clip((np.arange(n_new) + 0.5) * n_old / n_new - 0.5, 0, n_old - 1)
        first = np.minimum(np.floor(centre), max(n_old - 2, 0))
        weights = np.stack([1 - (centre - first), centre - first], axis=1)[:, :n_old]
    return first.astype(np.int32), weights.astype(np.float32)


def _smoothed(first, weights, n_old, radius):
    """Combine weights with a smoothing of the new pixels; a pixel at the border is its own neighbour."""
    if radius == 0:
        return first, weights
    middle = 12 / (radius * (radius + 2)) - 2
    n_new, n_taps = weights.shape
    places = np.clip(np.arange(n_new) + np.array([[-1], [0], [1]]), 0, n_new - 1)
    width = min(int((first[places[2]] - first[places[0]]).max()) + n_taps, n_old)
    start = np.minimum(first[places[0]], n_old - width)
    mixed = np.zeros((n_new, width))
    for neighbours, share in zip(places, np.array([1, middle, 1]) / (2 + middle), strict=True):
        columns = (first[neighbours] - start)[:, None] + np.arange(n_taps)
        mixed[np.arange(n_new)[:, None], columns] += share * weights[neighbours]
    return start.astype(np.int32), mixed.astype(np.float32)


def level_pixels(rgb, shape, threads, smooth=0.0, padding=(0, 0)) -> np.ndarray:
    """Resample an image, RGB by `as_rgb`, to a height and width and smooth it; the result is RGB of the same kind.

    Its border is repeated outwards by `padding`, pixels down and across.
    """
    down, across = padding
    out = np.empty((shape[0] + 2 * down, shape[1] + 2 * across, 3), dtype=rgb.dtype)
    inside = out[down : down + shape[0], across : across + shape[1]]
    _resample(rgb, threads, smooth, inside)
    if out.dtype != np.uint8:
        np.minimum(inside, 1, out=inside)  # rounding may have pushed white above 1
    kernels.repeat_border(out, down, across)
    return out


# -- channels --------------------------------------------------------------------------------------


def channel_pyramid(
    image, spec, *, per_octave=8, octaves_up=0, min_shape=(50, 20.5), n_approximated=0, lambdas=None, n_jobs=None
):
    """Compute the channels of an image level by level, from the largest to the smallest.

    Parameters
    ----------
    image : array-like or PIL image
        RGB or grey, see `paucens.images.as_rgb`.
    spec : ChannelSpec
        The channels.
    per_octave : int, default=8
        Number of sizes per factor of two.
    octaves_up : float, default=0
        Octaves of sizes larger than the image.
    min_shape : tuple of float, default=(50, 20.5)
        Height and width of the smallest level.
    n_approximated : int, default=0
        Number of levels between two whose channels are computed. Theirs are resampled from the nearest computed level.
    lambdas : dict of str to float, optional
        Exponent of the power law of each group of channels, from `estimate_lambdas`; needed to approximate.
    n_jobs : int, optional
        Number of threads, as in joblib. Results do not depend on it.

    Yields
    ------
    level : Level
        With channels. Memory holds one level at a time, and the computed one that it is resampled from.

    Raises
    ------
    ValueError
        If an argument is out of range, or exponents are missing.

    Notes
    -----
    Resampled channels are multiplied by (s / s')^-lambda, where s and s' are the two scales (Dollar, Appel, Belongie
    and Perona, PAMI 2014, Eq. 8). Dollar's program approximates before it smooths the channels; here they have been
    smoothed already. Each level is resampled from the image itself; Dollar's program takes the half-size image once it
    has it.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.features import ChannelSpec
    >>> image = np.zeros((120, 160, 3), dtype=np.uint8)
    >>> levels = channel_pyramid(image, ChannelSpec.parse("LUV"), per_octave=2)
    >>> [(level.shape, level.channels.shape) for level in levels]
    [((120, 160), (30, 40, 3)), ((84, 112), (21, 28, 3)), ((60, 80), (15, 20, 3))]
    """
    if check_integer("n_approximated", n_approximated, 0) and not set(spec.groups) <= set(lambdas or ()):
        raise ValueError(
            f"lambdas must hold the groups {', '.join(spec.groups)} to approximate levels; got {lambdas}. "
            "Estimate them once: estimate_lambdas(images, spec)."
        )
    rgb = as_rgb(image)
    levels = scales(
        rgb.shape[:2], per_octave=per_octave, octaves_up=octaves_up, min_shape=min_shape, shrink=spec.shrink
    )

    def generate():  # so that the arguments are checked before the first level is asked for
        with Threads(n_jobs) as threads:
            yield from levels_with_channels(rgb, spec, levels, threads, step=n_approximated + 1, lambdas=lambdas)

    return generate()


def levels_with_channels(rgb, spec, levels, threads, *, step=1, lambdas=None, smooth=0.0):
    """Yield the levels of an image with their channels; see `channel_pyramid`.

    Parameters
    ----------
    rgb : ndarray
        RGB by `as_rgb`.
    spec : ChannelSpec
    levels : list of Level
    threads : paucens.parallel.Threads
    step : int, default=1
        Channels are computed for each `step`-th level and resampled for the others.
    lambdas : dict of str to float, optional
    smooth : float in [0, 1], default=0.0
        Radius of the triangle filter that smooths the pixels of each level.
    """
    computed = None
    for i, level in enumerate(levels):
        nearest = _nearest_computed(i, len(levels), step)
        if nearest != computed:
            source, computed = levels[nearest], nearest
            channels = spec.compute_checked(level_pixels(rgb, source.shape, threads, smooth), threads)
            if step > 1:  # `resize` needs the channels of a cell side by side
                channels = np.ascontiguousarray(channels)
        if i == nearest:
            yield replace(level, channels=channels)
        else:
            yield replace(level, channels=_approximated(channels, source, level, spec, lambdas, threads))


def _nearest_computed(i, n_levels, step):
    """Return the multiple of step in range(n_levels) nearest to i, the smaller of two that are as near."""
    return min((i + (step - 1) // 2) // step, (n_levels - 1) // step) * step


def _approximated(channels, source, level, spec, lambdas, threads):
    """Resample the channels of the level `source` to another level by the power laws of their groups."""
    approximated = resize(channels, tuple(side // spec.shrink for side in level.shape), threads)
    gains = np.empty(channels.shape[2], dtype=np.float32)
    for group, part in spec.groups.items():
        gains[part] = (level.scale / source.scale) ** -lambdas[group]
    return approximated * gains
