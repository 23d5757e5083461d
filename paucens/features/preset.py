"""Presets: how the channels of a detector are computed, each one frozen object that can be varied."""

from dataclasses import dataclass, field

from paucens.features.channels import CELL
from paucens.persistence import LATER, settings_of
from paucens.validation import check_choice, check_flag, check_integer, check_number, check_positive

ACF = ("LUV", "M", "O")
FAMILIES = (*ACF, "spLBP", "LBP", "spCov", "Cov")  # in the order of their channels
FLOW = "Flow"  # in the end, and the same in all presets except for their smoothing after pooling
CELLS = (2, 4)  # sides that the kernels know, in pixels
PATCH_SIZES = (4, 8, 16, 32)  # that the covariance kernel knows, in pixels


def _set(instance, name, value):
    object.__setattr__(instance, name, value)  # the classes are frozen for everybody else


def _as_tuple(instance, name):
    value = getattr(instance, name)
    if not isinstance(value, list | tuple):
        raise TypeError(f"{name} must be a tuple; got {value!r}.")
    _set(instance, name, tuple(value))
    return tuple(value)


def _check_flags(instance, *names):
    for name in names:
        _set(instance, name, check_flag(name, getattr(instance, name)))


@dataclass(frozen=True)
class CovarianceRule:
    """Definition of the covariance channels of a preset.

    Attributes
    ----------
    patch_sizes : tuple of int, default=(8, 16, 32)
        Sides of the patches in pixels, ascending; each is 4, 8, 16 or 32.
    centred : bool, default=True
        Whether a cell pools the patches whose centre it contains. Otherwise, and always if patches are of 4 pixels, it
        pools those whose top-left pixel it contains.
    clip_negatives : bool, default=False
        Whether pooling starts from 0, so that negative correlations become 0.
    min_variance : float, default=1e-8
        A correlation is 0 if one of its variances is not larger than this.
    ridge, orientation_ridge : float, default=0.0
        Added to the variances under the square root, the second one for the two orientations. Variances of x and y
        get none.
    """

    patch_sizes: tuple = (8, 16, 32)
    centred: bool = True
    clip_negatives: bool = False
    min_variance: float = 1e-8
    ridge: float = 0.0
    orientation_ridge: float = 0.0

    def __post_init__(self):
        sizes = _as_tuple(self, "patch_sizes")
        if not sizes or any(size not in PATCH_SIZES for size in sizes) or list(sizes) != sorted(set(sizes)):
            known = ", ".join(map(str, PATCH_SIZES))
            raise ValueError(f"patch_sizes must be ascending sizes out of {known}; got {self.patch_sizes!r}.")
        _check_flags(self, "centred", "clip_negatives")
        for name in ("ridge", "orientation_ridge"):
            _set(self, name, check_positive(name, getattr(self, name), zero=True))
        _set(self, "min_variance", check_number("min_variance", self.min_variance))
        if self.min_variance < 0 and 0 in (self.ridge, self.orientation_ridge):
            raise ValueError(
                f"min_variance is {self.min_variance:g}, so variances of 0 count; both ridges must be larger than 0."
            )


@dataclass(frozen=True, repr=False)
class Preset:
    """Definition of all channels; `ChannelSpec` says what the four standard presets are for.

    A variation is a value made by `dataclasses.replace`. Give it a name of its own, which results are shown under.

    Attributes
    ----------
    name : str
    smooth_luv : float in [0, 1], default=1.0
        Radius of the triangle filter that smooths L, U and V before M and O are computed from them.
    smooth_channels : float in [0, 1], default=1.0
        Radius of the triangle filter that smooths the channels of L, U, V, M and O.
    smooth_pooled : float in [0, 1], default=0.0
        Radius of the triangle filter that smooths the channels of LBP, covariance and flow.
    smooth_intensity : float in [0, 1], default=0.0
        Radius of the triangle filter that smooths the planes before the statistics are computed from them.
    lightness_table : bool, default=False
        Whether L comes from a table of 1025 entries instead of the formula.
    colours : bool, default=False
        Whether the statistics of a pixel come from the plane with the largest gradient among L, U and V. Otherwise they
        come from L.
    covariance : CovarianceRule
    lbp : {"patches", "histograms"}, default="patches"
        Shares of labels in patches of 4, 8 and 16 pixels, or interpolated histograms of cells (`paucens.features.lbp`).
    families : tuple of str
        The families of channels that a spec of this preset may have; besides Flow, which any may have whose cells
        are of 4 pixels.
    cell : {2, 4}, default=4
        Side of a cell in pixels; 2 for L, U, V, M and O only.
    blend_cells : bool, default=False
        Whether the orientation of a pixel is shared among the nearest two cells down and across, instead of counted in
        its own ("softBin" 1 and 0 of Dollar's toolbox).

    Examples
    --------
    >>> from dataclasses import replace
    >>> robust = PRESETS["robust"]
    >>> small = replace(robust.covariance, patch_sizes=(4, 8, 16))
    >>> print(replace(robust, name="robust, small patches", covariance=small))
    robust, small patches
    """

    name: str
    smooth_luv: float = 1.0
    smooth_channels: float = 1.0
    smooth_pooled: float = 0.0
    smooth_intensity: float = 0.0
    lightness_table: bool = False
    colours: bool = False
    covariance: CovarianceRule = CovarianceRule()
    lbp: str = "patches"
    families: tuple = FAMILIES
    cell: int = field(default=CELL, metadata=LATER)
    blend_cells: bool = field(default=False, metadata=LATER)

    def __post_init__(self):
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"name of a preset must be a text that is not empty; got {self.name!r}.")
        for name in ("smooth_luv", "smooth_channels", "smooth_pooled", "smooth_intensity"):
            _set(self, name, check_positive(name, getattr(self, name), zero=True, most=1))
        _check_flags(self, "lightness_table", "colours", "blend_cells")
        if not isinstance(self.covariance, CovarianceRule):
            raise TypeError(f"covariance must be a CovarianceRule; got {self.covariance!r}.")
        check_choice("lbp", self.lbp, ("patches", "histograms"))
        if not set(_as_tuple(self, "families")) <= set(FAMILIES):
            raise ValueError(f"families must be some of {', '.join(FAMILIES)}; got {self.families!r}.")
        _set(self, "cell", check_integer("cell", self.cell, *CELLS))
        check_choice("cell", self.cell, CELLS)
        if self.cell != CELL and not set(self.families) <= set(ACF):
            raise ValueError(
                f"Cells of {self.cell} pixels are for {', '.join(ACF)} only; got families={self.families!r}. Leave out "
                f"the others, or take cells of {CELL} pixels."
            )

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"Preset({', '.join(f'{name}={value!r}' for name, value in settings_of(self).items())})"

    @property
    def known(self):
        """All families that a spec of this preset may have."""
        return (*self.families, FLOW) if self.cell == CELL else self.families

    def to_plain(self):
        """Return JSON values: the name of a standard preset, otherwise a dict of all fields.

        Examples
        --------
        >>> PRESETS["paper"].to_plain()
        'paper'
        """
        return self.name if PRESETS.get(self.name) == self else settings_of(self, plain=True)

    @classmethod
    def from_plain(cls, plain):
        """Return the preset that `to_plain` described, or the standard preset of a name.

        Parameters
        ----------
        plain : dict or str
            The values of its fields, or the name of a preset of the package.

        Returns
        -------
        preset : Preset

        Raises
        ------
        ValueError, TypeError
            If there is no standard preset of that name, or a field is missing, unknown or out of range.
        """
        if isinstance(plain, str):
            if plain not in PRESETS:
                raise ValueError(f"preset must be one of {', '.join(PRESETS)}, or a Preset; got {plain!r}.")
            return PRESETS[plain]
        return cls(**(plain | {"covariance": CovarianceRule(**plain["covariance"])}))


PRESETS = {
    preset.name: preset
    for preset in (
        Preset("acf", families=ACF),
        Preset("paper"),
        Preset(
            "robust",
            smooth_intensity=1.0,
            covariance=CovarianceRule(min_variance=-1.0, ridge=2e-6, orientation_ridge=0.02),
        ),
        Preset(
            "release",
            smooth_luv=0.0,
            smooth_channels=0.5,
            smooth_pooled=0.5,
            lightness_table=True,
            colours=True,
            covariance=CovarianceRule(patch_sizes=(4, 8, 16), centred=False, clip_negatives=True),
            lbp="histograms",
        ),
    )
}
