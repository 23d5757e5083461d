"""One name for a set of channels, such as "M+O+LUV+spCov+spLBP" of the preset "robust", and what follows from it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paucens.features.channels import (
    CELL,
    GROUPS,
    acf_channels,
    acf_supports,
    luminance,
    luv,
    smooth_cells,
    smooth_planes,
)
from paucens.features.covariance import RULES, covariance_channels, covariance_names, covariance_supports
from paucens.features.lbp import lbp_channels, lbp_names, lbp_supports
from paucens.images import as_rgb
from paucens.parallel import Threads

POOLED = {"spLBP": "LBP", "spCov": "Cov"}  # and their namesakes without pooling
OUTWARDS = np.array([-1, 1])  # of a support that smoothing widens
ORDER = (*GROUPS, "spLBP", "LBP", "spCov", "Cov")  # of channels, whatever the order of a text


@dataclass(frozen=True)
class Preset:
    """What the presets differ in beside the rules of covariance and LBP (`ChannelSpec` says what they are).

    Attributes
    ----------
    first : float
        Radius of the triangle that smooths L, U and V before M and O.
    after : float
        Radius of the triangle that smooths L, U, V, M and O as channels.
    last : float
        Radius of the triangle that smooths the other channels.
    intensity : float
        Radius of the triangle that smooths the L of the statistics.
    table : bool
        Whether L comes from a table of 1025 entries.
    colours : bool
        Whether the statistics come, at each pixel, from the one of L, U and V of the largest gradient.
    """

    first: float = 1
    after: float = 1
    last: float = 0
    intensity: float = 0
    table: bool = False
    colours: bool = False


PRESETS = {
    "acf": Preset(),
    "paper": Preset(),
    "robust": Preset(intensity=1),
    "release": Preset(first=0, after=0.5, last=0.5, table=True, colours=True),
}


@dataclass(frozen=True)
class ChannelSpec:
    """A set of channels; make one with `ChannelSpec.parse`.

    Attributes
    ----------
    families : tuple of str
        Of "LUV", "M", "O", "spLBP" or "LBP", "spCov" or "Cov", in the order of their channels.
    preset : str
        "acf", "paper", "robust" or "release".
    names : list of str
        Of the channels.
    groups : dict of str to slice
        The channels of each family.
    n_channels : int
    shrink : int
        Side of a cell, pixels.
    supports : ndarray of shape (n_channels, 2), int
        The first pixel that a cell's value depends on and the one past the last, counted from the first pixel of the
        cell, the same down and across. A window that does not hold them sees its own border.

    Notes
    -----
    M, O, LUV are Dollar's (`channels`), spLBP and spCov the paper's (Sec. 3.1; `lbp`, `covariance`), LBP and Cov the
    same without pooling: the one patch in the middle of a cell. The text of the paper, the program of its authors and
    what works differ:

    - "paper": patches centred in the cell, statistics of L.
    - "robust": the same, with L smoothed and correlations drawn to 0 where there is little to correlate.
    - "release": what the authors' program computes: patches half as large and with a corner in the cell, statistics
      of colours, no negative correlations, all channels smoothed.
    - "acf": M, O and LUV alone, which "paper" and "robust" share.

    Examples
    --------
    >>> spec = ChannelSpec.parse("LUV+M+O+spCov", preset="robust")
    >>> spec.n_channels, spec.names[:5], spec.groups["spCov"]
    (143, ['L', 'U', 'V', 'M', 'O 0'], slice(10, 143, None))
    >>> spec.compute(np.zeros((64, 48, 3), dtype=np.uint8)).shape
    (16, 12, 143)
    """

    families: tuple
    preset: str

    @classmethod
    def parse(cls, text, preset="robust"):
        """Read a spec from names joined by "+"; their order does not matter.

        Parameters
        ----------
        text : str
        preset : {"robust", "paper", "release", "acf"}, default="robust"

        Returns
        -------
        spec : ChannelSpec

        Raises
        ------
        ValueError
            For a name that is unknown, twice there, or not of the preset.

        Examples
        --------
        >>> str(ChannelSpec.parse("spCov+LUV", preset="paper"))
        'LUV+spCov (paper)'
        """
        wanted = [name.strip() for name in text.split("+")]
        if preset not in PRESETS:
            raise ValueError(f"preset must be one of {', '.join(PRESETS)}; got {preset!r}.")
        allowed = tuple(GROUPS) if preset == "acf" else ORDER
        for name in wanted:
            if name not in allowed:
                raise ValueError(
                    f"Channels of the preset {preset!r} are {', '.join(allowed)}, joined by '+'; "
                    f"got {name!r} in {text!r}."
                )
        for pooled, plain in [(name, name) for name in ORDER] + list(POOLED.items()):
            if wanted.count(pooled) + wanted.count(plain) * (pooled != plain) > 1:
                both = pooled if pooled == plain else f"{pooled} and {plain}"
                raise ValueError(f"Each kind of channels can be there once; got {both} more than once in {text!r}.")
        return cls(tuple(name for name in ORDER if name in wanted), preset)

    def __str__(self):
        return f"{'+'.join(self.families)} ({self.preset})"

    shrink = CELL

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
        """How many channels there are."""
        return max(part.stop for part in self.groups.values())

    @property
    def supports(self):
        """Pixels that a cell's value depends on, for each channel."""
        return np.concatenate([self._supports(family) for family in self.families])

    def compute(self, image, *, n_jobs=None):
        """Compute the channels of an image.

        Parameters
        ----------
        image : array-like or PIL image
            RGB, uint8 of shape (height, width, 3) or float in [0, 1]; or grey, of shape (height, width).
        n_jobs : int, optional
            Threads, as in joblib. Results do not depend on it.

        Returns
        -------
        channels : ndarray of shape (height // 4, width // 4, n_channels), float32
            What the image has beyond whole cells, at its right and bottom, is left out.

        Raises
        ------
        ValueError
            For what is no image, see `paucens.images.as_rgb`.

        Notes
        -----
        Memory beyond `channels` is 8 bytes a pixel, with the preset "release" 13, and at most 2 MB a thread. Images
        other than arrays of RGB, uint8 or float32, of whole cells are copied first: 3 bytes a pixel more, 12 of floats.
        """
        rgb = as_rgb(image)
        rows, columns = rgb.shape[0] // CELL, rgb.shape[1] // CELL
        rgb = np.ascontiguousarray(rgb[: CELL * rows, : CELL * columns])
        out = np.empty((rows, columns, self.n_channels), dtype=np.float32)
        if out.size:
            with Threads(n_jobs) as threads:
                self._fill(rgb, threads, out)
        return out

    def _fill(self, rgb, threads, out):
        preset, places = PRESETS[self.preset], {family: out[..., part] for family, part in self.groups.items()}
        simple = [family for family in self.families if family in GROUPS]
        if simple:
            end = self.groups[simple[-1]].stop
            acf_channels(rgb, simple, preset.first, preset.after, preset.table, threads, out[..., :end])
        planes = self._planes(rgb, threads) if simple != list(self.families) else None
        for family in self.families[len(simple) :]:
            if family in ("spLBP", "LBP"):
                lbp_channels(planes[0], self.preset, family == "spLBP", threads, places[family])
            else:
                smoothed = smooth_planes(planes, preset.intensity, threads) if preset.intensity else planes
                covariance_channels(smoothed, RULES[self.preset], family == "spCov", threads, places[family])
            smooth_cells(places[family], preset.last, threads)

    def _planes(self, rgb, threads):
        """What LBP and the statistics are taken of: L, U and V for "release", else L; (n_planes, height, width)."""
        preset = PRESETS[self.preset]
        if preset.colours:
            return luv(rgb, threads, table=preset.table)
        return luminance(rgb, threads, table=preset.table)[None]

    def _names(self, family):
        if family in GROUPS:
            return GROUPS[family]
        if family in ("spLBP", "LBP"):
            return lbp_names(self.preset, family == "spLBP")
        return covariance_names(RULES[self.preset])

    def _supports(self, family):
        preset = PRESETS[self.preset]
        if family in GROUPS:
            return acf_supports(family, preset.first, preset.after)
        if family in ("spLBP", "LBP"):
            pixels = lbp_supports(self.preset, family == "spLBP")
        else:
            pixels = covariance_supports(RULES[self.preset], family == "spCov")
            pixels = pixels + OUTWARDS * int(np.ceil(preset.intensity))
        return pixels + OUTWARDS * CELL * int(np.ceil(preset.last))
