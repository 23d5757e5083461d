"""One name for a set of channels, such as "M+O+LUV+spCov+spLBP" of the preset "robust", and what follows from it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paucens.features.channels import GROUPS, acf_channels, acf_supports, luminance, luv, smooth_cells, smooth_planes
from paucens.features.covariance import covariance_channels, covariance_names, covariance_supports
from paucens.features.flow import flow_channels, flow_names, flow_supports
from paucens.features.lbp import lbp_channels, lbp_names, lbp_supports
from paucens.features.motion import flow_to
from paucens.features.preset import FAMILIES, FLOW, Preset
from paucens.images import as_rgb
from paucens.parallel import Threads
from paucens.validation import check_jobs

UNPOOLED = {"spLBP": "LBP", "spCov": "Cov"}  # the same channels without pooling
ORDER = (*FAMILIES, FLOW)
OUTWARDS = np.array([-1, 1])  # how smoothing widens a support


@dataclass(frozen=True)
class ChannelSpec:
    """A set of channels; make one with `ChannelSpec.parse`.

    Attributes
    ----------
    families : tuple of str
        Some of "LUV", "M", "O", "spLBP" or "LBP", "spCov" or "Cov", "Flow", in the order of their channels.
    preset : Preset
        How they are computed.
    names : list of str
        The name of each channel.
    groups : dict of str to slice
        The channels of each family.
    n_channels : int
        Number of channels.
    shrink : int
        Side of a cell in pixels.
    supports : ndarray of shape (n_channels, 2), int
        The first pixel that the value of a cell depends on and the one past the last, counted from the first pixel of
        the cell, the same down and across. A window that does not contain them sees its own border.

    Notes
    -----
    M, O and LUV are Dollar's channels (`paucens.features.channels`); spLBP and spCov are the paper's (Sec. 3.1;
    `paucens.features.lbp`, `paucens.features.covariance`). LBP and Cov are the same without pooling: they describe the
    one patch in the middle of a cell. Flow describes motion (`paucens.features.flow`), so it needs the image before.
    The text of the paper, the program of its authors and the best variant differ:

    - "paper": patches centred in the cell, statistics of L.
    - "robust": the same, with L smoothed and correlations drawn to 0 if there is little to correlate.
    - "release": as the authors' program: patches half as large and with a corner in the cell, statistics
      of colours, no negative correlations, all channels smoothed.
    - "acf": M, O and LUV alone, which "paper" and "robust" share.

    `paucens.features.Preset` lists everything in which presets differ.

    Examples
    --------
    >>> spec = ChannelSpec.parse("LUV+M+O+spCov", preset="robust")
    >>> spec.n_channels, spec.names[:5], spec.groups["spCov"]
    (143, ['L', 'U', 'V', 'M', 'O 0'], slice(10, 143, None))
    >>> spec.compute(np.zeros((64, 48, 3), dtype=np.uint8)).shape
    (16, 12, 143)

    The flow that another program has found needs no OpenCV:

    >>> image, flow = np.zeros((64, 48, 3), dtype=np.uint8), np.zeros((64, 48, 2), dtype=np.float32)
    >>> ChannelSpec.parse("M+Flow").compute(image, flow).shape
    (16, 12, 19)
    """

    families: tuple
    preset: Preset

    @classmethod
    def parse(cls, text, preset="robust"):
        """Read a spec from names of families joined by "+", in any order.

        Parameters
        ----------
        text : str
        preset : {"robust", "paper", "release", "acf"} or Preset, default="robust"

        Returns
        -------
        spec : ChannelSpec

        Raises
        ------
        ValueError, TypeError
            If a name is no text, is unknown, occurs twice, or does not belong to the preset.

        Examples
        --------
        >>> str(ChannelSpec.parse("spCov+LUV", preset="paper"))
        'LUV+spCov (paper)'
        """
        if not isinstance(text, str) or not isinstance(preset, str | Preset):
            raise TypeError(
                "Channels are named by a text such as 'M+O+LUV', and a preset by a text or a Preset; got "
                f"{text!r} and {preset!r}."
            )
        wanted = [name.strip() for name in text.split("+")]
        if not isinstance(preset, Preset):
            preset = Preset.from_plain(preset)
        for name in wanted:
            if name not in preset.known:
                raise ValueError(
                    f"Channels of the preset {preset.name!r} are {', '.join(preset.known)}, joined by '+'; "
                    f"got {name!r} in {text!r}."
                )
        for name in ORDER:
            same_kind = [name, UNPOOLED[name]] if name in UNPOOLED else [name]
            if sum(map(wanted.count, same_kind)) > 1:
                raise ValueError(
                    f"Each kind of channels may occur once; got {' and '.join(filter(wanted.count, same_kind))} more "
                    f"than once in {text!r}."
                )
        return cls(tuple(name for name in ORDER if name in wanted), preset)

    def __str__(self):
        return f"{self.text} ({self.preset})"

    @property
    def shrink(self):
        """Side of a cell in pixels."""
        return self.preset.cell

    @property
    def text(self):
        """The families joined by "+", as `parse` reads them."""
        return "+".join(self.families)

    @property
    def names(self):
        """Names of the channels, for plots and importances."""
        return [name for family in self.families for name in self._names(family)]

    @cached_property
    def groups(self):
        """The channels of each family."""
        ends = np.cumsum([0, *(len(self._names(family)) for family in self.families)]).tolist()
        return {family: slice(*ends[k : k + 2]) for k, family in enumerate(self.families)}

    @property
    def n_channels(self):
        """Number of channels."""
        return max(part.stop for part in self.groups.values())

    @property
    def supports(self):
        """Pixels that the value of a cell depends on, for each channel."""
        return np.concatenate([self._supports(family) for family in self.families])

    @property
    def has_flow(self):
        """Whether the channels describe motion, so that they need the image before."""
        return FLOW in self.families

    def restricted(self, families):
        """Return a spec of some of these families, in the same preset.

        Parameters
        ----------
        families : sequence of str
            Those to keep; others that it names are not in the spec.

        Returns
        -------
        spec : ChannelSpec
        """
        return ChannelSpec(tuple(family for family in self.families if family in families), self.preset)

    def compute(self, image, previous=None, *, n_jobs=None):
        """Compute the channels of an image.

        Parameters
        ----------
        image : array-like or PIL image
            RGB, uint8 of shape (height, width, 3) or float in [0, 1]; or grey, of shape (height, width).
        previous : array-like or PIL image, or ndarray of shape (height, width, 2), optional
            The image before, or the flow to it in pixels across and down, float. Needed for Flow, which takes the flow
            of `dense_flow(image, previous)`; other channels do not look at it.
        n_jobs : int, optional
            Number of threads, as in joblib. Results do not depend on it.

        Returns
        -------
        channels : ndarray of shape (height // shrink, width // shrink, n_channels), float32
            Pixels beyond whole cells, at the right and at the bottom, are left out. In memory, the values of a channel
            in a row lie side by side: this is a view of (rows, n_channels, columns).

        Raises
        ------
        ValueError
            If the argument is not an image, see `paucens.images.as_rgb`; or `previous` is missing or of another size.
        ImportError
            If flow is to be computed, and OpenCV is not installed.

        Notes
        -----
        Memory beyond `channels` is 8 bytes per pixel, with the preset "release" 13, and at most 2 MB per thread. Images
        other than arrays of RGB, uint8 or float32, of whole cells are copied first: 3 bytes per pixel more, 12 for
        floats. Flow takes 8 bytes per pixel more, and what OpenCV needs to find it.
        """
        with Threads(check_jobs(n_jobs)) as threads:
            rgb = as_rgb(image)
            return self.compute_checked(rgb, threads, flow_to(previous, rgb) if self.has_flow else None)

    def compute_checked(self, rgb, threads, flow=None):
        """Compute the channels of what `paucens.images.as_rgb` returned and perhaps of a flow, see `compute`."""
        strips = np.empty((rgb.shape[0] // self.shrink, self.n_channels, rgb.shape[1] // self.shrink), dtype=np.float32)
        self.fill(rgb, self.families, threads, strips, flow)
        return np.moveaxis(strips, 1, 2)

    def fill(self, rgb, families, threads, strips, flow=None):
        """Compute the channels of some families, and leave the others as they are.

        Parameters
        ----------
        rgb : ndarray of shape (height, width, 3)
            RGB. Pixels beyond whole cells are left out.
        families : sequence of str
            Some families of the spec, in its order.
        threads : paucens.parallel.Threads
        strips : ndarray of shape (height // shrink, n_channels, width // shrink), float32
            Written at the channels of the families. Columns are contiguous.
        flow : ndarray of shape (height, width, 2), optional
            Displacement across and down, in pixels; needed for Flow.
        """
        if not strips.size:
            return
        rgb = np.ascontiguousarray(rgb[: self.shrink * strips.shape[0], : self.shrink * strips.shape[2]])
        preset, places = self.preset, {family: strips[:, self.groups[family]] for family in families}
        simple = [family for family in families if family in GROUPS]
        if simple:
            self._fill_simple(rgb, simple, threads, strips)
        others = families[len(simple) :]
        planes = self._planes(rgb, threads) if set(others) - {FLOW} else None
        for family in others:
            if family == FLOW:
                flow_channels(flow, threads, np.moveaxis(places[family], 1, 2))
            elif family in ("spLBP", "LBP"):
                lbp_channels(planes[0], preset.lbp, family == "spLBP", threads, places[family])
            else:
                smoothed = (
                    smooth_planes(planes, preset.smooth_intensity, threads) if preset.smooth_intensity else planes
                )
                covariance_channels(smoothed, preset.covariance, family == "spCov", threads, places[family])
            smooth_cells(places[family], preset.smooth_pooled, threads)

    def _fill_simple(self, rgb, families, threads, strips):
        """Compute L, U, V, M and O as far as wanted, all in one pass."""
        preset, ends = self.preset, np.cumsum([0, *(len(GROUPS[family]) for family in families)])
        first = self.groups[families[0]].start
        is_block = self.groups[families[-1]].stop - first == ends[-1]
        (rows, _, columns), dtype = strips.shape, strips.dtype
        block = strips[:, first : first + ends[-1]] if is_block else np.empty((rows, ends[-1], columns), dtype)
        acf_channels(
            rgb,
            families,
            preset.smooth_luv,
            preset.smooth_channels,
            preset.lightness_table,
            threads,
            block,
            cell=preset.cell,
            blended=preset.blend_cells,
        )
        if not is_block:
            for k, family in enumerate(families):
                strips[:, self.groups[family]] = block[:, ends[k] : ends[k + 1]]

    def _planes(self, rgb, threads):
        """Compute what LBP and the statistics describe: L, U and V, or L alone; (n_planes, height, width)."""
        if self.preset.colours:
            return luv(rgb, threads, table=self.preset.lightness_table)
        return luminance(rgb, threads, table=self.preset.lightness_table)[None]

    def _names(self, family):
        if family in GROUPS:
            return GROUPS[family]
        if family in ("spLBP", "LBP"):
            return lbp_names(self.preset.lbp, family == "spLBP")
        if family == FLOW:
            return flow_names()
        return covariance_names(self.preset.covariance)

    def _supports(self, family):
        preset = self.preset
        if family in GROUPS:
            return acf_supports(
                family, preset.smooth_luv, preset.smooth_channels, cell=preset.cell, blended=preset.blend_cells
            )
        if family in ("spLBP", "LBP"):
            pixels = lbp_supports(preset.lbp, family == "spLBP")
        elif family == FLOW:
            pixels = flow_supports()
        else:
            pixels = covariance_supports(preset.covariance, family == "spCov")
            pixels = pixels + OUTWARDS * int(np.ceil(preset.smooth_intensity))
        return pixels + OUTWARDS * self.shrink * int(np.ceil(preset.smooth_pooled))
