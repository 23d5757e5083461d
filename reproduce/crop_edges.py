"""Where the crops of INRIA left their photograph: how many of their outermost rows and columns only repeat the next.

Measure. `paucens.detector.samples.repeated_edges` of all crops that detectors are trained on, four numbers each; fewer
than 3 pixels count as none. Crops are 160 x 96, the window in them is 128 x 64. What edges do to a detector, and what
leaving such crops out or masking them is worth, is in `ablation.py`.

    python reproduce/crop_edges.py --scale paper --data DIR

with the uncompressed INRIA folder of `data/README.md` in DIR. At other scales rendered streets stand in.
"""

import sys
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from paucens.detector import Window
from paucens.detector.samples import pixels_of, repeated_edges
from paucens.plotting import GREY, new_figure
from reproduce._detectors import PROTOCOLS, material_of
from reproduce._run import Plan, Script, main
from reproduce._store import Sheet, Task, task_key
from reproduce._tables import markdown

NAME = "crop_edges"
SIDES = ("top", "bottom", "left", "right")
COLUMNS = ("crop", *SIDES)


def plan(arguments):
    """Plan the one task."""
    material = material_of(arguments)
    key = task_key(material.name, material.content_hash, "repeated edges", "pixels", 0, arguments)
    task = Task(key, len(material.crops), partial(measure, arguments))
    return Plan([Sheet(NAME, COLUMNS, [task])], PROTOCOLS[arguments.scale], material.data(0))


def measure(arguments):
    """The edges of each crop."""
    return [
        {"crop": crop.stem if isinstance(crop, Path) else k}
        | dict(zip(SIDES, repeated_edges(pixels_of(crop)), strict=True))
        for k, crop in enumerate(material_of(arguments).crops)
    ]


# ---------------------------------------------------------------------------------- table and picture


def table(frames):
    """Count crops with edges, and how many edges reach into the window."""
    frame, margin = frames[NAME], Window().margin
    cells = [
        [side, (own > 0).sum(), (own > margin).sum(), f"{own[own > 0].median():.0f}" if own.any() else "–", own.max()]
        for side, own in frame[list(SIDES)].items()
    ]
    edges = frame[list(SIDES)].to_numpy()
    cells.append(["any", (edges > 0).any(axis=1).sum(), (edges > margin).any(axis=1).sum(), "–", edges.max()])
    about = f"{frame.data_set.iloc[0]}, {len(frame)} crops: rows or columns that only repeat the next one inwards."
    header = ["side", "crops with an edge", "that reaches into the window", "median, px", "widest, px"]
    return f"# Edges of crops\n\n{about}\n\n{markdown(header, cells)}\n"


def picture(frames):
    """Draw how many crops have an edge of so many pixels or more, a line a side."""
    frame = frames[NAME]
    figure = new_figure(5.0, 3.2)
    axes = figure.subplots()
    widths = np.arange(1, max(frame[list(SIDES)].to_numpy().max(), 1) + 1)
    for side in SIDES:
        axes.plot(widths, (frame[side].to_numpy() >= widths[:, None]).sum(axis=1), label=side)
    axes.axvline(Window().margin, color=GREY, linestyle="--", label="the window begins")
    axes.set_xlabel("width of the repeated edge, px")
    axes.set_ylabel("crops with an edge as wide or wider")
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure


SCRIPT = Script(NAME, __doc__, (NAME,), plan, table, picture)


if __name__ == "__main__":
    sys.exit(main(SCRIPT))
