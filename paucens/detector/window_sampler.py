"""From crops and photographs to the features of windows: positives, random negatives, hard negatives."""

import numpy as np

from paucens._kernels.boxes import overlaps
from paucens.detector.samples import crop_at, repeated_edges, stream, with_edges
from paucens.detector.suppression import DENOMINATOR, OVERLAP, rows_kept
from paucens.features.motion import frame_at, mirrored, rgb_of
from paucens.parallel import ALONE

UNMIRRORED = [0, 1, 2, 3]  # edges: top, bottom, left, right
MIRRORED = [0, 1, 3, 2]
MOST_DRAWS = 20  # of as many windows as are wanted, of which some overlap regions


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
    regions : list of ndarray of shape (r, 4), optional
        Boxes in each negative image that the box of a negative may not overlap.
    """

    def __init__(self, search, places, seed, threads, *, mirrors=True, edges=None, mask_edges=False, regions=None):
        self.search, self.places, self.seed, self.threads = search, places, seed, threads
        self.edges, self.mask_edges, self.regions = edges, mask_edges, regions
        self._orders = [UNMIRRORED, MIRRORED] if mirrors else [UNMIRRORED]
        self._indices_in_crop = search.indices_in_crop(places)

    # -- positives ---------------------------------------------------------------------------------

    def positives(self, sources, chosen):
        """Compute the features of the chosen crops and their mirrors, float32 (n, n_features)."""

        def of_crop(k):
            pixels = crop_at("positives", sources, k, self.search)
            views = [pixels, mirrored(pixels)][: len(self._orders)]
            edges = np.array(repeated_edges(rgb_of(pixels))) if self.mask_edges else None
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
            return self._random_windows(k, self._image(sources, k), n) if n else self._none()

        return self._stacked(of_image, chosen)

    def hard_negatives(self, sources, chosen, detector, threshold, per_image):
        """Compute the features of false positives: the best windows above a threshold in each of the chosen images."""

        def of_image(k):
            return self._best_windows(k, self._image(sources, k), detector, threshold, per_image)

        return self._stacked(of_image, chosen)

    def _image(self, sources, k):
        return frame_at("negative_images", sources, k, self.search.spec)

    def _stacked(self, work, items):
        return np.concatenate([self._none(), *self.threads.map(work, items)])

    def _none(self):
        return np.empty((0, len(self.places)), dtype=np.float32)

    def _of_crop(self, pixels):
        return self.search.crop(pixels, ALONE).strips.reshape(1, -1)[:, self._indices_in_crop]

    def _random_windows(self, index, pixels, n):
        """Draw from all windows of an image, at all sizes, with equal chance; none if the image is too small."""
        levels = self.search.levels(pixels.shape[:2])
        shapes = [self.search.window.grid_shape(level.shape) for level in levels]
        ends = np.cumsum([rows * columns for rows, columns in shapes])
        if len(ends) == 0 or ends[-1] == 0:
            return self._none()
        n_columns, ratios = np.array([columns for _, columns in shapes]), np.array([level.ratio for level in levels])

        def windows_of(numbers):
            of_level = np.searchsorted(ends, numbers, side="right")
            from_last = ends[of_level] - 1 - numbers  # counted from the last window of a level
            return np.column_stack([of_level, *np.divmod(from_last, n_columns[of_level])])

        random, drawn = stream(self.seed, 0, index), np.empty(0, dtype=np.int64)
        for _ in range(MOST_DRAWS):
            some = random.integers(ends[-1], size=n)
            windows = windows_of(some)
            free = self._are_free(index, self.search.window.boxes(windows[:, 1:], ratios[windows[:, 0]]))
            drawn = np.concatenate([drawn, some[free]])[:n]
            if len(drawn) == n:
                break
        return self._of_windows(index, pixels, levels, windows_of(np.sort(drawn)).tolist())

    def _are_free(self, index, boxes):
        """Tell which boxes overlap no region of an image."""
        if self.regions is None:
            return np.full(len(boxes), True)
        regions = self.regions[index]
        shares = np.empty((len(boxes), len(regions)))
        overlaps(np.ascontiguousarray(boxes), np.ascontiguousarray(regions), False, shares)
        return ~shares.any(axis=1)

    def _best_windows(self, index, pixels, detector, threshold, per_image):
        levels = self.search.levels(pixels.shape[:2])
        boxes, windows = detector.candidates(pixels, levels, threshold, ALONE)
        free = self._are_free(index, boxes)
        boxes, windows = boxes[free], windows[free]
        kept = rows_kept(boxes, OVERLAP, DENOMINATOR)[:per_image]
        return self._of_windows(index, pixels, levels, windows[np.sort(kept)].tolist())

    def _of_windows(self, index, pixels, levels, windows):
        """Compute the features of windows of an image, given by level, row and column, ordered by level."""
        found, stride, (height, width) = [self._none()], self.search.window.stride, self.search.window.crop
        of_level, current, random = None, None, stream(self.seed, 3, index)
        for k, row, column in windows:
            if k != current:
                of_level, current = self.search.padded(pixels, levels[k], ALONE), k
            y, x = stride * row, stride * column
            crop = of_level[y : y + height, x : x + width]
            if self.edges is not None:
                crop = with_edges(crop, self.edges[random.integers(len(self.edges))])
            found.append(self._of_crop(crop))
        return np.concatenate(found)
