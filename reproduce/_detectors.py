"""What Tables 2 and 3 share: detectors as tasks of a CSV, trained where they are not there yet, judged, compared."""

import copy
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from time import perf_counter

import numpy as np
from filelock import FileLock
from joblib import cpu_count

from paucens.datasets import load_inria
from paucens.detector import PedestrianDetector, train_detector
from paucens.evaluation import miss_rate_difference, miss_rate_interval
from paucens.features import ChannelSpec
from reproduce._detection import (
    adaboost,
    best_detections,
    detections_of,
    inria_material,
    joint_hash,
    load_detections,
    log_evaluation,
    save_detections,
    streets_material,
    training_fold,
)
from reproduce._run import Plan, output_folder
from reproduce._store import ROOT, Sheet, Task, task_key

COLUMNS = (
    "column",
    "n_images",
    "n_people",
    "miss_rate",
    "low",
    "high",
    "train_seconds",
    "detect_seconds",
    "n_negatives",
    "source",
)
PAIR_COLUMNS = ("column", "difference", "low", "high")


def unchanged(material):
    """Train on the material as it is."""
    return material


@dataclass(frozen=True)
class Row:
    """A detector of a table: its name, its channels, how often it is trained, by what, how it is run."""

    method: str
    channels: str
    preset: str = "robust"
    n_seeds: int = 1
    ensemble: Callable = adaboost  # seed -> classifier of the last round; negatives are searched for by AdaBoost
    cascade: bool = True
    change: Callable = unchanged  # of the material to train on
    train: Callable = train_detector


@dataclass(frozen=True)
class Protocol:
    """What the scale stands for."""

    n_estimators: tuple = (32, 128, 512, 2048)
    n_negatives: int = 5000
    most_negatives: int = 10_000
    seeds: int = 3
    scenes: int = 0  # rendered; 0: photographs


PROTOCOLS = {
    "smoke": Protocol((4, 8), 100, 150, 1, 8),
    "small": Protocol((8, 32), 200, 300, 1, 16),
    "paper": Protocol(),
}


def slug(*parts):
    """A name for files.

    Examples
    --------
    >>> slug("spCov+LUV", "robust", 0)
    'spCov-LUV-robust-0'
    """
    return "-".join(re.sub(r"[^\w.]+", "-", str(part)).strip("-") for part in parts)


def material_of(arguments):
    """What to train on and to judge by at a scale."""
    protocol = PROTOCOLS[arguments.scale]
    return streets_material(protocol.scenes, arguments.seed) if protocol.scenes else inria_material(arguments.data)


def parts_of(arguments):
    """Crops and photographs to train on and held out, fold 0: of INRIA, or of rendered streets at small scales."""
    protocol = PROTOCOLS[arguments.scale]
    if not protocol.scenes:
        return training_fold(load_inria(arguments.data), 0)
    both = [streets_material(protocol.scenes, arguments.seed + k) for k in (0, 1)]
    return [part for material in both for part in (material.crops, material.negatives)]


def detector_plan(script, rows, pairs, arguments, most_columns=None):
    """The plan of a table of detectors: miss rates, in the first so many columns, then differences."""
    material, protocol = material_of(arguments), PROTOCOLS[arguments.scale]
    n_columns = len(material.columns[:most_columns])
    data = material.data(n_columns)
    data_hash = joint_hash(data, material)
    tasks = [
        Task(
            task_key(material.name, data_hash, row.method, row.preset, repeat, arguments),
            n_columns,
            partial(measure, script, row, arguments.seed + repeat, arguments, n_columns),
        )
        for repeat in range(protocol.seeds)
        for row in rows
        if repeat < row.n_seeds
    ]
    comparisons = [
        Task(
            task_key(
                material.name,
                data_hash,
                f"{one.method} − {other.method}",
                f"{one.preset} − {other.preset}",
                " ".join(map(str, shared_seeds(one, other, protocol))),
                arguments,
            ),
            n_columns,
            partial(compare, script, one, other, arguments, n_columns),
        )
        for one, other in pairs
    ]
    return Plan([Sheet(script, COLUMNS, tasks), Sheet(f"{script}_pairs", PAIR_COLUMNS, comparisons)], protocol, data)


def shared_seeds(one, other, protocol):
    """The repeats in which both of two rows are trained."""
    return range(min(one.n_seeds, other.n_seeds, protocol.seeds))


def measure(script, row, seed, arguments, n_columns):
    """Train one detector, or take the one that is there, and judge it column by column; rows of the CSV."""
    material = material_of(arguments)
    detector, seconds = trained(row, seed, row.change(material), arguments)
    if not row.cascade:
        detector = without_cascade(detector)
    found = []
    for column in material.columns[:n_columns]:
        start = perf_counter()
        images = [record.image for record in column.load()]
        detections = detections_of(detector, images, n_threads(arguments), column.searched_height)
        elapsed = perf_counter() - start
        path = detections_path(script, row, seed, column, arguments)
        save_detections(path, best_detections(detections))
        matches = column.evaluate(load_detections(path))
        low, miss_rate, high = miss_rate_interval(matches)
        if material.is_real:
            log_evaluation(script, f"{row.method} ({row.preset})", seed, column.name, miss_rate)
        found.append(
            {
                "column": column.name,
                "n_images": len(detections),
                "n_people": int(matches.n_truths.sum()),
                "miss_rate": f"{miss_rate:.6f}",
                "low": f"{low:.6f}",
                "high": f"{high:.6f}",
                "train_seconds": f"{seconds:.0f}",
                "detect_seconds": f"{elapsed:.1f}",
                "n_negatives": detector.notes["negatives"],
                "source": material.source,
            }
        )
    return found


def trained(row, seed, material, arguments):
    """The detector of a row and the seconds its training took in one piece, nan where it was taken up again.

    What is there already is taken only if it was made by the same protocol. Rows that differ in name only share it.
    """
    home = home_of("detectors", row, seed, material, arguments)
    home.mkdir(parents=True, exist_ok=True)
    model, clock = home / "model.npz", home / "seconds.txt"
    with FileLock(home / "lock"):  # another task may want the same one
        if not model.exists():
            in_one_piece, start = not (home / "work").exists(), perf_counter()
            detector = train_row(row, seed, material, arguments, home / "work")
            clock.write_text(f"{perf_counter() - start:.0f}" if in_one_piece else "nan")
            detector.save(model)
        shutil.rmtree(home / "work", ignore_errors=True)
    return PedestrianDetector.load(model), float(clock.read_text())


def home_of(kind, row, seed, material, arguments):
    """The folder of a detector: what it is made by is in its name."""
    protocol = PROTOCOLS[arguments.scale]
    made_by = (protocol, material.content_hash, material.smooth, row.ensemble(seed), row.train.__name__)
    digest = sha256(repr(made_by).encode()).hexdigest()[:8]
    return ROOT / "build" / kind / arguments.scale / slug(row.channels, row.preset, seed, digest)


def train_row(row, seed, material, arguments, checkpoint):
    """Train the detector of a row, with progress bars where it is the only one at a time."""
    protocol = PROTOCOLS[arguments.scale]
    n_before = len(protocol.n_estimators) - 1
    return row.train(
        material.crops,
        material.negatives,
        ChannelSpec.parse(row.channels, preset=row.preset),
        [adaboost(seed)] * n_before + [row.ensemble(seed)],
        n_estimators=protocol.n_estimators,
        n_negatives=protocol.n_negatives,
        most_negatives=protocol.most_negatives,
        smooth=material.smooth,
        random_state=seed,
        n_jobs=n_threads(arguments),
        checkpoint=checkpoint,
        verbose=arguments.jobs == 1,
        notes={"data": f"{material.name}, {material.source}", "row": row.method, "seed": seed},
    )


def n_threads(arguments):
    """A task's share of the processors; results do not depend on it."""
    return max(1, cpu_count() // arguments.jobs)


def without_cascade(detector):
    """A copy of a detector that adds up all trees for every window."""
    whole = copy.copy(detector)
    whole.trees = replace(detector.trees, rejection=np.full_like(detector.trees.rejection, -np.inf))
    return whole


def detections_path(script, row, seed, column, arguments):
    """Where the detections of a detector in a column are kept: beside the CSV."""
    return output_folder(arguments) / script / f"{slug(row.method, row.preset, seed, column.name)}.npz"


def compare(script, one, other, arguments, n_columns):
    """Differences of the miss rates of two rows with their intervals, paired over images and the seeds of both."""
    seeds, found = shared_seeds(one, other, PROTOCOLS[arguments.scale]), []
    for column in material_of(arguments).columns[:n_columns]:
        runs = [
            [
                column.evaluate(load_detections(detections_path(script, row, arguments.seed + k, column, arguments)))
                for k in seeds
            ]
            for row in (one, other)
        ]
        result = miss_rate_difference(*runs)
        found.append(
            {
                "column": column.name,
                "difference": f"{result.difference:.6f}",
                "low": f"{result.low:.6f}",
                "high": f"{result.high:.6f}",
            }
        )
    return found
