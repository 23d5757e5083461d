"""From crops and photographs to a first stage: gradients of windows, a linear classifier, its bases."""

import numpy as np
from sklearn.svm import LinearSVC

from paucens.features.channels import CELL
from paucens.features.pyramid import resize
from paucens.images import check_sources, pixels_at
from paucens.parallel import ALONE, Threads
from paucens.proposals.bing import Bing, greedy_bases
from paucens.proposals.gradients import POINTS, normed_gradients, windows_at
from paucens.proposals.grid import Grid
from paucens.validation import check_choice, check_integer, check_positive

MOST_SAMPLES = 100_000
TOLERANCE = 0.01  # LIBLINEAR's own default for this solver
OFFSET = 4  # grey levels added to the mean gradient that scores are divided by


def train_bing(
    positives,
    negative_images,
    *,
    window_shape=(128, 64),
    target=(100.0, 41.0),
    margin=16,
    n_bases=2,
    normalised=False,
    C=10.0,
    class_weight=None,
    n_negatives=100,
    scales_per_octave=8,
    smooth=0.0,
    random_state=0,
    n_jobs=None,
) -> Bing:
    """Train a first stage that discards windows without people.

    Parameters
    ----------
    positives : list of arrays or paths
        Crops of people, images as `paucens.images.as_rgb` takes them or files: the window with its margin, 160 x 96
        pixels by default.
    negative_images : list of arrays or paths
        Images without people.
    window_shape : tuple of int, default=(128, 64)
        Height and width of the window in pixels, twice as high as wide. 64, 128, 192 and 256 are allowed.
    target : tuple of float, default=(100.0, 41.0)
        Size of the person in the middle of the window; windows may leave an image as long as the person need not.
    margin : int, default=16
        Pixels around the window in the crops, a multiple of 4.
    n_bases : int, default=2
        Number of bases, 1 to 64.
    normalised : bool, default=False
        Whether scores are divided by the mean gradient of the window plus 4.
    C : float, default=10.0
        Weight of the loss.
    class_weight : {None, "balanced"}, default=None
        Whether people count as much as all negatives, instead of each sample as much as any other.
    n_negatives : int, default=100
        Random windows per image, fewer if there would be more than 100 000 samples, half of them positives at most.
    scales_per_octave : int, default=8
        Number of sizes of an image per factor of two.
    smooth : float in [0, 1], default=0.0
        Radius of the triangle filter that smooths photographs at every size, `smooth` of the detector. Crops stay as
        they are.
    random_state : int, default=0
    n_jobs : int, optional
        Number of threads, as in joblib. Results do not depend on it.

    Returns
    -------
    bing : Bing
        Binarised, with the threshold -inf: `calibrated` finds others.

    Raises
    ------
    ValueError
        If an argument is out of range, a crop has another size, an image cannot be read, or there is no window.

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
    >>> crops = list(street_crops(synthetic_streets(4)))
    >>> empty = [record.image for record in synthetic_streets(2, people=False)]
    >>> train_bing(crops, empty).weights.shape
    (16, 8)
    """
    check_sources("positives", positives)
    check_sources("negative_images", negative_images)
    grid = Grid(window_shape, target, margin, scales_per_octave, smooth)
    check_integer("n_bases", n_bases, 1, 64)
    check_choice("normalised", normalised, (True, False))
    check_positive("C", C)
    check_choice("class_weight", class_weight, (None, "balanced"))
    check_integer("n_negatives", n_negatives, 1)
    check_integer("random_state", random_state, 0, 2**31 - 1)
    with Threads(n_jobs) as threads:
        inside = np.concatenate(threads.map(lambda k: _of_crop(grid, positives, k), range(len(positives))))
        inside = _at_most(MOST_SAMPLES // 2, inside, random_state)
        n = min(n_negatives * len(negative_images), MOST_SAMPLES - len(inside))
        shares = np.diff(np.arange(len(negative_images) + 1) * n // len(negative_images))
        outside = np.concatenate(
            threads.map(lambda k: _of_image(grid, negative_images, k, shares[k], random_state), range(len(shares)))
        )
    weights = _fit(inside, outside, normalised, C, class_weight, random_state)
    return Bing(weights, *greedy_bases(weights, n_bases), int(window_shape[0]), normalised)


def _of_crop(grid, sources, k):
    """Return the gradients of the windows around the person of a crop and of their mirrors, uint8 (n, 16, 8)."""
    rgb = pixels_at("positives", sources, k)
    if rgb.shape[:2] != grid.crop:
        raise ValueError(
            f"positives[{k}] has {rgb.shape[0]} x {rgb.shape[1]} pixels; expected {grid.crop[0]} x {grid.crop[1]}: the "
            f"window with a margin of {grid.margin} on all sides. Cut it so, or change window_shape and margin."
        )
    windows = []
    for shape in grid.crop_shapes():
        top, left = ((side - inner) // 2 for side, inner in zip(shape, grid.inner, strict=True))
        middle = resize(rgb, shape, ALONE)[top : top + grid.inner[0], left : left + grid.inner[1]]
        gradients = normed_gradients(np.ascontiguousarray(middle), grid.step, ALONE)
        windows.append(windows_at(gradients, grid.step, [grid.step], [grid.step]))
    windows = np.concatenate(windows)
    return np.concatenate([windows, windows[:, :, ::-1]])  # gradients of a mirror image are the mirrored ones


def _at_most(n, windows, seed):
    """Draw n of the windows, or keep them all if there are no more."""
    random = np.random.default_rng(seed)
    return windows if len(windows) <= n else windows[np.sort(random.choice(len(windows), n, replace=False))]


def _of_image(grid, sources, k, n, seed):
    """Return the gradients of n random windows of an image, uint8 (n, 16, 8); none if the image is too small."""
    rgb = pixels_at("negative_images", sources, k)
    levels = grid.levels(rgb.shape[:2])
    found, first = [np.empty((0, *POINTS), dtype=np.uint8)], grid.margin // CELL
    if levels:
        ends = np.cumsum([rows * columns for _, (rows, columns) in levels])
        random = np.random.default_rng(np.random.SeedSequence((seed, k)))
        drawn = np.sort(random.integers(ends[-1], size=n))
        of_level = np.searchsorted(ends, drawn, side="right")
        for i in np.unique(of_level):
            level, (_, columns) = levels[i]
            from_last = ends[i] - 1 - drawn[of_level == i]  # counted from the last window of the level
            gradients = normed_gradients(grid.pixels(rgb, level), grid.step, ALONE)
            found.append(windows_at(gradients, grid.step, first + from_last // columns, first + from_last % columns))
    return np.concatenate(found)


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
    return svm.coef_.reshape(POINTS).astype(np.float32)
