"""Sizes of the pyramid, resampling against its twin, channels level by level, and power laws."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import reference_channels as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import correlate1d

from paucens import parallel
from paucens._kernels import pooling as baseline
from paucens._kernels.builds import chosen
from paucens.features import ChannelSpec
from paucens.features import pyramid as module
from paucens.features.power_laws import estimate_lambdas
from paucens.features.pyramid import channel_pyramid, level_pixels, resize, scales
from paucens.parallel import Threads

quick = settings(deadline=None, max_examples=25, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
sides = st.integers(1, 40)
HERE = Threads(1)
GOLDEN = [  # of the toolbox, for 480 x 640 pixels, 8 an octave, no smaller than 50 x 20.5
    (480, 640),
    (440, 588),
    (404, 540),
    (372, 496),
    (340, 452),
    (312, 416),
    (284, 380),
    (260, 348),
    (240, 320),
    (220, 292),
    (200, 268),
    (184, 244),
    (168, 224),
    (156, 208),
    (144, 192),
    (132, 176),
    (120, 160),
    (112, 148),
    (100, 132),
    (92, 124),
    (84, 112),
    (76, 100),
    (72, 96),
    (64, 84),
    (60, 80),
    (56, 76),
    (52, 68),
]


def draw(seed, height, width, n=3, dtype=np.uint8):
    values = np.random.RandomState(seed).randint(256, size=(height, width, n))
    return values.astype(np.uint8) if dtype == np.uint8 else (values / 255).astype(np.float32)


def block_means(pixels):
    """Means of the three colours over cells of 4 x 4 pixels, in [0, 1]."""
    h, w = (side // 4 * 4 for side in pixels.shape[:2])
    unit = pixels[:h, :w] / (255 if pixels.dtype == np.uint8 else 1)
    return unit.reshape(h // 4, 4, w // 4, 4, 3).mean(axis=(1, 3)).astype(np.float32)


def fake_spec(compute=block_means):
    """Three channels in two groups, and a list of the shapes that were computed."""
    groups = {"RG": slice(0, 2), "B": slice(2, 3)}
    spec = SimpleNamespace(shrink=4, groups=groups, has_flow=False, computed=[])

    def record(pixels, threads, flow):
        spec.computed.append(pixels.shape[:2])
        return compute(pixels)

    spec.compute_checked = record
    return spec


# -- sizes -----------------------------------------------------------------------------------------


def test_golden_sizes():
    levels = scales((480, 640))
    assert [level.shape for level in levels] == GOLDEN
    assert sum(h * w for h, w in GOLDEN) == 1_913_232
    windows = sum((h // 4 + 4 - 16 + 1) * (w // 4 + 4 - 8 + 1) for h, w in GOLDEN)
    assert windows == 97_399  # of 16 x 8 cells, with two cells around the image
    assert [level.shape for level in scales((640, 480), min_shape=(20.5, 50))] == [shape[::-1] for shape in GOLDEN]


@given(
    height=st.integers(1, 900),
    width=st.integers(1, 900),
    per_octave=st.integers(1, 10),
    octaves_up=st.sampled_from([0, 0.5, 1, 2]),
    shrink=st.sampled_from([2, 4, 8]),
)
@quick
def test_sizes_are_whole_cells_near_the_octaves(height, width, per_octave, octaves_up, shrink):
    levels = scales((height, width), per_octave=per_octave, octaves_up=octaves_up, shrink=shrink)
    smallest = np.maximum((50, 20.5), 4 * shrink)
    assert bool(levels) == (min(np.array([height, width]) / smallest) * 2**octaves_up >= 1)
    for level in levels:
        octaves = (octaves_up - np.log2(level.scale)) * per_octave
        tolerance = 0.75 * shrink / min(height, width)  # half a cell of rounding and a quarter of moving
        assert abs(level.scale - 2 ** (octaves_up - round(octaves) / per_octave)) <= tolerance
        assert all(side % shrink == 0 for side in level.shape)
        assert np.all(np.abs(np.array(level.shape) - level.scale * np.array([height, width])) <= shrink / 2 + 1e-6)
        assert level.ratio == (level.shape[0] / height, level.shape[1] / width)
    steps = [level.scale for level in levels]
    assert steps == sorted(steps, reverse=True) and len(set(steps)) == len(steps)


def test_an_image_smaller_than_the_window_has_no_level():
    assert scales((49, 640)) == [] and scales((480, 20)) == []
    assert list(channel_pyramid(draw(0, 1, 1), fake_spec())) == []


def test_octaves_up_enlarge():
    levels = scales((96, 128), octaves_up=1)
    assert levels[0].shape == (192, 256) and levels[0].ratio == (2, 2)
    assert (96, 128) in [level.shape for level in levels]


# -- resampling ------------------------------------------------------------------------------------


@given(
    seed=seeds,
    old=st.tuples(sides, sides),
    new=st.tuples(sides, sides),
    n=st.sampled_from([1, 3, 4, 11]),
    dtype=st.sampled_from([np.uint8, np.float32]),
)
@quick
def test_resize(seed, old, new, n, dtype):
    pixels = draw(seed, *old, n, dtype)
    resized, expected = resize(pixels, new, HERE), reference.resize(pixels, new)
    assert resized.shape == (*new, n) and resized.dtype == dtype
    np.testing.assert_allclose(resized, expected, atol=0.501 if dtype == np.uint8 else 1e-6)


def test_halves_and_quarters_are_means():
    pixels = draw(0, 16, 24, 3, np.float32)
    for factor in (2, 4):
        expected = pixels.reshape(16 // factor, factor, 24 // factor, factor, 3).mean(axis=(1, 3))
        np.testing.assert_allclose(resize(pixels, (16 // factor, 24 // factor), HERE), expected, atol=1e-6)


@pytest.mark.parametrize("shape", [(7, 9), (50, 61)])
def test_white_stays_white(shape):
    white = np.full((23, 31, 3), 255, dtype=np.uint8)
    assert (resize(white, shape, HERE) == 255).all()
    np.testing.assert_allclose(resize(white.astype(np.float32) / 255, shape, HERE), 1, rtol=1e-6)


def test_same_size_is_no_copy():
    pixels = draw(0, 9, 9)
    assert resize(pixels, (9, 9), HERE) is pixels


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_and_builds_resize_to_the_same_bits(monkeypatch, n_jobs):
    monkeypatch.setattr(parallel, "WORTH_A_THREAD", 1)
    for pixels in (draw(1, 61, 47), draw(1, 20, 30, 7, np.float32)):
        one = resize(pixels, (37, 40), HERE)
        for build in (baseline, chosen("pooling")):
            monkeypatch.setattr(module, "kernels", build)
            with Threads(n_jobs) as threads:
                np.testing.assert_array_equal(resize(pixels, (37, 40), threads), one)


# -- channels --------------------------------------------------------------------------------------


def test_each_level_is_the_channels_of_the_resized_image():
    image, spec = draw(2, 120, 160), fake_spec()
    levels = list(channel_pyramid(image, spec, per_octave=4))
    assert spec.computed == [level.shape for level in scales((120, 160), per_octave=4)]
    for level, shape in zip(levels, spec.computed, strict=True):
        assert level.shape == shape
        np.testing.assert_array_equal(level.channels, block_means(resize(image, level.shape, HERE)))


def test_white_floats_are_white_at_every_size():
    for level in channel_pyramid(np.ones((200, 170, 3), dtype=np.float32), fake_spec(), octaves_up=1):
        assert (level.channels == 1).all()


@pytest.mark.parametrize("step", [2, 3, 8, 100])
def test_approximated_levels_come_from_the_nearest_computed_one(step):
    image, lambdas = draw(3, 240, 320), {"RG": 0.2, "B": -0.1}
    spec, all_levels = fake_spec(), scales((240, 320))
    levels = list(channel_pyramid(image, spec, n_approximated=step - 1, lambdas=lambdas))
    assert [level.shape for level in levels] == [level.shape for level in all_levels]
    assert spec.computed == [level.shape for level in all_levels[::step]]
    computed = np.arange(0, len(levels), step)
    for i, level in enumerate(levels):
        source = levels[computed[np.argmin(np.abs(computed - i))]]
        shape = tuple(side // 4 for side in level.shape)
        gains = (level.scale / source.scale) ** -np.array([0.2, 0.2, -0.1])
        np.testing.assert_allclose(level.channels, resize(source.channels, shape, HERE) * gains, rtol=1e-6)


def test_approximation_needs_the_exponent_of_every_group():
    for lambdas in (None, {"RG": 0.1}):
        with pytest.raises(ValueError, match=r"lambdas must hold the groups RG, B .* estimate_lambdas\(images, spec\)"):
            channel_pyramid(draw(0, 64, 64), fake_spec(), n_approximated=7, lambdas=lambdas)


def test_other_objects_than_images_are_refused_at_once():
    with pytest.raises(ValueError, match="Expected an image"):
        channel_pyramid("photo.png", fake_spec())


def test_one_level_at_a_time_is_in_memory():
    image, spec = draw(4, 960, 1280), fake_spec(lambda pixels: np.zeros((1, 1, 3), dtype=np.float32))
    tracemalloc.start()
    for _ in channel_pyramid(image, spec):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.1 * image.nbytes  # the second level, and the third while it stands in for it


# -- power laws ------------------------------------------------------------------------------------


def power_law(exponents, sharper=1.0):
    """Compute channels whose means follow s^-lambda of an image 256 pixels high, the first level times `sharper`."""

    def compute(pixels):
        scale = pixels.shape[0] / 256
        means = scale ** -np.array(exponents) * (sharper if scale == 1 else 1)
        return np.full((pixels.shape[0] // 4, pixels.shape[1] // 4, 3), pixels.mean() * means, dtype=np.float32)

    return compute


@pytest.mark.parametrize("sharper", [1.0, 1.5])
def test_exponents_are_found(sharper):
    """Also if the image itself, which is not resampled, is sharper than its levels."""
    images = [np.full((256, width, 3), level, dtype=np.uint8) for width, level in [(256, 200), (128, 90), (320, 60)]]
    lambdas = estimate_lambdas(images, fake_spec(power_law([0.3, 0.3, -0.2], sharper)))
    assert lambdas == pytest.approx({"RG": 0.3, "B": -0.2}, abs=2e-3)


def test_images_of_tiny_means_are_left_out():
    def compute(pixels):
        dark = pixels.max() == 0
        return power_law([2, 2, 2] if dark else [0.1, 0.1, 0.1])(pixels + np.float32(0.001))

    images = [np.zeros((256, 256, 3), np.uint8), np.full((256, 256, 3), 200, np.uint8)]
    assert estimate_lambdas(images, fake_spec(compute)) == pytest.approx({"RG": 0.1, "B": 0.1}, abs=2e-3)


@pytest.mark.parametrize("mean", [0, -1])
def test_groups_without_positive_means_do_not_change(mean):
    spec = fake_spec(lambda pixels: np.full((4, 4, 3), mean, dtype=np.float32))
    assert estimate_lambdas([draw(0, 128, 128)], spec) == {"RG": 0, "B": 0}


def test_means_of_colours_do_not_change():
    lambdas = estimate_lambdas([draw(seed, 128, 160) for seed in range(3)], fake_spec())
    assert lambdas == pytest.approx({"RG": 0, "B": 0}, abs=2e-3)


@pytest.mark.parametrize(
    "images, message",
    [
        ([], "images holds no image"),
        ([draw(0, 64, 64), draw(0, 63, 200)], r"Image 1 has 63 x 200 pixels; at least 64 are needed"),
        ([None], "Expected an image"),
    ],
)
def test_bad_images_for_the_estimate(images, message):
    with pytest.raises(ValueError, match=message):
        estimate_lambdas(images, fake_spec())


@pytest.mark.parametrize("shape", [(37, 50), (20, 31), (9, 12), (60, 75)])
@pytest.mark.parametrize("radius", [0.5, 1.0])
def test_smoothed_resampling_is_resampling_and_smoothing(shape, radius):
    """In one pass what two passes do; the border repeats itself."""
    pixels = np.random.RandomState(0).uniform(size=(37, 50, 3)).astype(np.float32)
    middle = 12 / (radius * (radius + 2)) - 2
    expected = resize(pixels, shape, Threads(1)).astype(np.float64)
    for axis in (0, 1):
        expected = correlate1d(expected, np.array([1, middle, 1]) / (2 + middle), axis=axis, mode="nearest")
    np.testing.assert_allclose(resize(pixels, shape, Threads(1), radius), expected, atol=2e-6)


@pytest.mark.parametrize("smooth", [0.0, 0.5])
@pytest.mark.parametrize("shape", [(12, 40), (37, 50), (52, 68)])
@pytest.mark.parametrize("padding", [(0, 0), (3, 5), (60, 0), (0, 80)])
def test_the_border_of_a_level_is_repeated(monkeypatch, smooth, shape, padding):
    pixels = draw(5, 37, 50)
    expected = np.pad(resize(pixels, shape, HERE, smooth), (*[[p, p] for p in padding], [0, 0]), "edge")
    for build in (baseline, chosen("pooling")):
        monkeypatch.setattr(module, "kernels", build)
        level = level_pixels(pixels, shape, HERE, smooth, padding)
        assert level.dtype == np.uint8
        np.testing.assert_array_equal(level, expected)


# -- mistakes of callers ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"per_octave": 0}, "per_octave must be a finite number, larger than 0 and at most 64; got 0"),
        ({"per_octave": 65}, "at most 64; got 65"),
        ({"n_approximated": -3}, "n_approximated must be an integer, 0 or larger; got -3"),
        ({"octaves_up": np.inf}, "octaves_up is inf; for an image of 19200 pixels it may be at most 7.2"),
        ({"octaves_up": 20}, "at most 400 million pixels"),
        ({"octaves_up": np.nan}, "octaves_up must be a number"),
        ({"octaves_up": -np.inf}, "octaves_up is -inf"),
        ({"min_shape": (0, 20)}, "min_shape must be a finite number, larger than 0; got 0"),
    ],
)
def test_pyramids_refuse_what_makes_no_levels(arguments, message):
    with pytest.raises(ValueError, match=message):
        channel_pyramid(np.zeros((120, 160, 3), dtype=np.uint8), ChannelSpec.parse("LUV"), **arguments)


def test_an_image_may_be_as_large_as_it_is():
    assert scales((40_000, 20_000))[0].shape == (40_000, 20_000)


@pytest.mark.parametrize("name", ["per_octave", "n_octaves"])
@pytest.mark.parametrize("value", [0, -1, 65, 1.5])
def test_power_laws_refuse_numbers_of_scales(name, value):
    with pytest.raises(ValueError, match=f"{name} must be an integer"):
        estimate_lambdas([np.zeros((128, 128, 3), dtype=np.uint8)], ChannelSpec.parse("LUV"), **{name: value})
