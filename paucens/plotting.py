"""House style: frames in, figures out. The only module of the package that needs matplotlib.

A method has the same colour and marker in every picture. Figures are made without pyplot, so that no screen is
needed and nothing stays open; make and save them inside `house_style()`.
"""

from contextlib import contextmanager
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("paucens.mplstyle")
BLUE, ORANGE, GREEN, PURPLE, VERMILION = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00"
GREY, DARK = "#777777", "#333333"
METHOD_STYLES = {  # colour-blind safe (Okabe and Ito); markers differ too
    "pAUCEnsT": (BLUE, "o"),
    "AdaBoost": (VERMILION, "s"),
    "Ada + LDA": (GREEN, "^"),
    "AsymBoost": (PURPLE, "D"),
    "CS-AdaBoost": (ORANGE, "v"),
}


@contextmanager
def house_style():
    """Apply the style file to what is made and saved inside; what the user had set returns afterwards."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(matplotlib.rc_params_from_file(STYLE, use_default_template=False))
        yield


def method_style(method):
    """Return the colour and marker of a method; grey for one that has none of its own.

    Examples
    --------
    >>> method_style("AdaBoost")
    ('#D55E00', 's')
    """
    return METHOD_STYLES.get(method, (GREY, "o"))


def new_figure(width, height):
    """Make an empty figure, sizes in inches."""
    return Figure(figsize=(width, height))


def save_figure(figure, stem):
    """Save a figure as `<stem>.png` and `<stem>.pdf`, free of dates: the same figure gives the same bytes.

    Returns
    -------
    paths : list of Path
    """
    stem = Path(stem)
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "pdf")]
    for path, metadata in zip(paths, ({"Software": None}, {"CreationDate": None}), strict=True):
        figure.savefig(path, metadata=metadata)
    return paths


def draw_mean_curves(axes, frame, x, y, by="method"):
    """Draw the mean of y over repeats against x, a line per method in a band of one standard deviation.

    Parameters
    ----------
    axes : Axes
    frame : DataFrame
        Columns x, y and `by`; repeats are rows of equal x and method.
    x, y, by : str

    Returns
    -------
    ends : dict of str to float
        Where each line ends, for `label_ends`.
    """
    ends = {}
    for method, rows in frame.groupby(by, sort=False):
        colour, _ = method_style(method)
        statistics = rows.groupby(x)[y].agg(["mean", "std"]).fillna(0.0)  # one repeat has no band
        at, mean, sd = statistics.index.to_numpy(), statistics["mean"].to_numpy(), statistics["std"].to_numpy()
        axes.fill_between(at, mean - sd, mean + sd, color=colour, alpha=0.18, linewidth=0)
        axes.plot(at, mean, color=colour, zorder=3)
        ends[method] = float(mean[-1])
    return ends


def label_ends(axes, x, ends, gap=0.07):
    """Write each line's name at its right end, moved apart where the ends are close.

    Parameters
    ----------
    axes : Axes
        With its final limits and scales.
    x : float
        Where the lines end.
    ends : dict of str to float
        Heights by name; their order is kept.
    gap : float
        Least distance between names, as a fraction of the height of the axes.
    """
    to_fraction = axes.transData + axes.transAxes.inverted()
    names = sorted(ends, key=ends.get)
    right, _ = to_fraction.transform((x, ends[names[0]]))
    heights = spread_out([to_fraction.transform((x, ends[name]))[1] for name in names], gap)
    for name, height in zip(names, heights, strict=True):
        axes.annotate(
            name, (right, height), xytext=(8, 0), xycoords="axes fraction", textcoords="offset points",
            va="center", color=method_style(name)[0], fontweight="bold", annotation_clip=False,
        )  # fmt: skip


def spread_out(heights, gap):
    """Move ascending heights apart to at least `gap`, each as little as the ones below allow.

    Examples
    --------
    >>> [round(height, 2) for height in spread_out([0.5, 0.52, 0.9], 0.1)]
    [0.46, 0.56, 0.9]
    """
    heights = np.asarray(heights, dtype=float)
    if len(heights) < 2:
        return heights.tolist()
    steps = gap * np.arange(len(heights))
    level = _isotonic(heights - steps)
    return (level + steps).tolist()


def _isotonic(values):
    """Return the non-decreasing sequence nearest to the values (pool adjacent violators)."""
    pools = []
    for value in values:
        pools.append([value, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, count = pools.pop()
            pools[-1] = [(pools[-1][0] * pools[-1][1] + mean * count) / (pools[-1][1] + count), pools[-1][1] + count]
    return np.repeat([mean for mean, _ in pools], [count for _, count in pools])


def draw_paired_dots(axes, frame, y, by="method", pair="repeat"):
    """Draw y of every repeat above its method, a thin line through each repeat and a bar at each mean.

    Parameters
    ----------
    axes : Axes
    frame : DataFrame
        Columns y, `by` and `pair`, one row per method and repeat; methods from left to right as they come.
    y, by, pair : str
    """
    wide = frame.pivot(index=pair, columns=by, values=y)[list(dict.fromkeys(frame[by]))]
    places = np.arange(wide.shape[1])
    axes.plot(places, wide.to_numpy().T, color=GREY, linewidth=0.6, alpha=0.35)
    for place, method in zip(places, wide, strict=True):
        colour, marker = method_style(method)
        axes.plot(np.full(len(wide), place), wide[method], marker, color=colour, markersize=3.5, alpha=0.6,
                  markeredgewidth=0)  # fmt: skip
        mean = wide[method].mean()
        side, align = (-1, "right") if place == 0 else (1, "left")
        axes.plot([place - 0.14, place + 0.14], [mean, mean], color=colour, linewidth=2.5, zorder=4)
        axes.annotate(f"{mean:.3f}", (place + side * 0.18, mean), ha=align, va="center", color=colour,
                      fontweight="bold")  # fmt: skip
    axes.set_xticks(places, list(wide))
    axes.set_xlim(-0.7, len(places) - 0.3)


def draw_regions(axes, x_edges, y_edges, is_positive, colour):
    """Fill the cells of a grid that are called positive, and draw the line around them.

    Parameters
    ----------
    axes : Axes
    x_edges, y_edges : array of shape (n_x + 1,), (n_y + 1,)
        Ascending borders of the cells; the outermost ones are the limits of the picture.
    is_positive : bool array of shape (n_y, n_x)
    colour : str
    """
    for row, column in np.argwhere(is_positive):
        width, height = np.diff(x_edges)[column], np.diff(y_edges)[row]
        axes.add_patch(matplotlib.patches.Rectangle(
            (x_edges[column], y_edges[row]), width, height, facecolor=colour, alpha=0.16, linewidth=0, zorder=0.5,
        ))  # fmt: skip
    inside = np.pad(is_positive, 1, mode="edge")[1:-1, 1:-1]
    row, column = np.nonzero(inside[:, 1:] != inside[:, :-1])
    axes.vlines(x_edges[column + 1], y_edges[row], y_edges[row + 1], color=colour, linewidth=1.6, zorder=3)
    row, column = np.nonzero(inside[1:] != inside[:-1])
    axes.hlines(y_edges[row + 1], x_edges[column], x_edges[column + 1], color=colour, linewidth=1.6, zorder=3)
    axes.set(xlim=(x_edges[0], x_edges[-1]), ylim=(y_edges[0], y_edges[-1]))


def draw_points(axes, frame, x="x", y="y", label="label"):
    """Draw positives as circles and negatives as crosses, as the paper does."""
    for value, marker, colour, size in ((0, "x", GREY, 9), (1, "o", DARK, 9)):
        rows = frame[frame[label] == value]
        filled = {} if marker == "x" else {"facecolors": "none"}
        axes.scatter(rows[x], rows[y], size, marker=marker, linewidths=0.6,
                     **({"color": colour} if not filled else {"edgecolors": colour} | filled))  # fmt: skip
