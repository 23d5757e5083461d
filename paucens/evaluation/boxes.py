"""Preparation of boxes for an evaluation: checks, one shape, a range of heights."""

import itertools
import numbers
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from paucens.validation import as_floats, check_positive

ASPECT = 0.41  # width / height of a standing person (Dollar et al. 2012)
EXPAND = 1.25  # factor by which detections may be outside the evaluated heights and still count
COLUMNS = {4: "x, y, w, h", 5: "x, y, w, h, score"}


def check_boxes(name, boxes, *n_columns) -> np.ndarray:
    """Return boxes as contiguous float64 rows of one of these widths; raise ValueError if they are not boxes.

    Without boxes, the width is that of the array if it is one of these, otherwise the first of them.

    Examples
    --------
    >>> check_boxes("truth", [], 4).shape
    (0, 4)
    >>> check_boxes("detections", [[0, 0, 5, 10, float("nan")]], 5)
    Traceback (most recent call last):
    ...
    ValueError: detections must be finite; row 0 is [0.0, 0.0, 5.0, 10.0, nan].
    """
    columns = " or ".join(COLUMNS[n] for n in n_columns)
    rows = np.ascontiguousarray(as_floats(name, boxes, f"rows {columns} of numbers"))
    if rows.size == 0:
        return np.zeros((0, rows.shape[-1] if rows.shape[-1] in n_columns else n_columns[0]))
    if rows.ndim != 2 or rows.shape[1] not in n_columns:
        shapes = " or ".join(f"(k, {n})" for n in n_columns)
        raise ValueError(f"{name} must be rows {columns}, shape {shapes}; got shape {rows.shape}.")
    for wrong, must in ((~np.isfinite(rows), "be finite"), (rows[:, 2:4] < 0, "have w and h of 0 or more")):
        if wrong.any():
            row = int(wrong.any(axis=1).argmax())
            raise ValueError(f"{name} must {must}; row {row} is {rows[row].tolist()}.")
    return rows


def check_lengths(**lists):
    """Raise ValueError unless these are lists of equal length, one entry per image."""
    for name, entries in lists.items():
        if not isinstance(entries, list | tuple | np.ndarray):
            raise ValueError(f"{name} must be a list with one entry per image; got {type(entries).__name__}.")
    lengths = {name: len(entries) for name, entries in lists.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"Every list needs one entry per image; got {lengths}.")


def check_images(**boxes) -> list[list[np.ndarray]]:
    """Return lists of boxes, one entry per image; only `detections` have scores."""
    check_lengths(**boxes)
    columns = {name: 5 if name == "detections" else 4 for name in boxes}
    return [
        [check_boxes(f"{name}[{i}]", entry, columns[name]) for i, entry in enumerate(entries)]
        for name, entries in boxes.items()
    ]


def pooled(detections):
    """Return the detections of all images and the image of each."""
    lengths = [len(rows) for rows in detections]
    return np.concatenate([np.zeros((0, 5)), *detections]), np.repeat(np.arange(len(detections)), lengths)


def by_image(rows, image, n_images) -> list[np.ndarray]:
    """Split rows by image and keep their order; `image` holds the image of each row."""
    order = np.argsort(image, kind="stable")
    rows, cuts = rows[order], np.searchsorted(image[order], np.arange(n_images + 1))
    return [rows[a:b] for a, b in itertools.pairwise(cuts)]


def standardize_boxes(boxes: npt.ArrayLike, aspect: float | None = ASPECT, height_scale: float = 1.0) -> np.ndarray:
    """Change boxes to one shape around their centres, so that overlaps compare place and height only.

    Parameters
    ----------
    boxes : array-like of shape (k, 4) or (k, 5)
        x, y, w, h and optionally a score, which stays the same.
    aspect : float or None, default=0.41
        Width / height of the result. None keeps the shape of each box, of cars for example.
    height_scale : float, default=1.0
        Factor of the height: 100 / 128 for detectors that report the window instead of the person in it. It is that of
        the width too if the shape is kept.

    Returns
    -------
    boxes : ndarray of the same shape, float64; (0, 4) for an empty list

    Raises
    ------
    ValueError
        If the boxes have another shape, are not finite or have a negative side, or a factor is not positive.

    Examples
    --------
    >>> standardize_boxes([[10, 20, 60, 100, 0.7]]).tolist()
    [[19.5, 20.0, 41.0, 100.0, 0.7]]
    """
    if aspect is not None:
        check_positive("aspect", aspect)
    check_positive("height_scale", height_scale)
    boxes = check_boxes("boxes", boxes, 4, 5).copy()
    centre = boxes[:, :2] + boxes[:, 2:4] / 2
    boxes[:, 2:4] *= height_scale
    if aspect is not None:
        boxes[:, 2] = aspect * boxes[:, 3]
    boxes[:, :2] = centre - boxes[:, 2:4] / 2
    return boxes


def within_heights(boxes, heights, expand) -> np.ndarray:
    """Tell which boxes have low / expand <= height < high * expand, ndarray of shape (k,), bool."""
    low, high = heights
    return (boxes[:, 3] >= low / expand) & (boxes[:, 3] < high * expand)


def prepare_detections(detections, heights, expand=EXPAND, height_scale=1.0, aspect=ASPECT) -> list[np.ndarray]:
    """Change detections, one entry per image, to one shape and drop those far from the evaluated heights."""
    boxes, image = pooled(detections)
    boxes = standardize_boxes(boxes, aspect, height_scale)
    kept = within_heights(boxes, heights, expand)
    return by_image(boxes[kept], image[kept], len(detections))


def prepare_images(
    detections: Sequence[npt.ArrayLike],
    truths: Sequence[npt.ArrayLike],
    ignores: Sequence[npt.ArrayLike],
    *,
    heights: tuple[float, float] = (50, np.inf),
    height_scale: float = 1.0,
    aspect: float | None = ASPECT,
) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """Bring boxes of any data set into the form in which the Caltech protocol compares them.

    People outside the heights are ignored. The others and all detections are changed to width / height = 0.41, unless
    `aspect` says otherwise: boxes of other objects than upright people would become slivers. Detections outside the
    heights by a factor of more than 1.25 are dropped.

    Parameters
    ----------
    detections : list of array-like of shape (k, 5)
        x, y, w, h, score; one entry per image.
    truths, ignores : lists of array-like of shape (g, 4) and (i, 4)
        People to be found, and regions in which nothing counts.
    heights : (float, float), default=(50, inf)
        Range of the heights of the people that are evaluated, in pixels; the upper end is exclusive.
    height_scale : float, default=1.0
        Factor of the height of detections, see `standardize_boxes`.
    aspect : float or None, default=0.41
        Width / height of all boxes; None leaves them as they are.

    Returns
    -------
    detections, truths, ignores : lists of ndarray
        For `match_images` or `miss_rate_curve`.

    Raises
    ------
    ValueError
        If the lists differ in length, a box is not finite or has a negative side, the range of heights is empty, or the
        factor is not positive.

    Examples
    --------
    >>> people = [[[0, 0, 50, 100], [0, 0, 9, 20]]]
    >>> detections, truths, ignores = prepare_images([[[10, 20, 60, 100, 0.7]]], people, [[]])
    >>> detections[0].tolist(), truths[0].tolist(), ignores[0].tolist()
    ([[19.5, 20.0, 41.0, 100.0, 0.7]], [[4.5, 0.0, 41.0, 100.0]], [[0.0, 0.0, 9.0, 20.0]])
    >>> cars = [[[0, 0, 200, 100]]]
    >>> prepare_images([[[10, 0, 200, 100, 0.7]]], cars, [[]], aspect=None)[1][0].tolist()
    [[0.0, 0.0, 200.0, 100.0]]
    """
    detections, truths, ignores = check_images(detections=detections, truths=truths, ignores=ignores)
    is_pair = isinstance(heights, list | tuple) and [isinstance(h, numbers.Real) for h in heights] == [True, True]
    if not is_pair or not 0 <= heights[0] < heights[1]:
        raise ValueError(f"heights must be (low, high), 0 <= low < high, in pixels; got {heights!r}.")
    evaluated = [within_heights(boxes, heights, expand=1) for boxes in truths]
    return (
        prepare_detections(detections, heights, height_scale=height_scale, aspect=aspect),
        [standardize_boxes(boxes[chosen], aspect) for boxes, chosen in zip(truths, evaluated, strict=True)],
        [
            np.concatenate([ignore, boxes[~chosen]])
            for boxes, ignore, chosen in zip(truths, ignores, evaluated, strict=True)
        ],
    )
