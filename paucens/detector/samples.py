"""Images that samples come from: the edges that they repeat, streams of random numbers."""

import numpy as np

from paucens.features.motion import frame_at

LEAST_EDGE = 3  # pixels


def crop_at(name, sources, k, search):
    """Return `frame_at` of a crop; raise ValueError unless it has the size of the window with its margin."""
    pixels, window = frame_at(name, sources, k, search.spec), search.window
    if pixels.shape[:2] != window.crop:
        height, width = window.crop
        raise ValueError(
            f"{name}[{k}] has {pixels.shape[0]} x {pixels.shape[1]} pixels; expected {height} x {width}: the window "
            f"with a margin of {window.margin} on all sides. Cut it so, or change the window."
        )
    return pixels


def repeated_edges(rgb):
    """Count the outermost rows and columns of an image that repeat the next one inwards: top, bottom, left, right.

    A crop that left its photograph has such edges. Fewer than `LEAST_EDGE` count as none, since they occur by chance.

    Examples
    --------
    >>> noise = np.random.RandomState(0).randint(256, size=(20, 10, 3)).astype(np.uint8)
    >>> noise[:6] = noise[6]
    >>> repeated_edges(noise)
    (6, 0, 0, 0)
    """
    return tuple(_repeated(view) for view in (rgb, rgb[::-1], rgb.swapaxes(0, 1), rgb.swapaxes(0, 1)[::-1]))


def _repeated(rows):
    differ = (rows[1:] != rows[:-1]).reshape(len(rows) - 1, -1).any(axis=1)
    n = int(np.argmax(differ)) if differ.any() else 0
    return n if n >= LEAST_EDGE else 0


def with_edges(rgb, edges):
    """Copy an image and let its outermost rows and columns repeat the next one: top, bottom, left, right."""
    top, bottom, left, right = edges
    inner = rgb[top : len(rgb) - bottom, left : rgb.shape[1] - right]
    return np.pad(inner, ((top, bottom), (left, right), (0, 0)), mode="edge")


def stream(*key):
    """Return a generator of random numbers that depends on the key alone."""
    return np.random.default_rng(np.random.SeedSequence(key))
