"""COCO: one JSON document of annotations, or one list of results.

Documents are read and written as a whole. An annotation of a crowd, or with "ignore": 1, is a box to ignore. Each
belongs to a class in COCO: boxes to ignore are written as crowds of the first class. Outlines and key points are not
read. Width and height of an image are written if its file exists.

Results refer to images by numbers and to classes by numbers, whose names are in the document of the annotations.
Without it, the number is the name: 7 for the image "7". Results alone do not hold images without detections.
"""

import json
from pathlib import Path

from paucens.datasets._files import damaged
from paucens.datasets._text import decoded
from paucens.datasets.records import PERSON, DetectionRecord
from paucens.formats._boxes import Once, best_first, checked_detections, checked_text, name_of, read_boxes
from paucens.formats._files import joined, writing
from paucens.images import read_size


def read_annotations(path, *, images=None):
    """Yield a `DetectionRecord` per image; `images` is the folder that names of images are relative to."""
    document = _Document(path)
    of_image = {number: [] for number in document.images}
    for k, entry in enumerate(document.entries("annotations")):
        number, kind = document.fields("annotations", k, entry, image_id=(int, str), category_id=(int, str))
        if number not in of_image or kind not in document.classes:
            raise damaged(path, f"annotations[{k}] is of image {number!r} and class {kind!r}, which are not listed")
        box = read_boxes(path, f"annotations[{k}]", [entry.get("bbox")], 4)[0]
        of_image[number].append((box, document.classes[kind], bool(entry.get("iscrowd") or entry.get("ignore"))))
    for number, found in of_image.items():
        boxes, labels = [box for box, _, crowd in found if not crowd], [kind for _, kind, crowd in found if not crowd]
        ignore = [box for box, _, crowd in found if crowd]
        yield DetectionRecord(joined(images, document.images[number]), boxes, ignore, labels)


def write_annotations(path, records):
    """Write records, see `paucens.formats.write_annotations`."""
    records = list(records)
    once, names = Once(), [name_of(record.image) for record in records]
    for name in names:
        once.add(name)
    once.check_images()
    labels = dict.fromkeys(label for record in records for label in record.labels.tolist()) or {PERSON: None}
    classes = {checked_text("A class", label): k for k, label in enumerate(labels, 1)}
    annotations = []
    for k, record in enumerate(records, 1):
        for box, label in zip(record.boxes.tolist(), record.labels.tolist(), strict=True):
            annotations.append(_annotation(len(annotations) + 1, k, classes[label], box, 0))
        for box in record.ignore.tolist():
            annotations.append(_annotation(len(annotations) + 1, k, 1, box, 1))
    document = {
        "images": [{"id": k, "file_name": name, **_size(name)} for k, name in enumerate(names, 1)],
        "annotations": annotations,
        "categories": [{"id": k, "name": label} for label, k in classes.items()],
    }
    _write(path, document)


def _annotation(number, image, kind, box, is_crowd):
    area = box[2] * box[3]
    return {"id": number, "image_id": image, "category_id": kind, "bbox": box, "area": area, "iscrowd": is_crowd}


def _size(name):
    if not Path(name).is_file():
        return {}
    height, width = read_size(name)
    return {"width": width, "height": height}


def read_detections(path, *, images=None, annotations=None, label=None):
    """Yield the path of an image and its detections.

    Parameters
    ----------
    path : path-like
        A list of results.
    images : path-like, optional
        Folder that names of images are relative to.
    annotations : path-like, optional
        The document of the annotations. All its images are yielded, in its order, by their names.
    label : str, optional
        The class whose detections are read, by its name in `annotations`. Default: all classes together.
    """
    document = None if annotations is None else _Document(annotations)
    kinds = _kinds(document, label)
    of_image = {} if document is None else {number: [] for number in document.images}
    results = _Document(path, list)
    for k, entry in enumerate(results.whole):
        number, kind, score = results.fields(
            "results", k, entry, image_id=(int, str), category_id=(int, str), score=(int, float)
        )
        box = read_boxes(path, f"results[{k}]", [entry.get("bbox")], 4)[0].tolist()
        if document is not None and (number not in of_image or kind not in document.classes):
            raise damaged(path, f"results[{k}] is of image {number!r} and class {kind!r}, which {annotations} lacks")
        if kinds is None or kind in kinds:
            of_image.setdefault(number, []).append([*box, score])
    for number, rows in of_image.items():
        name = str(number) if document is None else document.images[number]
        yield joined(images, name), best_first(read_boxes(path, f"image {number}", rows, 5))


def _kinds(document, label):
    """Return the numbers of a class, None for all classes."""
    if label is None:
        return None
    if document is None:
        raise ValueError("Results have classes by number; give the document of the annotations too: annotations=...")
    kinds = {number for number, name in document.classes.items() if name == label}
    if not kinds:
        raise ValueError(f"label must be one of the classes {sorted(set(document.classes.values()))}; got {label!r}.")
    return kinds


def write_detections(path, detections, *, annotations=None, label=PERSON):
    """Write pairs of an image and its detections, see `paucens.formats.write_detections`.

    Parameters
    ----------
    path : path-like
    detections : iterable of (path-like, array-like)
    annotations : path-like, optional
        The document of the annotations, from which the numbers of images and of the class are taken.
    label : str, default="person"
        The class of the detections, by its name in `annotations`; number 1 without.
    """
    document = None if annotations is None else _Document(annotations)
    kind = 1 if document is None else min(_kinds(document, label), key=str)
    numbers = {} if document is None else {name: number for number, name in document.images.items()}
    results, once = [], Once()
    for image, boxes in detections:
        name = name_of(image)
        once.add(name)
        if document is not None and name not in numbers:
            raise ValueError(f"{image} is not in {annotations}; names of images must be written as there.")
        number = numbers.get(name, int(name) if _is_number(name) else name)
        for x, y, w, h, score in checked_detections(image, boxes).tolist():
            results.append({"image_id": number, "category_id": kind, "bbox": [x, y, w, h], "score": score})
    once.check_images()
    _write(path, results)


def _is_number(name):
    return name.isascii() and name.isdigit() and str(int(name[:4000])) == name


def _write(path, document):
    with writing(path) as file:
        json.dump(document, file, ensure_ascii=False)


class _Document:
    """A JSON document that was read without trusting it."""

    def __init__(self, path, kind=dict):
        self.path = path
        text = decoded(path, Path(path).read_bytes())
        try:
            self.whole = json.loads(text)
        except json.JSONDecodeError as error:
            raise damaged(path, f"line {error.lineno} is no JSON: {error.msg}") from error
        except RecursionError as error:
            raise damaged(path, "its lists are nested too deeply") from error
        except ValueError as error:
            raise damaged(path, error) from error
        if not isinstance(self.whole, kind):
            held = (
                "annotations, an object with images, annotations and categories" if kind is dict else "results, a list"
            )
            raise damaged(path, f"it does not hold {held}, but {self.whole!r:.80}")
        self.images, self.classes = {}, {}
        if kind is dict:
            self.images = self._named("images", "file_name")
            self.classes = self._named("categories", "name")

    def entries(self, name):
        """Return one of the lists of the document."""
        entries = self.whole.get(name)
        if not isinstance(entries, list):
            raise damaged(self.path, f"it has no list {name!r}, as annotations of COCO do")
        return entries

    def fields(self, name, k, entry, /, **kinds):
        """Return the named fields of an entry, of these types."""
        if not isinstance(entry, dict):
            raise damaged(self.path, f"{name}[{k}] is {entry!r:.80}; expected an object")
        for field, kind in kinds.items():
            if not isinstance(entry.get(field), kind) or isinstance(entry[field], bool):
                expected = " or ".join(one.__name__ for one in kind)
                raise damaged(self.path, f"{name}[{k}] has {field} {entry.get(field)!r:.80}; expected {expected}")
        return [entry[field] for field in kinds]

    def _named(self, name, field):
        """Map the numbers of a list to names; neither may come twice."""
        found = {}
        for k, entry in enumerate(self.entries(name)):
            number, text = self.fields(name, k, entry, id=(int, str), **{field: (str,)})
            if number in found or not text.strip() or "\0" in text:
                raise damaged(self.path, f"{name}[{k}] has the id {number!r:.80} of another one, or no {field}")
            found[number] = text
        if name == "images" and len(set(found.values())) < len(found):
            raise damaged(self.path, "two of its images have the same file_name")
        return found
