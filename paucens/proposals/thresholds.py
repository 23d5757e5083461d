"""Thresholds that discard given shares of the windows of images, one for all sizes of windows or one for each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from paucens.images import check_sources, pixels_at
from paucens.parallel import ALONE, Threads
from paucens.validation import check_flag, check_jobs, check_positive

if TYPE_CHECKING:
    from paucens.proposals.bing import Bing


def calibrated(
    bing: "Bing",
    search: Any,
    images: Sequence[Any],
    shares: Sequence[float],
    *,
    per_scale: bool = False,
    n_jobs: int | None = None,
) -> "list[Bing]":
    """Find the thresholds that discard given shares of the windows of images.

    Parameters
    ----------
    bing : Bing
    search : paucens.detector.scan.Search
        The `search` of the detector that `bing` is for: which windows there are.
    images : list of arrays or paths
        Typical images, for example those that `bing` was trained on.
    shares : list of float
        Shares of windows to discard, each from 0 to 1.
    per_scale : bool, default=False
        Whether to find a threshold for each size of windows, so that the share holds for each of them.
    n_jobs : int, optional
        Number of threads, as in joblib. Results do not depend on it.

    Returns
    -------
    bings : list of Bing
        One for each share: the same scores with the largest thresholds that discard at most this share. Windows of
        equal score are kept or discarded together.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range, `bing` does not score the windows of `search`, an image cannot be read, or there
        is no window.

    Notes
    -----
    Memory is 4 bytes per window, and an image of 640 x 480 pixels has 73 888 of them.

    Examples
    --------
    >>> from paucens.datasets import street_crops, synthetic_streets
    >>> from paucens.detector import PedestrianDetector
    >>> from paucens.proposals import train_bing
    >>> search = PedestrianDetector.default().search
    >>> empty = [record.image for record in synthetic_streets(2, people=False)]
    >>> bing = train_bing(list(street_crops(synthetic_streets(4))), empty, search)
    >>> none, half = calibrated(bing, search, empty, [0, 0.5])
    >>> bool(none.thresholds[0] < half.thresholds[0])
    True
    """
    bing.check_search(search)
    check_sources("images", images)
    if not isinstance(shares, list | tuple | np.ndarray):
        raise TypeError(f"shares must be a list of numbers from 0 to 1, such as [0.5]; got {shares!r}.")
    shares = [check_positive("shares", share, zero=True, most=1) for share in shares]
    check_flag("per_scale", per_scale)
    with Threads(check_jobs(n_jobs)) as threads:
        found = threads.map(lambda k: _scores_by_size(bing, search, images, k), range(len(images)))
    by_size = {}
    for size, scores in (pair for of_image in found for pair in of_image):
        by_size.setdefault(size if per_scale else 0, []).append(scores)
    if not by_size:
        raise ValueError("No image is as large as the person in a window; give larger images.")
    sizes = sorted(by_size)
    heights = (bing.window_height * 2.0 ** (np.array(sizes) / search.per_octave)).astype(np.float32)
    ranked = [np.sort(np.concatenate(by_size[size])) for size in sizes]
    return [
        replace(bing, thresholds=np.array([_lowest_kept(one, share) for one in ranked]), heights=heights)
        for share in shares
    ]


def _scores_by_size(bing, search, images, k):
    """Return pairs of the size of windows, in steps of the scale grid, and their scores."""
    rgb = pixels_at("images", images, k)
    pairs = []
    for _, band in search.bands(rgb, search.levels(rgb.shape[:2]), ALONE):
        scores = bing.scores(band.pixels, band.shape, search.window.margin, ALONE)
        pairs.append((round(-search.per_octave * np.log2(band.level.scale)), scores.ravel()))
    return pairs


def _lowest_kept(ranked, share):
    """Return the largest threshold below which at most a share of the scores lies; infinity for all."""
    n = int(share * len(ranked) + 1e-9)
    return ranked[n] if n < len(ranked) else np.float32(np.inf)
