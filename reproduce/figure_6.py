"""Figure 6: miss rate against false positives per image of detectors on the Caltech pedestrian test set.

Claim (Sec. 4.3). The paper's detector outperforms all others there by a large margin.

Protocol. Every 30th frame of sets 06 to 10, people of at least 50 pixels of which at least 65 % is visible, overlap
0.5. Published detections of VJ and HOG (of the benchmark) and of ACF-Caltech and ACF-Caltech+ (of Dollar's toolbox) are
judged by our evaluation, in the conventions of both MATLAB programs: dbEval 3.2.1, that of the benchmark, and acfTest,
that of the toolbox. Where a number has been printed, ours must be the same to the last digit. HOG's boxes are windows,
so their heights are multiplied by 100/128. A curve is read at 20 points per decade, at the last detection with at most
as many false positives.

Our detector is that of `reproduce/detectors/streets.py`, on six families of channels: the five of Figure 5 and flow,
between each frame and the one before. It is trained on every 30th frame of sets 00 to 05, on people of at least 50
pixels whom nothing hides; all others are cut out of the negatives. It stands beside the same one without flow.

Where we depart, and why.
- The images of Caltech-USA are not here: our detector is trained and judged there only if they are in DIR, and that has
  not been run. At other scales the same protocol is run on rendered streets in motion, with few trees on M+O+LUV and
  flow. A frame of each sequence is judged, so intervals over images are over sequences. Flow is worth there what the
  table says, found by OpenCV or known from the rendering; it says nothing about Caltech-USA.
- Flow is OpenCV's dense inverse search, not the program of Liu (2009).
- Detections of the paper's detector and of its other peers are not available, and the paper's curves are lost. The
  paper prints two miss rates of its own detectors on this set, in its Tables 6 and 7: they are lines here. It prints
  none of the other methods, so these are named only.
- ACF-Caltech+ (2014) came after the paper's figure.
- Published detections have no intervals: these are numbers to be met exactly.

    python reproduce/figure_6.py --scale paper --data DIR

DIR holds `caltech/` and `toolbox/` of `data/README.md`, `caltech/` perhaps with videos/ or images/ (see
`reproduce/detectors/caltech.py`). Published detections take 12 seconds of processor time. Other scales judge by dbEval
only.
"""

import sys
from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import sha256
from importlib.util import find_spec

import numpy as np

import detectors
from detectors import AnnotatedData, TestSet, caltech, n_threads, streets
from detectors.judging import load_detections, save_detections
from detectors.training import slug
from harness import MissingData, Run, exit_code
from paucens import datasets
from paucens.evaluation import log_average_miss_rate, miss_rate_difference, miss_rates_at
from paucens.evaluation.boxes import by_image
from paucens.evaluation.caltech import judge_caltech, read_caltech, read_people
from paucens.plotting import BLUE, DARK, GREEN, GREY, ORANGE, PURPLE, VERMILION, house_style, new_figure
from report import interval_text, markdown, paper_says

CALTECH = "Caltech-USA test"
PUBLISHED = "detections of Dollar's toolbox"
BENCHMARK = {"VJ": 1.0, "HOG": 100 / 128}  # factor of the heights of boxes
TOOLBOX = {"ACF-Caltech": "AcfCaltechDets_8c81f93", "ACF-Caltech+": "AcfCaltech+Dets_795e42f"}
WITHOUT, WITH, TRUE = "pAUCEnsT without flow", "pAUCEnsT with flow", "pAUCEnsT with the true flow"
OURS = {WITHOUT: "", WITH: "+Flow", TRUE: "+Flow"}  # channels beside those of the protocol
PAIRS = ((WITH, WITHOUT), (TRUE, WITH))
STREETS = "streets in motion (stand-in)"
SIZE = (240, 320)  # of rendered images: people of 30 to 100 pixels
LEAST_HEIGHT = 50
COLOURS = {"VJ": ORANGE, "HOG": GREEN, "ACF-Caltech": BLUE, "ACF-Caltech+": VERMILION}
COLOURS |= {WITHOUT: PURPLE, WITH: DARK, TRUE: GREEN}
FPPI = np.array([10.0 ** (k / 20) for k in range(-60, 21)])
SHOWN = (0.01, 0.1, 1.0)
TICKS = (0.1, 0.2, 0.3, 0.5, 0.7, 1)


@dataclass(frozen=True)
class Protocol(streets.Protocol):
    """What a scale means."""

    conventions: tuple = ("dbEval", "acfTest")


def _quick(name):
    return Protocol(**asdict(streets.PROTOCOLS[name]) | {"conventions": ("dbEval",)})


PROTOCOLS = {"smoke": _quick("smoke"), "small": _quick("small"), "paper": Protocol()}


# -- published detections --------------------------------------------------------------------------


def load(run):
    """Put the data into the provenance, and return the methods whose detections are on the disk."""
    try:
        people = read_people(datasets.locate_caltech(run.data_folder))
    except FileNotFoundError as error:
        if run.scale == "paper":
            raise MissingData(str(error)) from error
        print(f"{error}\nUntil then published detections are left out.\n")
        return []
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


# -- our detector ----------------------------------------------------------------------------------


def load_ours(run):
    """Put what ours is trained and judged on into the provenance; return the title of the set, None without images."""
    title = STREETS if run.protocol.scenes else CALTECH
    try:
        parts = halves(run)
    except FileNotFoundError as error:
        print(f"{error}\nUntil then our detector is left out.\n")
        return None
    for name, part in zip(("training", "judged"), parts, strict=True):
        run.sources[f"{title}, images, {name}"] = {"content_hash": detectors.records_hash(part), "shape": [len(part)]}
    return title


def halves(run, method=WITH):
    """Return the records to train on and those to judge, each with the image before, or with the true flow to it."""
    if run.protocol.scenes:
        sequences = [_in_motion(run.protocol.scenes, 1000 * run.seed + k) for k in (7, 8)]
        return [[_record(one, method == TRUE) for one in part] for part in sequences]
    root = datasets.locate_caltech(run.data_folder)
    return [caltech.training_records(run, root), caltech.test_records(run, root)]


def _record(sequence, is_true):
    (record,), (flow,) = sequence
    return replace(record, previous=flow) if is_true else record


@cache
def _in_motion(n, seed):
    return datasets.street_sequences(n, 1, seed, size=SIZE)


def detected(run, method):
    """Train a detector, or load it, and return what it detects in the images that are judged."""
    training, judged = halves(run, method)
    training = [with_height(record, streets.WINDOW.target[0]) for record in training]
    if method == WITHOUT:
        training = [replace(record, previous=None) for record in training]
    data = AnnotatedData(STREETS if run.protocol.scenes else CALTECH, "annotated", training)
    detector, _ = detectors.trained(
        run, streets.configuration("pAUCEnsT", run.protocol.channels + OURS[method]), data, run.seed
    )
    return detectors.detections_of(detector, [record.source for record in judged], n_threads(run))


def with_height(record, least):
    """Return a record in which people below a height are to be ignored; enlarged, they would be smooth."""
    tall = record.boxes[:, 3] >= least
    return replace(
        record,
        boxes=record.boxes[tall],
        labels=record.labels[tall],
        ignore=np.concatenate([record.ignore, record.boxes[~tall]]),
    )


def stored(run, method):
    """Name the file of what a detector has detected, beside the CSV, by all that it depends on."""
    digest = sha256(repr((run.protocol, sorted(run.sources.items()))).encode()).hexdigest()[:8]
    return run.folder / run.name / f"{slug(method, run.seed, digest)}.npz"


def judged(run, case):
    """Judge what is stored; return people, log-average miss rate, curve and Matches."""
    found = load_detections(stored(run, case["method"]))
    if case["data_set"] == STREETS:
        matches = TestSet(STREETS, halves(run)[1], LEAST_HEIGHT, None).evaluate(found)
        return int(matches.n_truths.sum()), log_average_miss_rate(*matches.curve()), matches.curve(), matches
    people = read_people(datasets.locate_caltech(run.data_folder))
    result = judge_caltech(people, list(map(caltech.from_one, found)), convention=case["convention"])
    return result.n_evaluated, result.log_average_miss_rate, result.curve, result.matches


def compare(run, case):
    """Compare two of our detectors, paired over images."""
    both = ({**case, "method": case[name]} for name in ("method", "baseline"))
    difference = miss_rate_difference(*(judged(run, one)[-1] for one in both))
    return [{name: f"{value:.6f}" for name, value in difference._asdict().items()}]


# -- both ------------------------------------------------------------------------------------------


def measure(run, case):
    """Judge the detections of a method, and read its curve as far as it goes."""
    if case["method"] in OURS:
        if case["method"] == WITH and find_spec("cv2") is None:
            return [{"n_images": None, "n_people": None, "log_average": None, "fppi": None, "miss_rate": None}]
        if not stored(run, case["method"]).exists():
            save_detections(stored(run, case["method"]), detected(run, case["method"]))
        n_people, rate, curve, matches = judged(run, case)
        n_images, whose = len(matches.n_truths), "ours"
    else:
        people, found, scale = published(run, case["method"])
        result = judge_caltech(people, found, height_scale=scale, convention=case["convention"])
        n_people, rate, curve = result.n_evaluated, result.log_average_miss_rate, result.curve
        n_images, whose = result.n_images, "published"
    name = f"{case['method']}, {whose}, {case['convention']}"
    detectors.log_evaluation(run, name, run.seed, case["data_set"], f"{rate:.6f}")
    about = {"n_images": n_images, "n_people": n_people, "log_average": f"{rate:.6f}"}
    rates = zip(FPPI, miss_rates_at(*curve, FPPI), strict=True)
    return [about | {"fppi": f"{at:.6g}", "miss_rate": f"{miss:.6f}"} for at, miss in rates if at <= curve[0][-1]]


def table(rows, pairs):
    """List the log-average miss rates beside the printed ones, and miss rates at three numbers of false positives."""
    paper = paper_says("figure_6")
    blocks = ["# Figure 6", f"{paper['caption']} (Sec. {paper['section']}). In per cent, lower is better."]
    for (title, convention), own in rows.groupby(["data_set", "convention"], sort=False):
        lines = []
        for method, curve in own.groupby("method", sort=False):
            if np.isnan(curve.log_average.iloc[0]):
                lines.append([method, None, None, None, "OpenCV is not installed", None, None, None])
                continue
            ours, printed = 100 * curve.log_average.iloc[0], paper["printed"][convention].get(method)
            digits = len(str(printed).partition(".")[2]) if printed else 2
            at = curve.set_index(curve.fppi.round(4)).miss_rate
            rates = [f"{100 * at[fppi]:.1f}" if fppi in at.index else None for fppi in SHOWN]
            beside = (
                [f"{printed:.{digits}f}", f"{round(ours, digits) - printed:+.{digits}f}"] if printed else [None] * 2
            )
            lines.append([method, int(curve.n_people.iloc[0]), *beside, f"{ours:.{digits}f}", *rates])
        columns = ["method", "people", "printed", "difference", "ours", *(f"at {fppi:g}" for fppi in SHOWN)]
        blocks += [f"## {title}, {convention}", f"{own.n_images.max():.0f} images.", markdown(lines, columns)]
        differences = [] if pairs is None else _differences(pairs, title, convention)
        if differences:
            blocks.append(markdown(differences, ["difference", "points", "95 %"]))
    marks = ", ".join(f"{value} ({where})" for where, value in paper["own"].items())
    blocks.append(
        f"The paper's own detectors have {marks}; their detections are not available. Methods of the paper's figure "
        f"without detections here: {', '.join(paper['others'])}. ACF-Caltech+ is not in the paper's figure."
    )
    return "\n\n".join(blocks) + "\n"


def _differences(pairs, title, convention):
    own = pairs[(pairs.data_set == title) & (pairs.convention == convention)]
    return [
        [
            f"{row.method} − {row.baseline}",
            f"{100 * row.difference:+.1f}",
            interval_text(100 * row.low, 100 * row.high, "+.1f"),
        ]
        for row in own.itertuples()
    ]


@house_style()
def picture(rows):
    """Draw the curves by dbEval, a panel per set of images."""
    panels = list(rows[(rows.convention == "dbEval") & rows.miss_rate.notna()].groupby("data_set", sort=False))
    figure = new_figure(6.4, 3.6 * len(panels))
    for axes, (title, own) in zip(figure.subplots(len(panels), squeeze=False)[:, 0], panels, strict=True):
        _draw_curves(axes, own)
        if title == CALTECH:
            _draw_papers(axes)
        axes.set_title(title)
        axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1), title="log-average miss rate", labelcolor=DARK)
    return figure


def _draw_curves(axes, own):
    for method, curve in own.groupby("method", sort=False):
        label = f"{100 * curve.log_average.iloc[0]:.1f} %  {method}"
        axes.step(curve.fppi, curve.miss_rate, where="post", linewidth=1.5, color=COLOURS[method], label=label)
    axes.set(xscale="log", yscale="log", xlabel="false positives per image", ylabel="miss rate, %")
    lowest = min([0.2, *own.miss_rate[own.miss_rate > 0]]) / 1.1
    ticks = [share for share in TICKS if share >= lowest]
    axes.set_yticks(ticks, [f"{100 * share:g}" for share in ticks])
    axes.minorticks_off()
    axes.set_ylim(lowest, 1.05)
    axes.grid(axis="x", visible=True)


def _draw_papers(axes):
    """Draw the paper's two miss rates as lines over the range that they are averages of."""
    for (where, value), dashes in zip(paper_says("figure_6")["own"].items(), ("--", ":"), strict=True):
        label = f"{value} %  the paper's, {where}"
        axes.plot([0.01, 1], [value / 100] * 2, color=GREY, linestyle=dashes, linewidth=1.5, label=label)


def cases_of(run):
    """List the methods that can be judged, convention by convention, and the pairs of ours to compare."""
    methods, title = load(run), load_ours(run)
    ours = [] if title is None else [method for method in OURS if method != TRUE or title == STREETS]
    conventions = run.protocol.conventions
    cases = [
        {"data_set": title if method in OURS else CALTECH, "convention": convention, "method": method}
        for convention in conventions
        for method in [*methods, *ours]
    ]
    has_flow = find_spec("cv2") is not None
    pairs = [
        {"data_set": title, "convention": convention, "method": one, "baseline": other}
        for convention in conventions
        for one, other in PAIRS
        if one in ours and has_flow
    ]
    return cases, pairs


def main(argv=None):
    """Judge all methods in all conventions, and compare ours."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    cases, pairs = ([], []) if run.redraw else cases_of(run)
    rows, flow = run.rows("figure_6", measure, cases), "figure_6_flow"
    is_there = pairs or (run.redraw and (run.folder / f"{flow}.csv").exists())
    return run.write(table(rows, run.rows(flow, compare, pairs) if is_there else None), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
