"""Power laws: how the means of channels change with the scale of an image."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paucens.features.levels import MOST_SCALES
from paucens.features.motion import frame_of
from paucens.features.pyramid import level_channels
from paucens.parallel import Threads
from paucens.validation import check_integer, check_jobs

if TYPE_CHECKING:
    from paucens.features.spec import ChannelSpec

MOST_OCTAVES = 16
TINY_MEAN = 1 / 50  # of the largest: images whose channels have a smaller mean do not tell how it changes


def estimate_lambdas(
    images: Sequence[Any], spec: "ChannelSpec", *, per_octave: int = 8, n_octaves: int = 2, n_jobs: int | None = None
) -> dict[str, float]:
    """Estimate the power of the scale that the mean of each group of channels follows.

    Parameters
    ----------
    images : list of images or of pairs
        Typical images, tens to hundreds; floats are rounded to bytes. The shorter side is at least 4 cells after
        n_octaves. For Flow they are pairs (image, previous).
    spec : ChannelSpec
    per_octave : int, default=8
        Number of scales per factor of two.
    n_octaves : int, default=2
        The smallest scale is 2^-n_octaves.
    n_jobs : int, optional
        Number of threads, as in joblib.

    Returns
    -------
    lambdas : dict of str to float
        One exponent per group of the spec; 0 if no image has a mean above 0.

    Raises
    ------
    ValueError
        If there is no image, one is too small (the message gives its index), a number is out of range, or there are
        fewer than two scales below 1.

    Notes
    -----
    The mean of the channels at scale s divided by that at scale 1, averaged over images, is fitted by a s^-lambda with
    least squares of logarithms (Dollar et al., PAMI 2014, Eq. 7). The factor a accounts for the image at scale 1 being
    sharper than a resampled one. An image is left out of a group if its mean there is below 1/50 of the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.features import ChannelSpec
    >>> noise = np.random.RandomState(0).randint(256, size=(2, 128, 96, 3)).astype(np.uint8)
    >>> lambdas = estimate_lambdas(noise, ChannelSpec.parse("LUV+M"))
    >>> lambdas["M"] < 0.1, abs(lambdas["LUV"]) < 0.01
    (True, True)
    """
    if not hasattr(images, "__len__") or len(images) == 0:
        raise ValueError("images holds no image; at least one is needed in a list, hundreds are better.")
    per_octave = check_integer("per_octave", per_octave, 1, MOST_SCALES)
    n_octaves = check_integer("n_octaves", n_octaves, 1, MOST_OCTAVES)
    if per_octave * n_octaves == 1:
        raise ValueError("per_octave and n_octaves are 1: one scale tells no power law. Raise one of them.")
    factors = 2.0 ** (-np.arange(per_octave * n_octaves + 1) / per_octave)
    with Threads(check_jobs(n_jobs)) as threads:
        means = np.array([_group_means(image, k, spec, factors, threads) for k, image in enumerate(images)])
    return {group: _exponent(means[:, :, k], factors) for k, group in enumerate(spec.groups)}


def _group_means(image, index, spec, factors, threads):
    """Compute the mean of each group of channels at each scale, (n_scales, n_groups)."""
    pixels = frame_of(spec, image)
    if min(pixels.shape[:2]) * factors[-1] < 4 * spec.shrink:
        raise ValueError(
            f"Image {index} has {pixels.shape[0]} x {pixels.shape[1]} pixels; at least "
            f"{4 * spec.shrink / factors[-1]:g} are needed in both directions. Leave it out, or take fewer octaves."
        )
    means = np.empty((len(factors), len(spec.groups)))
    for row, factor in zip(means, factors, strict=True):
        shape = tuple(int(side * factor / spec.shrink + 0.5) * spec.shrink for side in pixels.shape[:2])
        channels = level_channels(pixels, spec, shape, threads)
        row[:] = [channels[..., part].mean(dtype=np.float64) for part in spec.groups.values()]
    return means


def _exponent(means, factors):
    """Fit lambda to means of shape (n_images, n_scales)."""
    usable = means[means.min(axis=1) > TINY_MEAN * max(means.max(), 0)]
    if len(usable) == 0:
        return 0.0
    ratios = (usable[:, 1:] / usable[:, :1]).mean(axis=0)
    return -float(np.polyfit(np.log2(factors[1:]), np.log2(ratios), 1)[0])
