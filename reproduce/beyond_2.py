"""Beyond the paper, 2: which way of leaving out work makes a detector fastest, if it may miss no more people?

Question (ours, no table of the paper). The paper sets BING beside soft cascades and gives the time of the scan for all
their thresholds, on test images (Tables 6 and 7). Here settings are chosen on training data, and time is that of all
that `detect` does. Ways are, each with a ladder of settings from mild to harsh:
- no rejection: every window gets the sum of all trees;
- constant: a soft cascade that rejects at or below one constant, -160 to -0.5;
- traces: one that rejects below what crops of people do not fall below, but for 0, 0.1, 0.5 or 2 % after each tree;
- BING as in the paper: 13.4 to 86.6 % of the windows go, by binarised gradients, two bases and one threshold;
- normalised BING: the same, divided by the mean gradient of the window, in the binarised form of `table_6.py`;
- two stages, for 317 channels only: a first stage of ten cheap channels and 512 trees, which rejects by traces of those
  crops that score above what 0.5, 0.1 or 0.02 % of the windows of photographs without people exceed. Of windows that
  overlap, those go on that are within 3 of the best score. A second stage rejects by traces (0 %);
- normalised BING (37.4, 65.4 or 80 % go) in front of traces, and in front of two stages.

Protocol. Detectors are M+O+LUV of Table 3 (ten channels, seed 0) and that of 317 channels ("robust" of
`default_model.py`), whose first stage has the trees of the one that it comes with. Traces and BING come from the crops
and photographs of four fifths of the training data, the first stage's scores and the thresholds of BING from the
held-out fifth (fold 0 of `reproduce/detectors/__init__.py`), as in Tables 6 and 7.
1. The choice, on training data (`beyond_2_choice.csv`). Detectors with each setting really switched on are run on the
   held-out crops without repeated edges and on the held-out photographs. Detectors of one stage share their channels,
   and what scores below 5 false positives per photograph of the detector without rejection does not count. Of the
   settings of a way that miss at most 0.2 points more crops than no rejection, at 0.01 to 1 false positives per
   photograph, the one with the least work is taken, or else the mildest. M+O+LUV of Table 3 has seen the held-out
   crops, so for this choice one of four fifths stands in for it; its constants, quantiles and shares are taken over.
   Work is counted on every fifth held-out photograph, in trees per window. The 307 expensive channels of all cells
   count as 2000 of them: on eleven training photographs they took as long as 700 trees per window if most windows are
   rejected early, and as long as 4300 if none are.
2. The judgement, once, on test images (`beyond_2.csv`, `beyond_2_times.csv`), for all settings. One full run per image
   keeps the windows of `reproduce/detectors/fewer_windows.py`, and a setting has the boxes of those that it leaves. For
   BING and cascades this follows from the scores and partial sums of these windows; a first stage is really run, and
   the windows that it leaves are counted (`reproduce/detectors/leaving.py`). Differences are paired over images against
   no rejection. Windows that go, by whatever means, and trees are means over every 97th window of all images and sizes;
   windows and trees of a second stage are counted. Expensive channels are all but M, O and LUV, and their cells are
   counted as often as they are computed, with margins. Processor seconds are those of `detect` for up to ten images,
   every 29th of the first test set, as they are, on one thread, with the setting really switched on. Given are medians
   of ratios to OpenCV's HOG detector with its defaults, and to no rejection.

What it does not say.
- The detector of 317 channels learnt from re-encoded and blurred images as well. The cascades that it comes with are
  traces of such crops, here they are those of crops as they are.
- A fifth of the training data has 0.2 points of its miss rate in less than one crop. So choices near the limit are by
  chance, and the intervals on test images do not know of it.
- Times were measured once for each image and setting. Those that differ by a few per cent may change places.

    python reproduce/beyond_2.py --scale paper --data DIR

DIR holds the uncompressed INRIA folder of `data/README.md`. Windows that Tables 6 and 7 have scored are not scored
again. At other scales, detectors of few trees are run on rendered streets, whose numbers say nothing about photographs:
M+O+LUV is trained for them, that of 317 channels has its first 8 or 32 trees. At the smallest scale only the
harshest setting of each way is looked at.
"""

import sys

import numpy as np

import detectors
from detectors import bing, ways
from detectors import fewer_windows as fewer
from detectors.leaving import WORK, leave_out_everywhere
from detectors.times import detect_times, timed_images
from harness import Run, exit_code
from paucens.plotting import BLUE, DARK, GREEN, GREY, ORANGE, PURPLE, VERMILION, house_style
from report import markdown

MOST_LOST = 0.002  # miss rate of held-out crops that a setting may cost
EVERY_PHOTOGRAPH = 5  # held-out photographs of which work is counted on one
ALL_CELLS = 2000  # trees per window that count as much as the expensive channels of all cells
MOST_SHOWN = 2.0  # times the miss rate without rejection, in the picture
TICKS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20)
DETECTORS = (fewer.TEN.method, fewer.ALL)
STAND_INS = {fewer.TEN.method: fewer.FOUR_FIFTHS}  # where held-out crops count
LOOKS = {
    ways.CONSTANT: (BLUE, "o"),
    ways.TRACES: (GREEN, "^"),
    ways.PAPER: (ORANGE, "s"),
    ways.NORMALISED: (VERMILION, "D"),
    ways.TRACES_BEHIND: (PURPLE, "v"),
    ways.STAGES: (DARK, "P"),
    ways.STAGES_BEHIND: ("#56B4E9", "X"),
}
SETTING = ["test_set", "detector", "way", "setting"]


def settings_of(run, case, name):
    """Return the settings of a case for the detector of this name."""
    return ways.settings(run, name, {key: case[key] for key in bing.AS_THE_PAPER})


def measure_choice(run, case):
    """Run a detector with each setting on held-out crops and photographs."""
    name, (_, held_out) = STAND_INS.get(case["detector"], case["detector"]), detectors.parts(run)
    detector, settings, threads = fewer.whole(run, name), settings_of(run, case, name), detectors.n_threads(run)
    switched_on = [one.switched_on(detector) for one in settings]
    floor = fewer.score_at_fppi(run, name, fewer.FLOOR_FPPI)
    crops, photographs = detectors.without_edges(held_out.crops), held_out.images
    rates = detectors.crop_miss_rates(switched_on, crops, photographs, floor, threads)
    counted = photographs[::EVERY_PHOTOGRAPH]
    nothing = [np.empty((0, 3), dtype=int)] * len(counted)
    _, work = leave_out_everywhere(run, detector, settings, counted, nothing)
    return [
        {"way": one.way, "setting": one.name, "crop_miss_rate": f"{rate:.6f}"} | as_columns(own)
        for one, rate, own in zip(settings, rates, work, strict=True)
    ]


def as_columns(work):
    """Return the columns of `WORK`."""
    return {name: f"{value:.6f}" for name, value in zip(WORK, work, strict=True)}


def measure(run, case):
    """Judge a detector on a test set with each setting."""
    detector, tests = fewer.whole(run, case["detector"]), detectors.test_set(run, case["test_set"])
    boxes, windows = fewer.scored_windows(run, case["detector"], tests)
    settings = settings_of(run, case, case["detector"])
    left, work = leave_out_everywhere(run, detector, settings, tests.images, windows)
    rows = fewer.judge_settings(run, case, boxes, dict(zip((one.label for one in settings), left, strict=True)))
    return [
        {"way": one.way} | row | {"setting": one.name} | as_columns(own)
        for one, row, own in zip(settings, rows, work, strict=True)
    ]


def measure_times(run, case):
    """Time a detector with each setting."""
    detector, tests = fewer.whole(run, case["detector"]), detectors.test_set(run, case["test_set"])
    settings = settings_of(run, case, case["detector"])
    rows = detect_times([one.switched_on(detector) for one in settings], timed_images(tests))
    return [{"way": one.way, "setting": one.name} | row for one, row in zip(settings, rows, strict=True)]


def chosen(choice):
    """Return the row of `beyond_2_choice.csv` that is taken for each way of each detector."""
    work = choice.first_trees + choice.trees + ALL_CELLS * choice.cells
    taken = []
    for (name, _), own in choice.groupby(["detector", "way"], sort=False):
        least = choice.crop_miss_rate[(choice.detector == name) & (choice.way == ways.NONE)].iloc[0]
        good = own.index[own.crop_miss_rate <= least + MOST_LOST]
        taken.append(work[good].idxmin() if len(good) else own.index[0])
    return choice.loc[taken]


def joined(choice, rows, timed):
    """Return the rows of the judgement with those of times, and where they are taken, the miss rate of crops."""
    taken = chosen(choice)[["detector", "way", "setting", "crop_miss_rate"]]
    ratios = timed[[*SETTING, "detect_ratio", "hog_ratio"]]
    return rows.merge(ratios, how="left", on=SETTING).merge(taken, how="left", on=SETTING[1:])


def table(choice, rows, timed):
    """List what is taken of each way, a block per test set and detector, and say which way is fastest."""
    together, first = joined(choice, rows, timed), rows.iloc[0]
    taken = together[together.crop_miss_rate.notna()]
    blocks = [
        "# Which way of leaving out work is fastest?",
        f"For each way the setting that was chosen on training data of {first.data_set}: the least work of those that "
        f"miss at most {100 * MOST_LOST:g} points more of the held-out crops than no rejection, or else the mildest. "
        "Log-average miss rates in per cent, lower is better; 95 % intervals are over images, differences from no "
        f"rejection. Normalised BING has {first.form} and class weights {first.class_weight}. `beyond_2.csv`, "
        "`beyond_2_times.csv` and `beyond_2_choice.csv` have all settings.",
        fastest(taken),
    ]
    for (title, name), own in taken.groupby(["test_set", "detector"], sort=False):
        blocks += [f"## {title}: {name}", _ways(own)]
    if (short := taken.last_fppi.min()) < 1:
        blocks.append(f"Some curves end at {short:.2f} false positives per image, where the kept windows end.")
    return "\n\n".join(blocks) + "\n"


def fastest(taken):
    """Say for each detector which way takes the least time, and what it costs."""
    lines = []
    for (title, name), own in taken[taken.detect_ratio.notna()].groupby(["test_set", "detector"], sort=False):
        best = own.loc[own.detect_ratio.idxmin()]
        cost = detectors.per_cent(best[detectors.DIFFERENCE].to_list(), "+")
        lines.append([title, name, best.way, best.setting, *_times(best), cost])
    columns = ["test set", "detector", "fastest", "setting", "in HOG calls", "ratio to no rejection", "difference"]
    return markdown(lines, columns)


def _ways(rows):
    lines = []
    for row in rows.itertuples():
        trees = f"{row.first_trees:.0f} + {row.trees:.1f}" if row.first_trees else f"{row.trees:.0f}"
        miss_rate, difference = (
            detectors.per_cent([getattr(row, name) for name in names], sign)
            for names, sign in ((detectors.SCORE, ""), (detectors.DIFFERENCE, "+"))
        )
        about = [row.way, None if row.way == ways.NONE else row.setting, f"{100 * row.crop_miss_rate:.1f}"]
        work = [f"{100 * max(0.0, row.away):.2f}", trees, f"{100 * row.cells:.1f}" if rows.cells.any() else None]
        lines.append([*about, *work, miss_rate, difference, *_times(row)])
    columns = ["way", "setting", "held-out crops missed", "% of windows away", "trees per window"]
    columns += ["% of cells with expensive channels", "miss rate", "difference", "in HOG calls", "ratio"]
    return markdown(lines, columns)


def _times(row):
    return [None if np.isnan(ratio) else f"{ratio:.2f}" for ratio in (row.hog_ratio, row.detect_ratio)]


@house_style()
def picture(choice, rows, timed):
    """Draw miss rates against times on the first test set, a panel per detector, a line per way."""
    together = joined(choice, rows, timed)
    together = together[together.detect_ratio.notna()]
    time, label = "hog_ratio", "in calls of OpenCV's HOG detector"
    if together.hog_ratio.isna().any():
        time, label = "detect_ratio", "divided by that without rejection"
    figure, grid, panels = fewer.panel_grid(together, (4.2, 3.1))
    for axes, own in panels:
        none = own[own.way == ways.NONE].iloc[0]
        star = {"color": GREY, "markersize": 12, "markeredgecolor": "white", "zorder": 3}
        axes.plot(none[time], 100 * none.miss_rate, "*", label=ways.NONE, **star)
        for way, line in own[own.way != ways.NONE].groupby("way", sort=False):
            colour, marker = LOOKS[way]
            best = frontier(line.sort_values(time))
            axes.plot(best[time], 100 * best.miss_rate, color=colour, marker=marker, markersize=4, label=way)
            axes.plot(line[time], 100 * line.miss_rate, marker, color=colour, markersize=4, alpha=0.35)
            taken = line[line.crop_miss_rate.notna()]
            axes.plot(taken[time], 100 * taken.miss_rate, marker, color=colour, markersize=9, markeredgecolor=DARK)
        most = min(1.03, max(0.01, min(MOST_SHOWN * none.miss_rate, 1.03 * own.miss_rate.max())))
        axes.set(xscale="log", ylim=(97 * own.miss_rate.min(), 100 * most))
        ticks = [tick for tick in TICKS if own[time].min() / 1.1 <= tick <= own[time].max() * 1.1]
        axes.set_xticks(ticks, list(map(str, ticks)))
        axes.minorticks_off()
        axes.grid(axis="x", visible=True)
    fewer.label_grid(grid, f"processor time of detect,\n{label}", "log-average miss rate, %")
    handles = {line.get_label(): line for axes in grid.flat for line in axes.get_legend_handles_labels()[0]}
    title = "large: chosen on training data"
    figure.legend(handles=handles.values(), loc="outside right center", title=title, alignment="left")
    return figure


def frontier(rows):
    """Return the rows, fastest first, that miss less than all that are faster."""
    return rows[rows.miss_rate < rows.miss_rate.cummin().shift(fill_value=np.inf)]


def main(argv=None):
    """Choose the form of BING, then a setting of each way, judge all of them and time them on the first test set."""
    run = Run.of(__file__, __doc__, detectors.PROTOCOLS, argv)
    named = fewer.detector_cases(run, DETECTORS)
    start = [{"data_set": named[0]["data_set"]}] if named else []
    trained = [{"normalised": True, "class_weight": weight} for weight in bing.CLASS_WEIGHTS]
    forms = run.rows("beyond_2_bing", bing.measure_forms, [one | other for one in start for other in trained])
    form = bing.best_form(forms, binarised=True)
    choices = [one | {"detector": name} | form for one in start for name in DETECTORS]
    choice = run.rows("beyond_2_choice", measure_choice, choices)
    rows = run.rows("beyond_2", measure, [one | form for one in named])
    first = [one | form for one in named if one["test_set"] == named[0]["test_set"]]
    timed = run.rows("beyond_2_times", measure_times, first)
    return run.write(table(choice, rows, timed), picture(choice, rows, timed))


if __name__ == "__main__":
    sys.exit(exit_code(main))
