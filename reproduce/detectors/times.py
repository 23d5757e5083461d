"""Processor seconds of detectors, beside OpenCV's HOG detector."""

from time import process_time

import numpy as np

from paucens.features.opencv import from_opencv
from paucens.images import pixels_of
from paucens.parallel import ALONE

EVERY, MOST = 29, 10  # images that are timed


def timed_images(tests):
    """Return the images of a test set whose processing is timed."""
    return tests.images[::EVERY][:MOST]


def times(detectors, images):
    """Measure processor seconds of detectors of one stage on images, on one thread, all of them image by image.

    Returns
    -------
    rows : list of dict
        Those of `detect_times`, and for each detector the median over images of the ratio of the scan alone to that of
        the first detector.
    """
    scan = np.array([_scan_seconds(detectors, rgb) for rgb in map(pixels_of, images)])
    ratios = np.median(scan / scan[:, :1], axis=0)
    rows = detect_times(detectors, images)
    return [row | {"scan_ratio": f"{ratio:.4f}"} for row, ratio in zip(rows, ratios, strict=True)]


def detect_times(detectors, images):
    """Measure processor seconds of `detect` on images, on one thread, all detectors image by image.

    Returns
    -------
    rows : list of dict
        For each detector the medians over images of the seconds, of the ratio to those of the first detector, and of
        the ratio to those of OpenCV's HOG detector with its defaults. None if OpenCV is missing.
    """
    pixels = list(map(pixels_of, images))
    seconds = np.array([[seconds_of(one.detect, rgb, n_jobs=1) for one in detectors] for rgb in pixels])
    hog, rows = hog_seconds(pixels), []
    for own in seconds.T:
        row = {"seconds": f"{np.median(own):.4f}", "detect_ratio": f"{np.median(own / seconds[:, 0]):.4f}"}
        rows.append(row | {"hog_ratio": None if hog is None else f"{np.median(own / hog):.4f}"})
    return rows


def seconds_of(function, *arguments, **options):
    """Measure the processor seconds of a call."""
    start = process_time()
    function(*arguments, **options)
    return process_time() - start


def _scan_seconds(detectors, rgb):
    """Measure proposals and trees of an image for each detector; they share their channels, which are not counted."""
    search, seconds = detectors[0].search, np.zeros(len(detectors))
    for _, band in search.bands(rgb, search.levels(rgb.shape[:2]), ALONE):
        band = search.with_strips(band, ALONE)
        _scan(detectors[0], band)  # the first one to read the channels would wait for them
        seconds += [seconds_of(_scan, one, band) for one in detectors]
    return seconds


def _scan(detector, band):
    start = detector.first_sums(band, detector.trees.bias, ALONE)
    detector.search.scores(band, detector.trees, ALONE, start)


def hog_seconds(pixels):
    """Measure processor seconds of OpenCV's HOG detector per image, one thread; None if OpenCV is missing."""
    try:
        hog = from_opencv("HOGDescriptor")()
    except ImportError:
        return None
    set_threads, before = from_opencv("setNumThreads"), from_opencv("getNumThreads")()
    hog.setSVMDetector(from_opencv("HOGDescriptor_getDefaultPeopleDetector")())
    set_threads(1)
    seconds = [seconds_of(hog.detectMultiScale, rgb[..., ::-1].copy()) for rgb in pixels]
    set_threads(before)
    return np.array(seconds)
