"""What the scripts share: arguments, data, randomness, provenance, and what is written when.

A script is a `Script`: it plans tasks for one or more CSV files and turns the finished files into a table and
a picture. `main` runs it from the command line.
"""

import argparse
import platform
import sys
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import paucens
from paucens.datasets import REGISTRY, content_hash
from paucens.plotting import house_style, save_figure
from reproduce._cluster import BACKENDS, check_backend, cluster
from reproduce._store import HASH_DIGITS, ROOT, Sheet, complete, read_frame, shown, write_atomically

SCALES = ("smoke", "small", "paper")
LIBRARIES = ("numpy", "scipy", "scikit-learn")


class MissingData(FileNotFoundError):
    """None of the data sets that a script is about is on the disk; the message says how to get them."""


@dataclass(frozen=True)
class Data:
    """A data set with what a CSV says of it."""

    name: str  # its key in the registry
    title: str  # the name to print; a stand-in says that it is one
    X: np.ndarray  # features, a row a sample; or the paths of images
    y: np.ndarray
    groups: np.ndarray | None  # of samples that must not be parted
    stands_in: bool
    content_hash: str


@dataclass(frozen=True)
class Plan:
    """All that a script computes.

    Attributes
    ----------
    sheets : list of Sheet
    protocol : dataclass
        What the scale stands for; goes into the provenance.
    data : list of Data
        Data sets read from files; empty where all is drawn from the seed.
    """

    sheets: list[Sheet]
    protocol: Any
    data: list[Data] = field(default_factory=list)


@dataclass(frozen=True)
class Script:
    """What `main` needs of a script.

    Attributes
    ----------
    name : str
        Of the script, its table and its picture.
    about : str
        Its docstring, shown by --help.
    sheets : tuple of str
        Names of its CSV files, for --redraw.
    plan : callable
        Arguments -> Plan.
    table, picture : callable
        dict of sheet name to DataFrame -> Markdown, and -> matplotlib Figure.
    """

    name: str
    about: str
    sheets: tuple[str, ...]
    plan: Callable
    table: Callable
    picture: Callable


# ---------------------------------------------------------------------------------- the command line


def parse_arguments(about, argv=None):
    """Read the arguments that all scripts take.

    Examples
    --------
    >>> parse_arguments("", ["--scale", "smoke", "--seed", "3"]).seed
    3
    """
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    add = parser.add_argument
    add("--scale", choices=SCALES, default="small", help="smoke: seconds; small: a minute; paper: in full")
    add("--seed", type=_natural, default=0, help="source of all random numbers (default 0)")
    add("--jobs", type=int, default=2, help="processes; results do not depend on it (default 2)")
    add(
        "--backend",
        choices=BACKENDS,
        default="loky",
        help="loky: --jobs processes of this machine; dask: the workers of the cluster at --scheduler",
    )
    add("--scheduler", metavar="ADDRESS", help="of the Dask cluster, such as tcp://host:8786")
    add("--data", type=Path, metavar="DIR", help="folder of data sets, searched first (default data/)")
    add(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder to write to (default build/figures/SCALE; figures/ for --scale paper)",
    )
    add("--redraw", action="store_true", help="only make table and picture from the CSV that is there")
    arguments = parser.parse_args(argv)
    check_backend(parser, arguments)
    return arguments


def _natural(text):
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"a seed is 0 or more; got {value}")
    return value


def main(script, argv=None):
    """Run a script from its arguments and return the exit code; 130 after Ctrl-C."""
    arguments = parse_arguments(script.about, argv)
    try:
        paths = perform(script, arguments)
    except KeyboardInterrupt:
        print("Interrupted. The same command goes on from what is saved.")
        return 130
    except (FileNotFoundError, ConnectionError) as error:
        print(error, file=sys.stderr)
        return 1
    for path in paths:
        print(f"wrote {shown(path)}")
    return 0


def perform(script, arguments):
    """Compute what is missing, write table and picture, print the table.

    Returns
    -------
    paths : list of Path
        The files of the script, CSV first.
    """
    if arguments.redraw:
        folder = output_folder(arguments)
    else:
        plan = script.plan(arguments)
        folder = output_folder(arguments, any(data.stands_in for data in plan.data))
        with cluster(arguments):
            for sheet in plan.sheets:
                complete(sheet, folder, provenance(script, arguments, plan), arguments.jobs)
    sheets = [folder / f"{name}.csv" for name in script.sheets]
    frames = {path.stem: read_frame(path) for path in sheets}
    table, text = folder / f"{script.name}.md", script.table(frames)
    write_atomically(table, text)
    with house_style():
        pictures = save_figure(script.picture(frames), folder / script.name)
    print(f"\n{text}")
    return [*sheets, *(path.with_suffix(".json") for path in sheets), table, *pictures]


def output_folder(arguments, stands_in=False):
    """Say where files go. `figures/` is for real data: at paper scale a stand-in goes under build/."""
    if arguments.out is not None:
        return arguments.out
    is_final = arguments.scale == "paper" and not stands_in
    return ROOT / "figures" if is_final else ROOT / "build" / "figures" / arguments.scale


def provenance(script, arguments, plan):
    """Say where numbers come from: no path, host or date, nothing that differs between equal runs."""
    versions = {"paucens": paucens.__version__, "python": platform.python_version()}
    return {
        "script": f"reproduce/{script.name}.py",
        "arguments": {"scale": arguments.scale, "seed": arguments.seed},
        "protocol": asdict(plan.protocol),
        "data": {data.title: {"content_hash": data.content_hash, "shape": list(data.X.shape)} for data in plan.data},
        "versions": versions | {name: version(name) for name in LIBRARIES},
    }


# ---------------------------------------------------------------------------------- data and randomness


def load_data(name, folder=None):
    """Load a data set of the registry, or its stand-in where it is not on the disk.

    Parameters
    ----------
    name : str
        Key of `paucens.datasets.REGISTRY`.
    folder : path-like, optional
        Searched first; `data/` of the project where None. The loaders know more places.

    Raises
    ------
    FileNotFoundError
        If the set is not there and nothing stands in for it.
    """
    try:
        return _as_data(REGISTRY[name], REGISTRY[name].loader(folder or ROOT / "data", return_X_y=False))
    except FileNotFoundError as error:
        stand_ins = [about for about in REGISTRY.values() if about.stand_in_for == name]
        if not stand_ins:
            raise
        about = stand_ins[0]
        print(f"{error}\nUntil then this uses {about.title}; its numbers do not compare with the paper's.\n")
        return _as_data(about, about.loader(return_X_y=False))


def _as_data(about, bunch):
    groups = bunch.get("groups")
    return Data(about.name, about.title, bunch.data, bunch.target, groups, bool(about.stand_in_for), bunch.content_hash)


def load_available(names, folder=None):
    """Load those of several data sets that are on the disk, stand-ins included, and say how to get the others.

    Raises
    ------
    MissingData
        If none is there.
    """
    found, misses = [], []
    for name in names:
        try:
            found.append(load_data(name, folder))
        except FileNotFoundError as error:
            misses.append(error)
    if not found:
        raise MissingData("\n".join(map(str, misses)))
    for error in misses:
        print(f"{error}\nUntil then it is left out.\n")
    return found


def random_streams(seed, repeat, n_streams):
    """Make independent `RandomState`s for a repeat; their streams are the same in all versions of NumPy.

    Examples
    --------
    >>> first, second = random_streams(0, 3, 2)
    >>> first.randint(100, size=3).tolist(), second.randint(100, size=3).tolist()
    ([77, 98, 29], [8, 47, 18])
    """
    children = np.random.SeedSequence(seed, spawn_key=(repeat,)).spawn(n_streams)
    return [np.random.RandomState(child.generate_state(4)) for child in children]


def short_hash(*arrays):
    """Fingerprint arrays for a CSV."""
    return content_hash(*arrays)[:HASH_DIGITS]


@contextmanager
def candidates_may_stall():
    """Silence the warning of a fit whose weights stay 0, where such a fit is one candidate of many."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All weights are 0|coef_ is 0", UserWarning)
        yield
