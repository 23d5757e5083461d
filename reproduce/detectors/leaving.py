"""What settings leave of an image, and how much work they have with it, from few runs for many settings."""

import numpy as np

from detectors import bing, cascades
from detectors.fewer_windows import cells_of
from detectors.training import n_threads
from detectors.ways import EARLY, alone
from paucens.detector.first_stage import TwoStages, regions
from paucens.images import pixels_of
from paucens.parallel import ALONE, Threads

WORK = ["away", "first_trees", "trees", "cells"]


def leave_out_everywhere(run, detector, settings, images, windows):
    """Return for each setting which windows it leaves in each image, and its work per window or cell, see `leave_out`.

    Returns
    -------
    left : list of tuples of ndarrays
    work : ndarray of shape (n_settings, 4)
    """

    def of_image(k):
        return leave_out(detector, settings, pixels_of(images[k]), windows[k])

    with Threads(n_threads(run)) as threads:
        left, work, totals = zip(*threads.map(of_image, range(len(images))), strict=True)
    return list(zip(*left, strict=True)), sum(work) / sum(totals)


def leave_out(detector, settings, rgb, windows):
    """Tell what settings leave of an image.

    Parameters
    ----------
    detector : PedestrianDetector
        In one stage, without rejection.
    settings : list of Setting
    rgb : ndarray
    windows : ndarray of shape (n, 3)
        Level, row and column of the windows that are asked for.

    Returns
    -------
    left : list of ndarrays of shape (n,), bool
        For each setting, which of them get a score in the end.
    work : ndarray of shape (n_settings, 4)
        The columns `WORK`, sums over the image: windows that get no score; trees of the first stage and trees of the
        detector that windows go through; cells for which channels but the early ones are computed. Windows and trees
        are estimated from every 97th window (`cascades.EVERY`), those of a second stage are counted.
    totals : ndarray of shape (4,)
        What `work` is to be divided by: windows three times, and cells.
    """
    n_windows, n_cells = _totals(detector.search, rgb.shape[:2])
    second = {one: second_stage(detector, one, rgb) for one in settings if one.first is not None}
    sampled = cascades.sampled_windows(detector.search, rgb.shape[:2])
    places, (asked, at_sampled, *at_second) = _together([windows, sampled, *(own for own, _ in second.values())])
    at_second = dict(zip(second, at_second, strict=True))
    proposed = _proposed(detector.search, rgb, places, settings)
    proposed[None] = np.ones(len(places), dtype=bool), n_cells
    through, first_trees = _through(detector, rgb, places, settings), _first_trees(detector, rgb, sampled, settings)
    left, work, each_sampled = [], [], n_windows / max(1, len(sampled))
    for one in settings:
        (passes, cells), (n_trees, ends) = proposed[one.bing], through[one.trees]
        if one.first is None:  # all that BING leaves reaches the trees of the detector
            n_first, reached, each = 0, at_sampled[passes[at_sampled]], each_sampled
        else:
            n_first, cells = each_sampled * first_trees[one.first][passes[at_sampled]].sum(), second[one][1]
            reached, each, passes = at_second[one], 1, np.isin(np.arange(len(places)), at_second[one])
        left.append((passes & ends)[asked])
        work.append([n_windows - each * ends[reached].sum(), n_first, each * n_trees[reached].sum(), cells])
    work = np.array(work, dtype=float)
    work[:, -1] *= not set(detector.spec.families) <= set(EARLY)
    return left, work, np.array([n_windows] * 3 + [n_cells])


def second_stage(detector, setting, rgb):
    """Return the windows of an image that go on to a second stage, (n, 3), and the cells that are computed for them."""
    on = setting.switched_on(detector)
    two = TwoStages(on.search, on.trees, on.first_stage)
    found = two.left(rgb, on.search.levels(rgb.shape[:2]), on.first_sums, ALONE)
    windows = [np.column_stack([np.full(len(own.windows), own.k), own.in_level]) for own in found]
    n_cells = sum(
        cells_of(np.ptp(own.windows[group], axis=0) + 1, on.window)
        for own in found
        for group in regions(own.windows, on.window)
    )
    return np.concatenate([np.empty((0, 3), dtype=int), *windows]), n_cells


def _totals(search, image_shape):
    """Count the windows of an image and the cells of all its levels."""
    grids = [search.window.grid_shape(level.shape) for level in search.levels(image_shape)]
    return sum(map(np.prod, grids)), sum(cells_of(grid, search.window) for grid in grids)


def _together(groups):
    """Return all windows of some groups, (n, 3), each of them once, and where those of each group are."""
    windows, where = np.unique(np.concatenate(groups), axis=0, return_inverse=True)
    return windows, np.split(where.ravel(), np.cumsum(list(map(len, groups)))[:-1])


def _proposed(search, rgb, places, settings):
    """Return for each BING which places it leaves, and the cells of the bands in which it leaves a window."""
    found, models = {}, dict.fromkeys(one.bing for one in settings if one.bing is not None)
    for normalised in (False, True):
        if own := [one for one in models if one.normalised == normalised]:
            result = bing.proposed(search, rgb, places, own)
            found |= zip(own, zip(result.left, result.cells, strict=True), strict=True)
    return found


def _through(detector, rgb, places, settings):
    """Return for each cascade the trees that places go through, and which are left."""
    trees = list(dict.fromkeys(one.trees for one in settings))
    found = cascades.cascaded(detector, rgb, places, [one.rejection for one in trees])
    return dict(zip(trees, zip(*found, strict=True), strict=True))


def _first_trees(detector, rgb, sampled, settings):
    """Return for each first stage the trees that sampled windows go through."""
    firsts = list(dict.fromkeys(one.first for one in settings if one.first is not None))
    if not firsts:
        return {}
    rejections = [one.trees.rejection for one in firsts]
    counts, _ = cascades.cascaded(alone(detector, firsts[0].trees), rgb, sampled, rejections)
    return dict(zip(firsts, counts, strict=True))
