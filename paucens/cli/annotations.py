"""Annotated images that a command is given."""

from pathlib import Path

from paucens.cli.failures import DATA_MISSING, Failure, failing_with


def add_annotation_arguments(parser, prefix="", required=False, what="annotations"):
    """Add --boxes, --boxes-format, --images and --class; names begin with the prefix."""
    parser.add_argument(
        f"--{prefix}boxes", metavar="PATH", required=required, help=f"{what}: a file, or a folder of one text per image"
    )
    parser.add_argument(
        f"--{prefix}images", metavar="FOLDER", help="the folder of their images; default: the paths in the annotations"
    )
    if not prefix:
        parser.add_argument(
            "--boxes-format",
            metavar="NAME",
            help="csv, jsonl, coco, voc, yolo, caltech, kitti or mot; default: by the suffix",
        )
        parser.add_argument("--class", dest="label", metavar="NAME", help="the class to take; default: the only one")


def read_records(path, images, form, label=None):
    """Read annotations; raise Failure if that is impossible, or they lack the class.

    Boxes of other classes are to be ignored.
    """
    from paucens.formats import read_annotations

    with failing_with(DATA_MISSING):
        if images is not None and not Path(images).is_dir():
            raise Failure(DATA_MISSING, f"there is no folder {images}.")
        records = read_annotations(path, form, **({} if images is None else {"images": images}))
    classes = sorted({name for record in records for name in record.labels.tolist()})
    if label is None and len(classes) > 1:
        raise Failure(DATA_MISSING, f"{path} has boxes of {', '.join(classes)}; choose one by --class.")
    if label is not None and label not in classes:
        raise Failure(DATA_MISSING, f"{path} has no box of the class {label}; it has {', '.join(classes) or 'none'}.")
    return records if label is None else [record.of_class(label) for record in records]


def detections_of(records, found, path):
    """Return the detections in each of the records, and those of images that no record has.

    Images are the same if their paths are, or else their names without folders and suffixes.

    Parameters
    ----------
    records : list of DetectionRecord
    found : iterable of (path, boxes)
    path : str
        Where they are from, for errors.

    Returns
    -------
    detections : list of ndarray of shape (k, 5)
    n_missing : int
        Number of records without an entry, as if nothing had been found in them.
    n_others : int
        Number of entries that belong to no record.
    """
    import numpy as np

    by_path = {Path(record.image).as_posix(): k for k, record in enumerate(records)}
    by_name = {Path(record.image).stem: k for k, record in enumerate(records)}
    if len(by_path) < len(records):
        raise Failure(DATA_MISSING, "an image has two annotations.")
    unique = len(by_name) == len(records)
    detections, n_others = [None] * len(records), 0
    for image, boxes in found:
        k = by_path.get(Path(image).as_posix(), by_name.get(Path(image).stem) if unique else None)
        if k is None:
            n_others += 1
        elif detections[k] is not None:
            raise Failure(DATA_MISSING, f"{path} has the image {image} twice.")
        else:
            detections[k] = boxes
    n_missing = sum(boxes is None for boxes in detections)
    if n_missing == len(records):
        raise Failure(DATA_MISSING, f"no image of {path} is annotated. Names of images must be the same in both.")
    return [np.empty((0, 5)) if boxes is None else boxes for boxes in detections], n_missing, n_others
