"""From crops and photographs to the features of windows: positives, first negatives, hard negatives."""

from pathlib import Path

import numpy as np

from paucens.detector.suppression import DENOMINATOR, OVERLAP, rows_kept
from paucens.features.channels import CELL
from paucens.images import as_rgb, read_rgb
from paucens.parallel import Threads

LEAST_EDGE = 3  # pixels


def pixels_of(source):
    """RGB of an image, given as a path or as what `as_rgb` takes."""
    return read_rgb(source) if isinstance(source, str | Path) else as_rgb(source)


def pixels_at(name, sources, k):
    """As `pixels_of`, of one of a list; an error tells which."""
    try:
        return pixels_of(sources[k])
    except TypeError as error:
        raise TypeError(f"{name}[{k}]: {error}") from error
    except ValueError as error:
        raise ValueError(f"{name}[{k}]: {error}") from error


def check_sources(name, sources):
    """Refuse what is no list of images, one image above all; raises ValueError."""
    if not isinstance(sources, list | tuple) or len(sources) == 0:
        raise ValueError(
            f"{name} must be a list of images or of files, at least one; got {type(sources).__name__}"
            f"{'' if not hasattr(sources, '__len__') else f' of length {len(sources)}'}."
        )


def repeated_edges(rgb):
    """How many of an image's outermost rows and columns only repeat the next one inwards: top, bottom, left, right.

    A crop that left its photograph has such edges. Fewer than `LEAST_EDGE` count as none: they happen by chance.

    Examples
    --------
    >>> noise = np.random.RandomState(0).randint(256, size=(20, 10, 3)).astype(np.uint8)
    >>> noise[:6] = noise[6]
    >>> repeated_edges(noise)
    (6, 0, 0, 0)
    """
    return tuple(_repeated(view) for view in (rgb, rgb[::-1], rgb.swapaxes(0, 1), rgb.swapaxes(0, 1)[::-1]))


def _repeated(rows):
    differ = (rows[1:] != rows[:-1]).reshape(len(rows) - 1, -1).any(axis=1)
    n = int(np.argmax(differ)) if differ.any() else 0
    return n if n >= LEAST_EDGE else 0


def with_edges(rgb, edges):
    """A copy of an image that repeats so many of its outermost rows and columns: top, bottom, left, right."""
    top, bottom, left, right = edges
    inner = rgb[top : len(rgb) - bottom, left : rgb.shape[1] - right]
    return np.pad(inner, ((top, bottom), (left, right), (0, 0)), mode="edge")


def stream(*key):
    """Random numbers that depend on the key alone."""
    return np.random.default_rng(np.random.SeedSequence(key))


class Sampler:
    """Draws windows from images and hands out their features.

    Parameters
    ----------
    search : Search
    places : ndarray of shape (n_features, 3)
        The features: row, column and channel.
    seed : int
    threads : Threads
        Images are worked on side by side.
    edges : ndarray of shape (n, 4)
        The `repeated_edges` of all positives. Every window without an object gets those of one of them at random, or
        edges would tell the classes apart.
    """

    def __init__(self, search, places, seed, threads, edges):
        self.search, self.places, self.seed, self.threads, self.edges = search, places, seed, threads, edges
        self._in_crop = search.places_in_crop(places)

    def positives(self, sources, chosen):
        """Features of the chosen crops, each followed by its mirror, float32 of shape (2 n, n_features)."""

        def pair(k):
            rgb = pixels_at("positives", sources, k)
            if rgb.shape[:2] != self.search.window.crop:
                height, width = self.search.window.crop
                raise ValueError(
                    f"positives[{k}] has {rgb.shape[0]} x {rgb.shape[1]} pixels; expected {height} x {width}: the "
                    f"window with a margin of {self.search.window.margin} all around. Cut it so, or change the window."
                )
            return np.concatenate([self._of_crop(rgb), self._of_crop(np.ascontiguousarray(rgb[:, ::-1]))])

        return self._stacked(pair, chosen)

    def first_negatives(self, sources, chosen, n_wanted):
        """Features of windows at random from the chosen images, as many from each, n_wanted from all images."""

        def some(k):
            n = (k + 1) * n_wanted // len(sources) - k * n_wanted // len(sources)
            return self._random_windows(k, pixels_at("negative_images", sources, k), n) if n else self._none()

        return self._stacked(some, chosen)

    def hard_negatives(self, sources, chosen, detector, threshold, most):
        """Features of the windows of the chosen images that a detector takes for objects, the best `most` of each."""

        def best(k):
            rgb = pixels_at("negative_images", sources, k)
            return self._best_windows(k, rgb, detector, threshold, most)

        return self._stacked(best, chosen)

    def _stacked(self, work, items):
        found = list(self.threads.map(work, items))
        return np.concatenate([self._none(), *found])

    def _none(self):
        return np.empty((0, len(self.places)), dtype=np.float32)

    def _of_crop(self, rgb):
        return self.search.crop(rgb).strips.reshape(1, -1)[:, self._in_crop]

    def _random_windows(self, place, rgb, n):
        """Windows drawn from all of an image, at all sizes, with equal chance; none where the image is too small."""
        levels = self.search.levels(rgb.shape[:2])
        shapes = [self.search.window.positions(level.shape) for level in levels]
        ends = np.cumsum([rows * columns for rows, columns in shapes])
        if len(ends) == 0:
            return self._none()
        drawn = np.sort(stream(self.seed, 0, place).integers(ends[-1], size=n))
        of_level = np.searchsorted(ends, drawn, side="right")
        places = ends[of_level] - 1 - drawn  # counted from the last window of a level
        cells = [divmod(int(place), shapes[k][1]) for k, place in zip(of_level, places, strict=True)]
        return self._crops(place, rgb, levels, [(k, *cell) for k, cell in zip(of_level, cells, strict=True)])

    def _best_windows(self, place, rgb, detector, threshold, most):
        levels = self.search.levels(rgb.shape[:2])
        with Threads(1) as one:
            boxes, windows = detector.candidates(rgb, levels, threshold, one)
        kept = rows_kept(boxes, OVERLAP, DENOMINATOR)[:most]
        return self._crops(place, rgb, levels, windows[np.sort(kept)].tolist())

    def _crops(self, place, rgb, levels, windows):
        """Features of windows of the image at a place, given as level, row and column, level by level."""
        found, (height, width) = [self._none()], self.search.window.crop
        pixels, at, random = None, -1, stream(self.seed, 3, place)
        with Threads(1) as one:
            for k, row, column in windows:
                if k != at:
                    pixels, at = self.search.padded(rgb, levels[k], one), k
                y, x = CELL * row, CELL * column
                edges = self.edges[random.integers(len(self.edges))]
                found.append(self._of_crop(with_edges(pixels[y : y + height, x : x + width], edges)))
        return np.concatenate(found)
