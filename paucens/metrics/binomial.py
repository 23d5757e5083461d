"""Exact bounds from the binomial distribution: rates of a threshold, and thresholds whose rate is bounded."""

import math

from scipy.special import bdtr, bdtrc, betaincinv


def least_rate(count, n, error):
    """Return the lower bound of Clopper and Pearson on a rate: count of n is improbable (`error`) below it."""
    return 0.0 if count == 0 else float(betaincinv(count, n - count + 1, error))


def largest_rate(count, n, error):
    """Return the upper bound of Clopper and Pearson on a rate: count of n is improbable (`error`) above it."""
    return 1.0 if count == n else float(betaincinv(count + 1, n - count, 1 - error))


def most_above(n, rate, error):
    """Return how many of n samples may exceed a threshold, such that its rate is below a bound with confidence.

    The rate of the samples above the (k + 1)-th largest of n exceeds `rate` with the probability that at most k of n
    do, if each does with probability `rate` (equal if no scores are tied, smaller otherwise).

    Parameters
    ----------
    n : int
    rate, error : float
        The bound, and the probability that it may be broken with.

    Returns
    -------
    k : int
        The largest such number; -1 if n is too small for any.
    """
    return _last(lambda k: bdtr(k, n, rate) <= error, n)


def fewest_above(n, rate, error):
    """Return how many of n samples must exceed a threshold, such that its rate is above a bound with confidence.

    Returns
    -------
    k : int
        The smallest such number, n if all of them must.
    """
    return 1 + _last(lambda k: bdtrc(k, n, rate) > error, n)


def samples_needed(rate, error):
    """Return the least n for which `most_above` is 0, which may be infinite."""
    if rate in (0, 1):
        return 1 if rate else math.inf
    n = math.ceil(math.log(error) / math.log1p(-rate))  # rounded either way
    return next(near for near in (n - 1, n, n + 1) if most_above(near, rate, error) >= 0)


def _last(holds, n):
    """Return the largest k < n for which a condition holds that holds up to some k, or -1."""
    low, high = -1, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
