"""Tables of boxes as comma-separated values, one row per box, with a header.

Annotations have the columns image, x, y, w, h, label, ignore (0 or 1), detections image, x, y, w, h, score. Other
columns are not read. Rows of one image belong together. An image without boxes is a row with nothing but its name.

Everything is kept but the classes of boxes to ignore, which records do not have.
"""

import csv
import itertools
from contextlib import contextmanager
from operator import itemgetter

import numpy as np

from paucens.datasets._files import damaged
from paucens.datasets._text import ANY_SIZE, bad_line, numbers_of, text_lines
from paucens.datasets.records import PERSON, DetectionRecord
from paucens.formats._boxes import Once, best_first, checked_detections, checked_text, name_of, texts_of
from paucens.formats._files import joined, writing

BOX = ("x", "y", "w", "h")
ANNOTATIONS = ("image", *BOX, "label", "ignore")
DETECTIONS = ("image", *BOX, "score")
PLACE = "x, y, w, h, four numbers of which the last two are not negative, or nothing for an image without boxes"
FLAGS = {"0": False, "1": True, "": False}


def read_annotations(path, *, images=None):
    """Yield a `DetectionRecord` per image; `images` is the folder that names of images are relative to."""
    for name, rows in _by_image(path, ANNOTATIONS):
        boxes, labels, ignore = [], [], []
        for number, fields in rows:
            box = _box(path, number, fields)
            if box and _flag(path, number, fields):
                ignore.append(box)
            elif box:
                boxes.append(box)
                labels.append(fields["label"].strip() or PERSON)
        yield DetectionRecord(joined(images, name), boxes, ignore, labels)


def write_annotations(path, records):
    """Write records, see `paucens.formats.write_annotations`."""
    with _table(path, ANNOTATIONS) as write:
        for record in records:
            labelled = zip(record.boxes, record.labels.tolist(), strict=True)
            rows = [[*texts_of(box), checked_text("A class", label), "0"] for box, label in labelled]
            write(record.image, rows + [[*texts_of(box), "", "1"] for box in record.ignore])


def read_detections(path, *, images=None):
    """Yield the path of an image and its detections; `images` is the folder that names of images are relative to."""
    for name, rows in _by_image(path, DETECTIONS):
        boxes = []
        for number, fields in rows:
            if box := _box(path, number, fields):
                score = numbers_of(path, number, [fields["score"].strip()], "a score, a number", ANY_SIZE)
                boxes.append(box + score)
        yield joined(images, name), best_first(np.array(boxes).reshape(-1, 5))


def write_detections(path, detections):
    """Write pairs of an image and its detections, see `paucens.formats.write_detections`."""
    with _table(path, DETECTIONS) as write:
        for image, boxes in detections:
            write(image, map(texts_of, checked_detections(image, boxes)))


# -- reading ---------------------------------------------------------------------------------------


def _by_image(path, columns):
    """Yield the name of an image and its rows, pairs of the number of a line and a dict of its fields."""
    once = Once()
    for name, rows in itertools.groupby(_rows(path, columns), key=lambda row: row[1]["image"]):
        rows = list(rows)
        once.add(name, rows[0][0])
        yield name, rows
    once.check_file(path)


def _rows(path, columns):
    """Yield the number and the wanted fields of each row below the header."""
    rows = _split(path)
    number, header = next(rows, (None, None))
    if header is None:
        raise damaged(path, "it is empty")
    names = [name.strip() for name in header]
    if any(names.count(name) != 1 for name in columns):
        raise bad_line(path, number, ",".join(header), f"a header with the columns {', '.join(columns)}, each once")
    wanted = itemgetter(*map(names.index, columns))
    for number, row in rows:
        if len(row) != len(names):
            raise bad_line(path, number, ",".join(row), f"{len(names)} fields as in the header")
        fields = dict(zip(columns, wanted(row), strict=True))
        if not fields["image"].strip():
            raise bad_line(path, number, ",".join(row), "the name of an image")
        yield number, fields


def _split(path):
    """Yield the number of its last line and the fields of each row that is not blank."""
    reader = csv.reader((f"{line}\n" for _, line in text_lines(path)), strict=True)
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise damaged(path, f"line {reader.line_num} is no row of comma-separated values: {error}") from error
        if row is None:
            return
        if any(field.strip() for field in row):
            yield reader.line_num, row


def _box(path, number, fields):
    """Return x, y, w, h, or nothing if the row has no box."""
    texts = [fields[name].strip() for name in BOX]
    if not any(texts):
        return []
    box = numbers_of(path, number, texts, PLACE)
    if box[2] < 0 or box[3] < 0:
        raise bad_line(path, number, ",".join(texts), PLACE)
    return box


def _flag(path, number, fields):
    flag = fields["ignore"].strip()
    if flag not in FLAGS:
        raise bad_line(path, number, flag, "0 or 1 in the column ignore")
    return FLAGS[flag]


# -- writing ---------------------------------------------------------------------------------------


@contextmanager
def _table(path, columns):
    """Open a table for a block; gives a function that writes the rows of an image, without its name."""
    once = Once()
    with writing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)

        def write(image, rows):
            name = name_of(image)
            once.add(name)
            writer.writerows([name, *row] for row in list(rows) or [[""] * (len(columns) - 1)])

        yield write
        once.check_images()
