"""Figure 1: one picture at four operating points of a detector.

Claim (Sec. 1). A detector is of use between .01 and 1 false positives an image: with fewer it misses most people, with
more it cries wolf. That slice of the ROC curve is what the ensembles of this package are trained for.

Protocol. A detector on M+O+LUV is trained on rendered streets. On other streets, scores are found that give less than
.001, and .1, 1 and 10 false positives an image; the scene with most people among them is shown at each.

Where we depart, and why.
- The paper shows a photograph; ours is rendered, since photographs of data sets are not passed on. The figure shows
  what the operating points mean, not how good the detector of Table 3 is.
- Fewer than .001 false positives an image means none in any of the scenes, which are fewer than 1000.

    python reproduce/figure_1.py --scale paper
"""

import json
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.patches import Rectangle

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from paucens.datasets import street_crops, synthetic_streets
from paucens.detector import train_detector
from paucens.evaluation import match_detections, match_images, standardize_boxes
from paucens.features import ChannelSpec
from paucens.plotting import BLUE, VERMILION, new_figure
from reproduce._detection import adaboost, detections_of
from reproduce._run import Plan, Script, main
from reproduce._store import Sheet, Task, task_key
from reproduce._tables import markdown, paper_says

NAME = "figure_1"
DATA = "rendered streets"
LEAST_HEIGHT = 60
COLUMNS = ("fppi", "threshold", "miss_rate", "scene", "n_scenes", "boxes")
KINDS = {"found": (BLUE, "-"), "false": (VERMILION, "-"), "missed": (VERMILION, ":")}


@dataclass(frozen=True)
class Protocol:
    """What a scale stands for."""

    n_scenes: int  # with people, to train on; as many without, and to judge by
    n_estimators: tuple
    n_negatives: int


PROTOCOLS = {
    "smoke": Protocol(6, (4, 8), 60),
    "small": Protocol(40, (16, 64), 500),
    "paper": Protocol(300, (32, 128, 512), 3000),
}


def plan(arguments):
    """Plan the one task."""
    protocol = PROTOCOLS[arguments.scale]
    key = task_key(DATA, "", "AdaBoost", "M+O+LUV", 0, arguments)
    work = partial(measure, protocol, arguments.seed)
    return Plan([Sheet(NAME, COLUMNS, [Task(key, len(paper_says(NAME)["fppi"]), work)])], protocol)


def measure(protocol, seed):
    """Train, judge, and list what is found in one scene at each operating point."""
    n, first = protocol.n_scenes, 1000 * seed
    detector = train_detector(
        list(street_crops(synthetic_streets(n, seed=first + 11))),
        [record.image for record in synthetic_streets(n, seed=first + 12, people=False)],
        ChannelSpec.parse("M+O+LUV"),
        adaboost(seed),
        n_estimators=protocol.n_estimators,
        n_negatives=protocol.n_negatives,
        most_negatives=2 * protocol.n_negatives,
        random_state=seed,
    )
    records = synthetic_streets(n, seed=first + 13)
    found = [
        standardize_boxes(boxes)
        for boxes in detections_of(detector, [record.image for record in records], 1, LEAST_HEIGHT)
    ]
    truths, ignores = [standardize_boxes(record.boxes) for record in records], [record.ignore for record in records]
    matches = match_images(found, truths, ignores)
    scene = int(np.argmax([len(record.boxes) for record in records]))
    false = np.sort(matches.score[~matches.is_true])[::-1]
    rows = []
    for fppi in paper_says(NAME)["fppi"]:
        k = min(int(fppi * n), len(false) - 1)
        kept = matches.score > false[k]
        boxes = kinds_of(found[scene][found[scene][:, 4] > false[k]], truths[scene], ignores[scene])
        rows.append(
            {
                "fppi": fppi,
                "threshold": f"{false[k]:.4f}",
                "miss_rate": f"{1 - matches.is_true[kept].sum() / matches.n_truths.sum():.4f}",
                "scene": scene,
                "n_scenes": n,
                "boxes": json.dumps(boxes),
            }
        )
    return rows


def kinds_of(detections, truth, ignore):
    """Found, false and missed boxes of a scene, x, y, w, h to a tenth of a pixel."""
    status, matched = match_detections(detections, truth, ignore)
    parts = {"found": detections[status == 1], "false": detections[status == 0], "missed": truth[~matched]}
    return {kind: np.round(boxes[:, :4], 1).tolist() for kind, boxes in parts.items()}


# ---------------------------------------------------------------------------------- table and picture


def table(frames):
    """List the operating points."""
    frame, paper = frames[NAME], paper_says(NAME)
    first = frame.iloc[0]
    cells = []
    for row in frame.itertuples():
        counts = {kind: len(boxes) for kind, boxes in json.loads(row.boxes).items()}
        cells.append([label(row.fppi), row.threshold, f"{100 * row.miss_rate:.1f}", *(counts[kind] for kind in KINDS)])
    header = ["false positives an image", "threshold", "miss rate of all scenes, %", *KINDS]
    return (
        f"# Figure 1\n\n{paper['caption']} (Sec. {paper['section']}): {first.n_scenes} rendered streets, and the boxes "
        f"of scene {first.scene} that are found, false and missed.\n\n{markdown(header, cells)}\n"
    )


def label(fppi):
    """Name an operating point."""
    return f"< {fppi:g}" if fppi < 0.01 else f"{fppi:g}"


def picture(frames):
    """Draw the scene four times."""
    frame = frames[NAME]
    first = frame.iloc[0]
    scene = synthetic_streets(int(first.scene) + 1, seed=1000 * int(first.seed) + 13)[-1].image
    height, width = scene.shape[:2]
    half = scene.reshape(height // 2, 2, width // 2, 2, 3).mean(axis=(1, 3)).astype(np.uint8)  # a smaller file
    figure = new_figure(6.4, 5.3)
    for axes, row in zip(figure.subplots(2, 2).ravel(), frame.itertuples(), strict=True):
        axes.imshow(half, extent=(0, width, height, 0), interpolation="nearest")
        for kind, boxes in json.loads(row.boxes).items():
            colour, line = KINDS[kind]
            for x, y, w, h in boxes:
                axes.add_patch(Rectangle((x, y), w, h, fill=False, edgecolor=colour, linestyle=line, linewidth=1.4))
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.set_axis_off()
        axes.set_title(f"{label(row.fppi)} FPPI, {100 * row.miss_rate:.0f} % missed")
    handles = [Rectangle((0, 0), 1, 1, fill=False, edgecolor=colour, linestyle=line) for colour, line in KINDS.values()]
    figure.legend(handles, KINDS, loc="outside lower center", ncols=len(KINDS), frameon=False)
    return figure


SCRIPT = Script(NAME, __doc__, (NAME,), plan, table, picture)


if __name__ == "__main__":
    sys.exit(main(SCRIPT))
