"""House style, and what scripts draw from data frames: curves, intervals, pairs, regions, points."""

from contextlib import contextmanager
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

STYLE = Path(__file__).parents[1] / "paucens.mplstyle"
MOST_LAYOUTS = 10
BLUE, ORANGE, GREEN, PURPLE, VERMILION = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00"
GREY, DARK = "#777777", "#333333"
METHOD_STYLES = {  # safe for the colour-blind (Okabe and Ito); markers differ too
    "pAUCEnsT": (BLUE, "o"),
    "AdaBoost": (VERMILION, "s"),
    "Ada + LDA": (GREEN, "^"),
    "AsymBoost": (PURPLE, "D"),
    "CS-AdaBoost": (ORANGE, "v"),
}


@contextmanager
def house_style():
    """Apply the style file to figures made and saved inside; the user's own settings return afterwards."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(matplotlib.rc_params_from_file(STYLE, use_default_template=False))
        yield


def method_style(method):
    """Return the colour and marker of a method; grey if it has none of its own.

    Parameters
    ----------
    method : str
        A key of `METHOD_STYLES`, or another name.

    Examples
    --------
    >>> method_style("AdaBoost")
    ('#D55E00', 's')
    """
    return METHOD_STYLES.get(method, (GREY, "o"))


def new_figure(width, height):
    """Make an empty figure of a size in inches.

    Parameters
    ----------
    width, height : float

    Returns
    -------
    figure : matplotlib.figure.Figure
    """
    return Figure(figsize=(width, height))


def save_figure(figure, stem):
    """Save a figure as `<stem>.png` and `<stem>.pdf`, without dates: the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    stem : path-like
        Path without the suffix.

    Returns
    -------
    paths : list of Path
    """
    settle(figure)
    stem = Path(stem)
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "pdf")]
    for path, metadata in zip(paths, ({"Software": None}, {"CreationDate": None}), strict=True):
        figure.savefig(path, metadata=metadata)
    return paths


def settle(figure):
    """Lay a figure out until nothing moves, and keep that layout when it is drawn.

    Matplotlib lays a figure out once each time it is drawn, with the room that titles and labels needed before axes of
    equal aspect changed their size. If such a figure is drawn only once, its titles may be cut.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    """
    engine, before = figure.get_layout_engine(), None
    for _ in range(MOST_LAYOUTS if engine else 0):
        engine.execute(figure)
        for axes in figure.axes:
            axes.apply_aspect()
        places = np.array([axes.get_position().bounds for axes in figure.axes])
        if before is not None and np.allclose(places, before, rtol=0, atol=1e-3):
            break
        before = places
    figure.set_layout_engine("none")


def draw_mean_curves(axes, frame, x, y, by="method"):
    """Draw the mean of y over repeats against x, one line per method with a band of one standard deviation.

    Parameters
    ----------
    axes : Axes
    frame : DataFrame
        Columns x, y and `by`; repeats are rows of equal x and method.
    x, y : str
        Columns.
    by : str, default="method"
        Column of the methods.

    Returns
    -------
    ends : dict of str to float
        The last mean of each method, for `label_ends`.
    """
    ends = {}
    for method, rows in frame.groupby(by, sort=False):
        colour, _ = method_style(method)
        statistics = rows.groupby(x)[y].agg(["mean", "std"]).fillna(0.0)  # one repeat has no band
        at, (mean, sd) = statistics.index.to_numpy(), statistics.to_numpy().T
        axes.fill_between(at, mean - sd, mean + sd, color=colour, alpha=0.18, linewidth=0)
        axes.plot(at, mean, color=colour, zorder=3)
        ends[method] = float(mean[-1])
    return ends


def label_ends(axes, x, ends, gap=0.07):
    """Write the name of each line at its right end; names are moved apart if the ends are close.

    Parameters
    ----------
    axes : Axes
        With its final limits and scales.
    x : float
        The last x of the lines.
    ends : dict of str to float
        Heights by name; their order is kept.
    gap : float, default=0.07
        Least distance between names, as a fraction of the height of the axes.
    """
    to_fraction = axes.transData + axes.transAxes.inverted()
    names = sorted(ends, key=ends.get)
    right, _ = to_fraction.transform((x, ends[names[0]]))
    heights = spread_out([to_fraction.transform((x, ends[name]))[1] for name in names], gap)
    for name, height in zip(names, heights, strict=True):
        axes.annotate(
            name,
            (right, height),
            xytext=(8, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            va="center",
            color=method_style(name)[0],
            fontweight="bold",
            annotation_clip=False,
        )


def spread_out(heights, gap):
    """Move ascending heights apart to at least `gap`, each as little as the others allow.

    Parameters
    ----------
    heights : list of float
        Ascending.
    gap : float

    Returns
    -------
    heights : list of float

    Examples
    --------
    >>> [round(height, 2) for height in spread_out([0.5, 0.52, 0.9], 0.1)]
    [0.46, 0.56, 0.9]
    """
    pools = []  # of labels that touch: for each member, the lowest place of the pool that it would like best
    for height in heights:
        pools.append([height])
        while len(pools) > 1 and _lowest(pools[-2]) + gap * len(pools[-2]) > _lowest(pools[-1]):
            touching = pools.pop()
            pools[-1] += [wish - gap * len(pools[-1]) for wish in touching]
    return [_lowest(pool) + gap * place for pool in pools for place in range(len(pool))]


def _lowest(wishes):
    return float(np.mean(wishes))


def draw_intervals(axes, at, intervals, colour, marker):
    """Draw means with their intervals as vertical lines; a mean without interval is drawn alone.

    Parameters
    ----------
    axes : Axes
    at : array of shape (n,)
        Places on the x axis.
    intervals : sequence of (mean, low, high)
    colour, marker : str
    """
    means, lows, highs = np.transpose(intervals)
    axes.vlines(at, lows, highs, color=colour, linewidth=1)
    axes.plot(at, means, marker, color=colour, markersize=4)


def draw_forest(axes, intervals, look, reference=None):
    """Draw means with their intervals, one line per name from top to bottom.

    Parameters
    ----------
    axes : Axes
    intervals : dict of str to list of (mean, low, high)
        Several intervals of one name, for example those of seeds, are drawn above each other.
    look : callable
        Returns the colour and marker of a name, as `method_style` does.
    reference : float, optional
        Position of a vertical line.
    """
    if reference is not None:
        axes.axvline(reference, color=GREY, linewidth=0.8, zorder=1)
    for place, (name, own) in enumerate(intervals.items()):
        colour, marker = look(name)
        places = place + 0.18 * (np.arange(len(own)) - (len(own) - 1) / 2)
        means, lows, highs = np.transpose(own)
        axes.hlines(places, lows, highs, color=colour, linewidth=1)
        axes.plot(means, places, marker, color=colour, markersize=4.5)
    axes.set_yticks(range(len(intervals)), list(intervals))
    axes.set_ylim(len(intervals) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x", visible=True)


def draw_power_law(axes, x, y, exponent, colour, **style):
    """Draw the line y = c x^exponent through the middle of positive points, on logarithmic axes.

    Parameters
    ----------
    axes : Axes
    x, y : array of shape (n,)
        The middle is the mean of the logarithms; the line reaches from the smallest x to the largest.
    exponent : float
    colour : str
    **style
        Further arguments of `Axes.plot`.
    """
    ends = np.array([np.min(x), np.max(x)])
    middle = np.exp(np.mean(np.log(x))), np.exp(np.mean(np.log(y)))
    axes.plot(ends, middle[1] * (ends / middle[0]) ** exponent, color=colour, **style)


def draw_paired_dots(axes, frame, y, by="method", pair="repeat"):
    """Draw y of every repeat above its method, a thin line per repeat, and a bar and a number at each mean.

    Parameters
    ----------
    axes : Axes
    frame : DataFrame
        Columns y, `by` and `pair`, one row per method and repeat. Methods keep their order from left to right.
    y : str
        Column.
    by : str, default="method"
        Column of the methods.
    pair : str, default="repeat"
        Column of the repeats.
    """
    wide = frame.pivot(index=pair, columns=by, values=y)[list(dict.fromkeys(frame[by]))]
    places = np.arange(wide.shape[1])
    axes.plot(places, wide.to_numpy().T, color=GREY, linewidth=0.6, alpha=0.35)
    for place, method in zip(places, wide, strict=True):
        colour, marker = method_style(method)
        axes.plot(
            np.full(len(wide), place), wide[method], marker, color=colour, markersize=3.5, alpha=0.6, markeredgewidth=0
        )
        mean = wide[method].mean()
        axes.plot([place - 0.2, place + 0.2], [mean, mean], color=colour, linewidth=2.5, zorder=4)
        axes.annotate(
            f"{mean:.3f}",
            (place, wide[method].max()),
            xytext=(0, 5),
            textcoords="offset points",
            ha="center",
            color=colour,
            fontsize=8,
            fontweight="bold",
        )
    axes.set_xticks(places, list(wide), rotation=25, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.6, len(places) - 0.4)
    axes.margins(y=0.12)


def draw_regions(axes, x_edges, y_edges, is_positive, colour):
    """Fill the cells of a grid that are predicted positive, and draw the line around them.

    Parameters
    ----------
    axes : Axes
    x_edges, y_edges : array of shape (n_x + 1,), (n_y + 1,)
        Ascending borders of the cells; the outermost ones are the limits of the picture.
    is_positive : bool array of shape (n_y, n_x)
    colour : str
    """
    for row, column in np.argwhere(is_positive):
        left, bottom = x_edges[column], y_edges[row]
        size = x_edges[column + 1] - left, y_edges[row + 1] - bottom
        cell = Rectangle((left, bottom), *size, facecolor=colour, alpha=0.16, linewidth=0, zorder=0.5)
        axes.add_patch(cell)
    row, column = np.nonzero(is_positive[:, 1:] != is_positive[:, :-1])
    axes.vlines(x_edges[column + 1], y_edges[row], y_edges[row + 1], color=colour, linewidth=1.6, zorder=3)
    row, column = np.nonzero(is_positive[1:] != is_positive[:-1])
    axes.hlines(y_edges[row + 1], x_edges[column], x_edges[column + 1], color=colour, linewidth=1.6, zorder=3)
    axes.set(xlim=(x_edges[0], x_edges[-1]), ylim=(y_edges[0], y_edges[-1]))


def draw_points(axes, frame, x="x", y="y", label="label"):
    """Draw rows of label 1 as circles and others as crosses, as the paper does.

    Parameters
    ----------
    axes : Axes
    frame : DataFrame
        One row per point.
    x, y, label : str
        Columns.
    """
    positives, negatives = frame[frame[label] == 1], frame[frame[label] != 1]
    axes.scatter(negatives[x], negatives[y], s=9, marker="x", linewidths=0.6, color=GREY)
    axes.scatter(positives[x], positives[y], s=9, linewidths=0.6, facecolors="none", edgecolors=DARK)
