"""Precision against recall, and average precision, as the KITTI object benchmark computes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from paucens._kernels.boxes import overlaps
from paucens.evaluation.boxes import check_boxes, check_lengths
from paucens.validation import check_choice

FIELDS = ("names", "boxes", "occlusion", "truncation")
N_SAMPLES = 41  # recalls 0, 1/40, ..., 1
OVERLAPS = {"Pedestrian": 0.5, "Cyclist": 0.5, "Car": 0.7}
NEIGHBOURS = {"Pedestrian": "Person_sitting", "Car": "Van"}  # detections of these are neither right nor wrong
N_POINTS = {40: slice(1, None), 11: slice(None, None, 4)}  # of the samples: since October 2019 and before


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Objects that are evaluated: least height in pixels, largest occlusion and truncation."""

    height: float
    occlusion: int
    truncation: float


DIFFICULTIES = {"easy": Difficulty(40, 0, 0.15), "moderate": Difficulty(25, 1, 0.30), "hard": Difficulty(25, 2, 0.50)}


def kitti_average_precision(
    detections: Sequence[npt.ArrayLike],
    labels: Sequence[Any],
    difficulty: str = "moderate",
    *,
    kind: str = "Pedestrian",
    n_points: int = 40,
) -> float:
    """Compute the average precision of the KITTI object benchmark, in the image plane.

    Parameters
    ----------
    detections : list of array-like of shape (k, 5)
        x, y, w, h, score of the detections of this kind; one entry per image.
    labels : list
        Results of `paucens.datasets.kitti.read_kitti`, one entry per image: objects with `names`, `boxes` (x, y, w, h),
        `occlusion` and `truncation`.
    difficulty : {"easy", "moderate", "hard"}, default="moderate"
    kind : {"Pedestrian", "Cyclist", "Car"}, default="Pedestrian"
    n_points : {40, 11}, default=40
        Recalls 1/40, ..., 1, over which the benchmark averages since October 2019; or 0, 0.1, ..., 1, as before.

    Returns
    -------
    precision : float
        A fraction in [0, 1].

    Raises
    ------
    ValueError
        If the lists differ in length, a label lacks a field, a box is not finite or has a negative side, occlusion or
        truncation is nan, there is no object to find, or a parameter is not one of the above.

    Notes
    -----
    Objects outside the difficulty or of a neighbouring kind (sitting people; vans) do not count, nor do detections
    below its height or with more than half (0.7 for cars) of their area in "DontCare". Overlaps must be larger than the
    limit, not equal. Recalls are those at the scores of at most 41 objects; the precision at a recall is the largest
    one at that recall or above, and 0 at recalls that are not reached.

    Few objects reach few recalls, in the program of the benchmark too: with 40 points, perfect detections of n objects
    have the value (n - 1) / 40, which is 0 for one object and 0.225 for ten; 41 objects or more have 1. With 11 points
    it is 1/11 for one object and 3/11 for ten. Judge so few objects by `miss_rate_curve` instead.

    One departure: in the program of the benchmark, detections of *other* kinds below the height excuse an object. Here
    all detections are of one kind.

    Examples
    --------
    >>> from sklearn.utils import Bunch
    >>> label = Bunch(names=["Pedestrian"], boxes=[[0, 0, 20, 50]], occlusion=[0], truncation=[0.0])
    >>> kitti_average_precision([[[0, 0, 20, 50, 0.4]], [[9, 9, 20, 50, 0.9]]], [label, Bunch(
    ...     names=["DontCare"], boxes=[[0, 0, 9, 9]], occlusion=[-1], truncation=[-1.0])], n_points=11)
    0.045454545454545456
    """
    check_choice("n_points", n_points, list(N_POINTS))
    _, precision = kitti_precision_recall(detections, labels, difficulty, kind=kind)
    return float(precision[N_POINTS[n_points]].mean())


def kitti_precision_recall(
    detections: Sequence[npt.ArrayLike],
    labels: Sequence[Any],
    difficulty: str = "moderate",
    *,
    kind: str = "Pedestrian",
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the curve of the KITTI object benchmark in the image plane, of which average precision is the mean.

    Parameters
    ----------
    detections, labels, difficulty, kind
        As for `kitti_average_precision`.

    Returns
    -------
    recall, precision : ndarrays of shape (41,)
        Recalls 0, 1/40, ..., 1, and the largest precision at each or above; 0 at recalls that are not reached.

    Raises
    ------
    ValueError
        See `kitti_average_precision`.

    Examples
    --------
    >>> from sklearn.utils import Bunch
    >>> label = Bunch(names=["Pedestrian"], boxes=[[0, 0, 20, 50]], occlusion=[0], truncation=[0.0])
    >>> recall, precision = kitti_precision_recall([[[0, 0, 20, 50, 0.4]]] * 80, [label] * 80)
    >>> recall[[0, 1, 40]].tolist(), precision.min().item()
    ([0.0, 0.025, 1.0], 1.0)
    """
    check_choice("difficulty", difficulty, list(DIFFICULTIES))
    check_choice("kind", kind, list(OVERLAPS))
    check_lengths(detections=detections, labels=labels)
    images = [
        _Image.of(check_boxes(f"detections[{i}]", boxes, 5), label, f"labels[{i}]", kind, DIFFICULTIES[difficulty])
        for i, (boxes, label) in enumerate(zip(detections, labels, strict=True))
    ]
    n_objects = sum(int((~image.excused).sum()) for image in images)
    if n_objects == 0:
        raise ValueError(f"There is no object to find: no {kind} of difficulty {difficulty!r} is labelled.")
    scores = np.concatenate([image.scores_found() for image in images])
    counts = [sum(image.counts(threshold) for image in images) for threshold in _thresholds(scores, n_objects)]
    precision = np.zeros(N_SAMPLES)
    for sample, (right, wrong) in enumerate(counts):
        precision[sample] = right / max(right + wrong, 1)
    return np.arange(N_SAMPLES) / (N_SAMPLES - 1), np.maximum.accumulate(precision[::-1])[::-1]


def _thresholds(scores, n_objects):
    """Choose those scores of found objects whose recalls are nearest to 0, 1/40, ..., 1."""
    chosen, recall, last = [], 0.0, len(scores) - 1
    for i, score in enumerate(np.sort(scores)[::-1]):
        here, following = (i + 1) / n_objects, (i + 2) / n_objects
        if i == last or following - recall >= recall - here:
            chosen.append(score)
            recall += 1 / (N_SAMPLES - 1)
    return chosen[:N_SAMPLES]


@dataclass(frozen=True, slots=True)
class _Image:
    """One image: overlaps beyond the limit, otherwise 0, (detections, objects), and which boxes do not count."""

    scores: np.ndarray
    is_short: np.ndarray  # detections
    in_nowhere: np.ndarray  # detections, in DontCare
    shared: np.ndarray
    excused: np.ndarray  # objects

    @classmethod
    def of(cls, detections, label, title, kind, difficulty):
        lacking = [field for field in FIELDS if not hasattr(label, field)]
        if lacking:
            raise ValueError(f"{title} lacks {', '.join(lacking)}; expected what paucens.datasets.read_kitti returns.")
        names, boxes = np.asarray(label.names, dtype=np.str_), check_boxes(f"{title}.boxes", label.boxes, 4)
        occlusion, truncation = np.asarray(label.occlusion, float), np.asarray(label.truncation, float)
        if not names.shape == boxes.shape[:1] == occlusion.shape == truncation.shape:
            raise ValueError(f"{title} must have equally many names, boxes, occlusion and truncation.")
        if np.isnan([occlusion, truncation]).any():
            raise ValueError(f"{title} must have numbers as occlusion and truncation; got nan.")
        excused = (boxes[:, 3] < difficulty.height) | (occlusion > difficulty.occlusion)
        excused |= (truncation > difficulty.truncation) | (names != kind)
        object_ = np.isin(names, [kind, NEIGHBOURS.get(kind, kind)])
        nowhere = _beyond(detections, boxes[names == "DontCare"], True, OVERLAPS[kind])
        return cls(
            detections[:, 4],
            np.floor(detections[:, 3]) < difficulty.height,
            nowhere.any(axis=1),
            _beyond(detections, boxes[object_], False, OVERLAPS[kind]),
            excused[object_],
        )

    def scores_found(self):
        """Return the scores of found objects: in the order of the labels each takes the best free detection."""
        free, found = np.ones(len(self.scores), dtype=bool), []
        for shared, excused in zip(self.shared.T, self.excused, strict=True):
            candidates = np.flatnonzero(free & (shared > 0))
            if len(candidates):
                best = candidates[self.scores[candidates].argmax()]
                free[best] = False
                if not (excused or self.is_short[best]):
                    found.append(self.scores[best])
        return np.array(found)

    def counts(self, threshold):
        """Count right and wrong detections of at least this score; each object takes the nearest one."""
        free, n_right = self.scores >= threshold, 0
        for shared, excused in zip(self.shared.T, self.excused, strict=True):
            candidates = np.flatnonzero(free & (shared > 0))
            if len(candidates):  # a short detection only if it is the only one
                best = candidates[np.lexsort((-shared[candidates], self.is_short[candidates]))[0]]
                free[best] = False
                n_right += not (excused or self.is_short[best])
        return np.array([n_right, (free & ~self.is_short & ~self.in_nowhere).sum()])


def _beyond(detections, boxes, by_first, limit):
    """Return overlaps that are larger than the limit, otherwise 0."""
    out = np.empty((len(detections), len(boxes)))
    overlaps(detections, boxes, by_first, out)
    return np.where(out > limit, out, 0.0)
