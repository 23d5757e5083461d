"""A street in motion: the camera drives and turns, people walk; the flow of each pixel is known."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from paucens.datasets.records import DetectionRecord
from paucens.datasets.streets import _scene as scene
from paucens.datasets.streets._shapes import Canvas, doubled

TURN, DRIVE, STRAFE = 0.004, 0.015, 0.01  # largest motion per frame: share of the width, growth in front, heights


class Camera(NamedTuple):
    """What a camera sees of a point: a little else in each frame.

    A point in space has a "unit", the height in pixels that a person would have beside it, which falls with its
    distance; that of the sky is 0.
    """

    centre: np.ndarray  # that it drives to
    per_pixel: float  # unit per pixel below the horizon
    forward: float  # per frame, such that a unit grows by the factor 1 / (1 - forward * unit)
    side: float  # pixels to the right per frame and unit
    turn: np.ndarray  # pixels per frame, of everything

    @classmethod
    def of(cls, rng, street, height, width):
        """Draw the motion of a camera."""
        horizon, per_pixel = street["horizon"], street["per_pixel"]
        forward = DRIVE * rng.uniform() / (per_pixel * (height - horizon))
        turn = TURN * width * rng.uniform(-1, 1, 2) * (1, 0.2)
        return cls(np.array([width / 2, horizon]), per_pixel, forward, STRAFE * rng.uniform(-1, 1), turn)

    def seen(self, points, unit, time):
        """Return where points (..., 2) of frame 0 are seen at another time; `unit` is one for all, or (..., 1)."""
        away = points - self.centre
        away[..., :1] += self.side * time * unit
        return self.centre + time * self.turn + away / (1 - self.forward * time * unit)

    def unit_on_ground(self, points):
        """Return the units (..., 1) of points on the ground."""
        return self.per_pixel * (points[..., 1:] - self.centre[1])

    def on_ground(self, points, time):
        """Return where points on the ground, seen at some time, are in frame 0."""
        away = points - time * self.turn - self.centre
        unit = self.per_pixel * away[..., 1:]
        unit = unit / (1 + self.forward * time * unit)
        back = away * (1 - self.forward * time * unit)
        back[..., :1] -= self.side * time * unit
        return self.centre + back


class _Sketch:
    """A canvas that only remembers what was painted on it."""

    def __init__(self):
        self.shapes, self.labels = [], []

    def paint(self, shapes, label):
        self.shapes += shapes
        self.labels += [label] * len(shapes)


class _Indexed(Canvas):
    """A canvas on which the number of each shape can be read, from 1 on."""

    def __init__(self, height, width):
        super().__init__(height, width)
        self.numbers = Image.new("I", (2 * width, 2 * height))
        self._pen = ImageDraw.Draw(self.numbers)

    def paint_from(self, shapes, label, first):
        """Paint shapes of the numbers from `first` on."""
        self.paint(shapes, label)
        for k, (points, _) in enumerate(shapes, first):
            self._pen.polygon(doubled(points).ravel().tolist(), fill=k)


class Street:
    """A street whose pictures are taken one after the other; see `scene.render` for the arguments."""

    def __init__(self, seed, number, people, size):
        self.key, self.people, self.size, self._sketches = [seed, number], people, size, {}

    @cached_property
    def camera(self):
        """The camera and its motion."""
        street = scene._street(self._stream(0), self.size[0])
        return Camera.of(self._stream(2), street, *self.size)

    def _stream(self, *number):
        return np.random.RandomState([*self.key, *number])

    def frame(self, time, before):
        """Render frame `time`, from -1 on: pixels, boxes, boxes to ignore, and the flow to the shapes of `before`."""
        now = self.sketch(time)
        canvas, standing = _Indexed(*self.size), sorted(now["standing"], key=lambda one: one[0])
        for k, (shape, label) in enumerate(zip(now["shapes"], now["labels"], strict=True), 1):
            canvas.paint_from([shape], label, k)
        for label, (foot, shapes, _, first) in enumerate(standing, scene.FIRST):
            scene._shadow(canvas, shapes, foot)
            canvas.paint_from(shapes, label, first)
        boxes, ignore = scene._truth(canvas, [one[:3] for one in standing])
        numbers, labels = (np.asarray(canvas)[::2, ::2] for canvas in (canvas.numbers, canvas.labels))
        pixel = np.stack(np.meshgrid(*(np.arange(side) + 0.5 for side in self.size[::-1])), axis=-1)
        at_start = self._carried(numbers, labels, pixel, time, 0) if time else pixel
        places, rng = np.moveaxis(at_start, 2, 0)[::-1] - 0.5, np.random.RandomState()
        rng.set_state(now["state"])
        pixels = scene._photograph(canvas, rng, self.size, places, self._stream(3, time + 1))
        flow = None if before is None else self._carried(numbers, labels, pixel, time, before) - pixel
        return pixels, boxes, ignore, flow

    def sketch(self, time):
        """Return the shapes of frame `time`: those of the backdrop, and things and people as (foot, shapes, is_person,
        number of the first shape); and the state of the random numbers that follow.
        """
        if time not in self._sketches:
            self._sketches[time] = self._sketched(time)
        return self._sketches[time]

    def _sketched(self, time):
        (height, width), rng, backdrop = self.size, self._stream(0), _Sketch()
        street = scene._street(rng, height)
        scene._backdrop(backdrop, rng, street, height, width)
        crowd = scene._crowd(self._stream(1), street, height, width, time) if self.people else []
        unit = street["per_pixel"] * (street["ground"] - street["horizon"])  # of the houses
        shapes = [
            self._seen_behind(shape, label, unit, time, street["ground"])
            for shape, label in zip(backdrop.shapes, backdrop.labels, strict=True)
        ]
        standing, first = [], 1 + len(shapes)
        for foot, own, is_person in [*scene._clutter(rng, street, height, width), *crowd]:
            unit = street["per_pixel"] * (foot - street["horizon"])
            own = [shape._replace(points=self.camera.seen(shape.points, unit, time)) for shape in own]
            (_, seen_foot) = self.camera.seen(np.array([0.0, foot]), unit, time)
            standing.append((seen_foot, own, is_person, first))
            first += len(own)
        return {"shapes": shapes, "labels": backdrop.labels, "standing": standing, "state": rng.get_state()}

    def _seen_behind(self, shape, label, unit, time, ground):
        """Return a shape of the backdrop as seen at a time; what fills the picture goes on beyond it."""
        points = shape.points
        if label != scene.HOUSE and len(points) == 4 and points[0, 0] <= 0 and points[1, 0] >= self.size[1]:
            points = _extended(points, self.size, ground if label == scene.GROUND else None)
        units = {scene.SKY: 0.0, scene.HOUSE: unit}.get(label)
        if units is None:
            units = self.camera.unit_on_ground(points)
        return shape._replace(points=self.camera.seen(points, units, time))

    def _carried(self, numbers, labels, pixel, time, other):
        """Return where the surface in each pixel is seen at another time, (height, width, 2)."""
        here, there = (_points(self.sketch(one)) for one in (time, other))
        maps = np.zeros((numbers.max() + 1, 3, 2))  # of each shape, from here to there
        for k in np.flatnonzero(np.bincount(numbers[labels != scene.GROUND])):
            one = np.column_stack([here[k - 1], np.ones(len(here[k - 1]))])
            maps[k] = np.linalg.lstsq(one, there[k - 1], rcond=None)[0]
        x, y = np.moveaxis(pixel, 2, 0)
        moved = np.stack(
            [m[0][numbers] * x + m[1][numbers] * y + m[2][numbers] for m in np.moveaxis(maps, 2, 0).swapaxes(1, 2)],
            axis=2,
        )
        sky, ground = labels == scene.SKY, labels == scene.GROUND
        moved[sky] = pixel[sky] + (other - time) * self.camera.turn
        at_start = self.camera.on_ground(pixel[ground], time)
        moved[ground] = self.camera.seen(at_start, self.camera.unit_on_ground(at_start), other)
        return moved


def _points(sketch):
    """List the corners of all shapes by number."""
    standing = (shape for _, shapes, *_ in sketch["standing"] for shape in shapes)
    return [shape.points for shape in (*sketch["shapes"], *standing)]


def _extended(points, size, ground):
    """Extend a polygon (left, right, right below, left below) beyond the sides, and beyond the upper or lower end.

    `ground` is where the ground begins; None for the sky, whose stripes go down as far as the picture does.
    """
    (height, width), out = size, points.copy()
    for left, right in ((0, 1), (3, 2)):
        beyond = (points[right, 1] - points[left, 1]) / 2
        out[left], out[right] = (
            (points[left, 0] - width / 2, points[left, 1] - beyond),
            (points[right, 0] + width / 2, points[right, 1] + beyond),
        )
    if ground is None:
        out[:2, 1] -= height * (out[:2, 1] <= 0)
        out[2:, 1] += height
        return out
    out[:, 1] = np.maximum(out[:, 1], ground) + height / 2 * (points[:, 1] >= height)
    return out


def render_sequence(seed, number, n_frames, people, size):
    """Render the frames of a street; return their records, each with the image before, and the flows to it."""
    street, records, flows = Street(seed, number, people, size), [], []
    previous, *_ = street.frame(-1, None)
    for time in range(n_frames):
        pixels, boxes, ignore, flow = street.frame(time, time - 1)
        records.append(DetectionRecord(pixels, boxes, ignore, previous=previous))
        flows.append(flow.astype(np.float32))
        previous = pixels
    return records, flows
