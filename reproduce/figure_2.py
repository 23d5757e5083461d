"""Figure 2: the architecture of the pooled features, on a photograph.

Claim (Sec. 3.1). Covariances of low-level statistics are taken over small patches, one per pixel, and the maximum over
a pooling region of 4 x 4 patches makes one cell of a channel.

Protocol. From left to right: the picture with one cell and the patches of 8, 16 and 32 pixels in its middle; the
correlations in the sixteen 8-pixel patches that are centred in the cell; their maximum, which is the part of the
channels for this cell; and some channels of the whole picture, from spCov, spLBP, M, O and LUV, preset "paper".

Where we depart, and why.
- The paper draws a sketch; this is what the package computes, so it shows no detection and no data set. The photograph
  is the portrait of Grace Hopper, in the public domain, that matplotlib is shipped with.
- It is our reading that a patch is centred in the cell: the text does not say how patches and regions are aligned.

    python reproduce/figure_2.py --scale paper

A few seconds; the scales differ in the size of the picture.
"""

import sys
from dataclasses import dataclass

import numpy as np
from matplotlib.cbook import get_sample_data
from matplotlib.patches import Rectangle
from PIL import Image

from harness import Run, exit_code
from paucens.features import ChannelSpec
from paucens.features.covariance import ENTRIES, FEATURES
from paucens.features.pyramid import resize
from paucens.images import as_rgb
from paucens.parallel import Threads
from paucens.plotting import DARK, VERMILION, house_style, new_figure
from report import markdown, paper_says

SPEC = ChannelSpec.parse("M+O+LUV+spCov+spLBP", preset="paper")
PATCHES = ChannelSpec.parse("Cov", preset="paper")
SIZE = 8  # of the patches whose correlations are shown
CELL = SPEC.shrink
PLACE = (0.33, 0.58)  # of the cell that is shown, down and across
POOL = f"maximum, {SIZE} px"
SHOWN = (
    *("L", "M", "O 90", "max |Ixx|", "cov8 var(M)"),
    *("cov16 corr(x, M)", "cov16 corr(M, |Ix|)", "cov32 corr(O1, |Iy|)", "lbp8 E3", "lbp16 other"),
)
CENTRED = {f"{SIZE} px at {y}, {x}": (y, x) for y, x in np.ndindex(CELL, CELL)}  # patches by the pixel of the cell
PLANES = [  # of numbers, one per case
    *(("picture", colour) for colour in "RGB"),
    *(("channel", name) for name in SHOWN),
    *(("patch", name) for name in CENTRED),
    ("pool", POOL),
]


@dataclass(frozen=True)
class Protocol:
    """What a scale means."""

    height: int  # of the picture, pixels


PROTOCOLS = {"smoke": Protocol(96), "small": Protocol(144), "paper": Protocol(192)}


def photograph(height):
    """Return the picture as RGB of this height; its sides are multiples of a cell."""
    with Image.open(get_sample_data("grace_hopper.jpg", asfileobj=False)) as image:
        rgb = as_rgb(image)
    width = round(rgb.shape[1] * height / rgb.shape[0] / CELL) * CELL
    return resize(rgb, (height, width), Threads(1))


def measure(run, case):
    """Compute one plane, a row of the CSV for each of its rows."""
    rgb, kind, name = photograph(run.protocol.height), case["kind"], case["plane"]
    if kind == "picture":
        plane = rgb[..., "RGB".index(name)]
    elif kind == "channel":
        plane = SPEC.compute(rgb)[..., SPEC.names.index(name)]
    elif kind == "patch":
        plane = [patch(rgb, *CENTRED[name])]
    else:
        plane = [correlations(SPEC, SPEC.compute(rgb)[shown_cell(rgb)])]
    return [{"row": row, "values": " ".join(f"{value:.4g}" for value in line)} for row, line in enumerate(plane)]


def shown_cell(rgb):
    """Return row and column of the cell that is shown."""
    return tuple(int(share * side / CELL) for share, side in zip(PLACE, rgb.shape[:2], strict=True))


def correlations(spec, channels):
    """Take the statistics of patches of `SIZE` pixels from the channels of a cell."""
    group = next(part for family, part in spec.groups.items() if family in ("Cov", "spCov"))
    return channels[[k for k in range(group.start, group.stop) if spec.names[k].startswith(f"cov{SIZE} ")]]


def patch(rgb, y, x):
    """Compute the patch centred at a pixel of the cell: the picture is cut so that it is in the middle of a cell."""
    row, col = shown_cell(rgb)
    cut = rgb[(y + CELL // 2) % CELL :, (x + CELL // 2) % CELL :]
    return correlations(PATCHES, PATCHES.compute(cut)[row - (y < CELL // 2), col - (x < CELL // 2)])


# -- table and picture -----------------------------------------------------------------------------


def planes(rows):
    """Return the planes by (kind, name)."""
    return {
        key: np.array([np.array(line.split(), dtype=float) for line in own.sort_values("row")["values"]])
        for key, own in rows.groupby(["kind", "plane"], sort=False)
    }


def table(rows):
    """List the pooled correlations of the cell beside their range over its patches."""
    found = planes(rows)
    patches = np.concatenate([plane for (kind, _), plane in found.items() if kind == "patch"])
    low, high, pool = patches.min(axis=0), patches.max(axis=0), found["pool", POOL][0]
    cells = [
        [f"{FEATURES[column]}, {FEATURES[row]}", *(f"{value:.3f}" for value in (low[k], high[k], pool[k]))]
        for k, (row, column) in enumerate(ENTRIES)
        if row != column
    ]
    return (
        f"# {paper_says('figure_2')['caption']}\n\n"
        f"Correlations in the sixteen {SIZE}-pixel patches centred in one cell, and their pooled value. The largest "
        f"difference between the pooled value and the largest of the patches is {np.abs(pool - high).max():.2g}.\n\n"
        f"{markdown(cells, ['statistics', 'smallest', 'largest', 'pooled'])}\n"
    )


@house_style()
def picture(rows):
    """Draw the way from the picture over patches and their correlations to the channels."""
    found, figure = planes(rows), new_figure(11, 3.1)
    left, patches, pool, right = figure.subfigures(1, 4, width_ratios=(2.3, 2.45, 1.55, 4.9))
    draw_photograph(left.subplots(), np.stack([found["picture", colour] for colour in "RGB"], axis=2) / 255)
    title(patches, f"correlations in the patches of {SIZE} px\ncentred in the cell, one per pixel")
    patches.get_layout_engine().set(w_pad=0.02, h_pad=0.02, wspace=0, hspace=0)
    for axes, name in zip(patches.subplots(CELL, CELL).ravel(), CENTRED, strict=True):
        draw_matrix(axes, found["patch", name][0])
    draw_pool(pool, found["pool", POOL][0])
    title(right, f"→  some of the {SPEC.n_channels} channels, one value per cell")
    for axes, name in zip(right.subplots(2, len(SHOWN) // 2).ravel(), SHOWN, strict=True):
        colours = {"cmap": "RdBu_r", "vmin": -1, "vmax": 1} if "corr" in name else {"cmap": "Greys_r"}
        axes.imshow(found["channel", name], interpolation="nearest", **colours)
        plain(axes, name, fontsize=6)
    return figure


def title(figure, text):
    """Write above a part of the figure."""
    figure.suptitle(text, fontsize=8, x=0.02, ha="left")


def plain(axes, title, fontsize=8):
    """Leave out what a picture does not need."""
    axes.set_title(title, fontsize=fontsize, pad=4)
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    axes.spines[:].set_visible(False)


def draw_photograph(axes, rgb):
    """Draw the picture, the cell and the patches in its middle."""
    axes.imshow(rgb)
    top, start = (CELL * place - 0.5 for place in shown_cell(rgb))
    for size in (8, 16, 32):
        corner = start + (CELL - size) / 2, top + (CELL - size) / 2
        axes.add_patch(Rectangle(corner, size, size, fill=False, edgecolor="white", linewidth=1.2))
    axes.add_patch(Rectangle((start, top), CELL, CELL, color=VERMILION))
    plain(axes, "patches of 8, 16 and 32 px\naround a cell of 4 x 4 px")


def draw_matrix(axes, entries):
    """Draw correlations as a symmetric matrix, blue to red; entries that are no correlations stay empty."""
    matrix = np.full((len(FEATURES), len(FEATURES)), np.nan)
    for (row, column), value in zip(ENTRIES, entries, strict=True):
        if row != column:
            matrix[row, column] = matrix[column, row] = value
    plain(axes, "")
    return axes.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1)


def draw_pool(figure, entries):
    """Draw the maximum with the names of the statistics and the scale of the colours."""
    title(figure, "→  maximum")
    axes = figure.subplots()
    image = draw_matrix(axes, entries)
    axes.set_yticks(range(len(FEATURES)), FEATURES, fontsize=6)
    axes.set_xticks(range(len(FEATURES)), FEATURES, fontsize=6, rotation=90)
    axes.tick_params(length=0)
    bar = figure.colorbar(image, ax=axes, location="bottom", ticks=(-1, 0, 1), aspect=12)
    bar.set_label("correlation", fontsize=7, color=DARK)
    bar.ax.tick_params(labelsize=6)
    bar.outline.set_visible(False)


def main(argv=None):
    """Compute all planes and draw them."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    rows = run.rows("figure_2", measure, [{"kind": kind, "plane": name} for kind, name in PLANES])
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
