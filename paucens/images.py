"""Image files -> grey values, images of every allowed kind -> RGB, or an error that names what came."""

import io
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError


def read_grey(path) -> np.ndarray:
    """Decode an image file to 8-bit grey values.

    Parameters
    ----------
    path : path-like
        A file of any format that Pillow reads, of 8 bits a channel. Colours become
        (299 R + 587 G + 114 B) / 1000 (ITU-R 601).

    Returns
    -------
    image : ndarray of shape (height, width), uint8

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is cut short, damaged, no image, or of more than 8 bits a channel; the message names it.

    Examples
    --------
    >>> read_grey(__file__)
    Traceback (most recent call last):
    ...
    ValueError: ...images.py cannot be read as an image: no known format. ...
    """
    return _read(path, _grey)


def read_rgb(path) -> np.ndarray:
    """Decode an image file to 8-bit RGB, turned as its EXIF orientation says.

    Parameters
    ----------
    path : path-like
        A file of any format that Pillow reads: grey, palette, RGB, CMYK, 8 or 16 bits a channel. Opacity is dropped and
        the colours stay as they are stored, also where nothing of them would show; of 16 bits the upper 8 remain.

    Returns
    -------
    image : ndarray of shape (height, width, 3), uint8

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is cut short, damaged, no image, or of floats or 32 bits a channel, or has so many pixels that Pillow
        refuses it (by default above 179 million; above 89 it warns); the message names it.

    Examples
    --------
    >>> read_rgb(__file__)
    Traceback (most recent call last):
    ...
    ValueError: ...images.py cannot be read as an image: no known format. ...
    """
    return _read(path, _rgb)


def _read(path, convert):
    """Decode a file by `convert`, of a PIL image, or raise the error that names it."""
    raw = Path(path).read_bytes()
    try:
        with Image.open(io.BytesIO(raw)) as image:
            return convert(image)
    except UnidentifiedImageError as error:
        raise _unreadable(path, "no known format") from error
    except Image.DecompressionBombError as error:
        raise ValueError(
            f"{path} is too large: {error} Reduce it, or raise PIL.Image.MAX_IMAGE_PIXELS where you trust the file."
        ) from error
    except Exception as error:  # decoders also raise SyntaxError, struct.error and others
        raise _unreadable(path, error) from error


def _grey(image):
    if image.mode.startswith(("I", "F")):
        raise ValueError(f"mode {image.mode}; expected 8 bits a channel")
    return np.asarray(image.convert("L"))


def _rgb(image):
    image = ImageOps.exif_transpose(image)
    if image.mode.startswith(("I", "F")):
        image = Image.fromarray(_upper_bits(image))
    return np.asarray(image.convert("RGB"))


def _upper_bits(image):
    """Return the upper 8 of 16 bits, as Pillow itself does for 16-bit colours."""
    pixels = np.asarray(image)
    if image.mode == "F" or pixels.min() < 0 or pixels.max() > 65535:
        raise ValueError(f"mode {image.mode}; expected 8 or 16 bits a channel")
    return (pixels >> 8).astype(np.uint8)


def _unreadable(path, reason):
    return ValueError(
        f"{path} cannot be read as an image: {reason}. The file is cut short, damaged, or something else saved "
        "under this name (a web page, a Git LFS pointer); get it again."
    )


KINDS = "RGB (height, width, 3) or grey (height, width), uint8 or floats in [0, 1], or a PIL image of mode RGB or L"


def as_rgb(image) -> np.ndarray:
    """Return an image as RGB, the one form that everything behind this door takes.

    Parameters
    ----------
    image : ndarray of shape (height, width, 3) or (height, width), uint8 or float; or PIL image
        Bytes, or floats in [0, 1]. A PIL image has mode RGB or L; its EXIF orientation is applied.

    Returns
    -------
    rgb : ndarray of shape (height, width, 3), uint8 or float32, contiguous
        `image` itself where it is that already; grey values three times.

    Raises
    ------
    ValueError
        For anything else: other shapes (RGBA, stacks), other types (a path, 16 bits), floats outside of [0, 1], nan,
        no pixel. The message says what came and what to do.

    Examples
    --------
    >>> import numpy as np
    >>> as_rgb(np.array([[0, 255]], dtype=np.uint8)).tolist()
    [[[0, 0, 0], [255, 255, 255]]]
    >>> as_rgb(np.zeros((480, 640, 4), dtype=np.uint8))
    Traceback (most recent call last):
    ...
    ValueError: The image has 4 values a pixel, as RGBA has; ... Drop the opacity: image[..., :3].
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
        raise ValueError(f"The PIL image has mode {image.mode}; expected RGB or L. Convert it: image.convert('RGB').")
    return np.asarray(ImageOps.exif_transpose(image))


def _check_shape(pixels, image):
    if pixels.dtype.kind not in "uif":
        raise ValueError(f"An image is needed, {KINDS}; got {type(image).__name__} {image!r:.80}.")
    if pixels.ndim == 3 and pixels.shape[2] == 4:
        raise ValueError(
            f"The image has 4 values a pixel, as RGBA has; expected {KINDS}. Drop the opacity: image[..., :3]."
        )
    if pixels.ndim not in (2, 3) or pixels.shape[2:] not in ((), (3,)):
        raise ValueError(f"The image has shape {pixels.shape}; expected {KINDS}.")
    if pixels.size == 0:
        raise ValueError(f"The image has shape {pixels.shape}: no pixel. At least one is needed.")


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
            "Divide by the value of white."
        )
    return pixels
