"""Dollar's channels: the door for images, each stage against its twin, what shifts and flips do, golden numbers."""

import io
import tracemalloc

import numpy as np
import pytest
import reference_channels as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from paucens import parallel
from paucens._kernels import channels as baseline
from paucens._kernels.builds import chosen
from paucens.features import channels
from paucens.features.channels import acf_channels, acf_supports, luminance, luv, smooth_cells, smooth_planes, triangle
from paucens.images import as_rgb
from paucens.parallel import Threads

quick = settings(deadline=None, max_examples=25, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
sides = st.integers(4, 33)
HERE = Threads(1)
ALL = ("LUV", "M", "O")


def draw(seed, height=40, width=52):
    """Random bytes, smoothed so that neighbours are alike."""
    rng = np.random.RandomState(seed)
    coarse = rng.randint(256, size=(height // 5 + 2, width // 5 + 2, 3)).astype(np.uint8)
    enlarged = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
    noise = rng.randint(-6, 7, size=(height, width, 3))
    return np.clip(np.asarray(enlarged).astype(int) + noise, 0, 255).astype(np.uint8)


def compute(rgb, groups=ALL, first=1.0, after=1.0, table=False, threads=HERE, cell=4, **options):
    n = sum(len(channels.GROUPS[group]) for group in groups)
    strips = np.full((rgb.shape[0] // cell, n, rgb.shape[1] // cell), np.nan, dtype=np.float32)
    acf_channels(rgb, groups, first, after, table, threads, strips, cell=cell, **options)
    return np.moveaxis(strips, 1, 2)


def unit(image):
    return image.astype(np.float32) / np.float32(255)


# -- the door --------------------------------------------------------------------------------------


def test_rgb_is_passed_on_without_a_copy():
    for image in (draw(0), unit(draw(0))):
        assert as_rgb(image) is image


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_floats_become_float32(dtype):
    rgb = as_rgb(unit(draw(0)).astype(dtype))
    assert rgb.dtype == np.float32
    np.testing.assert_allclose(rgb, unit(draw(0)), atol=1e-3)


def test_views_become_contiguous():
    view = draw(0)[::2, 3:40:2, ::-1]
    assert as_rgb(view).flags.c_contiguous and np.array_equal(as_rgb(view), view)


@pytest.mark.parametrize("shape", [(1, 1), (7, 5)])
def test_grey_is_three_times_the_same(shape):
    grey = np.random.RandomState(0).randint(256, size=shape).astype(np.uint8)
    for image in (grey, unit(grey), Image.fromarray(grey)):
        rgb = as_rgb(image)
        assert rgb.shape == (*shape, 3) and rgb.flags.c_contiguous and (rgb == rgb[..., :1]).all()


def test_exif_orientation_is_applied():
    file, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = 6  # held upright: turn it clockwise
    image = draw(0)
    Image.fromarray(image).save(file, "png", exif=exif)
    np.testing.assert_array_equal(as_rgb(Image.open(file)), np.rot90(image, -1))


@pytest.mark.parametrize(
    "image, message",
    [
        ("photo.png", r"Expected an image, RGB .* got str 'photo.png'"),
        (None, "Expected an image"),
        (np.zeros((4, 4), bool), "Expected an image"),
        (np.zeros((4, 4), complex), "Expected an image"),
        (np.zeros((4, 4, 4), np.uint8), r"4 values per pixel, as RGBA has; .* image\[\.\.\., :3\]"),
        (np.zeros((4, 4, 1), np.uint8), r"shape \(4, 4, 1\); expected RGB \(height, width, 3\) or grey"),
        (np.zeros((2, 4, 4, 3), np.uint8), r"shape \(2, 4, 4, 3\)"),
        (np.zeros(4, np.uint8), r"shape \(4,\)"),
        (np.zeros((0, 4, 3), np.uint8), r"shape \(0, 4, 3\): no pixels"),
        (np.zeros((4, 4, 3), np.uint16), "type uint16; .* 65535"),
        (np.zeros((4, 4, 3), int), "type int64"),
        (np.full((4, 4), 255.0), r"from 255 to 255; expected \[0, 1\]"),
        (np.full((4, 4), -0.1), r"from -0\.1 to -0\.1"),
        (np.full((4, 4), np.nan), "from nan to nan; .* no nan"),
        (Image.new("RGBA", (4, 4)), r"mode RGBA; .* image\.convert\('RGB'\)"),
        (Image.new("P", (4, 4)), "mode P"),
        (Image.new("I;16", (4, 4)), "mode I;16"),
    ],
)
def test_what_is_no_image_is_named(image, message):
    with pytest.raises(ValueError, match=message):
        as_rgb(image)


# -- stages ----------------------------------------------------------------------------------------


@given(seed=seeds, table=st.booleans(), is_float=st.booleans())
@quick
def test_luv(seed, table, is_float):
    rgb = np.random.RandomState(seed).randint(256, size=(5, 17, 3)).astype(np.uint8)
    rgb[0, :4] = [[0, 0, 0], [255, 255, 255], [1, 0, 0], [0, 0, 255]]
    rgb[1, :9] = np.arange(9)[:, None]  # around the knee of L
    planes = luv(unit(rgb) if is_float else rgb, HERE, table=table)
    np.testing.assert_allclose(planes, reference.luv(unit(rgb), table), atol=1e-6)
    np.testing.assert_array_equal(luminance(rgb, HERE, table=table), planes[0])


def test_luv_of_all_greys_and_of_bright_and_dark_floats():
    greys = np.repeat(np.linspace(0, 1, 5001, dtype=np.float32)[None, :, None], 3, axis=2)
    np.testing.assert_allclose(luv(greys, HERE), reference.luv(greys), atol=1e-6)
    tiny = np.full((1, 1, 3), 1e-38, dtype=np.float32)
    np.testing.assert_allclose(luv(tiny, HERE)[:, 0, 0], [0, 88 / 270, 134 / 270], atol=1e-6)


def test_grey_has_no_colour():
    planes = luv(as_rgb(np.arange(256, dtype=np.uint8)[None]), HERE)
    assert np.ptp(planes[1]) < 2e-4 and np.ptp(planes[2]) < 2e-4  # the white point of the formulas is nearly (1, 1, 1)
    assert (np.diff(planes[0]) > 0).all()


@given(
    seed=seeds,
    n=st.integers(1, 3),
    height=st.integers(1, 20),
    width=st.integers(1, 20),
    radius=st.sampled_from([0, 0.5, 1, 2, 5]),
)
@quick
def test_smooth_planes(seed, n, height, width, radius):
    planes = np.random.RandomState(seed).rand(n, height, width).astype(np.float32)
    expected = [reference.smooth(plane, radius) for plane in planes]
    np.testing.assert_allclose(smooth_planes(planes, radius, HERE), expected, atol=1e-6)


@pytest.mark.parametrize("radius", [0, 0.3, 0.5, 1, 2, 5])
def test_triangles(radius):
    taps = triangle(radius)
    both = np.r_[taps[:0:-1], taps].astype(float)
    offsets = np.arange(len(both)) - len(taps) + 1
    assert both.sum() == pytest.approx(1) and np.sum(both * offsets**2) == pytest.approx(radius * (radius + 2) / 6)


def test_a_triangle_of_half_a_pixel_is_that_of_the_release():
    np.testing.assert_allclose(triangle(0.5), [7.6 / 9.6, 1 / 9.6], rtol=1e-6)


@given(seed=seeds, rows=st.integers(0, 9), cols=st.integers(0, 9), radius=st.sampled_from([0, 0.5, 1]))
@quick
def test_smooth_cells_in_a_part_of_an_array(seed, rows, cols, radius):
    before = np.random.RandomState(seed).rand(rows, 7, cols).astype(np.float32)
    strips = before.copy()
    smooth_cells(strips[:, 2:6], radius, HERE)
    expected = before.copy()
    for k in range(2, 6 if before.size else 2):
        expected[:, k] = reference.smooth(before[:, k], radius)
    np.testing.assert_allclose(strips, expected, atol=1e-6)
    np.testing.assert_array_equal(np.delete(strips, np.s_[2:6], 1), np.delete(before, np.s_[2:6], 1))


@given(seed=seeds, height=sides, width=sides, first=st.sampled_from([0.0, 1.0]))
@quick
def test_magnitude_and_orientation(seed, height, width, first):
    h, w = height // 4 * 4, width // 4 * 4
    rgb = draw(seed, height, width)
    magnitude, orientation = np.full((2, h, w), np.nan, dtype=np.float32)
    scratch = np.full(channels.RING_ROWS * (w + 2), np.nan, dtype=np.float32)
    nothing = np.empty((h // 4, 0, w // 4), dtype=np.float32)
    middle = h // 8
    for start, stop in [(0, middle), (middle, h // 4)]:
        channels.kernels.colour_and_gradient(
            rgb, False, channels.EXACT, 4, *triangle(first), scratch, nothing, magnitude, orientation, start, stop
        )
    planes = np.array([reference.smooth(plane, first) for plane in reference.luv(unit(rgb[:h, :w]))])
    expected, angle = reference.gradient(planes)
    np.testing.assert_allclose(magnitude, expected, atol=1e-6)
    clear = expected > 1e-3  # so that rounding does not decide which plane is steepest, or the direction
    apart = np.abs(orientation - angle)
    assert np.mean(np.minimum(apart, np.pi - apart)[clear] < 2e-3) > 0.99


def test_orientation_of_every_direction():
    """Ramps of grey: O is the direction of the gradient modulo pi, and what Dollar's rule says on the axes."""
    y, x = np.mgrid[:12, :12] - 6
    for angle in np.arange(-175, 185, 5):
        slope = x * np.cos(np.radians(angle)) + y * np.sin(np.radians(angle))
        grey = (0.5 + slope / 1000).astype(np.float32)  # so little that the cube root in L is straight
        bins = compute(as_rgb(grey), ("O",), first=0, after=0)[1, 1]
        position = (angle % 180) / 30
        expected = np.maximum(1 - np.abs((position - np.arange(6) + 3) % 6 - 3), 0)
        np.testing.assert_allclose(bins / bins.sum(), expected, atol=0.01)


@given(seed=seeds, rows=st.integers(1, 6), cols=st.integers(1, 6), cell=st.sampled_from([2, 4]))
@quick
def test_normalise_and_blend(seed, rows, cols, cell):
    """Every pixel counts in four cells; those at the border are raised by 8/7 a side."""
    rng = np.random.RandomState(seed)
    magnitude = rng.rand(cell * rows, cell * cols).astype(np.float32)
    orientation = (rng.rand(cell * rows, cell * cols) * (np.pi - 1e-6)).astype(np.float32)
    bins = np.full((rows, 6, cols), np.nan, dtype=np.float32)
    scratch = np.full((3 + 8 // cell) * (cell * cols + 12), np.nan, dtype=np.float32)
    for part in [(0, rows // 2), (rows // 2, rows)]:
        channels.kernels.normalise_and_blend(magnitude, orientation, triangle(5), cell, scratch, bins, *part)
    _, planes = reference.normalise_and_bin(magnitude.astype(float), orientation.astype(float))
    np.testing.assert_allclose(np.moveaxis(bins, 1, 2), reference.blend(planes, cell), atol=1e-5)


@given(seed=seeds, rows=st.integers(1, 6), cols=st.integers(1, 6))
@quick
def test_normalise_and_bin(seed, rows, cols):
    rng = np.random.RandomState(seed)
    magnitude = rng.rand(4 * rows, 4 * cols).astype(np.float32) * rng.randint(2, size=(4 * rows, 1))
    orientation = (rng.rand(4 * rows, 4 * cols) * (np.pi - 1e-6)).astype(np.float32)
    orientation[0, :3] = [0, np.pi / 2, np.pi - 1e-6]
    mean, bins = np.empty((rows, 1, cols), dtype=np.float32), np.empty((rows, 6, cols), dtype=np.float32)
    scratch = np.full(5 * (4 * cols + 12), np.nan, dtype=np.float32)
    channels.kernels.normalise_and_bin(
        magnitude.astype(np.float32), orientation, triangle(5), 4, scratch, mean, bins, 0, rows
    )
    normal, expected = reference.normalise_and_bin(magnitude.astype(float), orientation.astype(float))
    np.testing.assert_allclose(mean[:, 0], reference.pool(normal[None])[..., 0], atol=2e-6)
    np.testing.assert_allclose(np.moveaxis(bins, 1, 2), reference.pool(expected), atol=1e-5)


# -- all ten ---------------------------------------------------------------------------------------


@given(
    seed=seeds,
    height=sides,
    width=sides,
    first=st.sampled_from([0.0, 1.0]),
    after=st.sampled_from([0.0, 0.5, 1.0]),
    table=st.booleans(),
)
@quick
def test_ten_channels(seed, height, width, first, after, table):
    rgb = draw(seed, height, width)
    ours, expected = compute(rgb, ALL, first, after, table), reference.acf(unit(rgb), first, after, table)
    np.testing.assert_allclose(ours[..., :3], expected[..., :3], atol=1e-5)
    np.testing.assert_allclose(ours[..., 3], expected[..., 3], atol=1e-3 if table else 2e-4)
    assert np.mean(np.abs(ours[..., 4:] - expected[..., 4:]) < 1e-2) > 0.99


@given(seed=seeds, height=sides, width=sides, blended=st.booleans())
@quick
def test_cells_of_two_pixels(seed, height, width, blended):
    rgb = draw(seed, height, width)
    ours, expected = compute(rgb, cell=2, blended=blended), reference.acf(unit(rgb), cell=2, blended=blended)
    np.testing.assert_allclose(ours[..., :3], expected[..., :3], atol=1e-5)
    np.testing.assert_allclose(ours[..., 3], expected[..., 3], atol=2e-4)
    assert np.mean(np.abs(ours[..., 4:] - expected[..., 4:]) < 1e-2) > 0.99


@pytest.mark.parametrize("cell", [2, 4])
def test_luv_may_be_converted_before(cell):
    rgb = draw(5)
    planes = np.ascontiguousarray(np.moveaxis(luv(rgb, HERE), 0, 2))
    np.testing.assert_array_equal(compute(planes, cell=cell, converted=True), compute(rgb, cell=cell))


@pytest.mark.parametrize("groups", [("LUV",), ("M",), ("O",), ("LUV", "O"), ("M", "O")])
def test_groups_alone_are_those_of_all(groups):
    rgb = draw(1)
    together, names = compute(rgb), [name for group in ALL for name in channels.GROUPS[group]]
    chosen_names = [name for group in groups for name in channels.GROUPS[group]]
    np.testing.assert_array_equal(compute(rgb, groups), together[..., [names.index(name) for name in chosen_names]])


def test_writes_into_a_part_of_an_array():
    rgb, out = draw(2), np.full((10, 20, 13), 7, dtype=np.float32)
    acf_channels(rgb, ALL, 1, 1, False, HERE, out[:, 5:15])
    np.testing.assert_array_equal(np.moveaxis(out[:, 5:15], 1, 2), compute(rgb))
    assert (np.delete(out, np.s_[5:15], 1) == 7).all()


def test_bytes_floats_and_grey_agree():
    rgb = draw(3)
    np.testing.assert_array_equal(compute(rgb), compute(as_rgb(unit(rgb))))
    np.testing.assert_array_equal(compute(as_rgb(rgb[..., 0])), compute(as_rgb(unit(rgb[..., 0]))))


@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (40, 3), (4, 4), (5, 7), (41, 55)])
def test_small_and_odd_images_are_cropped_to_cells(shape):
    rgb = draw(4)
    rgb = np.ascontiguousarray(np.pad(rgb, ((0, 20), (0, 20), (0, 0)), "symmetric")[: shape[0], : shape[1]])
    ours = compute(rgb)
    assert ours.shape == (shape[0] // 4, shape[1] // 4, 10) and np.isfinite(ours).all()
    cropped = np.ascontiguousarray(rgb[: shape[0] // 4 * 4, : shape[1] // 4 * 4])
    np.testing.assert_array_equal(ours, compute(cropped))


@pytest.mark.parametrize("level", [0, 1, 77, 255])
@pytest.mark.parametrize("colour", [(1, 1, 1), (1, 0, 0), (0.3, 0.7, 0.9)])
def test_flat_images_have_no_gradient(level, colour):
    rgb = np.broadcast_to((np.array(colour) * level).astype(np.uint8), (24, 28, 3)).copy()
    out = compute(rgb)
    assert np.isfinite(out).all() and (out[..., 3:] == 0).all() and (out[..., :3] == out[0, 0, :3]).all()


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_and_builds_give_the_same_bits(monkeypatch, n_jobs):
    rgb, one = draw(5, 61, 83), compute(draw(5, 61, 83))
    monkeypatch.setattr(parallel, "WORTH_A_THREAD", 1)
    for build in (baseline, chosen("channels")):
        monkeypatch.setattr(channels, "kernels", build)
        with Threads(n_jobs) as threads:
            np.testing.assert_array_equal(compute(rgb, threads=threads), one)
            np.testing.assert_array_equal(luv(rgb, threads), luv(rgb, HERE))
            np.testing.assert_array_equal(luminance(rgb, threads), luv(rgb, HERE)[0])
            planes = luv(rgb, HERE)
            np.testing.assert_array_equal(smooth_planes(planes, 5, threads), smooth_planes(planes, 5, HERE))


@pytest.mark.parametrize(("down", "right"), [(4, 0), (0, 4), (8, 12)])
def test_translation_by_cells(down, right):
    rgb = draw(6, 96, 104)
    whole, part = compute(rgb), compute(np.ascontiguousarray(rgb[down:, right:]))
    moved = whole[down // 4 :, right // 4 :]
    np.testing.assert_array_equal(part[4:-4, 4:-4], moved[4:-4, 4:-4])


def test_flip():
    """LUV and M flip; orientation k becomes (6 - k) mod 6."""
    rgb = draw(7, 96, 104)
    ours, flipped = compute(rgb), compute(np.ascontiguousarray(rgb[:, ::-1]))[:, ::-1]
    np.testing.assert_allclose(flipped[..., :4], ours[..., :4], atol=1e-5)
    bins = 4 + (6 - np.arange(6)) % 6
    assert np.mean(np.abs(flipped[..., bins] - ours[..., 4:])[3:-3, 3:-3] < 1e-4) >= 0.99


@pytest.mark.parametrize("group", ALL)
@pytest.mark.parametrize(("first", "after"), [(1, 1), (0, 0.5), (0, 0)])
def test_supports_are_what_a_cell_depends_on(group, first, after):
    """A pixel outside the support changes nothing; a stroke across its outermost pixels does."""
    rgb = draw(8, 80, 80)
    before = compute(rgb, (group,), first, after)[10, 10]
    ((low, high), *_) = acf_supports(group, first, after)
    for place, changes in [(low - 1, False), (low, True), (high - 1, True), (high, False)]:
        for axis in (0, 1):
            other = rgb.copy()
            np.moveaxis(other, axis, 0)[40 + place] = 255 - np.moveaxis(other, axis, 0)[40 + place] // 2
            after_it = compute(other, (group,), first, after)[10, 10]
            assert (after_it != before).any() == changes


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_memory_beyond_the_output(n_jobs):
    rgb = np.zeros((1200, 1600, 3), dtype=np.uint8)
    out = np.empty((300, 10, 400), dtype=np.float32)
    with Threads(n_jobs) as threads:
        tracemalloc.start()
        acf_channels(rgb, ALL, 1, 1, False, threads, out)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak <= 8.1 * 1200 * 1600 + n_jobs * 300_000  # M and O; the rings


# -- golden numbers --------------------------------------------------------------------------------

GOLDEN = {  # means of the release's first ten channels, padded by two cells; measured from its program
    "quadratic": [
        0.2701776,
        0.3381161,
        0.4912971,
        0.5817615,
        0.0962326,
        0.0944745,
        0.0844977,
        0.0955934,
        0.1016458,
        0.1093182,
    ],
    "sinus": [
        0.2773851,
        0.3359851,
        0.4936811,
        0.5622939,
        0.1020517,
        0.1267144,
        0.1193332,
        0.0405178,
        0.0432943,
        0.1303829,
    ],
}
TOLERANCE = [1e-4] * 3 + [5e-5] + [5e-4] * 6  # its reciprocal and its arc cosine are approximate


def golden_image(name):
    r, c, k = np.mgrid[:64, :48, :3]
    if name == "quadratic":
        return ((3 * r * r + 5 * c * c + 7 * (k + 1) * r * c + 11 * k * r) % 256).astype(np.uint8)
    waves = np.sin(2 * np.pi * (r * (k + 1) / 37 + c / (13 + 4 * k))) * np.cos(2 * np.pi * (r - 2 * c) / (29 + k))
    return np.floor(127.5 * (1 + waves)).astype(np.uint8)


@pytest.mark.parametrize("name", GOLDEN)
def test_means_of_the_release(name):
    image = golden_image(name)
    assert image.sum() == {"quadratic": 1174528, "sinus": 1171442}[name]
    cells = compute(image, first=0, after=0.5, table=True)
    around = ((2, 2), (2, 2), (0, 0))
    padded = np.concatenate([np.pad(cells[..., :3], around, "edge"), np.pad(cells[..., 3:], around)], axis=2)
    assert (np.abs(padded.mean(axis=(0, 1)) - GOLDEN[name]) <= TOLERANCE).all()
