"""Figure 6: miss rate against false positives per image of detectors on the Caltech pedestrian test set.

Claim (Sec. 4.3). The paper's detector outperforms all others there by a large margin.

Protocol. Every 30th frame of sets 06 to 10, people of at least 50 pixels of which at least 65 % is visible, overlap
0.5. Published detections of VJ and HOG (of the benchmark) and of ACF-Caltech and ACF-Caltech+ (of Dollar's toolbox) are
judged by our evaluation, in the conventions of both MATLAB programs: dbEval 3.2.1, that of the benchmark, and acfTest,
that of the toolbox. Where a number has been printed, ours must be the same to the last digit. HOG's boxes are windows,
so their heights are multiplied by 100/128. A curve is read at 20 points per decade, at the last detection with at most
as many false positives.

Where we depart, and why.
- Detections of the paper's detector and of its other peers are not available, and the paper's curves are lost. The
  paper prints two miss rates of its own detectors on this set, in its Tables 6 and 7: they are lines here. It prints
  none of the other methods, so these are named only.
- ACF-Caltech+ (2014) came after the paper's figure.
- There are no intervals: these are numbers to be met exactly.

    python reproduce/figure_6.py --scale paper --data DIR

DIR holds `caltech/` and `toolbox/` of `data/README.md`. It takes 12 seconds of processor time. Other scales judge by
dbEval only.
"""

import sys
from dataclasses import dataclass

import numpy as np

import detectors
from harness import MissingData, Run, exit_code
from paucens import datasets
from paucens.evaluation import miss_rates_at
from paucens.evaluation.boxes import by_image
from paucens.evaluation.caltech import judge_caltech, read_caltech, read_people
from paucens.plotting import BLUE, DARK, GREEN, GREY, ORANGE, VERMILION, house_style, new_figure
from report import markdown, paper_says

CALTECH = "Caltech-USA test"
PUBLISHED = "detections of Dollar's toolbox"
BENCHMARK = {"VJ": 1.0, "HOG": 100 / 128}  # factor of the heights of boxes
TOOLBOX = {"ACF-Caltech": "AcfCaltechDets_8c81f93", "ACF-Caltech+": "AcfCaltech+Dets_795e42f"}
COLOURS = {"VJ": ORANGE, "HOG": GREEN, "ACF-Caltech": BLUE, "ACF-Caltech+": VERMILION}
FPPI = np.array([10.0 ** (k / 20) for k in range(-60, 21)])
SHOWN = (0.01, 0.1, 1.0)
TICKS = (0.1, 0.2, 0.3, 0.5, 0.7, 1)


@dataclass(frozen=True)
class Protocol:
    """What a scale means."""

    conventions: tuple = ("dbEval", "acfTest")


PROTOCOLS = {"smoke": Protocol(("dbEval",)), "small": Protocol(("dbEval",)), "paper": Protocol()}


def load(run):
    """Put the data into the provenance, and return the methods whose detections are on the disk."""
    if run.redraw:
        return []
    try:
        people = read_people(datasets.locate_caltech(run.data_folder))
    except FileNotFoundError as error:
        raise MissingData(str(error)) from error
    digest = datasets.content_hash(people.frame, people.boxes, people.visible)
    run.sources[CALTECH] = {"content_hash": digest, "shape": [people.n_frames]}
    try:
        toolbox = datasets.load_toolbox(run.data_folder)
    except FileNotFoundError as error:
        print(f"{error}\nUntil then ACF is left out.\n")
        return list(BENCHMARK)
    tables = [toolbox.detections[name] for name in TOOLBOX.values()]
    run.sources[PUBLISHED] = {"content_hash": datasets.content_hash(*tables), "shape": [sum(map(len, tables))]}
    return [*BENCHMARK, *TOOLBOX]


def published(run, method):
    """Return the annotated people, the detections of a method, one array per image, and the factor of their heights."""
    root = datasets.locate_caltech(run.data_folder)
    if method in BENCHMARK:
        return *read_caltech(root, method), BENCHMARK[method]
    people, table = read_people(root), datasets.load_toolbox(run.data_folder).detections[TOOLBOX[method]]
    return people, by_image(table[:, 1:], table[:, 0].astype(np.int64) - 1, people.n_frames), 1.0


def measure(run, case):
    """Judge the detections of a method, and read its curve as far as it goes."""
    people, found, scale = published(run, case["method"])
    result = judge_caltech(people, found, height_scale=scale, convention=case["convention"])
    rate = f"{result.log_average_miss_rate:.6f}"
    detectors.log_evaluation(run, f"{case['method']}, published, {case['convention']}", run.seed, CALTECH, rate)
    about = {"n_images": result.n_images, "n_people": result.n_evaluated, "log_average": rate}
    fppi, miss = result.curve
    rates = zip(FPPI, miss_rates_at(fppi, miss, FPPI), strict=True)
    return [about | {"fppi": f"{at:.6g}", "miss_rate": f"{rate:.6f}"} for at, rate in rates if at <= fppi[-1]]


def table(rows):
    """List the log-average miss rates beside the printed ones, and miss rates at three numbers of false positives."""
    paper = paper_says("figure_6")
    blocks = [
        "# Figure 6",
        f"{paper['caption']} (Sec. {paper['section']}). In per cent, lower is better. {rows.n_images.iloc[0]} images.",
    ]
    for convention, own in rows.groupby("convention", sort=False):
        lines = []
        for method, curve in own.groupby("method", sort=False):
            ours, printed = 100 * curve.log_average.iloc[0], paper["printed"][convention].get(method)
            digits = len(str(printed).partition(".")[2]) if printed else 2
            at = curve.set_index(curve.fppi.round(4)).miss_rate
            rates = [f"{100 * at[fppi]:.1f}" if fppi in at.index else None for fppi in SHOWN]
            beside = (
                [f"{printed:.{digits}f}", f"{round(ours, digits) - printed:+.{digits}f}"] if printed else [None] * 2
            )
            lines.append([method, curve.n_people.iloc[0], *beside, f"{ours:.{digits}f}", *rates])
        columns = ["method", "people", "printed", "difference", "ours", *(f"at {fppi:g}" for fppi in SHOWN)]
        blocks += [f"## {convention}", markdown(lines, columns)]
    marks = ", ".join(f"{value} ({where})" for where, value in paper["own"].items())
    blocks.append(
        f"The paper's own detectors have {marks}; their detections are not available. Methods of the paper's figure "
        f"without detections here: {', '.join(paper['others'])}. ACF-Caltech+ is not in the paper's figure."
    )
    return "\n\n".join(blocks) + "\n"


@house_style()
def picture(rows):
    """Draw the curves by dbEval, and the paper's two miss rates as lines over the range that they are averages of."""
    own = rows[rows.convention == "dbEval"]
    figure = new_figure(6.4, 3.8)
    axes = figure.subplots()
    for method, curve in own.groupby("method", sort=False):
        label = f"{100 * curve.log_average.iloc[0]:.1f} %  {method}"
        axes.step(curve.fppi, curve.miss_rate, where="post", linewidth=1.5, color=COLOURS[method], label=label)
    for (where, value), dashes in zip(paper_says("figure_6")["own"].items(), ("--", ":"), strict=True):
        label = f"{value} %  the paper's, {where}"
        axes.plot([0.01, 1], [value / 100] * 2, color=GREY, linestyle=dashes, linewidth=1.5, label=label)
    axes.set(xscale="log", yscale="log", xlabel="false positives per image", ylabel="miss rate, %")
    lowest = min(own.miss_rate.min(), 0.2) / 1.1
    ticks = [share for share in TICKS if share >= lowest]
    axes.set_yticks(ticks, [f"{100 * share:g}" for share in ticks])
    axes.minorticks_off()
    axes.set_ylim(lowest, 1.05)
    axes.grid(axis="x", visible=True)
    figure.legend(
        *axes.get_legend_handles_labels(), loc="outside right center", title="log-average miss rate", labelcolor=DARK
    )
    return figure


def main(argv=None):
    """Judge all methods in all conventions."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    methods = load(run)
    cases = [
        {"data_set": CALTECH, "convention": convention, "method": method}
        for convention in run.protocol.conventions
        for method in methods
    ]
    rows = run.rows("figure_6", measure, cases)
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
