"""Intervals of log-average miss rates: the same detectors on resampled images (bootstrap)."""

from typing import Any, NamedTuple

import numpy as np

from paucens.evaluation.curves import log_average_miss_rate
from paucens.evaluation.matching import Matches
from paucens.validation import check_integer, check_level


class MissRateInterval(NamedTuple):
    """Log-average miss rate between the two ends of its interval."""

    low: float
    value: float
    high: float


class MissRateDifference(NamedTuple):
    """Log-average miss rate of one detector minus that of another, and its interval."""

    difference: float
    low: float
    high: float


def miss_rate_interval(
    runs: Any, *, level: float = 0.95, n_resamples: int = 1000, random_state: int = 0
) -> MissRateInterval:
    """Compute a log-average miss rate with its interval over images.

    Parameters
    ----------
    runs : Matches, or list of Matches
        Results of `match_images`. Several, on the same images, for a detector that was trained with several seeds; the
        value is the mean over them.
    level : float, default=0.95
        Confidence level.
    n_resamples : int, default=1000
        Number of bootstrap samples.
    random_state : int, default=0
        Seed of the samples.

    Returns
    -------
    MissRateInterval
        ``low, value, high`` as fractions; the ends are percentiles of the bootstrap samples.

    Raises
    ------
    ValueError
        If there is no run, the runs are not on the same images, or `level` is not between 0 and 1.

    Notes
    -----
    Images are drawn with replacement, each with its people and detections, and runs likewise if there are several.
    Draws without people are repeated.

    Examples
    --------
    >>> from paucens.evaluation import match_images
    >>> truths = [[[0, 0, 41, 100]]] * 50
    >>> detections = [[[0, 0, 41, 100, score]] if score % 3 else [] for score in range(50)]
    >>> [round(x, 2) for x in miss_rate_interval(match_images(detections, truths, [[]] * 50))]
    [0.22, 0.34, 0.48]
    """
    runs = _check_runs(runs)
    check_level("level", level)
    drawn = _resampled(runs, n_resamples, random_state).mean(axis=1)
    return MissRateInterval(*_with_ends(_rates(runs).mean(), drawn, level))


def miss_rate_difference(
    runs_a: Any, runs_b: Any, *, level: float = 0.95, n_resamples: int = 1000, random_state: int = 0
) -> MissRateDifference:
    """Compute the difference of two log-average miss rates with its interval, paired over images and seeds.

    Parameters
    ----------
    runs_a, runs_b : Matches, or lists of Matches
        Results of `match_images`, all on the same images. The numbers of runs are equal; runs of equal index share a
        seed.
    level : float, default=0.95
        Confidence level.
    n_resamples : int, default=1000
        Number of bootstrap samples.
    random_state : int, default=0
        Seed of the samples.

    Returns
    -------
    MissRateDifference
        ``difference, low, high``: rate of a minus rate of b. It is a tie unless the interval excludes 0.

    Raises
    ------
    ValueError
        See `miss_rate_interval`; also if the numbers of runs differ.

    Examples
    --------
    >>> from paucens.evaluation import match_images
    >>> truths = [[[0, 0, 41, 100]]] * 50
    >>> a, b = ([[[0, 0, 41, 100, 1]] if i % n else [] for i in range(50)] for n in (3, 5))
    >>> a, b = (match_images(detections, truths, [[]] * 50) for detections in (a, b))
    >>> [round(x, 2) for x in miss_rate_difference(a, b)]
    [0.14, -0.02, 0.3]
    """
    runs_a, runs_b = _check_runs(runs_a), _check_runs(runs_b)
    if len(runs_a) != len(runs_b):
        raise ValueError(f"Runs are compared in pairs; got {len(runs_a)} of one and {len(runs_b)} of the other.")
    runs = _check_runs([*runs_a, *runs_b])
    check_level("level", level)
    signs = np.repeat([1, -1], len(runs_a)) / len(runs_a)
    drawn = _resampled(runs, n_resamples, random_state, n_detectors=2) @ signs
    low, difference, high = _with_ends(_rates(runs) @ signs, drawn, level)
    return MissRateDifference(difference, low, high)


def _check_runs(runs):
    runs = [runs] if isinstance(runs, Matches) else list(runs)
    if not runs or not all(isinstance(run, Matches) for run in runs):
        raise ValueError(f"Runs must be one or more results of match_images; got {runs!r:.100}.")
    if any(not np.array_equal(run.n_truths, runs[0].n_truths) for run in runs):
        raise ValueError("Runs must be on the same images with the same people; got different numbers of people.")
    return runs


def _rates(runs, weights=None):
    return np.array([log_average_miss_rate(*run.curve(weights)) for run in runs])


def _resampled(runs, n_resamples, random_state, n_detectors=1):
    """Compute the rates of drawn runs on drawn images, one detector after the other, (n_resamples, n_runs)."""
    check_integer("n_resamples", n_resamples, 1)
    rng, n_truths, n_runs = np.random.default_rng(random_state), runs[0].n_truths, len(runs) // n_detectors
    rates = np.empty((n_resamples, len(runs)))
    for r in range(n_resamples):
        weights = np.zeros_like(n_truths)
        while weights @ n_truths == 0:
            weights = np.bincount(rng.integers(len(n_truths), size=len(n_truths)), minlength=len(n_truths))
        seeds = rng.integers(n_runs, size=n_runs) + n_runs * np.arange(n_detectors)[:, None]
        places, inverse = np.unique(seeds, return_inverse=True)
        rates[r] = _rates([runs[place] for place in places], weights)[inverse.ravel()]
    return rates


def _with_ends(value, drawn, level):
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(value), float(high)
