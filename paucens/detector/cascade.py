"""Traces of positives for a soft cascade: sums that objects, seen as a detector sees them, do not fall below."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paucens._kernels.builds import chosen
from paucens.detector.samples import crop_at
from paucens.detector.trees import floats_at_most
from paucens.features.motion import mirrored
from paucens.images import check_sources
from paucens.parallel import ALONE, Threads
from paucens.validation import check_jobs, check_number, check_positive

if TYPE_CHECKING:
    from paucens.detector.model import PedestrianDetector

kernels = chosen("windows")

PLACES = (3, 3)  # rows and columns of windows around an object: its own, and one cell off in each direction
WINDOWS_PER_CROP = 2 * PLACES[0] * PLACES[1]  # of the crop and of its mirror image
CROPS_AT_ONCE = 32  # whose sums are held in memory
MOST_LOST = 0.5  # a cascade that rejects more than half of the objects is a mistake


def positive_traces(
    detector: "PedestrianDetector",
    crops: Sequence[Any],
    *,
    least_score: float,
    quantile: float = 0.0,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Find the sum after each tree that the windows of objects do not fall below.

    Parameters
    ----------
    detector : PedestrianDetector
        Its present cascade does not matter.
    crops : list of path-like or of images, or of pairs for a detector with flow (`train_detector`)
        Crops with the object in the middle, of the size of the window with its margin (160 x 96), from the training or
        not.
    least_score : float
        Only windows that score above it count: nobody misses windows that are not detected anyway. It may come from
        `threshold_at_fppi(images, fppi)` of the detector without a cascade, which would hide low scores
        (`trees.without_rejection()`), for the largest number of false positives that is of interest.
    quantile : float in [0, 0.5], default=0.0
        Share of the windows that may fall below the sum after a tree.
    n_jobs : int, optional
        Number of threads, as in joblib. Results do not depend on it.

    Returns
    -------
    traces : ndarray of shape (n_trees,), float32
        For `DetectorTrees.with_rejection`, which rejects windows whose sum after a tree is not above it.

    Raises
    ------
    ValueError
        If there are no crops, a crop has another size, no window scores above `least_score`, or a number is out of
        range.

    Notes
    -----
    With a quantile of 0 this is the "direct backward pruning" of Zhang and Viola (NIPS 2007). The windows of an image
    lie on a grid of 4 pixels, so that an object is off the middle of the windows that see it. Therefore each crop and
    its mirror image are looked at in nine places, up to 4 pixels off in each direction, and every place that scores
    above `least_score` counts. What lies beyond the crop repeats its edge. Crops were resampled and are smooth already,
    so `detector.smooth` is not applied to them. Sizes between those at which an image is searched are not simulated.

    Of n windows that count, floor(quantile n) may fall below the sum after a tree, others after other trees, so that a
    cascade may lose more of them in all. The last trace is at most `least_score`, so that the last tree rejects no
    window that scores above it.

    Only sums that may be among the lowest are kept: memory is a few times that of the sums of 32 crops (4.7 MB with
    2048 trees) and of the share `quantile` of all sums (0.7 MB for 1000 crops and a quantile of 0.005).

    Examples
    --------
    >>> from dataclasses import replace
    >>> from paucens.datasets import street_crops, synthetic_streets
    >>> from paucens.detector import PedestrianDetector
    >>> detector, crops = PedestrianDetector.default(), list(street_crops(synthetic_streets(2, seed=1)))
    >>> traces = positive_traces(detector, crops, least_score=-5)
    >>> traces.shape == detector.trees.rejection.shape
    True
    >>> faster = replace(detector, trees=detector.trees.with_rejection(traces))
    """
    check_sources("crops", crops)
    least_score = check_number("least_score", least_score)
    least_float = floats_at_most(least_score)
    quantile = check_positive("quantile", quantile, zero=True, most=MOST_LOST)
    n_windows = WINDOWS_PER_CROP * len(crops)
    n_kept = _rank(quantile, n_windows) + 1

    def of_crop(k):
        sums = crop_sums(detector, crop_at("crops", crops, k, detector.search))
        return sums[sums[:, -1] > least_float]

    lowest, n_counted = np.empty((0, len(detector.trees.rejection)), dtype=np.float32), 0
    with Threads(check_jobs(n_jobs)) as threads:
        for first in range(0, len(crops), CROPS_AT_ONCE):
            found = threads.map(of_crop, range(first, min(first + CROPS_AT_ONCE, len(crops))))
            n_counted += sum(map(len, found))
            lowest = _lowest(np.concatenate([lowest, *found]), n_kept)
    if n_counted == 0:
        raise ValueError(
            f"None of {n_windows} windows of {len(crops)} crops scores above least_score, {least_score:g}; give a "
            "lower one, or crops of objects that the detector finds."
        )
    traces = np.nextafter(np.sort(lowest, axis=0)[_rank(quantile, n_counted)], np.float32(-np.inf))
    traces[-1] = min(traces[-1], least_float)
    return traces


def crop_sums(detector, pixels):
    """Compute the sums after each tree of a crop and its mirror image in nine places, float32 (18, n_trees).

    The places are row by row; the fifth is the crop itself. No window is rejected.
    """
    cell = detector.search.cell
    beyond = np.pad(pixels, ((cell, cell), (cell, cell), (0, 0)), mode="edge")
    views = [beyond, mirrored(beyond)]
    return np.concatenate([_sums_of_windows(detector, view) for view in views])


def _sums_of_windows(detector, pixels):
    trees, strips = detector.trees, detector.search.crop(pixels, ALONE).strips
    sums = np.empty((*PLACES, len(trees.rejection)), dtype=np.float32)
    kernels.partial_sums(strips, *trees.layout(strips.shape[1])[:6], trees.bias, sums, 0, PLACES[0])
    return sums.reshape(-1, sums.shape[-1])


def _rank(quantile, n):
    """Count how many of n values lie below their quantile."""
    return int(quantile * n + 1e-9)  # 0.29 * 100 is 28.999999999999996


def _lowest(sums, n):
    """Keep the n lowest sums after each tree, in any order."""
    return sums if len(sums) <= n else np.partition(sums, n - 1, axis=0)[:n].copy()
