"""An image and its floats: the same channels at all sizes, whatever the floats are, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paucens.datasets import synthetic_streets
from paucens.features import ChannelSpec, channel_pyramid, estimate_lambdas
from paucens.images import as_bytes, check_sources, pixels_of

ALL = "M+O+LUV+spCov+spLBP"
FORMS = {
    "float64": lambda image: image / 255,
    "float32": lambda image: image / np.float32(255),
    "float16": lambda image: (image / 255).astype(np.float16),
    "off the grid": lambda image: np.clip((image + 0.49 * (-1) ** np.arange(image.shape[1])[:, None]) / 255, 0, 1),
    "not contiguous": lambda image: (image[:, ::-1] / 255)[:, ::-1],
}


@pytest.fixture(scope="module")
def street():
    return synthetic_streets(1, seed=3)[0].image[100:260, 200:330].copy()


def bits_of(levels):
    return [(level.shape, level.channels.tobytes()) for level in levels]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("text", "preset"), [(ALL, "robust"), (ALL, "paper"), (ALL, "release"), ("M+O+LUV", "acf")])
def test_floats_have_the_channels_of_their_bytes_at_all_sizes(street, form, text, preset):
    spec, floats = ChannelSpec.parse(text, preset=preset), FORMS[form](street)
    of_bytes = bits_of(channel_pyramid(street, spec, per_octave=3, octaves_up=0.5))
    assert bits_of(channel_pyramid(floats, spec, per_octave=3, octaves_up=0.5)) == of_bytes and len(of_bytes) > 4


@pytest.mark.parametrize("level", [1, 94, 200, 254])
def test_all_neighbours_of_a_flat_image_are_alike(level):
    """No pixel of a flat image is brighter than another, at any size: the share of "all or none" is 1."""
    flat, spec = np.full((120, 160, 3), level, dtype=np.uint8), ChannelSpec.parse("LBP")
    channel = spec.names.index("lbp8 all-or-none")
    for image in (flat, flat / 255, flat[..., 0] / 255):
        for found in channel_pyramid(image, spec, per_octave=4):
            inside = found.channels[3:-3, 3:-3, channel]
            assert (inside == 1).all()


def test_grey_floats_have_the_channels_of_grey_bytes(street):
    spec, grey = ChannelSpec.parse(ALL), street[..., 1]
    of_bytes = bits_of(channel_pyramid(grey, spec, per_octave=2))
    assert bits_of(channel_pyramid(grey / 255, spec, per_octave=2)) == of_bytes
    assert bits_of(channel_pyramid(np.repeat(grey[..., None], 3, axis=2), spec, per_octave=2)) == of_bytes


def test_power_laws_of_floats_are_those_of_bytes(street):
    spec = ChannelSpec.parse(ALL)
    lambdas = estimate_lambdas([street], spec, per_octave=2, n_octaves=1)
    assert estimate_lambdas([street / 255], spec, per_octave=2, n_octaves=1) == lambdas
    approximated = {"per_octave": 3, "n_approximated": 2, "lambdas": lambdas}
    of_bytes = bits_of(channel_pyramid(street, spec, **approximated))
    assert bits_of(channel_pyramid(street / 255, spec, **approximated)) == of_bytes


@pytest.mark.parametrize(("text", "preset"), [(ALL, "robust"), (ALL, "paper"), (ALL, "release")])
def test_one_image_is_not_rounded_before_its_channels_are_computed(street, text, preset):
    """On the grid of bytes they are the same; off it, finer values count at the size of the image."""
    spec = ChannelSpec.parse(text, preset=preset)
    np.testing.assert_array_equal(spec.compute(street / 255), spec.compute(street))
    assert not np.array_equal(spec.compute(FORMS["off the grid"](street)), spec.compute(street))


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=30))
@settings(deadline=None, derandomize=True)
def test_bytes_are_the_nearest_255ths(values):
    floats = np.array([values])
    found = as_bytes(floats)
    assert found.dtype == np.uint8 and found.flags.c_contiguous and (found == found[..., :1]).all()
    assert np.abs(255 * floats - found[..., 0]).max() <= 0.5 + 255 * 2**-24  # floats are single precision first
    np.testing.assert_array_equal(as_bytes(floats.astype(np.float32)), found)


def test_bytes_stay_as_they_are():
    every = np.arange(256, dtype=np.uint8)[None]
    for kind in (np.float16, np.float32, np.float64, np.longdouble):
        np.testing.assert_array_equal(as_bytes((every / 255).astype(kind))[..., 2], every)
    rgb = np.repeat(every[..., None], 3, axis=2)
    assert as_bytes(rgb) is rgb and pixels_of(rgb) is rgb
    np.testing.assert_array_equal(pixels_of(rgb / 255), rgb)


@pytest.mark.parametrize("image", [np.full((40, 40, 3), 94.0), np.arange(1600.0).reshape(40, 40) / 1599 * 255])
def test_floats_up_to_255_are_refused_with_what_to_do(image):
    for call in (as_bytes, lambda image: channel_pyramid(image, ChannelSpec.parse("LUV"))):
        with pytest.raises(
            ValueError, match=r"go from .* expected \[0, 1\], no nan\. Divide .* white, 255 if they were"
        ):
            call(image)


@pytest.mark.parametrize(
    ("sources", "given"),
    [
        (np.zeros((40, 40, 3), np.uint8), r"ndarray of shape \(40, 40, 3\)"),
        (np.array(1), r"ndarray of shape \(\)"),
        ("street.png", "str"),
        (7, "int"),
        ([], "an empty one"),
    ],
)
def test_what_is_no_list_of_images_is_named(sources, given):
    with pytest.raises(ValueError, match=f"crops must be a list of images .* got {given}. Put a single image into a"):
        check_sources("crops", sources)
