"""An image at many sizes: its pixels and its channels, computed or approximated level by level."""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from paucens._kernels.builds import chosen
from paucens.features.channels import LEAST_RADIUS
from paucens.features.levels import scales
from paucens.features.motion import flow_of, frame, moving, rgb_of
from paucens.parallel import Threads
from paucens.validation import check_integer, check_jobs, check_within

if TYPE_CHECKING:
    from paucens.features.levels import Level
    from paucens.features.spec import ChannelSpec

kernels = chosen("pooling")

LARGEST_EXPONENT = 10  # of a power law


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
    if radius < LEAST_RADIUS:
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


def level_pixels(pixels, shape, threads, smooth=0.0, padding=(0, 0)) -> np.ndarray:
    """Resample an image, by `paucens.features.motion.frame`, to a height and width and smooth it; bytes remain bytes.

    Its border is repeated outwards by `padding`, pixels down and across. A flow is not smoothed.
    """
    (down, across), flow = padding, flow_of(pixels)
    out = np.empty((shape[0] + 2 * down, shape[1] + 2 * across, 3), dtype=np.uint8)
    _resample(rgb_of(pixels), threads, smooth, out[down : down + shape[0], across : across + shape[1]])
    kernels.repeat_border(out, down, across)
    if flow is None:
        return out
    longer = np.float32([new / old for new, old in zip(shape, flow.shape[:2], strict=True)])[::-1]
    own = resize(flow, shape, threads) * longer
    return moving(out, np.pad(own, ((down, down), (across, across), (0, 0)), mode="edge"))


# -- channels --------------------------------------------------------------------------------------


def channel_pyramid(
    image: Any,
    spec: "ChannelSpec",
    *,
    previous: Any = None,
    per_octave: int = 8,
    octaves_up: float = 0,
    min_shape: tuple[float, float] = (50, 20.5),
    n_approximated: int = 0,
    lambdas: dict[str, float] | None = None,
    n_jobs: int | None = None,
) -> "Iterator[Level]":
    """Compute the channels of an image level by level, from the largest to the smallest.

    Parameters
    ----------
    image : array-like or PIL image
        RGB or grey, see `paucens.images.as_bytes`: floats are rounded to bytes.
    spec : ChannelSpec
        The channels.
    previous : image or ndarray of shape (height, width, 2), optional
        What Flow needs, see `ChannelSpec.compute`. The flow is computed once, and resampled for each level.
    per_octave : int, default=8
        Number of sizes per factor of two.
    octaves_up : float, default=0
        Octaves of sizes larger than the image.
    min_shape : tuple of float, default=(50, 20.5)
        Height and width of the smallest level.
    n_approximated : int, default=0
        Number of levels between two whose channels are computed. Theirs are resampled from the nearest computed level.
    lambdas : dict of str to float, optional
        Exponent of the power law of each group of channels, from `estimate_lambdas`; needed to approximate. Each lies
        in [-10, 10].
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
    step = check_integer("n_approximated", n_approximated, 0) + 1
    lambdas = checked_lambdas(lambdas, spec) if step > 1 else None
    n_jobs = check_jobs(n_jobs)
    pixels = frame(spec, image, previous)
    levels = scales(
        pixels.shape[:2], per_octave=per_octave, octaves_up=octaves_up, min_shape=min_shape, shrink=spec.shrink
    )

    def generate():  # so that the arguments are checked before the first level is asked for
        with Threads(n_jobs) as threads:
            yield from levels_with_channels(pixels, spec, levels, threads, step=step, lambdas=lambdas)

    return generate()


def checked_lambdas(lambdas, spec):
    """Return the exponents of the groups of a spec; raise ValueError unless each is there and in range."""
    if not isinstance(lambdas, dict) or not set(spec.groups) <= set(lambdas):
        raise ValueError(
            f"lambdas must hold the groups {', '.join(spec.groups)} to approximate levels; got {lambdas!r}. "
            "Estimate them once: estimate_lambdas(images, spec)."
        )
    return {
        group: check_within(f"lambdas[{group!r}]", lambdas[group], -LARGEST_EXPONENT, LARGEST_EXPONENT, "-0.5 to 0.5")
        for group in spec.groups
    }


def levels_with_channels(pixels, spec, levels, threads, *, step=1, lambdas=None, smooth=0.0):
    """Yield the levels of an image with their channels; see `channel_pyramid`.

    Parameters
    ----------
    pixels : ndarray
        Of the image, by `paucens.features.motion.frame`.
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
        nearest = nearest_computed(i, len(levels), step)
        if nearest != computed:
            source, computed = levels[nearest], nearest
            channels = level_channels(pixels, spec, source.shape, threads, smooth)
            if step > 1:  # `resize` needs the channels of a cell side by side
                channels = np.ascontiguousarray(channels)
        if i == nearest:
            yield replace(level, channels=channels)
        else:
            yield replace(level, channels=approximated(channels, source, level, spec, lambdas, threads))


def level_channels(pixels, spec, shape, threads, smooth=0.0) -> np.ndarray:
    """Compute the channels of an image at a height and width; see `level_pixels`."""
    own = level_pixels(pixels, shape, threads, smooth)
    return spec.compute_checked(rgb_of(own), threads, flow_of(own))


def nearest_computed(i, n_levels, step):
    """Return the multiple of step in range(n_levels) nearest to i, the smaller of two that are as near."""
    return min((i + (step - 1) // 2) // step, (n_levels - 1) // step) * step


def approximated(channels, source, level, spec, lambdas, threads):
    """Resample the channels of the level `source` to another level by the power laws of their groups."""
    approximated = resize(channels, tuple(side // spec.shrink for side in level.shape), threads)
    gains = np.empty(channels.shape[2], dtype=np.float32)
    for group, part in spec.groups.items():
        gains[part] = (level.scale / source.scale) ** -lambdas[group]
    return approximated * gains
