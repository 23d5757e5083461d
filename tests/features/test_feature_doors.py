"""What is no number, or a number out of range, at the doors of the features: an error that names it, or right results.

Numbers of every library count alike.
"""

import warnings
from fractions import Fraction

import numpy as np
import pytest

from paucens.features import Centrist, ChannelSpec, census_images, channel_pyramid, channels, estimate_lambdas, scales
from paucens.features.hog import cell_lbp
from paucens.features.pyramid import resize
from paucens.parallel import Threads

SPEC = ChannelSpec.parse("M+O+LUV")
IMAGE = np.random.default_rng(0).integers(256, size=(80, 96, 3)).astype(np.uint8)
HUGE = 10**400
NO_NUMBERS = [np.nan, np.inf, -np.inf, True, np.True_, "1", b"1", None, [1], np.array([1, 2]), 1j, HUGE, {}]
NO_JOBS = [np.nan, np.inf, True, np.True_, "2", 0, 1.5, [1], np.float32(2), Fraction(2)]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def pyramid(**options):
    return list(channel_pyramid(IMAGE, SPEC, **options))


LAMBDAS = {"LUV": 0.0, "M": 0.1, "O": 0.1}


@pytest.mark.parametrize("value", [*NO_NUMBERS, -1, 0, 65, 1e308])
def test_numbers_of_sizes_per_octave(value):
    for call in (pyramid, lambda per_octave: scales((80, 96), per_octave=per_octave)):
        with pytest.raises(ValueError, match="per_octave must be a finite number, larger than 0 and at most 64; got"):
            call(per_octave=value)


@pytest.mark.parametrize("value", [*NO_NUMBERS, 1e308, 9])
def test_octaves_up(value):
    for call in (pyramid, lambda octaves_up: scales((80, 96), octaves_up=octaves_up)):
        with pytest.raises(
            ValueError, match=r"octaves_up (must be a number|is .*; for an image of 7680 pixels it may be)"
        ):
            call(octaves_up=value)


@pytest.mark.parametrize("value", [*(value for value in NO_NUMBERS if value is not None), 0, -1])
def test_sides_of_the_smallest_object(value):
    for min_shape in ((value, 20), (20, value), [value, value]):
        with pytest.raises(ValueError, match="min_shape must be a finite number, larger than 0; got"):
            pyramid(min_shape=min_shape)


@pytest.mark.parametrize("value", [*NO_NUMBERS, 0, -1, 1.5, np.float32(80)])
def test_sides_of_an_image_and_of_its_cells(value):
    for call in (lambda: scales((value, 80)), lambda: scales((80, value)), lambda: scales((80, 80), shrink=value)):
        with pytest.raises(ValueError, match=r"(shape|shrink) must be an integer, from 1"):
            call()


@pytest.mark.parametrize("value", [7, None, "ab.", (1,), (1, 2, 3), [4], np.array(1), np.ones(3), {1: 2, 3: 4}])
def test_height_and_width_are_two(value):
    for name in ("shape", "min_shape"):
        with pytest.raises(ValueError, match=rf"{name} must be height and width, such as \(480, 640\); got"):
            scales(**({"shape": (80, 80)} | {name: value}))


@pytest.mark.parametrize("value", [*(value for value in NO_NUMBERS if value is not HUGE), -1, -3, 1.5])
def test_numbers_of_approximated_levels(value):
    with pytest.raises(ValueError, match="n_approximated must be an integer, 0 or larger; got"):
        pyramid(n_approximated=value, lambdas=LAMBDAS)


@pytest.mark.parametrize("value", [*NO_NUMBERS, 11, -11, 1e308])
def test_exponents_of_power_laws(value):
    with pytest.raises(ValueError, match=r"lambdas\['M'\] must be a number in \[-10, 10\]; got"):
        pyramid(n_approximated=1, lambdas=LAMBDAS | {"M": value})


@pytest.mark.parametrize("value", [*NO_NUMBERS, {"M": 1}])
def test_exponents_are_named(value):
    with pytest.raises(ValueError, match="lambdas must hold the groups LUV, M, O"):
        pyramid(n_approximated=1, lambdas=value)


@pytest.mark.parametrize("value", [*NO_NUMBERS, 0, 65])
def test_scales_of_power_laws(value):
    for name in ("per_octave", "n_octaves"):
        with pytest.raises(ValueError, match=f"{name} must be an integer"):
            estimate_lambdas([IMAGE], SPEC, **{name: value})


def test_one_scale_tells_no_power_law():
    with pytest.raises(ValueError, match="per_octave and n_octaves are 1: one scale tells no power law"):
        estimate_lambdas([IMAGE], SPEC, per_octave=1, n_octaves=1)
    assert set(estimate_lambdas([IMAGE], SPEC, per_octave=2, n_octaves=1)) == {"LUV", "M", "O"}


@pytest.mark.parametrize("value", NO_JOBS)
@pytest.mark.parametrize(
    "call",
    [
        lambda n_jobs: SPEC.compute(IMAGE, n_jobs=n_jobs),
        lambda n_jobs: channel_pyramid(IMAGE, SPEC, n_jobs=n_jobs),
        lambda n_jobs: estimate_lambdas([IMAGE], SPEC, n_jobs=n_jobs),
        lambda n_jobs: cell_lbp(np.zeros((1, 128, 64, 3), np.uint8), n_jobs),
        lambda n_jobs: census_images([IMAGE[..., 0]], n_jobs),
        lambda n_jobs: Centrist(2, n_jobs=n_jobs).fit([IMAGE[..., 0]]),
    ],
    ids=["compute", "channel_pyramid", "estimate_lambdas", "cell_lbp", "census_images", "Centrist"],
)
def test_numbers_of_threads(call, value):
    with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0"):
        call(value)


@pytest.mark.parametrize("text", [7, None, ["M"], b"M", np.array(1)])
def test_names_of_channels(text):
    for arguments in ((text,), ("M", text)):
        if arguments != ("M", None):
            with pytest.raises(TypeError, match="Channels are named by a text such as 'M\\+O\\+LUV'"):
                ChannelSpec.parse(*arguments)


@pytest.mark.parametrize("images", [7, None, [], np.empty((0, 4, 4))])
def test_images_for_power_laws(images):
    with pytest.raises(ValueError, match="images holds no image; at least one is needed in a list"):
        estimate_lambdas(images, SPEC)


# -- right results ---------------------------------------------------------------------------------


def bits_of(levels):
    return [
        (level.scale, level.shape, None if level.channels is None else level.channels.tobytes()) for level in levels
    ]


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.float32, np.float64, Fraction])
def test_numbers_of_any_library_make_the_same_levels(kind):
    """Arithmetic in their types would be less precise: 1 / np.int8(8) has half precision."""
    expected = scales((480, 640), per_octave=8, octaves_up=1, min_shape=(50, 20))
    found = scales((480, 640), per_octave=kind(8), octaves_up=kind(1), min_shape=(kind(50), kind(20)))
    assert bits_of(found) == bits_of(expected)
    assert bits_of(pyramid(per_octave=kind(3))) == bits_of(pyramid(per_octave=3))


@pytest.mark.parametrize("kind", [np.int8, np.int64])
def test_integers_of_any_library_estimate_the_same(kind):
    expected = estimate_lambdas([IMAGE], SPEC, per_octave=8, n_octaves=2)
    assert estimate_lambdas([IMAGE], SPEC, per_octave=kind(8), n_octaves=kind(2), n_jobs=kind(1)) == expected
    options = {"lambdas": LAMBDAS, "per_octave": 4}
    assert bits_of(pyramid(n_approximated=kind(3), **options)) == bits_of(pyramid(n_approximated=3, **options))


def test_extremes_that_are_allowed():
    one = bits_of(scales((80, 96)))[:1]
    assert bits_of(scales((80, 96), per_octave=5e-324)) == one
    assert scales((80, 96), octaves_up=-1e308) == scales((80, 96), min_shape=(1e308, 1e308)) == []
    assert len(scales((80, 96), min_shape=(5e-324, 5e-324), per_octave=1)) == 3  # no level below 16 pixels
    assert len(pyramid(n_approximated=HUGE, lambdas=LAMBDAS)) == len(pyramid())
    assert len(scales((2**31 - 1, 2**31 - 1), per_octave=1)) == 26


@pytest.mark.parametrize("radius", [5e-324, 1e-310, 1e-200, 1e-31])
def test_radii_too_small_to_smooth_leave_pixels_as_they_are(radius):
    assert channels.triangle(radius).tolist() == [1, 0]
    with Threads(1) as one:
        np.testing.assert_array_equal(resize(IMAGE, (40, 44), one, radius), resize(IMAGE, (40, 44), one))
        np.testing.assert_array_equal(resize(IMAGE, (40, 44), one, 1e-20), resize(IMAGE, (40, 44), one))


@pytest.mark.parametrize("sides", [(75, 520), (102, 300), (480, 640), (333, 777), (138, 100)])
def test_an_object_as_large_as_the_image_has_a_level(sides):
    """Its octave, a sum of logarithms, is 0 except for rounding."""
    for target in (100.0, 96.0, 37.0):
        up = np.log2(target / sides[0])
        if sides[0] * 0.3 <= sides[1]:
            (level,) = scales(sides, octaves_up=up, min_shape=(target, 0.3 * target))
            assert abs(level.shape[0] - target) <= 4  # whole cells
