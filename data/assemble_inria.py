"""Build an uncompressed INRIAPerson folder, all PNG as far as it was, from two public snapshots and a compressed copy.

The official archive is gone from its page, and copies of it are often compressed, which features that correlate
derivatives notice. Two public repositories hold what is needed uncompressed:

  --negatives  https://github.com/dqvid3/HOG-SVM-Pedestrian-Detector, the 1218 + 453 photographs without people
  --test       https://github.com/Dingyi-Yao/HOG-SVM-pedestrian-detection, 287 of the 288 test images as PNG. Somebody's
               detections are drawn into them as pure red lines; these pixels are filled from around them (Telea's
               inpainting, radius 3): 2.5 % of an image on average, 0.37 % at least, 6.8 % at most. Say so with
               every number: "all repaired, uncompressed".
  --crops      a folder INRIAPerson with 96X160H96/Train/pos (1208 crops, any lossless form) and Test/annotations

Clone both, with --bare if you like, and run

  python data/assemble_inria.py --negatives HOG-SVM-Pedestrian-Detector --test HOG-SVM-pedestrian-detection \\
      --crops INRIAPerson --out data

It takes about a minute, 0.6 GB in OUT/INRIAPerson, git, and opencv-python-headless for the inpainting. A folder
that is there already is not touched.
"""

import argparse
import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path, PurePosixPath

import numpy as np
from PIL import Image

NEGATIVES_COMMIT = "a340b78"
TEST_COMMIT = "d1a35de"
NEGATIVES = {"negative/train_neg": "Train/neg", "negative/val_neg": "Train/neg", "negative/neg": "Test/neg"}
TEST = {"detect_95_2_new": "Test/pos"}
CROPS, ANNOTATIONS = "96X160H96/Train/pos", "Test/annotations"
COUNTS = {"Train/neg": 1218, "Test/neg": 453, "Test/pos": 287, CROPS: 1208, ANNOTATIONS: 288}
RED = (255, 0, 0)


def main():
    arguments = parse_arguments()
    target = arguments.out / "INRIAPerson"
    if target.exists():
        sys.exit(f"{target} exists already. Choose another --out, or remove it.")
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=arguments.out) as folder:
        draft = Path(folder, "INRIAPerson")
        for name in COUNTS:
            (draft / name).mkdir(parents=True)
        copy_negatives(arguments.negatives, draft)
        share = repair_test_images(arguments.test, draft)
        copy_crops_and_annotations(arguments.crops, draft)
        check(draft)
        draft.rename(target)
    print(f"{target}: {COUNTS}; {100 * share:.2f} % of the pixels of the test images filled in, on average")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--negatives", required=True, type=Path, metavar="REPOSITORY", help="clone or bare repository")
    parser.add_argument("--test", required=True, type=Path, metavar="REPOSITORY", help="clone or bare repository")
    parser.add_argument(
        "--crops", required=True, type=Path, metavar="FOLDER", help="INRIAPerson with the lossless crops"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where INRIAPerson/ is to be made")
    return parser.parse_args()


def files_of(repository, commit, folders):
    """Yield (folder, name, bytes) of all files that a commit has in these folders."""
    command = ["git", "-C", str(repository), "archive", "--format=tar", commit, "--", *folders]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                for member in filter(tarfile.TarInfo.isfile, archive):
                    path = PurePosixPath(member.name)
                    yield str(path.parent), path.name, archive.extractfile(member).read()
        except tarfile.ReadError:
            sys.exit(f"{repository} does not hold {', '.join(folders)} of commit {commit}. Clone it again, whole.")


def copy_negatives(repository, draft):
    for folder, name, content in files_of(repository, NEGATIVES_COMMIT, NEGATIVES):
        (draft / NEGATIVES[folder] / name).write_bytes(content)


def repair_test_images(repository, draft):
    """Write the test images without the red lines; return the mean share of pixels filled in."""
    shares = []
    for folder, name, content in files_of(repository, TEST_COMMIT, TEST):
        image, share = without_lines(np.asarray(Image.open(io.BytesIO(content)).convert("RGB")))
        Image.fromarray(image).save(draft / TEST[folder] / f"{PurePosixPath(name).stem}.png")
        shares.append(share)
    return np.mean(shares)


def without_lines(image):
    """Return the image with its pure red pixels filled in, and their share."""
    try:
        import cv2
    except ImportError:
        sys.exit("The lines in the test images are filled in by OpenCV: pip install opencv-python-headless")
    lines = (image == RED).all(axis=2)
    return cv2.inpaint(image, lines.astype(np.uint8), 3, cv2.INPAINT_TELEA), lines.mean()


def copy_crops_and_annotations(source, draft):
    for name in (CROPS, ANNOTATIONS):
        if not (source / name).is_dir():
            sys.exit(f"{source} lacks {name}. Give --crops the folder INRIAPerson of a copy that has it.")
    for file in files_in(source / CROPS):
        Image.open(file).convert("RGB").save(draft / CROPS / f"{file.stem}.png")
    for file in files_in(source / ANNOTATIONS):
        shutil.copy(file, draft / ANNOTATIONS)


def files_in(folder):
    """List the files of a folder by name, without those that other systems hide there and read-mes."""
    files = sorted(file for file in folder.iterdir() if not file.name.startswith("."))
    return [file for file in files if file.stem.lower() != "readme"]


def check(draft):
    """Stop where there are not as many files as there must be."""
    counts = {name: sum(1 for _ in (draft / name).iterdir()) for name in COUNTS}
    if counts != COUNTS:
        sys.exit(f"Found {counts}; expected {COUNTS}. Nothing was kept.")


if __name__ == "__main__":
    main()
