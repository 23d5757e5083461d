"""The Caltech Pedestrian Benchmark: its experiments, in the conventions of both of its MATLAB programs."""

import functools
import itertools
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from paucens._types import PathLike
from paucens.datasets.caltech import VideoAnnotation, read_results, read_vbb
from paucens.evaluation.boxes import ASPECT, EXPAND, by_image, prepare_detections, standardize_boxes
from paucens.evaluation.curves import REFERENCES, geometric_mean, miss_rates_at
from paucens.evaluation.matching import Matches, match_images
from paucens.validation import check_choice, check_positive

STEP = 30  # frames 29, 59, ... are evaluated
TEST_SETS = ("set06", "set07", "set08", "set09", "set10")
BOUNDS = (5, 5, 635, 475)  # left, top, right, bottom; people outside are ignored
CLAMP = 1e-10  # smallest miss rate of acfTest


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """Which people are evaluated, and when a detection is right; other people are ignored.

    Attributes
    ----------
    heights : (float, float)
        In pixels; the upper end is exclusive.
    visible : (float, float), default=(0.65, inf)
        Visible share of the area, both ends inclusive; inf means people that nothing hides.
    aspect : float, default=0
        0.1: width / height within 0.1 of 0.41; -0.1: farther from it; 0: any.
    overlap : float, default=0.5
    expand : float, default=1.25
        Factor by which heights of detections may be outside the range and still count.
    """

    heights: tuple[float, float] = (50, np.inf)
    visible: tuple[float, float] = (0.65, np.inf)
    aspect: float = 0.0
    overlap: float = 0.5
    expand: float = EXPAND


REASONABLE, UNHIDDEN = Experiment(), Experiment(visible=(np.inf, np.inf))
EXPERIMENTS = {  # of dbEval 3.2.1
    "reasonable": REASONABLE,
    "all": Experiment(heights=(20, np.inf), visible=(0.2, np.inf)),
    "scale=large": replace(UNHIDDEN, heights=(100, np.inf)),
    "scale=near": replace(UNHIDDEN, heights=(80, np.inf)),
    "scale=medium": replace(UNHIDDEN, heights=(30, 80)),
    "scale=far": replace(UNHIDDEN, heights=(20, 30)),
    "occ=none": UNHIDDEN,
    "occ=partial": Experiment(visible=(0.65, 1)),
    "occ=heavy": Experiment(visible=(0.2, 0.65)),
    "ar=all": UNHIDDEN,
    "ar=typical": replace(UNHIDDEN, aspect=0.1),
    "ar=atypical": replace(UNHIDDEN, aspect=-0.1),
    "overlap=25": Experiment(overlap=0.25),
    "overlap=50": REASONABLE,
    "overlap=75": Experiment(overlap=0.75),
    "expand=100": Experiment(expand=1.0),
    "expand=125": REASONABLE,
    "expand=150": Experiment(expand=1.5),
}


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class CaltechResult:
    """Result of a detector in an experiment.

    Attributes
    ----------
    log_average_miss_rate : float
        As a fraction.
    fppi, miss_rates : ndarrays of shape (9,)
        The nine references and the miss rates at them.
    curve : tuple of ndarrays
        (fppi, miss), see `miss_rate_curve`.
    n_images, n_evaluated, n_ignored : int
        Number of images, of people to be found, and of boxes in which nothing counts.
    matches : Matches
        For `miss_rate_interval` and `miss_rate_difference`.
    """

    log_average_miss_rate: float
    fppi: np.ndarray
    miss_rates: np.ndarray
    curve: tuple[np.ndarray, np.ndarray]
    n_images: int
    n_evaluated: int
    n_ignored: int
    matches: Matches


def evaluate_caltech(
    root: PathLike, name: str, experiment: str = "reasonable", height_scale: float = 1.0, convention: str = "dbEval"
) -> CaltechResult:
    """Evaluate a detector's result files on the Caltech Pedestrian Benchmark.

    Parameters
    ----------
    root : path-like
        Folder with `annotations/setXX/VYYY.vbb` and `res/<name>/setXX/VYYY.txt`. The test sets, 06 to 10, are evaluated
        as far as they exist, other sets only if there is no test set. Every 30th frame of each video counts.
    name : str
        Folder of the results with one file per video, which may be empty, see `paucens.datasets.caltech.read_results`.
    experiment : str, default="reasonable"
        "reasonable" (50 px and more, at least 0.65 visible), "all", "scale=large|near|medium|far",
        "occ=none|partial|heavy", "ar=all|typical|atypical", "overlap=25|50|75" or "expand=100|125|150".
    height_scale : float, default=1.0
        Factor of the height of detections: 100 / 128 for results that are windows instead of people, such as the
        published ones of HOG.
    convention : {"dbEval", "acfTest"}, default="dbEval"
        Which MATLAB program to follow: the evaluation of the benchmark (3.2.1), or the toolbox's for a new detector.

    Returns
    -------
    CaltechResult

    Raises
    ------
    FileNotFoundError
        If a folder or the results of a video are missing.
    ValueError
        If a file is damaged, its frames are not those of the benchmark, the experiment has no people to find, or a
        parameter is not one of the above.

    Notes
    -----
    The two programs differ although both are right. acfTest rounds annotated boxes, drops those of uncertain label
    ("person?") that dbEval ignores, includes both ends of all ranges, relies on the annotator's flag for occlusion, and
    raises a miss rate of 0 to 1e-10. It cannot tell partly occluded people from others, so it has no "occ=partial". Its
    own detections have a fixed shape and are not filtered. Here detections are changed to one shape and filtered by
    height in both conventions; otherwise results of other detectors would be several points worse.

    Examples
    --------
    >>> result = evaluate_caltech("caltech", "HOG", height_scale=100 / 128)  # doctest: +SKIP
    >>> result.n_images, result.n_evaluated, round(result.log_average_miss_rate, 4)  # doctest: +SKIP
    (4024, 1014, 0.6846)
    """
    _check(experiment, height_scale, convention)
    people, detections = read_caltech(root, name)
    return judge_caltech(people, detections, experiment, height_scale, convention)


def judge_caltech(people, detections, experiment="reasonable", height_scale=1.0, convention="dbEval"):
    """Evaluate detections that were read already, see `evaluate_caltech`.

    Parameters
    ----------
    people : VideoAnnotation
        From `read_people`.
    detections : list of ndarray of shape (k, 5)
        One entry per image.
    experiment, height_scale, convention
        As for `evaluate_caltech`.

    Returns
    -------
    CaltechResult
    """
    _check(experiment, height_scale, convention)
    how = EXPERIMENTS[experiment]
    truths, ignores = split_people(people, how, convention)
    found = prepare_detections(detections, how.heights, how.expand, height_scale)
    matches = match_images(found, truths, ignores, how.overlap)
    fppi, miss = matches.curve()
    misses = np.maximum(miss_rates_at(fppi, miss), CLAMP if convention == "acfTest" else 0)
    return CaltechResult(
        log_average_miss_rate=geometric_mean(misses),
        fppi=REFERENCES.copy(),
        miss_rates=misses,
        curve=(fppi, miss),
        n_images=len(truths),
        n_evaluated=int(matches.n_truths.sum()),
        n_ignored=sum(map(len, ignores)),
        matches=matches,
    )


def _check(experiment, height_scale, convention):
    """Raise ValueError unless the arguments of `evaluate_caltech` are known and fit together."""
    check_choice("experiment", experiment, list(EXPERIMENTS))
    check_choice("convention", convention, list(CONVENTIONS))
    check_positive("height_scale", height_scale)
    if (experiment, convention) == ("occ=partial", "acfTest"):
        raise ValueError("acfTest cannot tell people partly hidden from those not hidden; use convention='dbEval'.")


# -- people to find --------------------------------------------------------------------------------


def split_people(people, experiment, convention="dbEval"):
    """Split annotated boxes into people to be found, in one shape, and boxes to be ignored.

    Parameters
    ----------
    people : VideoAnnotation
        All images, one after the other as if they were the frames of one video.
    experiment : Experiment
    convention : {"dbEval", "acfTest"}

    Returns
    -------
    truths, ignores : lists of ndarray of shape (g, 4) and (i, 4)
        One entry per image.
    """
    boxes, known, evaluated = CONVENTIONS[convention](people, experiment)
    truth, ignore = known & evaluated, known & ~evaluated
    return (
        by_image(standardize_boxes(boxes[truth]), people.frame[truth], people.n_frames),
        by_image(boxes[ignore], people.frame[ignore], people.n_frames),
    )


def judge_dbeval(people, experiment):
    """Return the boxes, which of them are loaded, and which belong to the experiment."""
    boxes, (low, high) = people.boxes, experiment.heights
    known = np.isin(people.label, ["person", "person?", "people", "ignore"])
    hidden = people.visible.any(axis=1)
    visible = np.where(hidden, _share(people.visible, boxes), np.inf)
    evaluated = (people.label == "person") & (boxes[:, 3] >= low) & (boxes[:, 3] < high)
    return boxes, known, evaluated & _within(visible, experiment.visible) & _typical(boxes, experiment) & _inside(boxes)


def judge_acftest(people, experiment):
    """Return the same as `judge_dbeval`, for boxes rounded to whole pixels."""
    boxes, parts = np.floor(people.boxes + 0.5), np.floor(people.visible + 0.5)
    known = np.isin(people.label, ["person", "people"])
    visible = np.where(people.occluded & parts.any(axis=1), _share(parts, boxes), 1.0)
    visible[people.occluded & (parts == boxes).all(axis=1)] = 0.0
    evaluated = (people.label == "person") & _within(boxes[:, 3], experiment.heights)
    wanted = np.minimum(experiment.visible, 1)
    return boxes, known, evaluated & _within(visible, wanted) & _typical(boxes, experiment) & _inside(boxes)


CONVENTIONS = {"dbEval": judge_dbeval, "acfTest": judge_acftest}


def _share(parts, boxes):
    """Return the ratio of the areas, 0 for boxes without area."""
    areas = boxes[:, 2] * boxes[:, 3]
    return np.divide(parts[:, 2] * parts[:, 3], areas, out=np.zeros(len(boxes)), where=areas > 0)


def _within(values, limits):
    return (values >= limits[0]) & (values <= limits[1])


def _typical(boxes, experiment):
    """Tell which boxes have the shape of the experiment."""
    if experiment.aspect == 0:
        return np.ones(len(boxes), dtype=bool)
    apart = np.abs(boxes[:, 2] - ASPECT * boxes[:, 3]) / np.maximum(boxes[:, 3], 1e-300)
    return apart < experiment.aspect if experiment.aspect > 0 else apart > -experiment.aspect


def _inside(boxes):
    left, top, right, bottom = BOUNDS
    x, y, w, h = boxes.T
    return (x >= left) & (y >= top) & (x + w <= right) & (y + h <= bottom)


# -- files -----------------------------------------------------------------------------------------


def read_caltech(root, name):
    """Read the annotations and detections that are evaluated.

    Returns
    -------
    people : VideoAnnotation
        All images, one after the other as if they were the frames of one video.
    detections : list of ndarray of shape (k, 5)
        One entry per image.

    Raises
    ------
    FileNotFoundError, ValueError
        See `evaluate_caltech`.
    """
    results, (videos, people) = Path(root, "res", name), read_videos(root)
    tables = [results / video.parent.name / f"{video.stem}.txt" for video in videos]
    missing = [str(table) for table in tables if not table.exists()]
    if missing:
        raise FileNotFoundError(f"Results of {len(missing)} of {len(videos)} videos are missing: {missing[0]}, ...")
    detections = [_detected_images(table, video.n_frames) for table, video in zip(tables, people, strict=True)]
    return _joined(people), list(itertools.chain.from_iterable(detections))


def read_people(root, sets=TEST_SETS) -> VideoAnnotation:
    """Read the annotations that are evaluated, all images one after the other; for errors see `evaluate_caltech`."""
    return _joined(read_videos(root, sets)[1])


def read_videos(root, sets=TEST_SETS):
    """Return the annotation files of some sets, of all others if there are no test sets, and what they hold."""
    annotations = Path(root, "annotations")
    videos = sorted(annotations.glob("set[0-9][0-9]/V[0-9][0-9][0-9].vbb"))
    others = videos if sets == TEST_SETS else []
    videos = [video for video in videos if video.parent.name in sets] or others
    if not videos:
        raise FileNotFoundError(f"{annotations} holds no setXX/VYYY.vbb; give the folder above annotations/ and res/.")
    return videos, [_annotated_images(video, video.stat().st_size, video.stat().st_mtime_ns) for video in videos]


@functools.lru_cache(maxsize=256)  # many detectors and experiments share annotations
def _annotated_images(path, size, changed):
    """Read the annotation of the evaluated frames of a video; size and time reveal a changed file."""
    video = read_vbb(path, slice(STEP - 1, None, STEP))
    return replace(video, n_frames=video.n_frames // STEP, frame=video.frame // STEP)


def _joined(videos):
    """Join videos, one after the other."""
    starts = np.cumsum([0, *(video.n_frames for video in videos)])
    frames = [video.frame + start for video, start in zip(videos, starts[:-1], strict=True)]
    columns = {
        name: np.concatenate([getattr(video, name) for video in videos])
        for name in ("label", "boxes", "visible", "occluded")
    }
    return VideoAnnotation(n_frames=int(starts[-1]), frame=np.concatenate(frames), **columns)


def _detected_images(path, n_images):
    """Read the detections of each evaluated frame; results count frames from 1: 30, 60, ..."""
    table = read_results(path)
    place = table[:, 0] / STEP - 1
    used = np.isin(place, np.arange(n_images))
    if len(table) and not used.any():
        raise ValueError(
            f"{path}: no detection is in an evaluated frame, 30, 60, ... up to {STEP * n_images}; the first is in "
            f"{table[0, 0]:g}. Frames are counted from 1, and every {STEP}th is evaluated."
        )
    return by_image(table[used, 1:], place[used].astype(np.int64), n_images)
