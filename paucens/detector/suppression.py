"""Greedy suppression of detections that overlap a better one."""

import numpy as np

from paucens._kernels.boxes import suppress
from paucens.validation import check_choice, check_positive

OVERLAP, DENOMINATOR = 0.65, "min"  # the paper's: "maxg" of the Addendum of Dollar et al. (BMVC 2009)


def non_maximum_suppression(boxes, overlap=OVERLAP, denominator=DENOMINATOR):
    """Keep the best of the boxes that lie on each other.

    Parameters
    ----------
    boxes : array-like of shape (k, 5)
        x, y, w, h, score, in any order.
    overlap : float in [0, 1], default=0.65
        A kept box removes those of lower score that it overlaps by more.
    denominator : {"min", "union"}, default="min"
        Overlap is the intersection divided by the smaller area or by the union.

    Returns
    -------
    kept : ndarray of shape (n, 5), float64
        Best first; of equal scores the earlier row.

    Raises
    ------
    ValueError
        For another shape, values that are not finite or negative sizes.

    Notes
    -----
    "maxg" of Dollar's toolbox, with the parameters of the paper's detectors: 0.65 and "min".

    Examples
    --------
    >>> non_maximum_suppression([[0, 0, 10, 20, 1.0], [1, 0, 10, 20, 3.0], [30, 0, 10, 20, 2.0]]).tolist()
    [[1.0, 0.0, 10.0, 20.0, 3.0], [30.0, 0.0, 10.0, 20.0, 2.0]]
    """
    boxes = np.asarray(boxes, dtype=np.float64)
    if boxes.shape == (0,):
        boxes = boxes.reshape(0, 5)
    if boxes.ndim != 2 or boxes.shape[1] != 5 or not np.isfinite(boxes).all() or (boxes[:, 2:4] < 0).any():
        raise ValueError(
            f"boxes must be rows x, y, w, h, score, finite and of sizes that are not negative; got {boxes.dtype} "
            f"of shape {boxes.shape}. Leave out what is not a box."
        )
    check_positive("overlap", overlap, zero=True, most=1)
    check_choice("denominator", denominator, ("min", "union"))
    return boxes[rows_kept(boxes, overlap, denominator)]


def rows_kept(boxes, overlap, denominator):
    """As `non_maximum_suppression`, for boxes that have been checked: the rows kept, best first."""
    order = np.argsort(-boxes[:, 4], kind="stable")
    keep = np.empty(len(boxes), dtype=np.uint8)
    suppress(np.ascontiguousarray(boxes[order]), overlap, denominator == "min", keep)
    return order[keep == 1]
