"""From an image to the scores of all its windows, level by level and band by band."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from paucens._kernels.builds import chosen
from paucens.detector.bands import SLACK, Band, empty_strips
from paucens.detector.trees import DetectorTrees
from paucens.detector.window import Window
from paucens.features import ChannelSpec
from paucens.features.filters import checked_filters, filtered
from paucens.features.levels import MOST_PIXELS, MOST_SCALES, Level, scales
from paucens.features.motion import flow_of, rgb_of
from paucens.features.preset import ACF
from paucens.features.pyramid import checked_lambdas, level_pixels, levels_with_channels
from paucens.features.toolbox import toolbox_levels
from paucens.parallel import ALONE, Threads
from paucens.validation import check_flag, check_integer, check_positive

kernels = chosen("windows")

BAND_BYTES = 256_000_000  # of channels at a time; larger levels are searched in bands of rows


@dataclass(frozen=True)
class Search:
    """The windows of an image that are looked at, and their channels.

    Attributes
    ----------
    spec : ChannelSpec
    window : Window
    per_octave : int, default=8
        Number of sizes of the image per factor of two.
    smooth : float in [0, 1], default=0.0
        Radius of the triangle filter that smooths the image at every size (`paucens.features.pyramid.resize`), so that
        it is as smooth as the training crops.
    lambdas : dict of str to float, optional
        Exponents of the power laws of the groups of channels. If given, channels are computed for one size per octave
        and resampled for the others.
    toolbox : bool, default=False
        Whether levels are made as in Dollar's toolbox (`paucens.features.toolbox.toolbox_levels`), and M and O are 0
        outside the image; needs `lambdas`.
    filters : ndarray of shape (n, n_channels, height, width), float32, optional
        Filters of the channels (`paucens.features.filters.filtered`); the trees look at what they give. Needs
        `toolbox`.
    """

    spec: ChannelSpec
    window: Window
    per_octave: int = 8
    smooth: float = 0.0
    lambdas: dict[str, float] | None = None
    toolbox: bool = False
    filters: np.ndarray | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.window.cell != self.spec.shrink:
            raise ValueError(
                f"The window has cells of {self.window.cell} pixels, but the channels {self.spec} have cells of "
                f"{self.spec.shrink}. Give Window(cell={self.spec.shrink}, ...)."
            )
        self._set("toolbox", check_flag("toolbox", self.toolbox))
        if self.toolbox and (self.lambdas is None or not set(self.spec.families) <= set(ACF)):
            raise ValueError(f"The order of the toolbox is for {', '.join(ACF)} with lambdas; got {self.spec}.")
        if self.filters is not None:
            self._check_filters()
        self._set("per_octave", check_integer("scales", self.per_octave, 1, MOST_SCALES))
        self._set("smooth", check_positive("smooth", self.smooth, zero=True, most=1))
        if self.lambdas is None:
            return
        if not isinstance(self.lambdas, dict) or set(self.lambdas) != set(self.spec.groups):
            raise ValueError(
                f"lambdas must hold a number for each of {', '.join(self.spec.groups)}; got "
                f"{self.lambdas!r}. Estimate them by approximated(images)."
            )
        self._set("lambdas", checked_lambdas(self.lambdas, self.spec))

    def _check_filters(self):
        if not self.toolbox:
            raise ValueError("filters need the order of the toolbox: give toolbox=True.")
        self._set("filters", checked_filters(self.filters, self.spec.n_channels))
        for name, side in zip(("height", "width", "stride"), (*self.window.shape, self.window.stride), strict=True):
            if side % self.cell:
                raise ValueError(f"The {name} of a window must be made of filtered cells of {self.cell}; got {side}.")

    def _set(self, name, value):
        object.__setattr__(self, name, value)  # the class is frozen for everybody else

    @property
    def cell(self) -> int:
        """Side in pixels of the cells that trees look at: twice as large after filtering."""
        return self.spec.shrink * (1 if self.filters is None else 2)

    @property
    def cells(self) -> tuple[int, int]:
        """Number of rows and columns of these cells in the window."""
        return tuple(side // self.cell for side in self.window.shape)

    @property
    def n_channels(self) -> int:
        """Number of channels that trees look at."""
        return self.spec.n_channels * (1 if self.filters is None else len(self.filters))

    @property
    def step(self) -> int:
        """Distance of neighbouring windows in these cells."""
        return self.window.stride // self.cell

    def levels(
        self, image_shape: tuple[int, int], min_height: float | None = None, max_height: float | None = None
    ) -> list[Level]:
        """List the sizes at which an image is searched for objects of some heights.

        Parameters
        ----------
        image_shape : tuple of int
            Height and width.
        min_height, max_height : float, optional
            Heights of the objects in pixels. Default: from the height of the target to the height of the image.

        Returns
        -------
        levels : list of Level
            From the one of the smallest objects on, whose height is nearest to `min_height`, as far as heights do not
            exceed `max_height`. The first one is there in any case, since the range may lie between two sizes.

        Raises
        ------
        ValueError
            If the image would be enlarged beyond `MOST_PIXELS`.
        """
        height = self.window.target[0]
        up = 0.0 if min_height is None else np.log2(height / min_height)
        if up > 0:
            _check_enlarged(image_shape, height, min_height)
        levels = scales(
            image_shape,
            per_octave=self.per_octave,
            octaves_up=up,
            min_shape=self.window.target,
            shrink=self.spec.shrink,
        )
        largest = np.inf if max_height is None else max_height
        return levels[:1] + [level for level in levels[1:] if height / level.ratio[0] <= largest]

    def bands(self, pixels: np.ndarray, levels: list[Level], threads: Threads) -> Iterator[tuple[int, Band]]:
        """Cut the levels of an image into bands of rows.

        Parameters
        ----------
        pixels : ndarray
            Of the image, by `paucens.features.motion.frame`.
        levels : list of Level
        threads : paucens.parallel.Threads

        Yields
        ------
        k : int
            Index of the level in the list.
        band : Band
            Without strips (see `with_strips`), unless they come from power laws.
        """
        if self.lambdas is None:
            for k, level in enumerate(levels):
                for band in self._bands_of_level(pixels, level, threads):
                    yield k, band
            return
        make_levels = toolbox_levels if self.toolbox else levels_with_channels
        computed = make_levels(
            pixels, self.spec, levels, threads, step=self.per_octave, lambdas=self.lambdas, smooth=self.smooth
        )
        for k, level in enumerate(computed):
            strips = self._with_border(level.channels)
            if self.filters is not None:
                strips = self._filtered(strips, threads)
            shape = (max(0, (n - size) // self.step + 1) for n, size in zip(strips.shape[::2], self.cells, strict=True))
            yield k, Band(levels[k], 0, tuple(shape), None, strips)

    def _bands_of_level(self, pixels, level, threads):
        """Yield the bands of a level whose channels are computed from its pixels."""
        n_rows, n_columns = self.window.grid_shape(level.shape)
        if n_rows == 0 or n_columns == 0:
            return
        pixels = self.padded(pixels, level, threads)
        cell, stride = self.window.cell, self.window.stride
        bytes_per_row = 4 * self.spec.n_channels * (pixels.shape[1] // cell)
        overlap = self.window.crop[0] // cell - 1
        height = max(1, (int(BAND_BYTES // bytes_per_row) - overlap) * cell // stride)
        for first in range(0, n_rows, height):
            n = min(height, n_rows - first)
            part = pixels[stride * first : stride * (first + n - 1) + self.window.crop[0]]
            yield Band(level, first, (n, n_columns), part)

    def over_bands(
        self, work: Callable[[int, Band, Threads], Any], pixels: np.ndarray, levels: list[Level], threads: Threads
    ) -> Iterator[Any]:
        """Call work(k, band, threads) with the bands of an image; yield its results in the order of `bands`.

        Levels that are small together are worked on at the same time, one thread each. Otherwise, the threads share the
        work on one band.
        """

        def results(group, own):
            for k, band in self.bands(pixels, [levels[i] for i in group], own):
                yield work(group[k], band, own)

        if self.lambdas is not None:  # levels depend on one another
            yield from results(range(len(levels)), threads)
            return
        for group in self._groups(levels):
            if len(group) == 1:
                yield from results(group, threads)
            else:
                for own in threads.map(lambda k: list(results([k], ALONE)), group):
                    yield from own

    def _groups(self, levels):
        """List successive levels, as indices, whose channels together take no more memory than a band may."""
        groups, total = [], math.inf
        for k, level in enumerate(levels):
            sides = (side + 2 * more for side, more in zip(level.shape, self.window.padding, strict=True))
            n_bytes = 4 * self.spec.n_channels * math.prod(sides) / self.spec.shrink**2
            total += n_bytes
            if total > BAND_BYTES:
                groups.append([])
                total = n_bytes
            groups[-1].append(k)
        return groups

    def with_strips(self, band: Band, threads: Threads) -> Band:
        """Return a band with its channels, which are computed now if it has none."""
        return band if band.strips is not None else band._replace(strips=self._strips_of_pixels(band.pixels, threads))

    def padded(self, pixels: np.ndarray, level: Level, threads: Threads) -> np.ndarray:
        """Return the pixels of a level, its border repeated outwards by the padding of the window."""
        return level_pixels(pixels, level.shape, threads, self.smooth, self.window.padding)

    def crop(self, pixels: np.ndarray, threads: Threads) -> np.ndarray:
        """Return the band of a crop: one window with its margin, or more if the crop is larger by some cells."""
        sides = zip(pixels.shape, self.window.crop, strict=False)
        shape = tuple((side - least) // self.window.stride + 1 for side, least in sides)
        return Band(None, 0, shape, pixels, self._strips_of_pixels(pixels, threads))

    def _strips_of_pixels(self, pixels, threads):
        """Compute the channels of an image, and return those without its margin, of which windows contain no cell."""
        rows, columns = (side // self.spec.shrink for side in pixels.shape[:2])
        strips = empty_strips(rows, self.spec.n_channels, columns)
        self.spec.fill(rgb_of(pixels), self.spec.families, threads, strips, flow_of(pixels))
        margin = self.window.margin // self.window.cell
        return strips[margin : rows - margin, :, margin : columns - margin]

    def _filtered(self, strips, threads):
        """Return the strips that the filters make of others."""
        halved = filtered(strips, self.filters, threads)
        out = empty_strips(*halved.shape)
        out[:] = halved
        return out

    def _with_border(self, channels):
        """Return strips of the channels of a level, surrounded by the overhang of the windows."""
        down, across = (side // self.window.cell for side in self.window.overhang)
        padded = np.pad(np.moveaxis(channels, 2, 1), ((down, down), (0, 0), (across, across)), mode="edge")
        strips = empty_strips(*padded.shape)
        strips[:] = padded
        known = ~np.isnan(self._flat_channels)
        for border in (
            strips[:down],
            strips[len(strips) - down :],
            strips[..., :across],
            strips[..., strips.shape[2] - across :],
        ):
            border[:, known] = self._flat_channels[known, None]
        return strips

    @cached_property
    def _flat_channels(self):
        """Channels where an image repeats its border, (n_channels,); nan for colours, which depend on the image."""
        black, still = np.zeros((64, 64, 3), dtype=np.uint8), np.zeros((64, 64, 2), dtype=np.float32)
        flat = self.spec.compute_checked(black, Threads(1), still)[8, 8]
        if self.toolbox:
            flat[:] = 0
        flat[self.spec.groups.get("LUV", slice(0))] = np.nan
        return flat

    def scores(self, band: Band, trees: DetectorTrees, threads: Threads, start: np.ndarray | None = None) -> np.ndarray:
        """Score the windows of a band.

        Parameters
        ----------
        band : Band
        trees : DetectorTrees
        threads : paucens.parallel.Threads
        start : ndarray of the band's `shape`, float32, optional
            Sums to go on from, -inf for windows that are left out. Default: the bias of the trees.

        Returns
        -------
        scores : ndarray of the band's `shape`, float32
            -inf for windows that the trees rejected.
        """
        start = np.full(band.shape, trees.bias) if start is None else start
        strips = self.with_strips(band, threads).strips
        scores = np.full([self.step * (n - 1) + 1 if n else 0 for n in band.shape], np.float32(-np.inf))
        scores[:: self.step, :: self.step] = start  # windows in between are left out
        layout = trees.layout(strips.shape[1])

        def scan(first, stop):
            scratch = [np.empty(scores.shape[1] + SLACK, dtype=kind) for kind in (np.float32, np.int32, np.intp)]
            kernels.scan(strips, *layout, *scratch, scores, first, stop)

        threads.run(scan, len(scores), 50 * scores.size)
        return np.ascontiguousarray(scores[:: self.step, :: self.step])

    def indices_in_crop(self, places: np.ndarray) -> np.ndarray:
        """Locate the features of a window in the flattened strips of its crop.

        Parameters
        ----------
        places : ndarray of shape (n_features, 3)
            Row, column and channel.

        Returns
        -------
        indices : ndarray of shape (n_features,), int64
        """
        row, column, channel = places.T.astype(np.int64)
        return (row * self.spec.n_channels + channel) * self.window.cells[1] + column


def _check_enlarged(image_shape, height, min_height):
    """Raise ValueError if an image would be too large when objects of `min_height` are enlarged to `height`."""
    rows, columns = (height / min_height * side for side in image_shape)
    if not rows * columns <= MOST_PIXELS:
        raise ValueError(
            f"min_height={min_height:g} enlarges the image to {columns:.6g} x {rows:.6g} pixels; at most "
            f"{MOST_PIXELS // 10**6} million are searched. Give a larger min_height, or a part of the image."
        )
