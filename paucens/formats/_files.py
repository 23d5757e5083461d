"""Files of annotations and detections: one that is replaced as a whole, or a folder with one text per image."""

import io
import os
import re
from contextlib import contextmanager
from pathlib import Path

from paucens.datasets._files import damaged
from paucens.formats._boxes import stem_of
from paucens.persistence.disk import replacing

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".ppm", ".PNG", ".JPG", ".JPEG")
NOT_OF_IMAGES = {"readme", "classes"}  # stems of other texts that lie beside those of images
LAST_DIGITS = re.compile(r"[0-9]+$")


@contextmanager
def writing(path):
    """Open a text in UTF-8 that takes the place of `path` when the block ends, or nothing if it fails.

    A file that is open for writing, such as standard output, is given as it is.
    """
    if hasattr(path, "write"):
        yield path
        return
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        try:
            yield text
        finally:
            text.detach()  # which also writes what is left


def new_folder(path) -> Path:
    """Make a folder for texts of images; raise ValueError if it holds files, which could be mixed up with new ones."""
    folder = Path(path)
    if folder.is_dir() and any(folder.iterdir()):
        raise ValueError(
            f"{folder} is not empty. The texts of other images could be mixed up with new ones: give a new folder."
        )
    folder.mkdir(exist_ok=True)
    return folder


def write_text_of(folder, image, suffix, text):
    """Write the text of one image; raise ValueError if another one has the same name without folder and suffix."""
    file = folder / f"{stem_of(image)}{suffix}"
    try:
        with open(file, "x", encoding="utf-8", newline="") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise ValueError(
            f"{file} belongs to two images; in this format, names must differ without folder and suffix."
        ) from error


def texts_in(path, suffix):
    """Yield the texts of a folder by name, or the file itself; hidden files and lists of classes are left out."""
    path = Path(path)
    if not path.is_dir():
        yield path
        return
    names = sorted(name for name in os.listdir(path) if name.lower().endswith(suffix) and not name.startswith("."))
    for name in names:
        if Path(name).stem.lower() not in NOT_OF_IMAGES:
            yield path / name


def located(path, images, stem) -> Path:
    """Return the image of a stem: a file in the folder `images`, or the stem alone without such a folder.

    Raises
    ------
    ValueError
        If the folder has no such image; the message names the text that it belongs to.
    """
    if images is None:
        return Path(stem)
    for suffix in SUFFIXES:
        file = Path(images) / f"{stem}{suffix}"
        if file.is_file():
            return file
    raise damaged(path, f"its image {stem} is not in {images}, with any suffix out of {', '.join(SUFFIXES)}")


def joined(images, name) -> Path:
    """Return the path of an image in the folder `images`, or the name alone without such a folder."""
    return Path(name) if images is None else Path(images) / name


def number_of(image, first) -> int:
    """Return the number at the end of the name of an image, at least `first`.

    Raises
    ------
    ValueError
        If the name does not end in such a number.
    """
    digits = LAST_DIGITS.search(stem_of(image))
    if digits is None or not first <= int(digits[0]) < 2**53:
        raise ValueError(
            f"{image} must end in the number of its frame, {first} or larger: this format stores frames, not names."
        )
    return int(digits[0])


def check_ascending(image, number, before):
    """Raise ValueError unless the frame of an image comes after the one before."""
    if number <= before:
        raise ValueError(f"{image} is frame {number} and comes after frame {before}; write frames in ascending order.")
