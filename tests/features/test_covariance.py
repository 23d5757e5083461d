"""sp-Cov: the kernel against its twin, and properties that hold for all images."""

import numpy as np
import pytest
import reference_covariance as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from paucens import parallel
from paucens._kernels import builds
from paucens._kernels import covariance as baseline
from paucens.features import PRESETS, covariance
from paucens.features.covariance import ENTRIES, STATISTICS, covariance_channels, covariance_names, covariance_supports
from paucens.features.preset import CovarianceRule
from paucens.parallel import Threads

RULES = {name: preset.covariance for name, preset in PRESETS.items() if name != "acf"}
BY_RULE = pytest.mark.parametrize("rule", RULES)
BY_POOL = pytest.mark.parametrize("pooled", [True, False])


def textured(rule, height, width, seed=0):
    """Planes that a rule takes: noise, smoothed a little; a part of them is flat."""
    planes = np.random.RandomState(seed).rand(3 if rule == "release" else 1, height, width)
    for axis in (1, 2):
        planes = (planes + np.roll(planes, 1, axis) + np.roll(planes, -1, axis)) / 9
    planes[:, height // 2 :, : width // 3] = 0.25
    return planes.astype(np.float32)


def channels(planes, rule, pooled=True, n_jobs=1):
    shape = (planes.shape[1] // 4, len(covariance_names(RULES[rule])), planes.shape[2] // 4)
    strips = np.full(shape, np.nan, dtype=np.float32)
    with Threads(n_jobs) as threads:
        covariance_channels(planes, RULES[rule], pooled, threads, strips)
    return np.moveaxis(strips, 1, 2)


def twin(planes, name, pooled):
    rule, shape = RULES[name], (planes.shape[1] // 4, planes.shape[2] // 4)
    features = reference.statistics(planes)
    ridge = np.array([rule.orientation_ridge if "O" in name else rule.ridge for name in STATISTICS])
    parts = [reference.pool(features, 0, shape, True, False, False)]
    for size in rule.patch_sizes:
        if min(planes.shape[1:]) < size:
            parts.append(np.zeros((*shape, len(ENTRIES))))
            continue
        patches = reference.patch_covariances(features, size, np.full(7, rule.min_variance), ridge)
        parts.append(reference.pool(patches, size, shape, pooled, rule.centred, pooled and rule.clip_negatives))
    return np.concatenate(parts, axis=-1)


# ------------------------------------------------------------------------------------------ right


@BY_RULE
@BY_POOL
@pytest.mark.parametrize("shape", [(40, 68), (36, 188), (36, 192)])  # part of a tile, a whole one, two
def test_channels_are_those_of_the_twin(rule, pooled, shape):
    planes = textured(rule, *shape)
    np.testing.assert_allclose(channels(planes, rule, pooled), twin(planes, rule, pooled), atol=5e-5)


@given(st.sampled_from(sorted(RULES)), st.booleans(), st.integers(1, 9), st.integers(1, 12), st.integers(0, 99))
@settings(deadline=None, derandomize=True, max_examples=40)
def test_any_size_of_image(rule, pooled, rows, cols, seed):
    planes = textured(rule, 4 * rows, 4 * cols, seed)
    np.testing.assert_allclose(channels(planes, rule, pooled), twin(planes, rule, pooled), atol=5e-5)


@pytest.mark.parametrize("centred", [True, False])
def test_patches_of_4_pixels_are_pooled_by_their_first_pixel(centred):
    """Half of 4 pixels is no whole cell."""
    rule, planes = CovarianceRule((4, 8), centred=centred), textured("paper", 28, 40)
    strips = np.empty((7, 7 + 2 * 42, 10), dtype=np.float32)
    covariance_channels(planes, rule, True, Threads(1), strips)
    statistics = reference.statistics(planes)
    patches = reference.patch_covariances(statistics, 4, np.full(7, rule.min_variance), np.zeros(7))
    expected = reference.pool(patches, 4, (7, 10), True, False, False)
    np.testing.assert_allclose(np.moveaxis(strips[:, 7:49], 1, 2), expected, atol=5e-5)


@BY_RULE
def test_statistics_of_one_pixel_of_slope(rule):
    planes = np.zeros((3 if rule == "release" else 1, 8, 8), dtype=np.float32)
    planes[..., 4:] = 0.5  # a step to the right of column 3
    found = channels(planes, rule)[..., :7]
    half_pi = np.float32(np.pi / 2)
    expected = [0.25, half_pi, half_pi, 0.25, 0, 0.25, 0]
    np.testing.assert_array_equal(found[0, 0], np.array(expected, dtype=np.float32))


@pytest.mark.parametrize(("direction", "orientation"), [(1, 0), (-1, np.pi)])
def test_rounding_does_not_turn_a_gradient_around(direction, orientation):
    y, x = np.indices((16, 16))
    planes = (0.2 + direction * 0.01 * x - 1e-7 * y).astype(np.float32)[None]
    np.testing.assert_allclose(channels(planes, "paper")[..., 1], orientation, atol=1e-4)


@BY_RULE
@BY_POOL
@pytest.mark.parametrize("value", [0.0, 0.3])
def test_nothing_is_correlated_in_a_constant_image(rule, pooled, value):
    planes = np.full((3 if rule == "release" else 1, 48, 52), value, dtype=np.float32)
    found = channels(planes, rule, pooled)
    np.testing.assert_allclose(found[..., [1, 2]], np.pi / 2, rtol=1e-6)
    assert not np.delete(found, [1, 2], axis=-1).any()


@BY_RULE
@BY_POOL
@pytest.mark.parametrize("noise", [0.0, 1e-8, 1e-5])
def test_correlations_of_nearly_flat_patches_are_sane(rule, pooled, noise):
    """A slope whose statistics vary by rounding only: sums of squares in float32 would correlate their own errors."""
    y, x = np.indices((64, 64))
    planes = 0.1 + 0.003 * x + 0.002 * y + noise * np.random.RandomState(0).normal(size=(1, 64, 64))
    planes = np.repeat(planes, 3 if rule == "release" else 1, axis=0).astype(np.float32)
    found = channels(planes, rule, pooled)
    names = covariance_names(RULES[rule])
    assert np.isfinite(found).all()
    assert np.abs(found[..., ["corr" in name for name in names]]).max() <= 1
    np.testing.assert_allclose(found, twin(planes, rule, pooled), atol=1e-4)


# ------------------------------------------------------------------------------------------ the same


@BY_RULE
@BY_POOL
def test_a_shift_by_one_cell_shifts_the_channels(rule, pooled):
    planes = textured(rule, 72, 260)
    found, shifted = channels(planes, rule, pooled), channels(np.roll(planes, (4, 4), axis=(1, 2)), rule, pooled)
    inside = slice(5, -6)  # cells whose patches see neither the border nor the seam
    np.testing.assert_array_equal(shifted[1:, 1:][inside, inside], found[:-1, :-1][inside, inside])


@BY_RULE
def test_a_flip_turns_x_and_the_signed_orientation(rule):
    planes = np.random.RandomState(0).rand(3 if rule == "release" else 1, 64, 72).astype(np.float32)
    found = channels(planes, rule, pooled=False)[..., 7:]
    flipped = channels(np.ascontiguousarray(planes[..., ::-1]), rule, pooled=False)[:, ::-1, 7:]
    turned = np.isin(np.array(ENTRIES), (0, 3)).sum(axis=1) == 1  # x or O2, but not both
    signs = np.tile(np.where(turned & (np.diff(ENTRIES, axis=1)[:, 0] != 0), -1, 1), len(RULES[rule].patch_sizes))
    np.testing.assert_allclose(flipped, signs * found, atol=5e-6)


@BY_RULE
@BY_POOL
def test_threads_change_no_bit(rule, pooled, monkeypatch):
    planes = textured(rule, 120, 64)
    alone = channels(planes, rule, pooled)
    monkeypatch.setattr(parallel, "WORTH_A_THREAD", 1)
    for n_jobs in (2, 3, 7):
        np.testing.assert_array_equal(channels(planes, rule, pooled, n_jobs), alone)


@pytest.mark.skipif(builds.chosen("covariance") is baseline, reason="this processor runs the baseline only")
@BY_RULE
@BY_POOL
def test_both_builds_give_the_same_bits(rule, pooled, monkeypatch):
    planes = textured(rule, 88, 300)
    wide = channels(planes, rule, pooled)
    monkeypatch.setattr(covariance, "kernels", baseline)
    np.testing.assert_array_equal(channels(planes, rule, pooled), wide)


def test_the_baseline_can_be_forced(monkeypatch):
    monkeypatch.setenv("PAUCENS_BASELINE", "1")
    assert builds.chosen("covariance") is baseline


# ------------------------------------------------------------------------------------------ places


@BY_RULE
def test_out_may_be_some_channels_of_more(rule):
    planes = textured(rule, 40, 44)
    expected = channels(planes, rule)
    whole = np.full((10, expected.shape[2] + 5, 11), 7, dtype=np.float32)
    covariance_channels(planes, RULES[rule], True, Threads(1), whole[:, 2:-3])
    np.testing.assert_array_equal(np.moveaxis(whole[:, 2:-3], 1, 2), expected)
    assert (np.delete(whole, np.s_[2:-3], axis=1) == 7).all()


def test_pixels_beyond_whole_cells_are_left_out():
    planes = textured("paper", 43, 50)
    whole = np.ascontiguousarray(planes[:, :40, :48])
    np.testing.assert_array_equal(channels(planes, "paper"), channels(whole, "paper"))
    assert channels(planes[:, :3], "paper").shape == (0, 12, 133)


@BY_RULE
@BY_POOL
def test_channels_depend_on_their_support_and_on_no_other_pixel(rule, pooled):
    planes = np.random.RandomState(0).rand(3 if rule == "release" else 1, 64, 64).astype(np.float32)
    cell, found = 7, channels(planes, rule, pooled)[7, 7]
    supports = covariance_supports(RULES[rule], pooled)
    for first, stop in np.unique(supports, axis=0) + 4 * cell:
        mine = (supports + 4 * cell == (first, stop)).all(axis=1)
        for place, changes in ((first - 1, False), (stop, False), (first, True), (stop - 1, True)):
            other = planes.copy()
            other[:, :, place] += np.random.RandomState(1).rand(64).astype(np.float32)
            differs = channels(other, rule, pooled)[cell, cell] != found
            assert differs[mine].any() == changes, (first, stop, place)


@BY_RULE
def test_every_channel_has_a_name_and_a_support(rule):
    names = covariance_names(RULES[rule])
    assert len(set(names)) == len(names) == len(covariance_supports(RULES[rule], True)) == 7 + 3 * 42


def test_memory_of_a_thread_is_bounded():
    assert covariance.kernels.scratch_bytes() <= 4e6
