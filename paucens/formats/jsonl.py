"""JSON lines: an object per image and line.

Annotations are {"image": name, "boxes": [[x, y, w, h], ...], "labels": [class, ...], "ignore": [[x, y, w, h], ...]},
of which labels and ignore may be missing; detections are {"image": name, "detections": [[x, y, w, h, score], ...]}.
Other entries are not read.

Everything is kept but the classes of boxes to ignore, which records do not have.
"""

import json

from paucens.datasets._files import damaged
from paucens.datasets._text import bad_line, text_lines
from paucens.datasets.records import DetectionRecord
from paucens.formats._boxes import Once, best_first, checked_detections, checked_text, name_of, read_boxes
from paucens.formats._files import joined, writing


def read_annotations(path, *, images=None):
    """Yield a `DetectionRecord` per image; `images` is the folder that names of images are relative to."""
    for number, entry in _objects(path, "boxes"):
        place = f"line {number}"
        boxes = read_boxes(path, place, entry["boxes"], 4)
        ignore = read_boxes(path, place, entry.get("ignore", []), 4)
        labels = entry.get("labels")
        is_fine = isinstance(labels, list) and all(isinstance(label, str) for label in labels)
        if labels is not None and not (is_fine and len(labels) == len(boxes)):
            raise damaged(path, f"{place} has the labels {labels!r:.160}; expected one text for each box")
        yield DetectionRecord(joined(images, entry["image"]), boxes, ignore, labels)


def write_annotations(path, records):
    """Write records, see `paucens.formats.write_annotations`."""
    _write(path, (_entry(record) for record in records))


def _entry(record):
    labels = [checked_text("A class", label) for label in record.labels.tolist()]
    boxes, ignore = record.boxes.tolist(), record.ignore.tolist()
    return {"image": name_of(record.image), "boxes": boxes, "labels": labels, "ignore": ignore}


def read_detections(path, *, images=None):
    """Yield the path of an image and its detections; `images` is the folder that names of images are relative to."""
    for number, entry in _objects(path, "detections"):
        boxes = read_boxes(path, f"line {number}", entry["detections"], 5)
        yield joined(images, entry["image"]), best_first(boxes)


def write_detections(path, detections):
    """Write pairs of an image and its detections, see `paucens.formats.write_detections`."""
    entries = ((name_of(image), checked_detections(image, boxes).tolist()) for image, boxes in detections)
    _write(path, ({"image": name, "detections": rows} for name, rows in entries))


def _objects(path, wanted):
    """Yield the number and the object of each line that is not blank."""
    once = Once()
    for number, line in text_lines(path):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise damaged(path, f"line {number} is no JSON object: {error}") from error
        if not isinstance(entry, dict) or not isinstance(entry.get("image"), str) or wanted not in entry:
            raise bad_line(path, number, line, f'an object with "image", a text, and "{wanted}"')
        if not entry["image"].strip() or "\0" in entry["image"]:
            raise bad_line(path, number, line, "the name of an image")
        once.add(entry["image"], number)
        yield number, entry
    if once.is_empty:
        raise damaged(path, "it is empty")
    once.check_file(path)


def _write(path, entries):
    once = Once()
    with writing(path) as file:
        for entry in entries:
            once.add(entry["image"])
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        once.check_images()
