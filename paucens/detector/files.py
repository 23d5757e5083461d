"""A detector as a JSON header and arrays, for its file, and back."""

from dataclasses import asdict

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


def header_and_arrays(detector):
    """Return what the file of a detector holds: JSON values and named arrays."""
    first = detector.first_stage
    header = {
        "kind": KIND,
        "spec": {"families": detector.spec.text, "preset": detector.spec.preset.to_plain()},
        "window": asdict(detector.window),
        "scales": detector.scales,
        "smooth": detector.smooth,
        "threshold": detector.threshold,
        "lambdas": detector.lambdas,
        "notes": detector.notes,
        "first_stage": None if first is None else _settings_of(first),
    }
    arrays = detector.trees.arrays()
    if first is not None and first.trees is not None:
        arrays |= {FIRST_STAGE + name: array for name, array in first.trees.arrays().items()}
    if detector.proposals is not None:
        arrays |= {PROPOSALS + name: array for name, array in detector.proposals.arrays().items()}
    return header, arrays


def attributes_of_file(path):
    """Read the attributes of a detector from its file, a dict.

    Raises
    ------
    ValueError
        If the file is damaged, of another kind or version, or holds an index or a setting out of range.
    """
    header, arrays = persistence.load(path, KIND)
    first, proposals = (
        {name.removeprefix(part): arrays.pop(name) for name in list(arrays) if name.startswith(part)}
        for part in (FIRST_STAGE, PROPOSALS)
    )
    try:
        spec = ChannelSpec.parse(header["spec"]["families"], Preset.from_plain(header["spec"]["preset"]))
        sizes = {name: tuple(size) if isinstance(size, list) else size for name, size in header["window"].items()}
        attributes = {
            "search": Search(spec, Window(**sizes), header["scales"], header["smooth"], header["lambdas"]),
            "trees": DetectorTrees(**arrays),
            "threshold": check_number("threshold", header["threshold"]),
            "notes": header["notes"],
            "first_stage": _first_stage(header.get("first_stage"), first),
            "proposals": Bing.from_arrays(proposals) if proposals else None,
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is not a complete detector: {error}. Save the model again.") from error
    window, first = attributes["search"].window, attributes["first_stage"]
    check_trees(attributes["trees"], window, spec)
    if first is not None:
        check_first_stage(first, attributes["search"])
        if first.trees is not None:
            check_trees(first.trees, window, spec.restricted(first.families))
    return attributes


def _settings_of(first):
    within = None if first.within == np.inf else float(first.within)
    return {"families": "+".join(first.families), "within": within}


def _first_stage(settings, arrays):
    """Make the first stage of a file; files of version 0.1 have none."""
    if settings is None and not arrays:
        return None
    trees = DetectorTrees(**arrays) if arrays else None
    within = np.inf if settings["within"] is None else check_number("within", settings["within"])
    return FirstStage(tuple(settings["families"].split("+")), trees, within)


def check_trees(trees, window, spec):
    """Raise ValueError if the trees of a file are not whole or look outside the window."""
    n_trees, n_nodes = len(trees.rejection), len(trees.child)
    shapes = {"first": (n_trees + 1,), "place": (n_nodes, 3), "bias": (), "rejection": (n_trees,)}
    for name, array in trees.arrays().items():
        kind = "i4" if name in ("first", "place", "child") else "f4"
        if array.shape != shapes.get(name, (n_nodes,)) or array.dtype.str[1:] != kind:
            raise ValueError(f"{name} is {array.dtype} of shape {array.shape}. The file is damaged.")
        if kind == "f4" and np.isnan(array).any():
            raise ValueError(f"{name} holds nan. The file is damaged.")
    sizes = np.diff(trees.first)
    if n_trees == 0 or trees.first[0] != 0 or trees.first[-1] != n_nodes or (sizes < 1).any():
        raise ValueError("The trees do not follow each other. The file is damaged.")
    own = np.arange(n_nodes) - np.repeat(trees.first[:-1], sizes)
    inner = trees.child != 0
    if (trees.child[inner] <= own[inner]).any() or (trees.child[inner] + 1 >= np.repeat(sizes, sizes)[inner]).any():
        raise ValueError("A node is its own ancestor, or a child lies outside its tree. The file is damaged.")
    for column, (name, upper) in enumerate(
        zip(("row", "column", "channel"), (*window.cells, spec.n_channels), strict=True)
    ):
        persistence.check_index(name, trees.place[:, column], upper)
