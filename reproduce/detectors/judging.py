"""Detections of a detector, stored and judged: miss rates on held-out crops and on test sets."""

import csv
from dataclasses import replace

import numpy as np

from harness import is_stand_in
from paucens import evaluation
from paucens.detector import non_maximum_suppression
from paucens.detector.bands import windows_where
from paucens.features.motion import is_pair
from paucens.images import pixels_of
from paucens.parallel import ALONE, Threads
from report import interval_text

KEPT_PER_IMAGE = 10  # stored detections, on average: far beyond 1 false positive per image
SCORE = ["miss_rate", "low", "high"]
DIFFERENCE = ["difference", "difference_low", "difference_high"]


def detections_of(detector, images, n_jobs=1, min_height=None, change=lambda image: image):
    """Return all detections of a detector in (changed) images, a list of (k, 5).

    They may be pairs, of an image and of what `PedestrianDetector.detect` takes for `previous`.
    """

    def detect(source):
        image, previous = source if is_pair(source) else (source, None)
        return detector.detect(change(pixels_of(image)), previous=previous, threshold=-np.inf, min_height=min_height)

    with Threads(n_jobs) as threads:
        return threads.map(detect, images)


def detections_of_each(detectors, images, threshold, n_jobs=1):
    """Return the detections of detectors of the same search, for each a list with one array per image.

    They are those of `detect`. Detectors of one stage, of which there is at least one, share their channels, which
    takes less time.
    """
    single = [one for one in detectors if one.first_stage is None]

    def detect(image):
        rgb = pixels_of(image)
        found = dict(zip(single, _in_one_stage(single, rgb, threshold), strict=True))
        return [found[one] if one in found else one.detect(rgb, threshold=threshold) for one in detectors]

    with Threads(n_jobs) as threads:
        return list(zip(*threads.map(detect, images), strict=True))


def _in_one_stage(detectors, rgb, threshold):
    """Return what each detector finds in an image whose channels are computed once."""
    search, found = detectors[0].search, [[np.empty((0, 5))] for _ in detectors]
    for _, band in search.bands(rgb, search.levels(rgb.shape[:2]), ALONE):
        band = search.with_strips(band, ALONE)
        for one, boxes in zip(detectors, found, strict=True):
            scores = search.scores(band, one.trees, ALONE, one.first_sums(band, one.trees.bias, ALONE))
            windows = windows_where(scores > threshold)
            places = search.window.boxes(windows + np.array([band.first_row, 0]), band.level.ratio)
            boxes.append(np.column_stack([places, scores[tuple(windows.T)]]))
    return [non_maximum_suppression(np.concatenate(boxes)) for boxes in found]


def crop_miss_rate(detector, crops, images, n_jobs=1, change=lambda image: image):
    """Compute the log-average miss rate of crops at the scores of 0.01 to 1 false positives per image without people.

    The score of a crop is that of the best detection that overlaps the person by half; other detections in it do not
    count. `change` is applied to crops and images. Crops are not smoothed by the detector, since they are smooth
    already. A miss rate counts as at least half a crop, so that the mean of logarithms is finite.
    """
    in_crops = detections_of(_for_crops(detector), crops, n_jobs, change=change)
    return _crop_miss_rate(in_crops, detections_of(detector, images, n_jobs, change=change), detector.window)


def crop_miss_rates(detectors, crops, images, threshold, n_jobs=1):
    """Compute `crop_miss_rate` of detectors of the same search, from what they detect above a threshold."""
    in_crops = detections_of_each(list(map(_for_crops, detectors)), crops, threshold, n_jobs)
    in_images = detections_of_each(detectors, images, threshold, n_jobs)
    return [_crop_miss_rate(*own, detectors[0].window) for own in zip(in_crops, in_images, strict=True)]


def _for_crops(detector):
    return replace(detector, search=replace(detector.search, smooth=0.0))


def _crop_miss_rate(in_crops, in_images, window):
    """Compute `crop_miss_rate` from detections, one array per crop and per image."""
    person, nothing, everywhere = _person_in_crop(window), np.empty((0, 4)), np.array([[-1e4, -1e4, 2e4, 2e4]])
    truths = [person] * len(in_crops) + [nothing] * len(in_images)
    ignores = [everywhere] * len(in_crops) + [nothing] * len(in_images)
    found = [*in_crops, *in_images]
    fppi, miss_rate = evaluation.match_images(*evaluation.prepare_images(found, truths, ignores)).curve()
    fppi = fppi * len(found) / len(in_images)
    return evaluation.log_average_miss_rate(fppi, np.maximum(miss_rate, 0.5 / len(in_crops)))


def person_and_second_scores(detector, crops, n_jobs=1, change=lambda image: image):
    """Score the people of crops, and second boxes on them.

    The best box that overlaps the person in the middle by half is the person's. Second boxes have a lower score, and at
    least half of their area lies on the person. People of half the height are searched for, so that there are windows
    of parts of the person, as in images of larger people.

    Returns
    -------
    people : ndarray of shape (len(crops),)
        -inf for a person without a box.
    second : ndarray of shape (n,)
        Of all crops together.
    """
    person, people, second = _person_in_crop(detector.window), np.full(len(crops), -np.inf), [np.empty(0)]
    for k, boxes in enumerate(detections_of(_for_crops(detector), crops, n_jobs, person[0, 3] / 2, change)):
        status, (is_found,) = evaluation.match_detections(boxes, person, person)
        if is_found:
            own = int(np.argmax(status == 1))  # other boxes on the person count as ignored, -1
            people[k] = boxes[own, 4]
            second.append(boxes[own:, 4][status[own:] == -1])
    return people, np.concatenate(second)


def _person_in_crop(window):
    """Return the box of the person in the middle of a crop, (1, 4)."""
    (rows, columns), (height, width) = window.crop, window.target
    return np.array([[(columns - width) / 2, (rows - height) / 2, width, height]])


def judged(matches, standard=None):
    """Return columns of a CSV: the miss rate and its interval, and the difference from that of the standard."""
    low, miss_rate, high = evaluation.miss_rate_interval(matches)
    columns = dict(zip(SCORE, (miss_rate, low, high), strict=True))
    if standard is not None:
        columns |= zip(DIFFERENCE, evaluation.miss_rate_difference(matches, standard), strict=True)
    return {name: f"{value:.6f}" for name, value in columns.items()}


def per_cent(interval, sign=""):
    """Write a share with its interval in per cent.

    >>> per_cent((0.1794, 0.1394, 0.2199)), per_cent((0.01, -0.002, 0.03), "+")
    ('17.9 (13.9 to 22.0)', '+1.0 (-0.2 to +3.0)')
    """
    value, low, high = 100 * np.asarray(interval)
    return f"{value:{sign}.1f} ({interval_text(low, high, f'{sign}.1f')})"


def log_evaluation(run, method, seed, test_set, miss_rate):
    """Add a line to the list of all evaluations on photographs of test sets."""
    if is_stand_in(test_set):
        return
    with (run.folder / "test_evaluations.csv").open("a", encoding="utf-8", newline="") as stream:
        lines = csv.writer(stream, lineterminator="\n")
        if stream.tell() == 0:
            lines.writerow(["script", "method", "seed", "test_set", "log_average_miss_rate"])
        lines.writerow([run.name, method, seed, test_set, miss_rate])


def save_detections(path, detections):
    """Store the best detections of all images in little space: boxes in tenths of a pixel, scores as float32."""
    images, boxes = np.repeat(np.arange(len(detections)), list(map(len, detections))), np.concatenate(detections)
    kept = np.ones(len(boxes), dtype=bool)
    if len(boxes) > (n := KEPT_PER_IMAGE * len(detections)):
        kept = boxes[:, 4] >= np.partition(boxes[:, 4], -n)[-n]
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        image=images[kept].astype(np.int16),
        tenths=np.rint(10 * boxes[kept, :4]).astype(np.int32),
        score=boxes[kept, 4].astype(np.float32),
        n_images=len(detections),
    )


def load_detections(path):
    """Read detections that `save_detections` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        boxes = np.column_stack([stored["tenths"] / 10, stored["score"].astype(np.float64)])
        return [boxes[stored["image"] == k] for k in range(int(stored["n_images"]))]
