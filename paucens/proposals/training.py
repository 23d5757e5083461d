"""From crops and photographs to a first stage: gradients of windows, a linear classifier, its bases."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from paucens.features.channels import CELL
from paucens.features.pyramid import resize
from paucens.images import check_sources, pixels_at
from paucens.learners.linear import LARGEST_C, LEAST_C
from paucens.parallel import ALONE, Threads
from paucens.proposals.bing import Bing, check_search, greedy_bases, step_of
from paucens.proposals.gradients import POINTS, normed_gradients, windows_at
from paucens.validation import check_choice, check_integer, check_jobs, check_within

MOST_SAMPLES = 100_000
TOLERANCE = 0.01  # LIBLINEAR's own default for this solver
LEAST_OVERLAP = 0.5  # of a training window with the one around the person, intersection over union
OFFSET = 4  # grey levels added to the mean gradient that scores are divided by


def train_bing(
    positives: Sequence[Any],
    negative_images: Sequence[Any],
    search: Any,
    *,
    n_bases: int = 2,
    normalised: bool = False,
    C: float = 10.0,
    class_weight: str | None = None,
    n_negatives: int = 100,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Bing:
    """Train a first stage that discards windows without people.

    Parameters
    ----------
    positives : list of arrays or paths
        Crops of people, images as `paucens.images.as_bytes` takes them or files: the window with its margin. They stay
        as they are.
    negative_images : list of arrays or paths
        Images without people.
    search : paucens.detector.scan.Search
        The `search` of the detector that this is for: which windows there are, at which sizes of an image, and how
        smooth images are. The window is 64, 128, 192 or 256 pixels high and half as wide.
    n_bases : int, default=2
        Number of bases, 1 to 64.
    normalised : bool, default=False
        Whether scores are divided by the mean gradient of the window plus 4.
    C : float in [1e-30, 1e30], default=10.0
        Weight of the loss. A small one leaves no weight of the classifier.
    class_weight : {None, "balanced"}, default=None
        Whether people count as much as all negatives, instead of each sample as much as any other.
    n_negatives : int, default=100
        Random windows per image, fewer if there would be more than 100 000 samples, half of them positives at most.
    random_state : int, default=0
    n_jobs : int, optional
        Number of threads, as in joblib. Results do not depend on it.

    Returns
    -------
    bing : Bing
        Binarised, with the threshold -inf: `calibrated` finds others.

    Raises
    ------
    ValueError, TypeError
        If an argument is out of range, `search` has windows of another shape or no pixels, a crop has another size, an
        image cannot be read, there is no window, or all weights are 0.

    Notes
    -----
    Positives are the windows around the person at all sizes of the scale grid whose intersection over union with the
    window in the middle of the crop is at least 0.5, and their mirror images. Negatives are drawn from the windows of
    all sizes of an image with equal chance. The weights are those of LIBLINEAR's linear classifier of squared hinge
    loss and L1 penalty. Then each base takes the signs of what is left of the weights, and their mean magnitude as its
    coefficient.

    So Cheng et al. train their first stage, who count each sample alike. We depart from them as follows: sizes are left
    out whose points depend on pixels outside the crop, negatives need not be compared with people, and columns are
    centred before LIBLINEAR sees them, without which it does not converge on normalised ones.

    Examples
    --------
    >>> from paucens.datasets import street_crops, synthetic_streets
    >>> from paucens.detector import PedestrianDetector
    >>> crops = list(street_crops(synthetic_streets(4)))
    >>> empty = [record.image for record in synthetic_streets(2, people=False)]
    >>> train_bing(crops, empty, PedestrianDetector.default().search).weights.shape
    (16, 8)
    """
    check_sources("positives", positives)
    check_sources("negative_images", negative_images)
    check_search(search)
    check_integer("n_bases", n_bases, 1, 64)
    check_choice("normalised", normalised, (True, False))
    C = check_within("C", C, LEAST_C, LARGEST_C, "0.1 to 1000")
    check_choice("class_weight", class_weight, (None, "balanced"))
    check_integer("n_negatives", n_negatives, 1)
    check_integer("random_state", random_state, 0, 2**31 - 1)
    with Threads(check_jobs(n_jobs)) as threads:
        inside = np.concatenate(threads.map(lambda k: _of_crop(search, positives, k), range(len(positives))))
        inside = _at_most(MOST_SAMPLES // 2, inside, random_state)
        n = min(n_negatives * len(negative_images), MOST_SAMPLES - len(inside))
        shares = np.diff(np.arange(len(negative_images) + 1) * n // len(negative_images))
        outside = np.concatenate(
            threads.map(lambda k: _of_image(search, negative_images, k, shares[k], random_state), range(len(shares)))
        )
    weights = _fit(inside, outside, normalised, C, class_weight, random_state)
    return Bing(weights, *greedy_bases(weights, n_bases), int(search.window.shape[0]), normalised)


def _of_crop(search, sources, k):
    """Return the gradients of the windows around the person of a crop and of their mirrors, uint8 (n, 16, 8)."""
    rgb, window = pixels_at("positives", sources, k), search.window
    if rgb.shape[:2] != window.crop:
        raise ValueError(
            f"positives[{k}] has {rgb.shape[0]} x {rgb.shape[1]} pixels; expected {window.crop[0]} x {window.crop[1]}: "
            f"the window with a margin of {window.margin} on all sides. Cut it so, or give another search."
        )
    step, inner = step_of(window.shape[0]), inner_shape(window)
    windows = []
    for shape in crop_shapes(search):
        top, left = ((side - inside) // 2 for side, inside in zip(shape, inner, strict=True))
        middle = resize(rgb, shape, ALONE)[top : top + inner[0], left : left + inner[1]]
        gradients = normed_gradients(np.ascontiguousarray(middle), step, ALONE)
        windows.append(windows_at(gradients, step, [step], [step]))
    windows = np.concatenate(windows)
    return np.concatenate([windows, windows[:, :, ::-1]])  # gradients of a mirror image are the mirrored ones


def crop_shapes(search):
    """List the sizes of a crop at which the window in its middle overlaps the person's enough."""
    shapes, n, inner = [], search.per_octave, inner_shape(search.window)
    for k in range(-n, n + 1):
        shape = tuple(2 * round(side / 2 * 2 ** (k / n)) for side in search.window.crop)
        enough = 2.0 ** (-2 * abs(k) / n) >= LEAST_OVERLAP
        if enough and all(side >= least for side, least in zip(shape, inner, strict=True)):
            shapes.append(shape)
    return shapes


def inner_shape(window):
    """Return height and width of all pixels that the gradients in a window depend on."""
    return tuple(side + 2 * CELL * step_of(window.shape[0]) for side in window.shape)


def _at_most(n, windows, seed):
    """Draw n of the windows, or keep them all if there are no more."""
    random = np.random.default_rng(seed)
    return windows if len(windows) <= n else windows[np.sort(random.choice(len(windows), n, replace=False))]


def _of_image(search, sources, k, n, seed):
    """Return the gradients of n random windows of an image, uint8 (n, 16, 8); none if the image is too small."""
    rgb, window = pixels_at("negative_images", sources, k), search.window
    levels = search.levels(rgb.shape[:2])
    ends = np.cumsum([math.prod(window.grid_shape(level.shape)) for level in levels], dtype=np.int64)
    if not ends.any():
        return np.empty((0, *POINTS), dtype=np.uint8)
    drawn = np.sort(np.random.default_rng(np.random.SeedSequence((seed, k))).integers(ends[-1], size=n))
    of_level = np.searchsorted(ends, drawn, side="right")
    from_last = ends[of_level] - 1 - drawn  # counted from the last window of the level
    windows, some = np.empty((n, *POINTS), dtype=np.uint8), np.unique(of_level)
    step, first = step_of(window.shape[0]), window.margin // CELL
    for i, band in search.bands(rgb, [levels[i] for i in some], ALONE):
        row, column = np.divmod(from_last, band.shape[1])
        row -= band.first_row
        here = (of_level == some[i]) & (row >= 0) & (row < band.shape[0])
        gradients = normed_gradients(band.pixels, step, ALONE)
        windows[here] = windows_at(gradients, step, first + row[here], first + column[here])
    return windows


def _fit(inside, outside, normalised, C, class_weight, seed):
    """Return the weights of a linear classifier of windows, float32 (16, 8)."""
    if len(outside) == 0:
        raise ValueError("No image of negative_images is as large as the person in a window; give larger images.")
    X = np.concatenate([inside, outside]).reshape(-1, POINTS[0] * POINTS[1]).astype(np.float64)
    if normalised:
        X /= X.mean(axis=1, keepdims=True) + OFFSET
    X -= X.mean(axis=0)  # normalised columns add up to nearly a constant: without this, they hinder the intercept
    svm = LinearSVC(penalty="l1", dual=False, C=C, tol=TOLERANCE, class_weight=class_weight, random_state=seed)
    svm.fit(X, np.arange(len(X)) < len(inside))
    if not svm.coef_.any():
        raise ValueError(f"All weights are 0, so all windows would score alike. C is {C:g}; give a larger one.")
    return svm.coef_.reshape(POINTS).astype(np.float32)
