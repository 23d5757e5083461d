"""Cut the objects of annotated images out, as training crops of a window."""

import numpy as np

from paucens.datasets import DetectionRecord
from paucens.datasets.records import no_boxes
from paucens.detector.window import Window
from paucens.drawing import contact_sheet as sheet_of
from paucens.drawing import save_image
from paucens.features.motion import flow_to, image_of, resampled_flow
from paucens.images import check_sources, pixels_of, resampled_part
from paucens.validation import check_flag

MOST_ON_SHEET = 1000


def cut_crops(records, window=None, *, label=None, repeat_edges=True, contact_sheet=None) -> list:
    """Cut objects out of images, scaled and centred for the training of a detector.

    Parameters
    ----------
    records : list of DetectionRecord
        Images are files or whatever `PedestrianDetector.detect` takes. Each of their `boxes` becomes a crop.
    window : Window, optional
        An object is scaled to the height of its `target`, whatever its width, and lies in the middle of its `crop`.
        Default: `Window()`.
    label : str, optional
        The class to cut out. Default: the only one that there is.
    repeat_edges : bool, default=True
        Whether crops that leave their image repeat its edge. Otherwise these objects are left out.
    contact_sheet : path-like, optional
        A file for a picture of the crops, such as "crops.png", to look at; of 1000 at regular distances if there are
        more.

    Returns
    -------
    crops : list of ndarray of shape `(*window.crop, 3)`, uint8
        RGB, in the order of the records and of their boxes. Of a record with `previous`, a pair of each and of its
        flow, float32 `(*window.crop, 2)`. The flow is computed in the whole image, and resampled like it.

    Raises
    ------
    TypeError, ValueError
        If the records are no list of `DetectionRecord`, an image cannot be read, a box has no height or lies outside
        its image, or there are several classes and `label` is not one of them.
    ImportError
        If flow is to be computed, and OpenCV is not installed.

    Examples
    --------
    >>> from paucens.datasets import synthetic_streets
    >>> records = synthetic_streets(2, seed=3)
    >>> crops = cut_crops(records, Window())
    >>> len(crops) == sum(len(record.boxes) for record in records), crops[0].shape
    (True, (160, 96, 3))
    """
    window = Window() if window is None else window
    if not isinstance(window, Window):
        raise TypeError(f"window must be a Window, such as Window(); got {window!r:.100}.")
    repeat_edges = check_flag("repeat_edges", repeat_edges)
    crops = []
    for k, record in enumerate(of_one_class(records, label)):
        if len(record.boxes):
            rgb, flow = _pixels(k, record)
            corners = [_corners(f"records[{k}]", rgb, box, window) for box in record.boxes]
            crops += [_crop(rgb, flow, one, window.crop) for one in corners if repeat_edges or _inside(rgb, one)]
    if contact_sheet is not None:
        save_image(contact_sheet, sheet_of(list(map(image_of, crops[:: -(-len(crops) // MOST_ON_SHEET) or 1]))))
    return crops


def of_one_class(records, label) -> list[DetectionRecord]:
    """Return records in which all boxes are of a class, and others are to be ignored; see `cut_crops`."""
    check_sources("records", records)
    for k, record in enumerate(records):
        if not isinstance(record, DetectionRecord):
            raise TypeError(f"records[{k}] must be a DetectionRecord of an image and its boxes; got {record!r:.100}.")
    classes = sorted({name for record in records for name in record.labels.tolist()})
    if label is None and len(classes) > 1:
        raise ValueError(f"The records have boxes of the classes {classes}; choose one of them: label={classes[0]!r}.")
    if label is not None and label not in classes:
        raise ValueError(f"label must be one of the classes of the records, {classes}; got {label!r}.")
    return records if label is None else [record.of_class(label) for record in records]


def marked(records) -> list[np.ndarray]:
    """Return the boxes in each image that negatives may not overlap: objects, other classes, and what is ignored."""
    return [np.concatenate([no_boxes(), record.boxes, record.ignore]) for record in records]


def _pixels(k, record):
    """Return the image of a record and its flow, None without `previous`."""
    try:
        rgb = pixels_of(record.image)
        return rgb, None if record.previous is None else flow_to(record.previous, rgb)
    except ValueError as error:
        raise ValueError(f"records[{k}]: {error}") from error


def _crop(rgb, flow, corners, shape):
    crop = resampled_part(rgb, corners, shape)
    return crop if flow is None else (crop, resampled_flow(flow, corners, shape))


def _corners(title, rgb, box, window):
    """Return left, top, right and bottom of the crop of a box."""
    x, y, w, h = box
    if h == 0 or x >= rgb.shape[1] or y >= rgb.shape[0] or x + w <= 0 or y + h <= 0:
        raise ValueError(
            f"{title} has the box {box.tolist()}, which has no area inside its image of {rgb.shape[0]} x "
            f"{rgb.shape[1]} pixels. Remove it, or correct it."
        )
    centre, half = np.array([x + w / 2, y + h / 2]), np.array(window.crop[::-1]) * (h / window.target[0] / 2)
    return *(centre - half), *(centre + half)


def _inside(rgb, corners):
    left, top, right, bottom = corners
    return left >= 0 and top >= 0 and right <= rgb.shape[1] and bottom <= rgb.shape[0]
