"""Annotations in the format of MOTChallenge, and the sequence TUD-Stadtmitte, which uses it."""

from typing import TYPE_CHECKING

import numpy as np

from paucens._types import PathLike
from paucens.datasets._files import damaged, locate
from paucens.datasets._registry import DataSet
from paucens.datasets._text import ANY_SIZE, bad_line, numbered_lines, numbers_of
from paucens.datasets.records import DetectionRecord

if TYPE_CHECKING:
    from sklearn.utils import Bunch

IMAGES, TRUTH = "img1", "gt/gt.txt"
N_FRAMES = 179
NUMBERS = "7 to 10 numbers between commas: frame, person, left, top, width, height"
LINE, DETECTION = f"{NUMBERS}, 0 or 1, ...", f"{NUMBERS}, score, ..."
PEDESTRIAN, LAST_KIND, NO_KIND = 1, 13, -1  # of the classes of MOT16 to MOT20


def load_tud_stadtmitte(path: PathLike | None = None) -> "Bunch":
    """List the 179 images of TUD-Stadtmitte and their boxes.

    Parameters
    ----------
    path : path-like, default=None
        Folder that holds `TUD-Stadtmitte/` or its content. `$PAUCENS_DATA` and `./data` are searched next.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `test` : list of 179 `DetectionRecord` with 1156 boxes of 10 people, including occluded ones. `DESCR`.

    Raises
    ------
    FileNotFoundError
        If the set is not found anywhere; the message says where to get it.
    ValueError
        If an image is missing, or the boxes cannot be read or belong to frames that do not exist.

    Examples
    --------
    >>> from paucens.datasets import load_tud_stadtmitte
    >>> stadtmitte = load_tud_stadtmitte()
    >>> len(stadtmitte.test), stadtmitte.test[0].boxes[0].round(2).tolist()
    (179, [87.0, 98.0, 61.08, 218.56])
    """
    from sklearn.utils import Bunch

    folder, truth = locate(ABOUT, path)
    images = [folder / f"{frame:06d}.jpg" for frame in range(1, N_FRAMES + 1)]
    missing = [file.name for file in images if not file.exists()]
    if missing:
        raise ValueError(
            f"{folder} lacks {len(missing)} of {N_FRAMES} images, {missing[0]} first. Get the set again: {ABOUT.source}"
        )
    rows = read_mot(truth)
    if rows.frame.size and rows.frame.max() > N_FRAMES:
        raise damaged(truth, f"it holds frame {rows.frame.max()}, expected 1 to {N_FRAMES}")
    records = [_record(file, rows, frame) for frame, file in enumerate(images, 1)]
    return Bunch(test=records, DESCR=ABOUT.describe())


ABOUT = DataSet(
    name="tud_stadtmitte",
    what="TUD-Stadtmitte: 179 frames of 640 x 480 pixels of a fixed camera in a street, 1156 boxes of 10 people. Not "
    "TUD-Brussels, which the paper tests on.",
    source="TUD-Stadtmitte (Andriluka, Roth and Schiele 2010) of MOTChallenge 2015, "
    "https://motchallenge.net/data/MOT15/; its folders img1/ and gt/ into TUD-Stadtmitte/.",
    terms="CC BY-NC-SA 3.0 as part of MOTChallenge; research use, not passed on with this package.",
    check="Every line of the boxes, and that all 179 images are there.",
    loader=load_tud_stadtmitte,
    folder="TUD-Stadtmitte",
    forms=((IMAGES, TRUTH),),
)


def _record(file, rows, frame):
    """Collect the boxes of one frame; rows with the flag 0 are ignored in evaluations."""
    here = rows.frame == frame
    return DetectionRecord(file, rows.boxes[here & rows.considered], rows.boxes[here & ~rows.considered])


def read_mot(path: PathLike) -> "Bunch":
    """Read the annotations of a sequence in the format of MOTChallenge, `gt.txt`.

    Parameters
    ----------
    path : path-like
        Text. A line is 7 to 10 numbers, as many as the first one: frame, person, left, top, width, height, a flag; then
        nothing, or a place in the world (MOT15: 10 numbers), or a class and a visibility (MOT16 to MOT20: 8 or 9).

    Returns
    -------
    rows : sklearn.utils.Bunch
        In the order of the lines. `frame`, from 1, and `person`, (k,), int64. `boxes` (k, 4), float64: x, y, w, h,
        0-based (the file counts pixels from 1). `considered` (k,), bool: the flag; False means ignored. `kind` (k,),
        int64: the class, 1 to 13. 1 is a pedestrian, and so is everybody in files without classes and in
        lines whose class is -1, unknown.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If a line is anything else, or a number is beyond 9e15; the message names file and line.
    """
    from sklearn.utils import Bunch  # slow to import, and formats need other things of this module

    lines = [(number, line, line.split(",")) for number, line in numbered_lines(path)]
    rows = np.array([_row(path, *line, len(lines[0][2])) for line in lines]).reshape(-1, 8)
    return Bunch(
        frame=rows[:, 0].astype(np.int64),
        person=rows[:, 1].astype(np.int64),
        boxes=rows[:, 2:6] - [1, 1, 0, 0],
        considered=rows[:, 6] == 1,
        kind=rows[:, 7].astype(np.int64),
    )


def _row(path, number, line, texts, n_columns):
    """Return the first seven numbers of a line and its class."""
    _check_count(path, number, line, texts, LINE)
    if len(texts) != n_columns:
        raise bad_line(path, number, line, f"{n_columns} numbers between commas as in the first line")
    row = numbers_of(path, number, texts, LINE)
    _check_place(path, number, line, row, LINE)
    if row[6] not in (0, 1):
        raise bad_line(path, number, line, f"{LINE}; 0 or 1 as the seventh number")
    kind = row[7] if n_columns in (8, 9) and row[7] != NO_KIND else PEDESTRIAN
    if kind not in range(1, LAST_KIND + 1):
        raise bad_line(path, number, line, f"a class from 1 to {LAST_KIND} as the eighth number, or -1 for none")
    return [*row[:7], kind]


def detection_row(path, number, line) -> list[float]:
    """Convert a line of a detector's or tracker's results, `det.txt`.

    Returns
    -------
    row : list of float
        Frame, counted from 1; x, y, w, h, 0-based; score.

    Raises
    ------
    ValueError
        If the line is anything but 7 to 10 numbers, as `read_mot` has them, with any score as the seventh.
    """
    texts = line.split(",")
    _check_count(path, number, line, texts, DETECTION)
    row = numbers_of(path, number, texts[:6] + texts[7:], DETECTION)
    _check_place(path, number, line, row, DETECTION)
    frame, _, left, top, width, height = row[:6]
    return [frame, left - 1, top - 1, width, height, *numbers_of(path, number, texts[6:7], DETECTION, ANY_SIZE)]


def _check_count(path, number, line, texts, expected):
    if not 7 <= len(texts) <= 10:
        raise bad_line(path, number, line, expected)


def _check_place(path, number, line, row, expected):
    frame, person, _, _, width, height = row[:6]
    if frame < 1 or frame % 1 or person % 1 or width < 0 or height < 0:
        raise bad_line(path, number, line, f"{expected}; frames are integers from 1, sizes are not negative")
