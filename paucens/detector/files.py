"""A detector as a JSON header and arrays, for its file, and back."""

import numpy as np

from paucens import persistence
from paucens.detector.first_stage import FirstStage, check_first_stage
from paucens.detector.scan import Search
from paucens.detector.trees import DetectorTrees
from paucens.detector.window import Window
from paucens.features import ChannelSpec, Preset
from paucens.proposals import Bing
from paucens.validation import check_number

KIND = "PedestrianDetector"
FIRST_STAGE, PROPOSALS = "first_stage/", "proposals/"  # how names of their arrays start
FILTERS = "filters"


def header_and_arrays(detector):
    """Return what the file of a detector holds: JSON values and named arrays."""
    first = detector.first_stage
    header = {
        "kind": KIND,
        "spec": {"families": detector.spec.text, "preset": detector.spec.preset.to_plain()},
        "window": persistence.settings_of(detector.window),
        "scales": detector.scales,
        "smooth": detector.smooth,
        "threshold": persistence.typed(check_number("threshold", detector.threshold), "threshold"),
        "lambdas": detector.lambdas,
        "toolbox": detector.search.toolbox,
        "notes": detector.notes,
        "first_stage": None if first is None else _settings_of(first),
    }
    arrays = detector.trees.arrays()
    if detector.search.filters is not None:
        arrays[FILTERS] = detector.search.filters
    if first is not None and first.trees is not None:
        arrays |= {FIRST_STAGE + name: array for name, array in first.trees.arrays().items()}
    if detector.proposals is not None:
        arrays |= {PROPOSALS + name: array for name, array in detector.proposals.arrays().items()}
    return header, arrays


def attributes_of_file(header, arrays):
    """Return the attributes of a detector, a dict, from what its file holds.

    Raises
    ------
    ValueError, KeyError, TypeError, AttributeError
        If an array or a setting is missing, of the wrong type, not finite or out of range.
    """
    own = dict(arrays)
    first, proposals = (
        {name.removeprefix(part): own.pop(name) for name in list(own) if name.startswith(part)}
        for part in (FIRST_STAGE, PROPOSALS)
    )
    spec = ChannelSpec.parse(header["spec"]["families"], Preset.from_plain(header["spec"]["preset"]))
    sizes = {name: tuple(size) if isinstance(size, list) else size for name, size in header["window"].items()}
    order = {"toolbox": header.get("toolbox", False), "filters": own.pop(FILTERS, None)}  # not in files of version 0.1
    search = Search(spec, Window(**sizes), header["scales"], header["smooth"], header["lambdas"], **order)
    trees = DetectorTrees(**own)
    check_trees(trees, search.cells, search.n_channels)
    if not isinstance(header["notes"], dict):
        raise ValueError(f"notes must be a JSON object; got {header['notes']!r}. The file is damaged.")
    return {
        "search": search,
        "trees": trees,
        "threshold": check_number("threshold", persistence.untyped(header["threshold"])),
        "notes": header["notes"],
        "first_stage": _first_stage(header.get("first_stage"), first, search),
        "proposals": Bing.from_arrays(proposals) if proposals else None,
    }


def _settings_of(first):
    within = None if first.within == np.inf else first.within
    return {"families": "+".join(first.families), "within": within}


def _first_stage(settings, arrays, search):
    """Make the first stage of a file; files of version 0.1 have none."""
    if settings is None and not arrays:
        return None
    trees = DetectorTrees(**arrays) if arrays else None
    within = np.inf if settings["within"] is None else settings["within"]
    first = FirstStage(tuple(settings["families"].split("+")), trees, within)
    check_first_stage(first, search)
    if trees is not None:
        check_trees(trees, search.cells, search.spec.restricted(first.families).n_channels)
    return first


def check_trees(trees, cells, n_channels):
    """Raise ValueError if the trees of a file are not whole, not finite or look outside the window."""
    n_trees, n_nodes = len(trees.rejection), len(trees.child)
    shapes = {"first": (n_trees + 1,), "place": (n_nodes, 3), "bias": (), "rejection": (n_trees,)}
    for name, array in trees.arrays().items():
        kind = "i4" if name in ("first", "place", "child") else "f4"
        if array.shape != shapes.get(name, (n_nodes,)) or array.dtype.str[1:] != kind:
            raise ValueError(f"{name} is {array.dtype} of shape {array.shape}. The file is damaged.")
        if np.isnan(array).any() or (name != "rejection" and np.isinf(array).any()):
            raise ValueError(f"{name} holds nan or infinity. The file is damaged.")
    sizes = np.diff(trees.first)
    if n_trees == 0 or trees.first[0] != 0 or trees.first[-1] != n_nodes or (sizes < 1).any():
        raise ValueError("The trees do not follow each other. The file is damaged.")
    own = np.arange(n_nodes) - np.repeat(trees.first[:-1], sizes)
    inner = trees.child != 0
    if (trees.child[inner] <= own[inner]).any() or (trees.child[inner] + 1 >= np.repeat(sizes, sizes)[inner]).any():
        raise ValueError("A node is its own ancestor, or a child lies outside its tree. The file is damaged.")
    for column, (name, upper) in enumerate(zip(("row", "column", "channel"), (*cells, n_channels), strict=True)):
        persistence.check_index(name, trees.place[:, column], upper)
    largest = np.abs(trees.bias) + np.maximum.reduceat(np.abs(trees.value), trees.first[:-1]).sum(dtype=np.float64)
    if largest > np.finfo(np.float32).max:
        raise ValueError("The sum of the trees is infinite in single precision. The file is damaged.")
