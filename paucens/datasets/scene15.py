"""The 15 scene categories, indoor against outdoor (Sec. 4.2)."""

import base64
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from paucens._types import PathLike
from paucens.datasets import _scene15
from paucens.datasets._files import content_hash, files_of, locate
from paucens.datasets._registry import DataSet
from paucens.images import read_grey
from paucens.parallel import Threads

COUNTS = {
    "bedroom": 216,
    "CALsuburb": 241,
    "industrial": 311,
    "kitchen": 210,
    "livingroom": 289,
    "MITcoast": 360,
    "MITforest": 328,
    "MIThighway": 260,
    "MITinsidecity": 308,
    "MITmountain": 374,
    "MITopencountry": 410,
    "MITstreet": 292,
    "MITtallbuilding": 356,
    "PARoffice": 215,
    "store": 315,
}
INDOOR = ("bedroom", "kitchen", "livingroom", "PARoffice", "store")
N_SHOWN = 3  # names in a message; others are counted
STEPS_PER_IMAGE = 1_000_000  # decoding and hashing, in the inner steps that `Threads.run` counts


def load_scene15(path: PathLike | None = None, return_X_y: bool = True) -> Any:
    """Load the paths of the 4485 images of 15 scenes, indoor against outdoor (SCENE of Table 5).

    Parameters
    ----------
    path : path-like, default=None
        Folder that holds the 15 folders of images, itself or in a sub-folder `scene15/`. `$PAUCENS_DATA` and
        `./data` are searched next.
    return_X_y : bool, default=True
        Whether to return (X, y) instead of a Bunch.

    Returns
    -------
    X : ndarray of shape (4485,), str
        Paths of grey JPEG images of about 300 x 250 pixels, scene by scene, for `paucens.features.Centrist`.
    y : ndarray of shape (4485,), int64
        1 for indoor scenes (bedroom, kitchen, livingroom, PARoffice, store: 1245 images), 0 for outdoor ones.
    bunch : sklearn.utils.Bunch
        With `return_X_y=False`: `data`, `target`, `scene` (0 to 14), `scene_names`, `target_names`,
        `content_hash` and `DESCR`.

    Raises
    ------
    FileNotFoundError
        If the set is not found anywhere; the message says where to get it.
    ValueError
        If images are missing, do not belong to the set, cannot be read, or have other pixels than the genuine ones; the
        message names them.

    Notes
    -----
    The paper does not say which scenes are indoor. *industrial* shows halls and plants, inside and outside; it counts
    as outdoor here, as is customary. 18 pairs of images are identical (16 within livingroom).

    All images are decoded to verify them, which takes some seconds. The content hash is that of the pixels, so that
    losslessly repacked files have the hash of the originals.

    Examples
    --------
    >>> from paucens.datasets import load_scene15
    >>> X, y = load_scene15()
    >>> X.shape, int(y.sum())
    ((4485,), 1245)
    """
    folders = locate(ABOUT, path)
    files = [file for folder in folders for file in _images_of(folder, COUNTS[folder.name])]
    digest = _verify(files, _scene15.CONTENT)
    scene = np.repeat(np.arange(len(COUNTS)), list(COUNTS.values()))
    X, y = np.array([str(file) for file in files]), np.isin(list(COUNTS), INDOOR).astype(np.int64)[scene]
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        scene=scene,
        scene_names=list(COUNTS),
        target_names=["outdoor", "indoor"],
        content_hash=digest,
        DESCR=ABOUT.describe(),
    )


ABOUT = DataSet(
    name="scene15",
    what="4485 grey photographs of 15 scenes, indoor (1245: bedroom, kitchen, livingroom, PARoffice, store) "
    "against outdoor (3240, with industrial, which holds both) (Table 5).",
    source="scene_categories.zip of Lazebnik, Schmid and Ponce (Beyond Bags of Features, CVPR 2006), "
    "http://www-cvr.ai.uiuc.edu/ponce_grp/data/scene_categories/scene_categories.zip; unpack its 15 folders "
    "into scene15/.",
    terms="No licence is stated. Use it for research and do not pass it on; this package does not contain it.",
    check="Names and number of images in each folder, and a content hash of all decoded pixels, the same for "
    "losslessly repacked files; images that differ are named.",
    loader=load_scene15,
    folder="scene15",
    forms=(tuple(COUNTS),),
)


def _images_of(folder, count):
    """List the images of a folder; raise ValueError if some are missing or do not belong there."""
    expected = [folder / f"image_{number:04d}.jpg" for number in range(1, count + 1)]
    present = set(files_of(folder, {".jpg"}))
    for problem, files in (
        ("lacks", [file for file in expected if file not in present]),
        ("has, as files that do not belong there,", sorted(present.difference(expected))),
    ):
        if files:
            raise ValueError(
                f"{folder} {problem} {_some([file.name for file in files])}; expected {count} images, "
                f"{expected[0].name} to {expected[-1].name}. Get the set again: {ABOUT.source}"
            )
    return expected


def _some(names):
    """Write the first few of some names and the number of the others."""
    more = len(names) - N_SHOWN
    return ", ".join(names[:N_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _verify(files, expected):
    """Return the content hash of the images; the error names those whose pixels are not the genuine ones."""

    def digests_of(start, stop):
        return [content_hash(read_grey(file)) for file in files[start:stop]]

    with Threads(-1) as threads:
        blocks = threads.run(digests_of, len(files), len(files) * STEPS_PER_IMAGE)
    digests = [digest for block in blocks for digest in block]
    whole = content_hash([f"{file.parent.name}/{file.name}" for file in files], digests)
    if whole != expected:
        raise ValueError(
            f"The pixels of {_some(_foreign(files, digests))} are not those of the genuine set: the content "
            f"hashes to {whole}, expected {expected}. Get the files again: {ABOUT.source}"
        )
    return whole


def _foreign(files, digests):
    """List the images whose digest begins with another byte than that of the genuine image."""
    first_bytes = base64.b85decode(_scene15.FIRST_BYTES)
    pairs = zip(files, digests, first_bytes, strict=True)
    found = [str(file) for file, digest, byte in pairs if int(digest[:2], 16) != byte]
    return found or [f"one of the {len(files)} images in {files[0].parents[1]}"]
