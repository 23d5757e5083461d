"""Image files, images of all allowed kinds and lists of them to RGB (or grey), or an error that says what was given."""

import functools
import io
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

MOST_PADDED = 400_000_000  # pixels
ORIENTATION, TURNED = 0x0112, range(5, 9)  # the EXIF tag, and those of its values that exchange width and height


def read_grey(path, *, upright=True) -> np.ndarray:
    """Decode an image file to 8-bit grey values and apply its EXIF orientation.

    Parameters
    ----------
    path : path-like
        A file of any format that Pillow reads, with 8 bits per channel. Colours become
        (299 R + 587 G + 114 B) / 1000 (ITU-R 601).
    upright : bool, default=True
        Whether to apply the EXIF orientation. False gives the pixels as they are stored.

    Returns
    -------
    image : ndarray of shape (height, width), uint8

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the file is cut short, damaged, not an image, too large for Pillow, or has more than 8 bits per channel; the
        message names it.

    Examples
    --------
    >>> read_grey(__file__)
    Traceback (most recent call last):
    ...
    ValueError: ...images.py cannot be read as an image: no known format. ...
    """
    return decode(Path(path).read_bytes(), path, functools.partial(_grey, upright=upright))


def read_rgb(path) -> np.ndarray:
    """Decode an image file to 8-bit RGB and apply its EXIF orientation.

    Parameters
    ----------
    path : path-like
        A file of any format that Pillow reads: grey, palette, RGB, CMYK, 8 or 16 bits per channel. Opacity is dropped;
        colours stay as they are stored, even if they are fully transparent. Of 16 bits the upper 8 are kept.

    Returns
    -------
    image : ndarray of shape (height, width, 3), uint8

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the file is cut short, damaged, not an image, has floats or 32 bits per channel, or has so many pixels that
        Pillow refuses it (by default above 179 million; above 89 million it warns); the message names it.

    Examples
    --------
    >>> read_rgb(__file__)
    Traceback (most recent call last):
    ...
    ValueError: ...images.py cannot be read as an image: no known format. ...
    """
    return decode(Path(path).read_bytes(), path, rgb_of)


def read_size(path) -> tuple[int, int]:
    """Return the height and width of the image that `read_rgb` makes of a file, without decoding its pixels.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    height, width : int

    Raises
    ------
    FileNotFoundError, ValueError
        As `read_rgb`, as far as the header tells.
    """
    with open(path, "rb") as file:
        return decode(file, path, _upright_size)


def _upright_size(image):
    across, down = image.size
    return (across, down) if image.getexif().get(ORIENTATION) in TURNED else (down, across)


def decode(raw, title, convert) -> np.ndarray:
    """Decode an image by `convert`, a function of a PIL image; `raw` is bytes or an open file.

    An error begins with the title.
    """
    try:
        with Image.open(io.BytesIO(raw) if isinstance(raw, bytes) else raw) as image:
            return convert(image)
    except (Warning, MemoryError):  # warnings as errors are the user's choice; neither blames the file
        raise
    except _OtherDepth as error:
        raise ValueError(f"{title} cannot be read as an image: {error}") from None
    except UnidentifiedImageError as error:
        raise _unreadable(title, "no known format") from error
    except Image.DecompressionBombError as error:
        raise ValueError(
            f"{title} is too large: {error} Reduce it, or raise PIL.Image.MAX_IMAGE_PIXELS if you trust the file."
        ) from error
    except Exception as error:  # decoders also raise SyntaxError, struct.error and others
        raise _unreadable(title, error) from error


class _OtherDepth(ValueError):
    """A whole image whose values are not of 8 (or 16) bits."""


def _grey(image, upright):
    if image.mode.startswith("I;16"):
        raise _OtherDepth(f"mode {image.mode}; expected 8 bits per channel. paucens.images.read_rgb reads 16 bits.")
    if image.mode.startswith(("I", "F")):
        raise _other_depth(image.mode, "8 bits")
    image.info.pop("transparency", None)  # opacity is dropped; Pillow would warn of a palette that has some
    if upright:
        ImageOps.exif_transpose(image, in_place=True)
    return np.array(image.convert("L"))  # a copy: what NumPy sees of a PIL image is read-only


def rgb_of(image) -> np.ndarray:
    """Convert an opened PIL image to upright RGB."""
    is_deep = image.mode.startswith(("I", "F"))
    if is_deep and not image.mode.startswith("I;16") and (image.mode, image.format) != ("I", "PPM"):
        raise _other_depth(image.mode, "8 or 16 bits")  # of PPM, Pillow widens 16 bits to 32
    image.info.pop("transparency", None)  # as in `_grey`
    ImageOps.exif_transpose(image, in_place=True)
    if is_deep:
        image = Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))  # as Pillow does with 16-bit colours
    return np.array(image.convert("RGB"))


def _other_depth(mode, expected):
    return _OtherDepth(
        f"mode {mode}; expected {expected} per channel. The file does not say which value is white: scale its values "
        "such that white is 255, and save them as 8 bits."
    )


def _unreadable(title, reason):
    return ValueError(
        f"{title} cannot be read as an image: {reason}. The file is cut short, damaged, or not an image (a web page, "
        "a Git LFS pointer); get it again."
    )


KINDS = "RGB (height, width, 3) or grey (height, width), uint8 or floats in [0, 1], or a PIL image of mode RGB or L"


def as_rgb(image) -> np.ndarray:
    """Return an image as RGB, bytes or floats, as `ChannelSpec.compute` takes it; see `as_bytes` for all sizes.

    Parameters
    ----------
    image : ndarray of shape (height, width, 3) or (height, width), uint8 or float; or PIL image
        Bytes, or floats in [0, 1]. A PIL image must have mode RGB or L; its EXIF orientation is applied.

    Returns
    -------
    rgb : ndarray of shape (height, width, 3), uint8 or float32, contiguous
        `image` itself if it has this form already. Grey values are repeated three times.

    Raises
    ------
    ValueError
        For anything else: other shapes (RGBA, stacks), other types (a path, 16 bits), floats outside [0, 1], nan, no
        pixels. The message says what was given and what to do.

    Examples
    --------
    >>> import numpy as np
    >>> as_rgb(np.array([[0, 255]], dtype=np.uint8)).tolist()
    [[[0, 0, 0], [255, 255, 255]]]
    >>> as_rgb(np.zeros((480, 640, 4), dtype=np.uint8))
    Traceback (most recent call last):
    ...
    ValueError: The image has 4 values per pixel, as RGBA has; ... Drop the opacity: image[..., :3].
    """
    pixels = _pixels_of_pil(image) if isinstance(image, Image.Image) else np.asarray(image)
    _check_shape(pixels, image)
    if pixels.dtype != np.uint8:
        pixels = _unit_floats(pixels)
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[..., None], 3, axis=2)
    return np.ascontiguousarray(pixels)


def _pixels_of_pil(image):
    if image.mode not in ("RGB", "L"):
        raise ValueError(f"The PIL image has mode {image.mode}; expected RGB or L. {_advice(image.mode)}")
    return np.array(ImageOps.exif_transpose(image))


def _advice(mode):
    if mode.startswith("I;16"):
        return (
            "Take the upper 8 of its 16 bits, as paucens.images.read_rgb does with a file: "
            "Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))."
        )
    if mode.startswith(("I", "F")):
        return "Divide by the value of white, and pass the floats: np.asarray(image) / white."
    return "Convert it: image.convert('RGB')."


def _check_shape(pixels, image):
    if pixels.dtype.kind not in "uif":
        raise ValueError(f"Expected an image, {KINDS}; got {type(image).__name__} {image!r:.80}.")
    if pixels.ndim == 3 and pixels.shape[2] == 4:
        raise ValueError(
            f"The image has 4 values per pixel, as RGBA has; expected {KINDS}. Drop the opacity: image[..., :3]."
        )
    if pixels.ndim not in (2, 3) or pixels.shape[2:] not in ((), (3,)):
        raise ValueError(f"The image has shape {pixels.shape}; expected {KINDS}.")
    if pixels.size == 0:
        raise ValueError(f"The image has shape {pixels.shape}: no pixels. At least one is needed.")


def _unit_floats(pixels):
    if pixels.dtype.kind != "f":
        raise ValueError(
            f"The image has values of type {pixels.dtype}; expected {KINDS}. Divide by the largest possible value, "
            "65535 for 16 bits."
        )
    with np.errstate(over="ignore"):
        pixels = pixels.astype(np.float32, copy=False)  # first, so that 1 + 1e-9 is white
    low, high = pixels.min(), pixels.max()
    if not (low >= 0 and high <= 1):  # false for nan too
        raise ValueError(
            f"The image's floats go from {low:.7g} to {high:.7g}; expected [0, 1], no nan. "
            "Divide by the value of white, 255 if they were bytes."
        )
    return pixels


def as_bytes(image) -> np.ndarray:
    """Return an image as RGB bytes, the one form that everything takes that looks at an image at several sizes.

    Parameters
    ----------
    image : ndarray or PIL image
        As for `as_rgb`. Floats are rounded to the nearest of the 256 values k / 255.

    Returns
    -------
    rgb : ndarray of shape (height, width, 3), uint8, contiguous
        `image` itself if it has this form already.

    Raises
    ------
    ValueError
        As `as_rgb`.

    Notes
    -----
    An image that is made smaller is rounded to bytes at each size. Without it, sums of weights that are 1 except for
    rounding would make flat places look uneven to channels that compare pixels, such as LBP. So an image and its floats
    have the same channels and the same detections, bit for bit, and finer values than 1 / 255 make no difference.

    Examples
    --------
    >>> import numpy as np
    >>> as_bytes(np.array([[0, 0.2, 0.2009, 1]]))[..., 0].tolist()
    [[0, 51, 51, 255]]
    """
    return to_bytes(as_rgb(image))


def to_bytes(rgb):
    """Round RGB floats, by `as_rgb`, to bytes; bytes are returned as they are."""
    if rgb.dtype == np.uint8:
        return rgb
    levels = 255 * rgb
    return np.rint(levels, out=levels).astype(np.uint8)


def resampled_part(rgb, corners, shape) -> np.ndarray:
    """Resample a rectangle of an image to a size; the edge of the image is repeated outside of it.

    Parameters
    ----------
    rgb : ndarray of shape (height, width, 3), uint8; or (height, width), uint8 or float32
    corners : tuple of float
        Left, top, right and bottom in pixels from 0, continuous.
    shape : tuple of int
        Height and width of the result.

    Returns
    -------
    part : ndarray of shape `(*shape, 3)`, uint8; or `shape`, of the same type

    Raises
    ------
    ValueError
        If the image with so much of its edge repeated would have more than 400 million pixels.
    """
    low, high = np.array(corners[:2]), np.array(corners[2:])
    margin = np.ceil(max(0, *-low, *(high - rgb.shape[1::-1])))
    if not np.prod(np.array(rgb.shape[:2]) + 2 * margin) <= MOST_PADDED:
        raise ValueError(
            f"The rectangle {[round(float(corner)) for corner in corners]} is too far outside an image of "
            f"{rgb.shape[0]} x {rgb.shape[1]} pixels to be cut out."
        )
    margin = int(margin)
    sides = ((margin, margin), (margin, margin), (0, 0))[: rgb.ndim]
    padded = Image.fromarray(np.pad(rgb, sides, mode="edge"))
    box = (*(low + margin).tolist(), *(high + margin).tolist())
    return np.array(padded.resize(shape[::-1], Image.Resampling.BILINEAR, box=box))


# -- lists of images -------------------------------------------------------------------------------


def pixels_of(source):
    """Return the RGB bytes of an image, given as a path or as `as_bytes` takes it."""
    return read_rgb(source) if isinstance(source, str | Path) else as_bytes(source)


def pixels_at(name, sources, k):
    """Return `pixels_of` image k of a list; an error names it."""
    try:
        return pixels_of(sources[k])
    except ValueError as error:
        raise ValueError(f"{name}[{k}]: {error}") from error


def check_sources(name, sources):
    """Raise ValueError unless `sources` is a list of images, for example if it is one image."""
    if not isinstance(sources, list | tuple) or len(sources) == 0:
        given = f"{type(sources).__name__}{f' of shape {sources.shape}' if hasattr(sources, 'shape') else ''}"
        raise ValueError(
            f"{name} must be a list of images or of files, at least one; got "
            f"{'an empty one' if isinstance(sources, list | tuple) else given}. Put a single image into a list."
        )
