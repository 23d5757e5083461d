"""One street: sky, houses, ground, things and people by distance, then light, lens and sensor."""

import numpy as np
from PIL import Image, ImageFilter
from scipy.ndimage import map_coordinates

from paucens.datasets.records import DetectionRecord
from paucens.datasets.streets._people import walker
from paucens.datasets.streets._shapes import Canvas, box, ellipse, extent, placed, polygon, shade
from paucens.datasets.streets._things import thing

HEIGHTS = (0.125, 0.42)  # of a person, in heights of the image: 60 to 200 of 480 pixels
VISIBLE = 0.65  # people with a smaller visible share are ignored, as in the Caltech protocol
SKY, HOUSE, GROUND, FIRST = 0, 1, 2, 3  # labels; each thing and person in the street has its own, from FIRST on
ROUGHNESS = (0.05, 0.22, 0.2, 0.14)  # of the texture, sky, houses, ground and all others
WALLS = ((168, 150, 130), (140, 78, 62), (196, 186, 168), (112, 108, 106), (178, 130, 92), (92, 84, 80))
GROUNDS = ((108, 108, 108), (132, 128, 122), (88, 90, 94), (150, 142, 130))


def render(seed, number, people, size):
    """Render scene `number` of a seed; people have a stream of their own, so that the rest does not depend on them."""
    rng = np.random.RandomState([seed, number, 0])
    height, width = size
    street = _street(rng, height)
    canvas = Canvas(height, width)
    _backdrop(canvas, rng, street, height, width)
    crowd = _crowd(np.random.RandomState([seed, number, 1]), street, height, width) if people else []
    standing = sorted([*_clutter(rng, street, height, width), *crowd], key=lambda one: one[0])
    for label, (foot, shapes, _) in enumerate(standing, FIRST):
        _shadow(canvas, shapes, foot)
        canvas.paint(shapes, label)
    boxes, ignore = _truth(canvas, standing)
    return DetectionRecord(_photograph(canvas, rng, size), boxes, ignore)


def _street(rng, height):
    """Draw the camera: horizon, where houses meet the ground, and heights of people per pixel below the horizon."""
    horizon = rng.uniform(0.28, 0.4) * height
    return {
        "horizon": horizon,
        "ground": horizon + rng.uniform(0.06, 0.24) * height,
        "per_pixel": rng.uniform(0.75, 1.1),
    }


def _backdrop(canvas, rng, street, height, width):
    grey, blue = rng.uniform(110, 210), rng.uniform(0, 60)
    zenith = np.array([grey - 0.6 * blue, grey, grey + blue])
    for top in range(0, round(street["ground"]), 8):
        tone = tuple(np.rint(zenith + (235 - zenith) * top / height).astype(int).tolist())
        canvas.paint([box(0, top, width, top + 8, tone)], SKY)
    _houses(canvas, rng, street, width)
    _ground(canvas, rng, street, height, width)


def _houses(canvas, rng, street, width):
    unit = street["per_pixel"] * (street["ground"] - street["horizon"])  # a person in front of them
    left = -rng.uniform(0, 0.2) * width
    while left < width:
        right = left + rng.uniform(0.12, 0.4) * width
        if rng.random_sample() < 0.85:
            top = rng.uniform(-0.1, 0.6) * street["horizon"]
            canvas.paint(_house(rng, left, right, top, street["ground"], unit), HOUSE)
        left = right + (rng.random_sample() < 0.3) * rng.uniform(0.02, 0.1) * width


def _house(rng, left, right, top, bottom, unit):
    """Return a front with rows of windows, some doors and a ledge at each floor."""
    wall = shade(WALLS[rng.randint(len(WALLS))], rng.uniform(0.7, 1.1))
    frame, glass = shade(wall, rng.choice([0.6, 1.3])), shade((92, 104, 112), rng.uniform(0.4, 1.5))
    floor, window, gap = rng.uniform(1.5, 1.9) * unit, rng.uniform(0.4, 0.7) * unit, rng.uniform(0.3, 0.9) * unit
    shapes = [box(left, top, right, bottom, wall), box(left, top, right, top + 0.12 * unit, shade(wall, 0.75))]
    columns = np.arange(left + gap, right - window, window + gap)
    for level, sill in enumerate(np.arange(bottom - 0.55 * unit, top + 0.8 * unit, -floor)):
        shapes.append(box(left, sill - 0.95 * unit, right, sill - 0.9 * unit, shade(wall, 0.85)))
        for x in columns:
            door = level == 0 and rng.random_sample() < 0.35
            end = bottom if door else sill
            pane = shade(glass, rng.uniform(0.6, 1.3))
            shapes.append(box(x, sill - 0.75 * unit, x + window, end, frame))
            shapes.append(box(x + 0.06 * unit, sill - 0.69 * unit, x + window - 0.06 * unit, end - 0.06 * unit, pane))
            if not door:
                middle = x + window / 2
                shapes.append(box(middle - 0.02 * unit, sill - 0.7 * unit, middle + 0.02 * unit, sill, frame))
    return shapes


def _ground(canvas, rng, street, height, width):
    """Paint pavement with patches, kerb and road."""
    top = street["ground"]
    pavement = shade(GROUNDS[rng.randint(len(GROUNDS))], rng.uniform(0.8, 1.2))
    shapes = [box(0, top, width, height, pavement)]
    for x, y, wide, tone in rng.random_sample((rng.randint(8), 4)):
        foot = top + y * (height - top)
        size = 0.4 * (foot - street["horizon"])
        shapes.append(ellipse(x * width, foot, 2 * wide * size, 0.2 * size, shade(pavement, 0.8 + 0.35 * tone)))
    canvas.paint([*shapes, *_road(rng, top, height, width, shade(pavement, 1.25))], GROUND)


def _road(rng, top, height, width, kerb):
    """Return a road along the lower edge, with a dashed line."""
    tarmac = shade(GROUNDS[rng.randint(len(GROUNDS))], rng.uniform(0.6, 1.0))
    start, slope = np.array([rng.uniform(0.15, 0.6), rng.uniform(-0.15, 0.15)]) * (height - top)
    far, near = (0, top + start + slope), (width, top + start - slope)
    shapes = [
        polygon([far, near, (width, height), (0, height)], tarmac),
        polygon([far, near, (width, near[1] + 0.012 * height), (0, far[1] + 0.012 * height)], kerb),
    ]
    middle = 0.5 * (top + start + height)
    dashes = (np.arange(5) * 0.3 - rng.uniform(0, 0.3)) * width
    return shapes + [box(x, middle, x + 0.12 * width, middle + 0.01 * height, (214, 212, 200)) for x in dashes]


def _crowd(rng, street, height, width, time=0):
    """Draw one to five people as (foot, shapes, True), some frames later; some walk beside the one before."""
    crowd = []
    nearest = min(HEIGHTS[1] * height, 0.96 * street["per_pixel"] * (height - street["horizon"]))
    farthest = max(HEIGHTS[0] * height, 1.03 * street["per_pixel"] * (street["ground"] - street["horizon"]))
    x, tall = 0.0, 0.0
    for _ in range(rng.randint(1, 6)):
        if tall and rng.random_sample() < 0.3:
            x, tall = x + rng.choice([-1, 1]) * rng.uniform(0.25, 0.5) * tall, tall * rng.uniform(0.95, 1.05)
        else:
            x, tall = rng.uniform(0.02, 0.98) * width, np.exp(rng.uniform(np.log(farthest), np.log(nearest)))
        foot = street["horizon"] + tall / street["per_pixel"]
        shapes, pace = walker(rng, time)
        own = tall * rng.uniform(0.92, 1.06)
        crowd.append((foot, placed(shapes, x + pace * own * time, foot, own), True))
    return crowd


def _clutter(rng, street, height, width):
    """Draw six to fifteen things as (foot, shapes, False)."""
    clutter = []
    for depth, x in rng.random_sample((rng.randint(6, 16), 2)):
        foot = street["ground"] + 2 + depth**2 * (0.85 * height - street["ground"])
        unit = street["per_pixel"] * (foot - street["horizon"])
        clutter.append((foot, placed(thing(rng), x * width, foot, unit), False))
    return clutter


def _shadow(canvas, shapes, foot):
    """Darken the ground under a thing or person."""
    corners = np.concatenate([shape.points for shape in shapes])
    tall = np.ptp(corners[:, 1])
    low = corners[corners[:, 1] > foot - 0.1 * tall, 0]
    half = 0.55 * np.ptp(low) + 2
    canvas.darken(ellipse(0.5 * (low.min() + low.max()), foot, half, min(0.25 * half, 0.06 * tall) + 1, 0))


def _truth(canvas, standing):
    """Return the boxes of people who are visible enough, and of the others."""
    labels = np.asarray(canvas.labels)
    found = {True: [], False: []}
    for label, (_, shapes, is_person) in enumerate(standing, FIRST):
        if is_person:
            whole, area = extent(shapes)
            found[np.count_nonzero(labels == label) >= VISIBLE * area].append(whole)
    return found[True], found[False]


def _photograph(canvas, rng, size, places=None, sensor=None):
    """Halve the canvas and add haze, texture, light, blur and noise.

    In a sequence, the texture of a pixel comes from another place (rows, columns), and the noise from another stream.
    """
    labels = np.asarray(canvas.labels)[::2, ::2]
    rough = np.full(256, ROUGHNESS[-1], dtype=np.float32)
    rough[: FIRST + 1] = ROUGHNESS
    light, texture = _light(rng, size), _texture(rng, size)
    if places is not None:
        texture = map_coordinates(texture, places, order=1, mode="mirror")
    light = light * (1 + rough[labels] * texture)
    haze, warm = rng.uniform(0.0, 0.45), rng.uniform(-0.06, 0.06)
    pixels = np.array(canvas.colours.reduce(2), dtype=np.float32)
    pixels += np.float32(200 * haze / (1 - haze))
    pixels *= light[..., None]
    pixels *= ((1 - haze) * np.array([1 + warm, 1, 1 - warm])).astype(np.float32)
    picture = Image.fromarray(_bytes(pixels)).filter(ImageFilter.BoxBlur(rng.uniform(0.0, 1.2)))
    noise = np.frombuffer((sensor or rng).bytes(pixels.size), dtype=np.uint8).reshape(pixels.shape).astype(np.float32)
    noise -= np.float32(127.5)
    noise *= np.float32(rng.uniform(0.02, 0.2))
    noise += np.asarray(picture)
    return _bytes(noise)


def _light(rng, size):
    """Return a brightness that changes linearly over the picture."""
    (height, width), (across, down) = size, rng.uniform(-0.35, 0.35, 2)
    rows = rng.uniform(0.45, 1.15) + down * (np.arange(height) / height - 0.5)
    columns = across * (np.arange(width) / width - 0.5)
    return rows.astype(np.float32)[:, None] + columns.astype(np.float32)


def _texture(rng, size):
    """Return noise of mixed fineness, about -1 to 1."""
    height, width = size
    total = np.zeros(size, dtype=np.float32)
    for step, weight in ((1, 0.25), (2, 0.25), (4, 0.25), (16, 0.25)):
        rows, columns = -(-height // step) + 1, -(-width // step) + 1
        coarse = np.frombuffer(rng.bytes(rows * columns), dtype=np.uint8).reshape(rows, columns)
        fine = Image.fromarray(coarse).resize((columns * step, rows * step), Image.Resampling.BILINEAR)
        total += np.float32(weight / 127.5) * (np.asarray(fine)[:height, :width].astype(np.float32) - 127.5)
    return total


def _bytes(values):
    """Round to uint8, in place."""
    values += np.float32(0.5)
    return np.clip(values, 0, 255, out=values).astype(np.uint8)
