"""What became of each box and of each image, as tables."""

import csv
import io

import numpy as np

from paucens._kernels.boxes import overlaps
from paucens.evaluation.boxes import check_images, check_lengths
from paucens.evaluation.matching import match_detections
from paucens.persistence.disk import replacing
from paucens.validation import check_number

OUTCOMES = {
    1: "found",
    0: "false",
    -1: "ignored",
}  # of detections by their status; others are objects that are "missed"


def box_results(detections, truths, ignores, overlap=0.5, *, threshold=-np.inf, images=None) -> list[dict]:
    """List what became of each detection above a threshold, and the objects that are missed.

    Parameters
    ----------
    detections, truths, ignores : lists
        One entry per image, see `match_images`. Detections below the threshold tell the scores of what is missed.
    overlap : float, default=0.5
        Least overlap of a match, see `match_detections`.
    threshold : float, default=-inf
        Detections count if they score above it; `Matches.threshold_at` finds one.
    images : list of str or path-like, optional
        Names of the images. Default: their numbers from 0.

    Returns
    -------
    rows : list of dict
        `image`; `outcome`, "found", "false", "ignored" or "missed"; `x`, `y`, `w`, `h` of the detection, or of the
        object that is missed; `score`, of an object that is missed that of the detection that finds it at a lower
        threshold, -inf without. By falling score, and equal ones in the order of the images.

    Raises
    ------
    ValueError
        See `match_images`; also if the names are not one per image, or the threshold is nan.

    Examples
    --------
    >>> rows = box_results([[[0, 0, 4, 9, 0.8], [50, 0, 4, 9, 0.6], [90, 0, 4, 9, 0.1]]],
    ...                    [[[0, 0, 4, 9], [90, 0, 4, 9]]], [[]], threshold=0.5)
    >>> [(row["outcome"], row["x"], row["score"]) for row in rows]
    [('found', 0.0, 0.8), ('false', 50.0, 0.6), ('missed', 90.0, 0.1)]
    """
    threshold = check_number("threshold", threshold)
    names = range(len(truths)) if images is None else images
    check_lengths(detections=detections, images=list(names))
    detections, truths, ignores = check_images(detections=detections, truths=truths, ignores=ignores)
    rows = []
    for name, found, truth, ignore in zip(names, detections, truths, ignores, strict=True):
        status, _ = match_detections(found, truth, ignore, overlap)
        finder = _finders(found, truth, status)
        rows += [
            _row(name, OUTCOMES[int(one)], box[:4], box[4])
            for one, box in zip(status, found, strict=True)
            if box[4] > threshold
        ]
        scores = np.append(found[:, 4], -np.inf)[finder]
        rows += [_row(name, "missed", truth[g], scores[g]) for g in np.flatnonzero(scores <= threshold)]
    return sorted(rows, key=lambda row: -row["score"])


def _finders(detections, truth, status):
    """Return the index of the detection that finds each object, -1 for none, ndarray of shape (g,).

    True detections take objects, best first, and nothing else changes which objects are free.
    """
    finder, shares = np.full(len(truth), -1), np.empty((len(detections), len(truth)))
    overlaps(detections, truth, False, shares)
    best_first = np.argsort(-detections[:, 4], kind="stable")
    for d in best_first[status[best_first] == 1]:
        free = np.where(finder < 0, shares[d], -1)
        finder[len(truth) - 1 - np.argmax(free[::-1])] = d  # the last of equal ones, as in the matching
    return finder


def _row(name, outcome, box, score):
    x, y, w, h = box.tolist()
    return {"image": name, "outcome": outcome, "x": x, "y": y, "w": w, "h": h, "score": float(score)}


def image_results(detections, truths, ignores, overlap=0.5, *, threshold=-np.inf, images=None) -> list[dict]:
    """Count what is found, missed and wrong in each image.

    Parameters
    ----------
    detections, truths, ignores, overlap, threshold, images
        See `box_results`.

    Returns
    -------
    rows : list of dict
        One per image, in order: `image`; `objects`, `found`, `missed`, `false`, `ignored`, numbers of boxes;
        `best_false`, the highest score of a false positive, -inf without.

    Raises
    ------
    ValueError
        See `box_results`.

    Examples
    --------
    >>> image_results([[[0, 0, 4, 9, 0.8]], []], [[[0, 0, 4, 9]], [[5, 5, 4, 9]]], [[], []], images=["a", "b"])[1]
    {'image': 'b', 'objects': 1, 'found': 0, 'missed': 1, 'false': 0, 'ignored': 0, 'best_false': -inf}
    """
    names = list(range(len(truths)) if images is None else images)
    boxes = box_results(detections, truths, ignores, overlap, threshold=threshold)
    counts = ("objects", "found", "missed", "false", "ignored")
    rows = [{"image": name, **dict.fromkeys(counts, 0), "best_false": -np.inf} for name in names]
    check_lengths(truths=truths, images=names)
    for box in boxes:  # by falling score
        row, outcome = rows[box["image"]], box["outcome"]
        row[outcome] += 1
        row["objects"] += outcome in ("found", "missed")
        if outcome == "false":
            row["best_false"] = max(row["best_false"], box["score"])
    return rows


def write_results(path, rows):
    """Write a table of `box_results` or `image_results` as CSV, with the names of the columns in its first line.

    Parameters
    ----------
    path : path-like
    rows : list of dict

    Raises
    ------
    ValueError
        If there are no rows.
    OSError
        If the file cannot be written.
    """
    if not rows:
        raise ValueError(f"There are no rows to write to {path}; a table needs one to know its columns.")
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    raw = text.getvalue().encode()
    with replacing(path, len(raw)) as file:
        file.write(raw)
