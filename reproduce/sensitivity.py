"""What hangs on boxes, suppression, border and size: detectors of Table 3 on INRIA test, varied.

Protocol. `_detection.py` fixed all of it in advance: boxes of 100 pixels for windows of 128, which count from an
overlap of .5 on, greedy suppression at .65 of the smaller area, images enlarged by their border and searched from their
own size down. The detectors stay as they are; differences are paired over images, with intervals of 95 % by bootstrap.
Nothing is chosen by this table.

    python reproduce/sensitivity.py --scale paper --data DIR

with the uncompressed INRIA folder of `data/README.md` in DIR. At other scales a detector of few trees is run on
rendered streets.
"""

import copy
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from paucens.detector import Window, non_maximum_suppression
from paucens.detector.samples import pixels_of
from paucens.evaluation import miss_rate_difference, miss_rate_interval
from paucens.parallel import Threads
from paucens.plotting import GREY, method_style, new_figure
from reproduce._detection import joint_hash, log_evaluation
from reproduce._detectors import PROTOCOLS, Row, material_of, trained
from reproduce._run import Plan, Script, main
from reproduce._store import Sheet, Task, task_key
from reproduce._tables import markdown

NAME = "sensitivity"
COLUMNS = ("column", "variation", "miss_rate", "low", "high", "difference", "difference_low", "difference_high")
STANDARD, LOOSE = "as judged", "overlap of .4 counts"
INSIDE, TWICE = "windows inside the image only", "from twice the image's size down"
BEYOND_SUPPRESSION = (LOOSE, INSIDE, TWICE)
ROWS = (Row("M+O+LUV", "M+O+LUV", n_seeds=3), Row("spCov+spLBP+M+O+LUV", "spCov+spLBP+M+O+LUV"))
FLOOR = -5.0  # of scores: far below one false positive an image


def suppressed(boxes, overlap=0.65, denominator="min", height=1.0):
    """Detections of one image, boxes stretched about their middle before suppression."""
    boxes = boxes.copy()
    middle = boxes[:, :2] + boxes[:, 2:4] / 2
    boxes[:, 2:4] *= height
    boxes[:, :2] = middle - boxes[:, 2:4] / 2
    return non_maximum_suppression(boxes, overlap, denominator)


VARIATIONS = {  # of what all windows scored
    STANDARD: suppressed,
    "suppression at .5": partial(suppressed, overlap=0.5),
    "suppression at .8": partial(suppressed, overlap=0.8),
    "suppression at .5 of the union": partial(suppressed, overlap=0.5, denominator="union"),
    "boxes 5 % smaller": partial(suppressed, height=0.95),
    "boxes 5 % larger": partial(suppressed, height=1.05),
}


class Inside(Window):
    """A window that never leaves the image."""

    overhang = (0, 0)


def plan(arguments):
    """One task a detector."""
    material, protocol = material_of(arguments), PROTOCOLS[arguments.scale]
    data = material.data(1)
    rows = ROWS if arguments.scale == "paper" else ROWS[:1]
    tasks = [
        Task(
            task_key(material.name, joint_hash(data, material), row.method, row.preset, repeat, arguments),
            len(VARIATIONS) + len(BEYOND_SUPPRESSION),
            partial(measure, row, arguments.seed + repeat, arguments),
        )
        for row in rows
        for repeat in range(min(row.n_seeds, protocol.seeds))
    ]
    return Plan([Sheet(NAME, COLUMNS, tasks)], protocol, data)


def measure(row, seed, arguments):
    """Run a detector on the first test set and judge it in every variation; rows of the CSV."""
    material = material_of(arguments)
    detector, _ = trained(row, seed, material, arguments)
    column = material.columns[0]
    images = [pixels_of(record.image) for record in column.load()]
    found = [candidates(detector, image) for image in images]
    matches = {name: column.evaluate(list(map(vary, found))) for name, vary in VARIATIONS.items()}
    matches[LOOSE] = column.evaluate(list(map(suppressed, found)), overlap=0.4)
    inside = copy.copy(detector)
    inside.window = Inside(detector.window.shape, detector.window.target, detector.window.margin)
    matches[INSIDE] = column.evaluate([suppressed(candidates(inside, image)) for image in images])
    least = detector.window.target[0] / 2
    matches[TWICE] = column.evaluate([suppressed(candidates(detector, image, least)) for image in images])
    lines = []
    for name, own in matches.items():
        low, miss_rate, high = miss_rate_interval(own)
        if material.is_real:
            log_evaluation(NAME, f"{row.method} ({row.preset}), {name}", seed, column.name, miss_rate)
        values = [miss_rate, low, high, *miss_rate_difference(own, matches[STANDARD])]
        texts = (column.name, name, *(f"{value:.6f}" for value in values))
        lines.append(dict(zip(COLUMNS, texts, strict=True)))
    return lines


def candidates(detector, rgb, min_height=None):
    """All windows of an image that score above `FLOOR`, (k, 5), nothing suppressed."""
    with Threads(1) as one:
        return detector.candidates(rgb, detector.search.levels(rgb.shape[:2], min_height), FLOOR, one)[0]


# ---------------------------------------------------------------------------------- table and picture


def table(frames):
    """Miss rates and differences, a block a detector."""
    frame = frames[NAME]
    blocks = [
        "# Sensitivity",
        f"Log-average miss rates on {frame.column.iloc[0]}, per cent; intervals of 95 % over images.",
    ]
    for method, rows in frame.groupby("method", sort=False):
        cells = [
            [
                name,
                ", ".join(f"{100 * rate:.1f}" for rate in own.miss_rate),
                ", ".join(
                    f"{100 * row.difference:+.1f} ({100 * row.difference_low:+.1f} to {100 * row.difference_high:+.1f})"
                    for row in own.itertuples()
                ),
            ]
            for name, own in rows.groupby("variation", sort=False)
        ]
        blocks += [f"## {method}", markdown(["variation", "each seed", "difference"], cells)]
    return "\n\n".join(blocks) + "\n"


def picture(frames):
    """Draw the differences with their intervals, a panel a detector."""
    frame = frames[NAME]
    methods, names = frame.method.unique(), [name for name in frame.variation.unique() if name != STANDARD][::-1]
    figure = new_figure(3.2 + 2.6 * len(methods), 3.2)
    panels = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
    colour, marker = method_style("pAUCEnsT")
    for method, axes in zip(methods, panels, strict=True):
        axes.axvline(0, color=GREY, linewidth=1)
        for height, name in enumerate(names):
            own = frame[(frame.method == method) & (frame.variation == name)]
            for k, row in enumerate(own.itertuples()):
                place = height + 0.2 * (k - (len(own) - 1) / 2)
                axes.plot([100 * row.difference_low, 100 * row.difference_high], 2 * [place], color=colour, linewidth=1)
                axes.plot(100 * row.difference, place, marker, color=colour, markersize=4)
        axes.set_title(method)
        axes.set_xlabel("difference of miss rates, points")
        axes.grid(axis="y", visible=False)
        axes.grid(axis="x", visible=True)
    panels[0].set_yticks(range(len(names)), names)
    return figure


SCRIPT = Script(NAME, __doc__, (NAME,), plan, table, picture)


if __name__ == "__main__":
    sys.exit(main(SCRIPT))
