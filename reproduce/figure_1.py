"""Figure 1: one scene at four operating points of a detector.

Claim (Sec. 1). A detector is useful between 0.01 and 1 false positives per image: with fewer it misses most people,
with more it cries wolf. The ensembles of this package are trained for that slice of the ROC curve.

Protocol. A detector on M+O+LUV is trained on rendered streets. On other streets, the scores are found that give fewer
than 0.001, and 0.1, 1 and 10 false positives per image. Of these streets, the scene with most people is shown.

Where we depart, and why.
- The paper shows a photograph; ours is rendered, since photographs of data sets are not passed on. The figure shows
  what the operating points mean, not how good the detector of Table 3 is.
- Fewer than 0.001 false positives per image means none in any of the scenes, which are fewer than 1000.

    python reproduce/figure_1.py --scale paper
"""

import json
import sys
from dataclasses import dataclass

import numpy as np
from matplotlib.patches import Rectangle

from detectors import adaboost, detections_of
from harness import Run, exit_code
from paucens.datasets import street_crops, synthetic_streets
from paucens.datasets.streets import render
from paucens.detector import train_detector
from paucens.evaluation import match_detections, match_images, standardize_boxes
from paucens.features import ChannelSpec
from paucens.plotting import BLUE, VERMILION, house_style, new_figure
from report import markdown, paper_says

LEAST_HEIGHT = 60
KINDS = {"found": (BLUE, "-"), "false": (VERMILION, "-"), "missed": (VERMILION, ":")}


@dataclass(frozen=True)
class Protocol:
    """What a scale means."""

    n_scenes: int  # with people, to train on; as many without people, and to judge by
    n_estimators: tuple
    n_negatives: int


PROTOCOLS = {
    "smoke": Protocol(6, (4, 8), 60),
    "small": Protocol(40, (16, 64), 500),
    "paper": Protocol(300, (32, 128, 512), 3000),
}


def measure(run, case):
    """Train, judge, and list the boxes of one scene at each operating point."""
    n, first, protocol = run.protocol.n_scenes, 1000 * run.seed, run.protocol
    detector = train_detector(
        list(street_crops(synthetic_streets(n, seed=first + 11))),
        [record.image for record in synthetic_streets(n, seed=first + 12, people=False)],
        ChannelSpec.parse("M+O+LUV"),
        adaboost(run.seed),
        n_estimators=protocol.n_estimators,
        n_negatives=protocol.n_negatives,
        most_negatives=2 * protocol.n_negatives,
        random_state=run.seed,
    )
    records = synthetic_streets(n, seed=first + 13)
    found = detections_of(detector, [record.image for record in records], 1, LEAST_HEIGHT)
    found, truths = list(map(standardize_boxes, found)), [standardize_boxes(record.boxes) for record in records]
    matches = match_images(found, truths, [record.ignore for record in records])
    scene = int(np.argmax([len(boxes) for boxes in truths]))
    false, rows = np.sort(matches.score[~matches.is_true])[::-1], []
    for fppi in paper_says("figure_1")["fppi"]:
        threshold = false[min(int(fppi * n), len(false) - 1)]
        n_found = matches.is_true[matches.score > threshold].sum()
        kept = found[scene][found[scene][:, 4] > threshold]
        boxes = kinds_of(kept, truths[scene], records[scene].ignore)
        miss_rate = 1 - n_found / matches.n_truths.sum()
        row = {"fppi": fppi, "threshold": f"{threshold:.4f}", "miss_rate": f"{miss_rate:.4f}"}
        rows.append(row | {"scene": scene, "n_scenes": n, "boxes": json.dumps(boxes)})
    return rows


def kinds_of(detections, truth, ignore):
    """Return the found, false and missed boxes of a scene: x, y, w, h to a tenth of a pixel."""
    status, matched = match_detections(detections, truth, ignore)
    parts = {"found": detections[status == 1], "false": detections[status == 0], "missed": truth[~matched]}
    return {kind: np.round(boxes[:, :4], 1).tolist() for kind, boxes in parts.items()}


def table(rows):
    """List the operating points."""
    paper, first, lines = paper_says("figure_1"), rows.iloc[0], []
    for row in rows.itertuples():
        counts = [len(boxes) for boxes in json.loads(row.boxes).values()]
        lines.append([label(row.fppi), row.threshold, f"{100 * row.miss_rate:.1f}", *counts])
    columns = ["false positives per image", "threshold", "miss rate in all scenes, %", *KINDS]
    return (
        f"# Figure 1\n\n{paper['caption']} (Sec. {paper['section']}): {first.n_scenes} rendered streets, and the boxes "
        f"of scene {first.scene} that are found, false and missed.\n\n{markdown(lines, columns)}\n"
    )


def label(fppi):
    """Name an operating point."""
    return f"< {fppi:g}" if fppi < 0.01 else f"{fppi:g}"


@house_style()
def picture(rows):
    """Draw the scene at each operating point."""
    first = rows.iloc[0]
    scene = render(1000 * int(first.seed) + 13, int(first.scene), people=True, size=(480, 640)).image
    height, width = scene.shape[:2]
    half = scene.reshape(height // 2, 2, width // 2, 2, 3).mean(axis=(1, 3)).astype(np.uint8)  # a smaller file
    figure = new_figure(6.4, 5.3)
    for axes, row in zip(figure.subplots(2, 2).ravel(), rows.itertuples(), strict=True):
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


def main(argv=None):
    """Measure the one case."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    rows = run.rows("figure_1", measure, [{"data_set": "rendered streets"}])
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
