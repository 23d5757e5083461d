"""How much smoother the crops of INRIA are than its photographs, which Tables 2 and 3 smooth accordingly.

Measure. The mean absolute second difference of grey values over their mean absolute first difference, across and down,
in strips of 160 x 24 pixels: at both sides of the crops without repeated edges, which show background, and at random
places of photographs without people. The photographs are resampled to several sizes by area means and smoothed by
triangle filters of several radii (`paucens.features.pyramid.resize`). The figures are medians, of training data only.

    python reproduce/sharpness.py --scale paper --data DIR

DIR holds the uncompressed INRIA folder of `data/README.md`. At other scales, rendered streets stand in.
"""

import itertools
import sys
from dataclasses import dataclass

import numpy as np

from detectors import load, training_data, without_edges
from harness import Run, exit_code
from paucens.features.pyramid import resize
from paucens.images import pixels_of
from paucens.parallel import Threads
from paucens.plotting import GREY, house_style, new_figure
from report import markdown

HEIGHT, WIDTH = 160, 24  # of a strip
FACTORS, RADII = (1.0, 1.5, 2.5), (0.0, 0.5, 0.6, 0.7, 1.0)


@dataclass(frozen=True)
class Protocol:
    """What a scale means."""

    every: int  # 4: every fourth image is looked at
    strips: int  # per photograph
    scenes: int = 0  # rendered; 0: photographs


PROTOCOLS = {"smoke": Protocol(2, 2, 8), "small": Protocol(1, 6, 16), "paper": Protocol(4, 6)}


def measure(run, case):
    """Measure the crops, then the photographs at every size and radius."""
    data, every = training_data(run), run.protocol.every
    crops = [pixels_of(crop) for crop in without_edges(data.crops[::every])]
    sides = [side for crop in crops for side in (crop[:, :WIDTH], crop[:, -WIDTH:])]
    photographs, rows = [pixels_of(image) for image in data.images[::every]], [medians("crops", 1.0, 0.0, sides)]
    for factor, radius in itertools.product(FACTORS, RADII):
        strips = strips_of(photographs, factor, radius, run.protocol.strips, run.seed)
        rows.append(medians("photographs", factor, radius, strips))
    return rows


def strips_of(photographs, factor, radius, n_strips, seed):
    """Yield strips at random places, the same for every radius, of the photographs that are large enough."""
    random = np.random.RandomState(seed)
    for pixels in photographs:
        height, width = (int(side / factor) // 4 * 4 for side in pixels.shape[:2])
        if height >= HEIGHT and width >= WIDTH:
            small = resize(pixels, (height, width), Threads(1), radius)
            for _ in range(n_strips):
                y, x = random.randint(height - HEIGHT + 1), random.randint(width - WIDTH + 1)
                yield small[y : y + HEIGHT, x : x + WIDTH]


def medians(images, factor, radius, strips):
    """Return a row: the medians of both ratios over strips."""
    ratios = np.array([ratios_of(strip) for strip in strips])
    across, down = np.median(ratios, axis=0)
    row = {"images": images, "factor": factor, "radius": radius}
    return row | {"across": f"{across:.4f}", "down": f"{down:.4f}", "n_strips": len(ratios)}


def ratios_of(strip):
    """Divide second by first differences of grey values, across and down."""
    grey = strip.astype(np.float64) @ [0.299, 0.587, 0.114]
    return [
        np.abs(np.diff(grey, 2, axis=axis)).mean() / max(2 * np.abs(np.diff(grey, axis=axis)).mean(), 1e-9)
        for axis in (1, 0)
    ]


def table(rows):
    """List all medians."""
    lines = [
        [row.images, f"1/{row.factor:g}", f"{row.radius:g}", f"{row.across:.3f}", f"{row.down:.3f}", row.n_strips]
        for row in rows.itertuples()
    ]
    about = f"{rows.data_set.iloc[0]}: second over first differences of grey values, medians over strips."
    return f"# Sharpness\n\n{about}\n\n{markdown(lines, ['images', 'size', 'radius', 'across', 'down', 'strips'])}\n"


@house_style()
def picture(rows):
    """Draw the mean of both ratios against the radius, a line per size, and that of the crops."""
    ratio, crops = (rows.across + rows.down) / 2, rows.images == "crops"
    figure = new_figure(5.0, 3.2)
    axes = figure.subplots()
    for factor, own in rows[~crops].groupby("factor"):
        axes.plot(own.radius, ratio[own.index], "o-", label=f"photographs, size 1/{factor:g}")
    axes.axhline(ratio[crops].item(), color=GREY, linestyle="--", label="crops")
    axes.set(xlabel="radius of the triangle filter", ylabel="second over first differences")
    axes.legend()
    return figure


def main(argv=None):
    """Measure the training data."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    rows = run.rows("sharpness", measure, load(run, 0))
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
