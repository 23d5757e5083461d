"""Image files to RGB: every mode and bit depth, turned and spoilt ones."""

import io
import warnings

import numpy as np
import pytest
from PIL import Image

from paucens.images import as_rgb, read_grey, read_rgb, resampled_part

RNG = np.random.RandomState(0)
RGB = RNG.randint(256, size=(5, 7, 3)).astype(np.uint8)
GREY = RGB[..., 0]


def saved(tmp_path, image, name="a.png", **options):
    image.save(tmp_path / name, **options)
    return tmp_path / name


def test_rgb_and_grey(tmp_path):
    image = read_rgb(saved(tmp_path, Image.fromarray(RGB)))
    assert image.dtype == np.uint8 and image.flags.c_contiguous
    np.testing.assert_array_equal(image, RGB)
    np.testing.assert_array_equal(read_rgb(saved(tmp_path, Image.fromarray(GREY))), np.stack([GREY] * 3, axis=2))
    bits = read_rgb(saved(tmp_path, Image.fromarray(GREY > 99)))
    np.testing.assert_array_equal(bits[..., 1], 255 * (GREY > 99))


def test_opacity_is_dropped_and_hides_nothing(tmp_path):
    opacity = RNG.randint(256, size=(5, 7, 1)).astype(np.uint8)
    opacity[0] = 0
    image = Image.fromarray(np.concatenate([RGB, opacity], axis=2))
    np.testing.assert_array_equal(read_rgb(saved(tmp_path, image)), RGB)
    image = Image.fromarray(np.concatenate([GREY[..., None], opacity], axis=2), "LA")
    np.testing.assert_array_equal(read_rgb(saved(tmp_path, image))[..., 2], GREY)


def test_palettes(tmp_path):
    image = Image.fromarray(GREY % 4)
    image.putpalette([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120])
    expected = np.array([[10, 20, 30], [40, 50, 60], [70, 80, 90], [100, 110, 120]])[GREY % 4]
    np.testing.assert_array_equal(read_rgb(saved(tmp_path, image)), expected)
    np.testing.assert_array_equal(read_rgb(saved(tmp_path, image, transparency=1)), expected)


def test_cmyk(tmp_path):
    flat = Image.new("CMYK", (7, 5), (0, 255, 255, 0))
    for name, tolerance in (("a.tif", 0), ("a.jpg", 3)):
        image = read_rgb(saved(tmp_path, flat, name)).astype(int)
        assert abs(image - [255, 0, 0]).max() <= tolerance


@pytest.mark.parametrize("name", ["a.png", "a.tif"])
def test_the_upper_8_of_16_bits_remain(tmp_path, name):
    deep = RNG.randint(65536, size=(5, 7)).astype(np.uint16)
    image = read_rgb(saved(tmp_path, Image.fromarray(deep), name))
    np.testing.assert_array_equal(image, np.stack([deep >> 8] * 3, axis=2))
    with pytest.raises(ValueError, match=r"mode I.*expected 8 bits per channel"):
        read_grey(tmp_path / name)


@pytest.mark.parametrize(
    ("values", "mode"),
    [
        pytest.param(np.float32([[0.5]]), "F", id="floats"),
        pytest.param(np.int32([[70000]]), "I", id="more than 16 bits"),
        pytest.param(np.int32([[0, 127, 255]]), "I", id="bytes in 32 bits, whose upper 8 of 16 are black"),
        pytest.param(np.int32([[-1]]), "I", id="negative"),
    ],
)
def test_floats_and_32_bits_are_refused_by_name(tmp_path, values, mode):
    file = saved(tmp_path, Image.fromarray(values), "a.tif")
    for read, bits in ((read_rgb, "8 or 16 bits"), (read_grey, "8 bits")):
        with pytest.raises(ValueError, match=rf"a\.tif cannot be read as .*: mode {mode}; expected {bits}") as error:
            read(file)
        assert "does not say which value is white" in str(error.value) and "damaged" not in str(error.value)


def test_16_bits_that_pillow_widens(tmp_path):
    """It reads 16-bit PGM as 32 bits, scaled to 65535."""
    (tmp_path / "a.pgm").write_bytes(b"P5 3 1 1000\n" + np.array([0, 500, 1000], ">u2").tobytes())
    assert read_rgb(tmp_path / "a.pgm")[0, :, 0].tolist() == [0, 128, 255]


def test_advice_for_deep_pil_images_keeps_their_levels(tmp_path):
    deep = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    image = Image.fromarray(deep)
    with pytest.raises(ValueError, match=r"mode I;16; expected RGB or L\..*paucens\.images\.read_rgb") as error:
        as_rgb(image)
    advice = str(error.value).rsplit("file: ", 1)[1].removesuffix(".")
    np.testing.assert_array_equal(as_rgb(eval(advice))[..., 0], deep >> 8)
    with pytest.raises(ValueError, match=r"read as an image: mode I;16.*paucens\.images\.read_rgb reads 16 bits"):
        read_grey(saved(tmp_path, image))
    np.testing.assert_array_equal(read_rgb(tmp_path / "a.png")[..., 0], deep >> 8)
    for values in (np.float32([[0, 0.5]]), np.int32([[0, 500]])):
        with pytest.raises(ValueError, match=r"Divide by the value of white, and pass the floats"):
            as_rgb(Image.fromarray(values))
    with pytest.raises(ValueError, match=r"mode RGBA; expected RGB or L\. Convert it: image\.convert\('RGB'\)"):
        as_rgb(Image.new("RGBA", (2, 2)))


@pytest.mark.parametrize("mode", ["RGB", "L", "P", "RGBA", "1", "CMYK", "I;16"])
def test_images_can_be_changed(tmp_path, mode):
    """Arrays are the caller's own, whatever was decoded; changing one changes no other."""
    image = Image.fromarray(GREY.astype(np.uint16)) if mode == "I;16" else Image.fromarray(RGB).convert(mode)
    file = saved(tmp_path, image, "a.tif")
    for read in [read_rgb, read_grey][: 1 if mode == "I;16" else 2]:
        first, second = read(file), read(file)
        first[...] = 7
        np.testing.assert_array_equal(read(file), second)


@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_arrays_of_pil_images_can_be_changed(mode):
    image = Image.fromarray(RGB).convert(mode)
    before, pixels = np.array(image), as_rgb(image)
    pixels[...] = 7
    np.testing.assert_array_equal(image, before)


def test_arrays_of_the_right_form_are_not_copied():
    assert as_rgb(RGB) is RGB
    fixed = RGB.copy()
    fixed.flags.writeable = False
    assert as_rgb(fixed) is fixed


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_applied(tmp_path, orientation):
    turned = {
        1: RGB,
        2: RGB[:, ::-1],
        3: RGB[::-1, ::-1],
        4: RGB[::-1],
        5: RGB.swapaxes(0, 1),
        6: np.rot90(RGB, -1),
        7: RGB[::-1, ::-1].swapaxes(0, 1),
        8: np.rot90(RGB),
    }[orientation]
    exif = Image.Exif()
    exif[0x0112] = orientation
    np.testing.assert_array_equal(read_rgb(saved(tmp_path, Image.fromarray(RGB), exif=exif)), turned)
    grey = turned[..., 0]
    np.testing.assert_array_equal(read_grey(saved(tmp_path, Image.fromarray(GREY), exif=exif)), grey)
    np.testing.assert_array_equal(read_grey(tmp_path / "a.png", upright=False), GREY)
    image = Image.open(tmp_path / "a.png")
    np.testing.assert_array_equal(as_rgb(image)[..., 1], grey)
    assert image.size == (7, 5)  # the caller's image is not turned


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
@pytest.mark.parametrize("read", [read_rgb, read_grey])
@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "TIFF", "GIF"])
def test_every_cut_is_an_image_or_an_error_that_names_the_file(tmp_path, form, read):
    stream = io.BytesIO()
    Image.fromarray(RNG.randint(256, size=(16, 16, 3)).astype(np.uint8)).save(stream, form)
    whole, file = stream.getvalue(), tmp_path / "cut.img"
    for length in {0, 1, 8, len(whole) // 3, len(whole) // 2, len(whole) - 40}:
        file.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"cut\.img cannot be read as an image: .* get it again"):
            read(file)


def test_too_many_pixels_for_pillow_are_refused_with_the_limit(tmp_path, monkeypatch):
    file = saved(tmp_path, Image.fromarray(RGB))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    with pytest.raises(ValueError, match=r"a\.png is too large: .*35 pixels.* raise PIL\.Image\.MAX_IMAGE_PIXELS"):
        read_rgb(file)


def test_a_palette_with_opacity_raises_no_warning(tmp_path):
    image = Image.fromarray(GREY % 4)
    image.putpalette([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120])
    file = saved(tmp_path, image, transparency=bytes([0, 9, 255, 7]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pixels = read_rgb(file)
        assert read_grey(file).shape == GREY.shape
    np.testing.assert_array_equal(pixels[..., 0], np.array([10, 40, 70, 100])[GREY % 4])


@pytest.mark.parametrize("read", [read_rgb, read_grey])
def test_warnings_as_errors_and_a_full_memory_do_not_blame_the_file(tmp_path, monkeypatch, read):
    file = saved(tmp_path, Image.fromarray(RGB))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(Image.DecompressionBombWarning):
            read(file)

    def exhausted(self, mode):
        raise MemoryError

    monkeypatch.undo()
    monkeypatch.setattr(Image.Image, "convert", exhausted)
    with pytest.raises(MemoryError):
        read(file)


def test_an_absent_file_is_absent(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_rgb(tmp_path / "a.png")


def test_rounding_is_no_other_range():
    assert as_rgb(np.full((2, 2), 1 + 1e-9)).max() == 1
    for value, shown in ((1 + 1e-6, r"1\.000001"), (255, "255"), (1e300, "inf"), (np.nan, "nan")):
        with pytest.raises(ValueError, match=f"floats go from .* to {shown}; expected"):
            as_rgb(np.full((2, 2), value, dtype=np.float64))


def test_a_part_is_resampled_with_its_edge_repeated():
    rgb = np.repeat(np.arange(40, dtype=np.uint8)[:, None, None] * np.ones((1, 30, 3), np.uint8), 1, axis=1)
    np.testing.assert_array_equal(resampled_part(rgb, (5, 10, 15, 30), (20, 10)), rgb[10:30, 5:15])
    above = resampled_part(rgb, (0, -4, 10, 6), (10, 10))
    assert above[:, 0, 0].tolist() == [0, 0, 0, 0, 0, 1, 2, 3, 4, 5]
    assert resampled_part(rgb, (0, 0, 30, 40), (4, 3)).shape == (4, 3, 3)
    with pytest.raises(ValueError, match=r"rectangle \[0, 0, 1000000, 5\] is too far outside an image of 40 x 30"):
        resampled_part(rgb, (0, 0, 1e6, 5), (4, 4))
