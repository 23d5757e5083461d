"""Configurations of detectors, and a cache of trained ones that is keyed by what a configuration holds."""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from time import perf_counter

from filelock import FileLock
from joblib import cpu_count
from sklearn.base import clone

from detectors.data import without_edges
from harness.command import ROOT
from paucens import AdaBoostClassifier, PAUCEnsClassifier, Tree
from paucens.detector import PedestrianDetector, Window, train_detector
from paucens.detector.scan import Search
from paucens.features import ChannelSpec, Preset

TREES = Tree(depth=3, column_fraction=1 / 16, column_sampling="node")


def adaboost(seed, **changes):
    """Make the booster of Tables 2 and 3, with changed parameters of its trees."""
    return AdaBoostClassifier(learner=clone(TREES).set_params(**changes), shrinkage=0.1, random_state=seed)


def pauc_ensemble(seed, beta, nu):
    """Make the published ensemble for the false positive rates [0, beta], of the same trees."""
    return PAUCEnsClassifier((0.0, beta), learner=TREES, nu=nu, anneal=False, random_state=seed)


@dataclass(frozen=True)
class DetectorConfig:
    """A detector of a table: its name, its channels, and how it is trained and run."""

    method: str
    channels: str
    preset: str | Preset = "robust"
    n_seeds: int = 1  # how often it is trained
    classifier: Callable = adaboost  # seed -> classifier of the last round; AdaBoost mines the hard negatives
    cascade: bool = True  # whether windows are rejected early
    repeat_edges: bool | str = True  # what `train_detector` does about repeated edges of crops
    edged_crops: bool = True  # whether crops with repeated edges are trained on
    smooth: bool = True  # whether photographs are made as smooth as the crops
    n_rounds: int | None = None  # of training, the first ones of the protocol; all by default
    window: Window | None = None  # the sliding window; by default that of `train_detector`

    @property
    def names(self):
        """How cases name it: by method and preset."""
        return {"method": self.method, "preset": str(self.preset)}

    def search(self, data):
        """Return the search of the detector that is trained on these data."""
        spec = ChannelSpec.parse(self.channels, preset=self.preset)
        return Search(spec, self.window or Window(), smooth=data.smooth if self.smooth else 0.0)


@dataclass(frozen=True)
class Protocol:
    """What a scale means."""

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


def trained(run, config, data, seed):
    """Train a detector, or load the one that was trained before on the same data in the same way.

    The seconds that its training took are returned, too, as a text, or None if it was interrupted.
    """
    if not config.edged_crops:
        data = replace(data, crops=without_edges(data.crops))
    protocol = run.protocol
    n_estimators, search = protocol.n_estimators[: config.n_rounds], config.search(data)
    options = {
        "n_estimators": n_estimators,
        "n_negatives": protocol.n_negatives,
        "most_negatives": protocol.most_negatives,
        "spec": search.spec,
        "classifier": [adaboost(seed)] * (len(n_estimators) - 1) + [config.classifier(seed)],
        "smooth": search.smooth,
        "repeat_edges": config.repeat_edges,
        "random_state": seed,
    }
    if config.window is not None:
        options["window"] = config.window
    folder = cache_folder(run, config, seed, options, data.content_hash)
    model, clock, unfinished = (folder / name for name in ("model.npz", "seconds.txt", "unfinished"))
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):  # another case may want the same one
        if not model.exists():
            in_one_piece, start = not unfinished.exists(), perf_counter()
            how = {"n_jobs": n_threads(run), "checkpoint": unfinished, "verbose": run.jobs == 1}
            notes = {"data": f"{data.name}, {data.source}", "seed": seed}
            detector = train_detector(**data.arguments, **options, **how, notes=notes)
            clock.write_text(f"{perf_counter() - start:.0f}" if in_one_piece else "")
            detector.notes["config"] = config.method  # the first of those that share it
            detector.save(model)
        shutil.rmtree(unfinished, ignore_errors=True)
    return PedestrianDetector.load(model), clock.read_text() or None


def cache_folder(run, config, seed, *made_by):
    """Name the folder of a trained detector by all that it depends on, whatever the configuration is called."""
    digest = sha256(repr(made_by).encode()).hexdigest()[:8]
    return build_folder(run, "detectors") / slug(config.channels, config.preset, seed, digest)


def build_folder(run, kind):
    """Return the folder of what is neither table nor picture, in build/ or where --out says."""
    return (run.out or ROOT / "build") / kind / run.scale


def n_threads(run):
    """Return the share of the processors for one case; results do not depend on it."""
    return max(1, cpu_count() // run.jobs)


def slug(*parts):
    """Make a name for files.

    >>> slug("spCov+LUV", "robust", 0)
    'spCov-LUV-robust-0'
    """
    return "-".join(re.sub(r"[^\w.]+", "-", str(part)).strip("-") for part in parts)
