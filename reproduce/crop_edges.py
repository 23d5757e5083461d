"""Repeated edges of the crops of INRIA that left their photograph: outermost rows and columns that repeat the next one.

Measure. `paucens.detector.samples.repeated_edges` of all crops that detectors are trained on, four numbers each; fewer
than 3 pixels count as none. Crops are 160 x 96, and the window in them is 128 x 64. `ablation.py` says what edges do to
a detector, and what leaving such crops out or masking them is worth.

    python reproduce/crop_edges.py --scale paper --data DIR

DIR holds the uncompressed INRIA folder of `data/README.md`. At other scales, rendered streets stand in.
"""

import sys
from pathlib import Path

import numpy as np

from detectors import PROTOCOLS, load, training_data
from harness import Run, exit_code
from paucens.detector import Window
from paucens.detector.samples import repeated_edges
from paucens.images import pixels_of
from paucens.plotting import GREY, house_style, new_figure
from report import markdown

SIDES = ["top", "bottom", "left", "right"]


def measure(run, case):
    """Measure the edges of each crop."""
    return [
        {"crop": crop.stem if isinstance(crop, Path) else k}
        | dict(zip(SIDES, repeated_edges(pixels_of(crop)), strict=True))
        for k, crop in enumerate(training_data(run).crops)
    ]


def table(rows):
    """Count the crops with edges, and those whose edges reach into the window."""
    edges, margin = rows[SIDES], Window().margin
    medians = edges[edges > 0].median().map("{:.0f}".format, na_action="ignore")
    lines = [[side, (own > 0).sum(), (own > margin).sum(), medians[side], own.max()] for side, own in edges.items()]
    widest = edges.max(axis=1)
    lines.append(["any", (widest > 0).sum(), (widest > margin).sum(), None, widest.max()])
    about = f"{rows.data_set.iloc[0]}, {len(rows)} crops: rows or columns that only repeat the next one inwards."
    columns = ["side", "crops with an edge", "edges that reach into the window", "median, px", "widest, px"]
    return f"# Edges of crops\n\n{about}\n\n{markdown(lines, columns)}\n"


@house_style()
def picture(rows):
    """Draw how many crops have an edge of at least a width, a line per side."""
    figure = new_figure(5.0, 3.2)
    axes, widths = figure.subplots(), np.arange(1, max(rows[SIDES].to_numpy().max(), 1) + 1)
    for side in SIDES:
        axes.plot(widths, (rows[side].to_numpy() >= widths[:, None]).sum(axis=1), label=side)
    axes.axvline(Window().margin, color=GREY, linestyle="--", label="the window begins")
    axes.set(xlabel="width of the repeated edge, px", ylabel="crops with an edge at least as wide", ylim=(0, None))
    axes.legend()
    return figure


def main(argv=None):
    """Measure all crops."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    rows = run.rows("crop_edges", measure, load(run, 0))
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
