"""Training data and test sets of detectors: INRIA and others, or rendered streets as a stand-in for them."""

import re
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from harness import MissingData
from paucens import datasets
from paucens.detector.samples import repeated_edges
from paucens.evaluation import match_images, prepare_images
from paucens.images import pixels_of
from paucens.parallel import Threads

SMOOTH = 0.5  # radius of the triangle filter that makes photographs as smooth as the crops of INRIA
N_FOLDS = 5
PERSON_HEIGHT = 96.0  # pixels, of the people in INRIA's crops, by their makers
STREETS = "streets (stand-in)"
TEST_SETS = {  # loader; minimum height of people that count, and of people that are searched for
    "INRIA": (datasets.load_inria, [(50, None)]),
    "TUD-Stadtmitte": (datasets.load_tud_stadtmitte, [(50, 50), (100, None)]),
    "ETH-Bahnhof": (datasets.load_eth_bahnhof, [(50, 50), (100, None)]),
}


@dataclass(frozen=True)
class TrainingData:
    """Crops with a person each, and photographs without people."""

    name: str  # a stand-in says that it is one
    source: str  # which copy
    crops: list  # of Path or ndarray
    images: list  # the photographs, likewise
    smooth: float  # radius of the filter that makes the photographs as smooth as the crops

    @cached_property
    def content_hash(self):
        """Digest of the pixels of all crops and photographs."""
        return images_hash([*self.crops, *self.images])

    @property
    def arguments(self):
        """What `train_detector` is given of them."""
        return {"positives": self.crops, "negative_images": self.images}


@dataclass(frozen=True)
class AnnotatedData:
    """Annotated images to train on, perhaps with the image before each."""

    name: str  # a stand-in says that it is one
    source: str
    records: list  # of DetectionRecord
    smooth: float = 0.0  # crops are cut out of the images, so they are as smooth

    @cached_property
    def content_hash(self):
        """Digest of the pixels of all images, those before and boxes."""
        return records_hash(self.records)

    @property
    def arguments(self):
        """What `train_detector` is given of them."""
        return {"records": self.records}


@dataclass(frozen=True)
class TestSet:
    """Images with boxes, and how they are searched and judged."""

    __test__ = False  # no test of pytest

    title: str
    records: list  # of DetectionRecord
    least_height: float  # of the people that count
    searched_height: float | None  # of the smallest people to search for; None: as the detector was trained

    @property
    def images(self):
        """The images, list of Path or ndarray."""
        return [record.image for record in self.records]

    @cached_property
    def content_hash(self):
        """Digest of the pixels of all images and of their boxes."""
        return records_hash(self.records)

    def evaluate(self, detections, overlap=0.5):
        """Match detections, a list with one array per image; returns `paucens.evaluation.Matches`."""
        truths, ignores = zip(*((record.boxes, record.ignore) for record in self.records), strict=True)
        prepared = prepare_images(detections, truths, ignores, heights=(self.least_height, np.inf))
        return match_images(*prepared, overlap)


def load(run, n_test_sets=None):
    """Load the training data and the first test sets, put them into the provenance, and say how to get missing ones.

    Returns
    -------
    named : list of dict
        How cases begin: `data_set` and `test_set`, one dict per test set; only `data_set` if `n_test_sets` is 0. Empty
        with --redraw.
    """
    if run.redraw:
        return []
    try:
        name = training_data(run).name
    except FileNotFoundError as error:
        raise MissingData(str(error)) from error
    if n_test_sets == 0:
        return [{"data_set": name}]
    found, misses = _test_sets(run.protocol.scenes, run.seed, run.data_folder)
    for message in misses:
        print(f"{message}\nUntil then it is left out.\n")
    return [{"data_set": name, "test_set": test_set(run, title).title} for title in list(found)[:n_test_sets]]


def training_data(run):
    """Return the training data of a run; they are loaded and hashed once per process."""
    data = _training_data(run.protocol.scenes, run.seed, run.data_folder)
    return _known(run, f"{data.name}, training", data, len(data.crops) + len(data.images))


def test_set(run, title):
    """Return a test set of a run; it is loaded and hashed once per process."""
    found, _ = _test_sets(run.protocol.scenes, run.seed, run.data_folder)
    return _known(run, title, found[title], len(found[title].records))


def _known(run, title, data, n_images):
    """Put data into the provenance of a run, or check that they are those it names already."""
    about = {"content_hash": data.content_hash, "shape": [n_images]}
    if run.sources.setdefault(title, about) != about:
        raise ConnectionError(f"A worker has other data of {title} than this machine; give it the same files.")
    return data


@cache
def _training_data(scenes, seed, folder):
    """Load INRIA, or render scenes with people and half as many without."""
    if scenes == 0:
        inria = datasets.load_inria(folder)
        return TrainingData("INRIA", inria.source, inria.train_crops, inria.train_negatives, SMOOTH)
    crops = list(datasets.street_crops(datasets.synthetic_streets(scenes, seed=1000 * seed + 1), PERSON_HEIGHT))
    images = [record.image for record in datasets.synthetic_streets(scenes // 2, seed=1000 * seed + 2, people=False)]
    return TrainingData(STREETS, "rendered", crops, images, 0.0)


@cache
def _test_sets(scenes, seed, folder):
    """Return the test sets that are on the disk, by title, and how to get the others; half as many scenes."""
    if scenes > 0:
        title = f"{STREETS}, 100 px"
        return {title: TestSet(title, datasets.synthetic_streets(scenes // 2, seed=1000 * seed + 3), 100, None)}, []
    found, misses = {}, []
    for name, (loader, heights) in TEST_SETS.items():
        try:
            records = loader(folder).test
        except FileNotFoundError as error:
            misses.append(str(error))
            continue
        tests = [TestSet(f"{name}, {least} px", records, least, searched) for least, searched in heights]
        found |= {test.title: test for test in tests}
    return found, misses


def records_hash(records):
    """Return a digest of the pixels of records, of what was before, and of their boxes."""
    before = [record.previous for record in records if record.previous is not None]
    boxes = [boxes for record in records for boxes in (record.boxes, record.ignore)]
    return datasets.content_hash(images_hash([*(record.image for record in records), *before]), *boxes)


def images_hash(images):
    """Return a digest of the pixels of images, which does not depend on how files are packed without loss."""
    with Threads(-1) as threads:
        return datasets.content_hash(threads.map(_pixels_hash, images))


def _pixels_hash(image):
    return _file_hash(image, image.stat().st_mtime_ns) if isinstance(image, Path) else datasets.content_hash(image)


@cache
def _file_hash(path, modified):
    return datasets.content_hash(pixels_of(path))


def parts(run):
    """Split the training data for a choice: what is trained on, and what is held out (fold 0, or other streets)."""
    if run.protocol.scenes:
        return [_training_data(run.protocol.scenes, run.seed + k, run.data_folder) for k in (0, 1)]
    return split(training_data(run), 0)


def split(data, fold):
    """Return training data without one of `N_FOLDS` folds, and that fold; no photograph is in both."""
    folds = StratifiedGroupKFold(N_FOLDS, shuffle=True, random_state=0)
    crops = list(folds.split(data.crops, *zip(*map(origin, data.crops), strict=True)))[fold]
    shuffled = np.random.RandomState(0).permutation(len(data.images))
    held_out = np.isin(np.arange(len(data.images)), shuffled[fold::N_FOLDS])
    images = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    return [
        replace(data, crops=[data.crops[k] for k in own_crops], images=[data.images[k] for k in own_images])
        for own_crops, own_images in zip(crops, images, strict=True)
    ]


def origin(crop):
    """Tell from the name of a crop of INRIA its prefix and the photograph that it was cut from.

    >>> origin("person_and_bike_023b.png"), origin("crop001002a.webp")
    (('person_and_bike', 'person_and_bike_023'), ('crop', 'crop001002'))
    """
    photograph = re.sub(r"[a-z]$", "", Path(crop).stem)
    return re.match(r"person_and_bike|person|crop", photograph).group(), photograph


def without_edges(crops):
    """Leave out the crops with repeated edges: those that left their photograph."""
    return [crop for crop in crops if not any(repeated_edges(pixels_of(crop)))]
