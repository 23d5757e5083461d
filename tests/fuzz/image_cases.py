"""Inputs of `fuzz_channels`: images of every kind that is allowed, and presets of every kind."""

from dataclasses import replace

import numpy as np

from paucens.features import PRESETS, ChannelSpec
from paucens.features.preset import PATCH_SIZES, CovarianceRule

PIXELS = {
    "noise": lambda rng, shape: rng.random(shape),
    "few levels": lambda rng, shape: rng.integers(0, 3, shape) / 2,
    "flat": lambda rng, shape: np.full(shape, rng.random()),
    "slope": lambda rng, shape: np.linspace(0, 1, shape[0] * shape[1]).reshape(*shape[:2], 1) * np.ones(3),
    "dark": lambda rng, shape: rng.random(shape) * 10.0 ** rng.uniform(-45, -1),
    "dots": lambda rng, shape: (rng.random((*shape[:2], 1)) < 0.05) * np.ones(3),
    "smooth": lambda rng, shape: np.kron(rng.random((-(-shape[0] // 6), -(-shape[1] // 6), 3)), np.ones((6, 6, 1))),
}
LAYOUTS = {
    "C": lambda image: image,
    "Fortran": np.asfortranarray,
    "every other pixel": lambda image: np.repeat(np.repeat(image, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda image: np.ascontiguousarray(image[::-1, ::-1])[::-1, ::-1],
    "colours swapped": lambda image: np.ascontiguousarray(image[..., ::-1])[..., ::-1],
    "part of a wider one": lambda image: np.pad(image, ((1, 0), (2, 3), (0, 1)))[1:, 2:-3, :3],
}


def pick(rng, choices):
    """Choose one of the values of a dictionary or list."""
    values = list(choices.values()) if isinstance(choices, dict) else choices
    return values[rng.integers(len(values))]


def draw_image(rng, longest):
    """Draw an image of any kind that is allowed, not to be written to."""
    height, width = (int(side) for side in rng.integers(1, longest + 1, 2))
    image = pick(rng, PIXELS)(rng, (height, width, 3))[:height, :width]
    kind = pick(rng, [np.uint8, np.uint8, np.float32, np.float64, np.float16])
    image = (255 * image).astype(np.uint8) if kind == np.uint8 else image.astype(kind)
    image = pick(rng, LAYOUTS)(image)
    if rng.random() < 0.1:
        image = image[..., 0]
    image.flags.writeable = False
    return image


def draw_radius(rng):
    return pick(rng, [0.0, 0.5, 1.0, float(rng.random())])


def draw_rule(rng):
    sizes = [size for size in PATCH_SIZES if rng.random() < 0.5] or [PATCH_SIZES[rng.integers(4)]]
    has_ridges = rng.random() < 0.5
    return CovarianceRule(
        tuple(sizes),
        centred=bool(rng.integers(2)),
        clip_negatives=bool(rng.integers(2)),
        min_variance=pick(rng, [-1.0, 0.0, 1e-8] if has_ridges else [0.0, 1e-8, 1e-3]),
        ridge=pick(rng, [2e-6, 0.1]) if has_ridges else 0.0,
        orientation_ridge=0.02 if has_ridges else 0.0,
    )


def draw_spec(rng):
    """Draw families of a standard preset or of a variation."""
    preset = pick(rng, PRESETS)
    if rng.random() < 0.6:
        preset = replace(
            PRESETS["paper"],
            name="drawn",
            smooth_luv=draw_radius(rng),
            smooth_channels=draw_radius(rng),
            smooth_pooled=draw_radius(rng),
            smooth_intensity=draw_radius(rng),
            lightness_table=bool(rng.integers(2)),
            colours=bool(rng.integers(2)),
            covariance=draw_rule(rng),
            lbp=pick(rng, ["patches", "histograms"]),
        )
    kinds = ["LUV", "M", "O", pick(rng, ["spLBP", "LBP"]), pick(rng, ["spCov", "Cov"])]
    names = [name for name in kinds if name in preset.families]
    wanted = [name for name in names if rng.random() < 0.5] or [pick(rng, names)]
    return ChannelSpec.parse("+".join(rng.permutation(wanted)), preset=preset)
