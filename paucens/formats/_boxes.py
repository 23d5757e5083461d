"""What all formats share: checks of boxes, names and classes, numbers as text, images that come once."""

import re
from array import array
from pathlib import Path

import numpy as np

from paucens.datasets._files import damaged
from paucens.datasets._text import LARGEST
from paucens.validation import as_floats

COLUMNS = {4: "x, y, w, h", 5: "x, y, w, h, score"}
UNWRITABLE = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")  # in some format or other


def fault_of(boxes):
    """Say what is wrong with rows x, y, w, h and perhaps a score, None if nothing."""
    if not np.isfinite(boxes).all():
        return "a number is not finite"
    if (np.abs(boxes[:, :4]) > LARGEST).any():
        return f"a number is beyond {LARGEST:.0e}"
    return "a width or height is negative" if (boxes[:, 2:4] < 0).any() else None


def read_boxes(path, place, rows, n_columns) -> np.ndarray:
    """Convert rows of numbers from a file to boxes; an error names the file and the place in it."""
    expected = f"rows {COLUMNS[n_columns]} of numbers"
    try:
        boxes = as_floats("boxes", rows, expected)
    except ValueError:
        boxes = np.empty(1)
    if boxes.size == 0 and isinstance(rows, list):
        return np.empty((0, n_columns))
    fits = boxes.ndim == 2 and boxes.shape[1] == n_columns
    fault = fault_of(boxes) if fits else f"expected {expected}"
    if fault:
        raise damaged(path, f"{place} has the boxes {rows!r:.160}: {fault}")
    return boxes


def checked_detections(image, boxes) -> np.ndarray:
    """Return the detections of an image that are to be written; raise ValueError that names it."""
    boxes = as_floats(f"The detections of {image}", boxes, "rows x, y, w, h, score of numbers")
    if boxes.size == 0:
        return np.empty((0, 5))
    fits = boxes.ndim == 2 and boxes.shape[1] == 5
    fault = fault_of(boxes) if fits else f"shape {boxes.shape}; expected (k, 5), rows x, y, w, h, score"
    if fault:
        raise ValueError(f"The detections of {image} cannot be written: {fault}.")
    return boxes


def best_first(boxes) -> np.ndarray:
    """Sort detections by falling score; equal ones stay in order."""
    return boxes[np.argsort(-boxes[:, 4], kind="stable")]


def from_corners(corners) -> np.ndarray:
    """Convert rows left, top, right, bottom, and further columns, to rows x, y, w, h."""
    corners = np.asarray(corners, dtype=np.float64)
    return np.concatenate([corners[:, :2], corners[:, 2:4] - corners[:, :2], corners[:, 4:]], axis=1)


def text_of(number) -> str:
    """Write a number with as many digits as it takes to read the same one."""
    return repr(float(number)).removesuffix(".0")


def texts_of(numbers) -> list[str]:
    """Write numbers, see `text_of`."""
    return [text_of(number) for number in numbers]


# -- names -----------------------------------------------------------------------------------------


def name_of(image) -> str:
    """Return the path of an image as text, with forward slashes.

    Raises
    ------
    ValueError
        If it consists of pixels, or its name holds line ends or bytes that are not UTF-8.
    """
    if not isinstance(image, str | Path):
        raise ValueError(
            f"A file of annotations or detections names images; got {type(image).__name__}. Save the pixels to a file, "
            "and give its path."
        )
    return checked_text("The name of an image", Path(image).as_posix())


def stem_of(image) -> str:
    """Return the name of an image without folder and suffix; an error as of `name_of`, or if a folder hides it."""
    stem = Path(name_of(image)).stem
    if stem.startswith(".") or not stem or stem.lower() in ("readme", "classes"):
        raise ValueError(f"{image} has a name that is no name of an image in a folder; rename it.")
    return stem


def word_of(text) -> str:
    """Return a class or name; raise ValueError if it holds blanks, at which a format parts its lines."""
    if checked_text("A class or name", text).split() != [text]:
        raise ValueError(f"The format parts lines at blanks, so a class or name must have none; got {text!r}.")
    return text


def checked_text(what, text) -> str:
    """Return a text that every format can hold; raise ValueError for line ends, other signs, and blanks around it."""
    if text == "" or text != text.strip() or UNWRITABLE.search(text):
        raise ValueError(
            f"{what} must be text in UTF-8 without control characters, and without blanks around it; got {text!r}."
        )
    return text


class Once:
    """Notice images that come twice, of any number of images, in 16 bytes per image."""

    def __init__(self):
        self._hashes, self._numbers = array("q"), array("q")

    def add(self, name, number=None):
        """Note a name and the number of its line; by default names are counted from 0."""
        self._numbers.append(len(self._hashes) if number is None else number)
        self._hashes.append(hash(name))

    def first_repeated(self):
        """Return the numbers of the first two of the same name, None if there are none."""
        hashes = np.array(self._hashes)
        order = np.argsort(hashes, kind="stable")
        same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
        if len(same) == 0:
            return None
        second = min(same + 1, key=lambda k: order[k])
        return self._numbers[int(order[second - 1])], self._numbers[int(order[second])]

    @property
    def is_empty(self):
        """Whether no name was noted."""
        return len(self._hashes) == 0

    def check_file(self, path):
        """Raise ValueError that names the lines of an image that comes twice in a file."""
        if lines := self.first_repeated():
            raise damaged(
                path, f"lines {lines[0]} and {lines[1]} begin with the same image; the lines of one belong together"
            )

    def check_images(self):
        """Raise ValueError that names the positions, from 0, of an image that is written twice."""
        if images := self.first_repeated():
            raise ValueError(
                f"Images {images[0]} and {images[1]} have the same name; give each image once, with all its boxes."
            )
