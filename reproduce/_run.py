"""What the scripts share: arguments, tasks, a CSV that survives interruption, provenance, what is written.

A script is a `Script`: it plans tasks for one or more CSV files and turns the finished files into a table and a
picture. `main` runs it from the command line. A task is the unit of work, of saving and of resuming; its rows
are appended to the CSV as one block when it ends. At the end the file is rewritten in the order of the plan, so
that neither the number of jobs nor an interruption shows.
"""

import argparse
import csv
import io
import json
import os
import platform
import sys
import warnings
from collections.abc import Callable
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits
from tqdm import tqdm

import paucens
from paucens.datasets import REGISTRY, content_hash
from paucens.plotting import house_style, save_figure

ROOT = Path(__file__).resolve().parents[1]
SCALES = ("smoke", "small", "paper")
KEY = ("data_set", "data_hash", "method", "setting", "repeat", "seed", "scale")
LIBRARIES = ("numpy", "scipy", "scikit-learn")
HASH_DIGITS = 16  # of a content hash, in a CSV


@dataclass(frozen=True)
class Data:
    """A table of features with what a CSV says of it."""

    name: str  # in paucens.datasets.REGISTRY
    title: str  # the name to print; a stand-in says that it is one
    X: np.ndarray
    y: np.ndarray
    stands_in: bool
    content_hash: str


@dataclass(frozen=True)
class Task:
    """One method in one setting on one repeat: the rows of a CSV that belong together.

    Attributes
    ----------
    key : tuple of str
        Values of the columns `KEY`; see `task_key`.
    n_rows : int
        How many rows `work` returns, so that a block cut short is recognised.
    work : callable
        Takes nothing, returns the rows as dicts of the sheet's columns; goes to other processes.
    """

    key: tuple[str, ...]
    n_rows: int
    work: Callable[[], list[dict]]


@dataclass(frozen=True)
class Sheet:
    """A CSV to be filled: its name without ending, its columns after `KEY`, its tasks in order."""

    name: str
    columns: tuple[str, ...]
    tasks: list[Task]


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
        Of the script and of its files.
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
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--scale", choices=SCALES, default="small", help="smoke: seconds; small: a minute; paper: in full")
    add("--seed", type=_natural, default=0, help="source of all random numbers (default 0)")
    add("--jobs", type=int, default=2, help="processes; results do not depend on it (default 2)")
    add("--data", type=Path, metavar="DIR", help="folder of data sets, searched first (default data/)")
    add("--out", type=Path, metavar="DIR",
        help="folder to write to (default build/figures/SCALE; figures/ for --scale paper)")  # fmt: skip
    add("--redraw", action="store_true", help="only make table and picture from the CSV that is there")
    return parser.parse_args(argv)


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
        return 130
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(["", *(f"wrote {shown(path)}" for path in paths)]))
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
        for sheet in plan.sheets:
            complete(sheet, folder, provenance(script, arguments, plan), arguments.jobs)
    sheets = [folder / f"{name}.csv" for name in script.sheets]
    frames = {path.stem: read_frame(path) for path in sheets}
    table = folder / f"{script.name}.md"
    write_atomically(table, script.table(frames))
    with house_style():
        pictures = save_figure(script.picture(frames), folder / script.name)
    print(f"\n{table.read_text(encoding='utf-8')}")
    return [*sheets, *(path.with_suffix(".json") for path in sheets), table, *pictures]


def output_folder(arguments, stands_in=False):
    """Say where files go. `figures/` is kept for real data: at paper scale a stand-in goes under build/."""
    if arguments.out is not None:
        return arguments.out
    is_final = arguments.scale == "paper" and not stands_in
    return ROOT / "figures" if is_final else ROOT / "build" / "figures" / arguments.scale


def shown(path):
    """Name a path as short as can be: relative to the folder of the project where it is inside."""
    path = Path(path).resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


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
        bunch = REGISTRY[name].loader(folder or ROOT / "data", return_X_y=False)
        return _as_data(name, bunch)
    except FileNotFoundError as error:
        stand_ins = [about for about in REGISTRY.values() if about.stand_in_for == name]
        if not stand_ins:
            raise
        about = stand_ins[0]
        print(f"{error}\nUntil then this uses {about.title}: its numbers do not compare with the paper's.\n")
        return _as_data(about.name, about.loader(return_X_y=False))


def _as_data(name, bunch):
    about = REGISTRY[name]
    return Data(name, about.title, bunch.data, bunch.target, bool(about.stand_in_for), bunch.content_hash)


def random_streams(seed, repeat, n_streams):
    """Make independent `RandomState`s for a repeat; their streams are the same in all versions of NumPy.

    Examples
    --------
    >>> first, second = random_streams(0, 3, 2)
    >>> first.randint(100, size=3).tolist(), second.randint(100, size=3).tolist()
    ([0, 0, 0], [0, 0, 0])
    """
    children = np.random.SeedSequence(seed, spawn_key=(repeat,)).spawn(n_streams)
    return [np.random.RandomState(child.generate_state(4)) for child in children]


@contextmanager
def candidates_may_stall():
    """Silence the warning of a fit whose weights stay 0, where such a fit is one candidate of many."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All weights are 0", UserWarning)
        yield


def short_hash(*arrays):
    """Fingerprint arrays for a CSV."""
    return content_hash(*arrays)[:HASH_DIGITS]


def task_key(data_set, data_hash, method, setting, repeat, arguments):
    """Put together the key of a task."""
    return (data_set, data_hash[:HASH_DIGITS], method, setting, str(repeat), str(arguments.seed), arguments.scale)


# ---------------------------------------------------------------------------------- tasks -> CSV


def complete(sheet, folder, origin, jobs):
    """Run the tasks whose rows are not in the CSV yet, and leave it complete and in order.

    Parameters
    ----------
    sheet : Sheet
    folder : Path
        Holds `<sheet name>.csv`, and its provenance as `.json`.
    origin : dict
        The provenance.
    jobs : int
        Processes.
    """
    path = folder / f"{sheet.name}.csv"
    folder.mkdir(parents=True, exist_ok=True)
    blocks = _reusable_blocks(sheet, path, origin)
    write_atomically(path.with_suffix(".json"), json.dumps(origin | {"csv": path.name}, indent=1) + "\n")
    _write_csv(sheet, path, blocks)  # from here on whole blocks of this run only
    missing = [task for task in sheet.tasks if task.key not in blocks]
    if not missing:
        print(f"{path.name}: all {len(blocks)} results were there already; delete {shown(path)} to compute anew.")
    try:
        with path.open("a", encoding="utf-8", newline="") as stream, closing(_finished(missing, jobs)) as finished:
            for task, rows in tqdm(finished, sheet.name, len(sheet.tasks), initial=len(blocks), disable=None):
                blocks[task.key] = _block(sheet, task, rows)
                stream.write(_as_text(blocks[task.key]))
                stream.flush()
    except KeyboardInterrupt:
        print(f"\nInterrupted: {len(blocks)} of {len(sheet.tasks)} results are in {shown(path)}. "
              "The same command goes on from there.")  # fmt: skip
        raise
    _write_csv(sheet, path, blocks)


def _finished(tasks, jobs):
    """Yield (task, rows) as they come. Under `joblib.parallel_config` the work goes where that says."""
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    for position, rows in parallel(delayed(_work)(position, task.work) for position, task in enumerate(tasks)):
        yield tasks[position], rows


def _work(position, work):
    with threadpool_limits(1):
        return position, work()


def _reusable_blocks(sheet, path, origin):
    """Return the complete blocks of the plan that the CSV holds, by key, if the same versions made them."""
    if not path.exists() or _other_versions(path.with_suffix(".json"), origin):
        return {}
    header, *lines = [*csv.reader(io.StringIO(_whole_lines(path))), []]
    if tuple(header) != KEY + sheet.columns:
        print(f"{path.name}: the columns are not those of this version; its results are computed anew.")
        return {}
    blocks = {}
    for line in lines:
        if len(line) == len(header):
            blocks.setdefault(tuple(line[: len(KEY)]), []).append(line)
    expected = {task.key: task.n_rows for task in sheet.tasks}
    reusable = {key: block for key, block in blocks.items() if expected.get(key) == len(block)}
    if len(reusable) < len(blocks):
        print(f"{path.name}: {len(blocks) - len(reusable)} results are incomplete or of another seed, scale, data "
              "set or method; they are dropped.")  # fmt: skip
    return reusable


def _other_versions(path, origin):
    """Tell whether the provenance names other versions than those that run now, and say so."""
    made_by = json.loads(path.read_text(encoding="utf-8"))["versions"] if path.exists() else origin["versions"]
    changed = {name: old for name, old in made_by.items() if origin["versions"].get(name) != old}
    if changed:
        print(f"{path.name}: results were made by {changed}; they are computed anew.")
    return bool(changed)


def _whole_lines(path):
    """Read a CSV up to its last line end: what follows was being written when the run was killed."""
    content = path.read_bytes()
    return content[: content.rfind(b"\n") + 1].decode("utf-8")


def _block(sheet, task, rows):
    """Turn the rows of a task into lines of the CSV."""
    if len(rows) != task.n_rows:
        raise ValueError(f"{sheet.name}, {task.key}: {len(rows)} rows came, {task.n_rows} were planned.")
    return [[*task.key, *(str(row[column]) for column in sheet.columns)] for row in rows]


def _as_text(lines):
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(lines)
    return buffer.getvalue()


def _write_csv(sheet, path, blocks):
    """Write header and blocks in the order of the plan."""
    lines = [line for task in sheet.tasks for line in blocks.get(task.key, [])]
    write_atomically(path, _as_text([KEY + sheet.columns, *lines]))


def write_atomically(path, text):
    """Write a file completely or not at all."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8", newline="\n")
    os.replace(part, path)


def read_frame(path):
    """Read the whole lines of a CSV as a DataFrame; empty strings stay strings.

    Raises
    ------
    FileNotFoundError
        If there is none, or it has no rows yet.
    """
    text = _whole_lines(path) if path.exists() else ""
    if text.count("\n") < 2:
        raise FileNotFoundError(f"{path} holds no results to draw; run the script without --redraw first.")
    return pd.read_csv(io.StringIO(text), dtype=dict.fromkeys(KEY[:4], str), keep_default_na=False,
                       na_values={"parameter": [""]})  # fmt: skip


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
