"""The samples of a training: windows as bytes, drawn once and kept in files."""

import itertools
from functools import cached_property

import numpy as np
from tqdm import tqdm

from paucens.detector.samples import Sampler, pixels_at, repeated_edges, stream
from paucens.learners.binning import code_features, find_thresholds

TOGETHER = 32  # images between two writings
ROWS_TOGETHER = 500  # samples that are copied at a time
BIN_SAMPLES = 2000  # windows, half of them positives, by which the features are cut into bins


class Collection:
    """Positives and negatives of each round, uint8 (n, n_features), mapped from the files of a workshop.

    Parameters
    ----------
    training : what `train_detector` was given, checked
    workshop : Workshop
    threads : Threads
    """

    def __init__(self, training, workshop, threads):
        self.training, self.workshop, self.threads = training, workshop, threads

    @cached_property
    def sampler(self):
        """Draws windows and hands out their features."""
        training = self.training
        edges = self.workshop.array("edges", self._edges)
        return Sampler(training.search, training.places, training.seed, self.threads, edges)

    @cached_property
    def bins(self):
        """Thresholds of all features and where those of each begin, as in `BinnedData`."""
        return self.workshop.arrays("bins", self._bins)

    def positives(self):
        """All positives and their mirrors."""
        sources = self.training.positives

        def draw(chosen):
            return self.sampler.positives(sources, chosen)

        return self._stacked("positives", lambda: self._drawn("positives", range(len(sources)), draw))

    def negatives(self, k, before):
        """Negatives of round k: at random, or what the detector of the round before gets wrong and some of the old."""
        samples = self._stacked(f"negatives {k}", lambda: self._hard(k, before) if k else self._at_random())
        self.workshop.forget(f"negatives {k - 1}")
        return samples

    def _edges(self):
        """The repeated edges of all positives and of their mirrors, int64 (2 n, 4)."""
        sources = self.training.positives

        def of_crop(k):
            return repeated_edges(pixels_at("positives", sources, k))

        edges = np.array(self.threads.map(of_crop, range(len(sources))))
        return np.concatenate([edges, edges[:, [0, 1, 3, 2]]])

    def _bins(self):
        crops, images = self.training.positives, self.training.images
        n = min(BIN_SAMPLES // 4, len(crops))  # with their mirrors half of the samples
        some = [crops[k * len(crops) // n] for k in range(n)]
        drawn = itertools.chain(
            (self.sampler.positives(some, chosen) for chosen in batches(range(n))),
            (self.sampler.first_negatives(images, chosen, 2 * n) for chosen in batches(range(len(images)))),
        )
        values, n_drawn = np.empty((4 * n, len(self.training.places)), dtype=np.float32), 0
        for part in drawn:
            values[n_drawn : n_drawn + len(part)] = part
            n_drawn += len(part)
        self._check_some(n_drawn - 2 * n)
        return find_thresholds(values[:n_drawn], self.training.max_bins, self.threads)

    def _at_random(self):
        """Windows at random from all images, list of (samples, rows) as all the methods below give."""
        images = self.training.images

        def draw(chosen):
            return self.sampler.first_negatives(images, chosen, self.training.n_negatives)

        drawn = self._drawn("negatives 0", range(len(images)), draw)
        self._check_some(sum(len(rows) for _, rows in drawn))
        return drawn

    def _hard(self, k, before):
        """Hard negatives of round k, image after image in an order of its own until there are enough, and old ones."""
        training = self.training

        def draw(chosen):
            return self.sampler.hard_negatives(
                training.images, chosen, before, before.notes["hard"], training.per_image
            )

        order = stream(training.seed, 1, k).permutation(len(training.images))
        new = self._drawn(f"negatives {k}", order, draw, training.n_negatives)
        room = training.most_negatives - sum(len(rows) for _, rows in new)
        old = self.negatives(k - 1, None)  # still there until this is written
        rows = np.sort(stream(training.seed, 2, k).permutation(len(old))[:room])
        return new + [(old, some) for some in batches(rows, ROWS_TOGETHER)]

    def _drawn(self, name, order, draw, enough=np.inf):
        """Windows of the images of an order, some images at a time, until there are enough."""
        parts, left = [], enough
        for k, chosen in enumerate(tqdm(batches(order), name, disable=not self.training.verbose)):

            def make(chosen=chosen):
                return self._codes(draw(chosen))

            samples = self.workshop.array(f"{name} {k}", make)
            parts.append((samples, np.arange(min(len(samples), left), dtype=np.int64)))
            left -= len(samples)
            if left <= 0:
                break
        return parts

    def _codes(self, values):
        """Windows as bytes, a row each."""
        return np.ascontiguousarray(code_features(values, *self.bins, self.threads).T)

    def _stacked(self, name, parts):
        """Rows of parts end to end; the files of the parts are not needed any more."""
        samples = self.workshop.stacked(name, parts)
        self.workshop.forget(f"{name} *")
        return samples

    def _check_some(self, n_negatives):
        if n_negatives == 0:
            height, width = self.training.search.window.shape
            raise ValueError(
                f"None of {len(self.training.images)} negative images holds a window of {height} x "
                f"{width} pixels; give larger ones."
            )


def batches(order, size=TOGETHER):
    """Cut a sequence into pieces."""
    return [order[first : first + size] for first in range(0, len(order), size)]
