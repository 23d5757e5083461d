"""Figure 5: precision against recall of pedestrian detectors on KITTI, in three difficulties.

Claim (Sec. 4.3). The paper's detector outperforms all others that had been reported there.

Protocol. `reproduce/detectors/streets.py` describes the detector. Positives are the fully visible pedestrians of the
training images of at least 50 pixels, the height of the model, and their mirror images. Other pedestrians, sitting
people, cyclists and "don't care" regions are cut out of the negatives. People of 25 pixels and more are searched for.
The benchmark's rule: easy are people of at least 40 pixels whom nothing hides, moderate those of 25 who may be partly
hidden, hard also those largely hidden; others do not count; overlaps above 0.5; the largest precision at each of 41
recalls or above. Average precision is the mean over 11 of them, as when the paper was written, or over 40, as today.

Where we depart, and why.
- Labels of the test images are not public. A random half of the training images is trained on, the other half judged.
  Images of one drive may be in both, which is easier than the benchmark.
- The paper does not say how high its pedestrians are. Smaller ones would have to be enlarged, and so be smoother than
  the negatives.
- The range and nu are not chosen here by 25 trainings, but among the same values on another set.
- AdaBoost on the same windows stands beside pAUCEnsT. Detections of the paper's detector and of its peers are not
  available, its curves are lost, and it prints no number.

    python reproduce/figure_5.py --scale paper --data DIR

DIR holds `kitti/` of `data/README.md`, or a part of it. Not yet run on it: a training of Table 3 that is as long takes
40 minutes on two cores. At other scales, detectors of few trees on M+O+LUV are run on rendered streets. Such numbers
say nothing about KITTI.
"""

import sys
from functools import cache

import numpy as np
from sklearn.utils import Bunch

import detectors
from detectors import AnnotatedData, n_threads
from detectors.streets import CLASSIFIERS, PROTOCOLS, WINDOW, configuration
from harness import MissingData, Run, exit_code, is_stand_in
from paucens import datasets
from paucens.evaluation import kitti_average_precision, kitti_precision_recall
from paucens.plotting import house_style, method_style, new_figure
from report import markdown, paper_says

KITTI = "KITTI, half of the training images"
STREETS = "streets with labels like KITTI's (stand-in)"
DIFFICULTIES = ("easy", "moderate", "hard")
LEAST_HEIGHT = 25  # pixels, of people who count
SIZE = (200, 320)  # of rendered images: people of 25 to 84 pixels
HIDDEN = 2  # occlusion of rendered people of whom less than 65 % is visible


@cache
def halves(scenes, seed, folder):
    """Return images with their labels in two halves, lists of (image, label): to train on, and to judge."""
    if scenes:
        return tuple(labelled_streets(scenes, 1000 * seed + k) for k in (5, 6))
    kitti = datasets.load_kitti(folder)
    order = np.random.RandomState(seed).permutation(len(kitti.images))
    return tuple([(kitti.images[k], kitti.labels[k]) for k in np.sort(half)] for half in np.array_split(order, 2))


def labelled_streets(n, seed):
    """Render scenes, and describe their people as KITTI does."""
    return [(record.image, label_of(record)) for record in datasets.synthetic_streets(n, seed, size=SIZE)]


def label_of(record):
    """Return the label of a rendered scene."""
    boxes = np.concatenate([record.boxes, record.ignore])
    ends = np.clip(boxes[:, :2] + boxes[:, 2:], 0, SIZE[::-1]) - np.clip(boxes[:, :2], 0, SIZE[::-1])
    return Bunch(
        names=np.full(len(boxes), "Pedestrian"),
        boxes=boxes,
        occlusion=np.repeat([0, HIDDEN], [len(record.boxes), len(record.ignore)]),
        truncation=1 - ends.prod(axis=1) / boxes[:, 2:].prod(axis=1),
    )


def load(run):
    """Put both halves into the provenance, and return the title of the data."""
    if run.redraw:
        return None
    try:
        parts = halves(run.protocol.scenes, run.seed, run.data_folder)
    except FileNotFoundError as error:
        raise MissingData(str(error)) from error
    title = STREETS if run.protocol.scenes else KITTI
    for name, part in zip(("training", "judged"), parts, strict=True):
        digest = detectors.records_hash([datasets.kitti_record(*one) for one in part])
        run.sources[f"{title}, {name}"] = {"content_hash": digest, "shape": [len(part)]}
    return title


def measure(run, case):
    """Train a detector, or load it, and compute its curves and average precisions."""
    training, judged = halves(run.protocol.scenes, run.seed, run.data_folder)
    records = [datasets.kitti_record(*one, height=WINDOW.target[0]) for one in training]
    data = AnnotatedData(case["data_set"], "as labelled", records)
    detector, _ = detectors.trained(run, configuration(case["method"], run.protocol.channels), data, run.seed)
    images, labels = zip(*judged, strict=True)
    found = detectors.detections_of(detector, images, n_threads(run), LEAST_HEIGHT)
    rows = []
    for difficulty in DIFFICULTIES:
        means = {
            f"average_{n}": f"{kitti_average_precision(found, labels, difficulty, n_points=n):.6f}" for n in (11, 40)
        }
        detectors.log_evaluation(
            run, f"{case['method']}, {difficulty}", run.seed, case["data_set"], means["average_11"]
        )
        about = {"difficulty": difficulty, "n_images": len(labels), "n_training": len(training)} | means
        curve = zip(*kitti_precision_recall(found, labels, difficulty), strict=True)
        rows += [about | {"recall": f"{recall:.3f}", "precision": f"{precision:.6f}"} for recall, precision in curve]
    return rows


def table(rows):
    """List average precisions and precision at three recalls, a block per difficulty."""
    paper, first = paper_says("figure_5"), rows.iloc[0]
    blocks = [
        "# Figure 5",
        f"{paper['caption']} (Sec. {paper['section']}). {first.data_set}: {first.n_images} images, after training on "
        f"{first.n_training} others. In per cent, higher is better.",
        "A stand-in: its numbers say nothing about KITTI."
        if is_stand_in(first.data_set)
        else "Not the test set of the benchmark, whose labels are not public: no number of others stands beside it.",
    ]
    for difficulty, own in rows.groupby("difficulty", sort=False):
        lines = []
        for method, curve in own.groupby("method", sort=False):
            averages = [f"{100 * curve[name].iloc[0]:.1f}" for name in ("average_11", "average_40")]
            at = curve.set_index(curve.recall.round(3)).precision
            lines.append([method, *averages, *(f"{100 * at[recall]:.1f}" for recall in (0.25, 0.5, 0.75))])
        columns = ["detector", "average of 11", "average of 40", *(f"at recall {r} %" for r in (25, 50, 75))]
        blocks += [f"## {difficulty.capitalize()}", markdown(lines, columns)]
    blocks.append(
        f"The paper's figure has its own detector, {', '.join(paper['others'][:-1])} and {paper['others'][-1]}. Their "
        "detections are not available, and the paper prints no number."
    )
    return "\n\n".join(blocks) + "\n"


@house_style()
def picture(rows):
    """Draw the curves, a panel per difficulty, as far as recalls are reached."""
    figure = new_figure(7.2, 2.9)
    panels = figure.subplots(1, len(DIFFICULTIES), sharex=True, sharey=True)
    for axes, (difficulty, own) in zip(panels, rows.groupby("difficulty", sort=False), strict=True):
        for method, curve in own.groupby("method", sort=False):
            reached = curve[curve.precision > 0]
            colour = method_style(method)[0]
            axes.plot(100 * reached.recall, 100 * reached.precision, color=colour, linewidth=1.5, label=method)
        axes.set(title=difficulty, xlabel="recall, %", xlim=(0, 100), ylim=(0, 103))
    panels[0].set_ylabel("precision, %")
    figure.suptitle(rows.data_set.iloc[0], fontsize="medium")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center")
    return figure


def main(argv=None):
    """Judge both detectors."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    title = load(run)
    rows = run.rows("figure_5", measure, [{"data_set": title, "method": method} for method in CLASSIFIERS])
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
