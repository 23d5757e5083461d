"""Pedestrians as jointed figures: pose, build, clothes, skin, hair, things carried. Unit: the height of a person."""

import math

import numpy as np

from paucens.datasets.streets._shapes import ellipse, limb, polygon, shade

SKIN = ((241, 204, 177), (224, 172, 138), (198, 134, 94), (154, 100, 66), (107, 68, 45), (74, 48, 36))
HAIR = ((28, 24, 22), (62, 42, 28), (110, 78, 46), (182, 148, 92), (140, 136, 132), (120, 54, 30))
CLOTH = (
    (34, 36, 42),
    (58, 60, 66),
    (36, 48, 82),
    (70, 92, 130),
    (104, 84, 62),
    (150, 134, 108),
    (214, 210, 200),
    (168, 44, 42),
    (60, 96, 66),
    (192, 146, 52),
    (120, 72, 112),
    (96, 144, 168),
    (236, 234, 230),
    (90, 34, 40),
)
SHOULDER, HIP, KNEE, ANKLE = -0.815, -0.50, 0.245, 0.225  # heights of the first two; lengths of thigh and shin


PACE, CYCLE = 0.027, 30  # of a walk: heights of the person per frame, and frames of two steps, at 30 frames per second


def person(rng):
    """Return the shapes of a random pedestrian, feet at (0, 0), about 1 high."""
    return walker(rng, 0)[0]


def walker(rng, time):
    """Return the shapes of a random pedestrian some frames later, and how far to the right it goes per frame.

    Its feet remain at (0, 0): the step goes on, but not the place. The shapes are the same ones at all times.
    """
    look = _look(rng)
    pace = PACE * look["turn"] if look["phase"] else 0.0
    if time and look["phase"]:
        look["phase"] = math.sin(math.asin(look["phase"]) + 2 * math.pi * time / CYCLE)
    far, near = _limbs(rng, look, -1), _limbs(rng, look, 1)
    shapes = [*far, *_carried_behind(rng, look), *_torso(rng, look), *near, *_head(rng, look)]
    if rng.random_sample() < 0.5:
        shapes, pace = [shape._replace(points=shape.points * (-1, 1)) for shape in shapes], -pace
    return _standing(shapes), pace


def dummy(rng):
    """Return a tailor's dummy: a trunk, perhaps arms and a head, on a pole instead of legs. It is not a person."""
    look = _look(rng) | {"dress": "trousers"}
    arms = [shape for side in (-1, 1) for shape in _arm(rng, look, side, 1.0)] if rng.random_sample() < 0.5 else []
    head = _head(rng, look) if rng.random_sample() < 0.5 else [ellipse(0, -0.87, 0.03, 0.04, look["legs"])]
    pole = [limb((0, -0.02), (0, -0.5), 0.02, 0.02, look["shoes"]), ellipse(0, -0.02, 0.13, 0.025, look["shoes"])]
    return _standing([*pole, *_torso(rng, look), *arms, *head])


def _standing(shapes):
    """Move shapes up or down until the lowest touches the ground."""
    lowest = max(shape.points[:, 1].max() for shape in shapes)
    return [shape._replace(points=shape.points - (0, lowest)) for shape in shapes]


def _look(rng):
    """Draw the properties that the parts of a figure share."""
    cloth = [_cloth(rng) for _ in range(3)]
    turn = rng.uniform(0, 1)  # 0 from the front or the back, 1 from the side
    return {
        "turn": turn,
        "bulk": rng.uniform(0.85, 1.25),
        "phase": rng.uniform(-1, 1) if rng.random_sample() < 0.8 else 0.0,  # of the step; some stand
        "lean": rng.uniform(-0.02, 0.03) * turn,
        "light": rng.choice([-1, 1]),
        "skin": shade(SKIN[rng.randint(len(SKIN))], rng.uniform(0.85, 1.1)),
        "hair": HAIR[rng.randint(len(HAIR))],
        "top": cloth[0],
        "legs": cloth[1],
        "shoes": shade(cloth[2], 0.7),
        "dress": rng.choice(["trousers", "trousers", "trousers", "shorts", "skirt", "coat"]),
        "sleeve": rng.random_sample() < 0.7,
        "arms": rng.choice(["swing", "swing", "swing", "pocket", "phone"]),
    }


def _cloth(rng):
    """Draw a colour of cloth; no two are alike."""
    dye = shade(CLOTH[rng.randint(len(CLOTH))], rng.uniform(0.75, 1.15))
    return tuple(min(255, max(0, value + rng.randint(-22, 23))) for value in dye)


def _limbs(rng, look, side):
    """Return leg and arm of one side; the far side (-1) is drawn darker."""
    dark = 0.72 if side < 0 else 1.0
    return [*_leg(rng, look, side, dark), *_arm(rng, look, side, dark)]


def _leg(rng, look, side, dark):
    turn, bulk = look["turn"], look["bulk"]
    swing = side * look["phase"] * (0.12 + 0.38 * turn)
    bend = rng.uniform(0.0, 0.1) + 0.7 * max(0.0, -swing) * rng.uniform(0.5, 1.0)
    hip = np.array([side * 0.052 * (1 - turn) * bulk, HIP])
    knee = hip + KNEE * np.array([math.sin(swing), math.cos(swing)])
    ankle = knee + ANKLE * np.array([math.sin(swing - bend), math.cos(swing - bend)])
    toe = ankle + np.array([0.02 * side * (1 - turn) + 0.085 * turn, 0.03 - 0.01 * turn])
    cloth = shade(look["legs"], dark)
    bare = shade(look["skin"], dark)
    thigh, shin = {"shorts": (cloth, bare), "skirt": (bare, bare)}.get(look["dress"], (cloth, cloth))
    return [
        limb(ankle, toe, 0.028, 0.024, shade(look["shoes"], dark)),
        limb(knee, ankle, 0.042 * bulk, 0.028, shin),
        limb(hip, knee, 0.062 * bulk, 0.043 * bulk, shade(thigh, 0.95)),
    ]


def _arm(rng, look, side, dark):
    turn, bulk = look["turn"], look["bulk"]
    shoulder = np.array([side * _shoulder(look) * 0.92 + look["lean"], SHOULDER + 0.02])
    swing = -side * look["phase"] * (0.1 + 0.45 * turn) + side * rng.uniform(0.02, 0.2) * (1 - turn)
    bend = rng.uniform(0.05, 0.5) * (0.3 + 0.7 * turn)
    if look["arms"] == "pocket":
        swing, bend = side * 0.25 * (1 - turn) - 0.3 * turn, -side * 0.6 * (1 - turn) + 0.8 * turn
    elif look["arms"] == "phone" and side > 0:
        swing, bend = 0.2, 2.1
    elbow = shoulder + 0.175 * np.array([math.sin(swing), math.cos(swing)])
    hand = elbow + 0.165 * np.array([math.sin(swing + bend), math.cos(swing + bend)])
    cloth, bare = shade(look["top"], 0.9 * dark), shade(look["skin"], dark)
    return [
        ellipse(*hand, 0.024, 0.026, bare),
        limb(elbow, hand, 0.031 * bulk, 0.023, cloth if look["sleeve"] else bare),
        limb(shoulder, elbow, 0.042 * bulk, 0.033 * bulk, cloth),
    ]


def _shoulder(look):
    """Return half the width of the shoulders."""
    return (0.122 - 0.05 * look["turn"]) * look["bulk"]


def _torso(rng, look):
    """Return the trunk and its clothes, darker on the side away from the light, sometimes striped."""
    wide, lean = _shoulder(look), look["lean"]
    waist = (0.088 - 0.016 * look["turn"]) * look["bulk"]
    hem_y = {"coat": rng.uniform(-0.36, -0.26), "skirt": -0.47}.get(look["dress"], rng.uniform(-0.48, -0.43))
    hem = waist * (rng.uniform(1.15, 1.5) if look["dress"] == "coat" else 1.12)
    outline = [(wide, SHOULDER), (waist, -0.6), (hem, hem_y)]
    right = [(lean * (-y) + x, y) for x, y in outline]
    left = [(lean * (-y) - x, y) for x, y in outline]
    shapes = [] if look["dress"] != "skirt" else [_skirt(rng, look, waist)]
    shapes.append(polygon([(lean, -0.85), *right, *reversed(left)], look["top"]))
    dark_side = right if look["light"] < 0 else left
    shapes.append(polygon([*dark_side, *((0.35 * x, y) for x, y in reversed(dark_side))], shade(look["top"], 0.78)))
    if rng.random_sample() < 0.2:
        shapes.extend(_stripes(rng, wide, waist))
    return shapes


def _skirt(rng, look, waist):
    flare, hem = waist * rng.uniform(1.1, 1.7), rng.uniform(-0.36, -0.2)
    return polygon([(waist, -0.56), (flare, hem), (-flare, hem), (-waist, -0.56)], look["legs"])


def _stripes(rng, wide, waist):
    colour = _cloth(rng)
    for y in np.arange(-0.78, -0.6, 0.05):
        half = wide + (waist - wide) * (y - SHOULDER) / 0.215
        yield polygon([(-half, y), (half, y), (half, y + 0.022), (-half, y + 0.022)], colour)


def _carried_behind(rng, look):
    """Return a rucksack, a bag, or nothing."""
    kind = rng.randint(6)
    colour = shade(_cloth(rng), 0.9)
    if kind == 0:
        return [limb((-0.075 * look["turn"], -0.76), (-0.085 * look["turn"], -0.6), 0.06, 0.07, colour)]
    if kind == 1:
        x = 0.8 * _shoulder(look) + 0.03
        return [polygon([(x - 0.05, -0.47), (x + 0.05, -0.47), (x + 0.06, -0.34), (x - 0.06, -0.34)], colour)]
    return []


def _head(rng, look):
    x, wide = look["lean"] * 1.1 + 0.012 * look["turn"], rng.uniform(0.047, 0.056)
    skin, hair = look["skin"], look["hair"]
    shapes = [limb((look["lean"], -0.83), (x, -0.88), 0.032, 0.03, shade(skin, 0.85))]
    if rng.random_sample() < 0.25:  # long hair, behind
        shapes.append(limb((x - 0.02 * look["turn"], -0.93), (x - 0.03 * look["turn"], -0.84), 0.06, 0.055, hair))
    shapes.append(ellipse(x, -0.925, wide, 0.069, skin))
    away = rng.random_sample() < 0.35
    back = ellipse(x, -0.935, 1.06 * wide, 0.066, hair)
    cap = [(x - 1.08 * wide, -0.925), (x - 0.9 * wide, -0.98), (x, -1.0), (x + 0.9 * wide, -0.98), (x + wide, -0.95)]
    shapes.append(back if away else polygon([*cap, (x + 0.2 * wide, -0.965), (x - 0.6 * wide, -0.955)], hair))
    if rng.random_sample() < 0.15:
        hat = _cloth(rng)
        shapes += [ellipse(x, -0.975, 1.1 * wide, 0.035, hat), ellipse(x + 0.01, -0.955, 1.5 * wide, 0.012, hat)]
    return shapes
