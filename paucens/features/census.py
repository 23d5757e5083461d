"""The census transform of many images in one array, which several fits can share."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from paucens._kernels import centrist as kernels
from paucens.images import read_grey
from paucens.parallel import Threads
from paucens.validation import check_jobs

STEPS_PER_PIXEL = 30  # decoding and comparing, in the inner steps that `Threads.run` counts
USUAL_PIXELS = 50_000


@dataclass(frozen=True, eq=False)
class CensusImages:
    """Census transforms of a list of images; made by `census_images`.

    `images[selection]` takes a slice, indices or a mask and returns the chosen images over the same codes, so that a
    training half takes no memory.

    Attributes
    ----------
    codes : ndarray of shape (n_codes,), uint8
        The codes of all images, one image after the other, each row by row.
    offsets : ndarray of shape (n_images,), int64
        Index in `codes` at which an image begins.
    shapes : ndarray of shape (n_images, 2), int64
        Height and width of the codes of an image, which itself has one more pixel on each side.
    names : ndarray of shape (n_images,), str
        Path or index of the image, for messages.
    """

    codes: np.ndarray
    offsets: np.ndarray
    shapes: np.ndarray
    names: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets)

    def __getitem__(self, selection: Any) -> Self:
        chosen = np.atleast_1d(np.arange(len(self))[selection])
        return CensusImages(self.codes, self.offsets[chosen], self.shapes[chosen], self.names[chosen])


def census_images(images: Sequence[Any] | CensusImages, n_jobs: int | None = None) -> CensusImages:
    """Compute the census transform of images: how each pixel compares with its eight neighbours.

    Parameters
    ----------
    images : list of path-like or of ndarray of shape (height, width), uint8; or CensusImages
        Files are decoded to grey values. CensusImages are returned unchanged.
    n_jobs : int, optional
        Number of threads, as in joblib.

    Returns
    -------
    census : CensusImages
        One byte per pixel, without the outermost pixels.

    Raises
    ------
    FileNotFoundError, ValueError
        If a file or an array is not such an image; the message names it.

    Notes
    -----
    A bit is 1 if the centre is at least as bright as the neighbour (Zabih and Woodfill 1994; Wu and Rehg, CENTRIST,
    PAMI 2011); bits 7 to 0 are the neighbours NW, N, NE, W, E, SW, S, SE. Wu and Rehg's program compares the other way
    round, which complements the codes except for ties.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.features import census_images
    >>> image = np.array([[9, 5, 1], [9, 5, 1], [9, 5, 1]], dtype=np.uint8)
    >>> [f"{code:08b}" for code in census_images([image]).codes]
    ['01101011']
    """
    if isinstance(images, CensusImages):
        return images
    if isinstance(images, str | Path) or not hasattr(images, "__len__"):
        raise ValueError(f"images must be a list of paths or of arrays; got {images!r}.")
    if len(images) == 0:
        raise ValueError("images holds no image; at least one is needed.")
    names = [str(image) if isinstance(image, str | Path) else f"image {k}" for k, image in enumerate(images)]

    def transform(start, stop):
        return [_census(images[k], names[k]) for k in range(start, stop)]

    with Threads(check_jobs(n_jobs)) as threads:
        work = len(images) * USUAL_PIXELS * STEPS_PER_PIXEL
        transformed = [codes for block in threads.run(transform, len(images), work) for codes in block]
    return _joined(transformed, names)


def _census(image, name):
    """Compute the census codes of one image, a path or an array."""
    grey = read_grey(image) if isinstance(image, str | Path) else np.asarray(image)
    if grey.ndim != 2 or grey.dtype != np.uint8 or min(grey.shape) < 3:
        raise ValueError(
            f"{name} has shape {grey.shape} and dtype {grey.dtype}; expected grey values, (height, width) of at "
            "least 3 x 3 pixels, uint8."
        )
    codes = np.empty((grey.shape[0] - 2, grey.shape[1] - 2), dtype=np.uint8)
    kernels.census(np.ascontiguousarray(grey), codes)
    return codes


def _joined(transformed, names):
    """Put the codes of all images into one array; the list is emptied meanwhile to save memory."""
    shapes = np.array([codes.shape for codes in transformed])
    ends = np.cumsum(shapes.prod(axis=1))
    offsets = ends - shapes.prod(axis=1)
    joined = np.empty(ends[-1], dtype=np.uint8)
    for k, (start, stop) in enumerate(zip(offsets, ends, strict=True)):
        joined[start:stop] = transformed[k].ravel()
        transformed[k] = None
    return CensusImages(joined, offsets, shapes, np.array(names))
