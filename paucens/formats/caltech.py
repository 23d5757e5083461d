"""Texts of the Caltech benchmark and its toolbox: annotations, a text per image, and results, a text per video.

Pixels are counted from 1. Annotations are texts that begin with "% bbGt version=3"; `read_vbb` reads the files of
whole videos. All classes are boxes to find ("people" and "person?" too: `DetectionRecord.of_class` makes those of
others boxes to ignore), unless they are to be ignored. How far somebody is hidden is neither read nor written. Folders
and suffixes of images are not kept.

A line of results is frame, x, y, width, height, score, with frames counted from 1 in ascending order. The toolbox
counts images from 0: frame 30 is the image I00029. Of the name of an image only the number at its end is kept, and
nothing of images without detections.
"""

import itertools

import numpy as np

from paucens.datasets._text import bad_line, numbered_lines, numbers_of, table_of, text_lines
from paucens.datasets.caltech import checked_results
from paucens.datasets.records import PERSON, DetectionRecord
from paucens.formats._boxes import best_first, checked_detections, texts_of, word_of
from paucens.formats._files import check_ascending, located, new_folder, number_of, texts_in, write_text_of, writing

HEADER = "% bbGt version=3"
OBJECT = "a class and 11 numbers: x, y, width, height, hidden, four of the visible part, to be ignored, angle"
RESULT = "frame (from 1, ascending), x, y, width, height, score between commas"
LINES_AT_ONCE = 1000
FIRST, FIRST_OF_RESULT = np.array([1.0, 1, 0, 0]), np.array([1.0, 1, 0, 0, 0])  # the number of the first pixel


def read_annotations(path, *, images=None):
    """Yield a `DetectionRecord` per text, of a folder or one; `images` is the folder in which images are sought."""
    for file in texts_in(path, ".txt"):
        (number, header), *lines = numbered_lines(file) or [(1, "")]
        if header.split() != HEADER.split():
            raise bad_line(file, number, header, f"{HEADER!r}")
        found = [_object(file, *line) for line in lines]
        boxes = [box for _, box, ignored in found if not ignored]
        labels = [label for label, _, ignored in found if not ignored]
        ignore = [box for _, box, ignored in found if ignored]
        yield DetectionRecord(located(file, images, file.stem), boxes, ignore, labels)


def _object(path, number, line):
    label, *texts = line.split()
    if len(texts) != 11:
        raise bad_line(path, number, line, OBJECT)
    x, y, w, h, *_, ignored, _ = numbers_of(path, number, texts, OBJECT)
    if w < 0 or h < 0 or ignored not in (0, 1):
        raise bad_line(path, number, line, f"{OBJECT}; sizes are not negative, to be ignored is 0 or 1")
    return label, [x - 1, y - 1, w, h], ignored == 1


def write_annotations(path, records):
    """Write a folder of texts, see `paucens.formats.write_annotations`."""
    folder = new_folder(path)
    for record in records:
        lines = [HEADER]
        lines += [_line(label, box, "0") for label, box in zip(record.labels.tolist(), record.boxes, strict=True)]
        lines += [_line(PERSON, box, "1") for box in record.ignore]
        write_text_of(folder, record.image, ".txt", "\n".join(lines) + "\n")


def _line(label, box, ignored):
    return " ".join([word_of(label), *texts_of(box + FIRST), "0 0 0 0 0", ignored, "0"])


# -- results ---------------------------------------------------------------------------------------


def read_detections(path, *, images=None):
    """Yield the name of an image and its detections; `images` is the folder in which images are sought."""
    for frame, rows in itertools.groupby(_rows(path), key=lambda row: row[0]):
        boxes = np.array([row[1:] for row in rows]) - FIRST_OF_RESULT
        yield located(path, images, f"I{int(frame) - 1:05d}"), best_first(boxes)


def _rows(path):
    """Yield the rows of the results, a part of the file in memory at a time."""
    lines = ((number, line) for number, line in text_lines(path) if line.strip())
    last = 0
    while some := list(itertools.islice(lines, LINES_AT_ONCE)):
        table = _table(path, some)
        frames = np.concatenate([[last], table[:, 0]])
        if (frames[1:] < frames[:-1]).any():
            number, line = some[int((frames[1:] < frames[:-1]).argmax())]
            raise bad_line(path, number, line, f"{RESULT}. Sort the lines by frame")
        last = frames[-1]
        yield from table.tolist()


def _table(path, lines):
    """Convert lines to numbers; an error names the first one that is wrong."""
    try:
        return _checked(path, [line for _, line in lines])
    except ValueError as error:
        for number, line in lines:
            try:
                _checked(path, [line])
            except ValueError:
                raise bad_line(path, number, line, RESULT) from error
        raise


def _checked(path, lines):
    return checked_results(path, table_of(path, lines, 6))


def write_detections(path, detections):
    """Write pairs of an image and its detections, see `paucens.formats.write_detections`."""
    before = -1
    with writing(path) as file:
        for image, boxes in detections:
            number = number_of(image, 0)
            check_ascending(image, number, before)
            before = number
            for row in checked_detections(image, boxes) + FIRST_OF_RESULT:
                file.write(",".join([str(number + 1), *texts_of(row)]) + "\n")
