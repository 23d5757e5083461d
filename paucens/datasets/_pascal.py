"""Annotations in the text format PASCAL 1.00, which INRIA Person and Penn-Fudan use."""

import re
from dataclasses import dataclass

import numpy as np

from paucens._types import PathLike
from paucens.datasets._files import damaged
from paucens.datasets._text import NUMBER, bad_line, numbered_lines, numbers_of
from paucens.validation import check_integer

POINT = rf"\(\s*({NUMBER})\s*,\s*({NUMBER})\s*\)"
FILE_NAME = re.compile(r'Image filename\s*:\s*"(?P<name>[^"]+)"')
COUNT = re.compile(rf"Objects with ground truth\s*:\s*(?P<count>{NUMBER})\b")
ORIGIN = re.compile(rf"#\s*Top left pixel co-ordinates\s*:\s*{POINT}")
BOX = re.compile(rf'Bounding box for object \d+ "[^"]*"[^:]*:\s*{POINT}\s*-\s*{POINT}')
BOX_START = "Bounding box for object"


@dataclass(frozen=True, eq=False, slots=True)
class PascalAnnotation:
    """Content of a PASCAL text: `image_name`, and `boxes` (g, 4) as x, y, w, h, 0-based and continuous."""

    image_name: str
    boxes: np.ndarray


def read_pascal(path: PathLike, origin: int = 0) -> PascalAnnotation:
    """Read the boxes of an annotation file in the text format PASCAL 1.00.

    Parameters
    ----------
    path : path-like
    origin : int, default=0
        Number of the first pixel if the file has no line "Top left pixel co-ordinates": 0 in INRIA Person, 1 in
        Penn-Fudan and most others.

    Returns
    -------
    annotation : PascalAnnotation
        `image_name` as in the file, and `boxes` of shape (g, 4), float64: x, y, w, h, 0-based and continuous. Both
        corners in the file are pixels of the object, so that w = Xmax - Xmin + 1, also if they have decimals. Labels,
        centres and masks are ignored.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If a line or the number of objects does not fit the format, or a number is beyond 9e15; the message names file
        and line. If `origin` is neither 0 nor 1.
    """
    check_integer("origin", origin, 0, 1)
    lines = numbered_lines(path)
    name = _first(path, lines, FILE_NAME, 'Image filename : "..."')["name"]
    count = _first(path, lines, COUNT, "Objects with ground truth : ...")["count"]
    first_pixel = _first_pixel(path, lines) or [origin, origin]
    corners = [_corners(path, number, line) for number, line in lines if line.startswith(BOX_START)]
    if len(corners) != float(count):
        raise damaged(path, f"it announces {count:.20} objects and has {len(corners)} bounding boxes")
    boxes = np.array(corners, dtype=np.float64).reshape(-1, 4)
    boxes[:, 2:] += 1 - boxes[:, :2]  # the last pixel belongs to the box
    boxes[:, :2] -= first_pixel
    return PascalAnnotation(name, boxes)


def _first(path, lines, pattern, expected):
    match = next((match for _, line in lines if (match := pattern.match(line))), None)
    if match is None:
        raise damaged(path, f"no line reads {expected}")
    return match


def _first_pixel(path, lines):
    """Return the number of the first pixel, (x, y), or None if no line states it."""
    for number, line in lines:
        if match := ORIGIN.match(line):
            return numbers_of(path, number, match.groups(), "the numbers of the first pixel")
    return None


def _corners(path, number, line):
    match, expected = BOX.match(line), "it to end in (Xmin, Ymin) - (Xmax, Ymax)"
    if match is None:
        raise bad_line(path, number, line, expected)
    left, top, right, bottom = corners = numbers_of(path, number, match.groups(), expected)
    if right < left or bottom < top:
        raise bad_line(path, number, line, "Xmin <= Xmax and Ymin <= Ymax")
    return corners
