"""Filled polygons, of which all of a street is drawn; a thing is a list of them, the nearest last."""

import math
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw


class Shape(NamedTuple):
    """A filled polygon: `points` (k, 2) and an RGB colour."""

    points: np.ndarray
    colour: tuple


def shade(colour, factor):
    """Make a colour darker or lighter."""
    return tuple(min(255, round(value * factor)) for value in colour)


def polygon(points, colour):
    """Return the polygon through these (x, y)."""
    return Shape(np.asarray(points, dtype=np.float64), colour)


def box(left, top, right, bottom, colour):
    """Return an upright rectangle."""
    return polygon([(left, top), (right, top), (right, bottom), (left, bottom)], colour)


def ellipse(x, y, radius_x, radius_y, colour):
    """Return an upright ellipse around (x, y), as a polygon of 20 corners."""
    angle = np.arange(20) * (math.pi / 10)
    return Shape(np.column_stack([x + radius_x * np.cos(angle), y + radius_y * np.sin(angle)]), colour)


def limb(start, end, radius_start, radius_end, colour):
    """Return a rod with round ends, which may taper."""
    (x, y), (x_end, y_end) = start, end
    along = math.atan2(y_end - y, x_end - x)
    turn = np.linspace(0, math.pi, 7)
    back, front = along + math.pi / 2 + turn, along - math.pi / 2 + turn
    first = np.column_stack([x + radius_start * np.cos(back), y + radius_start * np.sin(back)])
    second = np.column_stack([x_end + radius_end * np.cos(front), y_end + radius_end * np.sin(front)])
    return Shape(np.concatenate([first, second]), colour)


def placed(shapes, x, y, scale):
    """Move shapes from their own units, feet at (0, 0), to pixels, feet at (x, y)."""
    return [Shape(points * scale + (x, y), colour) for points, colour in shapes]


class Canvas:
    """A canvas of twice the size of the picture: colours in one image and labels in another."""

    def __init__(self, height, width):
        self.colours = Image.new("RGB", (2 * width, 2 * height))
        self.labels = Image.new("L", (2 * width, 2 * height))
        self._pens = ImageDraw.Draw(self.colours), ImageDraw.Draw(self.labels)

    def paint(self, shapes, label):
        """Draw shapes in the order of the list."""
        colours, labels = self._pens
        for points, colour in shapes:
            corners = doubled(points).ravel().tolist()
            colours.polygon(corners, fill=colour)
            labels.polygon(corners, fill=label)

    def darken(self, shape):
        """Halve the brightness inside a shape; labels stay."""
        corners = doubled(shape.points)
        left, top = corners.min(axis=0).tolist()
        right, bottom = corners.max(axis=0).tolist()
        mask = Image.new("L", (right - left + 1, bottom - top + 1))
        ImageDraw.Draw(mask).polygon((corners - (left, top)).ravel().tolist(), fill=128)
        self.colours.paste((0, 0, 0), (left, top), mask)


def doubled(points):
    """Return the corners on the canvas as integers, so that the last digits of a sine do not matter."""
    return np.rint(2 * points).astype(np.int64)


def extent(shapes):
    """Return the box (x, y, w, h) of shapes, exact to half a pixel, and their area on the canvas."""
    corners = [doubled(points) for points, _ in shapes]
    low = np.min([points.min(axis=0) for points in corners], axis=0)
    size = np.max([points.max(axis=0) for points in corners], axis=0) - low + 1
    mask = Image.new("1", tuple(size.tolist()))
    pen = ImageDraw.Draw(mask)
    for points in corners:
        pen.polygon((points - low).ravel().tolist(), fill=1)
    left, top, right, bottom = mask.getbbox()
    area = int(np.asarray(mask).sum())
    return np.array([low[0] + left, low[1] + top, right - left, bottom - top]) / 2, area
