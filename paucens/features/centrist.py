"""CENTRIST words in a spatial hierarchy: what scenes look like, without colour or brightness (Sec. 4.2)."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted

from paucens.features.census import CensusImages, census_images
from paucens.features.codebook import Histograms, learn_codebook
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
IN_WINDOW = np.zeros((len(WINDOWS), PARTS, PARTS))  # 1 where a window holds a cell of 8 x 8
for _window, (_top, _left, _side) in zip(IN_WINDOW, WINDOWS, strict=True):
    _window[_top : _top + _side, _left : _left + _side] = 1
IN_WINDOW = IN_WINDOW.reshape(len(WINDOWS), -1)


class Centrist(TransformerMixin, BaseEstimator):
    """Describe images by histograms of visual words in 31 windows (Sec. 4.2, SCENE of Table 5).

    Patches on a dense grid are described by the histogram of their census codes (CENTRIST), each is replaced by
    the nearest of n_words visual words, and the words are counted in 31 windows of the image. `fit` learns the
    words by k-means under the histogram-intersection kernel: fit on training images only.

    Parameters
    ----------
    n_words : int, default=50
        Visual words.
    step : int, default=6
        Pixels from one patch to the next, in both directions.
    patch_size : int, default=16
        Side of a patch in pixels, from 3 to 64.
    max_patches : int, default=100_000
        Patches of the training images that the k-means sees, drawn at random where there are more.
    n_jobs : int, default=None
        Threads, as in joblib. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Of the patches drawn and the seeds of the k-means.

    Attributes
    ----------
    codebook_ : paucens.features.codebook.Codebook
        The words.
    inertia_ : list of float
        Mean squared distance of a training patch to its word in the kernel's feature space, one value a pass.

    See Also
    --------
    census_images : The part that does not depend on the training images, to be computed once for many fits.

    Notes
    -----
    A patch of 16 pixels has 14 x 14 codes, those of the pixels whose neighbours lie in it. All patches have as
    many codes, so their histograms are compared as counts, without the scaling to a sum of 128 that the program
    of Wu and Rehg (ICCV 2009) does; nor are patches of little contrast left out. Similarities are sums of
    integers.

    The windows are those of Wu and Rehg (CENTRIST, PAMI 2011): the image; its four quarters and one of their
    size in the middle; sixteen and, shifted by half a window, nine of a quarter of its height and width; each
    row by row. A patch belongs to the windows that hold its centre. Each window's counts are divided by their
    sum. The paper gives 50 words, 31 windows and 1550 features; patches, step and all else are our reading.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.features import Centrist
    >>> images = np.random.RandomState(0).randint(256, size=(6, 80, 100), dtype=np.uint8)
    >>> X = Centrist(n_words=5, random_state=0).fit_transform(images)
    >>> X.shape, X.sum(axis=1).round(6).tolist()
    ((6, 155), [31.0, 31.0, 31.0, 31.0, 31.0, 31.0])
    """

    def __init__(self, n_words=50, *, step=6, patch_size=16, max_patches=100_000, n_jobs=None, random_state=None):
        self.n_words = n_words
        self.step = step
        self.patch_size = patch_size
        self.max_patches = max_patches
        self.n_jobs = n_jobs
        self.random_state = random_state

    @all_or_nothing
    def fit(self, images, y=None):
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
            For a file or an array that is no image or is too small, by name; for a parameter out of range; for
            fewer distinct patches than words.
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
        histograms = Histograms.room(len(patches), grid.side)
        with Threads(self.n_jobs) as threads:
            histograms.count(grid.census.codes, *grid.corners(patches), threads)
            self.codebook_, self.inertia_ = learn_codebook(histograms, n_words, rng, threads)
        return self

    def transform(self, images):
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
            For a file or an array that is no image or is too small; the message names it.
        """
        check_is_fitted(self)
        grid = self._grid(images)
        X = np.empty((len(grid.census), len(WINDOWS) * self.n_words))

        def describe(start, stop):
            room = Histograms.room(grid.n_patches[start:stop].max(), grid.side)
            with Threads(1) as here:
                for k in range(start, stop):
                    X[k] = self._describe(grid, k, room[: grid.n_patches[k]], here)

        with Threads(self.n_jobs) as threads:
            threads.run(describe, len(X), grid.ends[-1] * grid.side**2)
        return X

    def _grid(self, images):
        step = check_integer("step", self.step, 1)
        patch_size = check_integer("patch_size", self.patch_size, 3, 64)
        return Grid.over(census_images(images, self.n_jobs), step, patch_size)

    def _describe(self, grid, k, histograms, threads):
        """Return the features of one image; `histograms` is room for those of its patches."""
        patches = np.arange(grid.ends[k] - grid.n_patches[k], grid.ends[k])
        histograms.count(grid.census.codes, *grid.corners(patches), threads)
        words, _ = self.codebook_.nearest(histograms, threads)
        n_cells = PARTS * PARTS
        cells = np.bincount(grid.cells(k) * self.n_words + words, minlength=n_cells * self.n_words)
        counts = IN_WINDOW @ cells.reshape(n_cells, self.n_words)
        return (counts / counts.sum(axis=1, keepdims=True)).ravel()


@dataclass(frozen=True)
class Grid:
    """Lay out the patches of all images: number them image by image, row by row.

    Attributes
    ----------
    census : CensusImages
    step, patch_size : int
    n_patches, n_columns : ndarray of shape (n_images,)
        Patches of an image, and of a row of it.
    ends : ndarray of shape (n_images,)
        Patches up to the end of an image.
    """

    census: CensusImages
    step: int
    patch_size: int
    n_patches: np.ndarray
    n_columns: np.ndarray
    ends: np.ndarray

    @classmethod
    def over(cls, census, step, patch_size):
        """Lay the grid over images; raise ValueError for one with a window that no patch falls into."""
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
        """Codes along a patch's side."""
        return self.patch_size - 2

    def corners(self, patches):
        """Return where in the codes patches begin, and how far their rows are apart."""
        image = np.searchsorted(self.ends, patches, side="right")
        n_columns, stride = self.n_columns[image], self.census.shapes[image, 1]
        row, column = np.divmod(patches - self.ends[image] + self.n_patches[image], n_columns)
        corners = self.census.offsets[image] + self.step * (row * stride + column)
        return corners.astype(np.intp), stride.astype(np.int32)

    def cells(self, k):
        """Return the cell, among 8 x 8 of the image, that holds the centre of each of its patches."""
        rows, columns = (_parts(side, self.step, self.patch_size) for side in self.census.shapes[k] + 2)
        return np.add.outer(PARTS * rows, columns).ravel()


def _parts(side, step, patch_size):
    """Return the eighth of the image's side that holds the centre of each patch along it."""
    starts = np.arange(0, side - patch_size + 1, step)
    return PARTS * (2 * starts + patch_size) // (2 * side)


def _fills_windows(sides, step, patch_size):
    """Say of each side of an image whether every window along it holds a patch's centre."""

    def filled(side):
        parts = set(_parts(side, step, patch_size).tolist())
        return all(parts & {first, first + 1} for first in range(PARTS - 1))

    distinct, where = np.unique(sides, return_inverse=True)
    return np.array([filled(side) for side in distinct])[where.reshape(sides.shape)]
