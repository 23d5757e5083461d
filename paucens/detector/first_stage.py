"""Two stages: a few channels for all windows, and the others only around the windows that are left."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from paucens._kernels.regions import group_windows
from paucens.detector.scan import Search, kernels
from paucens.detector.stages import channels_of
from paucens.detector.trees import DetectorTrees
from paucens.features.channels import CELL
from paucens.parallel import Threads

ALONE = Threads(1)  # for work inside a pool of threads, which must not wait for that pool
OVERHEAD = 200.0  # cells that could be computed in the time that one more region takes


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
    """

    families: tuple
    trees: DetectorTrees | None = None


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

    def scores(self, band, threads, start=None):
        """Score the windows of a band of pixels; see `Search.scores`."""
        leading, rest = self._trees
        band = self.early.with_strips(band, threads)
        if self.first.trees is not None:
            passed = self.early.scores(band, self.first.trees, threads, start) > -np.inf
            start = np.where(passed, leading.bias, np.float32(-np.inf))
        sums = self.early.scores(band, leading, threads, start)

        def finish(windows):
            return self._finish(band, sums[tuple(windows.T)], rest, windows)

        groups = regions(sums > -np.inf, self.search.window)
        scores = np.full_like(sums, -np.inf)
        for windows, values in zip(groups, threads.map(finish, groups), strict=True):
            scores[tuple(windows.T)] = values
        return scores

    def _finish(self, band, sums, rest, windows):
        """Add the trees of the second stage to the sums of some windows of a band; return the scores."""
        corner, margin = windows.min(axis=0), self.search.window.margin // CELL
        shape = tuple(windows.max(axis=0) - corner + 1)
        channels = self._channels(
            band, *corner, *(n + side - 1 for n, side in zip(shape, self.search.window.cells, strict=True))
        )
        layout = rest.cell_layout(channels.shape[2])
        kernels.score_windows(channels, windows - corner + np.int32(margin), *layout, sums)
        return sums

    def _channels(self, band, row, column, rows, columns):
        """Return all channels of a rectangle of cells of a band with its margin, in which early ones are missing."""
        spec, margin = self.search.spec, self.search.window.margin
        height, width = (CELL * side + 2 * margin for side in (rows, columns))
        pixels = band.pixels[CELL * row : CELL * row + height, CELL * column : CELL * column + width]
        channels = np.empty((height // CELL, width // CELL, spec.n_channels), dtype=np.float32)
        spec.fill(np.ascontiguousarray(pixels), self.late, ALONE, channels)
        inside = channels[margin // CELL :][:rows, margin // CELL :][:, :columns]
        early = band.strips[row : row + rows, :, column : column + columns]
        for family, part in self.early.spec.groups.items():
            inside[..., spec.groups[family]] = np.moveaxis(early[:, part], 1, 2)
        return channels


def regions(alive, window):
    """Group the windows alive so that rectangles around the groups, with their margins, hold few cells.

    Parameters
    ----------
    alive : ndarray of shape (rows, columns), bool
    window : Window

    Returns
    -------
    groups : list of ndarray of shape (k, 2), int32
        Row and column of the windows of each group.
    """
    windows = np.ascontiguousarray(np.argwhere(alive), dtype=np.int32)
    group, boxes = np.empty(len(windows), dtype=np.int32), np.empty((len(windows), 4), dtype=np.int32)
    n_groups = group_windows(windows, *(side // CELL for side in window.crop), OVERHEAD, group, boxes)
    return [windows[group == k] for k in range(n_groups)]
