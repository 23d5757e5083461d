"""Non-maximum suppression: drop detections that overlap a better one."""

import numpy as np
import numpy.typing as npt

from paucens._kernels.boxes import suppress
from paucens.validation import check_choice, check_positive

OVERLAP, DENOMINATOR = 0.65, "min"  # as in the paper: "maxg" of the Addendum of Dollar et al. (BMVC 2009)


def non_maximum_suppression(
    boxes: npt.ArrayLike, overlap: float = OVERLAP, denominator: str = DENOMINATOR
) -> np.ndarray:
    """Keep the best of boxes that overlap each other, greedily.

    Parameters
    ----------
    boxes : array-like of shape (k, 5)
        x, y, w, h, score, in any order.
    overlap : float in [0, 1], default=0.65
        A kept box removes boxes of lower score that it overlaps by more than this.
    denominator : {"min", "union"}, default="min"
        Overlap is the intersection divided by the smaller area, or by the union.

    Returns
    -------
    kept : ndarray of shape (n, 5), float64
        Best first; of equal scores, the earlier row first.

    Raises
    ------
    ValueError
        If the boxes have another shape, values that are not finite, or negative sizes.

    Notes
    -----
    "maxg" of Dollar's toolbox, with the parameters of the paper's detectors: 0.65 and "min".

    Examples
    --------
    >>> non_maximum_suppression([[0, 0, 10, 20, 1.0], [1, 0, 10, 20, 3.0], [30, 0, 10, 20, 2.0]]).tolist()
    [[1.0, 0.0, 10.0, 20.0, 3.0], [30.0, 0.0, 10.0, 20.0, 2.0]]
    """
    boxes = _checked(boxes)
    overlap = check_positive("overlap", overlap, zero=True, most=1)
    check_choice("denominator", denominator, ("min", "union"))
    return boxes[rows_kept(boxes, overlap, denominator)]


def _checked(boxes):
    """Return boxes as float64 (k, 5); raise ValueError if they are none."""
    try:
        rows = np.asarray(boxes)
    except ValueError:  # rows of several lengths
        rows = np.asarray(boxes, dtype=object)
    if rows.shape == (0,):
        rows = rows.reshape(0, 5)
    is_table = rows.dtype.kind in "iuf" and rows.shape[1:] == (5,)
    if not is_table or not np.isfinite(rows).all() or (rows[:, 2:4] < 0).any():
        raise ValueError(
            f"boxes must be rows x, y, w, h, score, numbers, finite and without negative sizes; got {rows.dtype} of "
            f"shape {rows.shape}. Leave out invalid boxes."
        )
    return rows.astype(np.float64, copy=False)


def rows_kept(boxes, overlap, denominator):
    """Return the rows that `non_maximum_suppression` keeps, best first, of boxes that have been checked."""
    order, leader = _suppressed(boxes, overlap, denominator)
    return order[leader == np.arange(len(leader))]


def leading_scores(boxes, overlap, denominator):
    """Return, for each box, the score of the kept box that removes it, its own if it is kept."""
    order, leader = _suppressed(boxes, overlap, denominator)
    scores = np.empty(len(boxes))
    scores[order] = boxes[order[leader], 4]
    return scores


def _suppressed(boxes, overlap, denominator):
    """Return the order of the boxes, best first, and in this order the place of the box that removes each."""
    order = np.argsort(-boxes[:, 4], kind="stable")
    leader = np.empty(len(boxes), dtype=np.int32)
    suppress(np.ascontiguousarray(boxes[order]), overlap, denominator == "min", leader)
    return order, leader
