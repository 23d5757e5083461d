"""How much boxes, suppression, border and size matter: detectors of Table 3 on INRIA test, varied.

Protocol. `reproduce/detectors/__init__.py` fixed all of it in advance: boxes of 100 pixels for windows of 128, which
count from an overlap of 0.5 on; greedy suppression at 0.65 of the smaller area; images padded with their own border and
searched from their own size downwards. The detectors stay as they are. Differences are paired over images, with 95 %
intervals by bootstrap. Nothing is chosen by this table.

    python reproduce/sensitivity.py --scale paper --data DIR

DIR holds the uncompressed INRIA folder of `data/README.md`. Detectors that Table 3 has trained are taken from its
cache. At other scales, a detector of few trees is run on rendered streets.
"""

import sys
from dataclasses import replace
from functools import partial

from detectors import DIFFERENCE, PROTOCOLS, DetectorConfig, cases, judged, load, log_evaluation, per_cent, trained
from detectors.data import test_set, training_data
from harness import Run, exit_code
from paucens.detector import non_maximum_suppression
from paucens.images import pixels_of
from paucens.parallel import Threads
from paucens.plotting import draw_forest, house_style, method_style, new_figure
from report import markdown

CONFIGS = [DetectorConfig("M+O+LUV", "M+O+LUV", n_seeds=3)]
CONFIGS += [DetectorConfig("spCov+spLBP+M+O+LUV", "spCov+spLBP+M+O+LUV")]
FLOOR = -5.0  # of scores: far below one false positive per image


def suppressed(boxes, overlap=0.65, denominator="min", height=1.0):
    """Suppress detections of one image after stretching their boxes about the middle."""
    boxes = boxes.copy()
    middle = boxes[:, :2] + boxes[:, 2:4] / 2
    boxes[:, 2:4] *= height
    boxes[:, :2] = middle - boxes[:, 2:4] / 2
    return non_maximum_suppression(boxes, overlap, denominator)


STANDARD = "standard"
SUPPRESSIONS = {  # of the same windows
    STANDARD: suppressed,
    "suppression at 0.5": partial(suppressed, overlap=0.5),
    "suppression at 0.8": partial(suppressed, overlap=0.8),
    "suppression at 0.5 of the union": partial(suppressed, overlap=0.5, denominator="union"),
    "boxes 5 % smaller": partial(suppressed, height=0.95),
    "boxes 5 % larger": partial(suppressed, height=1.05),
}


def measure(run, case):
    """Run a detector on the test set and judge it in every variation."""
    config = next(config for config in CONFIGS if config.method == case["method"])
    tests, seed = test_set(run, case["test_set"]), run.seed + case["repeat"]
    detector, _ = trained(run, config, training_data(run), seed)
    inside = replace(detector, search=replace(detector.search, window=replace(detector.window, inside=True)))
    images = [pixels_of(image) for image in tests.images]

    def scan(detector, min_height=None):
        levels = [detector.search.levels(rgb.shape[:2], min_height) for rgb in images]
        return [detector.candidates(rgb, own, FLOOR, Threads(1))[0] for rgb, own in zip(images, levels, strict=True)]

    found, half = scan(detector), detector.window.target[0] / 2
    matches = {name: tests.evaluate(list(map(suppress, found))) for name, suppress in SUPPRESSIONS.items()} | {
        "an overlap of 0.4 counts": tests.evaluate(list(map(suppressed, found)), overlap=0.4),
        "windows inside the image only": tests.evaluate(list(map(suppressed, scan(inside)))),
        "from twice the image's size down": tests.evaluate(list(map(suppressed, scan(detector, half)))),
    }
    rows = [{"variation": name} | judged(own, matches[STANDARD]) for name, own in matches.items()]
    for row in rows:
        about = f"{config.method} ({config.preset}), {row['variation']}"
        log_evaluation(run, about, seed, tests.title, row["miss_rate"])
    return rows


def table(rows):
    """List miss rates and differences, a block per detector."""
    blocks = [
        "# Sensitivity",
        f"Log-average miss rates on {rows.test_set.iloc[0]} in per cent, with 95 % intervals over images.",
    ]
    for method, of_method in rows.groupby("method", sort=False):
        lines = []
        for name, own in of_method.groupby("variation", sort=False):
            rates = ", ".join(f"{100 * rate:.1f}" for rate in own.miss_rate)
            lines.append([name, rates, ", ".join(per_cent(each, "+") for each in own[DIFFERENCE].to_numpy())])
        blocks += [f"## {method}", markdown(lines, ["variation", "each seed", "difference from the standard"])]
    return "\n\n".join(blocks) + "\n"


@house_style()
def picture(rows):
    """Draw the differences with their intervals, a panel per detector."""
    methods = list(rows[rows.variation != STANDARD].groupby("method", sort=False))
    figure = new_figure(3.2 + 2.6 * len(methods), 3.2)
    panels = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
    for (method, own), axes in zip(methods, panels, strict=True):
        groups = own.groupby("variation", sort=False)
        intervals = {name: 100 * each[DIFFERENCE].to_numpy() for name, each in groups}
        draw_forest(axes, intervals, lambda _: method_style("pAUCEnsT"), reference=0)
        axes.set(title=method, xlabel="difference of miss rates, points")
        axes.label_outer()
    return figure


def main(argv=None):
    """Judge each detector in every variation; one detector is enough on rendered streets."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    configs = CONFIGS if run.scale == "paper" else CONFIGS[:1]
    rows = run.rows("sensitivity", measure, cases(run, load(run, 1), configs))
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
