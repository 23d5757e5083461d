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
    """Measure processor seconds of detectors on images, on one thread, all of them image by image.

    Returns
    -------
    rows : list of dict
        For each detector the medians over images of the seconds of `detect`, of the ratios of `detect` and of the scan
        alone to those of the first detector, and of the ratio of `detect` to OpenCV's HOG detector with its defaults.
        None if OpenCV is missing.
    """
    pixels = list(map(pixels_of, images))
    whole = np.array([[seconds_of(one.detect, rgb, n_jobs=1) for one in detectors] for rgb in pixels])
    scan = np.array([_scan_seconds(detectors, rgb) for rgb in pixels])
    hog, rows = hog_seconds(pixels), []
    for k in range(len(detectors)):
        own = {"seconds": whole[:, k], "detect_ratio": whole[:, k] / whole[:, 0], "scan_ratio": scan[:, k] / scan[:, 0]}
        row = {name: f"{np.median(values):.4f}" for name, values in own.items()}
        rows.append(row | {"hog_ratio": None if hog is None else f"{np.median(whole[:, k] / hog):.4f}"})
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
