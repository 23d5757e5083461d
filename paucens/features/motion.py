"""Images that move: an image and the flow to the one before, in one array that is cut, padded and mirrored as one.

Pixels of a still image are RGB bytes, (height, width, 3). Those of a moving one are float32, (height, width, 5): R, G
and B from 0 to 255, then the flow across and down. A source of either is an image or a file; or a pair of it and of
the image before, or of it and of the flow to that, float (height, width, 2).
"""

from pathlib import Path

import numpy as np
from PIL import Image

from paucens.features.flow import dense_flow
from paucens.images import as_bytes, pixels_of, resampled_part

N_PLANES = 5
IMAGES = (str, Path, np.ndarray, Image.Image)  # types of the parts of a pair
WANTED = (
    "Give the image before, of the same size, or the flow to it: previous=... of a call, a pair (image, previous) in a "
    "list, the field `previous` of a record."
)


def flow_to(previous, image) -> np.ndarray:
    """Return the flow from an image to the one before.

    Parameters
    ----------
    previous : image or file, or ndarray of shape (height, width, 2), float
        The image before; or the flow itself, displacements across and down in pixels, such as of another program.
    image : ndarray of shape (height, width, 3)
        RGB by `paucens.images.as_rgb`.

    Returns
    -------
    flow : ndarray of shape (height, width, 2), float32

    Raises
    ------
    ValueError
        If `previous` is None or of another size, or a displacement is nan.
    ImportError
        If it is an image, and OpenCV is not installed.

    Examples
    --------
    >>> flow_to(np.zeros((20, 30, 2)), np.zeros((20, 30, 3), dtype=np.uint8)).shape
    (20, 30, 2)
    """
    if previous is None:
        raise ValueError(f"The channels of Flow describe motion, which one image has none of. {WANTED}")
    if not is_flow(previous):
        return dense_flow(image, pixels_of(previous))
    if previous.shape[:2] != image.shape[:2] or previous.dtype.kind != "f" or np.isnan(previous).any():
        raise ValueError(
            f"The flow has shape {previous.shape} and type {previous.dtype}; expected floats without nan, a "
            f"displacement across and down for each of {image.shape[0]} x {image.shape[1]} pixels."
        )
    return np.ascontiguousarray(previous, dtype=np.float32)


def is_flow(previous):
    """Tell a flow from an image."""
    return isinstance(previous, np.ndarray) and previous.ndim == 3 and previous.shape[2] == 2


# -- sources ---------------------------------------------------------------------------------------


def is_pair(source):
    """Tell whether a source is a pair of an image and of what was before."""
    return isinstance(source, tuple) and len(source) == 2 and all(isinstance(part, IMAGES) for part in source)


def image_of(source):
    """Return the image of a source, which may be a pair."""
    return source[0] if is_pair(source) else source


def sources_for(spec, name, sources):
    """Return the sources that a spec needs of a list: pairs for one with flow, otherwise images alone.

    Raises
    ------
    ValueError
        If the spec needs pairs and a source is none; the message names it.
    """
    if not spec.has_flow:
        return list(map(image_of, sources))
    for k, source in enumerate(sources):
        if not is_pair(source):
            raise ValueError(f"{name}[{k}] is no pair of images, but {spec} describes motion. {WANTED}")
    return list(sources)


def frame(spec, image, previous=None):
    """Return the pixels of an image, moving ones if the spec has flow; `previous` as for `flow_to`."""
    rgb = as_bytes(image)
    return moving(rgb, flow_to(previous, rgb)) if spec.has_flow else rgb


def frame_of(spec, source):
    """Return `frame` of a source."""
    image, previous = source if is_pair(source) else (source, None)
    return frame(spec, pixels_of(image), previous)


def frame_at(name, sources, k, spec):
    """Return `frame` of source k of a list; an error names it."""
    try:
        return frame_of(spec, sources[k])
    except ValueError as error:
        raise ValueError(f"{name}[{k}]: {error}") from error


# -- pixels ----------------------------------------------------------------------------------------


def moving(rgb, flow):
    """Return the pixels of a moving image from its RGB bytes and its flow."""
    return np.concatenate([rgb, flow], axis=2, dtype=np.float32)


def rgb_of(pixels):
    """Return the RGB bytes of pixels."""
    return pixels if pixels.shape[2] < N_PLANES else pixels[..., :3].astype(np.uint8)


def flow_of(pixels):
    """Return the flow of pixels, a view, None of a still image."""
    return pixels[..., 3:] if pixels.shape[2] == N_PLANES else None


def mirrored(pixels):
    """Exchange left and right, of displacements too."""
    out = pixels[:, ::-1].copy()
    if out.shape[2] == N_PLANES:
        out[..., 3] *= -1
    return out


def resampled_flow(flow, corners, shape) -> np.ndarray:
    """Resample a rectangle of a flow to a size, displacements in its pixels; see `paucens.images.resampled_part`."""
    planes = [resampled_part(plane, corners, shape) for plane in np.moveaxis(flow, 2, 0)]
    left, top, right, bottom = corners
    return np.stack(planes, axis=2) * np.float32([shape[1] / (right - left), shape[0] / (bottom - top)])
