"""Things in a street, some of the size and outline of a person. Unit: the height of a person."""

import numpy as np

from paucens.datasets.streets._people import dummy
from paucens.datasets.streets._shapes import box, ellipse, limb, polygon, shade

METAL = ((58, 60, 62), (92, 96, 98), (132, 134, 134), (40, 62, 50))
PAINT = ((172, 40, 36), (40, 74, 140), (196, 164, 46), (48, 98, 62), (206, 206, 202), (44, 44, 48), (120, 120, 124))
LEAF = ((58, 84, 44), (78, 104, 54), (44, 66, 40), (104, 112, 58), (126, 92, 48))
BARK = ((82, 66, 52), (64, 54, 46), (104, 90, 74))


def thing(rng):
    """Return the shapes of a random thing, standing at (0, 0)."""
    return KINDS[rng.randint(len(KINDS))](rng)


def _of(rng, palette):
    return shade(palette[rng.randint(len(palette))], rng.uniform(0.8, 1.15))


def lamp(rng):
    """Return a street lamp."""
    metal, height, reach = _of(rng, METAL), rng.uniform(1.8, 2.8), rng.choice([-1, 1]) * rng.uniform(0.0, 0.4)
    return [
        limb((0, -0.02), (0, -0.3), 0.05, 0.04, metal),
        limb((0, -0.2), (0, -height), 0.028, 0.02, metal),
        limb((0, -height), (reach, -height - 0.06), 0.018, 0.016, metal),
        ellipse(reach, -height - 0.04, 0.08, 0.05, (226, 222, 200)),
    ]


def meter(rng):
    """Return a post with a head, such as a parking meter or a bollard with a ball."""
    metal, height, round_head = _of(rng, METAL), rng.uniform(0.6, 1.0), rng.uniform(0.05, 0.1)
    return [
        limb((0, -0.01), (0, -height), rng.uniform(0.03, 0.08), 0.04, metal),
        ellipse(0, -height, round_head, 1.3 * round_head, shade(_of(rng, PAINT), 0.9)),
    ]


def sign(rng):
    """Return a traffic sign."""
    height, size, paint = rng.uniform(1.1, 1.7), rng.uniform(0.12, 0.2), _of(rng, PAINT)
    post = limb((0, 0), (0, -height), 0.018, 0.018, _of(rng, METAL))
    plate = (
        [ellipse(0, -height, size, size, paint), ellipse(0, -height, 0.7 * size, 0.7 * size, (230, 230, 226))],
        [polygon([(0, -height - size), (size, -height + 0.8 * size), (-size, -height + 0.8 * size)], paint)],
        [box(-size, -height - 0.8 * size, size, -height + 0.8 * size, paint)],
    )[rng.randint(3)]
    return [post, *plate]


def panel(rng):
    """Return a board on two legs with a knob on top: the outline of a person."""
    metal, paint = _of(rng, METAL), _of(rng, PAINT)
    half, top, bottom = rng.uniform(0.09, 0.2), rng.uniform(-0.95, -0.7), rng.uniform(-0.5, -0.35)
    legs = [limb((x, 0), (x, bottom), 0.022, 0.022, metal) for x in (-0.7 * half, 0.7 * half)]
    knob = ellipse(0, top - 0.04, rng.uniform(0.04, 0.07), 0.05, shade(metal, 1.2))
    board = box(-half, top, half, bottom, paint)
    text = [box(-0.7 * half, y, 0.5 * half, y + 0.02, shade(paint, 1.5)) for y in np.arange(top + 0.06, bottom, 0.07)]
    return [*legs, knob, board, *text[: rng.randint(len(text) + 1)]]


def tree(rng):
    """Return a broad-leaved tree."""
    bark, leaf = _of(rng, BARK), _of(rng, LEAF)
    crown, trunk, thick = rng.uniform(0.45, 0.9), rng.uniform(0.9, 1.5), rng.uniform(0.04, 0.11)
    return [
        limb((0, -1.3 * thick), (rng.uniform(-0.1, 0.1), -trunk - 0.3), 1.3 * thick, 0.7 * thick, bark),
        *_leaves(rng, 0, -trunk - 0.8 * crown, crown, 0.9 * crown, leaf, 45),
    ]


def shrub(rng):
    """Return a bush, or a narrow tree with leaves down to the ground, about as high as a person."""
    height, half = rng.uniform(0.5, 1.3), rng.uniform(0.12, 0.35)
    return _leaves(rng, 0, -0.48 * height, half, 0.5 * height, _of(rng, LEAF), 40)


def _leaves(rng, x, y, radius_x, radius_y, colour, count):
    """Return overlapping blobs in an ellipse, the upper ones lighter."""
    shapes = [ellipse(x, y, 0.85 * radius_x, 0.9 * radius_y, shade(colour, 0.7))]
    for u, v, size, light in rng.random_sample((count, 4)):
        up, across = 2 * v - 1, (2 * u - 1) * np.sqrt(1 - (2 * v - 1) ** 2)
        blob = (0.12 + 0.16 * size) * radius_x
        tone = shade(colour, 0.95 - 0.25 * up + 0.3 * (light - 0.5))
        shapes.append(ellipse(x + 0.9 * across * radius_x, y + 0.9 * up * radius_y, blob, 0.8 * blob, tone))
    return shapes


def hydrant(rng):
    """Return a fire hydrant."""
    paint = _of(rng, PAINT)
    return [
        box(-0.07, -0.03, 0.07, 0, shade(paint, 0.7)),
        limb((0, -0.05), (0, -0.33), 0.055, 0.05, paint),
        limb((-0.08, -0.24), (0.08, -0.24), 0.025, 0.025, shade(paint, 0.85)),
        ellipse(0, -0.38, 0.045, 0.035, shade(paint, 1.1)),
    ]


def bin_(rng):
    """Return a litter bin or a letter box."""
    paint, half, height = _of(rng, PAINT), rng.uniform(0.1, 0.18), rng.uniform(0.45, 0.85)
    return [
        polygon([(-half, -height), (half, -height), (0.85 * half, 0), (-0.85 * half, 0)], paint),
        polygon([(0.2 * half, -height), (half, -height), (0.85 * half, 0), (0.2 * half, 0)], shade(paint, 0.75)),
        ellipse(0, -height, 1.05 * half, 0.05, shade(paint, 1.15)),
        box(-0.6 * half, -0.8 * height, 0.5 * half, -0.72 * height, (24, 24, 24)),
    ]


def kiosk(rng):
    """Return a telephone box or an advertising column."""
    paint, half, height = _of(rng, PAINT), rng.uniform(0.2, 0.32), rng.uniform(1.15, 1.5)
    pane = shade((150, 164, 170), rng.uniform(0.5, 1.2))
    rows = np.linspace(-0.9 * height, -0.25 * height, rng.randint(3, 6))
    panes = [
        box(x, top, x + 0.7 * half, top + 0.7 * (rows[1] - rows[0]), pane)
        for top in rows
        for x in (-0.8 * half, 0.1 * half)
    ]
    roof = ellipse(0, -height, 1.1 * half, 0.07, shade(paint, 0.8))
    return [box(-half, -height, half, 0, paint), *panes, roof]


def car(rng):
    """Return a car from the side."""
    paint, length, height = _of(rng, PAINT), rng.uniform(1.15, 1.35), rng.uniform(0.75, 0.95)
    hood, roof = rng.uniform(0.45, 0.65), -height
    body = [(-length, -0.14), (-length, -0.45), (-hood - 0.25, -0.52), (-hood + 0.1, roof), (hood * 0.8, roof)]
    body += [(hood + 0.3, -0.52), (length, -0.42), (length, -0.14)]
    glass = [(-hood - 0.1, -0.52), (-hood + 0.15, roof + 0.05), (hood * 0.75, roof + 0.05), (hood + 0.12, -0.52)]
    wheels = [
        ellipse(x, -0.15, radius, radius, tone)
        for x in (-0.62 * length, 0.62 * length)
        for radius, tone in ((0.17, (26, 26, 28)), (0.09, (130, 132, 134)))
    ]
    return [
        polygon(body, paint),
        polygon(glass, (62, 74, 84)),
        box(-0.03, roof + 0.02, 0.03, -0.5, paint),
        box(-length, -0.24, length, -0.14, shade(paint, 0.6)),
        *wheels,
    ]


def bollards(rng):
    """Return a row of short posts."""
    metal, gap, height = _of(rng, METAL), rng.uniform(0.3, 0.6), rng.uniform(0.35, 0.55)
    return [limb((k * gap, -0.02), (k * gap, -height), 0.045, 0.04, metal) for k in range(-2, 3)]


KINDS = (
    lamp,
    meter,
    meter,
    sign,
    panel,
    panel,
    dummy,
    dummy,
    dummy,
    tree,
    tree,
    shrub,
    shrub,
    hydrant,
    bin_,
    kiosk,
    car,
    car,
    bollards,
)
