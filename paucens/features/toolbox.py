"""The pyramid of Dollar's toolbox (`chnsPyramid`), to the order of its steps."""

from dataclasses import replace

import numpy as np

from paucens.features.channels import acf_channels, luv, smooth_cells
from paucens.features.pyramid import approximated, nearest_computed, resize


def toolbox_levels(rgb, spec, levels, threads, *, step, lambdas, smooth=0.0):
    """Yield the levels of an image with their channels, as Dollar's toolbox computes them.

    Parameters
    ----------
    rgb : ndarray
        RGB bytes by `paucens.images.as_bytes`.
    spec : ChannelSpec
        Of L, U, V, M and O alone.
    levels : list of Level
    threads : paucens.parallel.Threads
    step : int
        Channels are computed for each `step`-th level and resampled for the others.
    lambdas : dict of str to float
    smooth : float in [0, 1], default=0.0
        Radius of the triangle filter that smooths L, U and V of each level.

    Yields
    ------
    level : Level
        With channels.

    Notes
    -----
    What differs from `paucens.features.pyramid.levels_with_channels`:

    - L, U and V are resampled, instead of the bytes that they are computed from.
    - Once the image has been halved, smaller levels are resampled from the half.
    - Channels are resampled by the power laws before they are smoothed, not after.
    """
    colours = np.ascontiguousarray(np.moveaxis(luv(rgb, threads, table=spec.preset.lightness_table), 0, 2))
    computed = None
    for i, level in enumerate(levels):
        nearest = nearest_computed(i, len(levels), step)
        if nearest != computed:
            source, computed = levels[nearest], nearest
            pixels = resize(colours, source.shape, threads, smooth)
            if source.scale == 0.5:
                colours = pixels
            channels = _channels(pixels, spec, threads)
        own = channels if i == nearest else approximated(channels, source, level, spec, lambdas, threads)
        yield replace(level, channels=_smoothed(own, spec.preset.smooth_channels, threads))


def _channels(colours, spec, threads):
    """Compute the channels of L, U and V without smoothing them; values of a cell lie side by side."""
    rows, columns = (side // spec.shrink for side in colours.shape[:2])
    strips = np.empty((rows, spec.n_channels, columns), dtype=np.float32)
    preset, how = spec.preset, {"cell": spec.shrink, "blended": spec.preset.blend_cells, "converted": True}
    acf_channels(colours, spec.families, preset.smooth_luv, 0.0, preset.lightness_table, threads, strips, **how)
    return np.ascontiguousarray(np.moveaxis(strips, 1, 2))


def _smoothed(channels, radius, threads):
    """Smooth a copy of channels."""
    strips = np.moveaxis(channels, 2, 1).copy()
    smooth_cells(strips, radius, threads)
    return np.moveaxis(strips, 1, 2)
