"""Soft cascades and first stages of detectors, chosen on training data."""

from dataclasses import replace

import numpy as np

from paucens.detector import positive_traces
from paucens.images import as_rgb, pixels_of
from paucens.parallel import ALONE, Threads


def without_cascade(detector):
    """Return a detector that gives every window the sum of all trees."""
    return replace(detector, trees=detector.trees.without_rejection())


def score_at_fppi(detector, images, fppi, n_jobs):
    """Return the score of so many false positives per image without people, among all windows."""
    return without_cascade(detector).threshold_at_fppi(list(map(pixels_of, images)), fppi, n_jobs=n_jobs)


def scores_at_shares(detector, images, shares, n_jobs):
    """Return the scores that given shares of the windows of images exceed, before suppression."""
    whole = without_cascade(detector)

    def scores(image):
        rgb = as_rgb(pixels_of(image))
        levels = whole.search.levels(rgb.shape[:2])
        return whole.candidates(rgb, levels, -np.inf, ALONE)[0][:, 4].astype(np.float32)

    with Threads(n_jobs) as threads:
        return np.quantile(np.concatenate(threads.map(scores, images)), 1 - np.array(shares)).tolist()


def with_traces(detector, crops, least_score, n_jobs, quantile=0.0):
    """Return a detector whose cascade keeps the windows of crops that score above `least_score`."""
    traces = positive_traces(detector, crops, least_score=least_score, quantile=quantile, n_jobs=n_jobs)
    return replace(detector, trees=detector.trees.with_rejection(traces))
