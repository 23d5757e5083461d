"""Figure 7: where in the window the chosen features lie, and the weights that BING learns.

Claim (Sec. 4.3). The features that pAUCEns selects lie mainly at the head, the shoulders and the feet. Large weights of
BING are near the outline of head and shoulders.

Protocol.
- Left: the splits of all trees of a detector, counted by the cell that they look at. The detectors are M+O+LUV with
  AdaBoost and pAUCEns, all channels with AdaBoost (these are those of Table 3, first seed), and all channels with
  pAUCEns, whose range and nu are those that `detector_choice.py` chose for M+O+LUV.
- A split counts as one, as in the paper, whatever it adds to the score. The CSV also holds splits weighted by the range
  of the leaves below them (`leaf_range`, with the weight of the tree); the table tells how similar the two maps are.
- The counts are divided by those that chance would give: by the number of features that the trees were offered in the
  cell. Fewer are offered at the border of the window, since a feature must not depend on pixels outside the crop.
- The areas are those of a person of 96 pixels in the middle of the window, by the proportions of Drillis and Contini
  (1966): the chin at 0.13 of the height, the shoulders at 0.18 and 0.26 wide, and about one more cell on each side.
- Intervals are Wilson's, with the splits as samples. They do not say how much detectors of other seeds differ. With
  trees as samples their squares would be 1.0 to 1.2 times as large, for the default detector of the package.
- Right: the weights of `train_bing` on the same images, not normalised, and their sum of two bases. The outline of the
  person is drawn by the same proportions on the 16 x 8 points. A point lies at the outline if one of the two
  differences in its gradient crosses it. The head and shoulders are the rows to 48 pixels. How special their place is,
  is told by moving them to all 128 places of the window, around its borders.

Where we depart, and why.
- The paper's figure is of Caltech, whose images are not available. Its pixels are not on the disk either, so the
  comparison is with its text.
- A feature counts for its own cell. Its support is wider: up to 32 pixels and more for covariance.

    python reproduce/figure_7.py --scale paper --data DIR

DIR holds the uncompressed INRIA folder of `data/README.md`. Three detectors are trained unless Table 3 left them
(5, 6 and 28 minutes on two cores); that of all channels with pAUCEns takes about half an hour, BING a few minutes. At
other scales, detectors of few trees are trained on rendered streets, and say nothing about the paper's.
"""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm
from matplotlib.patches import Rectangle

from detectors import PROTOCOLS, load, n_threads, trained, training_data
from harness import Run, exit_code
from paucens.metrics.intervals import wilson_interval
from paucens.plotting import DARK, house_style, new_figure
from paucens.proposals import train_bing
from paucens.proposals.gradients import POINTS
from report import interval_text, markdown, paper_says
from table_3 import ACF, ALL, PAUC

LEVEL_95 = 1.959964  # quantile of the normal distribution
ADABOOST, PAUCENS, BING = "AdaBoost", "pAUCEns", "BING"
CONFIGS = {
    (ADABOOST, ACF.channels): ACF,
    (PAUCENS, ACF.channels): PAUC,
    (ADABOOST, ALL.channels): ALL,
    (PAUCENS, ALL.channels): replace(PAUC, method=f"{ALL.channels}, pAUCEns", channels=ALL.channels, n_seeds=1),
}
CASES = [*CONFIGS, (BING, "normed gradients")]
CELLS = (32, 16)  # rows and columns of the window
AREAS = {  # first row and the one after the last, then columns
    "head": (3, 7, 6, 10),
    "shoulders": (7, 11, 4, 12),
    "trunk and legs": (11, 24, 4, 12),
    "feet": (24, 29, 4, 12),
}
AROUND = "around"
MOST = 6  # times chance: where the colours end


def measure(run, case):
    """Train a detector, or load it, and count its splits; or train BING. A row per cell or point."""
    data = training_data(run)
    if case["method"] == BING:
        found = bing_weights(train_bing(data.crops, data.images, random_state=run.seed, n_jobs=n_threads(run)))
    else:
        detector, _ = trained(run, CONFIGS[case["method"], case["channels"]], data, run.seed)
        found = splits_of(detector)
    rows, columns = np.indices(next(iter(found.values())).shape)
    cells = {"row": rows, "column": columns} | {name: found.get(name) for name in COLUMNS}
    frame = pd.DataFrame({name: None if own is None else own.ravel() for name, own in cells.items()})
    return frame.assign(source=data.source).to_dict("records")


COLUMNS = ["splits", "leaf_range", "offered", "weight", "of_bases"]


def splits_of(detector):
    """Count for each cell its splits, the sum of their ranges of leaves, and the features that were offered."""
    nodes, leaves = detector.trees.whole
    is_split = detector.trees.child[nodes] > 0
    values = detector.trees.value[leaves]
    ranges = [np.ptp(values.reshape(len(values), 2**level, -1), axis=2) for level in range(3)]  # from the root down
    row, column, _ = detector.trees.place[nodes[is_split]].T
    places = detector.window.features(detector.spec)
    summed = summed_by_cell(row, column, np.concatenate(ranges, axis=1)[is_split])
    return {
        "splits": summed_by_cell(row, column).astype(int),
        "leaf_range": np.vectorize("{:.5g}".format)(summed),
        "offered": summed_by_cell(*places.T[:2]).astype(int),
    }


def summed_by_cell(row, column, weights=None):
    """Count what lies in each cell of the window, or add up its weights."""
    return np.bincount(row * CELLS[1] + column, weights, CELLS[0] * CELLS[1]).reshape(CELLS)


def bing_weights(bing):
    """Return the weights of BING and the sum of its bases that stands for them."""
    bits = np.unpackbits(bing.bases.astype(">u8").view(np.uint8)).reshape(-1, *POINTS)
    of_bases = np.tensordot(bing.coefficients, 2.0 * bits - 1, axes=1)
    return {name: np.vectorize("{:.6g}".format)(own) for name, own in (("weight", bing.weights), ("of_bases", of_bases))}


# -- areas -----------------------------------------------------------------------------------------


def areas():
    """Return the areas of the window by name, bool (32, 16); each cell lies in one."""
    masks = {}
    for name, (top, bottom, left, right) in AREAS.items():
        masks[name] = np.zeros(CELLS, dtype=bool)
        masks[name][top:bottom, left:right] = True
    return masks | {AROUND: ~np.any(list(masks.values()), axis=0)}


def outline_areas():
    """Return the areas of BING's window by name, bool (16, 8); each point lies in one."""
    person = np.zeros(POINTS, dtype=bool)
    person[2:4, 3:5] = person[4:14, 2:6] = True  # head; shoulders, 24 pixels wide, and all below them
    wide = np.pad(person, 1)
    crosses = (wide[1:-1, :-2] != wide[1:-1, 2:]) | (wide[:-2, 1:-1] != wide[2:, 1:-1])
    upper = np.arange(POINTS[0])[:, None] < 6
    return {
        "outline, head and shoulders": crosses & upper,
        "outline, below": crosses & ~upper,
        "inside": person & ~crosses,
        AROUND: ~person & ~crosses,
    }


def rank_among_shifts(weights, mask):
    """Count the cyclic shifts of an area in which the mean weight is at least that of the area itself.

    >>> weights, mask = np.zeros((16, 8)), np.zeros((16, 8), dtype=bool)
    >>> weights[3, 3:5], mask[3, 3] = 1, True
    >>> rank_among_shifts(weights, mask)
    2
    """
    sums = [weights[np.roll(mask, shift, axis=(0, 1))].mean() for shift in np.ndindex(weights.shape)]
    return int(np.sum(sums >= sums[0] - 1e-12))


# -- table and picture -----------------------------------------------------------------------------


def maps(rows):
    """Return the columns of each detector and of BING as arrays, by method and channels."""
    found = {}
    for key, own in rows.groupby(["method", "channels"], sort=False):
        shape = POINTS if key[0] == BING else CELLS
        ordered = own.sort_values(["row", "column"])
        found[key] = {name: ordered[name].to_numpy(float).reshape(shape) for name in COLUMNS}
    return found


def times_chance(own, weights="splits"):
    """Divide the splits of each cell by those that chance would give."""
    return own[weights] / own[weights].sum() / (own["offered"] / own["offered"].sum())


def name_of(key, own):
    """Name a detector by its method and how many channels it has."""
    return f"{key[0]}, {own['offered'].max():.0f} channels"


def table(rows):
    """List how often features of each area are chosen, and the weights of BING by area."""
    paper, found, first = paper_says("figure_7"), maps(rows), rows.iloc[0]
    bings = [found.pop(key) for key in list(found) if key[0] == BING]
    blocks = [
        f"# Figure 7\n\n{paper['caption']} (Sec. {paper['section']}). {first.data_set}, {first.source}.",
        "Splits in an area, divided by those that chance would give: 1 is a choice by chance among the features that "
        "are offered. With 95 % intervals. Below each detector, the share of the area of the features that are offered.",
        _splits(found),
    ]
    blocks += [_weights(own) for own in bings]
    return "\n\n".join([*blocks, f"The paper says: {paper['claim']}."]) + "\n"


def _splits(found):
    masks, lines = areas(), []
    for key, own in found.items():
        n, cells, shares = own["splits"].sum(), [], []
        for mask in masks.values():
            share, offered = (own[name][mask].sum() / own[name].sum() for name in ("splits", "offered"))
            low, high = wilson_interval(share, n, LEVEL_95)
            cells.append(f"{share / offered:.2f} ({interval_text(low / offered, high / offered, '.2f')})")
            shares.append(f"{100 * offered:.1f} %")
        same = np.corrcoef(times_chance(own).ravel(), times_chance(own, "leaf_range").ravel())[0, 1]
        lines += [[name_of(key, own), f"{n:.0f}", *cells, f"{same:.3f}"], ["offered", None, *shares, None]]
    return markdown(lines, ["detector", "splits", *masks, "correlation with splits weighted by leaves"])


def _weights(own):
    weights, masks, lines = own["weight"], outline_areas(), []
    unit = np.abs(weights).mean()
    for name, mask in masks.items():
        means = [f"{own[kind][mask].mean() / unit:+.2f}" for kind in ("weight", "of_bases")]
        lines.append([name, f"{mask.sum()}", *means, f"{100 * (weights[mask] > 0).mean():.0f} %"])
    upper, n = next(iter(masks.values())), weights.size
    lost = ((weights - own["of_bases"]) ** 2).sum() / (weights**2).sum()
    columns = ["points of BING", "number", "mean weight", "of two bases", "above 0"]
    return (
        f"{markdown(lines, columns)}\n\nWeights are in units of their mean magnitude. In {rank_among_shifts(weights, upper)} "
        f"of {n} places, its own among them, the outline of head and shoulders has a mean weight as large as in its own. "
        f"Two bases hold {100 * (1 - lost):.0f} % of the sum of squares of the weights."
    )


@house_style()
def picture(rows):
    """Draw the splits of each detector, what was offered, and the weights of BING."""
    found, figure = maps(rows), new_figure(11, 4)
    bings = [found.pop(key) for key in list(found) if key[0] == BING]
    figure.suptitle(f"{rows.data_set.iloc[0]}: splits per feature on offer, and the weights of BING", x=0.01, ha="left")
    left, right = figure.subfigures(1, 2, width_ratios=(5, 2.6))
    panels = left.subplots(1, len(found) + 1, sharey=True)
    norm = LogNorm(1 / MOST, MOST, clip=True)  # chance is white
    for axes, (key, own) in zip(panels, found.items(), strict=False):
        image = draw_map(axes, times_chance(own), name_of(key, own).replace(", ", "\n"), cmap="RdBu_r", norm=norm)
    bar = colour_bar(left, image, panels[:-1], "times chance")
    ticks = [1 / MOST, 1 / 3, 1, 3, MOST]
    bar.set_ticks(ticks, labels=["≤ 1/6", "1/3", "1", "3", "≥ 6"])
    bar.minorticks_off()
    draw_offered(left, panels[-1], own)
    panels[0].set_ylabel("row, cells of 4 px")
    for own in bings:
        most, panels = np.abs(own["weight"]).max(), right.subplots(1, 2, sharey=True)
        for axes, (kind, title) in zip(panels, {"weight": "BING\nas learnt", "of_bases": "BING\ntwo bases"}.items()):
            image = draw_map(axes, own[kind], title, cmap="RdBu_r", vmin=-most, vmax=most)
        panels[0].set_ylabel("row, points of 8 px")
        colour_bar(right, image, panels, "weight")
    return figure


def draw_map(axes, values, title, **colours):
    """Draw a value for each cell of the window."""
    rows, columns = values.shape
    image = axes.imshow(values, interpolation="nearest", extent=(0, columns, rows, 0), **colours)
    axes.set(xticks=range(0, columns + 1, columns // 2), yticks=range(0, rows + 1, rows // 4), xlabel="column")
    axes.set_title(title, fontsize=8)
    axes.grid(False)
    return image


def draw_offered(figure, axes, own):
    """Draw how many features each cell offers, and the areas of the table."""
    offered = own["offered"]
    image = draw_map(axes, offered, f"offered,\n{offered.max():.0f} channels", cmap="Greys", vmin=0, vmax=offered.max())
    for top, bottom, left, right in AREAS.values():
        axes.add_patch(Rectangle((left, top), right - left, bottom - top, fill=False, edgecolor="white"))
    colour_bar(figure, image, [axes], "features")


def colour_bar(figure, image, panels, label):
    """Draw a scale of colours below panels."""
    bar = figure.colorbar(image, ax=panels, location="bottom", aspect=12 * len(panels), shrink=0.9)
    bar.set_label(label, color=DARK, fontsize=8)
    bar.outline.set_visible(False)
    return bar


def main(argv=None):
    """Count the splits of all detectors and train BING."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    cases = [named | {"method": method, "channels": channels} for named in load(run, 0) for method, channels in CASES]
    rows = run.rows("figure_7", measure, cases)
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
