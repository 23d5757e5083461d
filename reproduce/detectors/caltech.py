"""The images of Caltech-USA, as far as they are on the disk: every 30th frame, and the frame before."""

import numpy as np
from PIL import Image

from detectors.training import build_folder
from paucens.datasets import DetectionRecord, SeqVideo
from paucens.evaluation.caltech import EXPERIMENTS, STEP, TEST_SETS, read_people, read_videos, split_people

TRAINING_SETS = ("set00", "set01", "set02", "set03", "set04", "set05")
SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
WANTED = (
    "The images of Caltech-USA are not in {root}: expected videos/set00/V000.seq, ... as the benchmark has them, or "
    "every 30th frame and the one before, counted from 0, as images/set00/V000/I00028.jpg, I00029.jpg, ..."
)


def records(run, root, sets, experiment):
    """Return every 30th frame of some sets with the one before; people of the experiment are to find, others to ignore.

    Boxes count pixels from 0. Frames of `.seq` videos are written as PNG into build/ once.

    Raises
    ------
    FileNotFoundError
        If a frame is neither there nor in a video.
    """
    people = read_people(root, sets)
    boxes = (map(from_zero, parts) for parts in split_people(people, EXPERIMENTS[experiment]))
    frames = _frames(run, root, sets)
    return [
        DetectionRecord(image, found, ignored, previous=previous)
        for (previous, image), found, ignored in zip(frames, *boxes, strict=True)
    ]


def training_records(run, root):
    """Return the records to train on: people of at least 50 pixels whom nothing hides are to find."""
    if not any((root / "annotations" / name).exists() for name in TRAINING_SETS):
        raise FileNotFoundError(f"The training sets of Caltech-USA, annotations/set00 to set05, are not in {root}.")
    return records(run, root, TRAINING_SETS, "occ=none")


def test_records(run, root):
    """Return the records of the images that are judged."""
    return records(run, root, TEST_SETS, "reasonable")


def from_zero(boxes):
    """Count the pixels of boxes from 0, those of the files from 1."""
    return boxes - np.eye(4)[0] - np.eye(4)[1]


def from_one(detections):
    """Count the pixels of detections from 1, as the files do."""
    return detections + np.array([1, 1, 0, 0, 0])


def _frames(run, root, sets):
    """List the files of the frames (29th, 30th), (59th, 60th), ... of all videos."""
    pairs = []
    for file, annotation in zip(*read_videos(root, sets), strict=True):
        name = f"{file.parent.name}/{file.stem}"
        numbers = [(STEP * (k + 1) - 2, STEP * (k + 1) - 1) for k in range(annotation.n_frames)]
        folders = [root / "images" / name, build_folder(run, "caltech") / name]
        if not all(_file(folders, frame) for pair in numbers for frame in pair):
            _extract(root, name, numbers, folders[1])
        pairs += [tuple(_file(folders, frame) for frame in pair) for pair in numbers]
    return pairs


def _file(folders, frame):
    """Return the file of a frame, None if there is none."""
    files = (folder / f"I{frame:05d}{suffix}" for folder in folders for suffix in SUFFIXES)
    return next((file for file in files if file.exists()), None)


def _extract(root, name, numbers, folder):
    video = root / "videos" / f"{name}.seq"
    if not video.exists():
        raise FileNotFoundError(WANTED.format(root=root))
    folder.mkdir(parents=True, exist_ok=True)
    with SeqVideo(video) as frames:
        for frame in (frame for pair in numbers for frame in pair):
            Image.fromarray(frames[frame]).save(folder / f"I{frame:05d}.png")
