"""The detector that comes with the package: the candidate that best withstands re-encoding and blur.

Protocol. Candidates differ in their channels and in the preset of `ChannelSpec`. They are trained on four fifths of
INRIA's training data, by photograph (fold 0 of `reproduce/detectors/__init__.py`), on plain images or on "mixed" ones:
out of every four, crops and photographs alike, one is unchanged, one is re-encoded as JPEG (quality 50 to 95), one as
WebP (50 to 95), and one is blurred (sigma 0.4 to 1.2). The figure is the miss rate of the held-out crops at 0.01 to 1
false positives per held-out photograph, with both unchanged, as JPEG 75, as WebP 80, and blurred by sigma 1. The
candidate with the least mean of the four is shipped as it was trained.

The chosen one gets a soft cascade and a first stage. The cascade rejects windows whose sums fall below those of all
crops of the training, shifted by up to a cell, that score above what gives one false positive per held-out photograph
(`positive_traces`). The first stage is the detector of M, O and LUV after the rounds but the last, trained on the same
images. It rejects likewise, by the score that leaves a given share of the windows of the held-out photographs, and lets
those windows go on whose score is within a given distance of the best one that they overlap. Of the pairs in `STAGES`,
from the one that rejects most, the first is taken whose mean miss rate of the held-out crops is at most 0.2 points
above that without stages, or else the last.

The threshold is the least one with at most 0.1 false boxes per photograph without people and at most 0.1 second boxes
per person, on what is held out, unchanged and as JPEG 75. A second box scores less than the person's own box and lies
on the person by at least half of its area (`person_and_second_scores`, on crops without repeated edges). Photographs
without people alone would give a lower threshold, since boxes around parts of people come only with people. Boxes
beside the person do not count: most of them are other people, who are not annotated. Some second boxes are other people
too, close to the person or behind it, so that the threshold is rather too high than too low.

The result is then run on the test sets, once, with unchanged images and with the same three changes, and once more on
unchanged images without stages. It is left as build/default_model/SCALE/best.npz; that of the scale "paper" is
paucens/detector/weights/pedestrian.npz.

    python reproduce/default_model.py --scale paper --data DIR

DIR holds the uncompressed INRIA folder of `data/README.md`. Trainings take 5 to 28 minutes on two cores.
"""

import io
import shutil
import sys
from dataclasses import replace
from functools import partial

import numpy as np
from PIL import Image, ImageFilter

import detectors
from detectors import stages
from detectors.training import build_folder, slug
from harness import Run, exit_code
from paucens.images import pixels_of
from paucens.plotting import house_style, new_figure
from report import markdown

MOST_FALSE = 0.1  # boxes per photograph without people, and second boxes per person
FEW, ALL = "M+O+LUV", "spCov+spLBP+M+O+LUV"
CANDIDATE = ["channels", "preset", "images"]
CANDIDATES = [
    (FEW, "robust", "plain"),
    (FEW, "robust", "mixed"),
    (ALL, "robust", "plain"),
    (ALL, "robust", "mixed"),
    (ALL, "release", "mixed"),
]
THRESHOLD_CHANGES = ["unchanged", "JPEG 75"]
CASCADE_FPPI = 1.0  # false positives per photograph at the least score of people whose traces count
STAGES = [(2e-4, 3.0), (1e-3, 3.0)]  # share of the windows of photographs, distance from the best
STAGE_COLUMNS = ["share", "within", "least_score", "first_score"]
THRESHOLD_COLUMNS = {
    "rule": "threshold from",
    "threshold": "threshold",
    "false_per_photograph": "false boxes per photograph",
    "second_per_person": "second boxes per person",
    "found": "share of people found",
}
WHOLE = "unchanged, without stages"
ENLARGED = ["TUD-Stadtmitte, 50 px", "ETH-Bahnhof, 50 px"]  # test sets whose images would be enlarged
MOST_LOST = 0.002  # miss rate that stages may cost on held-out crops
TERMS = "INRIA Person (Dalal and Triggs 2005), no licence stated, made available for research"


def encoded(image, **options):
    """Return the pixels after a round trip through a format."""
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, **options)
    return np.array(Image.open(stream).convert("RGB"))


def blurred(image, sigma):
    """Return the pixels after a Gaussian blur."""
    return np.array(Image.fromarray(image).filter(ImageFilter.GaussianBlur(sigma)))


CHANGES = {
    "unchanged": lambda image: image,
    "JPEG 75": partial(encoded, format="JPEG", quality=75),
    "WebP 80": partial(encoded, format="WEBP", quality=80),
    "blur 1": partial(blurred, sigma=1.0),
}


def mixed(image, k, seed):
    """Return image number k unchanged, as JPEG, as WebP or blurred, in turn."""
    random = np.random.default_rng([seed, k])
    if k % 4 == 0:
        return image
    if k % 4 == 3:
        return blurred(image, random.uniform(0.4, 1.2))
    return encoded(image, format=("JPEG", "WEBP")[k % 4 - 1], quality=int(random.integers(50, 96)))


def stored(images, folder, seed):
    """Write mixed images to files, without loss."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{k:04d}.png" for k in range(len(images))]
    for k, (path, image) in enumerate(zip(paths, images, strict=True)):
        Image.fromarray(mixed(pixels_of(image), k, seed)).save(path)
    return paths


def candidate(run, case, n_rounds=None):
    """Train a candidate, or load it; also tell the seconds. `n_rounds` is that of `DetectorConfig`."""
    data, _ = detectors.parts(run)
    channels, preset, images = (case[name] for name in CANDIDATE)
    folder = build_folder(run, "default_model") / slug(channels, preset, images, run.seed)
    if images == "mixed":
        crops, photographs = (stored(getattr(data, part), folder / part, run.seed) for part in ("crops", "images"))
        data = replace(data, crops=crops, images=photographs)
    config = detectors.DetectorConfig(f"{channels}, {images} images", channels, preset, n_rounds=n_rounds)
    detector, seconds = detectors.trained(run, config, data, run.seed)
    shutil.rmtree(folder, ignore_errors=True)
    detector.notes |= {"training data": TERMS, "images": images}
    return detector, seconds


def measure(run, case):
    """Judge a candidate under every change of the held-out images."""
    detector, seconds = candidate(run, case)
    return [row | {"train_seconds": seconds} for row in on_held_out(run, detector)]


def on_held_out(run, detector):
    """Return the miss rate of a detector under every change of the held-out images, a row each."""
    _, held_out = detectors.parts(run)
    crops, threads = detectors.without_edges(held_out.crops), detectors.n_threads(run)
    rates = (detectors.crop_miss_rate(detector, crops, held_out.images, threads, change) for change in CHANGES.values())
    return [{"change": name, "miss_rate": f"{rate:.6f}"} for name, rate in zip(CHANGES, rates, strict=True)]


def find_scores(run, case):
    """Find the least scores that count in the cascade and in the first stages, on held-out photographs."""
    (_, held_out), threads = detectors.parts(run), detectors.n_threads(run)
    first, _ = candidate(run, case | {"channels": FEW}, n_rounds=-1)
    shares = [share for share, _ in STAGES]
    least = stages.score_at_fppi(candidate(run, case)[0], held_out.images, CASCADE_FPPI, threads)
    scores = stages.scores_at_shares(first, held_out.images, shares, threads)
    return [
        {"share": share, "within": within, "least_score": f"{least:.6f}", "first_score": f"{score:.6f}"}
        for (share, within), score in zip(STAGES, scores, strict=True)
    ]


def staged(run, case):
    """Make the detector of a case with its cascade and its first stage, which one of few channels does without."""
    (data, _), threads = detectors.parts(run), detectors.n_threads(run)
    crops = [pixels_of(crop) for crop in data.crops]
    if case["images"] == "mixed":
        crops = [mixed(crop, k, run.seed) for k, crop in enumerate(crops)]
    detector = stages.with_traces(candidate(run, case)[0], crops, case["least_score"], threads)
    if case["channels"] == FEW:
        return detector
    first, _ = candidate(run, case | {"channels": FEW}, n_rounds=-1)
    first = stages.with_traces(first, crops, case["first_score"], threads)
    return detector.with_first_stage(first, within=case["within"])


def measure_stages(run, case):
    """Judge a detector in stages under every change of the held-out images."""
    return on_held_out(run, staged(run, case))


def chosen(staged_rows, most):
    """Return the first stages that miss no more than `most` on average, or else the last."""
    rates = staged_rows.groupby(STAGE_COLUMNS, sort=False).miss_rate.mean()
    good = rates[rates <= most]
    return dict(zip(STAGE_COLUMNS, (good if len(good) else rates[-1:]).index[0], strict=True))


def find_threshold(run, case):
    """Find the least thresholds for photographs without people, and for people too; tell what each leaves."""
    detector, (_, held_out), threads = staged(run, case), detectors.parts(run), detectors.n_threads(run)
    crops, scores = detectors.without_edges(held_out.crops), []
    for change in map(CHANGES.get, THRESHOLD_CHANGES):
        found = detectors.detections_of(detector, held_out.images, threads, change=change)
        people, second = detectors.person_and_second_scores(detector, crops, threads, change)
        scores.append((np.concatenate(found)[:, 4], second, people))
    false, second, people = map(np.concatenate, zip(*scores, strict=True))
    n_photographs = len(THRESHOLD_CHANGES) * len(held_out.images)
    least = score_of_most(false, MOST_FALSE * n_photographs)
    both = max(least, score_of_most(second, MOST_FALSE * len(people)))
    return [
        {
            "rule": rule,
            "threshold": f"{threshold:.4f}",
            "false_per_photograph": f"{(false > threshold).sum() / n_photographs:.4f}",
            "second_per_person": f"{(second > threshold).sum() / len(people):.4f}",
            "found": f"{(people > threshold).mean():.4f}",
        }
        for rule, threshold in (("photographs", least), ("photographs and people", both))
    ]


def score_of_most(scores, most):
    """Return the least threshold that at most so many scores exceed: one of them, or -inf if there are no more."""
    place = int(most + 1e-9)
    return np.sort(scores)[::-1][place] if len(scores) > place else -np.inf


def ship(run, case):
    """Save the best candidate in stages, and judge it under every change of the test images.

    All are compared, in pairs, with what it detects in unchanged images without a first stage.
    """
    detector, tests = replace(staged(run, case), threshold=case["threshold"]), detectors.test_set(run, case["test_set"])
    folder = build_folder(run, "default_model")
    folder.mkdir(parents=True, exist_ok=True)
    detector.save(folder / "best.npz")
    whole, _ = candidate(run, case)
    standard, rows, threads = None, [], detectors.n_threads(run)
    for name, change in ({WHOLE: CHANGES["unchanged"]} | CHANGES).items():
        own = whole if name == WHOLE else detector
        found = detectors.detections_of(own, tests.images, threads, tests.searched_height, change)
        matches = tests.evaluate(found)
        standard = standard or matches
        rows.append({"change": name} | detectors.judged(matches, standard))
        about = f"{case['channels']}, {case['preset']}, trained on {case['images']} images; test images: {name}"
        detectors.log_evaluation(run, about, run.seed, tests.title, rows[-1]["miss_rate"])
    return rows


def table(rows, staged_rows, thresholds, tested):
    """List the miss rates of all candidates, the shipped one first, of its stages, thresholds, then of test images."""
    wide = in_columns(rows, CANDIDATE).sort_values("mean")
    in_stages = in_columns(staged_rows, ["share", "within"])
    blocks = [
        "# The detector of the package",
        f"{rows.data_set.iloc[0]}: miss rates of held-out crops in per cent, at 0.01 to 1 false positives per image.",
        as_markdown(wide, ["channels", "preset", "training images"]),
        "The first one is shipped. In two stages, of which the first leaves a share of the windows of held-out "
        "photographs, and of windows that overlap only those whose score is within a distance of the best one:",
        as_markdown(in_stages, ["share", "distance"]),
        f"The share {tested.share.iloc[0]:g} is shipped, with the second of these thresholds, from held-out "
        "photographs without people and crops of people:",
        markdown(thresholds[[*THRESHOLD_COLUMNS]].round(3).to_numpy(), THRESHOLD_COLUMNS.values()),
        "On test images, with 95 % intervals over images; differences are from the first row of the test set:",
    ]
    for title, own in tested.groupby("test_set", sort=False):
        scores = map(detectors.per_cent, own[detectors.SCORE].to_numpy())
        differences = (detectors.per_cent(each, "+") for each in own[detectors.DIFFERENCE].to_numpy())
        lines = list(zip(own.change, scores, differences, strict=True))
        blocks += [f"## {title}", markdown(lines, ["test images", "log-average miss rate", "difference"])]
    return "\n\n".join(blocks) + "\n"


def in_columns(rows, index):
    """Return the miss rates in per cent, a column per change, and their means."""
    wide = 100 * rows.pivot(index=index, columns="change", values="miss_rate")[[*CHANGES]]
    return wide.assign(mean=wide.mean(axis=1))


def as_markdown(wide, names):
    """Write the frame of `in_columns`."""
    return markdown(wide.map("{:.1f}".format).reset_index().to_numpy(), [*names, *CHANGES, "mean"])


@house_style()
def picture(rows):
    """Draw the miss rates under each change, a line per candidate."""
    figure = new_figure(8, 3.2)
    axes = figure.subplots()
    for (channels, preset, images), own in rows.groupby(CANDIDATE, sort=False):
        axes.plot(own.change, 100 * own.miss_rate, "o-", label=f"{channels}, {preset}, {images} images")
    axes.set(ylabel="miss rate of held-out crops, %", ylim=(0, None))
    figure.legend(loc="outside right center")
    return figure


def main(argv=None):
    """Judge all candidates on held-out crops, then stages of the best one, then the result on test images."""
    run = Run.of(__file__, __doc__, detectors.PROTOCOLS, argv)
    named, tried = detectors.load(run), CANDIDATES if run.scale == "paper" else CANDIDATES[::3]
    named = [start for start in named if start["test_set"] not in ENLARGED]
    start = [{"data_set": named[0]["data_set"]}] if named else []
    tried = [dict(zip(CANDIDATE, one, strict=True)) for one in tried]
    rows = run.rows("default_model", measure, [one | other for one in start for other in tried])
    rates = rows.groupby(CANDIDATE, sort=False).miss_rate.mean()
    best = dict(zip(CANDIDATE, rates.idxmin(), strict=True))
    scores = run.rows("default_model_scores", find_scores, [one | best for one in start])
    settings = scores[STAGE_COLUMNS].to_dict("records")
    staged_cases = [one | best | setting for one in start for setting in settings]
    staged_rows = run.rows("default_model_stages", measure_stages, staged_cases)
    shipped = best | chosen(staged_rows, rates.min() + MOST_LOST)
    thresholds = run.rows("default_model_threshold", find_threshold, [one | shipped for one in start])
    shipped |= {"threshold": thresholds.threshold.iloc[-1]}
    tested = run.rows("default_model_test", ship, [one | shipped for one in named])
    return run.write(table(rows, staged_rows, thresholds, tested), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
