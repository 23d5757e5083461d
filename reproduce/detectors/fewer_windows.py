"""Detectors that leave out windows or trees, judged by what one that leaves out nothing has scored.

The full detector is run once per image, without stages and without a soft cascade, and the windows that score above a
floor are kept. Suppression only lets better boxes remove worse ones, so windows below the floor do not change the
curve above it. A setting that leaves out some windows therefore has exactly the boxes that follow from the windows that
it leaves. The floor is the score of `FLOOR_FPPI` false positives per photograph of the held-out ones.

BING, and everything else that is chosen, comes from training data: models of BING from the crops and photographs of
four fifths (fold 0 of `reproduce/detectors/__init__.py`), thresholds from the photographs of the held-out fifth. The
detector of the package was trained on the same four fifths, "M+O+LUV" on all five.
"""

import os
from dataclasses import replace
from hashlib import sha256

import numpy as np
from filelock import FileLock

from detectors import stages
from detectors.data import load, parts, test_set, training_data
from detectors.judging import judged, log_evaluation
from detectors.training import DetectorConfig, build_folder, n_threads, slug, trained
from paucens import datasets
from paucens._kernels.builds import chosen
from paucens.detector import PedestrianDetector, non_maximum_suppression
from paucens.images import pixels_of
from paucens.parallel import ALONE, Threads
from paucens.plotting import new_figure
from paucens.proposals import Bing, calibrated, greedy_bases, train_bing

kernels = chosen("windows")

FLOOR_FPPI = 5.0
TEN = DetectorConfig("M+O+LUV", "M+O+LUV")  # of Table 3
ALL = "317 channels"  # the detector of the package
SHARES = (0.0, 0.134, 0.374, 0.494, 0.654, 0.7, 0.8, 0.866)  # of windows to discard: the paper's six, and two more
AS_THE_PAPER = {"normalised": False, "class_weight": "none", "form": "2 bases", "per_size": False}


# -- detectors and what they have scored -----------------------------------------------------------


def detector_cases(run, n_test_sets=None):
    """List detectors and the test sets that are searched without upsampling; one detector if they are rendered."""
    names = [TEN.method, ALL] if run.scale == "paper" else [TEN.method]
    found = [start for start in load(run) if test_set(run, start["test_set"]).searched_height is None]
    return [start | {"detector": name} for start in found[:n_test_sets] for name in names]


def whole(run, name):
    """Return a detector that gives every window the sum of all trees."""
    if name == ALL:
        return stages.without_cascade(PedestrianDetector.default().without_stages())
    return stages.without_cascade(trained(run, TEN, training_data(run), run.seed)[0])


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


# -- BING ------------------------------------------------------------------------------------------


def trained_bing(run, normalised, class_weight, form):
    """Train a model of BING on four fifths of the training data; its form is "2 bases", say, or "floats"."""
    data, _ = parts(run)
    search = TEN.search(data)
    options = {"normalised": normalised, "class_weight": None if class_weight == "none" else class_weight}
    made_by = options | {"smooth": search.smooth, "random_state": run.seed}, data.content_hash

    def fit():
        how = {"random_state": run.seed, "n_jobs": n_threads(run)}
        return {"weights": train_bing(data.crops, data.images, search, **options, **how).weights}

    weights = kept_file(run, "bing", "normalised" if normalised else "", made_by, fit)["weights"]
    bases = greedy_bases(weights, 1 if form == "floats" else int(form.split()[0]))
    return Bing(weights, *bases, normalised=normalised, binarised=form != "floats")


def proposals(run, normalised, class_weight, form, per_size, shares=SHARES):
    """Return models of BING that discard shares of the windows of the held-out photographs."""
    bing, (_, held_out) = trained_bing(run, normalised, class_weight, form), parts(run)
    search = TEN.search(held_out)

    def find():
        found = calibrated(bing, search, held_out.images, shares, per_scale=per_size, n_jobs=n_threads(run))
        return {"heights": found[0].heights, "thresholds": np.array([one.thresholds for one in found])}

    options = {"per_scale": per_size, "smooth": search.smooth}
    made_by = normalised, class_weight, form, shares, options, run.seed, held_out.content_hash
    stored = kept_file(run, "thresholds", form, made_by, find)
    return [replace(bing, thresholds=own, heights=stored["heights"]) for own in stored["thresholds"]]


def proposed(search, rgb, windows, bings):
    """Tell which windows models of BING leave; they differ in their thresholds only.

    Returns
    -------
    left : ndarray of shape (n_models, n_windows), bool
    discarded : ndarray of shape (n_models,)
        Number of windows of the image that each discards.
    n_windows : int
        Number of windows of the image.
    """
    left, discarded, n = np.zeros((len(bings), len(windows)), dtype=bool), np.zeros(len(bings), dtype=int), 0
    for k, band in search.bands(rgb, search.levels(rgb.shape[:2]), ALONE):
        scores = bings[0].scores(band.pixels, band.shape, search.window.margin, ALONE)
        thresholds = np.array([bing.threshold_at(search.window.height_in_image(band.level.ratio)) for bing in bings])
        rows = windows[:, 1] - band.first_row
        here = (windows[:, 0] == k) & (rows >= 0) & (rows < band.shape[0])
        left[:, here] = scores[rows[here], windows[here, 2]] >= thresholds[:, None]
        discarded += np.searchsorted(np.sort(scores, axis=None), thresholds)
        n += scores.size
    return left, discarded, n


def proposed_everywhere(run, search, images, windows, bings):
    """Return for each model the windows that it leaves in each image, and the share that it discards of all."""
    with Threads(n_threads(run)) as threads:
        found = threads.map(lambda k: proposed(search, pixels_of(images[k]), windows[k], bings), range(len(images)))
    left, discarded, n = zip(*found, strict=True)
    return list(zip(*left, strict=True)), np.sum(discarded, axis=0) / sum(n)


# -- soft cascades ---------------------------------------------------------------------------------


def partial_sums(detector, strips, cells):
    """Compute the sums after each tree of windows of a band, float32 (n_windows, n_trees); no window is rejected.

    `cells` are rows and columns of windows, (n_windows, 2).
    """
    trees = detector.trees
    sums, layout = np.empty((len(cells), len(trees.rejection)), dtype=np.float32), trees.layout(strips.shape[1])[:6]
    for (row, column), own in zip(cells, sums, strict=True):
        kernels.partial_sums(strips[row:, :, column:], *layout, trees.bias, own[None, None], 0, 1)
    return sums


def n_trees(sums, rejection):
    """Count the trees that windows go through, and tell which ones are left after all of them."""
    fails = ~(sums > rejection)
    rejected = fails.any(axis=1)
    return np.where(rejected, fails.argmax(axis=1) + 1, sums.shape[1]), ~rejected


def cascaded(detector, rgb, windows, rejections, every):
    """Apply soft cascades to windows of an image, and to every so-many-th of all its windows.

    Returns
    -------
    left : ndarray of shape (n_cascades, n_windows), bool
    counts : ndarray of shape (n_cascades,)
        Trees that the sampled windows go through, in all.
    n_sampled : int
    """
    search, first = detector.search, 0
    left, counts, n_sampled = np.zeros((len(rejections), len(windows)), dtype=bool), np.zeros(len(rejections)), 0
    for k, band in search.bands(rgb, search.levels(rgb.shape[:2]), ALONE):
        strips, n = search.with_strips(band, ALONE).strips, band.shape[0] * band.shape[1]
        sampled = np.arange(-first % every, n, every)
        first, n_sampled = first + n, n_sampled + len(sampled)
        rows = windows[:, 1] - band.first_row
        here = np.flatnonzero((windows[:, 0] == k) & (rows >= 0) & (rows < band.shape[0]))
        sums = partial_sums(detector, strips, np.column_stack([rows[here], windows[here, 2]]))
        of_sampled = partial_sums(detector, strips, np.column_stack(np.divmod(sampled, band.shape[1])))
        for j, rejection in enumerate(rejections):
            left[j, here] = n_trees(sums, rejection)[1]
            counts[j] += n_trees(of_sampled, rejection)[0].sum()
    return left, counts, n_sampled
