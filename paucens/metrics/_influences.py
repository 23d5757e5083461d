"""ROC curve, normalized area and influence functions of two tallies (see `_samples`)."""

import math

import numpy as np

from paucens.metrics.ranges import RATE_TOLERANCE

TINY = 1e-100  # products of rates below it would lose digits or vanish


def rates(positives, negatives):
    """Return FPR and TPR before the first place and after each place."""
    fpr, tpr = (np.concatenate(([0.0], np.cumsum(tally))) for tally in (negatives, positives))
    return fpr / fpr[-1], tpr / tpr[-1]


def area(positives, negatives, alpha, beta):
    """Return the normalized area."""
    fpr, _ = rates(positives, negatives)
    return mean_area(_positive_influence(fpr, alpha, beta), positives)


def mean_area(v, positives):
    """Return the normalized area: the mean over the positives of the area of each one alone."""
    return min(1.0, mean(v, positives))


def mean(values, counts):
    """Average values that occur `counts` times, without BLAS, whose sums depend on its number of threads."""
    return float((values * counts).sum() / counts.sum())


def influences(positives, negatives, alpha, beta):
    """Return, per place, V, the area of the curve of a single positive, and U, the influence of a negative."""
    fpr, tpr = rates(positives, negatives)
    return _positive_influence(fpr, alpha, beta), _negative_influence(fpr, tpr, alpha, beta)


def _positive_influence(fpr, alpha, beta):
    """Return V: the curve is a ramp from 0 to 1 over the negatives of the place, or a step if there are none."""
    if beta < TINY:  # V does not depend on the unit of rates
        unit = 2.0 ** min(-math.frexp(beta)[1], 1000)
        fpr, alpha, beta = fpr * unit, alpha * unit, beta * unit
    start, stop = fpr[:-1], fpr[1:]
    left, right = np.clip(start, alpha, beta), np.clip(stop, alpha, beta)
    ramp = (right - left) * (left + right - 2 * start) / (2 * _run(start, stop))
    return (ramp + beta - right) / (beta - alpha)


def _negative_influence(fpr, tpr, alpha, beta):
    """Return U, up to a constant.

    Let h(x) be the share of the place at rates up to x, and T the TPR. Then U is the integral of T dh from
    h(alpha) to h(beta), minus T(beta) h(beta), plus T(alpha) h(alpha).
    """
    start, stop = fpr[:-1], fpr[1:]
    run = _run(start, stop)
    h_alpha, h_beta = np.clip((alpha - start) / run, 0, 1), np.clip((beta - start) / run, 0, 1)
    # halfway up if the curve is vertical at an end: the next negative may come from either side
    around = np.multiply.outer((alpha, beta), (1 - RATE_TOLERANCE, 1 + RATE_TOLERANCE))
    t_alpha, t_beta = np.interp(around, fpr, tpr).mean(axis=1)
    inside = (h_beta - h_alpha) * (tpr[:-1] + np.diff(tpr) * (h_alpha + h_beta) / 2)
    return (inside - t_beta * h_beta + t_alpha * h_alpha) / (beta - alpha)


def _run(start, stop):
    """Return the width of each place, to divide by; 1 for a place without negatives."""
    return np.where(stop > start, stop - start, 1.0)
