"""Table and picture of detectors: miss rates beside the paper's, differences, for each test set."""

import numpy as np

from paucens.plotting import GREY, method_style, new_figure
from reproduce._tables import NOTHING, markdown, paper_says


def table(name, frames):
    """Write the table of that name, a block a test set; the paper's numbers beside INRIA's only."""
    frame, pairs, paper = frames[name], frames[f"{name}_pairs"], paper_says(name)
    blocks = [
        f"# {name.replace('_', ' ').capitalize()}",
        f"{paper['caption']} (Sec. {paper['section']}), per cent, lower is better. Intervals of 95 % over images.",
    ]
    for column, rows in frame.groupby("column", sort=False):
        first = rows.iloc[0]
        printed = paper["miss_rate"] if column.startswith("INRIA") else {}
        about = f"{first.n_images} images, {first.n_people} people."
        if printed:
            about += f" INRIA test, 287/288 images, 271 repaired (5 % of the pixels inside boxes), {first.source}."
        blocks += [f"## {column}", about, scores_block(rows, printed), pairs_block(pairs[pairs.column == column])]
    return "\n\n".join(blocks) + "\n"


def scores_block(rows, printed):
    """Miss rates of all detectors, beside the paper's where there are any."""
    cells = []
    for (method, preset), own in rows.groupby(["method", "setting"], sort=False):
        mean = 100 * own.miss_rate.mean()
        said = printed.get(method, {}).get("INRIA")
        beside = ([f"{said:.1f}", f"{mean - said:+.1f}"] if said else 2 * [NOTHING]) if printed else []
        each = ", ".join(
            f"{100 * rate:.1f} ({100 * low:.1f} to {100 * high:.1f})"
            for rate, low, high in zip(own.miss_rate, own.low, own.high, strict=True)
        )
        minutes = own.train_seconds.astype(float).mean() / 60
        cells.append([method, preset, *beside, f"{mean:.1f}", each, NOTHING if np.isnan(minutes) else f"{minutes:.0f}"])
    header = [
        "channels",
        "preset",
        *(["paper", "difference"] if printed else []),
        "ours",
        "each seed",
        "minutes of training",
    ]
    return markdown(header, cells)


def pairs_block(pairs):
    """Differences of rows."""
    cells = [
        [
            row.method,
            row.setting,
            len(str(row.repeat).split()),
            f"{100 * row.difference:+.1f}",
            f"{100 * row.low:+.1f} to {100 * row.high:+.1f}",
        ]
        for row in pairs.itertuples()
    ]
    return markdown(["difference", "presets", "seeds", "points", "95 %"], cells)


def picture(name, frames):
    """Draw the miss rates, a panel a column: a dot a seed with its interval, the paper's number as a bar."""
    frame, printed = frames[name], paper_says(name)["miss_rate"]
    names = list(dict.fromkeys(zip(frame.method, frame.setting, strict=True)))[::-1]
    columns = list(frame.groupby("column", sort=False))
    figure = new_figure(2.4 + 1.9 * len(columns), 1.2 + 0.45 * len(names))
    panels = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
    for (column, rows), axes in zip(columns, panels, strict=True):
        for height, (method, preset) in enumerate(names):
            own = rows[(rows.method == method) & (rows.setting == preset)]
            colour, marker = method_style("pAUCEnsT")
            for k, row in enumerate(own.itertuples()):
                place = height + 0.14 * (k - (len(own) - 1) / 2)
                axes.plot([100 * row.low, 100 * row.high], 2 * [place], color=colour, linewidth=1, alpha=0.5)
                axes.plot(100 * row.miss_rate, place, marker, color=colour, markersize=4)
            if column.startswith("INRIA") and method in printed:
                said = printed[method]["INRIA"]
                axes.plot(said, height, "|", color=GREY, markersize=18, markeredgewidth=2)
                axes.annotate("paper", (said, height), (0, 12), textcoords="offset points", ha="center", color=GREY)
        axes.set_title(column)
        axes.set_xlabel("log-average miss rate, %")
        axes.grid(axis="y", visible=False)
        axes.grid(axis="x", visible=True)
    panels[0].set_ylim(-0.6, len(names) - 0.4)
    panels[0].set_yticks(range(len(names)), [f"{method}\n({preset})" for method, preset in names])
    return figure
