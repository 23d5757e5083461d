"""From crops and photographs to the features of windows: positives, random negatives, hard negatives."""

import numpy as np

from paucens.detector.samples import crop_at, repeated_edges, stream, with_edges
from paucens.detector.suppression import DENOMINATOR, OVERLAP, rows_kept
from paucens.images import pixels_at
from paucens.parallel import ALONE

UNMIRRORED = [0, 1, 2, 3]  # edges: top, bottom, left, right
MIRRORED = [0, 1, 3, 2]


class WindowSampler:
    """Compute the features of windows.

    Parameters
    ----------
    search : Search
    places : ndarray of shape (n_features, 3)
        Row, column and channel of each feature.
    seed : int
    threads : Threads
        Images are processed side by side.
    mirrors : bool, default=True
        Whether each crop is followed by its mirror image.
    edges : ndarray of shape (n, 4), optional
        The `repeated_edges` of all positives. Each negative gets those of one of them at random.
    mask_edges : bool, default=False
        Whether features of a crop that depend on its repeated edges are replaced by those of another crop.
    """

    def __init__(self, search, places, seed, threads, *, mirrors=True, edges=None, mask_edges=False):
        self.search, self.places, self.seed, self.threads = search, places, seed, threads
        self.edges, self.mask_edges = edges, mask_edges
        self._orders = [UNMIRRORED, MIRRORED] if mirrors else [UNMIRRORED]
        self._indices_in_crop = search.indices_in_crop(places)

    # -- positives ---------------------------------------------------------------------------------

    def positives(self, sources, chosen):
        """Compute the features of the chosen crops and their mirrors, float32 (n, n_features)."""

        def of_crop(k):
            rgb = crop_at("positives", sources, k, self.search.window)
            views = [rgb, np.ascontiguousarray(rgb[:, ::-1])][: len(self._orders)]
            edges = np.array(repeated_edges(rgb)) if self.mask_edges else None
            return np.concatenate([self._of_crop(view) for view in views]), edges

        found = self.threads.map(of_crop, chosen)
        values = np.concatenate([self._none(), *(values for values, _ in found)])
        if self.mask_edges:
            edges = np.array([edges[order] for _, edges in found for order in self._orders])
            self._mask(values, edges, np.random.default_rng([self.seed, chosen[0]]))
        return values

    def _mask(self, values, edges, random):
        """Replace the features that depend on edges by those of random crops without edges, in place."""
        whole = np.flatnonzero(~edges.any(axis=1))
        if len(whole) == 0:
            raise ValueError(
                f"repeat_edges='mask' needs crops without repeated edges, but {len(edges)} in a row have some. Shuffle "
                "the positives, or give more."
            )
        donors = random.choice(whole, size=len(edges))
        for row in np.flatnonzero(edges.any(axis=1)):
            reached = self._reached(edges[row])
            values[row, reached] = values[donors[row], reached]

    def _reached(self, edges):
        """Tell which features depend on a pixel of the edges."""
        window, (top, bottom, left, right) = self.search.window, edges
        first, last = (self.search.spec.supports[self.places[:, 2], k, None] for k in (0, 1))
        cells = window.margin + window.cell * self.places[:, :2]
        before, after = np.array([top, left]), np.array(window.crop) - [bottom, right]
        return ((cells + first < before) | (cells + last > after)).any(axis=1)

    # -- negatives ---------------------------------------------------------------------------------

    def random_negatives(self, sources, chosen, n_wanted):
        """Compute the features of random windows of the chosen images; `n_wanted` are spread over all images."""

        def of_image(k):
            n = (k + 1) * n_wanted // len(sources) - k * n_wanted // len(sources)
            return self._random_windows(k, pixels_at("negative_images", sources, k), n) if n else self._none()

        return self._stacked(of_image, chosen)

    def hard_negatives(self, sources, chosen, detector, threshold, per_image):
        """Compute the features of false positives: the best windows above a threshold in each of the chosen images."""

        def of_image(k):
            rgb = pixels_at("negative_images", sources, k)
            return self._best_windows(k, rgb, detector, threshold, per_image)

        return self._stacked(of_image, chosen)

    def _stacked(self, work, items):
        return np.concatenate([self._none(), *self.threads.map(work, items)])

    def _none(self):
        return np.empty((0, len(self.places)), dtype=np.float32)

    def _of_crop(self, rgb):
        return self.search.crop(rgb, ALONE).strips.reshape(1, -1)[:, self._indices_in_crop]

    def _random_windows(self, index, rgb, n):
        """Draw from all windows of an image, at all sizes, with equal chance; none if the image is too small."""
        levels = self.search.levels(rgb.shape[:2])
        shapes = [self.search.window.grid_shape(level.shape) for level in levels]
        ends = np.cumsum([rows * columns for rows, columns in shapes])
        if len(ends) == 0 or ends[-1] == 0:
            return self._none()
        drawn = np.sort(stream(self.seed, 0, index).integers(ends[-1], size=n))
        of_level = np.searchsorted(ends, drawn, side="right")
        from_last = ends[of_level] - 1 - drawn  # counted from the last window of a level
        cells = [divmod(int(place), shapes[k][1]) for k, place in zip(of_level, from_last, strict=True)]
        return self._of_windows(index, rgb, levels, [(k, *cell) for k, cell in zip(of_level, cells, strict=True)])

    def _best_windows(self, index, rgb, detector, threshold, per_image):
        levels = self.search.levels(rgb.shape[:2])
        boxes, windows = detector.candidates(rgb, levels, threshold, ALONE)
        kept = rows_kept(boxes, OVERLAP, DENOMINATOR)[:per_image]
        return self._of_windows(index, rgb, levels, windows[np.sort(kept)].tolist())

    def _of_windows(self, index, rgb, levels, windows):
        """Compute the features of windows of an image, given by level, row and column, ordered by level."""
        found, stride, (height, width) = [self._none()], self.search.window.stride, self.search.window.crop
        pixels, current, random = None, None, stream(self.seed, 3, index)
        for k, row, column in windows:
            if k != current:
                pixels, current = self.search.padded(rgb, levels[k], ALONE), k
            y, x = stride * row, stride * column
            crop = pixels[y : y + height, x : x + width]
            if self.edges is not None:
                crop = with_edges(crop, self.edges[random.integers(len(self.edges))])
            found.append(self._of_crop(crop))
        return np.concatenate(found)
