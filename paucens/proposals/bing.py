"""The score of a window by binarized normed gradients, and the thresholds below which windows are discarded."""

from dataclasses import dataclass, field, fields

import numpy as np

from paucens._kernels.builds import chosen
from paucens.features.channels import CELL
from paucens.proposals.gradients import BITS, POINTS, normed_gradients, pack_words
from paucens.validation import check_flag, check_integer

kernels = chosen("bing")

HEIGHTS = (64, 128, 192, 256)  # of windows


def step_of(window_height):
    """Return the distance of the points of a window in cells."""
    return window_height // (POINTS[0] * CELL)


def check_window(shape):
    """Raise ValueError unless the points of a window are whole cells, and few enough for the kernels."""
    if shape not in [(height, height // 2) for height in HEIGHTS]:
        raise ValueError(
            f"Windows of BING must have a height of {', '.join(map(str, HEIGHTS))} and half as much width, since their "
            f"{POINTS[0]} x {POINTS[1]} points are 1 to 4 cells of {CELL} pixels wide; got {shape!r}."
        )


def check_search(search):
    """Raise an error unless BING can score the windows of a search: their shape, their margin, their pixels."""
    if not hasattr(search, "bands"):
        raise TypeError(
            f"search must be that of a detector, such as PedestrianDetector.default().search; got {search!r}."
        )
    window = search.window
    check_window(window.shape)
    reach = CELL * step_of(window.shape[0])
    if window.stride != CELL:
        raise ValueError(f"BING scores windows that are {CELL} pixels apart; got a stride of {window.stride}.")
    if window.margin < reach:
        raise ValueError(
            f"Gradients of windows of {window.shape} depend on {reach} pixels around them; got a margin of "
            f"{window.margin}. Give the window a larger margin."
        )
    if search.lambdas is not None:
        raise ValueError(
            "BING needs the pixels of all sizes of an image, but most channels of this search follow from others by "
            "power laws. Give a search without lambdas."
        )


def keep_all():
    """Return the one threshold that no window misses."""
    return np.array([-np.inf], dtype=np.float32)


def any_height():
    """Return the height that the only threshold belongs to; another would do as well."""
    return np.array([128], dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Bing:
    """A linear score of the gradients in a window, and the thresholds below which windows are discarded.

    Attributes
    ----------
    weights : ndarray of shape (16, 8), float32
        Weight of each normed gradient of a window.
    bases : ndarray of shape (n_bases, 2), uint64
        Signs a_j whose weighted sum approximates the weights, a bit for each, 1 for +1. The first row is the upper byte
        of the first word, the first column the upper bit of a byte.
    coefficients : ndarray of shape (n_bases,), float32
        Weights beta_j of the bases.
    window_height : int, default=128
        Height of the window in pixels, twice its width: 64, 128, 192 or 256.
    normalised : bool, default=False
        Whether scores are divided by the mean gradient of the window plus 4.
    binarised : bool, default=True
        Whether scores are computed from the bases and the upper 4 bits of the gradients, or from the weights.
    thresholds : ndarray of shape (k,), float32
        Windows whose score is below are discarded. Default: one, -inf.
    heights : ndarray of shape (k,), float32
        The height in pixels of the image, increasing, of windows that each threshold is for.

    Raises
    ------
    ValueError, TypeError
        If the height of the window is not allowed, or a flag is none.

    Notes
    -----
    A window has 16 x 8 points. Each is the mean of a square of pixels, 8 x 8 in a window of 128 x 64. The normed
    gradient of a point is `min(|gx| + |gy|, 255)`, where gx and gy are the differences of its two neighbours, the
    largest ones of R, G and B. With b_k the words of bit k + 4 of the gradients, the binarised score is ::

        sum_j beta_j sum_k 2^k (2 |a_j & b_k| - |b_k|),    k = 0, .. 3,    |.| the number of bits set.

    So the bases weigh gradients in units of 16 grey levels, while `weights` weigh single grey levels: thresholds of one
    score mean nothing for the other. The paper's is binarised, not normalised, and has one threshold for all sizes.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.parallel import Threads
    >>> weights = np.ones((16, 8), dtype=np.float32)
    >>> bing = Bing(weights, *greedy_bases(weights, 1), 64, binarised=False)
    >>> edge = np.zeros((64, 40, 3), dtype=np.uint8)
    >>> edge[:, 20:] = 10  # two columns of 16 points see a difference of 10
    >>> bing.scores(edge, (1, 3), 0, Threads(1)).tolist()
    [[320.0, 320.0, 320.0]]
    """

    weights: np.ndarray
    bases: np.ndarray
    coefficients: np.ndarray
    window_height: int = 128
    normalised: bool = False
    binarised: bool = True
    thresholds: np.ndarray = field(default_factory=keep_all)
    heights: np.ndarray = field(default_factory=any_height)

    def __post_init__(self):
        check_window((self.window_height, self.window_height // 2))
        for name in ("normalised", "binarised"):
            check_flag(name, getattr(self, name))

    @property
    def window_shape(self):
        """Height and width of the window in pixels."""
        return self.window_height, self.window_height // 2

    @property
    def step(self):
        """Distance of the points of a window in cells of 4 pixels."""
        return step_of(self.window_height)

    def check_search(self, search):
        """Raise an error unless the windows of a search are those that this scores.

        Parameters
        ----------
        search : Search
            That of a detector, `detector.search`.
        """
        check_search(search)
        if search.window.shape != self.window_shape:
            raise ValueError(
                f"These proposals are for windows of {self.window_shape}; the search has windows of "
                f"{search.window.shape}. Train others by train_bing."
            )

    def scores(self, pixels, grid_shape, margin, threads):
        """Score the windows of an image, one per cell of 4 pixels.

        Parameters
        ----------
        pixels : ndarray of shape (height, width, 3), uint8 or float32, contiguous
            RGB by `paucens.images.as_rgb`, already enlarged by its border. Floats are rounded to bytes.
        grid_shape : tuple of int
            Rows and columns of windows.
        margin : int
            Pixels around the windows, a multiple of 4: the first window begins at (margin, margin). Gradients at the
            border of a window depend on `window_height / 16` of them. Where there are fewer, the border is repeated.
        threads : paucens.parallel.Threads

        Returns
        -------
        scores : ndarray of shape `grid_shape`, float32
            Empty if there is no row or no column.

        Raises
        ------
        ValueError
            If the image does not hold so many windows.
        """
        scores = np.empty(grid_shape, dtype=np.float32)
        if scores.size == 0:
            return scores
        self._check_grid(pixels.shape, grid_shape, margin)
        first = margin // CELL
        gradients = normed_gradients(pixels, self.step, threads)[first:, first:]
        if self.binarised:
            self._score_words(pack_words(gradients, self.step, grid_shape, threads), scores, threads)
        else:
            self._score_gradients(gradients, scores, threads)
        return scores

    def _check_grid(self, image_shape, grid_shape, margin):
        """Raise ValueError unless the image holds the windows; what is behind the last ones need not be there."""
        needed = [margin + CELL * (n - 1) + side for n, side in zip(grid_shape, self.window_shape, strict=True)]
        if margin % CELL or image_shape[0] < needed[0] or image_shape[1] < needed[1]:
            raise ValueError(
                f"{grid_shape[0]} x {grid_shape[1]} windows from ({margin}, {margin}) on need {needed[0]} x "
                f"{needed[1]} pixels and a margin of whole cells of {CELL}; got {image_shape[0]} x {image_shape[1]}. "
                "Enlarge the image, or ask for fewer windows."
            )

    def _score_words(self, words, scores, threads):
        def kernel(start, stop):
            scratch = np.empty((2, scores.shape[1]), dtype=np.int32)
            kernels.score_words(
                words, self.bases, self.coefficients, self.normalised, self.step, scratch, scores, start, stop
            )

        threads.run(kernel, len(scores), 2 * BITS * scores.size * (1 + len(self.bases)))

    def _score_gradients(self, gradients, scores, threads):
        def kernel(start, stop):
            scratch = np.empty(scores.shape[1], dtype=np.int32)
            kernels.score_gradients(gradients, self.weights, self.normalised, self.step, scratch, scores, start, stop)

        threads.run(kernel, len(scores), scores.size * self.weights.size)

    def passes(self, pixels, grid_shape, margin, height, threads):
        """Tell which windows are kept: those whose score is not below the threshold of their size.

        Parameters
        ----------
        pixels, grid_shape, margin
            As for `scores`.
        height : float
            Height of the windows in pixels of the image: `window_height` divided by the ratio of the level.
        threads : paucens.parallel.Threads

        Returns
        -------
        kept : ndarray of shape `grid_shape`, bool
        """
        return self.scores(pixels, grid_shape, margin, threads) >= self.threshold_at(height)

    def threshold_at(self, height):
        """Return the threshold of windows of a height: that of the nearest of `heights`, by their ratio; float32.

        Parameters
        ----------
        height : float
            In pixels of the image.

        Examples
        --------
        >>> import numpy as np
        >>> weights = np.ones((16, 8), dtype=np.float32)
        >>> thresholds, heights = np.float32([-1, 1]), np.float32([100, 200])
        >>> bing = Bing(weights, *greedy_bases(weights, 1), thresholds=thresholds, heights=heights)
        >>> [float(bing.threshold_at(height)) for height in (50, 141, 142, 1000)]
        [-1.0, -1.0, 1.0, 1.0]
        """
        return self.thresholds[np.argmin(np.abs(np.log(self.heights / np.float32(height))))]

    # -- files -------------------------------------------------------------------------------------

    def arrays(self):
        """Return the attributes by name, for a file; single values become arrays of no dimension."""
        return {one.name: np.asarray(getattr(self, one.name)) for one in fields(self)}

    @classmethod
    def from_arrays(cls, arrays):
        """Make a first stage of the arrays of a file.

        Parameters
        ----------
        arrays : dict of str to ndarray
            As returned by `arrays`.

        Raises
        ------
        ValueError
            If an array is missing, is one too many, has another shape or type or is not finite (thresholds may be
            infinite, but not nan), if heights do not increase or the height of the window is not allowed.
        """
        _check_arrays(arrays)
        single = {name: arrays[name].item() for name in ("window_height", "normalised", "binarised")}
        bing = cls(**(arrays | single))
        if bing.heights[0] <= 0 or (np.diff(bing.heights) <= 0).any():
            raise ValueError(f"heights must be positive and increase; got {bing.heights}. The file is damaged.")
        return bing


def _check_arrays(arrays):
    """Raise ValueError if the arrays of a file are not those of a first stage."""
    names = [one.name for one in fields(Bing)]
    if sorted(arrays) != sorted(names):
        raise ValueError(f"The arrays are {sorted(arrays)}; expected {sorted(names)}. The file is damaged.")
    n_bases, n_thresholds = (max(1, arrays[name].size) for name in ("coefficients", "thresholds"))
    shapes = {"weights": POINTS, "bases": (n_bases, 2), "coefficients": (n_bases,)}
    shapes |= {"thresholds": (n_thresholds,), "heights": (n_thresholds,)}
    kinds = {"bases": "u8", "window_height": "i8", "normalised": "b1", "binarised": "b1"}
    for name, array in arrays.items():
        if array.shape != shapes.get(name, ()) or array.dtype.str[1:] != kinds.get(name, "f4"):
            raise ValueError(f"{name} is {array.dtype} of shape {array.shape}. The file is damaged.")
        if np.isnan(array).any() or (name != "thresholds" and np.isinf(array).any()):
            raise ValueError(f"{name} is not finite. The file is damaged.")


def greedy_bases(weights, n_bases):
    """Approximate weights by a weighted sum of signs.

    Parameters
    ----------
    weights : ndarray of shape (16, 8)
    n_bases : int
        From 1 on.

    Returns
    -------
    bases : ndarray of shape (n_bases, 2), uint64
        The signs as words, 1 for +1; see `Bing`.
    coefficients : ndarray of shape (n_bases,), float32

    Notes
    -----
    Each base takes the signs of what the ones before it have left, and its mean magnitude as coefficient (Cheng et al.
    2014, Algorithm 1, after Hare et al. 2012).

    Examples
    --------
    >>> import numpy as np
    >>> weights = np.full((16, 8), -0.25)
    >>> weights[0] = 0.75
    >>> bases, coefficients = greedy_bases(weights, 2)
    >>> [hex(word) for word in bases[0]], coefficients.tolist()
    (['0xff00000000000000', '0x0'], [0.28125, 0.05859375])
    """
    check_integer("n_bases", n_bases, 1)
    left = np.array(weights, dtype=np.float64)
    bases, coefficients = np.empty((n_bases, 2), dtype=np.uint64), np.empty(n_bases, dtype=np.float32)
    for j in range(n_bases):
        coefficients[j] = np.abs(left).mean()
        bases[j] = np.packbits(left > 0).view(">u8")
        left -= coefficients[j] * np.where(left > 0, 1.0, -1.0)
    return bases, coefficients
