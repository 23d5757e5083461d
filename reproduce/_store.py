"""Tasks and the CSV that they fill: whatever interrupts a run, what is finished stays finished.

A task is the unit of work, of saving and of resuming: its rows are appended to the CSV as one block when it
ends. When all are there the file is rewritten in the order of the plan, so that neither the number of jobs
nor an interruption shows in it.
"""

import csv
import io
import json
import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits
from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[1]
KEY = ("data_set", "data_hash", "method", "setting", "repeat", "seed", "scale")
HASH_DIGITS = 16  # of a content hash, in a CSV


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


def task_key(data_set, data_hash, method, setting, repeat, arguments):
    """Put together the key of a task."""
    data_hash = data_hash[:HASH_DIGITS]
    return (data_set, data_hash, method, setting, str(repeat), str(arguments.seed), arguments.scale)


def complete(sheet, folder, origin, jobs):
    """Run the tasks whose rows are not in the CSV yet, and leave it complete and in order.

    Parameters
    ----------
    sheet : Sheet
    folder : Path
        Holds `<sheet name>.csv`, and its provenance as `.json`.
    origin : dict
        The provenance. Rows made by other versions or by another protocol than it names are computed anew.
    jobs : int
        Processes.
    """
    path = folder / f"{sheet.name}.csv"
    folder.mkdir(parents=True, exist_ok=True)
    blocks = _reusable_blocks(sheet, path, origin)
    write_atomically(path.with_suffix(".json"), json.dumps(origin | {"csv": path.name}, indent=1) + "\n")
    _write_csv(sheet, path, blocks)  # without half a line or rows of other runs; from here on it only grows
    missing = [task for task in sheet.tasks if task.key not in blocks]
    if not missing:
        print(f"{path.name}: all results were there already; delete {shown(path)} to compute them anew.")
    try:
        with path.open("a", encoding="utf-8", newline="") as stream, closing(_run(missing, jobs)) as results:
            for task, rows in tqdm(results, sheet.name, len(sheet.tasks), initial=len(blocks), disable=None):
                blocks[task.key] = _block(sheet, task, rows)
                stream.write(_as_text(blocks[task.key]))
                stream.flush()
    except KeyboardInterrupt:
        print(f"\n{len(blocks)} of {len(sheet.tasks)} results are saved in {shown(path)}.")
        raise
    _write_csv(sheet, path, blocks)


def _run(tasks, jobs):
    """Yield (task, rows) as they come. Under `joblib.parallel_config` the work goes where that says."""
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
    for position, rows in parallel(_call(position, task.work) for position, task in enumerate(tasks)):
        yield tasks[position], rows


def _call(position, work):
    """Spread a partial out: joblib's Dask backend sends an array once, not with every task, where it sees it."""
    if isinstance(work, partial):
        return delayed(_work)(position, work.func, *work.args, **work.keywords)
    return delayed(_work)(position, work)


def _work(position, work, *given, **named):
    with threadpool_limits(1):
        return position, work(*given, **named)


def _reusable_blocks(sheet, path, origin):
    """Return the complete blocks of the plan that the CSV holds, by key, and say what is left out."""
    if not path.exists() or _is_of_other_origin(path.with_suffix(".json"), origin):
        return {}
    header, *lines = [*csv.reader(io.StringIO(_whole_lines(path))), []]
    if tuple(header) != KEY + sheet.columns:
        print(f"{path.name}: its columns are not those of this version; it is computed anew.")
        return {}
    blocks = {}
    for line in lines:
        if len(line) == len(header):
            blocks.setdefault(tuple(line[: len(KEY)]), []).append(line)
    n_rows = {task.key: task.n_rows for task in sheet.tasks}
    reusable = {key: block for key, block in blocks.items() if len(block) == n_rows.get(key)}
    if len(reusable) < len(blocks):
        print(
            f"{path.name}: {len(blocks) - len(reusable)} results are cut short, or of another seed, scale, "
            "data set or method; they are dropped."
        )
    return reusable


def _is_of_other_origin(path, origin):
    """Tell whether the provenance names versions or a protocol other than those of now, and say so."""
    if not path.exists():
        return False
    made_by, now = json.loads(path.read_text(encoding="utf-8")), json.loads(json.dumps(origin))
    changed = [
        f"{name} {old}"
        for part in ("versions", "protocol")
        for name, old in made_by.get(part, {}).items()
        if now.get(part, {}).get(name) != old
    ]
    if changed:
        print(f"{path.stem}.csv was made with {', '.join(changed)}; it is computed anew.")
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
    """Read the whole lines of a CSV as a DataFrame; an empty `parameter` is nan, other empty texts stay.

    Raises
    ------
    FileNotFoundError
        If there is none, or it has no rows yet.
    """
    text = _whole_lines(path) if path.exists() else ""
    if text.count("\n") < 2:
        raise FileNotFoundError(f"{path} holds no results to draw; run the script without --redraw first.")
    texts = dict.fromkeys(("data_set", "data_hash", "method", "setting"), str)
    return pd.read_csv(io.StringIO(text), dtype=texts, keep_default_na=False, na_values={"parameter": [""]})


def shown(path):
    """Name a path as short as can be: relative to the folder of the project where it is inside."""
    path = Path(path).resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
