"""From an image to the scores of all its windows, level by level and band by band."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paucens._kernels.builds import chosen
from paucens.detector.trees import DetectorTrees
from paucens.detector.window import Window
from paucens.features.channels import CELL
from paucens.features.pyramid import Level, approximated, channels_at, nearest_computed, resize, scales
from paucens.validation import check_integer, check_number, check_positive

kernels = chosen("windows")

SLACK = 16  # floats that the scan may read behind the strips
BAND_BYTES = 256_000_000  # of channels at a time; larger levels are searched in bands of rows
MOST_PIXELS = 400_000_000  # of an enlarged image: 1.2 GB, and as much for its border
MOST_SCALES = 64  # in a factor of two


class Band(NamedTuple):
    """The channels of some rows of windows of a level.

    Attributes
    ----------
    level : Level
    first_row : int
        The first row of windows among those of the level.
    n_positions : tuple of int
        Rows and columns of windows in the band.
    strips : ndarray of shape (rows, n_channels, columns), float32
        Channels of the cells that windows hold, and `SLACK` floats more behind them in memory.
    """

    level: Level
    first_row: int
    n_positions: tuple
    strips: np.ndarray


@dataclass(frozen=True)
class Search:
    """Which windows of an image are looked at.

    Attributes
    ----------
    spec : ChannelSpec
    window : Window
    per_octave : int
        Sizes of the image in a factor of two.
    smooth : float in [0, 1]
        Radius of the triangle that smooths every size of an image (`paucens.features.pyramid.resize`): what makes it
        as smooth as the crops of the training are.
    lambdas : dict of str to float, optional
        Power laws of the groups of channels: where there are any, channels are computed for one size in an octave and
        resampled for the others.
    """

    spec: object
    window: Window
    per_octave: int = 8
    smooth: float = 0.0
    lambdas: dict | None = None

    def __post_init__(self):
        check_integer("scales", self.per_octave, 1, MOST_SCALES)
        check_positive("smooth", self.smooth, zero=True, most=1)
        if self.lambdas is None:
            return
        if not isinstance(self.lambdas, dict) or set(self.lambdas) != set(self.spec.groups):
            raise ValueError(
                f"lambdas must hold a number for each of {', '.join(self.spec.groups)}; got "
                f"{self.lambdas!r}. Estimate them by approximated(images)."
            )
        for group, exponent in self.lambdas.items():
            if not np.isfinite(check_number(f"lambdas[{group!r}]", exponent)):
                raise ValueError(f"lambdas[{group!r}] must be finite; got {exponent}.")

    def levels(self, image_shape, min_height=None, max_height=None):
        """The sizes at which an image is searched for objects of some heights, a list of Level.

        Parameters
        ----------
        image_shape : tuple of int
        min_height, max_height : float, optional
            In pixels; from the height of the target, and to that of the image.

        Raises
        ------
        ValueError
            Where the image would be enlarged beyond `MOST_PIXELS`.
        """
        height = self.window.target[0]
        up = 0.0 if min_height is None else np.log2(height / min_height)
        levels = scales(
            image_shape, per_octave=self.per_octave, octaves_up=up, min_shape=self.window.target, shrink=CELL
        )
        if levels and up > 0 and np.prod(levels[0].shape, dtype=float) > MOST_PIXELS:
            rows, columns = levels[0].shape
            raise ValueError(
                f"min_height={min_height:g} enlarges the image to {columns} x {rows} pixels; at most "
                f"{MOST_PIXELS // 10**6} million are searched. Give a larger min_height, or a part of the "
                "image."
            )
        return [level for level in levels if max_height is None or height / level.ratio[0] <= max_height]

    def bands(self, rgb, levels, threads, n_jobs):
        """Yield the place of the level and the band, for levels of an image, RGB as `as_rgb` returns it."""
        if self.lambdas is not None:
            yield from enumerate(self._approximated(rgb, levels, threads, n_jobs))
            return
        for k, level in enumerate(levels):
            for band in self._computed(rgb, level, threads, n_jobs):
                yield k, band

    def _approximated(self, rgb, levels, threads, n_jobs):
        """Each level as one band, its channels resampled from the nearest level of which they are computed."""
        computed, beyond = None, self._beyond()
        for k, level in enumerate(levels):
            nearest = nearest_computed(k, len(levels), self.per_octave)
            if nearest != computed:
                source, computed = levels[nearest], nearest
                channels = channels_at(rgb, source.shape, self.spec, threads, n_jobs, self.smooth)
            here = channels if k == nearest else approximated(channels, source, level, self.spec, self.lambdas, threads)
            yield Band(level, 0, self.window.positions(level.shape), self._bordered(here, beyond))

    def _beyond(self):
        """What channels are where an image repeats its border, ndarray of shape (n_channels,): nan for colours."""
        flat = self.spec.compute(np.zeros((64, 64, 3), dtype=np.uint8))[8, 8]
        flat[self.spec.groups.get("LUV", slice(0))] = np.nan
        return flat

    def _bordered(self, channels, beyond):
        """Strips of channels with the overhang of windows around them."""
        down, across = (side // CELL for side in self.window.overhang)
        padded = np.pad(channels, ((down, down), (across, across), (0, 0)), mode="edge")
        known = ~np.isnan(beyond)
        for border in (
            padded[:down],
            padded[len(padded) - down :],
            padded[:, :across],
            padded[:, padded.shape[1] - across :],
        ):
            border[..., known] = beyond[known]
        return _turned(padded)

    def _computed(self, rgb, level, threads, n_jobs):
        pixels = self.padded(rgb, level, threads)
        n_rows, n_columns = self.window.positions(level.shape)
        if n_rows == 0 or n_columns == 0:
            return
        row_bytes = 4 * self.spec.n_channels * (pixels.shape[1] // CELL)
        overlap = self.window.crop[0] // CELL - 1
        height = max(1, int(BAND_BYTES // row_bytes) - overlap)
        for first in range(0, n_rows, height):
            n = min(height, n_rows - first)
            part = pixels[CELL * first : CELL * (first + n - 1) + self.window.crop[0]]
            yield Band(level, first, (n, n_columns), self._strips(part, n_jobs))

    def crop(self, rgb):
        """The band of a crop, RGB: one window and its margin."""
        return Band(None, 0, (1, 1), self._strips(rgb, None))

    def padded(self, rgb, level, threads):
        """A level's pixels with its border repeated outwards by the window's padding."""
        pixels = resize(rgb, level.shape, threads, self.smooth)
        if pixels.dtype != np.uint8:
            pixels = np.minimum(pixels, 1)  # weights add up to 1 but for rounding
        down, across = self.window.padding
        return np.pad(pixels, ((down, down), (across, across), (0, 0)), mode="edge")

    def _strips(self, rgb, n_jobs):
        """Strips of an image but for the margin, of which windows see no cell."""
        margin = self.window.margin // CELL
        channels = self.spec.compute(rgb, n_jobs=n_jobs)
        return _turned(channels[margin : len(channels) - margin, margin : channels.shape[1] - margin])

    def scores(self, band, trees: DetectorTrees, threads):
        """Scores of the windows of a band, float32 of its `n_positions`, -inf where the trees gave a window up."""
        scores = np.empty(band.n_positions, dtype=np.float32)
        n_channels, n_columns = band.strips.shape[1:]
        offsets = trees.offsets(n_channels, n_columns)
        inner, leaves = trees.whole or (np.empty((0, 7), dtype=np.int32), np.empty((0, 8), dtype=np.int32))
        whole = offsets[inner], trees.threshold[inner], trees.value[leaves]

        def scan(start, stop):
            scratch = np.empty(scores.shape[1] + SLACK, dtype=np.float32)
            kernels.scan(
                band.strips,
                trees.first,
                offsets,
                trees.threshold,
                trees.child,
                trees.value,
                trees.rejection,
                *whole,
                trees.bias,
                scratch,
                scores,
                start,
                stop,
            )

        threads.run(scan, len(scores), 50 * scores.size)
        return scores

    def places_in_crop(self, places):
        """Where the strips of a crop hold the values at places of its window, int64 of shape (n_features,).

        Parameters
        ----------
        places : ndarray of shape (n_features, 3)
            Row, column and channel.
        """
        row, column, channel = places.T.astype(np.int64)
        return (row * self.spec.n_channels + channel) * self.window.cells[1] + column


def _turned(channels):
    """Strips of channels (rows, columns, n_channels), with some memory behind them."""
    rows, columns, n_channels = channels.shape
    memory = np.empty(channels.size + SLACK, dtype=np.float32)
    memory[channels.size :] = 0
    strips = memory[: channels.size].reshape(rows, n_channels, columns)
    np.copyto(strips, np.moveaxis(channels, 2, 1))
    return strips
