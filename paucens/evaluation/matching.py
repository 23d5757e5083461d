"""Matching of detections and annotations: which are right, which are wrong, which do not count."""

import numbers
from dataclasses import dataclass

import numpy as np

from paucens._kernels.boxes import match
from paucens.evaluation.boxes import check_boxes, check_images
from paucens.validation import check_positive

ROUNDING = 1e-9  # of products such as 0.1 x 10


def match_detections(detections, truth, ignore, overlap=0.5):
    """Match the detections of one image to its people, in the order of preference of dbEval 3.2.1.

    Parameters
    ----------
    detections : array-like of shape (k, 5)
        x, y, w, h, score in pixels; an area is w * h. In any order; of equal scores, the earlier one is the better one.
    truth : array-like of shape (g, 4)
        People to be found.
    ignore : array-like of shape (i, 4)
        Regions in which detections do not count: people too small or occluded, groups.
    overlap : float, default=0.5
        Least overlap of a match: intersection / union with a person, intersection / area of the detection with a
        region.

    Returns
    -------
    status : ndarray of shape (k,), int8
        1 true, 0 false, -1 ignored; in the order of `detections`.
    matched : ndarray of shape (g,), bool
        Whether each person is found.

    Raises
    ------
    ValueError
        If boxes have another shape, are not finite (including scores) or have a negative side, or `overlap` is not in
        (0, 1].

    Notes
    -----
    In the order of the scores, a detection takes the free person that it overlaps most (the later one of equals). If
    there is none, it is ignored if it lies in a region; a region takes any number of detections.

    Examples
    --------
    >>> truth, ignore = [[0, 0, 41, 100]], [[200, 0, 90, 100]]
    >>> match_detections([[0, 9, 41, 100, 0.3], [0, 0, 41, 100, 0.9], [230, 0, 41, 100, 0.5]], truth, ignore)
    (array([ 0,  1, -1], dtype=int8), array([ True]))
    """
    _check_overlap(overlap)
    detections = check_boxes("detections", detections, 5)
    return _match(detections, check_boxes("truth", truth, 4), check_boxes("ignore", ignore, 4), overlap)


def _match(detections, truth, ignore, overlap):
    best_first = np.argsort(-detections[:, 4], kind="stable")
    ordered, status = np.empty(len(detections), dtype=np.int8), np.empty(len(detections), dtype=np.int8)
    matched = np.zeros(len(truth), dtype=np.uint8)
    match(detections[best_first], truth, ignore, overlap, ordered, matched)
    status[best_first] = ordered
    return status, matched.astype(bool)


def _check_overlap(overlap):
    if not isinstance(overlap, numbers.Real) or not 0 < overlap <= 1:
        raise ValueError(f"overlap must be a fraction above 0 and at most 1, such as 0.5; got {overlap!r}.")


@dataclass(frozen=True, eq=False, slots=True)
class Matches:
    """Detections that count in many images, true or false; all miss rates and thresholds follow from them.

    Attributes
    ----------
    image, score, is_true : ndarrays of shape (n_counted,), int64, float64 and bool
        Image and score of a detection, and whether it found a person; best first.
    n_truths : ndarray of shape (n_images,), int64
        Number of people to be found in each image.
    """

    image: np.ndarray
    score: np.ndarray
    is_true: np.ndarray
    n_truths: np.ndarray

    def curve(self, weights=None):
        """Compute false positives per image and miss rate with every detection as threshold.

        Parameters
        ----------
        weights : ndarray of shape (n_images,), int64, optional
            How often each image counts; once by default.

        Returns
        -------
        fppi, miss : ndarray of shape (n_detections + 1,)
            The first point, (0, 1), belongs to a threshold above all scores. Miss rates are nan if there is no person.
        """
        image_weights = np.ones(len(self.n_truths), dtype=np.int64) if weights is None else weights
        weight, n_truths = image_weights[self.image], int(image_weights @ self.n_truths)
        found = np.concatenate(([0], np.cumsum(weight * self.is_true)))
        wrong = np.concatenate(([0], np.cumsum(weight * ~self.is_true)))
        share = found / n_truths if n_truths else np.full(len(found), np.nan)
        return wrong / image_weights.sum(), 1 - share

    def scores(self):
        """Return the score of each point of the curve: infinity, then those of all detections, best first."""
        return np.concatenate(([np.inf], self.score))

    def threshold_at(self, fppi) -> float:
        """Find the least threshold with at most so many false positives per image, doubles and parts of people too.

        Parameters
        ----------
        fppi : float
            False positives per image; at least 1 / fppi images are needed.

        Returns
        -------
        threshold : float
            Detections count if they score above it, as those of `PedestrianDetector.detect` do. If there are not so
            many false positives, it is just below the lowest score: nothing is known of lower ones. So give detections
            of a low enough threshold.

        Raises
        ------
        ValueError
            If there are too few images, no detections, or `fppi` is not positive.

        Examples
        --------
        >>> person, other = [0, 0, 4, 9], [50, 0, 4, 9]
        >>> matches = match_images([[[*person, 0.9], [*other, 0.7], [*other, 0.4]]], [[person]], [[]])
        >>> matches.threshold_at(1)
        0.4
        """
        fppi, n_images = check_positive("fppi", fppi), len(self.n_truths)
        n_allowed = int(np.floor(min(fppi * n_images, len(self.score)) + ROUNDING))
        if fppi * n_images + ROUNDING < 1:
            raise ValueError(
                f"{n_images} images are too few to measure {fppi:g} false positives per image; give "
                f"{np.ceil(1 / fppi):.10g} or more."
            )
        if len(self.score) == 0:
            raise ValueError("There are no detections that count, so no threshold; detect with a lower one.")
        wrong = self.score[~self.is_true]
        return float(wrong[n_allowed] if n_allowed < len(wrong) else np.nextafter(self.score[-1], -np.inf))


def match_images(detections, truths, ignores, overlap=0.5) -> Matches:
    """Match the detections of many images and pool them.

    Parameters
    ----------
    detections, truths, ignores : lists
        One entry per image, see `match_detections`; images without detections or people count too.
    overlap : float, default=0.5
        Least overlap of a match, see `match_detections`.

    Returns
    -------
    Matches
        Detections of equal score are in the order of the images, and of the rows of an image.

    Raises
    ------
    ValueError
        See `match_detections`; also if the lists differ in length, or there are no images or no people.

    Examples
    --------
    >>> matches = match_images([[[0, 0, 4, 9, 0.1]], [[0, 0, 4, 9, 0.8]]], [[], [[0, 0, 4, 9]]], [[], []])
    >>> matches.score.tolist(), matches.is_true.tolist(), matches.n_truths.tolist()
    ([0.8, 0.1], [True, False], [0, 1])
    """
    _check_overlap(overlap)
    detections, truths, ignores = check_images(detections=detections, truths=truths, ignores=ignores)
    n_truths = np.array([len(boxes) for boxes in truths], dtype=np.int64)
    if n_truths.sum() == 0:
        raise ValueError(f"A miss rate needs people to find; got {len(truths)} images without any.")
    status = [_match(*boxes, overlap)[0] for boxes in zip(detections, truths, ignores, strict=True)]
    image = np.repeat(np.arange(len(status)), [len(entry) for entry in status])
    score, status = np.concatenate([boxes[:, 4] for boxes in detections]), np.concatenate(status)
    order = np.argsort(-score, kind="stable")
    order = order[status[order] >= 0]
    return Matches(image[order], score[order], status[order] == 1, n_truths)
