"""Visual words: k-means of histograms in the feature space of the histogram-intersection kernel.

The kernel of two histograms is K(x, z) = sum_b min(x_b, z_b). A word is the mean of its members in the feature space of
the kernel. Its similarity to a histogram x is the mean of K(x, z) over members z, which is a sum over b of entries (b,
x_b) of a table. So the mean is never computed, and no histogram is compared with another (Wu and Rehg, Beyond the
Euclidean distance, ICCV 2009).
"""

from dataclasses import dataclass

import numpy as np

from paucens._kernels import centrist as kernels

CODES = 256
LANES = 8  # columns per vector register; tables have a multiple of them
NEVER = np.iinfo(np.int32).min  # bias of a column that is padding
MAX_PASSES = 10  # like TOLERANCE as in the authors' published program
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Histograms:
    """Histograms of patches of side x side codes as lists of (code, count) rows; see the kernel."""

    rows: np.ndarray
    n_rows: np.ndarray
    side: int

    @classmethod
    def empty(cls, n_patches, side):
        """Allocate memory for the histograms of some patches; `count` computes them."""
        rows = np.empty((n_patches, min(side * side, CODES) + 1), dtype=np.int32)
        return cls(rows, np.empty(n_patches, dtype=np.int32), side)

    @property
    def area(self):
        """Sum of the counts in a histogram."""
        return self.side * self.side

    def count(self, codes, corners, strides, threads):
        """Compute the histograms of the patches with these corners."""

        def kernel(start, stop):
            kernels.count_patches(codes, corners, strides, self.side, self.rows, self.n_rows, start, stop)

        threads.run(kernel, len(corners), len(corners) * self.area)

    def __len__(self):
        return len(self.n_rows)

    def __getitem__(self, selection):
        return Histograms(self.rows[selection], self.n_rows[selection], self.side)


@dataclass(frozen=True)
class Codebook:
    """Table of the similarities of histograms to words, less half the squared norm of a word, in units of 1 / scale.

    Attributes
    ----------
    table : ndarray of shape (256 (area + 1), n_columns), uint16
        Row code (area + 1) + count; one column per word, then padding.
    bias : ndarray of shape (n_columns,), int32
    """

    table: np.ndarray
    bias: np.ndarray

    @classmethod
    def of_members(cls, histograms, words, n_words):
        """Make each word the mean of its members."""
        n_columns = -(-n_words // LANES) * LANES
        area, scale = histograms.area, scale_of(histograms.area)
        members = np.zeros((CODES * (area + 1), n_columns), dtype=np.int32)
        kernels.tally(histograms.rows, histograms.n_rows, words, members)
        members = members.reshape(CODES, area + 1, n_columns)[..., :n_words]
        at_least = members[:, ::-1].cumsum(axis=1, dtype=np.int64)[:, ::-1]
        at_least[:, 0] = 0
        overlaps = at_least.cumsum(axis=1)  # at (b, v): the sum of min(v, z_b) over members z
        sizes = np.bincount(words, minlength=n_words)
        norms = np.einsum("bvk,bvk->k", members, overlaps) / sizes / sizes
        table = np.zeros((CODES * (area + 1), n_columns), dtype=np.uint16)
        table[:, :n_words] = np.rint(overlaps.reshape(-1, n_words) * (scale / sizes))
        bias = np.full(n_columns, NEVER, dtype=np.int32)
        bias[:n_words] = np.rint(norms * (-scale / 2))
        return cls(table, bias)

    def nearest(self, histograms, threads):
        """Return the nearest word of each histogram and its score, the similarity less half the squared norm."""
        words, scores = np.empty((2, len(histograms)), dtype=np.int32)

        def kernel(start, stop):
            kernels.nearest_words(histograms.rows, histograms.n_rows, self.table, self.bias, words, scores, start, stop)

        threads.run(kernel, len(histograms), len(histograms) * histograms.area)
        return words, scores


def scale_of(area):
    """Return the fixed-point unit: the largest power of two that keeps every similarity below 2^16.

    Examples
    --------
    >>> scale_of(196)
    256
    """
    return 2 ** (16 - area.bit_length())


def learn_codebook(histograms, n_words, rng, threads):
    """Cluster histograms by k-means in the kernel's feature space, from k-means++ seeds.

    Returns
    -------
    codebook : Codebook
    inertia : list of float
        Mean squared distance of a histogram to its word, one value per pass. It falls, except for the rounding of the
        fixed-point table.
    """
    words, scores = _seed(histograms, n_words, rng, threads)
    inertia = []
    for _ in range(MAX_PASSES):
        _fill_empty(words, scores, n_words)
        codebook = Codebook.of_members(histograms, words, n_words)
        words, scores = codebook.nearest(histograms, threads)
        inertia.append(float(histograms.area - 2 * scores.mean(dtype=np.float64) / scale_of(histograms.area)))
        if len(inertia) > 1 and inertia[-2] - inertia[-1] <= TOLERANCE * inertia[-2]:
            break
    return codebook, inertia


def _seed(histograms, n_words, rng, threads):
    """Draw seeds with probability proportional to the squared distance from earlier seeds (k-means++).

    Returns the nearest seed of each histogram, and minus half its squared distance.
    """
    words = np.zeros(len(histograms), dtype=np.int32)
    distances = np.full(len(histograms), histograms.area)
    chosen = rng.randint(len(histograms))
    for word in range(n_words):
        to_this = histograms.area - _similarities(histograms, chosen, threads)
        words[to_this < distances] = word
        np.minimum(distances, to_this, out=distances)
        cumulative = np.cumsum(distances, dtype=np.int64)
        if cumulative[-1] == 0 and word < n_words - 1:
            raise ValueError(
                f"n_words={n_words} needs as many distinct patches, but the training images have only {word + 1}. "
                "Give more or larger images, a smaller step, or fewer words."
            )
        chosen = np.searchsorted(cumulative, rng.random_sample() * cumulative[-1], side="right")
    return words, -distances


def _similarities(histograms, chosen, threads):
    """Compute K(x, z) of all histograms x and a chosen one z."""
    height = histograms.area + 1
    codes, counts = np.divmod(histograms.rows[chosen, : histograms.n_rows[chosen]], height)
    table = np.zeros((CODES, height, LANES), dtype=np.uint16)
    table[codes, :, 0] = np.minimum(counts[:, None], np.arange(height))
    alone = Codebook(table.reshape(-1, LANES), np.zeros(LANES, dtype=np.int32))
    return alone.nearest(histograms, threads)[1]


def _fill_empty(words, scores, n_words):
    """Assign to each word without members one of the histograms that are farthest from their words."""
    empty = np.flatnonzero(np.bincount(words, minlength=n_words) == 0)
    if len(empty):
        words[np.argsort(scores, kind="stable")[: len(empty)]] = empty
