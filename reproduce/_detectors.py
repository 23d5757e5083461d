"""What Tables 2 and 3 share: detectors as tasks of a CSV, trained where they are not there yet, judged, compared."""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from time import perf_counter

from paucens.datasets import load_inria
from paucens.detector import PedestrianDetector, train_detector
from paucens.evaluation import miss_rate_difference, miss_rate_interval
from paucens.features import ChannelSpec
from reproduce._detection import (
    best_detections,
    detections_of,
    load_detections,
    log_evaluation,
    save_detections,
    test_columns,
)
from reproduce._store import ROOT, Sheet, Task, task_key

COLUMNS = ("column", "n_images", "n_people", "miss_rate", "low", "high", "train_seconds", "detect_seconds",
           "n_negatives", "source")  # fmt: skip
PAIR_COLUMNS = ("column", "difference", "low", "high")
TRAINING = "INRIA"


@dataclass(frozen=True)
class Row:
    """A detector of a table: its name, its channels, how often it is trained, by what."""

    method: str
    channels: str
    preset: str
    n_seeds: int
    ensemble: Callable  # seed -> classifier


def slug(*parts):
    """A name for files.

    Examples
    --------
    >>> slug("spCov+LUV", "robust", 0)
    'spCov-LUV-robust-0'
    """
    return "-".join(re.sub(r"[^\w.]+", "-", str(part)).strip("-") for part in parts)


def detector_tasks(script, rows, columns, folder, arguments):
    """One task a detector and seed, the seeds of one detector after those of another: rows with more seeds go first."""
    inria = load_inria(arguments.data)
    data_hash = sha256(
        "".join(f"{path.name}{path.stat().st_size}" for path in [*inria.train_crops, *inria.train_negatives]).encode()
    ).hexdigest()
    tasks = []
    for repeat in range(max(row.n_seeds for row in rows)):
        for row in rows:
            if repeat < row.n_seeds:
                key = task_key(TRAINING, data_hash, row.method, row.preset, repeat, arguments)
                work = partial(measure, script, row, arguments.seed + repeat, arguments.data, folder, len(columns))
                tasks.append(Task(key, len(columns), work))
    return tasks


def measure(script, row, seed, data, folder, n_columns):
    """Train one detector, or take the one that is there, and judge it in every column; rows of the CSV."""
    detector, seconds = trained(row, seed, data)
    source = load_inria(data).source
    found = []
    for column in test_columns(data)[0][:n_columns]:
        start = perf_counter()
        detections = detections_of(detector, [record.image for record in column.load()], 1, column.searched_height)
        elapsed = perf_counter() - start
        path = detections_path(folder, script, row.method, row.preset, seed, column.name)
        save_detections(path, best_detections(detections))
        matches = column.evaluate(load_detections(path))
        low, miss_rate, high = miss_rate_interval(matches)
        log_evaluation(script, f"{row.method} ({row.preset})", seed, column.name, miss_rate)
        found.append({
            "column": column.name, "n_images": len(detections), "n_people": int(matches.n_truths.sum()),
            "miss_rate": f"{miss_rate:.6f}", "low": f"{low:.6f}", "high": f"{high:.6f}",
            "train_seconds": f"{seconds:.0f}", "detect_seconds": f"{elapsed:.1f}",
            "n_negatives": detector.notes["negatives"], "source": source,
        })  # fmt: skip
    return found


def trained(row, seed, data):
    """The detector of a row and the seconds its training took; what is unfinished is taken up again."""
    home = ROOT / "build" / "detectors" / slug(row.method, row.preset, seed)
    home.mkdir(parents=True, exist_ok=True)
    model, clock = home / "model.npz", home / "seconds.txt"
    if not model.exists():
        inria = load_inria(data)
        start = perf_counter()
        detector = train_detector(
            inria.train_crops, inria.train_negatives, ChannelSpec.parse(row.channels, preset=row.preset),
            row.ensemble(seed), random_state=seed, n_jobs=1, checkpoint=home / "work",
            notes={"data": f"INRIA Person ({inria.source}), research use", "row": row.method, "seed": seed},
        )  # fmt: skip
        clock.write_text(f"{perf_counter() - start:.0f}")
        detector.save(model)
    shutil.rmtree(home / "work", ignore_errors=True)
    return PedestrianDetector.load(model), float(clock.read_text())


def detections_path(folder, script, method, preset, seed, column):
    """Where the detections of a detector in a column are kept."""
    return folder / script / f"{slug(method, preset, seed, column)}.npz"


def pair_tasks(script, pairs, columns, folder, arguments):
    """One task a pair of rows: their differences, paired over images and the seeds that both have."""
    return [
        Task(
            task_key(TRAINING, "", f"{one.method} − {other.method}", f"{one.preset} − {other.preset}", 0, arguments),
            len(columns),
            partial(compare, script, one, other, arguments.seed, arguments.data, folder, len(columns)),
        )
        for one, other in pairs
    ]


def compare(script, one, other, seed, data, folder, n_columns):
    """Differences of the miss rates of two rows with their intervals; rows of the CSV."""
    seeds = range(seed, seed + min(one.n_seeds, other.n_seeds))

    def paths(row, column):
        return [detections_path(folder, script, row.method, row.preset, k, column.name) for k in seeds]

    found = []
    for column in test_columns(data)[0][:n_columns]:
        runs = [[column.evaluate(load_detections(path)) for path in paths(row, column)] for row in (one, other)]
        result = miss_rate_difference(*runs)
        found.append({
            "column": column.name, "difference": f"{result.difference:.6f}", "low": f"{result.low:.6f}",
            "high": f"{result.high:.6f}",
        })  # fmt: skip
    return found


def detector_sheets(script, rows, pairs, folder, arguments):
    """The sheets of a table of detectors: miss rates, then differences."""
    columns, misses = test_columns(arguments.data)
    for miss in misses:
        print(f"{miss}\nUntil then its columns are left out.\n")
    return [
        Sheet(script, COLUMNS, detector_tasks(script, rows, columns, folder, arguments)),
        Sheet(f"{script}_pairs", PAIR_COLUMNS, pair_tasks(script, pairs, columns, folder, arguments)),
    ]
