"""Figure 2: the architecture of the pooled features, on a photograph.

Claim (Sec. 3.1). Covariance of low-level statistics is taken over small patches, one for each pixel, and the maximum
over a pooling region of 4 x 4 of them makes one cell of a channel.

Protocol. From left to right: the picture with one cell and the patches of 8, 16 and 32 pixels in its middle; the
correlations of the sixteen 8-pixel patches that are centred in the cell; their maximum, which is the cell's share of
the channels; and some of the channels of the whole picture, of spCov, spLBP, M, O and LUV, preset "paper".

Where we depart, and why.
- The paper draws a sketch; this is what the package computes, so it shows no detection and no data set. The photograph
  is the public-domain portrait of Grace Hopper that matplotlib is shipped with.
- That a patch is centred in the cell is our reading: the text does not say how patches and regions are aligned.

    python reproduce/figure_2.py --scale paper

A few seconds; the scales differ in the size of the picture.
"""

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.cbook import get_sample_data
from matplotlib.patches import Rectangle
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from paucens.features import ChannelSpec
from paucens.features.covariance import ENTRIES, FEATURES
from paucens.features.pyramid import resize
from paucens.images import as_rgb
from paucens.parallel import Threads
from paucens.plotting import DARK, VERMILION, new_figure
from reproduce._run import Plan, Script, main, short_hash
from reproduce._store import Sheet, Task, task_key
from reproduce._tables import markdown, paper_says

NAME = "figure_2"
PICTURE = "Grace Hopper"
COLUMNS = ("row", "values")
SPEC = ChannelSpec.parse("M+O+LUV+spCov+spLBP", preset="paper")
PATCHES = ChannelSpec.parse("Cov", preset="paper")
SIZE = 8  # of the patches whose correlations are shown
CELL = SPEC.shrink
PLACE = (0.33, 0.58)  # of the cell that is shown, down and across
POOL = f"maximum, {SIZE} px"
SHOWN = (
    "L",
    "M",
    "O 90",
    "max |Ixx|",
    "cov8 var(M)",
    "cov16 corr(x, M)",
    "cov16 corr(M, |Ix|)",
    "cov32 corr(O1, |Iy|)",
    "lbp8 E3",
    "lbp16 other",
)


@dataclass(frozen=True)
class Protocol:
    """What a scale stands for."""

    height: int  # of the picture, pixels


PROTOCOLS = {"smoke": Protocol(96), "small": Protocol(144), "paper": Protocol(192)}


# ---------------------------------------------------------------------------------- computing


def photograph(height):
    """The picture as RGB of that height, sides multiples of a cell."""
    with Image.open(get_sample_data("grace_hopper.jpg", asfileobj=False)) as image:
        rgb = as_rgb(image)
    width = round(rgb.shape[1] * height / rgb.shape[0] / CELL) * CELL
    return resize(rgb, (height, width), Threads(1))


def plan(arguments):
    """List the tasks: a plane of numbers each."""
    protocol = PROTOCOLS[arguments.scale]
    rgb = photograph(protocol.height)
    work = {("picture", colour): partial(rows_of, rgb[..., k]) for k, colour in enumerate("RGB")}
    work |= {("channel", name): partial(channel, rgb, name) for name in SHOWN}
    work |= {("patch", patch_name(y, x)): partial(patch, rgb, y, x) for y in range(CELL) for x in range(CELL)}
    work |= {("pool", POOL): partial(pooled, rgb)}
    n_rows = {"picture": len(rgb), "channel": len(rgb) // CELL, "patch": 1, "pool": 1}
    tasks = [
        Task(task_key(PICTURE, short_hash(rgb), kind, name, 0, arguments), n_rows[kind], compute)
        for (kind, name), compute in work.items()
    ]
    return Plan([Sheet(NAME, COLUMNS, tasks)], protocol)


def patch_name(y, x):
    """Name the patch centred at a pixel of the cell."""
    return f"{SIZE} px at {y}, {x}"


def rows_of(plane):
    """Write a plane as rows of the CSV."""
    return [{"row": row, "values": " ".join(f"{value:.4g}" for value in line)} for row, line in enumerate(plane)]


def channel(rgb, name):
    """One channel of the whole picture."""
    return rows_of(SPEC.compute(rgb)[..., SPEC.names.index(name)])


def shown_cell(height, width):
    """Row and column of the cell that is shown."""
    return tuple(int(share * side / CELL) for share, side in zip(PLACE, (height, width), strict=True))


def correlations(spec, channels):
    """Take what describes patches of `SIZE` pixels out of the channels of a cell."""
    group = next(part for family, part in spec.groups.items() if family in ("Cov", "spCov"))
    return rows_of([channels[[k for k in range(group.start, group.stop) if spec.names[k].startswith(f"cov{SIZE} ")]]])


def patch(rgb, y, x):
    """The patch centred at a pixel of the cell: the picture is cut so that it is the middle of a cell."""
    row, col = shown_cell(*rgb.shape[:2])
    cut = rgb[(y + CELL // 2) % CELL :, (x + CELL // 2) % CELL :]
    cell = row - (y < CELL // 2), col - (x < CELL // 2)
    return correlations(PATCHES, PATCHES.compute(cut)[cell])


def pooled(rgb):
    """The maximum over the patches."""
    return correlations(SPEC, SPEC.compute(rgb)[shown_cell(*rgb.shape[:2])])


# ---------------------------------------------------------------------------------- table


def planes(frame):
    """Return {(kind, name): plane} of a finished CSV."""
    return {
        key: np.array([np.array(line.split(), dtype=float) for line in rows.sort_values("row")["values"]])
        for key, rows in frame.groupby(["method", "setting"], sort=False)
    }


def table(frames):
    """Write the pooled correlations of the cell beside the range over its patches."""
    found = planes(frames[NAME])
    patches = np.stack([plane[0] for (kind, _), plane in found.items() if kind == "patch"])
    pool = found["pool", POOL][0]
    body = [
        [in_table(f"{FEATURES[column]}, {FEATURES[row]}"), f"{low:.3f}", f"{high:.3f}", f"{value:.3f}"]
        for (row, column), low, high, value in zip(ENTRIES, patches.min(axis=0), patches.max(axis=0), pool, strict=True)
        if row != column
    ]
    about = (
        f"Correlations in the sixteen {SIZE}-pixel patches centred in one cell, and what the pool makes of them. "
        f"Largest difference between the pool and the largest patch: "
        f"{np.abs(pool - patches.max(axis=0)).max():.2g}."
    )
    header = ["statistics", "least", "largest", "pooled"]
    return f"# {paper_says(NAME)['caption']}\n\n{about}\n\n{markdown(header, body)}\n"


def in_table(text):
    """Keep bars from ending a cell of Markdown."""
    return text.replace("|", "\\|")


# ---------------------------------------------------------------------------------- picture


def picture(frames):
    """Draw the way from the picture over patches and their correlations to the channels."""
    found = planes(frames[NAME])
    rgb = np.stack([found["picture", colour] for colour in "RGB"], axis=2) / 255
    figure = new_figure(11, 3.1)
    left, patches, pool, right = figure.subfigures(1, 4, width_ratios=(2.3, 2.45, 1.55, 4.9))
    draw_picture(left.subplots(), rgb)
    draw_patches(patches, found)
    draw_pool(pool, found["pool", POOL][0])
    draw_channels(right, found)
    return figure


def draw_picture(axes, rgb):
    """Draw the picture, the cell and the patches in its middle."""
    axes.imshow(rgb)
    row, col = shown_cell(*rgb.shape[:2])
    top, start = CELL * row - 0.5, CELL * col - 0.5
    for size in (8, 16, 32):
        corner = start + (CELL - size) / 2, top + (CELL - size) / 2
        axes.add_patch(Rectangle(corner, size, size, fill=False, edgecolor="white", linewidth=1.2))
    axes.add_patch(Rectangle((start, top), CELL, CELL, color=VERMILION))
    plain(axes, "patches of 8, 16 and 32 px\naround a cell of 4 x 4 px")


def plain(axes, title, fontsize=8):
    """Leave out what a picture does not need."""
    axes.set_title(title, fontsize=fontsize, pad=4)
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    for side in axes.spines.values():
        side.set_visible(False)


def draw_patches(figure, found):
    """Draw the correlations of the sixteen patches, where they are centred."""
    figure.suptitle(
        f"correlations in the patches of {SIZE} px\ncentred in the cell, one for each pixel",
        fontsize=8,
        x=0.02,
        ha="left",
    )
    figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02, wspace=0, hspace=0)
    for axes, (y, x) in zip(figure.subplots(CELL, CELL).ravel(), np.ndindex(CELL, CELL), strict=True):
        draw_matrix(axes, found["patch", patch_name(y, x)][0])
        plain(axes, "")


def matrix(entries):
    """Put 42 entries in their places of 9 x 9, correlations only, both triangles."""
    full = np.full((len(FEATURES), len(FEATURES)), np.nan)
    for (row, column), value in zip(ENTRIES, entries, strict=True):
        if row != column:
            full[row, column] = full[column, row] = value
    return full


def draw_matrix(axes, entries):
    """Draw correlations, blue to red, without what is no correlation."""
    return axes.imshow(matrix(entries), cmap="RdBu_r", vmin=-1, vmax=1)


def draw_pool(figure, entries):
    """Draw the maximum with the names of the statistics and the scale of the colours."""
    figure.suptitle("→  maximum", fontsize=8, x=0.02, ha="left")
    axes = figure.subplots()
    image = draw_matrix(axes, entries)
    plain(axes, "")
    axes.set_yticks(range(len(FEATURES)), FEATURES, fontsize=6)
    axes.set_xticks(range(len(FEATURES)), FEATURES, fontsize=6, rotation=90)
    axes.tick_params(length=0)
    bar = figure.colorbar(image, ax=axes, location="bottom", ticks=(-1, 0, 1), aspect=12)
    bar.set_label("correlation", fontsize=7, color=DARK)
    bar.ax.tick_params(labelsize=6)
    bar.outline.set_visible(False)


def draw_channels(figure, found):
    """Draw channels of the whole picture, correlations in blue and red, the others from white to black."""
    figure.suptitle(f"→  some of the {SPEC.n_channels} channels, a value for each cell", fontsize=8, x=0.02, ha="left")
    for axes, name in zip(figure.subplots(2, len(SHOWN) // 2).ravel(), SHOWN, strict=True):
        signed = "corr" in name
        colours = {"cmap": "RdBu_r", "vmin": -1, "vmax": 1} if signed else {"cmap": "Greys_r"}
        axes.imshow(found["channel", name], interpolation="nearest", **colours)
        plain(axes, name, fontsize=6)


SCRIPT = Script(NAME, __doc__, (NAME,), plan, table, picture)

if __name__ == "__main__":
    sys.exit(main(SCRIPT))
