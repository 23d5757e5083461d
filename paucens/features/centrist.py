"""CENTRIST words in a spatial hierarchy: a description of scenes without colour or brightness (Sec. 4.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted

from paucens.features.census import CensusImages, census_images
from paucens.features.codebook import Codebook, Histograms, learn_codebook
from paucens.parallel import Threads
from paucens.validation import all_or_nothing, check_integer

PARTS = 8  # windows begin and end at eighths of the image
WINDOWS = [  # top, left and side in eighths
    (0, 0, 8),
    *((top, left, 4) for top in (0, 4) for left in (0, 4)),
    (2, 2, 4),
    *((top, left, 2) for top in (0, 2, 4, 6) for left in (0, 2, 4, 6)),
    *((top, left, 2) for top in (1, 3, 5) for left in (1, 3, 5)),
]
IN_WINDOW = np.zeros((len(WINDOWS), PARTS, PARTS))  # 1 if a window contains a cell of 8 x 8
for _window, (_top, _left, _side) in zip(IN_WINDOW, WINDOWS, strict=True):
    _window[_top : _top + _side, _left : _left + _side] = 1
IN_WINDOW = IN_WINDOW.reshape(len(WINDOWS), -1)


class Centrist(TransformerMixin, BaseEstimator):
    """Describe images by histograms of visual words in 31 windows (Sec. 4.2, SCENE of Table 5).

    Patches on a dense grid are described by the histogram of their census codes (CENTRIST). Each is replaced by the
    nearest of n_words visual words, and the words are counted in 31 windows of the image. `fit` learns the words by
    k-means under the histogram-intersection kernel; fit on training images only.

    Parameters
    ----------
    n_words : int, default=50
        Number of visual words.
    step : int, default=6
        Pixels from one patch to the next, in both directions.
    patch_size : int, default=16
        Side of a patch in pixels, from 3 to 64.
    max_patches : int, default=100_000
        Maximum number of patches of the training images for k-means; if there are more, they are drawn at random.
    n_jobs : int, default=None
        Number of threads, as in joblib. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the patches that are drawn and of k-means.

    Attributes
    ----------
    codebook_ : paucens.features.codebook.Codebook
        The visual words.
    inertia_ : list of float
        Mean squared distance of a training patch to its word in the feature space of the kernel, one value per pass.

    See Also
    --------
    census_images : The part that does not depend on the training images; compute it once for many fits.

    Notes
    -----
    A patch of 16 pixels has 14 x 14 codes, those of the pixels whose neighbours lie in it. All patches have equally
    many codes, so their histograms are compared as counts. The program of Wu and Rehg (ICCV 2009) scales them to a sum
    of 128 and leaves out patches of little contrast; this one does neither. Similarities are sums of integers.

    The windows are those of Wu and Rehg (CENTRIST, PAMI 2011): the image; its four quarters and one of their size in
    the middle; sixteen windows of a quarter of its height and width, and nine more shifted by half a window; each group
    row by row. A patch belongs to the windows that contain its centre. The counts of a window are divided by their sum.
    The paper states 50 words, 31 windows and 1550 features; patches, step and everything else are our reading.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.features import Centrist
    >>> images = np.random.RandomState(0).randint(256, size=(6, 80, 100), dtype=np.uint8)
    >>> X = Centrist(n_words=5, random_state=0).fit_transform(images)
    >>> X.shape, X.sum(axis=1).round(6).tolist()
    ((6, 155), [31.0, 31.0, 31.0, 31.0, 31.0, 31.0])
    """

    codebook_: Codebook
    inertia_: list[float]

    def __init__(
        self,
        n_words: int = 50,
        *,
        step: int = 6,
        patch_size: int = 16,
        max_patches: int = 100_000,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.n_words = n_words
        self.step = step
        self.patch_size = patch_size
        self.max_patches = max_patches
        self.n_jobs = n_jobs
        self.random_state = random_state

    @all_or_nothing
    def fit(self, images: Sequence[Any] | CensusImages, y: Any = None) -> Self:
        """Learn the visual words.

        Parameters
        ----------
        images : list of path-like or of ndarray of shape (height, width), uint8; or CensusImages
            The training images.
        y : None
            Ignored.

        Returns
        -------
        self : Centrist

        Raises
        ------
        FileNotFoundError, ValueError
            If a file or an array is not an image or is too small (the message names it), a parameter is out of range,
            or there are fewer distinct patches than words.
        """
        n_words = check_integer("n_words", self.n_words, 1)
        max_patches = check_integer("max_patches", self.max_patches, 1)
        rng = check_random_state(self.random_state)
        grid = self._grid(images)
        n_patches = int(grid.ends[-1])
        if n_patches > max_patches:
            patches = np.sort(sample_without_replacement(n_patches, max_patches, random_state=rng))
        else:
            patches = np.arange(n_patches)
        histograms = Histograms.empty(len(patches), grid.side)
        with Threads(self.n_jobs) as threads:
            histograms.count(grid.census.codes, *grid.corners(patches), threads)
            self.codebook_, self.inertia_ = learn_codebook(histograms, n_words, rng, threads)
        return self

    def transform(self, images: Sequence[Any] | CensusImages) -> np.ndarray:
        """Count the visual words of each image in 31 windows.

        Parameters
        ----------
        images : list of path-like or of ndarray of shape (height, width), uint8; or CensusImages

        Returns
        -------
        X : ndarray of shape (n_images, 31 n_words), float64
            Share of each word in each window, window by window.

        Raises
        ------
        FileNotFoundError, ValueError
            If a file or an array is not an image or is too small; the message names it.
        """
        check_is_fitted(self)
        grid = self._grid(images)
        X = np.empty((len(grid.census), len(WINDOWS) * self.n_words))

        def describe(start, stop):
            memory = Histograms.empty(grid.n_patches[start:stop].max(), grid.side)
            with Threads(1) as here:
                for k in range(start, stop):
                    X[k] = self._describe(grid, k, memory[: grid.n_patches[k]], here)

        with Threads(self.n_jobs) as threads:
            threads.run(describe, len(X), grid.ends[-1] * grid.side**2)
        return X

    def _grid(self, images):
        step = check_integer("step", self.step, 1)
        patch_size = check_integer("patch_size", self.patch_size, 3, 64)
        return Grid.over(census_images(images, self.n_jobs), step, patch_size)

    def _describe(self, grid, k, histograms, threads):
        """Compute the features of one image; `histograms` is memory for its patches."""
        patches = np.arange(grid.ends[k] - grid.n_patches[k], grid.ends[k])
        histograms.count(grid.census.codes, *grid.corners(patches), threads)
        words, _ = self.codebook_.nearest(histograms, threads)
        n_cells = PARTS * PARTS
        cells = np.bincount(grid.cells(k) * self.n_words + words, minlength=n_cells * self.n_words)
        counts = IN_WINDOW @ cells.reshape(n_cells, self.n_words)
        return (counts / counts.sum(axis=1, keepdims=True)).ravel()


@dataclass(frozen=True)
class Grid:
    """The patches of all images, numbered image by image and row by row.

    Attributes
    ----------
    census : CensusImages
    step, patch_size : int
        In pixels.
    n_patches, n_columns : ndarray of shape (n_images,)
        Number of patches of an image, and of one row of an image.
    ends : ndarray of shape (n_images,)
        Number of patches up to the end of an image.
    """

    census: CensusImages
    step: int
    patch_size: int
    n_patches: np.ndarray
    n_columns: np.ndarray
    ends: np.ndarray

    @classmethod
    def over(cls, census, step, patch_size):
        """Make the grid of some images; raise ValueError if no patch falls into a window of one of them."""
        sides = census.shapes + 2
        for k in np.flatnonzero(~np.all(_fills_windows(sides, step, patch_size), axis=1)):
            height, width = sides[k]
            raise ValueError(
                f"{census.names[k]} has {height} x {width} pixels, too small: patches of {patch_size} pixels every "
                f"{step} leave one of the 31 windows empty. Enlarge it, or take a smaller patch_size or step."
            )
        n_rows, n_columns = ((sides - patch_size) // step + 1).T
        n_patches = n_rows * n_columns
        return cls(census, step, patch_size, n_patches, n_columns, np.cumsum(n_patches))

    @property
    def side(self):
        """Number of codes along the side of a patch."""
        return self.patch_size - 2

    def corners(self, patches):
        """Return the index of the first code of patches, and the distance between their rows."""
        image = np.searchsorted(self.ends, patches, side="right")
        n_columns, stride = self.n_columns[image], self.census.shapes[image, 1]
        row, column = np.divmod(patches - self.ends[image] + self.n_patches[image], n_columns)
        corners = self.census.offsets[image] + self.step * (row * stride + column)
        return corners.astype(np.intp), stride.astype(np.int32)

    def cells(self, k):
        """Return the cell, out of 8 x 8 of an image, that contains the centre of each of its patches."""
        rows, columns = (_parts(side, self.step, self.patch_size) for side in self.census.shapes[k] + 2)
        return np.add.outer(PARTS * rows, columns).ravel()


def _parts(side, step, patch_size):
    """Return the eighth of the side of an image that contains the centre of each patch along it."""
    starts = np.arange(0, side - patch_size + 1, step)
    return PARTS * (2 * starts + patch_size) // (2 * side)


def _fills_windows(sides, step, patch_size):
    """Tell for each side of an image whether every window along it contains the centre of a patch."""

    def filled(side):
        parts = set(_parts(side, step, patch_size).tolist())
        return all(parts & {first, first + 1} for first in range(PARTS - 1))

    distinct, inverse = np.unique(sides, return_inverse=True)
    return np.array([filled(side) for side in distinct])[inverse.reshape(sides.shape)]
