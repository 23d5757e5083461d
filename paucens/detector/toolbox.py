"""Detectors of Dollar's toolbox (ACF, LDCF), read from the `.mat` files that it ships and trains."""

from pathlib import Path

import numpy as np

from paucens.detector.files import check_trees
from paucens.detector.scan import Search
from paucens.detector.suppression import DENOMINATOR, OVERLAP
from paucens.detector.trees import DetectorTrees
from paucens.detector.window import Window
from paucens.features import ChannelSpec, Preset
from paucens.features.preset import ACF
from paucens.matlab import read_variable

REASONS = (ValueError, KeyError, TypeError, OverflowError)  # that a file which was parsed is no detector
CHANNELS, PYRAMID = "pPyramid.pChns", "pPyramid"
REQUIRED = {  # settings of the toolbox that are built in here
    f"{CHANNELS}.pColor.enabled": 1,
    f"{CHANNELS}.pColor.colorSpace": "luv",
    f"{CHANNELS}.pGradMag.enabled": 1,
    f"{CHANNELS}.pGradMag.colorChn": 0,
    f"{CHANNELS}.pGradMag.normRad": 5,
    f"{CHANNELS}.pGradMag.normConst": 0.005,
    f"{CHANNELS}.pGradMag.full": 0,
    f"{CHANNELS}.pGradHist.enabled": 1,
    f"{CHANNELS}.pGradHist.binSize": None,
    f"{CHANNELS}.pGradHist.nOrients": 6,
    f"{CHANNELS}.pGradHist.useHog": 0,
    f"{CHANNELS}.pCustom": None,
    f"{PYRAMID}.nOctUp": 0,
    "pNms.type": "maxg",
    "pNms.overlap": OVERLAP,
    "pNms.ovrDnm": DENOMINATOR,
}


def attributes_of_toolbox(path):
    """Return the attributes of a detector, a dict, from a `.mat` file of the toolbox, gzipped or not.

    Raises
    ------
    ValueError
        If the file is damaged or of another kind, or has a setting that is not supported. The message names the file.
    OSError
        If it does not exist or cannot be read.
    """
    raw = Path(path).read_bytes()
    try:
        return _attributes(read_variable(raw, "detector").record, Path(path).name)
    except REASONS as error:
        reason = f"the field {error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise ValueError(
            f"{path} is not a detector of Dollar's toolbox that can be run here: {reason}. Give a complete .mat file "
            "with a variable 'detector', of ACF or LDCF."
        ) from error


def _attributes(detector, name):
    options = Options(detector["opts"])
    for setting, value in REQUIRED.items():
        options.require(setting, value)
    search = _search(options)
    return {
        "search": search,
        "trees": _trees(detector["clf"].record, search, options.number("cascThr")),
        "threshold": options.number("cascThr"),
        "notes": {"source": f"{name} of Piotr Dollar's toolbox, simplified BSD licence"},
    }


class Options:
    """The nested settings of a detector, by names such as "pPyramid.pad"."""

    def __init__(self, options):
        self._options = options

    def __getitem__(self, name):
        found = self._options
        for part in name.split("."):
            found = found.record[part]
        return found

    @property
    def names(self):
        """Names of the settings that are not inside others."""
        return self._options.record.keys()

    def number(self, name):
        """Return a single number."""
        numbers = self.numbers(name, 1)
        return float(numbers[0])

    def numbers(self, name, n):
        """Return n finite numbers."""
        numbers = self[name].numbers
        if len(numbers) != n or not np.isfinite(numbers).all():
            raise ValueError(f"{name} must be {n} finite numbers; got {numbers}")
        return numbers

    def whole(self, name, n=1):
        """Return n whole numbers from 0 on, a tuple."""
        numbers = self.numbers(name, n)
        if not ((numbers >= 0) & (numbers % 1 == 0) & (numbers < 2**31)).all():
            raise ValueError(f"{name} must be whole numbers; got {numbers}")
        return tuple(map(int, numbers))

    def require(self, name, value):
        """Raise ValueError unless a setting has a value; None means that it is empty."""
        if value is None:
            found = None if self[name].is_empty else "something"
        else:
            found = self[name].text if isinstance(value, str) else self.number(name)
        if found != value:
            raise ValueError(f"{name} must be {'empty' if value is None else value}; got {found}")


def _search(options):
    """Return the search: the window, the channels of the pyramid and perhaps filters."""
    (cell,), (stride,) = options.whole(f"{CHANNELS}.shrink"), options.whole("stride")
    (per_octave,), (softness,) = options.whole(f"{PYRAMID}.nPerOct"), options.whole(f"{CHANNELS}.pGradHist.softBin")
    options.require(f"{PYRAMID}.nApprox", per_octave - 1)
    if softness > 1:
        raise ValueError(f"softBin must be 0 or 1; got {softness}")
    preset = Preset(
        "toolbox",
        smooth_luv=options.number(f"{CHANNELS}.pColor.smooth"),
        smooth_channels=options.number(f"{PYRAMID}.smooth"),
        lightness_table=True,
        families=ACF,
        cell=cell,
        blend_cells=softness == 1,
    )
    shape, target = options.whole("modelDsPad", 2), tuple(options.numbers("modelDs", 2).tolist())
    window = Window(shape, target, margin=0, cell=cell, stride=stride)
    for name, value in (("pad", window.overhang), ("minDs", target)):
        if tuple(options.numbers(f"{PYRAMID}.{name}", 2)) != value:
            raise ValueError(f"{name} of the pyramid must be {value}; got {options[f'{PYRAMID}.{name}'].numbers}")
    lambdas = dict(zip(ACF, options.numbers(f"{PYRAMID}.lambdas", len(ACF)).tolist(), strict=True))
    spec = ChannelSpec.parse("+".join(ACF), preset=preset)
    return Search(spec, window, per_octave, lambdas=lambdas, toolbox=True, filters=_filters(options))


def _filters(options):
    """Return filters as `Search` has them; those of the file are (height, width, channels, n). None if there are none.

    Files from before LDCF have no such field.
    """
    if "filters" not in options.names or options["filters"].is_empty:
        return None
    filters = options["filters"].array
    return np.moveaxis(filters[..., None] if filters.ndim == 3 else filters, (3, 2), (0, 1))


def _trees(classifier, search, rejection):
    """Return the trees: one column each in the file, in whose nodes values below the threshold go left."""
    feature, child = (_table(classifier, name, whole=True) for name in ("fids", "child"))
    thresholds, values = (_table(classifier, name) for name in ("thrs", "hs"))
    if not feature.shape == child.shape == thresholds.shape == values.shape:
        raise ValueError("fids, child, thrs and hs must have one shape")
    (rows, columns), inner = search.cells, child > 0
    channel, place = np.divmod(feature, rows * columns)
    column, row = np.divmod(place, rows)
    places = np.stack([row, column, channel], axis=-1) * inner[..., None]
    n_trees, n_nodes = child.shape
    trees = DetectorTrees(
        first=np.arange(n_trees + 1, dtype=np.int32) * np.int32(n_nodes),
        place=places.reshape(-1, 3).astype(np.int32),
        threshold=np.nextafter(thresholds.ravel(), np.float32(-np.inf)),
        child=np.where(inner, child - 1, 0).ravel().astype(np.int32),  # of the file: the right one, from 0
        value=values.ravel(),
        rejection=np.full(n_trees, rejection, dtype=np.float32),
        bias=np.float32(0),
    )
    check_trees(trees, search.cells, search.n_channels)
    return trees


def _table(classifier, name, whole=False):
    """Return numbers of all nodes, a row per tree: int64 if `whole`, otherwise float32."""
    table = classifier[name].array.T
    if table.ndim != 2 or not np.isfinite(table).all():
        raise ValueError(f"{name} must be a table of finite numbers; got the shape {table.shape}")
    if not whole:
        return np.ascontiguousarray(table, dtype=np.float32)
    if not ((table >= 0) & (table % 1 == 0) & (table < 2**31)).all():
        raise ValueError(f"{name} must be whole numbers")
    return np.ascontiguousarray(table, dtype=np.int64)
