"""Local binary patterns: kernels against twins, symmetries, borders, and the release's golden numbers."""

import tracemalloc
from importlib import import_module

import numpy as np
import pytest
import reference_lbp as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from paucens import parallel
from paucens._kernels.builds import chosen
from paucens.features import lbp
from paucens.features.lbp import LABELS, UNIFORM, label_pixels, lbp_channels, lbp_names, lbp_supports
from paucens.parallel import Threads

quick = settings(deadline=None, max_examples=20, derandomize=True)
seeds, patches = st.integers(0, 2**32 - 1), st.sampled_from([4, 8, 16])
BUILDS = {kernels.__name__: kernels for kernels in (import_module("paucens._kernels.lbp"), chosen("lbp"))}
both_builds = pytest.mark.parametrize("kernels", BUILDS.values(), ids=list(BUILDS))
VARIANTS = [("patches", True), ("patches", False), ("histograms", True), ("histograms", False)]
HERE = Threads(1)
ALL_OR_NONE = LABELS.index("all-or-none")


def frozen(array):
    """Forbid writing: kernels must take their inputs as const."""
    array.flags.writeable = False
    return array


def draw_plane(seed, height, width):
    """Noise, or few levels, so that there are ties."""
    rng = np.random.RandomState(seed)
    plane = rng.uniform(size=(height, width)) if rng.rand() < 0.5 else rng.randint(4, size=(height, width))
    return plane.astype(np.float32)


def draw_labels(seed, height, width):
    """Any labels, and often areas of one, so that windows have 255 or 256 of a label."""
    rng = np.random.RandomState(seed)
    labels = rng.randint(59, size=(height, width)).astype(np.uint8)
    labels[rng.uniform(size=labels.shape) < rng.choice([0.0, 0.5, 0.98, 0.998, 1.0])] = rng.randint(58)
    return labels


def channels_of(plane, form="patches", pooled=True, threads=HERE):
    strips = np.full((plane.shape[0] // 4, len(lbp_names(form, pooled)), plane.shape[1] // 4), np.nan, np.float32)
    lbp_channels(plane, form, pooled, threads, strips)
    return np.moveaxis(strips, 1, 2)


def strips_of(channels):
    """Turn (rows, columns, n_channels) into (rows, n_channels, columns)."""
    return np.moveaxis(channels, 2, 1)


# ---------------------------------------------------------------------------------------- kernels


@both_builds
@given(seed=seeds, height=st.integers(1, 12), width=st.integers(1, 40))
@quick
def test_label_pixels(kernels, seed, height, width):
    plane = frozen(draw_plane(seed, height, width))
    start, stop = sorted(np.random.RandomState(seed).randint(height + 1, size=2))
    labels = np.full((height, width), 99, dtype=np.uint8)
    kernels.label_pixels(plane, frozen(UNIFORM.copy()), labels, start, stop)
    np.testing.assert_array_equal(labels[start:stop], reference.label_pixels(plane, UNIFORM)[start:stop])
    assert (np.delete(labels, np.s_[start:stop], axis=0) == 99).all()


@both_builds
@given(seed=seeds, rows=st.integers(1, 9), cols=st.integers(1, 9), patch=patches, pooled=st.booleans())
@quick
def test_pool_patches(kernels, seed, rows, cols, patch, pooled):
    labels = frozen(draw_labels(seed, 4 * rows, 4 * cols))
    start, stop = sorted(np.random.RandomState(seed).randint(rows + 1, size=2))
    strips = np.full((rows, 60, cols), -7, dtype=np.float32)
    kernels.pool_patches(labels, patch, pooled, strips[:, 1:59], start, stop)
    expected = strips_of(reference.pool_patches(labels, patch, pooled))
    np.testing.assert_array_equal(strips[start:stop, 1:59], expected[start:stop])
    assert (np.delete(strips, np.s_[start:stop], axis=0) == -7).all() and (strips[:, [0, 59]] == -7).all()


@both_builds
@pytest.mark.parametrize("pooled", [True, False])
@pytest.mark.parametrize("patch", [4, 8, 16])
def test_pool_patches_of_several_strips(kernels, patch, pooled):
    labels = draw_labels(4, 20, 4 * 67)
    strips = np.empty((5, 58, 67), dtype=np.float32)
    kernels.pool_patches(labels, patch, pooled, strips, 0, 5)
    np.testing.assert_array_equal(strips, strips_of(reference.pool_patches(labels, patch, pooled)))


@both_builds
@pytest.mark.parametrize("odd_one", [(3, 3), (15, 15), (16, 16), None])
def test_256_of_a_label_are_not_255(kernels, odd_one):
    labels = np.full((32, 32), 9, dtype=np.uint8)
    if odd_one:
        labels[odd_one] = 10
    for pooled in (True, False):
        strips = np.empty((8, 58, 8), dtype=np.float32)
        kernels.pool_patches(labels, 16, pooled, strips, 0, 8)
        expected = strips_of(reference.pool_patches(labels, 16, pooled))
        np.testing.assert_array_equal(strips, expected)
        assert (expected == 255 / 256).any() == (odd_one is not None)


@both_builds
@given(seed=seeds, rows=st.integers(1, 8), cols=st.integers(1, 8))
@quick
def test_histogram_cells(kernels, seed, rows, cols):
    labels = frozen(draw_labels(seed, 4 * rows, 4 * cols))
    start, stop = sorted(np.random.RandomState(seed).randint(rows + 1, size=2))
    strips = np.full((rows, 60, cols), -7, dtype=np.float32)
    kernels.histogram_cells(labels, strips[:, 1:59], start, stop)
    expected = strips_of(reference.histogram_cells(labels))
    np.testing.assert_allclose(strips[start:stop, 1:59], expected[start:stop], atol=2e-7)
    assert (np.delete(strips, np.s_[start:stop], axis=0) == -7).all() and (strips[:, [0, 59]] == -7).all()


@pytest.mark.skipif(len(BUILDS) == 1, reason="this machine, or PAUCENS_BASELINE, leaves one build")
def test_both_builds_give_the_same_bits():
    labels = draw_labels(8, 40, 44)
    made = np.empty((len(BUILDS), 10, 58, 11), dtype=np.float32)
    for kernels, strips in zip(BUILDS.values(), made, strict=True):
        kernels.histogram_cells(labels, strips, 0, 10)
    assert made[0].any()
    np.testing.assert_array_equal(made[0], made[-1])


@both_builds
@given(seed=seeds, rows=st.integers(1, 8), cols=st.integers(1, 8))
@quick
def test_pool_cells(kernels, seed, rows, cols):
    rng = np.random.RandomState(seed)
    start, stop = sorted(rng.randint(rows + 1, size=2))
    strips = rng.uniform(size=(rows, 116, cols)).astype(np.float32)
    before = strips.copy()
    kernels.pool_cells(strips, np.full(cols + 3, np.nan, dtype=np.float32), start, stop)
    np.testing.assert_array_equal(strips[:, :58], before[:, :58])
    expected = strips_of(reference.pool_cells(np.moveaxis(before[:, :58], 1, 2)))
    np.testing.assert_array_equal(strips[start:stop, 58:], expected[start:stop])
    untouched = np.r_[:start, stop:rows]
    np.testing.assert_array_equal(strips[untouched], before[untouched])


# ----------------------------------------------------------------------------------------- labels


def test_labels_are_runs():
    for code in range(256):
        bits = [code >> k & 1 for k in range(8)]
        starts = [k for k in range(8) if bits[k] and not bits[k - 1]]
        if len(starts) == 1:
            expected = f"{lbp.DIRECTIONS[starts[0]]}{sum(bits)}"
        else:
            expected = "other" if starts else "all-or-none"
        assert LABELS[UNIFORM[code]] == expected
    assert len(LABELS) == 58 and set(UNIFORM) == set(range(58))


def test_directions():
    for label, (down, across) in enumerate(reference.NEIGHBOURS):
        plane = np.zeros((3, 3), dtype=np.float32)
        plane[1 + down, 1 + across] = 1
        assert label_pixels(plane, HERE)[1, 1] == 7 * label


def test_equals_are_not_larger():
    assert (label_pixels(np.ones((5, 6), dtype=np.float32), HERE)[1:-1, 1:-1] == ALL_OR_NONE).all()


# --------------------------------------------------------------------------------------- channels


@pytest.mark.parametrize("form, pooled", VARIANTS)
@pytest.mark.parametrize("shape", [(30, 43), (0, 0), (1, 1), (3, 50), (4, 4), (7, 5), (8, 4), (12, 12), (15, 17)])
def test_channels_are_those_of_the_twins(shape, form, pooled):
    plane = draw_plane(1, *shape)
    labels = reference.label_pixels(plane[: shape[0] // 4 * 4, : shape[1] // 4 * 4], UNIFORM)
    if form == "histograms":
        expected = [reference.histogram_cells(labels)]
        expected += [reference.pool_cells(expected[0])] * pooled
    else:
        expected = [reference.pool_patches(labels, patch, pooled) for patch in (4, 8, 16)]
    np.testing.assert_allclose(channels_of(plane, form, pooled), np.dstack(expected), atol=2e-7)


@pytest.mark.parametrize("form, pooled", VARIANTS)
def test_support_is_what_a_cell_depends_on(form, pooled):
    """Changing everything outside the support changes nothing; changing its outermost pixels does."""
    rng = np.random.RandomState(0)
    plane, cell = rng.uniform(size=(64, 64)).astype(np.float32), 8
    before = channels_of(plane, form, pooled)[cell, cell]
    supports = lbp_supports(form, pooled)
    assert len(supports) == len(before)
    for start, stop in np.unique(supports, axis=0) + 4 * cell:
        mine = (supports + 4 * cell == [start, stop]).all(axis=1)
        outside = rng.uniform(size=plane.shape).astype(np.float32)
        outside[start:stop, start:stop] = plane[start:stop, start:stop]
        np.testing.assert_array_equal(channels_of(outside, form, pooled)[cell, cell, mine], before[mine])
        for edge in (start, stop - 1):
            for axis in (0, 1):
                inside = plane.copy()
                np.moveaxis(inside, axis, 0)[edge] += rng.choice([-2, 2], size=64)
                assert (channels_of(inside, form, pooled)[cell, cell, mine] != before[mine]).any()


@pytest.mark.parametrize("form, pooled", VARIANTS)
def test_translation_by_a_cell(form, pooled):
    plane = draw_plane(2, 88, 80)
    whole, moved = channels_of(plane, form, pooled), channels_of(plane[4:, 8:], form, pooled)
    reach = 5  # cells that see the border
    np.testing.assert_array_equal(whole[1 + reach : -reach, 2 + reach : -reach], moved[reach:-reach, reach:-reach])


@pytest.mark.parametrize("form", ["patches", "histograms"])
def test_mirrored_images_have_mirrored_labels(form):
    """A run from direction s of length n runs, mirrored, from 4 - (s + n - 1); patches centred on cells stay there."""
    mirrored = [7 * ((5 - start - n) % 8) + n - 1 for start in range(8) for n in range(1, 8)] + [56, 57]
    plane = draw_plane(3, 40, 52)
    straight, flipped = channels_of(plane, form, False), channels_of(plane[:, ::-1].copy(), form, False)
    order = np.add.outer(58 * np.arange(straight.shape[2] // 58), mirrored).ravel()
    np.testing.assert_allclose(flipped, straight[:, ::-1][..., order], atol=1e-7)


def test_constant_images():
    channels = channels_of(np.full((48, 48), 0.3, dtype=np.float32)).reshape(12, 12, 3, 58)
    assert (channels[4:-4, 4:-4, :, ALL_OR_NONE] == 1).all()
    assert (np.delete(channels, ALL_OR_NONE, axis=3) == 0).all()
    release = channels_of(np.full((48, 48), 0.3, dtype=np.float32), "histograms").reshape(12, 12, 2, 58)
    np.testing.assert_allclose(release[..., ALL_OR_NONE], 1, rtol=1e-6)


@pytest.mark.parametrize("form, pooled", VARIANTS)
def test_results_do_not_depend_on_threads(monkeypatch, form, pooled):
    monkeypatch.setattr(parallel, "WORTH_A_THREAD", 1)
    plane = draw_plane(6, 60, 72)
    one = channels_of(plane, form, pooled)
    with Threads(4) as four:
        np.testing.assert_array_equal(channels_of(plane, form, pooled, four), one)


@pytest.mark.parametrize(
    "form, pooled, n", [("patches", True, 174), ("patches", False, 174), ("histograms", True, 116)]
)
def test_names(form, pooled, n):
    names = lbp_names(form, pooled)
    assert len(names) == len(set(names)) == n


def test_memory():
    plane = draw_plane(7, 480, 640)
    out = np.empty((120, 174, 160), dtype=np.float32)
    tracemalloc.start()
    lbp_channels(plane, "patches", True, HERE, out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 2 * plane.size


@reference.needs_golden
@pytest.mark.parametrize("name", ["quadratic", "sinus"])
def test_golden_numbers_of_the_release(name):
    golden, image = reference.golden_values()[name], reference.golden_image(name)
    assert int(image.sum(dtype=int)) == golden["sum_of_bytes"]
    channels = reference.finished(channels_of(reference.golden_lightness(image), "histograms"))
    np.testing.assert_allclose(channels.mean(axis=(0, 1)), golden["channel_mean"][10:126], atol=1e-6)
    for row, col in ((7, 5), (12, 9)):
        np.testing.assert_allclose(channels[row, col], golden[f"cell_row{row}_col{col}"][10:126], atol=1e-6)
