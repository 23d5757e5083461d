"""Detectors that leave out windows or trees, judged by what one that leaves out nothing has scored.

The full detector is run once per image, without stages and without a soft cascade, and the windows that score above a
floor are kept. Suppression only lets better boxes remove worse ones, so windows below the floor do not change the
curve above it. A setting that leaves out some windows therefore has exactly the boxes that follow from the windows that
it leaves. The floor is the score of `FLOOR_FPPI` false positives per photograph of the held-out ones.

The detector of 317 channels is the candidate "robust" of `default_model.py`, in stages and with the cascade that it got
there (`weights/robust.npz`). It was trained on four fifths of the training data (fold 0 of
`reproduce/detectors/__init__.py`), "M+O+LUV" on all of them. "M+O+LUV, four fifths" was not, and stands in for it where
something is chosen by held-out crops. `bing.py` and `cascades.py` have what windows are discarded by.
"""

import os
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from filelock import FileLock

from detectors import stages
from detectors.data import load, parts, test_set, training_data
from detectors.judging import judged, log_evaluation
from detectors.training import DetectorConfig, build_folder, n_threads, slug, trained
from paucens import datasets
from paucens.detector import PedestrianDetector, non_maximum_suppression
from paucens.features.channels import CELL
from paucens.images import pixels_of
from paucens.parallel import ALONE, Threads
from paucens.plotting import new_figure

FLOOR_FPPI = 5.0
TEN = DetectorConfig("M+O+LUV", "M+O+LUV")  # of Table 3
ALL = "317 channels"  # the candidate of `default_model.py`
FOUR_FIFTHS = "M+O+LUV, four fifths"  # what stands in for M+O+LUV where held-out crops count


# -- detectors and what they have scored -----------------------------------------------------------


def detector_cases(run, names=None):
    """List detectors and the test sets that are searched without upsampling.

    `names` are those of the detectors. By default it is both, or M+O+LUV alone if images are rendered.
    """
    names = names or ((TEN.method, ALL) if run.scale == "paper" else (TEN.method,))
    found = [start for start in load(run) if test_set(run, start["test_set"]).searched_height is None]
    return [start | {"detector": name} for start in found for name in names]


def robust():
    """Return the candidate "robust" of `default_model.py`."""
    return PedestrianDetector.load(Path(__file__).parent / "weights" / "robust.npz")


def whole(run, name):
    """Return a detector that gives every window the sum of all trees; that of 317 channels has as many as others have.

    Its 2048 trees are those of the scale of the paper.
    """
    if name == ALL:
        detector = robust().without_stages()
        detector = replace(detector, trees=detector.trees.part(0, run.protocol.n_estimators[-1]))
    else:
        data = parts(run)[0] if name == FOUR_FIFTHS else training_data(run)
        detector, _ = trained(run, TEN, data, run.seed)
    return stages.without_cascade(detector)


def kept_file(run, kind, about, made_by, make):
    """Return the arrays of a file in the build folder; it is made if it is not there, keyed by what it depends on."""
    digest = sha256(repr(made_by).encode()).hexdigest()[:8]
    path = build_folder(run, "fewer_windows") / f"{slug(kind, about, digest)}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")):  # another case may want the same one
        if not path.exists():
            part = path.with_suffix(".part.npz")
            np.savez(part, **make())
            os.replace(part, path)
    with np.load(path, allow_pickle=False) as stored:
        return dict(stored)


def digest_of(detector):
    """Return a digest of the trees of a detector and of its search."""
    return datasets.content_hash(*detector.trees.arrays().values()) + repr(detector.search)


def score_at_fppi(run, name, fppi):
    """Return the score of so many false positives per held-out photograph, among all windows."""
    detector, (_, held_out) = whole(run, name), parts(run)

    def find():
        return {"score": stages.score_at_fppi(detector, held_out.images, fppi, n_threads(run))}

    made_by = digest_of(detector), held_out.content_hash, fppi
    return float(kept_file(run, "score", name, made_by, find)["score"])


def scored_windows(run, name, tests):
    """Return boxes (k, 5) and places (k, 3) of all windows of each image that score above the floor."""
    detector, floor = whole(run, name), score_at_fppi(run, name, FLOOR_FPPI)

    def of_image(image):
        rgb = pixels_of(image)
        return detector.candidates(rgb, detector.search.levels(rgb.shape[:2]), floor, ALONE)

    def scan():
        with Threads(n_threads(run)) as threads:
            boxes, windows = zip(*threads.map(of_image, tests.images), strict=True)
        counts = np.array(list(map(len, boxes)))
        return {"boxes": np.concatenate(boxes), "windows": np.concatenate(windows), "counts": counts}

    stored = kept_file(run, "windows", f"{name} {tests.title}", (digest_of(detector), tests.content_hash, floor), scan)
    ends = np.cumsum(stored["counts"])[:-1]
    return [np.split(stored[part], ends) for part in ("boxes", "windows")]


def in_band(windows, k, band):
    """Return which windows, (n, 3), lie in a band of level k, and their rows and columns there, (n_here, 2)."""
    places = windows[:, 1:] - [band.first_row, 0]
    here = np.flatnonzero((windows[:, 0] == k) & (places[:, 0] >= 0) & (places[:, 0] < band.shape[0]))
    return here, places[here]


def cells_of(shape, window):
    """Count the cells that rows and columns of windows cover with their margins."""
    return int(np.prod([n - 1 + side // CELL for n, side in zip(shape, window.crop, strict=True)]))


def match(tests, boxes, left=None):
    """Match the boxes of the windows that are left, of all of them by default, after suppression."""
    left = [slice(None)] * len(boxes) if left is None else left
    return tests.evaluate([non_maximum_suppression(own[some]) for own, some in zip(boxes, left, strict=True)])


def judge_settings(run, case, boxes, left):
    """Return a row per setting, a dict of its name to the windows that it leaves; differences are from all windows."""
    tests, rows = test_set(run, case["test_set"]), []
    standard = match(tests, boxes)
    for name, some in left.items():
        matches = match(tests, boxes, some)
        last_fppi = matches.curve()[0][-1]  # above the floor
        rows.append({"setting": name} | judged(matches, standard) | {"last_fppi": f"{last_fppi:.4f}"})
        log_evaluation(run, f"{case['detector']}, {name}", run.seed, tests.title, rows[-1]["miss_rate"])
    return rows


# -- pictures --------------------------------------------------------------------------------------


def panel_grid(rows, size, **sharing):
    """Return a figure and its axes, (detectors, test sets), with an iterator over (axes, rows) of each panel."""
    titles, names = (list(dict.fromkeys(rows[column])) for column in ("test_set", "detector"))
    figure = new_figure(size[0] + 2.7 * len(titles), size[1] * len(names))
    grid = figure.subplots(len(names), len(titles), squeeze=False, **sharing)
    groups = rows.groupby(["test_set", "detector"], sort=False)
    for (title, name), _ in groups:
        grid[names.index(name), titles.index(title)].set_title(f"{title}\n{name}")
    return figure, grid, [(grid[names.index(name), titles.index(title)], own) for (title, name), own in groups]


def label_grid(grid, x, y):
    """Label the lowest axes of a grid, and those on its left."""
    for axes in grid[-1]:
        axes.set_xlabel(x)
    for axes in grid[:, 0]:
        axes.set_ylabel(y)
