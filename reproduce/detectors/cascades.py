"""Soft cascades: below what windows are rejected, and how many trees they go through until then."""

import numpy as np

from detectors.data import parts
from detectors.fewer_windows import digest_of, in_band, kept_file, score_at_fppi, whole
from detectors.training import n_threads
from paucens._kernels.builds import chosen
from paucens.detector import positive_traces
from paucens.images import pixels_of
from paucens.parallel import ALONE

kernels = chosen("windows")

CONSTANTS = (-160, -80, -40, -20, -10, -5, -2, -1, -0.5)  # the paper's six, and three more
QUANTILES = (0.0, 0.001, 0.005)
FPPI = 1.0  # false positives per photograph at the least score of crops whose traces count
EVERY = 97  # windows of which one is sampled


def constants(detector):
    """Return what windows are rejected at or below after each tree, {constant: array}."""
    return {value: np.full(len(detector.trees.rejection), value) for value in CONSTANTS}


def traces(run, name, quantiles=QUANTILES):
    """Return the traces of the crops of four fifths of the training data, {quantile: array}."""
    least = score_at_fppi(run, name, FPPI)
    return traces_above(run, name, whole(run, name), least, quantiles)


def traces_above(run, name, detector, least_score, quantiles):
    """Return the traces of those windows of the crops that score above a least score, {quantile: array}."""
    data, _ = parts(run)

    def find():
        crops, threads = list(map(pixels_of, data.crops)), n_threads(run)
        found = [
            positive_traces(detector, crops, least_score=least_score, quantile=quantile, n_jobs=threads)
            for quantile in quantiles
        ]
        return {"traces": np.array(found)}

    made_by = digest_of(detector), data.content_hash, least_score, quantiles
    return dict(zip(quantiles, kept_file(run, "traces", name, made_by, find)["traces"], strict=True))


# -- trees that windows go through -----------------------------------------------------------------


def partial_sums(detector, strips, cells):
    """Compute the sums after each tree of windows of a band, float32 (n_windows, n_trees); no window is rejected.

    `cells` are rows and columns of windows, (n_windows, 2).
    """
    trees = detector.trees
    sums, layout = np.empty((len(cells), len(trees.rejection)), dtype=np.float32), trees.layout(strips.shape[1])[:6]
    for (row, column), own in zip(cells, sums, strict=True):
        kernels.partial_sums(strips[row:, :, column:], *layout, trees.bias, own[None, None], 0, 1)
    return sums


def n_trees(sums, rejection):
    """Count the trees that windows go through, and tell which ones are left after all of them."""
    fails = ~(sums > rejection)
    rejected = fails.any(axis=1)
    return np.where(rejected, fails.argmax(axis=1) + 1, sums.shape[1]), ~rejected


def sampled_windows(search, image_shape, every=EVERY):
    """List every so-many-th of all windows of an image: level, row and column of each, (n, 3)."""
    shapes = np.array([search.window.grid_shape(level.shape) for level in search.levels(image_shape)]).reshape(-1, 2)
    ends = np.cumsum(shapes.prod(axis=1))
    n = np.arange(0, ends[-1] if len(ends) else 0, every)
    level = np.searchsorted(ends, n, side="right")
    row, column = np.divmod(n - (ends - shapes.prod(axis=1))[level], shapes[level, 1])
    return np.column_stack([level, row, column])


def cascaded(detector, rgb, windows, rejections):
    """Apply soft cascades to windows of an image.

    Returns
    -------
    counts : ndarray of shape (n_cascades, n_windows), int
        Trees that each window goes through.
    left : ndarray of shape (n_cascades, n_windows), bool
    """
    search, counts = detector.search, np.zeros((len(rejections), len(windows)), dtype=int)
    left = np.zeros(counts.shape, dtype=bool)
    for k, band in search.bands(rgb, search.levels(rgb.shape[:2]), ALONE):
        here, places = in_band(windows, k, band)
        if len(here):
            sums = partial_sums(detector, search.with_strips(band, ALONE).strips, places)
            for j, rejection in enumerate(rejections):
                counts[j, here], left[j, here] = n_trees(sums, rejection)
    return counts, left
