"""PASCAL VOC: one XML document of annotations per image, or one text of results.

Pixels are counted from 1, and both corners are pixels of the object: a box of x 0 and w 10 goes from xmin 1 to xmax
10. Numbers with decimals are written where boxes have them. Objects that are "difficult" are boxes to ignore. Names of
images have no folder. The size is written if the file of the image exists. A document with a DOCTYPE is refused, since
it may define entities.

A line of results is the name of an image without suffix, a score, and two corners; lines of one image belong together.
Results do not hold folders and suffixes of images, nor images without detections. The class is in the name of the file
by the custom of the benchmark, not in the lines.
"""

import itertools
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from paucens.datasets._files import damaged
from paucens.datasets._text import ANY_SIZE, bad_line, decoded, numbers_of, text_lines
from paucens.datasets.records import PERSON, DetectionRecord
from paucens.formats._boxes import (
    Once,
    best_first,
    checked_detections,
    checked_text,
    from_corners,
    name_of,
    stem_of,
    text_of,
    texts_of,
    word_of,
)
from paucens.formats._files import joined, located, new_folder, texts_in, write_text_of, writing
from paucens.images import read_size

CORNERS = ("xmin", "ymin", "xmax", "ymax")
FIRST = np.array([1.0, 1, 0, 0])  # the number of the first pixel
PIXEL = np.array([0.0, 0, 1, 1])  # the last pixel belongs to the box
ROUNDING = 1e-6  # pixels
NUMBERS = "four numbers xmin, ymin, xmax, ymax, the last two no less than the first two less 1"
RESULT = f"the name of an image, a score, and {NUMBERS}, between blanks"


def read_annotations(path, *, images=None):
    """Yield a `DetectionRecord` per document, of a folder or one; `images` is the folder of the images."""
    for file in texts_in(path, ".xml"):
        root, lines = _parsed(file)
        found = [_object(file, element, lines) for element in root.iter("object")]
        boxes = [box for _, box, is_difficult in found if not is_difficult]
        labels = [label for label, _, is_difficult in found if not is_difficult]
        ignore = [box for _, box, is_difficult in found if is_difficult]
        yield DetectionRecord(joined(images, _text(file, root, "filename", lines)), boxes, ignore, labels)


def _parsed(path):
    """Parse a document; return its root and the line on which each element ends."""
    text = decoded(path, Path(path).read_bytes())
    if "<!DOCTYPE" in text:
        raise damaged(path, "it has a DOCTYPE, which annotations do not need and which may define entities")
    parser, lines, element = ElementTree.XMLPullParser(("end",)), {}, None
    try:
        for number, line in enumerate(text.splitlines(keepends=True), 1):
            parser.feed(line)
            for _, element in parser.read_events():
                lines[element] = number
        parser.close()
    except ElementTree.ParseError as error:
        raise damaged(path, f"line {error.position[0]} is no XML: {error}") from error
    if element is None or element.tag != "annotation":
        raise damaged(path, "its outermost element is not <annotation>")
    return element, lines


def _text(path, element, name, lines):
    """Return the text of a part of an element."""
    text = (element.findtext(name) or "").strip()
    if not text:
        raise damaged(path, f"<{element.tag}>, which ends on line {lines[element]}, has no {name}")
    return text


def _object(path, element, lines):
    """Return label, box and whether the object is difficult."""
    number, bounds = lines[element], element.find("bndbox")
    if bounds is None:
        raise damaged(path, f"the object that ends on line {number} has no bndbox")
    texts = [_text(path, bounds, name, lines) for name in CORNERS]
    corners = numbers_of(path, lines[bounds], texts, NUMBERS)
    if not _are_ordered(corners):
        raise bad_line(path, lines[bounds], " ".join(texts), NUMBERS)
    difficult = (element.findtext("difficult") or "0").strip()
    if difficult not in ("0", "1"):
        raise damaged(path, f"the object that ends on line {number} has difficult {difficult!r:.80}; expected 0 or 1")
    return _text(path, element, "name", lines), _box(corners), difficult == "1"


def _are_ordered(corners):
    """Tell whether the box has a size of 0 or more; one of less than a pixel ends before its first pixel."""
    left, top, right, bottom = corners
    return right - left + 1 > -ROUNDING and bottom - top + 1 > -ROUNDING


def _box(corners):
    box = from_corners([corners])[0] + PIXEL - FIRST
    return np.concatenate([box[:2], np.maximum(box[2:], 0)])


def _corners(boxes):
    """Convert rows x, y, w, h to rows xmin, ymin, xmax, ymax."""
    return np.concatenate([boxes[:, :2] + 1, boxes[:, :2] + boxes[:, 2:4]], axis=1)


def write_annotations(path, records):
    """Write a folder of documents, see `paucens.formats.write_annotations`."""
    folder = new_folder(path)
    for record in records:
        root = ElementTree.Element("annotation")
        ElementTree.SubElement(root, "filename").text = Path(name_of(record.image)).name
        if Path(record.image).is_file():
            size = ElementTree.SubElement(root, "size")
            for name, number in zip(("height", "width"), read_size(record.image), strict=True):
                ElementTree.SubElement(size, name).text = str(number)
            ElementTree.SubElement(size, "depth").text = "3"
        for label, corners in zip(record.labels.tolist(), _corners(record.boxes), strict=True):
            _add_object(root, checked_text("A class", label), corners, "0")
        for corners in _corners(record.ignore):
            _add_object(root, PERSON, corners, "1")
        ElementTree.indent(root)
        write_text_of(folder, record.image, ".xml", ElementTree.tostring(root, encoding="unicode") + "\n")


def _add_object(root, label, corners, difficult):
    element = ElementTree.SubElement(root, "object")
    ElementTree.SubElement(element, "name").text = label
    ElementTree.SubElement(element, "difficult").text = difficult
    bounds = ElementTree.SubElement(element, "bndbox")
    for name, number in zip(CORNERS, corners, strict=True):
        ElementTree.SubElement(bounds, name).text = text_of(number)


# -- results ---------------------------------------------------------------------------------------


def read_detections(path, *, images=None):
    """Yield the name of an image and its detections; `images` is the folder in which the images are sought."""
    once = Once()
    for name, rows in itertools.groupby(_rows(path), key=lambda row: row[0]):
        rows = list(rows)
        once.add(name, rows[0][1])
        yield located(path, images, name), best_first(np.array([row for _, _, row in rows]))
    once.check_file(path)


def _rows(path):
    """Yield the name of an image, the number of the line, and x, y, w, h, score."""
    for number, line in text_lines(path):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 6:
            raise bad_line(path, number, line, RESULT)
        score = numbers_of(path, number, fields[1:2], RESULT, ANY_SIZE)
        corners = numbers_of(path, number, fields[2:], RESULT)
        if not _are_ordered(corners):
            raise bad_line(path, number, line, RESULT)
        yield fields[0], number, [*_box(corners), *score]


def write_detections(path, detections):
    """Write pairs of an image and its detections, see `paucens.formats.write_detections`."""
    once = Once()
    with writing(path) as file:
        for image, boxes in detections:
            boxes, name = checked_detections(image, boxes), word_of(stem_of(image))
            once.add(name)
            for corners, score in zip(_corners(boxes), boxes[:, 4], strict=True):
                file.write(" ".join([name, text_of(score), *texts_of(corners)]) + "\n")
        once.check_images()
