"""The KITTI object benchmark (Geiger, Lenz and Urtasun 2012): its images with labels, and its text format."""

from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from paucens._types import PathLike
from paucens.datasets._files import by_name, damaged, locate
from paucens.datasets._registry import DataSet
from paucens.datasets._text import ANY_SIZE, bad_line, numbered_lines, numbers_of
from paucens.datasets.records import DetectionRecord

if TYPE_CHECKING:
    from sklearn.utils import Bunch

CLASSES = ("Car", "Van", "Truck", "Pedestrian", "Person_sitting", "Cyclist", "Tram", "Misc", "DontCare")
PEOPLE, OTHERS = "Pedestrian", ("Person_sitting", "Cyclist", "DontCare")  # others that look like them, or may be some
LINE = f"a class ({', '.join(CLASSES)}) and 14 numbers, or 15 with a score"


def read_kitti(path: PathLike) -> "Bunch":
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
    from sklearn.utils import Bunch  # slow to import, and formats need other things of this module

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


def load_kitti(path: PathLike | None = None) -> "Bunch":
    """List the training images of KITTI that are on the disk, and read their labels.

    Parameters
    ----------
    path : path-like, default=None
        Folder that holds `kitti/` or its content, `training/image_2/` and `training/label_2/`. `$PAUCENS_DATA` and
        `./data` are searched next.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `images` : list of Path in the order of the numbers. `labels` : list of what `read_kitti` returns, one per
        image, for `paucens.evaluation.kitti_average_precision`. `missing` : names of the labels without an image.
        `DESCR`.

    Raises
    ------
    FileNotFoundError
        If the set is not found anywhere; the message says where to get it.
    ValueError
        If a label is damaged or missing for an image, or there is no image.

    Examples
    --------
    >>> kitti = load_kitti()  # doctest: +SKIP
    >>> len(kitti.images), kitti.labels[0].names.tolist()  # doctest: +SKIP
    (7481, ['Pedestrian'])
    """
    from sklearn.utils import Bunch

    images, labels = locate(ABOUT, path)
    stem = attrgetter("stem")
    pictures, texts = by_name(images, {".png"}, stem), by_name(labels, {".txt"}, stem)
    without = [name for name in pictures if name not in texts]
    if not pictures or without:
        raise damaged(labels, f"it has no label of image {without[0]}" if without else f"{images} holds no .png")
    return Bunch(
        images=list(pictures.values()),
        labels=[read_kitti(texts[name]) for name in pictures],
        missing=[name for name in texts if name not in pictures],
        DESCR=ABOUT.describe(),
    )


def kitti_record(
    image: Any, objects: "Bunch", *, height: float = 0.0, occlusion: int = 0, truncation: float = 0.0
) -> DetectionRecord:
    """Return an image of KITTI as a record to train on: visible people to find, all others like them to ignore.

    Parameters
    ----------
    image : Path or ndarray
    objects : Bunch
        From `read_kitti`.
    height : float, default=0.0
        Least height of a pedestrian to find, in pixels. Crops of smaller people than a detector's `target` are
        enlarged, so they are smoother than negatives.
    occlusion : int, default=0
        Largest occlusion of a pedestrian to find: 0 fully visible, 1 partly, 2 largely occluded.
    truncation : float, default=0.0
        Largest share of a pedestrian to find that is outside the image.

    Returns
    -------
    record : DetectionRecord
        Other pedestrians, sitting people, cyclists and "DontCare" are to be ignored. `train_detector(records=...)` cuts
        them out of the negatives, as Sec. 4.1 of the paper does. Cars are not in the record.

    Examples
    --------
    >>> from sklearn.utils import Bunch
    >>> objects = Bunch(names=np.array(["Pedestrian", "Cyclist", "Car"]), occlusion=np.array([0, 0, 0]),
    ...                 truncation=np.zeros(3), boxes=np.arange(12.0).reshape(3, 4))
    >>> record = kitti_record("000000.png", objects)
    >>> record.boxes.tolist(), record.ignore.tolist()
    ([[0.0, 1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0, 7.0]])
    """
    people = objects.names == PEOPLE
    found = people & (objects.boxes[:, 3] >= height)
    found &= (objects.occlusion <= occlusion) & (objects.truncation <= truncation)
    ignored = (people & ~found) | np.isin(objects.names, OTHERS)
    return DetectionRecord(image, objects.boxes[found], objects.boxes[ignored])


ABOUT = DataSet(
    name="kitti",
    what="KITTI object detection: 7481 training images with labels, 7518 test images without. A part of the images is "
    "enough; label and result files may also be read one by one (read_kitti).",
    source="Left color images and training labels of the object data set, "
    "https://www.cvlibs.net/datasets/kitti/eval_object.php",
    terms="CC BY-NC-SA 3.0.",
    check="Every line of a file: class, number of fields, order of the corners; a label for each image.",
    loader=load_kitti,
    folder="kitti",
    forms=(("training/image_2", "training/label_2"),),
)
