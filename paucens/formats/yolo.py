"""YOLO: a text per image, with a line per object: class, centre, size and, of detections, a score.

Numbers are fractions of the width and height of the image. So the images are needed, for reading and for writing, to
know their sizes; a place is as exact as a double, not bit for bit. Classes are numbers from 0, whose names are the
lines of `classes.txt` beside the texts. There are no boxes to ignore: writing some is an error. Folders and suffixes
of images are not kept.
"""

from pathlib import Path

import numpy as np

from paucens.datasets._text import ANY_SIZE, bad_line, numbered_lines, numbers_of
from paucens.datasets.records import PERSON, DetectionRecord
from paucens.formats._boxes import best_first, checked_detections, checked_text, name_of, text_of, texts_of
from paucens.formats._files import located, new_folder, texts_in, write_text_of
from paucens.images import read_size

CLASSES = "classes.txt"
OBJECT = "the number of a class, and x, y, w, h as fractions of the image, w and h not negative, between blanks"


def read_annotations(path, *, images=None, classes=None):
    """Yield a `DetectionRecord` per text, of a folder or one.

    Parameters
    ----------
    path : path-like
    images : path-like, optional
        Folder of the images. Default: they lie beside the texts.
    classes : list of str, optional
        Names of the classes. Default: `classes.txt` beside the texts or, if there is none, "0", "1" and so on.
    """
    for image, rows in _rows(path, images, classes, 0):
        yield DetectionRecord(image, [box for box, _, _ in rows], labels=[label for _, label, _ in rows])


def read_detections(path, *, images=None, classes=None, label=None):
    """Yield the path of an image and its detections, of a folder or one; for other arguments see `read_annotations`.

    Detections are those of the class `label`, by default of all classes together.
    """
    for image, rows in _rows(path, images, classes, 1):
        chosen = [box + score for box, name, score in rows if label in (None, name)]
        yield image, best_first(np.array(chosen, dtype=np.float64).reshape(-1, 5))


def _rows(path, images, classes, n_scores):
    """Yield the path of an image and its rows of box, name of the class, and score if there is one."""
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    if classes is None and (folder / CLASSES).is_file():
        classes = [line for _, line in numbered_lines(folder / CLASSES)]
    for file in texts_in(path, ".txt"):
        image = located(file, folder if images is None else images, file.stem)
        size = read_size(image)
        yield image, [_row(file, *line, size, classes, n_scores) for line in numbered_lines(file)]


def _row(path, number, line, size, classes, n_scores):
    fields, expected = line.split(), OBJECT + (", and a score" if n_scores else "")
    if len(fields) != 5 + n_scores:
        raise bad_line(path, number, line, expected)
    kind, x, y, w, h = numbers_of(path, number, fields[:5], expected)
    if w < 0 or h < 0 or kind < 0 or kind % 1:
        raise bad_line(path, number, line, expected)
    if classes is not None and kind >= len(classes):
        raise bad_line(path, number, line, f"a class below {len(classes)}, the number of classes")
    height, width = size
    box = [width * (x - w / 2), height * (y - h / 2), width * w, height * h]
    label = f"{kind:.0f}" if classes is None else classes[int(kind)]
    return box, label, numbers_of(path, number, fields[5:], expected, ANY_SIZE)


def write_annotations(path, records, *, classes=None):
    """Write a folder of texts, see `paucens.formats.write_annotations`.

    Parameters
    ----------
    path : path-like
    records : iterable of DetectionRecord
    classes : list of str, optional
        Names of the classes in their order. Default: in the order in which they come first.
    """
    folder, known = new_folder(path), [] if classes is None else list(classes)
    for record in records:
        if len(record.ignore):
            raise ValueError(
                f"{record.image} has {len(record.ignore)} boxes to ignore, which YOLO texts cannot hold. Remove them "
                "from the record knowingly, or choose another format."
            )
        new = [label for label in dict.fromkeys(record.labels.tolist()) if label not in known]
        if new and classes is not None:
            raise ValueError(f"classes must hold the classes of all boxes; {record.image} has {new[0]!r} too.")
        known += [checked_text("A class", label) for label in new]
        numbers = [str(known.index(label)) for label in record.labels.tolist()]
        _write(folder, record.image, numbers, record.boxes)
    _write_classes(folder, known)


def write_detections(path, detections, *, label=PERSON):
    """Write a folder of texts of one class, see `paucens.formats.write_detections`."""
    folder = new_folder(path)
    for image, boxes in detections:
        boxes = checked_detections(image, boxes)
        _write(folder, image, ["0"] * len(boxes), boxes)
    _write_classes(folder, [checked_text("A class", label)])


def _write(folder, image, kinds, boxes):
    if not Path(name_of(image)).is_file():
        raise ValueError(f"YOLO texts are relative to the size of the image, but there is no file {image}.")
    height, width = read_size(image)
    lines = [
        " ".join(
            [kind, *texts_of([(x + w / 2) / width, (y + h / 2) / height, w / width, h / height]), *map(text_of, score)]
        )
        for kind, (x, y, w, h, *score) in zip(kinds, boxes.tolist(), strict=True)
    ]
    write_text_of(folder, image, ".txt", "".join(f"{line}\n" for line in lines))


def _write_classes(folder, names):
    (folder / CLASSES).write_text("".join(f"{name}\n" for name in names), encoding="utf-8", newline="")
