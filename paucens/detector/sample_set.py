"""The samples of a training: windows as bytes, drawn once and kept in files."""

import itertools
from functools import cached_property

import numpy as np

from paucens.detector.samples import repeated_edges, stream
from paucens.detector.window_sampler import MIRRORED, WindowSampler
from paucens.features.motion import image_of
from paucens.images import pixels_at
from paucens.learners.binning import code_features, find_thresholds
from paucens.progress import progress_bar

IMAGES_PER_FILE = 32
ROWS_PER_COPY = 500
BIN_SAMPLES = 2000  # windows from which the bins of the features are computed, half of them positives


class SampleSet:
    """Positives and negatives of a training, uint8 (n, n_features), mapped from the files of a cache.

    Parameters
    ----------
    config : TrainingConfig
    cache : TrainingCache
    threads : Threads
    """

    def __init__(self, config, cache, threads):
        self._config, self._cache, self._threads = config, cache, threads

    @cached_property
    def bins(self):
        """Thresholds of all features and the offsets of each in them, as in `BinnedData`."""
        return self._cache.arrays("bins", self._find_bins)

    @cached_property
    def positives(self):
        """All positives; each is followed by its mirror if mirrors are wanted."""
        sources = self._config.positives

        def draw(chosen):
            return self._sampler.positives(sources, chosen)

        return self._cache.samples("positives", lambda: self._drawn("positives", range(len(sources)), draw))

    def random_negatives(self):
        """Return the negatives of round 0: random windows of all images."""

        def draw(chosen):
            return self._sampler.random_negatives(self._config.negative_images, chosen, self._config.n_negatives)

        def make():
            drawn = self._drawn("negatives 0", range(len(self._config.negative_images)), draw)
            self._check_some(sum(len(rows) for _, rows in drawn))
            return drawn

        return self._cache.samples("negatives 0", make)

    def hard_negatives(self, k, detector):
        """Return the negatives of round k: false positives of the detector of the round before, and old negatives.

        Images are searched in an order drawn for the round, until there are enough.
        """
        config, name = self._config, f"negatives {k}"

        def draw(chosen):
            threshold = detector.notes["hard"]
            return self._sampler.hard_negatives(config.negative_images, chosen, detector, threshold, config.per_image)

        def make():
            order = stream(config.random_state, 1, k).permutation(len(config.negative_images))
            new = self._drawn(name, order, draw, config.n_negatives)
            n_new = sum(len(rows) for _, rows in new)
            self._cache.array(f"hard {k}", lambda: np.array([n_new]))
            room = config.most_negatives - n_new
            old = self._cache.samples(f"negatives {k - 1}", None)  # removed only when the new ones are complete
            rows = np.sort(stream(config.random_state, 2, k).permutation(len(old))[:room])
            return new + [(old, some) for some in _batches(rows, ROWS_PER_COPY)]

        negatives = self._cache.samples(name, make)
        self._cache.forget(f"negatives {k - 1}")
        return negatives

    def n_hard(self, k):
        """Return how many of the negatives of round k were found for it by the detector of the round before."""
        return int(self._cache.array(f"hard {k}", lambda: np.array([0]))[0])

    # -- drawing -----------------------------------------------------------------------------------

    @cached_property
    def _sampler(self):
        config = self._config
        edges = self._cache.array("edges", self._find_edges) if config.repeat_edges is True else None
        return WindowSampler(
            config.search,
            config.places,
            config.random_state,
            self._threads,
            mirrors=config.mirrors,
            edges=edges,
            mask_edges=config.repeat_edges == "mask",
            regions=config.regions,
        )

    def _find_edges(self):
        """Find the repeated edges of all positives, then those of their mirrors, int64 (n, 4)."""
        sources = list(map(image_of, self._config.positives))

        def of_crop(k):
            return repeated_edges(pixels_at("positives", sources, k))

        edges = np.array(self._threads.map(of_crop, range(len(sources))))
        return np.concatenate([edges, edges[:, MIRRORED]]) if self._config.mirrors else edges

    def _find_bins(self):
        config, views = self._config, 1 + self._config.mirrors
        n = min(BIN_SAMPLES // 2 // views, len(config.positives))
        some = [config.positives[k * len(config.positives) // n] for k in range(n)]
        n_positives = n_negatives = views * n
        drawn = itertools.chain(
            (self._sampler.positives(some, chosen) for chosen in _batches(range(n))),
            (
                self._sampler.random_negatives(config.negative_images, chosen, n_negatives)
                for chosen in _batches(range(len(config.negative_images)))
            ),
        )
        values, n_drawn = np.empty((n_positives + n_negatives, len(config.places)), dtype=np.float32), 0
        for part in drawn:
            values[n_drawn : n_drawn + len(part)] = part
            n_drawn += len(part)
        self._check_some(n_drawn - n_positives)
        return find_thresholds(values[:n_drawn], config.max_bins, self._threads)

    def _drawn(self, name, order, draw, enough=np.inf):
        """Draw windows from images in an order, a file for some images at a time, until there are enough.

        Returns
        -------
        parts : list of (samples, rows)
        """
        parts, left = [], enough
        for k, chosen in enumerate(progress_bar(_batches(order), name, verbose=self._config.verbose)):
            samples = self._cache.array(f"{name} {k}", lambda chosen=chosen: self._codes(draw(chosen)))
            parts.append((samples, np.arange(min(len(samples), left), dtype=np.int64)))
            left -= len(samples)
            if left <= 0:
                break
        return parts

    def _codes(self, values):
        """Turn features into bytes, a row per window."""
        return np.ascontiguousarray(code_features(values, *self.bins, self._threads).T)

    def _check_some(self, n_negatives):
        if n_negatives == 0:
            height, width = self._config.search.window.least_image
            beside = "" if self._config.regions is None else " beside what is marked in them"
            raise ValueError(
                f"None of {len(self._config.negative_images)} negative images is large enough for a window{beside}; "
                f"give images of at least {height} x {width} pixels (height x width)."
            )


def _batches(order, size=IMAGES_PER_FILE):
    """Cut a sequence into pieces."""
    return [order[first : first + size] for first in range(0, len(order), size)]
