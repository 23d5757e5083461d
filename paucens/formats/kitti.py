"""KITTI: a text per image, with a line per object; labels, or results with scores.

Pixels are counted from 0. Classes are those of KITTI; "person" is written as Pedestrian. Boxes to ignore are DontCare.
How far an object is cut off or hidden, and its place in space, are neither read nor written. Folders and suffixes of
images are not kept.
"""

import numpy as np

from paucens.datasets._files import damaged
from paucens.datasets.kitti import CLASSES, read_kitti
from paucens.datasets.records import PERSON, DetectionRecord
from paucens.formats._boxes import best_first, checked_detections, texts_of
from paucens.formats._files import located, new_folder, texts_in, write_text_of

PEDESTRIAN, DONT_CARE = "Pedestrian", "DontCare"
BEFORE, AFTER = (
    "-1 -1 -10",
    "-1 -1 -1 -1000 -1000 -1000 -10",
)  # cut off, hidden, seen from where; size and place: unknown


def read_annotations(path, *, images=None):
    """Yield a `DetectionRecord` per text, of a folder or one; `images` is the folder in which images are sought."""
    for file in texts_in(path, ".txt"):
        objects = read_kitti(file)
        cared = objects.names != DONT_CARE
        boxes, ignore = objects.boxes[cared], objects.boxes[~cared]
        yield DetectionRecord(located(file, images, file.stem), boxes, ignore, objects.names[cared])


def write_annotations(path, records):
    """Write a folder of labels, see `paucens.formats.write_annotations`."""
    folder = new_folder(path)
    for record in records:
        names = [_class_of(label) for label in record.labels.tolist()] + [DONT_CARE] * len(record.ignore)
        lines = [_line(*row) for row in zip(names, np.concatenate([record.boxes, record.ignore]), strict=True)]
        write_text_of(folder, record.image, ".txt", "".join(lines))


def read_detections(path, *, images=None, label=None):
    """Yield the name of an image and its detections, of a folder of results or one.

    Parameters
    ----------
    path : path-like
    images : path-like, optional
        Folder in which images are sought.
    label : str, optional
        The class whose detections are read. Default: all classes together.
    """
    wanted = None if label is None else _class_of(label)
    for file in texts_in(path, ".txt"):
        objects = read_kitti(file)
        if np.isnan(objects.scores).any():
            raise damaged(file, f"line {np.isnan(objects.scores).argmax() + 1} of those with text has no score")
        chosen = np.full(len(objects.names), True) if wanted is None else objects.names == wanted
        boxes = np.column_stack([objects.boxes, objects.scores])[chosen]
        yield located(file, images, file.stem), best_first(boxes)


def write_detections(path, detections, *, label=PERSON):
    """Write a folder of results of one class, see `paucens.formats.write_detections`."""
    folder, name = new_folder(path), _class_of(label)
    for image, boxes in detections:
        boxes = checked_detections(image, boxes)
        lines = [_line(name, row[:4], row[4:]) for row in boxes]
        write_text_of(folder, image, ".txt", "".join(lines))


def _class_of(label):
    if label == PERSON:
        return PEDESTRIAN
    if label not in CLASSES or label == DONT_CARE:
        raise ValueError(f"Classes of KITTI are {', '.join(CLASSES[:-1])}; got {label!r}. Rename the labels.")
    return label


def _line(name, box, score=()):
    corners = [*box[:2], *(box[:2] + box[2:])]
    return " ".join([name, BEFORE, *texts_of(corners), AFTER, *texts_of(score)]) + "\n"
