"""Train a detector: boost, mine hard negatives, boost again (Sec. 4.1 and 4.3)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from paucens._types import PathLike
from paucens.base import Checkpoint, fit_binned
from paucens.boosting import AdaBoostClassifier
from paucens.datasets.records import no_boxes
from paucens.detector.cache import TrainingCache
from paucens.detector.config import TrainingConfig
from paucens.detector.crops import cut_crops, marked, of_one_class
from paucens.detector.first_stage import FirstStage
from paucens.detector.model import PedestrianDetector
from paucens.detector.sample_set import SampleSet
from paucens.detector.trees import detector_trees
from paucens.detector.window import Window
from paucens.features import ChannelSpec
from paucens.images import check_sources
from paucens.learners.binning import BinnedData
from paucens.learners.nodes import leaves_of_codes
from paucens.parallel import Threads
from paucens.validation import check_jobs

if TYPE_CHECKING:
    from paucens.datasets.records import DetectionRecord

REJECTION, SHRINKAGE = -10.0, 0.1  # the paper's soft cascade (Sec. 4.3), and the largest shrinkage that it is meant for
LOWEST_SHARE = 0.005  # of the positives, which may score below hard windows
LEAST_SLACK = 1e-3  # of a rejection: while all weights are 0, all sums are equal
HARD_MARGIN = 0.1  # of the distance between the median scores of the classes


def train_detector(
    positives: Sequence[Any] | None = None,
    negative_images: Sequence[Any] | None = None,
    spec: ChannelSpec | None = None,
    classifier: Any = None,
    *,
    records: "list[DetectionRecord] | None" = None,
    label: str | None = None,
    window: Window | None = None,
    n_estimators: tuple[int, ...] = (32, 128, 512, 2048),
    n_negatives: int = 5000,
    most_negatives: int = 10_000,
    per_image: int = 25,
    scales: int = 8,
    smooth: float = 0.0,
    repeat_edges: bool | str = True,
    mirrors: bool = True,
    stages: dict[int, str] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    checkpoint: PathLike | None = None,
    notes: dict[Any, Any] | None = None,
    on_round: Callable[..., Any] | None = None,
    verbose: int = 0,
) -> PedestrianDetector:
    """Train a detector on crops of an object and images without it, or on annotated images.

    Parameters
    ----------
    positives : list of path-like or of images
        Crops of the size of the window with its margin (160 x 96), with the object in the middle, as high as
        `window.target`: boxes fit no better than the target fits the objects in the crops. Or give `records`.
    negative_images : list of path-like or of images
        Images of any size without the object. An image is RGB or grey as for `PedestrianDetector.detect`, or its file.
        With `records` they are optional, and come in addition to the images of these.
    spec : ChannelSpec
        With Flow, each crop and image is a pair, a tuple of it and of the image before or of the flow to that, float
        (height, width, 2). Without it, the second part of a pair is not looked at.
    classifier : ensemble of trees, such as AdaBoostClassifier or PAUCEnsClassifier, or a list of one per round
        Its `n_estimators` is replaced by the number of trees of the round.
    records : list of DetectionRecord, optional
        Annotated images instead of `positives`. `cut_crops` makes the crops. Negatives are taken from these images too,
        from windows in which the box of a detection would overlap no box of any class and nothing that is to be
        ignored: the paper cuts people, cyclists and "don't care" regions out of the images of KITTI and Caltech.
        With Flow, each has `previous`.
    label : str, optional
        The class of the records to detect. Default: the only one that there is.
    window : Window, optional
        Default: 128 x 64 around an object of 100 x 41, with a margin of 16.
    n_estimators : tuple of int, default=(32, 128, 512, 2048)
        Number of trees in each round of training. Hard negatives are mined after all rounds but the last.
    n_negatives : int, default=5000
        Number of random windows in the first round, and of hard negatives to mine after a round.
    most_negatives : int, default=10_000
        Maximum number of negatives to train on: the hard ones just mined, and old ones at random.
    per_image : int, default=25
        Maximum number of hard negatives from one image in one round, the best ones after suppression.
    scales : int, default=8
        Number of sizes per factor of two at which an image is searched.
    smooth : float in [0, 1], default=0.0
        Radius of the triangle filter that smooths images, not crops, at every size: while negatives are drawn and in
        the detector. Crops that were resampled are smoother than photographs, and trees might tell the difference.
    repeat_edges : bool or "mask", default=True
        What to do about crops that left their photograph and repeat its border, which may tell the classes apart. True:
        each negative gets the repeated edges of a random positive. False: nothing. "mask": negatives stay unchanged,
        and features of a crop that depend on its repeated edges are replaced by those of a random crop without edges.
        Objects of `records` whose crop leaves the image are left out if False, and repeat its border otherwise.
    mirrors : bool, default=True
        Whether the mirror images of the crops are positives too.
    stages : dict of int to str, optional
        Which channels the trees of the last round may see: the first tree of each stage, ascending from 0, and families
        of the spec joined by "+", such as {0: "M+O+LUV", 512: "M+O+LUV+spCov"}. The `column_fraction` of a tree is a
        share of the features of its stage. Earlier rounds only find hard negatives, and their trees see all channels.
        Default: so do those of the last round.
    random_state : int, default=0
        Seed of the random windows, the order of images and the choice of old negatives; also of a classifier whose
        own `random_state` is None.
    n_jobs : int, optional
        Number of threads, as in joblib. Results do not depend on it.
    checkpoint : path-like, optional
        Folder for intermediate results; made if it does not exist. Training that was interrupted at any point goes on
        from it and ends with the same detector, bit for bit. While training runs the folder holds two to three bytes
        per value of a sample; there are (2 len(positives) + most_negatives) samples. In the end the detectors are left.
        A second training in the same folder waits for the first one, and warns which process that is. Default: a
        temporary folder.
    notes : dict, optional
        What the model file should tell about its data, JSON values. Training adds "negatives", the number of negatives
        in the last round, and "hard", the score above which a window is hard.
    on_round : callable, optional
        Is called with a `TrainingRound` after each round that this call trains, not for those in the checkpoint.
    verbose : int, default=0
        Whether to show progress bars.

    Returns
    -------
    detector : PedestrianDetector

    Raises
    ------
    ValueError, TypeError
        If there are no positives or images, or both positives and records, crops have another size, no image holds a
        window, the ensemble does not consist of trees, a parameter is out of range, the stages do not fit the spec or
        the number of trees, or `checkpoint` is damaged or holds another training, one of other data or of other
        parameters than `n_jobs` and `verbose`. The message names what differs.
    OSError
        If the disk is full, with the file and the bytes that it takes.

    Notes
    -----
    A feature is the value of a channel in a cell of the window. It is offered to the trees only if no pixel outside the
    crop can change it, for positives and negatives alike. Values are cut into bins by the quantiles of 2000 windows,
    half of them positives; from then on, samples are bytes in files.

    A window is hard if it scores above 0 or, if the lowest positives score less, above the half-percent quantile of the
    positives, less a tenth of the distance between the median scores of the classes. An `AdaBoostClassifier` with a
    shrinkage of at most 0.1 rejects a window at a sum of -10 (Sec. 4.3); other ensembles reject it at sums far below
    those of all positives.

    A stage may have any families of the spec, the last one too. A `PAUCEnsClassifier` whose trees promise too little
    goes on to the last stage; another ensemble ends where a tree has no edge at all, in whatever stage.

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
    window, regions = Window() if window is None else window, None
    if records is not None:
        positives, negative_images, regions = _from_records(
            positives, negative_images, records, label, window, repeat_edges, spec
        )
    config = TrainingConfig(
        positives=positives,
        negative_images=negative_images,
        regions=regions,
        spec=spec,
        classifier=classifier,
        window=window,
        n_estimators=n_estimators,
        n_negatives=n_negatives,
        most_negatives=most_negatives,
        per_image=per_image,
        scales=scales,
        smooth=smooth,
        repeat_edges=repeat_edges,
        mirrors=mirrors,
        stages=stages,
        random_state=random_state,
        notes={} if notes is None else notes,
        verbose=verbose,
    )
    n_jobs = check_jobs(n_jobs)
    with TrainingCache.open(checkpoint, config.settings()) as cache, Threads(n_jobs) as threads:
        samples, detector = SampleSet(config, cache, threads), None
        for k in range(len(n_estimators)):
            if not cache.has_detector(k):
                done = _boost(config, k, samples, detector, cache, threads)
                cache.save_detector(k, done.detector)
                if on_round is not None:
                    on_round(done)
            detector = cache.load_detector(k)
        cache.clear()
        return replace(detector, first_stage=_first_stage(config))


def _from_records(positives, negative_images, records, label, window, repeat_edges, spec):
    """Return crops, images and the boxes in each image that negatives may not overlap."""
    if positives is not None:
        raise ValueError("Give positives or records, not both; cut_crops makes crops of records.")
    records, without = of_one_class(records, label), [] if negative_images is None else negative_images
    if not (isinstance(spec, ChannelSpec) and spec.has_flow):
        records = [replace(record, previous=None) for record in records]
    if without:
        check_sources("negative_images", without)
    crops = cut_crops(records, window, repeat_edges=repeat_edges is not False)
    if not crops:
        raise ValueError(f"None of {len(records)} records has an object whose crop can be cut; give records of some.")
    images = [*without, *(record.source for record in records)]
    return crops, images, [no_boxes()] * len(without) + marked(records)


def _first_stage(config):
    """Return the first stage of a training in stages, whose leading trees see some channels only; None without."""
    families = config.stage_families.get(0, config.spec.text).split("+")
    return FirstStage(tuple(families)) if len(families) < len(config.spec.families) else None


class TrainingRound(NamedTuple):
    """What a round of training ended with.

    Attributes
    ----------
    number : int
        From 0.
    n_trees, n_positives, n_negatives : int
        Number of trees, and of samples of each class; mirror images count.
    n_hard : int
        How many of the negatives were found for this round by the detector of the round before.
    median_positive, median_negative : float
        Scores of the samples.
    detector : PedestrianDetector
    """

    number: int
    n_trees: int
    n_positives: int
    n_negatives: int
    n_hard: int
    median_positive: float
    median_negative: float
    detector: PedestrianDetector


def _boost(config, k, samples, detector, cache, threads):
    """Train the detector of round k, given that of the round before, and return a `TrainingRound`.

    The notes of the detector hold the score above which it finds a window hard.
    """
    negatives = samples.random_negatives() if k == 0 else samples.hard_negatives(k, detector)
    n_positives = len(samples.positives)
    stages = config.stage_columns if k == len(config.n_estimators) - 1 else ()
    binned = BinnedData(cache.codes(k, samples.positives, negatives), *samples.bins)
    model = clone(config.classifiers[k])
    model.set_params(n_estimators=config.n_estimators[k], n_jobs=threads.n_threads, verbose=config.verbose)
    fit_binned(model, binned, n_positives, Checkpoint(cache.fit_path(k)), stages)
    scores, lowest = staged_sums(model, binned, n_positives, threads)
    is_papers = isinstance(model, AdaBoostClassifier) and model.shrinkage <= SHRINKAGE
    rejection = np.full(len(lowest), REJECTION) if is_papers else lowest
    trees = detector_trees(model.learners_, model.weights_, model.threshold_, config.places, rejection)
    notes = {"hard": hard_threshold(scores, n_positives), "negatives": len(negatives)}
    return TrainingRound(
        k,
        len(lowest),
        n_positives,
        len(negatives),
        samples.n_hard(k),
        float(np.median(scores[:n_positives])),
        float(np.median(scores[n_positives:])),
        PedestrianDetector(config.search, trees, notes=config.notes | notes),
    )


def staged_sums(model, binned, n_positives, threads):
    """Compute the scores of the training samples and, tree by tree, a sum far below those of all positives.

    Returns
    -------
    scores : ndarray of shape (n_samples,)
        After all trees.
    lowest : ndarray of shape (n_trees,)
        The least sum of the positives, less the distance between the medians of the classes: new positives score
        lower than those of the training, which are almost separated from the negatives in the end.
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
    """Compute the score above which a window without an object is hard (see the notes of `train_detector`)."""
    positives, negatives = scores[:n_positives], scores[n_positives:]
    distance = np.median(positives) - np.median(negatives)
    return float(min(0.0, np.quantile(positives, LOWEST_SHARE)) - HARD_MARGIN * distance)
