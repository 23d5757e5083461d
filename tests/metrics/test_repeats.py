"""Intervals of means over repeats, by hand, by SciPy and by simulation."""

import numpy as np
import pytest
from scipy import stats

from paucens.metrics import mean_interval


def test_interval_of_overlapping_repeats_by_hand():
    """Five differences, halves: variance .00025 times (1/5 + 1), t(.975, 4) = 2.776445."""
    mean, low, high = mean_interval([0.0, 0.01, 0.02, 0.03, 0.04], overlap=1.0)
    half_width = 2.776445 * np.sqrt(0.00025 * 1.2)
    assert (mean, low, high) == pytest.approx((0.02, 0.02 - half_width, 0.02 + half_width), abs=1e-7)


def test_interval_of_independent_repeats_is_students():
    values = np.random.RandomState(0).normal(size=12)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert mean_interval(values, level=0.9)[1:] == pytest.approx(tuple(expected))


def test_interval_does_not_vanish_with_the_number_of_repeats():
    _, _, high = mean_interval(np.tile([-1.0, 1.0], 5000), overlap=0.25)
    assert high == pytest.approx(1.96 * 0.5, rel=1e-3)


def test_interval_covers_if_repeats_are_as_correlated_as_it_assumes():
    """Correlation n_test / (n_test + n_train), the model of Nadeau and Bengio: then the t law is exact."""
    random, n_repeats, correlation = np.random.RandomState(1), 10, 0.5
    common, own = random.normal(size=(4000, 1)), random.normal(size=(4000, n_repeats))
    samples = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
    intervals = np.array([mean_interval(sample, overlap=1.0) for sample in samples])
    covered = np.mean((intervals[:, 1] < 0) & (intervals[:, 2] > 0))
    assert covered == pytest.approx(0.95, abs=0.012)
    naive = np.array([mean_interval(sample) for sample in samples])
    assert np.mean((naive[:, 1] < 0) & (naive[:, 2] > 0)) < 0.6


def test_one_repeat_has_no_interval():
    interval = mean_interval([0.5], 1.0)
    assert interval.mean == 0.5 and np.isnan(interval.low) and np.isnan(interval.high)


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([], {}, "one finite number per repeat"),
        ([[0.1, 0.2]], {}, "one finite number per repeat"),
        ([0.1, np.nan], {}, "one finite number per repeat"),
        ([0.1, 10**400], {}, "one finite number per repeat"),
        (["0.1", "0.2"], {}, "one number per repeat; got \\['0.1', '0.2'\\]"),
        ([0.1, 0.2], {"overlap": -1}, "overlap must be"),
        ([0.1, 0.2], {"level": 95}, "level must be"),
    ],
)
def test_what_is_no_list_of_repeats_is_refused(values, options, message):
    with pytest.raises(ValueError, match=message):
        mean_interval(values, **options)
