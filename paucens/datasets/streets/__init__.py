"""Rendered street scenes with exact boxes: a stand-in that is available on every machine."""

import numbers
from typing import NamedTuple

import numpy as np

from paucens.datasets._registry import DataSet
from paucens.datasets.records import DetectionRecord
from paucens.datasets.streets._scene import HEIGHTS, render
from paucens.datasets.streets._sequence import render_sequence
from paucens.images import resampled_part
from paucens.validation import check_integer, check_positive

MOST_FRAMES = 30  # later, the camera would have passed the nearest things
CROP_SIZE = (160, 96)  # height and width of a crop as in INRIA: a window of 128 x 64 and a margin of 16


def synthetic_streets(
    n: int, seed: int = 0, *, people: bool = True, size: tuple[int, int] = (480, 640)
) -> list[DetectionRecord]:
    """Render street scenes with pedestrians, occlusion, clutter and exact boxes.

    Parameters
    ----------
    n : int
        Number of scenes, at least 1. Scene k depends on the seed and k only, not on n.
    seed : int, default=0
        0 to 2**32 - 1.
    people : bool, default=True
        Whether to render people. Otherwise the same streets are rendered without them, for negatives.
    size : tuple of int, default=(480, 640)
        Height and width of the images, at least 120 and 120. Heights of people are 1/8 to 0.42 of the height of
        the image, 60 to 200 pixels of 480, give or take 8 %.

    Returns
    -------
    records : list of DetectionRecord
        `image` (height, width, 3), uint8; `boxes` of people of whom at least 65 % are visible, tight around the whole
        figure and what it carries, even outside the image; `ignore` of the others.

    Raises
    ------
    TypeError, ValueError
        If a number, seed or size is out of range.

    Notes
    -----
    Jointed figures are drawn as polygons at twice the size, in front of houses, trees, cars, posts, boards on legs,
    bushes, tailor's dummies and similar things; the picture is halved and gets haze, light, texture, blur and noise.
    Random numbers come from `numpy.random.RandomState`, whose streams are frozen, and corners are integers. How Pillow
    draws the edge of a polygon may change: between versions 10.3 and 13.0 the boxes of 20 scenes were the same, and
    0.01 % of the values differed.

    The scenes test the machinery, not pedestrian detection: their numbers never stand beside the paper's.

    Examples
    --------
    >>> from paucens.datasets import synthetic_streets
    >>> first, second = synthetic_streets(2, seed=3, size=(240, 320))
    >>> first.image.shape, first.boxes.shape[1], len(synthetic_streets(1, people=False)[0].boxes)
    ((240, 320, 3), 4, 0)
    """
    _check(n, seed, size)
    return [render(seed, number, people, tuple(size)) for number in range(n)]


def _check(n, seed, size):
    _check_integer("n", n, 1)
    _check_integer("seed", seed, 0, 2**32 - 1)
    if not isinstance(size, list | tuple) or len(size) != 2:
        raise TypeError(f"size must be (height, width) in pixels; got {size!r}.")
    for side in size:
        _check_integer("size", side, 120)


def _check_integer(name, value, least, most=None):
    if not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be an integer; got {value!r}.")
    check_integer(name, value, least, most)


class StreetSequence(NamedTuple):
    """A street in motion.

    Attributes
    ----------
    records : list of DetectionRecord
        One per frame, as of `synthetic_streets`, with the image before as `previous`; of the first frame too.
    flows : list of ndarray of shape (height, width, 2), float32
        The true flow of each frame: where what is seen in a pixel was in the image before, across and down in pixels.
    """

    records: list[DetectionRecord]
    flows: list[np.ndarray]


def street_sequences(
    n: int, n_frames: int = 2, seed: int = 0, *, people: bool = True, size: tuple[int, int] = (480, 640)
) -> list[StreetSequence]:
    """Render street scenes in motion: the camera drives and turns, people walk.

    Parameters
    ----------
    n : int
        Number of sequences, at least 1. Sequence k depends on the seed and k only, not on n, and a frame of it not on
        `n_frames`.
    n_frames : int, default=2
        Number of frames of each, 1 to 30, at 30 per second.
    seed, people, size
        As for `synthetic_streets`.

    Returns
    -------
    sequences : list of StreetSequence

    Raises
    ------
    TypeError, ValueError
        If a number, seed or size is out of range.

    Notes
    -----
    Sequence k shows the street of scene k of the seed. Per frame, the camera turns by at most 0.4 % of the width, and
    what is nearest grows by at most 1.5 % and goes aside by at most 1 % of the height of a person there. People who are
    seen from the side walk by 2.7 % of their height. Texture moves with what it is on; noise of the sensor does not.
    The true flow is that of shapes before their corners are rounded to half pixels; shadows and light do not move.

    Examples
    --------
    >>> from paucens.datasets import street_sequences
    >>> (sequence,) = street_sequences(1, n_frames=2, seed=3, size=(120, 160))
    >>> first, second = sequence.records
    >>> second.previous is first.image, sequence.flows[1].shape
    (True, (120, 160, 2))
    """
    _check(n, seed, size)
    _check_integer("n_frames", n_frames, 1, MOST_FRAMES)
    return [StreetSequence(*render_sequence(seed, number, n_frames, people, tuple(size))) for number in range(n)]


def street_crops(records: list[DetectionRecord], height: float = 100.0) -> np.ndarray:
    """Cut crops of people: 96 x 160 pixels with the person in the middle.

    Parameters
    ----------
    records : list of DetectionRecord
        Their images are pixels, RGB uint8, such as those of `synthetic_streets`. Each of their `boxes` becomes a crop.
    height : float, default=100.0
        Pixels from head to foot in a crop, at most 160: that of the `target` of the detector's default `Window`. The
        makers of INRIA cut people of 96 pixels.

    Returns
    -------
    crops : ndarray of shape (k, 160, 96, 3), uint8
        In the order of the records and of their boxes. The edge of the image is repeated in crops that leave it, as in
        432 of INRIA's 1208.

    Raises
    ------
    TypeError, ValueError
        If the image of a record is anything else, or the height is out of range.

    Examples
    --------
    >>> from paucens.datasets import street_crops, synthetic_streets
    >>> records = synthetic_streets(2, seed=3)
    >>> len(street_crops(records)) == sum(len(record.boxes) for record in records)
    True
    """
    check_positive("height", height, most=CROP_SIZE[0])
    for k, record in enumerate(records):
        shape, kind = getattr(record.image, "shape", ()), getattr(record.image, "dtype", None)
        if len(shape) != 3 or shape[2] != 3 or kind != np.uint8:
            raise TypeError(
                f"The image of records[{k}] must be pixels, RGB uint8; got {type(record.image).__name__} "
                f"of shape {shape}. paucens.images.read_rgb reads a file."
            )
    crops = [_crop(record.image, person, height) for record in records for person in record.boxes]
    return np.array(crops, dtype=np.uint8).reshape(-1, *CROP_SIZE, 3)


def _crop(image, person, height):
    """Cut one crop around the centre of a box, at the scale at which it is so many pixels high."""
    x, y, w, h = person
    centre, half = np.array([x + w / 2, y + h / 2]), np.array(CROP_SIZE[::-1]) * (h / height / 2)
    return resampled_part(image, (*(centre - half), *(centre + half)), CROP_SIZE)


ABOUT = DataSet(
    name="streets",
    what=f"Rendered street scenes of any number and size, people {HEIGHTS[0]:.3g} to {HEIGHTS[1]:.3g} of the height of "
    "the image, partly hidden by each other and by things of their size; boxes are exact.",
    source="Drawn from a seed; nothing to get.",
    terms="None.",
    check="By construction: scene k of a seed is the same whatever the number of scenes.",
    loader=synthetic_streets,
    stand_in_for="inria",
)
