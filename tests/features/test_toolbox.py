"""The pyramid and the filters of Dollar's toolbox, against slow twins made of its steps."""

from dataclasses import replace

import numpy as np
import pytest
import reference_channels as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import convolve2d

from paucens.features import PRESETS, ChannelSpec, Preset, scales
from paucens.features.filters import checked_filters, filtered
from paucens.features.preset import ACF
from paucens.features.pyramid import levels_with_channels
from paucens.features.toolbox import toolbox_levels
from paucens.parallel import Threads

HERE = Threads(1)
LAMBDAS = {"LUV": 0.0, "M": 0.12, "O": 0.1}
quick = settings(deadline=None, max_examples=20, derandomize=True)


def draw(height, width, seed=0):
    """Blocks of random colours."""
    coarse = np.random.RandomState(seed).randint(256, size=(height // 6 + 1, width // 6 + 1, 3))
    return np.kron(coarse, np.ones((6, 6, 1)))[:height, :width].astype(np.uint8)


def twin(rgb, levels, cell, step):
    """Resample LUV, halve it once, follow the power laws, smooth: `chnsPyramid` in float64."""
    planes, computed, found = np.moveaxis(reference.luv(rgb / 255), 0, 2), {}, []
    powers = np.repeat(list(LAMBDAS.values()), [3, 1, 6])
    for k, level in list(enumerate(levels))[::step]:
        own = reference.resize(planes, level.shape)
        planes = own if level.scale == 0.5 else planes
        smoothed = np.stack([reference.smooth(plane, 1) for plane in np.moveaxis(own, 2, 0)])
        normal, bins = reference.normalise_and_bin(*reference.gradient(smoothed))
        computed[k] = reference.pool(np.concatenate([smoothed, normal[None], bins]), cell)
    for k, level in enumerate(levels):
        nearest = min(computed, key=lambda other: (abs(other - k), other))
        shape = tuple(side // cell for side in level.shape)
        own = computed[nearest] if k == nearest else reference.resize(computed[nearest], shape)
        own = own * (level.scale / levels[nearest].scale) ** -powers
        found.append(np.stack([reference.smooth(channel, 1) for channel in np.moveaxis(own, 2, 0)], axis=2))
    return found


@pytest.mark.parametrize("cell", [2, 4])
def test_levels_are_made_step_by_step(cell):
    rgb, preset = draw(96, 112), Preset("here", families=ACF, cell=cell)
    levels = scales(rgb.shape[:2], per_octave=4, min_shape=(18, 18), shrink=cell)
    assert 0.5 in [level.scale for level in levels[::4]]
    spec = ChannelSpec.parse("LUV+M+O", preset=preset)
    ours = list(toolbox_levels(rgb, spec, levels, HERE, step=4, lambdas=LAMBDAS))
    for level, expected in zip(ours, twin(rgb, levels, cell, 4), strict=True):
        np.testing.assert_allclose(level.channels[..., :4], expected[..., :4], atol=1e-3)
        assert np.mean(np.abs(level.channels[..., 4:] - expected[..., 4:]) < 1e-2) > 0.98


def test_the_first_level_is_that_of_the_other_order():
    rgb, spec = draw(80, 64), ChannelSpec.parse("LUV+M+O", preset=PRESETS["acf"])
    levels = scales(rgb.shape[:2], per_octave=4, min_shape=(32, 32))
    one, other = (
        list(make(rgb, spec, levels, HERE, step=4, lambdas=LAMBDAS)) for make in (toolbox_levels, levels_with_channels)
    )
    np.testing.assert_array_equal(one[0].channels, other[0].channels)
    assert not np.allclose(one[1].channels, other[1].channels, atol=1e-3)


@given(rows=st.integers(1, 9), columns=st.integers(1, 9), height=st.sampled_from([1, 3, 5]), seed=st.integers(0, 99))
@quick
def test_filters_convolve_then_halve(rows, columns, height, seed):
    rng = np.random.RandomState(seed)
    strips, filters = rng.randn(rows, 3, columns).astype(np.float32), rng.randn(2, 3, height, 5).astype(np.float32)
    expected = np.stack([convolve2d(strips[:, k % 3], filters[k // 3, k % 3], "same") for k in range(6)], axis=2)
    expected = reference.resize(expected, ((rows + 1) // 2, (columns + 1) // 2))
    ours = filtered(strips, checked_filters(filters, 3), HERE)
    np.testing.assert_allclose(np.moveaxis(ours, 1, 2), expected, atol=1e-4)
    np.testing.assert_array_equal(ours, filtered(strips, filters, Threads(3)))


@pytest.mark.parametrize(
    "filters",
    [np.zeros((2, 4, 5, 5)), np.zeros((2, 3, 4, 5)), np.zeros((0, 3, 5, 5)), np.full((1, 3, 5, 5), np.nan), "ab"],
)
def test_other_filters_are_refused(filters):
    with pytest.raises(ValueError, match=r"filters must be finite numbers of shape \(n, 3, height, width\)"):
        checked_filters(filters, 3)


def test_small_cells_are_for_simple_channels():
    with pytest.raises(ValueError, match="Cells of 2 pixels are for LUV, M, O only"):
        replace(PRESETS["robust"], name="small", cell=2)
    with pytest.raises(ValueError, match="cell must be one of 2, 4"):
        replace(PRESETS["acf"], name="odd", cell=3)


def test_presets_say_what_they_said_before():
    """Trained detectors are found by the text of their settings, so fields that joined later must not show."""
    assert "cell" not in repr(PRESETS["robust"]) and "cell" not in PRESETS["robust"].to_plain()
    small = replace(PRESETS["acf"], name="small", cell=2, blend_cells=True)
    assert repr(small).endswith("families=('LUV', 'M', 'O'), cell=2, blend_cells=True)")
    assert Preset.from_plain(small.to_plain()) == small
    spec = ChannelSpec.parse("LUV+M+O", preset=small)
    assert spec.shrink == 2 and spec.compute(draw(11, 9)).shape == (5, 4, 10)
    assert spec.supports[0].tolist() == [-3, 5] and spec.supports[4].tolist() == [-10, 12]
