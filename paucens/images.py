"""Image files -> grey values, or an error that names the file."""

import io
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError


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
    raw = Path(path).read_bytes()
    try:
        return _decode(raw)
    except UnidentifiedImageError as error:
        raise _unreadable(path, "no known format") from error
    except Exception as error:  # decoders also raise SyntaxError, struct.error and others
        raise _unreadable(path, error) from error


def _decode(raw):
    with Image.open(io.BytesIO(raw)) as image:
        if image.mode.startswith(("I", "F")):
            raise ValueError(f"mode {image.mode}; expected 8 bits a channel")
        return np.asarray(image.convert("L"))


def _unreadable(path, reason):
    return ValueError(
        f"{path} cannot be read as an image: {reason}. The file is cut short, damaged, or something else saved "
        "under this name (a web page, a Git LFS pointer); get it again."
    )
