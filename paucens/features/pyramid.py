"""An image at many sizes: which sizes, its pixels there, and its channels, computed or approximated level by level."""

from dataclasses import dataclass, replace

import numpy as np

from paucens._kernels.builds import chosen
from paucens.images import as_rgb
from paucens.parallel import Threads

kernels = chosen("pooling")

GRID = np.arange(0, 1, 0.01)  # places between the ends of half a cell where a scale may be moved
TINY_MEAN = 1 / 50  # of the largest: images whose channels mean less say nothing about how they change


@dataclass(frozen=True)
class Level:
    """Hold one size of an image.

    Attributes
    ----------
    scale : float
        What both sides are multiplied by, but for the rounding to whole cells.
    shape : tuple of int
        Height and width in pixels, multiples of the cell size.
    ratio : tuple of float
        Height and width divided by the image's, exactly: divide boxes found on this level by them.
    channels : ndarray of shape (rows, columns, n_channels), float32, or None
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
    per_octave : int, default=8
        Sizes in a factor of two.
    octaves_up : float, default=0
        Octaves of sizes larger than the image.
    min_shape : tuple of float, default=(50, 20.5)
        Height and width of what is searched for; no level is smaller.
    shrink : int, default=4
        Side of a cell in pixels.

    Returns
    -------
    levels : list of Level
        Without channels; empty where the image is smaller than `min_shape`.

    Notes
    -----
    As Dollar's `chnsPyramid`: scale i is 2^(octaves_up - i / per_octave), moved by at most a quarter of a cell of the
    shorter side to where height and width are nearest to whole cells. Equal neighbours are one. A minimum below four
    cells is four cells.

    Examples
    --------
    >>> levels = scales((480, 640))
    >>> len(levels), [level.shape for level in levels[:3]], sum(h * w for h, w in (level.shape for level in levels))
    (27, [(480, 640), (440, 588), (404, 540)], 1913232)
    """
    height, width = shape
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


def _rounded(x):
    return np.floor(x + 0.5)


def _nearest_to_cells(scale, shorter, longer, shrink):
    """Move a scale by up to a quarter of a cell of the shorter side to where both sides are nearest to whole cells."""
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
        Radius of a triangle, convTri of Dollar's toolbox, by which the result is smoothed: [1 p 1] / (2 + p) down and
        across, p = 12 / (r (r + 2)) - 2.

    Returns
    -------
    resized : ndarray of shape (*shape, n)
        Of the same type, bytes rounded; `pixels` itself where the shape stays and nothing is smoothed.

    Notes
    -----
    As Dollar's `imResample`: where a side shrinks, a new pixel is the mean over the area it covers; where it grows, the
    linear interpolation between centres.

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
    pixels = np.ascontiguousarray(pixels)
    out = np.empty((*shape, pixels.shape[2]), dtype=pixels.dtype)
    rows, columns = (_smoothed(*_weights(old, new), old, smooth) for old, new in zip(pixels.shape, shape, strict=False))

    def kernel(start, stop):
        scratch = np.empty((pixels.shape[1] + 1) * pixels.shape[2], dtype=np.float32)
        kernels.resample(pixels, *rows, *columns, scratch, out, start, stop)

    threads.run(kernel, len(out), 2 * pixels.size + out.size * columns[1].shape[1])
    return out


def _weights(n_old, n_new):
    """Return the first old pixel that each new one is made of, int32 (n_new,), and weights (n_new, n_taps)."""
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
    """Weights of new pixels that are each mixed with their neighbours; at the border a pixel is its own."""
    if radius == 0:
        return first, weights
    middle = 12 / (radius * (radius + 2)) - 2
    n_new, n_taps = weights.shape
    places = np.clip(np.arange(n_new) + np.array([[-1], [0], [1]]), 0, n_new - 1)
    width = min(int((first[places[2]] - first[places[0]]).max()) + n_taps, n_old)
    start = np.minimum(first[places[0]], n_old - width)
    mixed = np.zeros((n_new, width))
    for neighbours, share in zip(places, np.array([1, middle, 1]) / (2 + middle), strict=True):
        for tap in range(n_taps):
            mixed[np.arange(n_new), first[neighbours] - start + tap] += share * weights[neighbours, tap]
    return start.astype(np.int32), mixed.astype(np.float32)


# -- channels --------------------------------------------------------------------------------------


def channel_pyramid(
    image, spec, *, per_octave=8, octaves_up=0, min_shape=(50, 20.5), n_approximated=0, lambdas=None, n_jobs=None
):
    """Compute the channels of an image level by level, from the largest to the smallest.

    Parameters
    ----------
    image : array-like or PIL image
        What `paucens.images.as_rgb` takes.
    spec : ChannelSpec
        The channels.
    per_octave, octaves_up, min_shape
        As in `scales`.
    n_approximated : int, default=0
        Levels between two whose channels are computed; theirs are resampled from the nearest computed ones.
    lambdas : dict of str to float, optional
        For each group of channels the exponent of its power law, from `estimate_lambdas`; needed to approximate.
    n_jobs : int, default=None
        Threads, as in joblib. Results do not depend on it.

    Yields
    ------
    level : Level
        With channels. One level is in memory at a time, with the computed one that it is resampled from.

    Notes
    -----
    Resampled channels are multiplied by (s / s')^-lambda, s and s' the two scales (Dollar, Appel, Belongie and
    Perona, PAMI 2014, Eq. 8). Dollar's program approximates before it smooths the channels, here they are smooth
    already. Each level is resampled from the image itself; Dollar's takes the half-size image once it has it.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.features import ChannelSpec
    >>> image = np.zeros((120, 160, 3), dtype=np.uint8)
    >>> levels = channel_pyramid(image, ChannelSpec.parse("LUV"), per_octave=2)
    >>> [(level.shape, level.channels.shape) for level in levels]
    [((120, 160), (30, 40, 3)), ((84, 112), (21, 28, 3)), ((60, 80), (15, 20, 3))]
    """
    if n_approximated and not set(spec.groups) <= set(lambdas or ()):
        raise ValueError(
            f"lambdas must hold the groups {', '.join(spec.groups)} to approximate levels; got {lambdas}. "
            "Estimate them once: estimate_lambdas(images, spec)."
        )
    rgb = as_rgb(image)
    levels = scales(
        rgb.shape[:2], per_octave=per_octave, octaves_up=octaves_up, min_shape=min_shape, shrink=spec.shrink
    )
    return _computed_levels(rgb, spec, levels, n_approximated + 1, lambdas, n_jobs)


def _computed_levels(rgb, spec, levels, step, lambdas, n_jobs):
    computed = None
    with Threads(n_jobs) as threads:
        for i, level in enumerate(levels):
            nearest = nearest_computed(i, len(levels), step)
            if nearest != computed:
                source = levels[nearest]
                channels, computed = channels_at(rgb, source.shape, spec, threads, n_jobs), nearest
            if i == nearest:
                yield replace(level, channels=channels)
            else:
                yield replace(level, channels=approximated(channels, source, level, spec, lambdas, threads))


def nearest_computed(i, n_levels, step):
    """Return the nearest multiple of step in range(n_levels), the smaller one if two are as near."""
    return min((i + (step - 1) // 2) // step, (n_levels - 1) // step) * step


def channels_at(rgb, shape, spec, threads, n_jobs, smooth=0.0):
    """Compute the channels of an image, RGB by `as_rgb`, resampled to a height and width and smoothed."""
    pixels = resize(rgb, shape, threads, smooth)
    if pixels.dtype != np.uint8:
        pixels = np.minimum(pixels, 1)  # weights add up to 1 but for rounding
    return spec.compute(pixels, n_jobs=n_jobs)


def approximated(channels, source, level, spec, lambdas, threads):
    """Resample the channels of the level `source` to another level, by the power laws of the groups."""
    shape = tuple(side // spec.shrink for side in level.shape)
    approximated = resize(channels, shape, threads)
    gains = np.empty(channels.shape[2], dtype=np.float32)
    for group, part in spec.groups.items():
        gains[part] = (level.scale / source.scale) ** -lambdas[group]
    return approximated * gains


def estimate_lambdas(images, spec, *, per_octave=8, n_octaves=2, n_jobs=None) -> dict:
    """Estimate by which power of the scale the mean of each group of channels changes.

    Parameters
    ----------
    images : list of array-like or of PIL image
        Typical images, tens to hundreds; the shorter side at least 4 cells after n_octaves.
    spec : ChannelSpec
    per_octave, n_octaves : int, default=8 and 2
        The scales 2^(-i / per_octave), down to 2^-n_octaves.
    n_jobs : int, default=None
        Threads, as in joblib.

    Returns
    -------
    lambdas : dict of str to float
        For each group of the spec; 0 where no image has a positive mean to speak of.

    Raises
    ------
    ValueError
        For no image, or one that is too small, by its place.

    Notes
    -----
    The mean of the channels at scale s over that at scale 1, averaged over images, is fitted by a s^-lambda, least
    squares of logarithms (Dollar et al., PAMI 2014, Eq. 7). The image at scale 1 is sharper than a resampled one, which
    the factor a takes up. Images are left out of a group where their mean is below 1/50 of the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.features import ChannelSpec
    >>> noise = np.random.RandomState(0).randint(256, size=(2, 128, 96, 3)).astype(np.uint8)
    >>> lambdas = estimate_lambdas(noise, ChannelSpec.parse("LUV+M"))
    >>> lambdas["M"] < 0.1, abs(lambdas["LUV"]) < 0.01
    (True, True)
    """
    if len(images) == 0:
        raise ValueError("images holds no image; at least one is needed, hundreds are better.")
    factors = 2.0 ** (-np.arange(per_octave * n_octaves + 1) / per_octave)
    means = np.array([_group_means(image, k, spec, factors, n_jobs) for k, image in enumerate(images)])
    return {group: _exponent(means[:, :, k], factors) for k, group in enumerate(spec.groups)}


def _group_means(image, place, spec, factors, n_jobs):
    """Return the mean of each group of channels at each scale, (n_scales, n_groups)."""
    rgb = as_rgb(image)
    if min(rgb.shape[:2]) * factors[-1] < 4 * spec.shrink:
        raise ValueError(
            f"Image {place} has {rgb.shape[0]} x {rgb.shape[1]} pixels; at least {4 * spec.shrink / factors[-1]:g} are "
            "needed in both directions. Leave it out, or take fewer octaves."
        )
    means = np.empty((len(factors), len(spec.groups)))
    with Threads(n_jobs) as threads:
        for row, factor in zip(means, factors, strict=True):
            shape = tuple(int(_rounded(side * factor / spec.shrink)) * spec.shrink for side in rgb.shape[:2])
            channels = channels_at(rgb, shape, spec, threads, n_jobs)
            row[:] = [channels[..., part].mean(dtype=np.float64) for part in spec.groups.values()]
    return means


def _exponent(means, factors):
    """Fit lambda to means of shape (n_images, n_scales)."""
    usable = means[means.min(axis=1) > TINY_MEAN * max(means.max(), 0)]
    if len(usable) == 0:
        return 0.0
    ratios = (usable[:, 1:] / usable[:, :1]).mean(axis=0)
    return -float(np.polyfit(np.log2(factors[1:]), np.log2(ratios), 1)[0])
