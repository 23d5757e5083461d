"""HOG and HOG + LBP of crops of 64 x 128 pixels, which the paper's Figure 3 compares with.

HOG is OpenCV's (the extra `opencv`), with the settings that Dalal and Triggs recommend: square roots of the colours,
the colour with the largest gradient at each pixel, trilinear interpolation, Gaussian weights in a block, L2-Hys. The
HOG of scikit-image has neither the interpolation nor the weights.
"""

import numpy as np

from paucens.features import lbp
from paucens.features.opencv import from_opencv
from paucens.parallel import Threads
from paucens.validation import check_jobs

HEIGHT, WIDTH = 128, 64
N_HOG = 3780
LBP_CELL = 16
N_LBP = 59
STEPS_PER_CROP = 1_000_000  # in the inner steps that `Threads.run` counts
GREY = np.array([299, 587, 114])  # thousandths of R, G and B (ITU-R 601)


def hog(crops, n_jobs=None) -> np.ndarray:
    """Compute histograms of oriented gradients (Dalal and Triggs, CVPR 2005).

    Parameters
    ----------
    crops : ndarray of shape (n, 128, 64, 3), uint8
        RGB.
    n_jobs : int, optional
        Number of threads, as in joblib. Results do not depend on it.

    Returns
    -------
    X : ndarray of shape (n, 3780), float32
        Axes (7 columns of blocks, 15 rows, 2 columns of cells, 2 rows, 9 orientations), as OpenCV orders them, with
        cells of 8 pixels and blocks of 2 x 2 cells, one cell apart.

    Raises
    ------
    ImportError
        If OpenCV 4 is not installed.
    ValueError
        If the crops have another shape or dtype.

    Examples
    --------
    >>> import numpy as np
    >>> hog(np.zeros((2, 128, 64, 3), dtype=np.uint8)).shape
    (2, 3780)
    """
    crops, compute = _checked(crops), from_opencv("HOGDescriptor")().compute
    return _of_each(crops, lambda crop: compute(crop).ravel(), N_HOG, n_jobs)


def cell_lbp(crops, n_jobs=None) -> np.ndarray:
    """Compute histograms of uniform local binary patterns in cells (Wang, Han and Yan, ICCV 2009).

    Parameters
    ----------
    crops : ndarray of shape (n, 128, 64, 3), uint8
        RGB.
    n_jobs : int, optional
        Number of threads, as in joblib. Results do not depend on it.

    Returns
    -------
    X : ndarray of shape (n, 1888), float32
        Axes (8 rows of cells, 4 columns, 59 patterns).

    Raises
    ------
    ValueError
        If the crops have another shape or dtype.

    Notes
    -----
    The pattern of a pixel says which of its eight neighbours are at least as bright, in grey values. Pattern
    7 start + length - 1 means a run of 1 to 7 such neighbours, clockwise from direction `start` of E, SE, .. NE; 56
    means none, 57 all, 58 more than one run. A histogram h counts the patterns of the 16 x 16 pixels of a cell, without
    overlap or interpolation and without the outermost pixels of the crop, and becomes sqrt(h / sum h) (L1-sqrt). The
    published text leaves details open; this is our reading, without its handling of occlusion.

    Examples
    --------
    >>> import numpy as np
    >>> cells = cell_lbp(np.zeros((1, 128, 64, 3), dtype=np.uint8)).reshape(8, 4, 59)
    >>> [int(cells.argmax(axis=2).min()), float(cells.sum())]  # all neighbours are as bright
    [57, 32.0]
    """
    return _of_each(_checked(crops), _cell_lbp, HEIGHT * WIDTH // LBP_CELL**2 * N_LBP, n_jobs)


def hog_lbp(crops, n_jobs=None) -> np.ndarray:
    """Compute `hog` and `cell_lbp`, side by side.

    Parameters
    ----------
    crops : ndarray of shape (n, 128, 64, 3), uint8
        RGB.
    n_jobs : int, optional
        Number of threads, as in joblib. Results do not depend on it.

    Returns
    -------
    X : ndarray of shape (n, 5668), float32
    """
    return np.hstack([hog(crops, n_jobs), cell_lbp(crops, n_jobs)])


def _checked(crops):
    crops = np.ascontiguousarray(crops)
    if crops.ndim != 4 or crops.shape[1:] != (HEIGHT, WIDTH, 3) or crops.dtype != np.uint8:
        raise ValueError(
            f"crops has shape {crops.shape} and dtype {crops.dtype}; expected RGB, (n, {HEIGHT}, {WIDTH}, 3), "
            "uint8. Cut a margin off larger crops, crops[:, top : top + 128, left : left + 64]."
        )
    return crops


def _of_each(crops, describe, n_features, n_jobs):
    n_jobs, X = check_jobs(n_jobs), np.empty((len(crops), n_features), dtype=np.float32)

    def block(start, stop):
        for k in range(start, stop):
            X[k] = describe(crops[k])

    if len(crops):
        with Threads(n_jobs) as threads:
            threads.run(block, len(crops), len(crops) * STEPS_PER_CROP)
    return X


def _patterns():
    """Return the pattern of each code of darker neighbours; bits 0 to 7 of a code are E, SE, .. NE."""
    patterns = lbp.uniform_labels()
    patterns[patterns == lbp.LABELS.index("other")] = lbp.BORDER + 1  # the border's label stays free
    patterns[255] = lbp.LABELS.index("all-or-none") + 1
    return patterns[::-1].copy()  # at least as bright is not darker


PATTERNS = _patterns()
CELL_OF_PIXEL = np.add.outer(np.arange(HEIGHT) // LBP_CELL * (WIDTH // LBP_CELL), np.arange(WIDTH) // LBP_CELL)


def _cell_lbp(crop):
    """Compute the features of one crop."""
    darkness = -(crop @ GREY).astype(np.float32)
    patterns = lbp.label_pixels(darkness, Threads(1), PATTERNS)
    n_bins = N_LBP + 1
    counts = np.bincount((CELL_OF_PIXEL * n_bins + patterns).ravel(), minlength=n_bins * (CELL_OF_PIXEL[-1, -1] + 1))
    counts = np.delete(counts.reshape(-1, n_bins), lbp.BORDER, axis=1)
    return np.sqrt(counts / counts.sum(axis=1, keepdims=True)).ravel()
