"""ETH: sequences of a stereo camera on a pram (Ess, Leibe and Van Gool 2007), annotated in `.idl` files."""

import re
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from paucens.datasets._files import by_name, damaged, locate
from paucens.datasets._registry import DataSet
from paucens.datasets._text import NUMBER, bad_line, numbered_lines, numbers_of
from paucens.datasets.records import DetectionRecord, no_boxes

IMAGES, TRUTH = "left", "bahnhof-annot.idl"
N_FRAMES = 999
SUFFIXES = {".png", ".jpg", ".jpeg", ".webp"}
CORNERS = re.compile(r"\(([^()]*)\)")
PLACE = rf"\s*{NUMBER}\s*"
BOX = rf"\({PLACE},{PLACE},{PLACE},{PLACE}\)(?::{NUMBER})?"  # some writers add :score
LINE = re.compile(rf'"(?P<name>[^"]+)"\s*(?::\s*(?P<boxes>{BOX}(?:\s*,\s*{BOX})*)\s*)?[;.]?')
EXPECTED = '"image": (x1, y1, x2, y2), (x1, y1, x2, y2);'
FRAME = re.compile(r"image_(\d+)")


def load_eth_bahnhof(path=None) -> Bunch:
    """List the left images of the sequence Bahnhof that are on the disk, and their boxes.

    Parameters
    ----------
    path : path-like, default=None
        Folder that holds `ETH/BAHNHOF/` or its content. `$PAUCENS_DATA` and `./data` are searched next.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `test` : list of `DetectionRecord` in the order of the frames, with boxes of people of all heights. `frames` :
        their numbers. `missing` : numbers of the annotated frames without an image. `DESCR`.

    Raises
    ------
    FileNotFoundError
        If the set is not found anywhere; the message says where to get it.
    ValueError
        If the annotations cannot be read or do not cover 999 frames, or there is no image.

    Notes
    -----
    Annotations and images are joined by frame number: `left/image_00000011_0.png` of the annotations is
    `image_00000011.png` or `.jpg` on the disk. A part of the sequence is enough; state it with any number that is
    computed from it.

    Examples
    --------
    >>> from paucens.datasets import load_eth_bahnhof
    >>> bahnhof = load_eth_bahnhof()
    >>> len(bahnhof.test) + len(bahnhof.missing), bahnhof.test[0].boxes.shape[1]
    (999, 4)
    """
    folder, truth = locate(ABOUT, path)
    boxes = {_frame(name): boxes for name, boxes in read_idl(truth)}
    if len(boxes) != N_FRAMES:
        raise damaged(truth, f"it holds {len(boxes)} frames, expected {N_FRAMES}")
    images = by_name(folder, SUFFIXES, lambda file: frame if (frame := _frame(file.name)) >= 0 else None)
    frames = [frame for frame in sorted(boxes) if frame in images]
    if not frames:
        raise damaged(folder, f"it holds no image of a frame, {', '.join(sorted(SUFFIXES))}")
    return Bunch(
        test=[DetectionRecord(images[frame], boxes[frame]) for frame in frames],
        frames=frames,
        missing=[frame for frame in sorted(boxes) if frame not in images],
        DESCR=ABOUT.describe(),
    )


ABOUT = DataSet(
    name="eth_bahnhof",
    what="ETH-Bahnhof: up to 999 left frames of 640 x 480 pixels of one walk, with the boxes of the people. Not the "
    "paper's ETH test, which is three sequences of 1804 frames.",
    source="Sequence BAHNHOF (Setup 2) of Ess, Leibe, Schindler and Van Gool, "
    "https://data.vision.ee.ethz.ch/cvl/aess/dataset/; its left images into ETH/BAHNHOF/left/ and its annotations, "
    "bahnhof-annot.idl, beside that folder.",
    terms="None stated; research use, not passed on with this package.",
    check="Every line of the annotations, and that they cover 999 frames. Frames without an image are listed in "
    "`missing`.",
    loader=load_eth_bahnhof,
    folder="ETH/BAHNHOF",
    forms=((IMAGES, TRUTH),),
)


def read_idl(path) -> list[tuple[str, np.ndarray]]:
    """Read the boxes of an `.idl` file, one image per line.

    Parameters
    ----------
    path : path-like
        Text of lines such as `"left/image_00000001_0.png": (212, 204, 232, 261), (223, 181, 259, 285);`. A line
        without boxes is an image without people; a score after a box (`:0.5`) is ignored.

    Returns
    -------
    images : list of (str, ndarray of shape (g, 4), float64)
        Name as in the file, and boxes x, y, w, h. Corners are points in the plane, `w = |x2 - x1|`, in any order: 938
        boxes of the Bahnhof sequence have them swapped.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If a line is anything else, a number is beyond 9e15, or an image occurs twice; the message names file and line.
    """
    images = {}
    for number, line in numbered_lines(path):
        match = LINE.fullmatch(line)
        if match is None:
            raise bad_line(path, number, line, EXPECTED)
        if match["name"] in images:
            raise bad_line(path, number, line, "each image once")
        images[match["name"]] = _boxes(path, number, match["boxes"])
    return list(images.items())


def _boxes(path, number, text):
    """Convert "(x1, y1, x2, y2), ..." to boxes, whichever corners these are."""
    if text is None:
        return no_boxes()
    texts = ",".join(CORNERS.findall(text)).split(",")
    corners = np.array(numbers_of(path, number, texts, EXPECTED)).reshape(-1, 2, 2)
    low, high = corners.min(axis=1), corners.max(axis=1)
    return np.concatenate([low, high - low], axis=1)


def _frame(name):
    """Return the frame number in the name of an image, -1 if it has none."""
    match = FRAME.match(Path(name).name)
    return int(match[1]) if match else -1
