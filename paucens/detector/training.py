"""Train a detector: boosting, search for what it takes for people, boosting again (Sec. 4.1 and 4.3)."""

import hashlib
import tempfile
from pathlib import Path

import numpy as np
from sklearn.base import clone

from paucens.base import Checkpoint, WeightedEnsemble, fit_binned
from paucens.boosting import AdaBoostClassifier
from paucens.detector.collection import Collection
from paucens.detector.model import PedestrianDetector
from paucens.detector.samples import check_sources, stream
from paucens.detector.scan import Search
from paucens.detector.trees import detector_trees
from paucens.detector.window import Window
from paucens.detector.workshop import Workshop
from paucens.features import ChannelSpec
from paucens.learners.binning import MAX_BINS, BinnedData
from paucens.learners.nodes import leaves_of_codes
from paucens.parallel import Threads
from paucens.persistence import plain
from paucens.validation import check_integer

REJECTION, SHRINKAGE = -10.0, 0.1  # the paper's soft cascade (Sec. 4.3), and of AdaBoost with at most what shrinkage
LOWEST_SHARE = 0.005  # of the positives, which may score below what counts as hard
LEAST_SLACK = 1e-3  # of a rejection: while all weights are 0, all sums are equal
OWN_NOTES = ("hard", "negatives")  # above what score a window is hard, and how many windows the last round had
HARD_MARGIN = 0.1  # of the distance between the median scores of the classes, below it


def train_detector(
    positives,
    negative_images,
    spec,
    classifier,
    *,
    window=None,
    n_estimators=(32, 128, 512, 2048),
    n_negatives=5000,
    most_negatives=10_000,
    per_image=25,
    scales=8,
    smooth=0.0,
    random_state=0,
    n_jobs=None,
    checkpoint=None,
    notes=None,
    verbose=0,
):
    """Train a detector on crops of an object and images without it.

    Parameters
    ----------
    positives : list of path-like or of images
        Crops with the object in the middle, as high and wide as the window with its margin (160 x 96). Their mirrors
        are positives too.
    negative_images : list of path-like or of images
        Of any size. Each is RGB as `PedestrianDetector.detect` takes it, or a file of one.
    spec : ChannelSpec
    classifier : ensemble of trees, such as AdaBoostClassifier or PAUCEnsClassifier, or a list of one for each round
        Its `n_estimators` is replaced by those of the rounds.
    window : Window, optional
        128 x 64 around an object of 100 x 41, with a margin of 16, where None.
    n_estimators : tuple of int, default=(32, 128, 512, 2048)
        Trees of each round of training. After all but the last, negatives are searched for.
    n_negatives : int, default=5000
        Windows at random to begin with, and hard ones to search for after a round.
    most_negatives : int, default=10_000
        To train on at most: the hard ones just found, and old ones at random.
    per_image : int, default=25
        Hard negatives from one image in one search at most, the best ones after suppression.
    scales : int, default=8
        Sizes at which an image is searched in a factor of two.
    smooth : float in [0, 1], default=0.0
        Radius of the triangle by which images, not crops, are smoothed at every size, while negatives are drawn and in
        the detector: crops that were resampled are smoother than what they were cut from, and trees might tell.
    random_state : int, default=0
        Source of windows at random, the order of images and the negatives that are kept; also of the classifier where
        its own is None.
    n_jobs : int, optional
        Threads, as in joblib. Results do not depend on it.
    checkpoint : path-like, optional
        Folder for what is unfinished; it is made where it does not exist. Training that was cut short, by whatever,
        goes on from it and ends with the same detector, bit for bit. A temporary folder where None. While training
        runs it holds two to three bytes for each value of a sample, which are (2 len(positives) + most_negatives)
        times the features; in the end the detector is left.
    notes : dict, optional
        What the model file should tell about its data, JSON values. Training adds "negatives", how many the last round
        had, and "hard", the score above which a window is hard.
    verbose : int, default=0
        Show progress bars where positive.

    Returns
    -------
    detector : PedestrianDetector

    Raises
    ------
    ValueError, TypeError
        For no positives or images, crops of another size, images that hold no window, an ensemble of something else
        than trees, parameters out of range, and a checkpoint of another training, of which it holds all but the code.

    Notes
    -----
    A feature is the value of a channel in a cell of the window. It is offered to the trees only if nothing outside of
    the crop can change it, for positives and negatives alike. Crops that left their photograph repeat its border:
    negatives get such edges as often and as wide as positives have them, or edges would tell the classes apart. Values
    are cut into bins by the quantiles of 2000 windows, half of them positives, and samples are bytes in files from
    then on.

    Windows count as hard that score above 0 or, where the lowest positives score less, above the half-percent of the
    positives, less a tenth of the distance between the median scores of the classes. An `AdaBoostClassifier` of
    shrinkage 0.1 or less gives up a window at a sum of -10 (Sec. 4.3), other ensembles where no positive has been by
    far.

    Examples
    --------
    On rendered streets, in seconds and of little use; `reproduce/table_3.py` trains on photographs.

    >>> from paucens import AdaBoostClassifier, Tree
    >>> from paucens.datasets import street_crops, synthetic_streets
    >>> from paucens.features import ChannelSpec
    >>> crops = list(street_crops(synthetic_streets(6, seed=1)))
    >>> empty = [record.image for record in synthetic_streets(3, seed=2, people=False)]
    >>> booster = AdaBoostClassifier(learner=Tree(depth=3), shrinkage=0.1)
    >>> detector = train_detector(crops, empty, ChannelSpec.parse("M+O+LUV"), booster, n_estimators=(8, 32),
    ...                           n_negatives=100, most_negatives=200)
    >>> len(detector.detect(synthetic_streets(1, seed=3)[0].image)) > 0
    True
    """
    training = _Training(
        positives,
        negative_images,
        spec,
        classifier,
        window or Window(),
        n_estimators,
        n_negatives,
        most_negatives,
        per_image,
        scales,
        smooth,
        random_state,
        notes,
        verbose,
    )
    with tempfile.TemporaryDirectory() if checkpoint is None else Workshop.folder(checkpoint) as folder:
        workshop = Workshop(folder, training.settings())
        with Threads(n_jobs) as threads:
            return training.run(workshop, threads, n_jobs)


class _Training:
    """What `train_detector` was given, checked, and its rounds; what each leaves is in the workshop."""

    def __init__(
        self,
        positives,
        images,
        spec,
        classifier,
        window,
        n_estimators,
        n_negatives,
        most_negatives,
        per_image,
        scales,
        smooth,
        seed,
        notes,
        verbose,
    ):
        check_sources("positives", positives)
        check_sources("negative_images", images)
        if not isinstance(n_estimators, list | tuple) or len(n_estimators) == 0:
            raise ValueError(f"n_estimators must be a tuple of numbers of trees, one a round; got {n_estimators!r}.")
        for name, value, kind, example in (
            ("spec", spec, ChannelSpec, 'ChannelSpec.parse("M+O+LUV")'),
            ("window", window, Window, "Window()"),
            ("notes", notes, dict | None, '{"data": "INRIA Person"}'),
        ):
            if not isinstance(value, kind):
                raise TypeError(f"{name} must be as {example}; got {value!r}.")
        self.n_estimators = [check_integer("n_estimators", n, 1) for n in n_estimators]
        self.seed = check_integer("random_state", seed, 0)
        self.classifiers = _checked_classifiers(classifier, len(self.n_estimators), self.seed)
        self.max_bins = check_integer("max_bins", self.classifiers[0].max_bins, 2, MAX_BINS)
        self.n_negatives = check_integer("n_negatives", n_negatives, 1)
        self.most_negatives = check_integer("most_negatives", most_negatives, self.n_negatives)
        self.per_image = check_integer("per_image", per_image, 1)
        self.positives, self.images = positives, images
        self.notes, self.verbose = _checked_notes(notes or {}), verbose
        self.search = Search(spec, window, scales, smooth)
        self.places = window.offered(spec)
        if len(self.places) == 0:
            raise ValueError(f"No cell of {window} sees nothing but its crop. Give the window a larger margin.")

    def settings(self):
        """All that the result depends on, of images a digest; JSON."""
        return {
            "spec": str(self.search.spec),
            "window": repr(self.search.window),
            "scales": self.search.per_octave,
            "smooth": self.search.smooth,
            "classifiers": [repr(classifier) for classifier in self.classifiers],
            "n_estimators": self.n_estimators,
            "n_negatives": self.n_negatives,
            "most_negatives": self.most_negatives,
            "per_image": self.per_image,
            "random_state": self.seed,
            "positives": _fingerprint(self.positives),
            "negative_images": _fingerprint(self.images),
            "notes": self.notes,
        }

    def run(self, workshop, threads, n_jobs):
        """The detector of the last round; whatever is in the workshop already is not made again."""
        last = len(self.n_estimators) - 1
        collection = Collection(self, workshop, threads)
        detector = workshop.detector(f"round {last}", lambda: self._rounds(collection, last, n_jobs))
        workshop.forget("*", f"fit {last}.npz")
        return detector

    def _rounds(self, collection, last, n_jobs):
        workshop, detector = collection.workshop, None
        for k in range(last):

            def make(k=k, before=detector):
                return self._round(collection, k, before, n_jobs)

            detector = workshop.detector(f"round {k}", make)
            workshop.forget(f"codes {k}", f"fit {k}.npz")
        return self._round(collection, last, detector, n_jobs)

    def _round(self, collection, k, before, n_jobs):
        """The detector of round k; its notes tell above which score it finds a window hard."""
        workshop, positives, negatives = collection.workshop, collection.positives(), collection.negatives(k, before)
        binned = BinnedData(workshop.turned(f"codes {k}", positives, negatives), *collection.bins)
        model = clone(self.classifiers[k]).set_params(
            n_estimators=self.n_estimators[k], n_jobs=n_jobs, verbose=self.verbose
        )
        fit_binned(model, binned, len(positives), Checkpoint(workshop.path(f"fit {k}.npz")))
        scores, lowest = staged_sums(model, binned, len(positives), collection.threads)
        detector = self._detector(model, lowest)
        detector.notes["hard"] = hard_threshold(scores, len(positives))
        detector.notes["negatives"] = len(negatives)
        return detector

    def _detector(self, model, lowest):
        is_papers = isinstance(model, AdaBoostClassifier) and model.shrinkage <= SHRINKAGE
        rejection = np.full(len(lowest), REJECTION) if is_papers else lowest
        trees = detector_trees(model.learners_, model.weights_, model.threshold_, self.places, rejection)
        return PedestrianDetector(
            self.search.spec,
            self.search.window,
            trees,
            scales=self.search.per_octave,
            smooth=self.search.smooth,
            notes=self.notes,
        )


def staged_sums(model, binned, n_positives, threads):
    """Final scores of the training samples, and below what sum no positive has been by far, tree by tree.

    Returns
    -------
    scores : ndarray of shape (n_samples,)
    lowest : ndarray of shape (n_trees,)
        The least sum of the positives, less the distance between the medians of the classes: new positives score
        lower than those of the training, which are all but parted from the negatives in the end.
    """
    sums = np.full(binned.codes.shape[1], -model.threshold_)
    lowest = np.empty(len(model.learners_))
    for t, (weight, learner) in enumerate(zip(model.weights_, model.learners_, strict=True)):
        sums += weight * learner.nodes_.value[leaves_of_codes(learner.nodes_, binned, threads)]
        of_positives = sums[:n_positives]
        distance = np.median(of_positives) - np.median(sums[n_positives:])
        lowest[t] = of_positives.min() - max(distance, LEAST_SLACK)
    return sums, lowest


def hard_threshold(scores, n_positives):
    """The score above which a window without an object is hard (`train_detector`, Notes)."""
    positives, negatives = scores[:n_positives], scores[n_positives:]
    distance = np.median(positives) - np.median(negatives)
    return float(min(0.0, np.quantile(positives, LOWEST_SHARE)) - HARD_MARGIN * distance)


def _checked_classifiers(classifier, n_rounds, seed):
    """The ensemble of each round; one that would be different each time gets a seed, or it could not be resumed."""
    classifiers = classifier if isinstance(classifier, list | tuple) else [classifier] * n_rounds
    for one in classifiers:
        if not isinstance(one, WeightedEnsemble):
            raise TypeError(
                f"classifier must be an ensemble of this package, or a list of them; got {one!r}. "
                "AdaBoostClassifier(shrinkage=0.1) is the paper's."
            )
    if len(classifiers) != n_rounds:
        raise ValueError(
            f"{len(classifiers)} classifiers do not fit the {n_rounds} rounds of n_estimators; give one, "
            "or one for each round."
        )
    return [
        clone(one).set_params(random_state=int(stream(seed, 4, k).integers(2**31))) if one.random_state is None else one
        for k, one in enumerate(classifiers)
    ]


def _checked_notes(notes):
    """Notes as a file will hold them."""
    for name in OWN_NOTES:
        if name in notes:
            raise ValueError(f"notes[{name!r}] is set by training itself; name yours otherwise.")
    return plain(notes, "notes")


def _fingerprint(sources):
    """Number and digest of the contents of files, or of the pixels of images."""
    digest = hashlib.sha256()
    for source in sources:
        if isinstance(source, str | Path):
            digest.update(hashlib.sha256(Path(source).read_bytes()).digest())
        else:
            pixels = np.ascontiguousarray(source)
            digest.update(f"{pixels.shape} {pixels.dtype}".encode() + pixels.tobytes())
    return f"{len(sources)} {digest.hexdigest()[:16]}"
