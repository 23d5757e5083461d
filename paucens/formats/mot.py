"""MOTChallenge: one text per sequence, a line per box, 7 to 10 numbers between commas.

Pixels and frames are counted from 1. Classes of annotations are the 13 of MOT16 to MOT20, and "person" is written as
the first of them, pedestrian. Boxes with the flag 0 are to be ignored; they are written as distractors. Who is who is
neither read nor written. Of the name of an image only the number at its end is kept: frame 1 is the image 000001;
nothing is kept of images without boxes.

Annotations are read as a whole, and may be sorted by person. Frames of results must ascend.
"""

import itertools

import numpy as np

from paucens.datasets._text import bad_line, text_lines
from paucens.datasets.mot import detection_row, read_mot
from paucens.datasets.records import PERSON, DetectionRecord
from paucens.formats._boxes import best_first, checked_detections, texts_of
from paucens.formats._files import check_ascending, located, number_of, writing

KINDS = (
    "pedestrian",
    "person on vehicle",
    "car",
    "bicycle",
    "motorbike",
    "non motorized vehicle",
    "static person",
    "distractor",
    "occluder",
    "occluder on the ground",
    "occluder full",
    "reflection",
    "crowd",
)
FIRST = np.array([1.0, 1, 0, 0])  # the number of the first pixel
DISTRACTOR = KINDS.index("distractor") + 1


def read_annotations(path, *, images=None):
    """Yield a `DetectionRecord` per frame with boxes; `images` is the folder in which images are sought."""
    rows = read_mot(path)
    order = np.argsort(rows.frame, kind="stable")
    cuts = np.flatnonzero(np.diff(rows.frame[order])) + 1
    for here in np.split(order, cuts) if len(order) else []:
        found, ignored = here[rows.considered[here]], here[~rows.considered[here]]
        labels = [KINDS[kind - 1] for kind in rows.kind[found]]
        image = located(path, images, f"{rows.frame[here[0]]:06d}")
        yield DetectionRecord(image, rows.boxes[found], rows.boxes[ignored], labels)


def write_annotations(path, records):
    """Write records, see `paucens.formats.write_annotations`."""
    before = 0
    with writing(path) as file:
        for record in records:
            frame = number_of(record.image, 1)
            check_ascending(record.image, frame, before)
            before = frame
            for label, box in zip(record.labels.tolist(), record.boxes, strict=True):
                _write_line(file, frame, box, f"1,{_kind_of(label)},1")
            for box in record.ignore:
                _write_line(file, frame, box, f"0,{DISTRACTOR},1")


def _kind_of(label):
    if label == PERSON:
        return 1
    if label not in KINDS:
        raise ValueError(f"Classes of MOT are {', '.join(KINDS)}; got {label!r}. Rename the labels.")
    return KINDS.index(label) + 1


def _write_line(file, frame, box, rest):
    file.write(",".join([str(frame), "-1", *texts_of(box + FIRST), rest]) + "\n")


def read_detections(path, *, images=None):
    """Yield the name of an image and its detections; `images` is the folder in which images are sought."""
    for frame, rows in itertools.groupby(_rows(path), key=lambda row: row[0]):
        boxes = best_first(np.array([row[1:] for row in rows]))
        yield located(path, images, f"{int(frame):06d}"), boxes


def _rows(path):
    """Yield frame, x, y, w, h and score of each line."""
    last = 0
    for number, line in text_lines(path):
        if not line.strip():
            continue
        row = detection_row(path, number, line.strip())
        if row[0] < last:
            raise bad_line(path, number, line, "frames in ascending order. Sort the lines by frame")
        last = row[0]
        yield row


def write_detections(path, detections):
    """Write pairs of an image and its detections, see `paucens.formats.write_detections`."""
    before = 0
    with writing(path) as file:
        for image, boxes in detections:
            frame = number_of(image, 1)
            check_ascending(image, frame, before)
            before = frame
            for row in checked_detections(image, boxes):
                _write_line(file, frame, row[:4], f"{texts_of(row[4:])[0]},-1,-1,-1")
