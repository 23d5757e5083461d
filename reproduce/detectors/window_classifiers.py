"""Classifiers of windows of 128 x 64 for Figure 3: boosted trees on channels, and linear SVMs on descriptors.

Each scores crops of 160 x 96, which hold a window and a margin of 16, and all windows of a photograph. This module
makes sure that these are the same windows for all classifiers.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from sklearn.svm import LinearSVC

from paucens.detector import PedestrianDetector
from paucens.detector.samples import stream
from paucens.detector.window import Window
from paucens.features import lbp
from paucens.features.channels import CELL
from paucens.features.hog import GREY as GREY_WEIGHTS
from paucens.features.hog import LBP_CELL, N_HOG, PATTERNS
from paucens.features.opencv import from_opencv
from paucens.features.pyramid import resize, scales
from paucens.images import pixels_of
from paucens.parallel import ALONE

WINDOW = Window(target=(128.0, 64.0))  # as large as its target: it must not leave the photograph
STRIDE, FACTOR, SVM_C = 8, 1.2, 0.01
NONE = np.empty(0, dtype=np.float32)


def with_mirrors(crops):
    """Return each crop, followed by its mirror image."""
    return np.stack([crops, crops[:, :, ::-1]], axis=1).reshape(-1, *crops.shape[1:])


def levels_of(shape):
    """List the sizes at which a photograph is searched, as Level."""
    levels = scales(shape, per_octave=1 / np.log2(FACTOR), min_shape=WINDOW.shape, shrink=CELL)
    return [level for level in levels if n_windows(level)]


def n_windows(level):
    """Count the windows of a level."""
    rows, columns = (max(0, (side - own) // STRIDE + 1) for side, own in zip(level.shape, WINDOW.shape, strict=True))
    return rows * columns


@dataclass(frozen=True)
class Trees:
    """A detector without its soft cascade as a classifier of windows that do not leave the photograph."""

    detector: PedestrianDetector

    @cached_property
    def trees(self):
        """The trees that score every window, a DetectorTrees."""
        return self.detector.trees.without_rejection()

    def of_crops(self, crops):
        """Score crops of 160 x 96; they are not smoothed."""
        search = replace(self.detector.search, window=WINDOW)
        bands = (search.crop(np.ascontiguousarray(crop), ALONE) for crop in crops)
        return np.array([search.scores(band, self.trees, ALONE) for band in bands]).ravel()

    def of_windows(self, rgb):
        """Score all windows of a photograph, level by level and row by row."""
        search, every, found = replace(self.detector.search, window=WINDOW), STRIDE // CELL, [NONE]
        for _, band in search.bands(rgb, levels_of(rgb.shape[:2]), ALONE):
            scores = search.scores(band, self.trees, ALONE)
            found.append(scores[-band.first_row % every :: every, ::every].ravel())
        return np.concatenate(found)


def dense_hog(pixels):
    """Compute HOG of all windows of an image, row by row, float32 (n, 3780)."""
    return from_opencv("HOGDescriptor")().compute(pixels, winStride=(STRIDE, STRIDE)).reshape(-1, N_HOG)


def dense_lbp(pixels):
    """Compute the cells of LBP of all windows of an image, as `paucens.features.hog.cell_lbp` does, (n, 1888)."""
    height, width = (side // STRIDE for side in pixels.shape[:2])
    patterns = lbp.label_pixels(-(pixels @ GREY_WEIGHTS).astype(np.float32), ALONE, PATTERNS)
    patterns = patterns[: STRIDE * height, : STRIDE * width]
    n_bins = int(PATTERNS.max()) + 1
    part = np.add.outer(np.arange(STRIDE * height) // STRIDE * width, np.arange(STRIDE * width) // STRIDE)
    counts = np.bincount((n_bins * part + patterns).ravel(), minlength=n_bins * height * width)
    counts = np.delete(counts.reshape(height, width, n_bins), lbp.BORDER, axis=2)
    cells = counts[:-1, :-1] + counts[:-1, 1:] + counts[1:, :-1] + counts[1:, 1:]  # of 16 pixels, 8 apart
    cells = np.sqrt(cells / cells.sum(axis=2, keepdims=True)).astype(np.float32)
    apart = LBP_CELL // STRIDE
    views = sliding_window_view(cells, [side // STRIDE - 1 for side in WINDOW.shape], axis=(0, 1))
    views = np.moveaxis(views[..., ::apart, ::apart], 2, 4)  # rows, columns, 8 cells down, 4 across, 59 patterns
    return views.reshape(views.shape[0] * views.shape[1], -1)


def dense_hog_lbp(pixels):
    """Compute HOG, then LBP, (n, 5668)."""
    return np.hstack([dense_hog(pixels), dense_lbp(pixels)])


def described_crops(describe, crops):
    """Describe the windows in the middle of crops of 160 x 96, each of which is an image of 5 x 5 windows."""
    descriptors = [describe(np.ascontiguousarray(crop)) for crop in crops]
    return np.array([windows[len(windows) // 2] for windows in descriptors])


def levels_described(describe, rgb, wanted=None):
    """Yield the descriptors of the windows of a photograph, one level at a time: of all windows, or of those wanted."""
    first = 0
    for level in levels_of(rgb.shape[:2]):
        n = n_windows(level)
        own = slice(None) if wanted is None else wanted[(wanted >= first) & (wanted < first + n)] - first
        first += n
        if wanted is None or len(own):
            yield describe(resize(rgb, level.shape, ALONE))[own]


@dataclass(frozen=True)
class Linear:
    """Descriptors and a linear SVM as a classifier of windows."""

    describe: Callable
    weights: np.ndarray
    bias: float

    @classmethod
    def fit(cls, describe, positives, negatives, seed):
        """Fit the SVM to an array of positives and a list of arrays of negatives."""
        X = np.concatenate([positives, *negatives], dtype=np.float64)  # which liblinear takes without a copy
        y = (np.arange(len(X)) < len(positives)).astype(int)
        svm = LinearSVC(C=SVM_C, loss="hinge", dual=True, max_iter=10_000, random_state=seed).fit(X, y)
        return cls(describe, svm.coef_[0].astype(np.float32), np.float32(svm.intercept_[0]))

    def of_crops(self, crops):
        """Score crops of 160 x 96."""
        return described_crops(self.describe, crops) @ self.weights + self.bias

    def of_windows(self, rgb):
        """Score all windows of a photograph, level by level and row by row."""
        scores = [windows @ self.weights + self.bias for windows in levels_described(self.describe, rgb)]
        return np.concatenate([NONE, *scores])


def train_linear(describe, crops, photographs, n_random, most_hard, seed):
    """Train a linear SVM twice, the second time with its false positives, at most `most_hard`.

    `describe` returns the descriptors of all windows of an image. The first training has `n_random` random windows of
    each photograph without people.
    """
    positives = described_crops(describe, with_mirrors(np.array([pixels_of(crop) for crop in crops])))
    shapes = (pixels_of(photograph).shape[:2] for photograph in photographs)
    wanted = [random_places(shape, n_random, stream(seed, 2, k)) for k, shape in enumerate(shapes)]
    negatives = described_windows(describe, photographs, wanted)
    model = Linear.fit(describe, positives, negatives, seed)
    scores = [model.of_windows(pixels_of(photograph)) for photograph in photographs]
    wanted = false_positives(scores, most_hard, stream(seed, 3))
    negatives += described_windows(describe, photographs, wanted)
    return Linear.fit(describe, positives, negatives, seed)


def random_places(shape, n, random):
    """Draw n of all windows of a photograph with equal chance; return their ascending indices."""
    n_all = sum(map(n_windows, levels_of(shape)))
    return np.sort(random.choice(n_all, min(n, n_all), replace=False))


def described_windows(describe, images, wanted):
    """Describe the windows of these indices in each image; a list of arrays."""
    return [
        part
        for image, places in zip(images, wanted, strict=True)
        if len(places)
        for part in levels_described(describe, pixels_of(image), places)
    ]


def false_positives(scores, most, random):
    """List the indices of windows that score above 0 in each image, in all at most so many, drawn with equal chance."""
    found = np.flatnonzero(np.concatenate(scores) > 0)
    if len(found) > most:
        found = np.sort(random.choice(found, most, replace=False))
    starts = np.cumsum([0, *map(len, scores)])[:-1]
    parts = np.split(found, np.searchsorted(found, starts[1:]))
    return [part - start for part, start in zip(parts, starts, strict=True)]
