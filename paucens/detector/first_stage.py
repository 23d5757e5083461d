"""Two stages: a few channels for all windows, and the others only around the windows that are left."""

import itertools
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

import numpy as np

from paucens._kernels.regions import group_windows
from paucens.detector.bands import Band, windows_where
from paucens.detector.scan import BAND_BYTES, Search, kernels
from paucens.detector.stages import channels_of
from paucens.detector.suppression import DENOMINATOR, OVERLAP, leading_scores
from paucens.detector.trees import DetectorTrees
from paucens.features.motion import flow_of, rgb_of
from paucens.parallel import ALONE
from paucens.validation import check_number

OVERHEAD = 200.0  # cells that one more region must save; with 400 or 600 `detect` takes as long


@dataclass(frozen=True)
class FirstStage:
    """What all windows go through before other channels are computed.

    Attributes
    ----------
    families : tuple of str
        Families of channels that are computed for whole images. The leading trees of the detector that look at no
        others belong to this stage.
    trees : DetectorTrees or None, default=None
        Trees of an ensemble of its own, on the channels of these families alone. They only reject windows: the score
        of a window that they leave is that of the detector without them.
    within : float, default=inf
        Windows overlap as in non-maximum suppression. Of those that overlap, only those go on whose score in this stage
        is within this distance of the best one.
    """

    families: tuple[str, ...]
    trees: DetectorTrees | None = None
    within: float = np.inf

    def __post_init__(self) -> None:
        within = check_number("within", self.within)
        if within < 0:
            raise ValueError(f"within must be a distance of scores, at least 0; got {within:g}.")
        object.__setattr__(self, "within", within)  # the class is frozen for everybody else


class Left(NamedTuple):
    """Windows of a band that the first stage leaves.

    Attributes
    ----------
    k : int
        Index of the level.
    band : Band
        With the channels of the first stage.
    windows : ndarray of shape (n, 2), int32
        Rows and columns in the band.
    first_scores : ndarray of shape (n,), float32
    sums : ndarray of shape (n,), float32
        Sums of the leading trees of the detector.
    """

    k: int
    band: Band
    windows: np.ndarray
    first_scores: np.ndarray
    sums: np.ndarray

    @property
    def in_level(self):
        """Rows and columns of the windows in the level."""
        return self.windows + np.array([self.band.first_row, 0])

    def without_band(self):
        """Return the same windows without pixels and channels."""
        return self._replace(band=self.band._replace(pixels=None, strips=None))


NOTHING = np.empty((0, 2), np.int32), np.empty(0, np.float32), np.empty(0, np.float32)


def check_first_stage(first, search):
    """Raise ValueError unless the families of a first stage are some of those of a search, and not all."""
    known = search.spec.families
    if not first.families or not set(first.families) < set(known):
        raise ValueError(
            f"A first stage needs some families out of {', '.join(known)}, and not all of them; got "
            f"{', '.join(first.families) or 'none'}."
        )
    if search.lambdas is not None:
        raise ValueError("Channels that follow power laws are cheap for all windows: they allow no first stage.")
    if search.step != 1:
        raise ValueError(
            f"A first stage needs a window at each cell; got cells of {search.cell} pixels and a stride of "
            f"{search.window.stride}. Give the window a stride of {search.cell}."
        )


@dataclass(frozen=True, eq=False)
class TwoStages:
    """A detector's scan in two stages.

    Attributes
    ----------
    search : Search
        With all channels.
    trees : DetectorTrees
    first : FirstStage
    """

    search: Search
    trees: DetectorTrees
    first: FirstStage

    @cached_property
    def early(self):
        """The search with the channels of the first stage."""
        return replace(self.search, spec=self.search.spec.restricted(self.first.families))

    @cached_property
    def late(self):
        """The families of channels that are computed around windows only."""
        return [family for family in self.search.spec.families if family not in self.first.families]

    @cached_property
    def _trees(self):
        """The leading trees of the detector, which look at early channels only and number them so, and the others."""
        spec, early = self.search.spec, self.early.spec
        number = np.zeros(spec.n_channels, dtype=np.int32)  # a leaf looks at nothing: channel 0
        for family in early.families:
            number[spec.groups[family]] = np.arange(early.n_channels)[early.groups[family]]
        n_leading = self.trees.n_leading_within(channels_of(early.text, spec))
        leading = self.trees.part(0, n_leading)
        place = np.column_stack([leading.place[:, :2], number[leading.place[:, 2]]])
        return replace(leading, place=place), self.trees.part(n_leading, len(self.trees.rejection))

    def scored(self, pixels, levels, threshold, first_sums, threads):
        """Score the windows of an image that the first stage leaves.

        Parameters
        ----------
        pixels : ndarray
            Of the image, by `paucens.features.motion.frame`.
        levels : list of Level
        threshold : float
        first_sums : callable(band, bias, threads) -> ndarray or None
            `PedestrianDetector.first_sums`.
        threads : paucens.parallel.Threads

        Yields
        ------
        k : int
            Index of a level.
        windows : ndarray of shape (n, 2)
            Rows and columns of windows in the level.
        scores : ndarray of shape (n,)
            Their scores, above the threshold.
        """
        found = self.left(pixels, levels, first_sums, threads)
        scores = self._second_scores(pixels, levels, found, threads)
        for left, values in zip(found, scores, strict=True):
            above = values > threshold
            yield left.k, left.in_level[above], values[above]

    # -- the first stage ---------------------------------------------------------------------------

    def left(self, pixels, levels, first_sums, threads):
        """Return the windows that the first stage leaves of an image, a list of Left; for arguments see `scored`."""
        found, n_bytes = [], 0
        for left in self.search.over_bands(partial(self._first_scores, first_sums), pixels, levels, threads):
            if len(left.windows):
                n_bytes += left.band.pixels.nbytes + left.band.strips.nbytes
                found.append(left if n_bytes <= BAND_BYTES else left.without_band())
        return self._best_of_overlapping(found, levels)

    def _first_scores(self, first_sums, k, band, threads):
        """Return the windows of a band that the first stage leaves, and their sums."""
        leading, _ = self._trees
        start = first_sums(band, leading.bias, threads)
        if start is not None and not (start > -np.inf).any():
            return Left(k, band, *NOTHING)
        band = self.early.with_strips(band, threads)
        first = None
        if self.first.trees is not None:
            first = self.early.scores(band, self.first.trees, threads, start)
            start = np.where(first > -np.inf, leading.bias, np.float32(-np.inf))
        sums = self.early.scores(band, leading, threads, start)
        windows = windows_where(sums > -np.inf)
        places = tuple(windows.T)
        return Left(k, band, windows, (sums if first is None else first)[places], sums[places])

    def _best_of_overlapping(self, found, levels):
        """Leave out windows whose first score is far below that of a window that they overlap."""
        if not found or self.first.within == np.inf:
            return found
        window = self.search.window
        boxes = [
            np.column_stack([window.boxes(left.in_level, levels[left.k].ratio), left.first_scores]) for left in found
        ]
        together = np.concatenate(boxes)
        near = together[:, 4] >= leading_scores(together, OVERLAP, DENOMINATOR) - self.first.within
        parts = np.split(near, np.cumsum([len(part) for part in boxes])[:-1])
        return [
            left._replace(windows=left.windows[part], first_scores=left.first_scores[part], sums=left.sums[part])
            for left, part in zip(found, parts, strict=True)
            if part.any()
        ]

    # -- the second stage --------------------------------------------------------------------------

    def _second_scores(self, pixels, levels, found, threads):
        """Add the trees of the second stage; return the scores of the windows in each of `found`."""
        scores = [left.sums for left in found]

        def finish(job):
            k, left, rows = job
            scores[k][rows] = self._finish(left.band, left.windows[rows], left.sums[rows])

        for some in self._with_bands(pixels, levels, found, threads):
            jobs = [(k, left, rows) for k, left in some for rows in regions(left.windows, self.search.window)]
            large = [threads.n_threads * self._bytes(left.windows[rows]) > BAND_BYTES for _, left, rows in jobs]
            threads.map(finish, [job for job, is_large in zip(jobs, large, strict=True) if not is_large])
            for job in itertools.compress(jobs, large):  # one by one, to save memory
                finish(job)
        return scores

    def _bytes(self, windows):
        """Return the memory that the channels of a region take, its margin left out."""
        return 4 * self.search.spec.n_channels * np.prod(np.ptp(windows, axis=0) + self.search.window.cells)

    def _with_bands(self, pixels, levels, found, threads):
        """Yield lists of (index, Left) with the bands that were kept, then with those that are computed again."""
        yield [(index, left) for index, left in enumerate(found) if left.band.pixels is not None]
        missing = {(left.k, left.band.first_row): k for k, left in enumerate(found) if left.band.pixels is None}
        for level in sorted({level for level, _ in missing}):
            for _, band in self.search.bands(pixels, [levels[level]], threads):
                if (level, band.first_row) in missing:
                    k = missing[level, band.first_row]
                    yield [(k, found[k]._replace(band=self.early.with_strips(band, threads)))]

    def _finish(self, band, windows, sums):
        """Add the trees of the second stage to the sums of some windows of a band, and return them."""
        _, rest = self._trees
        corner, margin = windows.min(axis=0), self.search.window.margin // self.search.window.cell
        sides = windows.max(axis=0) - corner + self.search.window.cells
        strips = self._strips(band, *corner, *sides)
        layout = rest.layout(strips.shape[1])
        scratch = [np.empty(len(windows), dtype=kind) for kind in (np.int32, np.intp)]
        kernels.score_windows(strips, windows - corner + np.int32(margin), *layout, *scratch, sums)
        return sums

    def _strips(self, band, row, column, rows, columns):
        """Return all channels of a rectangle of cells of a band with its margin, in which early ones are missing."""
        spec, margin, cell = self.search.spec, self.search.window.margin, self.search.window.cell
        height, width = (cell * side + 2 * margin for side in (rows, columns))
        pixels = band.pixels[cell * row : cell * row + height, cell * column : cell * column + width]
        strips = np.empty((height // cell, spec.n_channels, width // cell), dtype=np.float32)
        spec.fill(rgb_of(pixels), self.late, ALONE, strips, flow_of(pixels))
        inside = strips[margin // cell :, :, margin // cell :][:rows, :, :columns]
        early = band.strips[row : row + rows, :, column : column + columns]
        for family, part in self.early.spec.groups.items():
            inside[:, spec.groups[family]] = early[:, part]
        return strips


@lru_cache(maxsize=8)
def two_stages(search, trees, first):
    """Return the `TwoStages` of a detector, which keeps what it has found out about the trees for the next image."""
    return TwoStages(search, trees, first)


def regions(windows, window):
    """Group windows so that rectangles around the groups, with their margins, hold few cells.

    Parameters
    ----------
    windows : ndarray of shape (n, 2), int32
        Rows and columns, row by row.
    window : Window

    Returns
    -------
    groups : list of ndarray
        Indices of the windows of each group.
    """
    group, boxes = np.empty(len(windows), dtype=np.int32), np.empty((len(windows), 4), dtype=np.int32)
    n_groups = group_windows(windows, *(side // window.cell for side in window.crop), OVERHEAD, group, boxes)
    return [np.flatnonzero(group == k) for k in range(n_groups)]
