"""The entries of a detection set: an image, boxes to find and boxes to ignore."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from paucens.validation import as_floats

PERSON = "person"


def no_boxes() -> np.ndarray:
    """Return the empty list of boxes, shape (0, 4)."""
    return np.empty((0, 4))


@dataclass(frozen=True, eq=False, slots=True)
class DetectionRecord:
    """An image of a detection set with its annotations.

    Attributes
    ----------
    image : Path or ndarray of shape (height, width, 3), uint8
        A file for `paucens.images.read_rgb`, or the pixels themselves if they were rendered.
    boxes : ndarray of shape (g, 4), float64
        Objects to find as x, y, w, h in pixels, 0-based and continuous: pixel k covers [k, k + 1). They may leave the
        image.
    ignore : ndarray of shape (i, 4), float64
        Boxes that may be found or missed without any effect.
    labels : ndarray of shape (g,), str
        Class of each of `boxes`. Default: "person" for all. Boxes to ignore have no class.
    previous : Path or ndarray, optional
        The image before, like `image`; or the flow to it, ndarray of shape (height, width, 2), float: displacement
        across and down in pixels.

    Raises
    ------
    ValueError
        If boxes have another shape, are not finite or have a negative side, or the labels are not one text per box; the
        message names the image.

    Examples
    --------
    >>> record = DetectionRecord(Path("street.png"), [[10, 20, 41, 100], [90, 80, 60, 40]], labels=["person", "car"])
    >>> record.boxes.shape, record.ignore.shape, record.labels.tolist()
    ((2, 4), (0, 4), ['person', 'car'])
    """

    image: Path | np.ndarray
    boxes: np.ndarray = field(default_factory=no_boxes)
    ignore: np.ndarray = field(default_factory=no_boxes)
    labels: np.ndarray | None = None
    previous: Path | np.ndarray | None = None

    def __post_init__(self):
        for name in ("boxes", "ignore"):
            object.__setattr__(self, name, _checked(getattr(self, name), f"{name} of {self._title}"))
        labels = [PERSON] * len(self.boxes) if self.labels is None else list(self.labels)
        if len(labels) != len(self.boxes) or not all(isinstance(label, str) for label in labels):
            raise ValueError(
                f"The labels of {self._title} are {labels!r:.100}; expected one text for each of its {len(self.boxes)} "
                "boxes."
            )
        object.__setattr__(self, "labels", np.array(labels, dtype=np.str_))

    @property
    def source(self):
        """The image, or the pair of it and of `previous` if there is one, as detectors are trained on it."""
        return self.image if self.previous is None else (self.image, self.previous)

    def of_class(self, label):
        """Return a record in which boxes of other classes are to be ignored.

        Parameters
        ----------
        label : str
            The class whose boxes stay.

        Returns
        -------
        record : DetectionRecord

        Examples
        --------
        >>> record = DetectionRecord(Path("a.png"), [[10, 20, 41, 100], [90, 80, 60, 40]], labels=["person", "car"])
        >>> record.of_class("car").ignore.tolist()
        [[10.0, 20.0, 41.0, 100.0]]
        """
        chosen = self.labels == label
        ignore = np.concatenate([self.ignore, self.boxes[~chosen]])
        return replace(self, boxes=self.boxes[chosen], ignore=ignore, labels=self.labels[chosen])

    @property
    def _title(self):
        return f"an image of shape {self.image.shape}" if isinstance(self.image, np.ndarray) else str(self.image)


def _checked(boxes, title):
    boxes = as_floats(f"The {title}", boxes, "rows x, y, w, h of numbers")
    if boxes.size == 0:
        return no_boxes()
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError(f"The {title} have shape {boxes.shape}; expected (k, 4), one row x, y, w, h per box.")
    wrong = ~(np.isfinite(boxes).all(axis=1) & (boxes[:, 2:] >= 0).all(axis=1))
    if wrong.any():
        raise ValueError(
            f"Row {wrong.argmax()} of the {title} is {boxes[wrong.argmax()].tolist()}; expected finite x, y, w, h with "
            "w and h at least 0."
        )
    return boxes
