"""Detections of a detector, stored and judged: miss rates on held-out crops and on test sets."""

import csv
from dataclasses import replace

import numpy as np

from harness import is_stand_in
from paucens import evaluation
from paucens.images import pixels_of
from paucens.parallel import Threads
from report import interval_text

KEPT_PER_IMAGE = 10  # stored detections, on average: far beyond 1 false positive per image
SCORE = ["miss_rate", "low", "high"]
DIFFERENCE = ["difference", "difference_low", "difference_high"]


def detections_of(detector, images, n_jobs=1, min_height=None, change=lambda image: image):
    """Return all detections of a detector in (changed) images, a list of (k, 5)."""

    def detect(image):
        return detector.detect(change(pixels_of(image)), threshold=-np.inf, min_height=min_height)

    with Threads(n_jobs) as threads:
        return threads.map(detect, images)


def crop_miss_rate(detector, crops, images, n_jobs=1, change=lambda image: image):
    """Compute the log-average miss rate of crops at the scores of 0.01 to 1 false positives per image without people.

    The score of a crop is that of the best detection that overlaps the person by half; other detections in it do not
    count. `change` is applied to crops and images. Crops are not smoothed by the detector, since they are smooth
    already. A miss rate counts as at least half a crop, so that the mean of logarithms is finite.
    """
    (rows, columns), (height, width) = detector.window.crop, detector.window.target
    person = np.array([[(columns - width) / 2, (rows - height) / 2, width, height]])
    nothing, everywhere = np.empty((0, 4)), np.array([[-1e4, -1e4, 2e4, 2e4]])
    for_crops = replace(detector, search=replace(detector.search, smooth=0.0))
    found = detections_of(for_crops, crops, n_jobs, change=change)
    found += detections_of(detector, images, n_jobs, change=change)
    truths = [person] * len(crops) + [nothing] * len(images)
    ignores = [everywhere] * len(crops) + [nothing] * len(images)
    fppi, miss_rate = evaluation.match_images(*evaluation.prepare_images(found, truths, ignores)).curve()
    return evaluation.log_average_miss_rate(fppi * len(found) / len(images), np.maximum(miss_rate, 0.5 / len(crops)))


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
