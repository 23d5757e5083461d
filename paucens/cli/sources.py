"""Images that a command is given: files, folders, patterns, videos, or a list on standard input."""

import glob
import sys
from pathlib import Path
from typing import NamedTuple

from paucens.cli.failures import DATA_MISSING, USAGE, Failure

SUFFIXES = {".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".ppm", ".pgm", ".gif"}
VIDEO = ".seq"


class Source(NamedTuple):
    """An image to read.

    Attributes
    ----------
    name : str
        What the results call it: its path; for a frame of a video the path and the number, counted from 0.
    path : str
    frame : int or None
        Number of the frame, if the path is a video.
    """

    name: str
    path: str
    frame: int | None = None


def add_source_argument(parser):
    """Add SOURCE..."""
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="an image, a folder of images, a pattern such as 'photos/*.jpg', a .seq video, or - for a list of paths "
        "on standard input",
    )


def images_of(sources, every=1):
    """Yield every n-th of the images of some sources, in the order of the names within each; no list is held.

    Raises
    ------
    Failure
        If a source is not there, or a folder or a pattern has no image.
    """
    for k, image in enumerate(image for source in sources for image in _images(source)):
        if k % every == 0:
            yield image


def count_images(sources, every=1):
    """Count the images of some sources, or return None if there is a list on standard input."""
    return None if "-" in sources else sum(1 for _ in images_of(sources, every))


def read_source(source):
    """Read an image, RGB bytes."""
    from paucens.images import read_rgb

    return read_rgb(source.path) if source.frame is None else _video(source.path)[source.frame]


def files_of(sources):
    """Return the files of all images of some sources; raise Failure if one is a frame of a video."""
    images = list(images_of(sources))
    frame = next((image for image in images if image.frame is not None), None)
    if frame is not None:
        raise Failure(USAGE, f"{frame.path} is a video; give its frames as files.")
    return [Path(image.path) for image in images]


def _images(source):
    if source == "-":
        for line in sys.stdin:
            if line.strip():
                yield from _images_of_path(line.strip())
    elif Path(source).exists() or not glob.has_magic(source):
        yield from _images_of_path(source)
    else:
        names = sorted(glob.glob(source, recursive=True))
        if not names:
            raise Failure(DATA_MISSING, f"no file matches {source}.")
        for name in names:
            yield from _images_of_path(name)


def _images_of_path(path):
    """Yield what a path stands for: the images of a folder, the frames of a video, or itself."""
    if Path(path).is_dir():
        names = sorted(
            file.name
            for file in Path(path).iterdir()
            if file.suffix.lower() in SUFFIXES and not file.name.startswith(".")
        )
        if not names:
            raise Failure(DATA_MISSING, f"the folder {path} holds no image ({', '.join(sorted(SUFFIXES))}).")
        for name in names:
            yield Source(str(Path(path) / name), str(Path(path) / name))
    elif Path(path).suffix.lower() == VIDEO:
        for frame in range(len(_video(path))):
            yield Source(f"{path}/{frame:06d}", path, frame)
    elif Path(path).exists():
        yield Source(path, path)
    else:
        raise Failure(DATA_MISSING, f"there is no file or folder {path}.")


_OPEN = {}  # the last video that was read in this process


def _video(path):
    from paucens.datasets import SeqVideo

    if path not in _OPEN:
        try:
            video = SeqVideo(path)
        except (ValueError, OSError) as error:
            raise Failure(DATA_MISSING, str(error)) from error
        for old in _OPEN.values():
            old.close()
        _OPEN.clear()
        _OPEN[path] = video
    return _OPEN[path]
