"""Labels and results in the text format of the KITTI object benchmark (Geiger, Lenz and Urtasun 2012)."""

import numpy as np
from sklearn.utils import Bunch

from paucens.datasets._registry import DataSet
from paucens.datasets._text import ANY_SIZE, bad_line, numbered_lines, numbers_of

CLASSES = ("Car", "Van", "Truck", "Pedestrian", "Person_sitting", "Cyclist", "Tram", "Misc", "DontCare")
LINE = f"a class ({', '.join(CLASSES)}) and 14 numbers, or 15 with a score"


def read_kitti(path) -> Bunch:
    """Read the objects of one image from a label file of KITTI, or from one of a detector's results.

    Parameters
    ----------
    path : path-like
        Text. A line is a class and 14 numbers between blanks: truncated, occluded, alpha, left, top, right, bottom, and
        seven numbers of the object in space, which are ignored. Results have a score at the end. A file without lines
        has no objects.

    Returns
    -------
    objects : sklearn.utils.Bunch
        In the order of the lines. `names` (k,), str: the classes. `truncation` (k,), float64, 0 to 1, and `occlusion`
        (k,), int64, 0 to 3: -1 if not given. `boxes` (k, 4), float64: x, y, w, h, with w = right - left as in the
        benchmark's own evaluation. `scores` (k,), float64: nan in labels.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If a line is anything else, or a number but the score is beyond 9e15; the message names file and line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "000000.txt")
    ...     _ = file.write_text("Pedestrian 0.00 0 -0.20 712.4 143 810.73 307.92 1.89 .48 1.2 1.84 1.47 8.41 .01")
    ...     objects = read_kitti(file)
    >>> objects.names.tolist(), objects.boxes.round(2).tolist()
    (['Pedestrian'], [[712.4, 143.0, 98.33, 164.92]])
    """
    lines = [_fields(path, number, line) for number, line in numbered_lines(path)]
    numbers = np.array([numbers for _, numbers in lines], dtype=np.float64).reshape(-1, 15)
    corners = numbers[:, 3:7]
    return Bunch(
        names=np.array([name for name, _ in lines], dtype=np.str_),
        truncation=numbers[:, 0],
        occlusion=numbers[:, 1].astype(np.int64),
        boxes=np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1),
        scores=numbers[:, 14],
    )


def _fields(path, number, line):
    """Split a line into its class and 15 numbers, of which the last is nan if there is no score."""
    name, *texts = line.split()
    if name not in CLASSES or len(texts) not in (14, 15):
        raise bad_line(path, number, line, LINE)
    numbers, score = numbers_of(path, number, texts[:14], LINE), numbers_of(path, number, texts[14:], LINE, ANY_SIZE)
    truncation, occlusion, _, left, top, right, bottom = numbers[:7]
    if right < left or bottom < top or occlusion not in (-1, 0, 1, 2, 3):
        raise bad_line(path, number, line, "left <= right, top <= bottom and occlusion -1, 0, 1, 2 or 3")
    if not (0 <= truncation <= 1 or truncation == -1):
        raise bad_line(path, number, line, "truncation from 0 to 1, or -1")
    return name, numbers + (score or [np.nan])


ABOUT = DataSet(
    name="kitti",
    what="KITTI object detection: 7481 training images with labels, 7518 test images without. Its label and result "
    "files are read one by one; no script of this package uses the images.",
    source="Left color images and training labels of the object data set, "
    "https://www.cvlibs.net/datasets/kitti/eval_object.php",
    terms="CC BY-NC-SA 3.0.",
    check="Every line of a file: class, number of fields, order of the corners.",
    loader=read_kitti,
)
