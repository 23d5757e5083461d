"""Train: train a detector on annotated images, or on crops and images without the object."""

import argparse
import time

from paucens.cli.annotations import add_annotation_arguments, read_records
from paucens.cli.failures import DONE, MODEL_UNUSABLE, USAGE, Failure, failing_with
from paucens.cli.outputs import add_output_arguments, check_output
from paucens.cli.reporting import add_log_argument, log_to, say
from paucens.cli.sources import files_of
from paucens.cli.windows import add_window_arguments, window_of

BOOSTERS = ("adaboost", "paucens")


def add_arguments(parser):
    """Add what the command takes."""
    add_annotation_arguments(parser)
    parser.add_argument("--crops", metavar="FOLDER", help="crops instead of boxes, as `paucens crop` cuts them")
    parser.add_argument(
        "--negatives", metavar="SOURCE", nargs="+", default=[], help="images, folders or patterns without the object"
    )
    add_window_arguments(parser)
    parser.add_argument("--channels", default="M+O+LUV", metavar="A+B", help="families of channels, default: M+O+LUV")
    parser.add_argument("--preset", default="robust", help="of the channels: acf, paper, robust (default) or release")
    parser.add_argument(
        "--trees",
        type=_numbers,
        default=(32, 128, 512, 2048),
        metavar="N,...",
        help="trees per round; after each but the last, hard negatives are mined; default: 32,128,512,2048",
    )
    parser.add_argument("--booster", choices=BOOSTERS, default="adaboost", help="default: adaboost")
    parser.add_argument("--negatives-per-round", type=int, default=5000, metavar="N", help="default: 5000")
    parser.add_argument("--no-mirrors", action="store_true", help="the object differs from its mirror image")
    add_annotation_arguments(parser, "val-", what="annotations to judge each round by, and to set the threshold")
    parser.add_argument(
        "--fppi", type=float, default=0.1, help="false positives per image at the threshold, default: 0.1"
    )
    parser.add_argument("--checkpoint", metavar="FOLDER", help="for intermediate results; run again to resume")
    parser.add_argument("--threads", type=int, default=1, help="default: 1")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    add_output_arguments(parser, "the detector", required=True)
    add_log_argument(parser)


def _numbers(text):
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers, such as 32,128,512") from None


def run(options):
    """Train, report each round, set the threshold, and save."""
    from dataclasses import replace

    check_output(options.output, options.force)
    if (options.boxes is None) == (options.crops is None):
        raise Failure(USAGE, "give --boxes, annotated images, or --crops and --negatives.")
    if options.crops is not None and not options.negatives:
        raise Failure(USAGE, "crops need --negatives, images without the object.")
    validation = _validation(options)
    with log_to(options.log) as log:
        rounds = _Rounds(len(options.trees), validation, log)
        with failing_with(MODEL_UNUSABLE if options.checkpoint else USAGE):
            detector = _train(options, rounds)
        if validation is not None:
            matches = rounds.matches or validation.matches(detector)  # none if all rounds were in the checkpoint
            detector = replace(detector, threshold=matches.threshold_at(options.fppi))
        detector.save(options.output)
        say(f"{options.output}: {len(detector.trees.rejection)} trees, threshold {detector.threshold:.4g}")
        log("saved", model=options.output, threshold=detector.threshold)
    return DONE


def _train(options, rounds):
    from paucens.detector import train_detector
    from paucens.features import ChannelSpec

    shared = {
        "spec": ChannelSpec.parse(options.channels, preset=options.preset),
        "classifier": _boosters(options),
        "window": window_of(options),
        "n_estimators": options.trees,
        "n_negatives": options.negatives_per_round,
        "most_negatives": 2 * options.negatives_per_round,
        "mirrors": not options.no_mirrors,
        "random_state": options.seed,
        "n_jobs": options.threads,
        "checkpoint": options.checkpoint,
        "on_round": rounds,
    }
    negatives = files_of(options.negatives)
    if options.crops is not None:
        return train_detector(files_of([options.crops]), negatives, **shared)
    records = read_records(options.boxes, options.images, options.boxes_format, options.label)
    return train_detector(negative_images=negatives or None, records=records, **shared)


def _boosters(options):
    """Return the ensemble of each round; that for a slice of the curve is for the last one.

    Its parameters are those of Table 3 (figures/detector_choice.md).
    """
    from paucens.boosting import AdaBoostClassifier
    from paucens.ensemble import PAUCEnsClassifier
    from paucens.learners import Tree

    tree = Tree(depth=3, column_fraction=1 / 16, column_sampling="node")
    boosters = [AdaBoostClassifier(learner=tree, shrinkage=0.1)] * len(options.trees)
    if options.booster == "paucens":
        boosters[-1] = PAUCEnsClassifier((0, 0.25), learner=tree, nu=0.0625, anneal=False)
    return boosters


class _Rounds:
    """Reports on each round of training.

    Attributes
    ----------
    matches : Matches or None
        Those of the last round on the images to judge by.
    """

    def __init__(self, n_rounds, validation, log):
        self.matches = None
        self._n_rounds, self._validation, self._log = n_rounds, validation, log
        self._start = time.monotonic()

    def __call__(self, done):
        from paucens.evaluation import log_average_miss_rate

        facts = done._asdict()
        detector = facts.pop("detector")
        facts["seconds"] = round(time.monotonic() - self._start, 1)
        text = (
            f"round {done.number + 1} of {self._n_rounds}: {done.n_trees} trees, {done.n_positives} positives, "
            f"{done.n_negatives} negatives ({done.n_hard} hard ones found), median scores {done.median_positive:.3g} "
            f"and {done.median_negative:.3g}, {facts['seconds']:.1f} s"
        )
        if self._validation is not None:
            self.matches = self._validation.matches(detector)
            facts["validation_miss"] = log_average_miss_rate(*self.matches.curve())
            text += f", validation miss {facts['validation_miss']:.3g}"
        self._log("round", **facts)
        say(text)
        self._start = time.monotonic()


def _validation(options):
    """Return the images to judge by, or None."""
    if options.val_boxes is None:
        return None
    return Validation(read_records(options.val_boxes, options.val_images, options.boxes_format, options.label))


class Validation:
    """Annotated images that a detector is judged by, in the heights that it was trained for."""

    def __init__(self, records):
        self._records = records

    def matches(self, detector):
        """Detect in all images; return the Matches."""
        from paucens.evaluation import match_images, prepare_images
        from paucens.images import read_rgb

        found = [detector.detect(read_rgb(record.image), threshold=float("-inf")) for record in self._records]
        truths, ignores = [record.boxes for record in self._records], [record.ignore for record in self._records]
        height, width = detector.window.target
        return match_images(
            *prepare_images(found, truths, ignores, heights=(height, float("inf")), aspect=width / height)
        )
