"""Annotations and detections in the formats of others, read and written.

=========  ==================================  ====================  ==================================================
format     annotations                         detections            cannot hold (see the docstring of each module)
=========  ==================================  ====================  ==================================================
csv        a table, `.csv`                     a table, `.csv`
jsonl      JSON lines, `.jsonl`                JSON lines, `.jsonl`
coco       one document, `.json`               one list, `.json`     images without detections, names and classes: they
                                                                     are in the document of the annotations
voc        a folder of `.xml`                  a text                folders of images; images without detections
yolo       a folder of `.txt`                  a folder of `.txt`    boxes to ignore; names beyond the stem. Relative to
                                                                     the size of the image, which must exist
caltech    a folder of `.txt` of the toolbox   a text per video      names beyond the stem, of detections beyond the
                                                                     number of the frame; images without detections
kitti      a folder of `.txt`                  a folder of `.txt`    classes other than KITTI's; names beyond the stem
mot        a text per sequence                 a text per sequence   names beyond the number of the frame; images
                                                                     without boxes
=========  ==================================  ====================  ==================================================

Boxes are x, y, w, h in pixels counted from 0, whatever the format does: VOC, MOT and Caltech count from 1. What a
format cannot hold and what would change the meaning of a file is refused; names are shortened as the table says.
Scores are those of a single class, "person" unless `label` says otherwise.

Text is UTF-8, with or without a byte order mark, or else Latin-1, with the line ends of any system. Files are replaced
as a whole when all is written; folders must be new or empty. Images are read and written one after the other, so that
memory does not grow with their number, beside 16 bytes per image to notice those that come twice; COCO is one
document, and annotations of MOT are read as a whole.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paucens._types import PathLike
from paucens.formats import caltech, coco, csv, jsonl, kitti, mot, voc, yolo
from paucens.validation import check_choice

if TYPE_CHECKING:
    from paucens.datasets.records import DetectionRecord

__all__ = ["FORMATS", "format_of", "read_annotations", "read_detections", "write_annotations", "write_detections"]

FORMATS = {
    "csv": csv,
    "jsonl": jsonl,
    "coco": coco,
    "voc": voc,
    "yolo": yolo,
    "caltech": caltech,
    "kitti": kitti,
    "mot": mot,
}
SUFFIXES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "coco", ".xml": "voc"}


def read_annotations(path: PathLike, format: str | None = None, **options: Any) -> "list[DetectionRecord]":
    """Read the annotations of images.

    Parameters
    ----------
    path : path-like
        A file, or a folder for the formats with one text per image.
    format : str, optional
        One of `FORMATS`. Default: by the suffix of the file, or of the files in a folder of XML.
    **options
        Those of `read_annotations` in the module of the format. `images`, a folder, goes for all: names in the file are
        relative to it or, in formats with stems only, the image is sought there with any suffix.

    Returns
    -------
    records : list of DetectionRecord
        In the order of the file, or of the names of the files in a folder.

    Raises
    ------
    FileNotFoundError
        If there is no such file or folder, or no image in the case of YOLO.
    ValueError
        If the format is unknown or cannot be guessed, or the file is damaged, empty or in another format; the message
        names file, line and reason.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "boxes.csv")
    ...     _ = file.write_text("image,x,y,w,h,label,ignore\\na.png,10,20,41,100,person,0\\na.png,200,0,90,90,,1\\n")
    ...     records = read_annotations(file)
    >>> records[0].image.name, records[0].boxes.tolist(), records[0].ignore.tolist()
    ('a.png', [[10.0, 20.0, 41.0, 100.0]], [[200.0, 0.0, 90.0, 90.0]])
    """
    return list(_module(path, format, exists=True).read_annotations(path, **options))


def write_annotations(
    path: PathLike, records: "Iterable[DetectionRecord]", format: str | None = None, **options: Any
) -> None:
    """Write the annotations of images.

    Parameters
    ----------
    path : path-like
        A file, or a new folder for the formats with one text per image.
    records : iterable of DetectionRecord
        Their images are paths.
    format : str, optional
        One of `FORMATS`. Default: by the suffix of the file.
    **options
        Those of `write_annotations` in the module of the format.

    Raises
    ------
    ValueError
        If the format is unknown or cannot be guessed, a record cannot be written in it, an image comes twice, or the
        folder holds files.
    OSError
        If the file cannot be written.
    """
    _module(path, format).write_annotations(path, records, **options)


def read_detections(path: PathLike, format: str | None = None, **options: Any) -> Iterator[tuple[Path, np.ndarray]]:
    """Read the detections in images, one image after the other.

    Parameters
    ----------
    path : path-like
        A file, or a folder for the formats with one text per image.
    format : str, optional
        One of `FORMATS`. Default: by the suffix of the file.
    **options
        Those of `read_detections` in the module of the format; for `images` see `read_annotations`. `label` chooses
        a class in formats that have several (coco, kitti, yolo).

    Yields
    ------
    image : Path
    boxes : ndarray of shape (k, 5), float64
        x, y, w, h, score, best first.

    Raises
    ------
    FileNotFoundError, ValueError
        As `read_annotations`; at the latest when the place in the file is reached. An image that comes twice is found
        at the end of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "found.jsonl")
    ...     write_detections(file, [("a.png", [[10, 20, 41, 100, 0.5]]), ("b.png", [])])
    ...     found = dict(read_detections(file))
    >>> [(image.name, boxes.tolist()) for image, boxes in found.items()]
    [('a.png', [[10.0, 20.0, 41.0, 100.0, 0.5]]), ('b.png', [])]
    """
    return _module(path, format, exists=True).read_detections(path, **options)


def write_detections(path: PathLike, detections: Iterable[Any], format: str | None = None, **options: Any) -> None:
    """Write the detections in images.

    Parameters
    ----------
    path : path-like
        A file, or a new folder for the formats with one text per image.
    detections : iterable of (path-like, array-like of shape (k, 5))
        The path of an image, and x, y, w, h, score of what was found in it.
    format : str, optional
        One of `FORMATS`. Default: by the suffix of the file.
    **options
        Those of `write_detections` in the module of the format. `label` is the class, "person" by default, in formats
        that have classes (coco, kitti, yolo).

    Raises
    ------
    ValueError, OSError
        As `write_annotations`.
    """
    _module(path, format).write_detections(path, detections, **options)


def format_of(path: PathLike, format: str | None = None) -> str:
    """Return the name of the format of a file or folder: the one that is given, or by the suffix.

    Raises
    ------
    ValueError
        If the format is unknown or cannot be guessed.

    Examples
    --------
    >>> format_of("boxes.json"), format_of("boxes.txt", "mot")
    ('coco', 'mot')
    """
    path = Path(path)
    if format is not None:
        return check_choice("format", format, list(FORMATS))
    if path.is_dir() and any(path.glob("*.xml")):
        return "voc"
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(
            f"{path} does not tell its format, as a suffix out of {', '.join(SUFFIXES)} does; give format=, one of "
            f"{', '.join(FORMATS)}."
        )
    return SUFFIXES[path.suffix.lower()]


def _module(path, format, exists=False):
    """Return the module of a format; raise FileNotFoundError for a path that should exist and does not."""
    path = Path(path)
    if exists and not path.exists():
        raise FileNotFoundError(f"No file or folder {path.absolute()}; give the path of annotations or detections.")
    format = format_of(path, format)
    if exists and path.is_dir() and format in ("csv", "jsonl", "coco", "mot"):
        raise ValueError(f"{path} is a folder; {format} is one file. Give the path of the file.")
    return FORMATS[format]
