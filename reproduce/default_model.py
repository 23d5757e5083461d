"""The detector that comes with the package: the candidate that best withstands re-encoding and blur.

Protocol. Candidates are trained on four fifths of INRIA's training data, by photograph (fold 0 of
`reproduce/detectors/__init__.py`), on plain images or on "mixed" ones: out of every four, crops and photographs alike,
one is unchanged, one is re-encoded as JPEG (quality 50 to 95), one as WebP (50 to 95), and one is blurred (sigma 0.4 to
1.2). The figure is the miss rate of the held-out crops at 0.01 to 1 false positives per held-out photograph, with both
unchanged, as JPEG 75, as WebP 80, and blurred by sigma 1. The candidate with the least mean of the four is shipped as
it was trained, with the threshold that gives 0.1 false positives per photograph, over all held-out ones unchanged and
as JPEG 75.

The chosen one is then run on INRIA test, once, with unchanged images and with the same three changes. It is left as
build/default_model/SCALE/best.npz; that of the scale "paper" is paucens/detector/weights/pedestrian.npz.

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
from detectors.training import build_folder, slug
from harness import Run, exit_code
from paucens.images import pixels_of
from paucens.plotting import house_style, new_figure
from report import markdown

FPPI = 0.1
ALL = "spCov+spLBP+M+O+LUV"
CANDIDATES = [("M+O+LUV", "plain"), ("M+O+LUV", "mixed"), (ALL, "plain"), (ALL, "mixed")]
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


def candidate(run, case):
    """Train a candidate, or load it, and set the threshold that it would be shipped with; also tell the seconds."""
    data, held_out = detectors.parts(run)
    channels, images = case["channels"], case["images"]
    folder = build_folder(run, "default_model") / slug(channels, images, run.seed)
    if images == "mixed":
        crops, photographs = (stored(getattr(data, part), folder / part, run.seed) for part in ("crops", "images"))
        data = replace(data, crops=crops, images=photographs)
    config = detectors.DetectorConfig(f"{channels}, {images} images", channels)
    detector, seconds = detectors.trained(run, config, data, run.seed)
    shutil.rmtree(folder, ignore_errors=True)
    detector.notes |= {"training data": TERMS, "images": images}
    pixels = [pixels_of(image) for image in held_out.images]
    pixels += map(CHANGES["JPEG 75"], pixels[:])
    threads = detectors.n_threads(run)
    detector.threshold = detector.threshold_at_fppi(pixels, max(FPPI, 1 / len(pixels)), n_jobs=threads)
    return detector, seconds


def measure(run, case):
    """Judge a candidate under every change of the held-out images."""
    (detector, seconds), (_, held_out), rows = candidate(run, case), detectors.parts(run), []
    crops, threads = detectors.without_edges(held_out.crops), detectors.n_threads(run)
    for name, change in CHANGES.items():
        miss_rate = detectors.crop_miss_rate(detector, crops, held_out.images, threads, change)
        row = {"change": name, "miss_rate": f"{miss_rate:.6f}", "train_seconds": seconds}
        rows.append(row | {"threshold": f"{detector.threshold:.4f}"})
    return rows


def ship(run, case):
    """Save the best candidate, and judge it under every change of the test images, paired with the unchanged ones."""
    (detector, _), tests = candidate(run, case), detectors.test_set(run, case["test_set"])
    folder = build_folder(run, "default_model")
    folder.mkdir(parents=True, exist_ok=True)
    detector.save(folder / "best.npz")
    matches, rows, threads = {}, [], detectors.n_threads(run)
    for name, change in CHANGES.items():
        found = detectors.detections_of(detector, tests.images, threads, tests.searched_height, change)
        matches[name] = tests.evaluate(found)
        rows.append({"change": name} | detectors.judged(matches[name], matches["unchanged"]))
        about = f"{case['channels']} trained on {case['images']} images; test images: {name}"
        detectors.log_evaluation(run, about, run.seed, tests.title, rows[-1]["miss_rate"])
    return rows


def table(rows, tested):
    """List the miss rates of all candidates, the shipped one first, then its miss rates on test images."""
    wide = 100 * rows.pivot(index=["channels", "images"], columns="change", values="miss_rate")[[*CHANGES]]
    wide = wide.assign(mean=wide.mean(axis=1)).sort_values("mean").map("{:.1f}".format).reset_index()
    scores = map(detectors.per_cent, tested[detectors.SCORE].to_numpy())
    differences = (detectors.per_cent(own, "+") for own in tested[detectors.DIFFERENCE].to_numpy())
    on_test = list(zip(tested.change, scores, differences, strict=True))
    blocks = [
        "# The detector of the package",
        f"{rows.data_set.iloc[0]}: miss rates of held-out crops in per cent, at 0.01 to 1 false positives per image.",
        markdown(wide.to_numpy(), ["channels", "training images", *CHANGES, "mean"]),
        f"The first one is shipped. On {tested.test_set.iloc[0]}, with 95 % intervals over images:",
        markdown(on_test, ["test images", "log-average miss rate", "difference"]),
    ]
    return "\n\n".join(blocks) + "\n"


@house_style()
def picture(rows):
    """Draw the miss rates under each change, a line per candidate."""
    figure = new_figure(5.5, 3.2)
    axes = figure.subplots()
    for (channels, images), own in rows.groupby(["channels", "images"], sort=False):
        axes.plot(own.change, 100 * own.miss_rate, "o-", label=f"{channels}, {images} images")
    axes.set(ylabel="miss rate of held-out crops, %", ylim=(0, None))
    axes.legend()
    return figure


def main(argv=None):
    """Judge all candidates on held-out crops, then the best one on test images; two are enough on rendered streets."""
    run = Run.of(__file__, __doc__, detectors.PROTOCOLS, argv)
    named, tried = detectors.load(run, 1), CANDIDATES if run.scale == "paper" else CANDIDATES[:2]
    tried = [{"channels": channels, "images": images} for channels, images in tried]
    cases = [{"data_set": start["data_set"]} | one for start in named for one in tried]
    rows = run.rows("default_model", measure, cases)
    channels, images = rows.groupby(["channels", "images"], sort=False).miss_rate.mean().idxmin()
    tested = run.rows("default_model_test", ship, [start | {"channels": channels, "images": images} for start in named])
    return run.write(table(rows, tested), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
