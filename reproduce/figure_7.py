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
- Intervals are Wilson's, with the splits as independent samples, though those of one tree depend on each other. They do
  not say how much detectors of other seeds differ.
- Right: the weights of `train_bing` on the same images, as smooth as the detectors see them, not normalised, and their
  sum of two bases. The outline of the person is drawn by the same proportions on the 16 x 8 points. A point lies at the
  outline if one of the two differences in its gradient crosses it. Head and shoulders are in the upper 48 pixels of the
  window. To tell whether their place is special, they are moved to all 128 places of the window, around its borders.

Where we depart, and why.
- The paper's figure is of Caltech, whose images are not available. The picture itself is not available either, so ours
  is compared with what the text says of it.
- A feature counts for its own cell. Its support is wider, more than 32 pixels for the largest patches of covariance.

    python reproduce/figure_7.py --scale paper --data DIR

DIR holds the uncompressed INRIA folder of `data/README.md`. Three detectors are trained unless Table 3 left them (6, 5
and 28 minutes on two cores), then that of all channels with pAUCEns. At other scales, detectors of few trees are
trained on rendered streets, and say nothing about the paper's.
"""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm
from matplotlib.patches import Rectangle
from table_3 import ACF, ALL, PAUC

from detectors import PROTOCOLS, load, n_threads, trained, training_data
from harness import Run, exit_code
from paucens.metrics.intervals import wilson_interval
from paucens.plotting import DARK, house_style, new_figure
from paucens.proposals import train_bing
from paucens.proposals.gradients import POINTS
from report import interval_text, markdown, paper_says

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
AROUND, UPPER = "around", "outline, head and shoulders"
PARTS = ("splits", "offered")
COLUMNS = ["splits", "leaf_range", "offered", "weight", "of_bases"]  # of the CSV
MOST = 6  # times chance: the colours end there


def measure(run, case):
    """Train a detector, or load it, and count its splits; or train BING. A row per cell or point."""
    data = training_data(run)
    if case["method"] == BING:
        how = {"random_state": run.seed, "n_jobs": n_threads(run)}
        found = bing_weights(train_bing(data.crops, data.images, ACF.search(data), **how))
    else:
        detector, _ = trained(run, CONFIGS[case["method"], case["channels"]], data, run.seed)
        found = splits_of(detector)
    row, column = np.indices(next(iter(found.values())).shape)
    frame = pd.DataFrame({name: own.ravel() for name, own in ({"row": row, "column": column} | found).items()})
    return frame.assign(source=data.source).to_dict("records")


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
    return {
        name: np.vectorize("{:.6g}".format)(own) for name, own in (("weight", bing.weights), ("of_bases", of_bases))
    }


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
        UPPER: crosses & upper,
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


def channels_of(own):
    """Say how many channels a detector has."""
    return f"{own['offered'].max():.0f} channels"


def split_up(rows):
    """Return the maps of the detectors, then those of BING, by method and channels."""
    found = maps(rows)
    return ({key: own for key, own in found.items() if (key[0] == BING) == of_bing} for of_bing in (False, True))


def in_units(own):
    """Return the weights of BING and the sum of its bases in units of the mean magnitude of the weights."""
    return {name: own[name] / np.abs(own["weight"]).mean() for name in ("weight", "of_bases")}


def table(rows):
    """List how often features of each area are chosen, and the weights of BING by area."""
    paper, first = paper_says("figure_7"), rows.iloc[0]
    found, bings = split_up(rows)
    blocks = [
        f"# Figure 7\n\n{paper['caption']} (Sec. {paper['section']}). {first.data_set}, {first.source}.",
        "Splits in an area, divided by those that chance would give: 1 is a choice by chance among the features that "
        "are offered. With 95 % intervals. The last lines tell which share of these features lies in each area.",
        _splits(found),
        *map(_weights, bings.values()),
        f"The paper says: {paper['claim']}.",
    ]
    return "\n\n".join(blocks) + "\n"


def _splits(found):
    masks, lines, offers = areas(), [], {}
    for (method, _), own in found.items():
        n, cells = own["splits"].sum(), []
        shares, offered = ([own[name][mask].sum() / own[name].sum() for mask in masks.values()] for name in PARTS)
        for share, chance in zip(shares, offered, strict=True):
            low, high = wilson_interval(share, n, LEVEL_95)
            cells.append(f"{share / chance:.2f} ({interval_text(low / chance, high / chance, '.2f')})")
        both = (times_chance(own, name).ravel() for name in ("splits", "leaf_range"))
        lines.append([f"{method}, {channels_of(own)}", f"{n:.0f}", *cells, f"{np.corrcoef(*both)[0, 1]:.3f}"])
        offers[f"offered, {channels_of(own)}"] = [f"{100 * chance:.1f} %" for chance in offered]
    lines += [[name, None, *cells, None] for name, cells in offers.items()]
    return markdown(lines, ["detector", "splits", *masks, "correlation with splits weighted by leaves"])


def _weights(own):
    masks, lines, scaled = outline_areas(), [], in_units(own)
    weights, of_bases = scaled.values()
    for name, mask in masks.items():
        means = [f"{each[mask].mean():+.2f}" for each in (weights, of_bases)]
        lines.append([name, f"{mask.sum()}", *means, f"{100 * (weights[mask] > 0).mean():.0f} %"])
    rank = rank_among_shifts(weights, masks[UPPER])
    kept = 1 - ((weights - of_bases) ** 2).sum() / (weights**2).sum()
    return (
        f"{markdown(lines, ['points of BING', 'number', 'mean weight', 'of two bases', 'weights above 0'])}\n\n"
        f"Weights are in units of their mean magnitude. If the outline of head and shoulders is moved to all "
        f"{weights.size} places of the window, its mean weight is as large as in its own in {rank} of them, its own "
        f"included. Two bases hold {100 * kept:.0f} % of "
        "the sum of squares of the weights."
    )


@house_style()
def picture(rows):
    """Draw the splits of each detector, what was offered, and the weights of BING."""
    figure = new_figure(11, 4)
    left, right = figure.subfigures(1, 2, width_ratios=(5, 2.6))
    found, bings = split_up(rows)
    left.suptitle(f"{rows.data_set.iloc[0]}: splits, divided by those of chance", x=0.02, ha="left", fontsize=9)
    right.suptitle("weights of BING; dots: outline of head and shoulders", x=0.02, ha="left", fontsize=9)
    draw_splits(left, found)
    for own in bings.values():
        draw_weights(right, in_units(own))
    return figure


def draw_splits(figure, found):
    """Draw a map per detector, all on one scale, and what was offered to the last one."""
    panels = figure.subplots(1, len(found) + 1, sharey=True)
    norm = LogNorm(1 / MOST, MOST, clip=True)  # chance is white
    for axes, ((method, _), own) in zip(panels[:-1], found.items(), strict=True):
        image = draw_map(axes, times_chance(own), f"{method}\n{channels_of(own)}", cmap="RdBu_r", norm=norm)
    bar = colour_bar(figure, image, panels[:-1], "times chance")
    bar.set_ticks([1 / MOST, 1 / 3, 1, 3, MOST], labels=[f"≤ 1/{MOST}", "1/3", "1", "3", f"≥ {MOST}"])
    bar.minorticks_off()
    draw_offered(figure, panels[-1], own["offered"])
    panels[0].set_ylabel("row, cells of 4 px")


def draw_offered(figure, axes, offered):
    """Draw how many features each cell offers, and the areas of the table."""
    most = offered.max()
    image = draw_map(axes, offered, f"offered,\n{most:.0f} channels", cmap="Greys", vmin=0, vmax=3 * most)
    for name, (top, bottom, left, right) in AREAS.items():
        axes.add_patch(Rectangle((left, top), right - left, bottom - top, fill=False, edgecolor=DARK))
        middle = (left + right) / 2, (top + bottom) / 2
        axes.annotate(name.replace(" and ", "\nand "), middle, ha="center", va="center", fontsize=6)
    bar = colour_bar(figure, image, [axes], "features of a cell")
    bar.set_ticks([0, most])
    bar.ax.set_xlim(0, most)


def draw_weights(figure, scaled):
    """Draw the weights of BING as learnt and as their bases hold them, on one scale."""
    most, panels = np.abs(scaled["weight"]).max(), figure.subplots(1, 2, sharey=True)
    for axes, title, weights in zip(panels, ("as learnt", "two bases"), scaled.values(), strict=True):
        image = draw_map(axes, weights, title, cmap="RdBu_r", vmin=-most, vmax=most)
        row, column = np.nonzero(outline_areas()[UPPER])
        axes.plot(column + 0.5, row + 0.5, ".", color=DARK, markersize=2)
    panels[0].set_ylabel("row, points of 8 px")
    colour_bar(figure, image, panels, "weight, in units of the mean magnitude")


def draw_map(axes, values, title, **colours):
    """Draw a value for each cell of the window."""
    rows, columns = values.shape
    image = axes.imshow(values, interpolation="nearest", extent=(0, columns, rows, 0), **colours)
    axes.set(xticks=range(0, columns + 1, columns // 2), yticks=range(0, rows + 1, rows // 4), xlabel="column")
    axes.set_title(title, fontsize=8)
    axes.grid(False)
    return image


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
