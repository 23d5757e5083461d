"""A window of 64 x 32 pixels instead of 128 x 64: what it costs in people, and what it saves in time.

Protocol. Detectors on M+O+LUV and on all channels are trained on INRIA as those of Table 3, seed 0, with the window of
Table 3 and with one of half its sides, in cells of the same 4 pixels. The crops for the smaller window are the same
ones, resampled to half their sides. Photographs are smoothed by a triangle filter of radius 0.275 at the size of the
window, which is what the radius 0.5 of Table 3 comes to after halving: a pixel takes 1 / 19.2 of each neighbour.
Both are run on INRIA test for people of 100 pixels and more, so both look for the same people, the smaller window in
smaller images. Differences are paired over images. Processor seconds of `detect` are those of up to ten images, every
29th, as they are, on one thread, divided by those of OpenCV's HOG detector: medians. No detector has stages. All reject
windows whose sum falls to -10, as in Table 3.

    python reproduce/window_size.py --scale paper --data DIR

DIR holds the uncompressed INRIA folder of `data/README.md`. Detectors that Table 3 has left are not trained again; four
trainings and the tests took 45 minutes on two cores that did other work. At other scales, detectors of few trees are
trained on rendered streets.
"""

import sys
from dataclasses import replace

import numpy as np

import detectors
from detectors import DetectorConfig
from detectors.times import hog_seconds, seconds_of, timed_images
from harness import Run, exit_code
from paucens.detector import Window
from paucens.features.pyramid import resize
from paucens.images import pixels_of
from paucens.parallel import ALONE
from paucens.plotting import BLUE, ORANGE, draw_forest, house_style, new_figure
from report import markdown

WHOLE, HALF = Window(), Window(shape=(64, 32), target=(50.0, 20.5), margin=8)
WINDOWS = {"128 x 64": WHOLE, "64 x 32": HALF}
CHANNELS = ("M+O+LUV", "spCov+spLBP+M+O+LUV")
LEAST_HEIGHT = WHOLE.target[0]  # of the people who are searched for
SMOOTH_HALF = 0.275  # for the radius 0.5: [1 p 1] / (2 + p) with p = 12 / (r (r + 2)) - 2, and half of its 1 / (2 + p)


def halved(data):
    """Return training data with crops of half their sides, and the smoothing that belongs to them."""
    crops = [np.ascontiguousarray(pixels_of(crop)) for crop in data.crops]
    crops = [resize(crop, tuple(side // 2 for side in crop.shape[:2]), ALONE) for crop in crops]
    return replace(data, crops=crops, smooth=SMOOTH_HALF if data.smooth else 0.0)


def detector_of(run, case):
    """Train the detector of a case, or load it."""
    data, config = detectors.training_data(run), DetectorConfig(case["channels"], case["channels"])
    if WINDOWS[case["window"]] == HALF:
        data, config = halved(data), replace(config, window=HALF)
    return detectors.trained(run, config, data, run.seed)[0]


def measure(run, case):
    """Judge the detectors on some channels, a row per window."""
    tests, rows, standard = detectors.test_set(run, case["test_set"]), [], None
    images = list(map(pixels_of, timed_images(tests)))
    hog = hog_seconds(images)
    for window in WINDOWS:
        detector = detector_of(run, case | {"window": window})
        found = detectors.detections_of(detector, tests.images, detectors.n_threads(run), LEAST_HEIGHT)
        matches = tests.evaluate(found)
        standard = standard or matches
        row = {"window": window} | detectors.judged(matches, standard)
        detectors.log_evaluation(run, f"{case['channels']}, window {window}", run.seed, tests.title, row["miss_rate"])
        seconds = [seconds_of(detector.detect, rgb, min_height=LEAST_HEIGHT, n_jobs=1) for rgb in images]
        ratio = None if hog is None else f"{np.median(seconds / hog):.4f}"
        rows.append(row | {"seconds": f"{np.median(seconds):.4f}", "hog_ratio": ratio})
    return rows


def table(rows):
    """List miss rates and times, a block per test set."""
    blocks = ["# The size of the window", "In per cent, lower is better; 95 % intervals are over images."]
    for title, own in rows.groupby("test_set", sort=False):
        scores = map(detectors.per_cent, own[detectors.SCORE].to_numpy())
        differences = (detectors.per_cent(each, "+") for each in own[detectors.DIFFERENCE].to_numpy())
        ratios = [None if np.isnan(ratio) else f"{ratio:.2f}" for ratio in own.hog_ratio.astype(float)]
        lines = list(zip(own.channels, own.window, scores, differences, ratios, strict=True))
        columns = ["channels", "window", "log-average miss rate", "difference from 128 x 64", "time in HOG calls"]
        blocks += [f"## {title}, searched for people of {LEAST_HEIGHT:g} pixels and more", markdown(lines, columns)]
    return "\n\n".join(blocks) + "\n"


@house_style()
def picture(rows):
    """Draw the miss rates with their intervals, a colour per window."""
    figure = new_figure(6.0, 1.2 + 0.4 * len(rows))
    axes, looks = figure.subplots(), dict(zip(WINDOWS, ((ORANGE, "s"), (BLUE, "o")), strict=True))
    names = [f"{row.channels}\n{row.window}" for row in rows.itertuples()]
    scores = (100 * rows[detectors.SCORE]).itertuples(index=False, name=None)
    draw_forest(axes, dict(zip(names, ([one] for one in scores), strict=True)), lambda name: looks[name.split("\n")[1]])
    axes.set(xlabel=f"log-average miss rate, %; {rows.test_set.iloc[0]}", xmargin=0.12)
    return figure


def main(argv=None):
    """Judge all detectors on the first test set."""
    run = Run.of(__file__, __doc__, detectors.PROTOCOLS, argv)
    named = detectors.load(run, 1)
    rows = run.rows("window_size", measure, [one | {"channels": channels} for one in named for channels in CHANNELS])
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
