"""How smooth the crops of INRIA are beside its photographs: what Tables 2 and 3 smooth photographs by.

Measure. Mean absolute second difference over mean absolute first difference of grey values, across and down, in strips
of 160 x 24 pixels: at both sides of the crops without repeated edges, where there is background, and at random places
of photographs without people, resampled to several sizes by area means and smoothed by triangles of several radii
(`paucens.features.pyramid.resize`); medians. Training material only.

    python reproduce/sharpness.py --scale paper --data DIR

with the uncompressed INRIA folder of `data/README.md` in DIR. At other scales rendered streets stand in.
"""

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from paucens.detector.samples import pixels_of
from paucens.features.pyramid import resize
from paucens.parallel import Threads
from paucens.plotting import GREY, new_figure
from reproduce._detection import held_crops
from reproduce._detectors import material_of
from reproduce._run import Plan, Script, main
from reproduce._store import Sheet, Task, task_key
from reproduce._tables import markdown

NAME = "sharpness"
STRIP = (160, 24)
FACTORS, RADII = (1.0, 1.5, 2.5), (0.0, 0.5, 0.6, 0.7, 1.0)
COLUMNS = ("images", "factor", "radius", "across", "down", "n_strips")


@dataclass(frozen=True)
class Protocol:
    """What a scale stands for."""

    every: int  # image is looked at
    strips: int  # of each photograph


PROTOCOLS = {"smoke": Protocol(2, 2), "small": Protocol(1, 6), "paper": Protocol(4, 6)}


def plan(arguments):
    """Plan the one task."""
    material = material_of(arguments)
    key = task_key(material.name, material.content_hash, "ratio of differences", "strips", 0, arguments)
    n_rows = 1 + len(FACTORS) * len(RADII)
    return Plan(
        [Sheet(NAME, COLUMNS, [Task(key, n_rows, partial(measure, arguments))])],
        PROTOCOLS[arguments.scale],
        material.data(0),
    )


def measure(arguments):
    """Medians of crops, then of photographs at every size and radius."""
    material, protocol = material_of(arguments), PROTOCOLS[arguments.scale]
    crops = [pixels_of(crop) for crop in held_crops(material.crops[:: protocol.every])]
    sides = [side for crop in crops for side in (crop[:, : STRIP[1]], crop[:, -STRIP[1] :])]
    rows = [row_of("crops", 1.0, 0.0, sides)]
    photographs = [pixels_of(image) for image in material.negatives[:: protocol.every]]
    rows += [
        row_of("photographs", factor, radius, strips_of(photographs, factor, radius, protocol.strips, arguments.seed))
        for factor in FACTORS
        for radius in RADII
    ]
    return rows


def strips_of(photographs, factor, radius, n_strips, seed):
    """Strips at random places, the same for every radius, of those photographs that are large enough."""
    random = np.random.RandomState(seed)
    with Threads(1) as one:
        for pixels in photographs:
            shape = [int(side / factor) // 4 * 4 for side in pixels.shape[:2]]
            if shape[0] >= STRIP[0] and shape[1] >= STRIP[1]:
                small = resize(pixels, shape, one, radius)
                for _ in range(n_strips):
                    y, x = (random.randint(side - size + 1) for side, size in zip(shape, STRIP, strict=True))
                    yield small[y : y + STRIP[0], x : x + STRIP[1]]


def row_of(images, factor, radius, strips):
    """Medians over strips."""
    ratios = np.array([ratios_of(strip) for strip in strips])
    across, down = np.median(ratios, axis=0)
    return {
        "images": images,
        "factor": factor,
        "radius": radius,
        "across": f"{across:.4f}",
        "down": f"{down:.4f}",
        "n_strips": len(ratios),
    }


def ratios_of(strip):
    """Second over first differences of grey values, across and down."""
    grey = strip.astype(np.float64) @ [0.299, 0.587, 0.114]
    return [
        np.abs(np.diff(grey, 2, axis=axis)).mean() / max(2 * np.abs(np.diff(grey, axis=axis)).mean(), 1e-9)
        for axis in (1, 0)
    ]


# ---------------------------------------------------------------------------------- table and picture


def table(frames):
    """List all medians."""
    frame = frames[NAME]
    cells = [
        [row.images, f"1/{row.factor:g}", f"{row.radius:g}", f"{row.across:.3f}", f"{row.down:.3f}", row.n_strips]
        for row in frame.itertuples()
    ]
    return (
        f"# Sharpness\n\n{frame.data_set.iloc[0]}: second over first differences, medians of strips.\n\n"
        + markdown(["images", "size", "radius", "across", "down", "strips"], cells)
        + "\n"
    )


def picture(frames):
    """Draw the ratio against the radius, a line a size, and that of crops across all."""
    frame = frames[NAME]
    crops, photographs = frame[frame.images == "crops"], frame[frame.images != "crops"]
    figure = new_figure(5.0, 3.2)
    axes = figure.subplots()
    for factor, own in photographs.groupby("factor"):
        axes.plot(own.radius, (own.across + own.down) / 2, "o-", label=f"photographs, size 1/{factor:g}")
    axes.axhline((crops.across + crops.down).iloc[0] / 2, color=GREY, linestyle="--", label="crops")
    axes.set_xlabel("radius of the triangle that smooths")
    axes.set_ylabel("second / first differences")
    axes.legend()
    return figure


SCRIPT = Script(NAME, __doc__, (NAME,), plan, table, picture)


if __name__ == "__main__":
    sys.exit(main(SCRIPT))
