"""BING in front of detectors: how it is trained and chosen, and which windows it leaves.

It comes from training data: models from the crops and photographs of four fifths (fold 0 of
`reproduce/detectors/__init__.py`), thresholds from the photographs of the held-out fifth, and what it is trained with
from the crops of that fifth.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from detectors.data import parts, without_edges
from detectors.fewer_windows import TEN, cells_of, in_band, kept_file
from detectors.training import n_threads
from paucens.images import pixels_of
from paucens.parallel import ALONE, Threads
from paucens.proposals import Bing, calibrated, greedy_bases, train_bing

SHARES = (0.0, 0.134, 0.374, 0.494, 0.654, 0.7, 0.8, 0.866)  # of windows to discard: the paper's six, and two more
AS_THE_PAPER = {"normalised": False, "class_weight": "none", "form": "2 bases", "per_size": False}
FORMS = ("2 bases", "4 bases", "8 bases", "floats")
CLASS_WEIGHTS = ("none", "balanced")
JUDGED_AT = (0.7, 0.8)  # shares of windows that go, where a form is judged by what it loses


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


# -- what it is trained with -----------------------------------------------------------------------


def measure_forms(run, case):
    """Train BING, and tell which share of the windows around held-out crops each of its forms loses."""
    _, held_out = parts(run)
    crops = [np.ascontiguousarray(pixels_of(crop)) for crop in without_edges(held_out.crops)]
    rows = []
    for form in FORMS:
        models = proposals(run, case["normalised"], case["class_weight"], form, False, JUDGED_AT)
        scores = np.array([models[0].scores(crop, (3, 3), 12, ALONE) for crop in crops])
        lost = [np.mean(scores < one.thresholds[0]) for one in models]
        rows.append({"form": form, "lost_70": f"{lost[0]:.4f}", "lost_80": f"{lost[1]:.4f}"})
    return rows


def best_form(choice, binarised):
    """Return the arguments of `proposals` of the normalised form that loses fewest crops, out of `measure_forms`."""
    choice = choice[choice.normalised & ((choice.form != "floats") == binarised)]
    best = choice.loc[(choice.lost_70 + choice.lost_80).idxmin()]
    return AS_THE_PAPER | {"normalised": True, "class_weight": best.class_weight, "form": best.form}


# -- what it leaves --------------------------------------------------------------------------------


class Proposed(NamedTuple):
    """What models of BING leave of an image.

    Attributes
    ----------
    left : ndarray of shape (n_models, n_windows), bool
        Which of the given windows.
    discarded : ndarray of shape (n_models,)
        Number of windows of the image that each discards.
    n_windows : int
        Number of windows of the image.
    cells : ndarray of shape (n_models,)
        Number of cells whose channels are computed: those of bands in which a window is left.
    """

    left: np.ndarray
    discarded: np.ndarray
    n_windows: int
    cells: np.ndarray


def proposed(search, rgb, windows, bings):
    """Tell which windows models of BING leave; they differ in their thresholds only."""
    left, discarded = np.zeros((len(bings), len(windows)), dtype=bool), np.zeros(len(bings), dtype=int)
    n, cells = 0, np.zeros(len(bings), dtype=int)
    for k, band in search.bands(rgb, search.levels(rgb.shape[:2]), ALONE):
        scores = bings[0].scores(band.pixels, band.shape, search.window.margin, ALONE)
        thresholds = np.array([bing.threshold_at(search.window.height_in_image(band.level.ratio)) for bing in bings])
        here, places = in_band(windows, k, band)
        left[:, here] = scores[tuple(places.T)] >= thresholds[:, None]
        below = np.searchsorted(np.sort(scores, axis=None), thresholds)
        cells += cells_of(band.shape, search.window) * (below < scores.size)
        discarded += below
        n += scores.size
    return Proposed(left, discarded, n, cells)


def proposed_everywhere(run, search, images, windows, bings):
    """Return for each model the windows that it leaves in each image, and the share that it discards of all."""
    with Threads(n_threads(run)) as threads:
        found = threads.map(lambda k: proposed(search, pixels_of(images[k]), windows[k], bings), range(len(images)))
    discarded, n = (sum(getattr(one, name) for one in found) for name in ("discarded", "n_windows"))
    return list(zip(*(one.left for one in found), strict=True)), discarded / n
