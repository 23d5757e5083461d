"""The faces of Viola and Jones against patches of person-free photographs (Sec. 4.2)."""

from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from paucens._types import PathLike
from paucens.datasets._files import by_name, check_number, content_hash, locate, read_npz
from paucens.datasets._registry import DataSet
from paucens.images import read_grey
from paucens.parallel import Threads

SIDE = 24  # pixels of a face or patch
N_PATCHES = 5000  # Sec. 4.2
CONTENT = "0f6ba2d81a38601f14be2d8671bd84bfd01f5021132dd78705fce4bd2816014b"
N_NEGATIVES = {"Train/neg": 1218, "Test/neg": 453}
SUFFIXES = {".png", ".jpg", ".jpeg", ".webp"}
STEPS_PER_IMAGE = 2_000_000  # decoding it and cutting three patches, in the inner steps that `Threads.run` counts


def load_faces(
    path: PathLike | None = None, return_X_y: bool = True, *, random_state: int | np.random.RandomState | None = 0
) -> Any:
    """Load 4916 faces and cut 5000 random background patches, all 24 x 24 (FACE of Table 5).

    Parameters
    ----------
    path : path-like, default=None
        Data folder that holds `faces/viola_faces_24x24.npz` and `INRIAPerson/` with `Train/neg` and `Test/neg`.
        `$PAUCENS_DATA` and `./data` are searched next, for each of the two.
    return_X_y : bool, default=True
        Whether to return (X, y) instead of a Bunch.
    random_state : int, RandomState instance or None, default=0
        Seed of the patches.

    Returns
    -------
    X : ndarray of shape (9916, 576), float64
        Grey values 0 to 255, images row by row; first the faces, then the patches. They are neither normalised nor
        projected: the paper's PCA is fitted to the training half.
    y : ndarray of shape (9916,), int64
        1 for faces, 0 for patches.
    bunch : sklearn.utils.Bunch
        With `return_X_y=False`: `data`, `target`, `boxes` (x, y, side of each patch in its photograph),
        `filenames` (of that photograph), `target_names`, `content_hash` and `DESCR`.

    Raises
    ------
    FileNotFoundError
        If one of the two is not found anywhere; the message says where to get it.
    ValueError
        If the faces are not the genuine ones, a photograph cannot be read (it is named), or the number of photographs
        is not that of the genuine set.

    Notes
    -----
    The paper only says "randomly extract 5000 negative patches from background images"; the rest is our reading. The
    photographs are those of INRIA without people, ordered by folder (Train, Test) and by name without suffix. A patch
    is a square in a photograph drawn at random, with replacement. Its side is uniform on the integers from 24 to the
    shorter side of the photograph, its place uniform among those that fit. It is reduced to 24 x 24 by averaging over
    areas in integers, halves rounded up. On two random halves, 95 % of the variance took 94 and 96 principal components
    (93 in the paper). With sides uniform in their logarithm it took 82 and 85, with all sides of 24 pixels 73 and 74.

    Draws come from `numpy.random.RandomState`, whose streams are frozen, so equal files give equal patches. The
    photographs exist as PNG and in compressed copies. Patches from another copy are cut at the same places but differ
    by some grey values, and so does the content hash.

    Examples
    --------
    >>> from paucens.datasets import load_faces
    >>> X, y = load_faces()
    >>> X.shape, int(y.sum()), float(X.min()), float(X.max())
    ((9916, 576), 4916, 0.0, 255.0)
    """
    (file,) = locate(ABOUT, path)
    photographs = _photographs(locate(NEGATIVES, path))
    faces = _read_faces(file)
    which, places = _draw(len(photographs), check_random_state(random_state))
    patches, boxes = _cut(photographs, which, places)
    images = np.concatenate([faces, patches])
    y = np.repeat([1, 0], [len(faces), len(patches)])
    X = images.reshape(len(images), SIDE * SIDE).astype(np.float64)
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        boxes=boxes,
        filenames=[str(photographs[k]) for k in which],
        target_names=["background", "face"],
        content_hash=content_hash(images, y),
        DESCR=ABOUT.describe(),
    )


ABOUT = DataSet(
    name="faces",
    what="The 4916 faces that Viola and Jones trained on, 24 x 24 grey values, against 5000 patches cut at random "
    "from the 1671 INRIA photographs without people (Table 5).",
    source="faces: the training faces of Viola and Jones (Robust Real-Time Face Detection, IJCV 2004), which the "
    "authors handed on for research and no public page is known to offer now, as an array `faces` (4916, 24, 24) "
    "uint8 in faces/viola_faces_24x24.npz; photographs: Train/neg and Test/neg of INRIAPerson.tar of Dalal and "
    "Triggs (CVPR 2005), http://pascal.inrialpes.fr/data/human/, in INRIAPerson/.",
    terms="No licence is stated for either. Use them for research and do not pass them on; this package contains "
    "neither.",
    check="Content hash of the faces; number of photographs, each of which must be readable when it is used. The "
    "patches' pixels depend on the copy of the photographs (PNG or compressed), and so does the content hash.",
    loader=load_faces,
    folder="faces",
    forms=(("viola_faces_24x24.npz",),),
)

NEGATIVES = DataSet(
    name="INRIA photographs without people",
    what="1671 photographs, 1218 for training and 453 for testing.",
    source="INRIAPerson.tar of Dalal and Triggs (CVPR 2005), http://pascal.inrialpes.fr/data/human/.",
    terms=ABOUT.terms,
    check="Number of photographs.",
    loader=load_faces,
    folder="INRIAPerson",
    forms=(tuple(N_NEGATIVES),),
)


def _read_faces(file):
    """Read the faces and verify that they are the genuine ones."""
    faces = read_npz(file, ("faces",))["faces"]
    digest = content_hash(faces)
    if digest != CONTENT:
        raise ValueError(
            f"{file}: faces has shape {faces.shape}, dtype {faces.dtype} and hashes to {digest}; expected (4916, "
            f"{SIDE}, {SIDE}), uint8 and {CONTENT}. Get it again: {ABOUT.source}"
        )
    return faces


def _photographs(folders):
    """List the photographs of both folders in an order that does not depend on their format."""
    photographs = []
    for folder, count in zip(folders, N_NEGATIVES.values(), strict=True):
        files = by_name(folder, SUFFIXES, attrgetter("stem"))
        check_number(files, folder, count, f"photographs ({', '.join(sorted(SUFFIXES))})", NEGATIVES.source)
        photographs.extend(files.values())
    return photographs


def _draw(n_photographs, rng):
    """Draw a photograph for each patch, and three numbers in [0, 1) for its side and place."""
    return rng.randint(n_photographs, size=N_PATCHES), rng.random_sample((N_PATCHES, 3))


def _cut(photographs, which, places):
    """Cut the patches, reading each photograph once; return them with their boxes (x, y, side)."""
    patches = np.empty((len(which), SIDE, SIDE), dtype=np.uint8)
    boxes = np.empty((len(which), 3), dtype=np.int64)
    by_photograph = np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which))[:-1])
    used = [chosen for chosen in by_photograph if len(chosen)]

    def cut(start, stop):
        for chosen in used[start:stop]:
            grey = _read_photograph(photographs[which[chosen[0]]])
            for k in chosen:
                x, y, side = boxes[k] = _box(grey.shape, places[k])
                patches[k] = shrink(grey[y : y + side, x : x + side])

    with Threads(-1) as threads:
        threads.run(cut, len(used), len(used) * STEPS_PER_IMAGE)
    return patches, boxes


def _read_photograph(file):
    grey = read_grey(file, upright=False)  # seven have an EXIF orientation, but are stored upright
    if min(grey.shape) < SIDE:
        raise ValueError(
            f"{file} has {grey.shape[0]} x {grey.shape[1]} pixels; a patch needs {SIDE} x {SIDE}. Get the "
            f"photographs again: {NEGATIVES.source}"
        )
    return grey


def _box(shape, place):
    """Convert three numbers in [0, 1) to a square (x, y, side) inside an image of this shape."""
    height, width = shape
    side = SIDE + int(place[0] * (min(height, width) - SIDE + 1))
    return int(place[1] * (width - side + 1)), int(place[2] * (height - side + 1)), side


def shrink(square):
    """Reduce a square of grey values to 24 x 24 by averaging over areas, halves rounded up.

    Examples
    --------
    >>> import numpy as np
    >>> shrink(np.arange(36).repeat(36).reshape(36, 36))[:4, 0].tolist()  # 1.5 pixels become one
    [0, 2, 3, 5]
    """
    area = len(square) ** 2
    sums = _sums(_sums(square.astype(np.int64)).T).T
    return (2 * sums + area) // (2 * area)


def _sums(values):
    """Sum values (side, n) over 24 equal lengths along the first axis, times 24 to stay in integers."""
    side = len(values)
    cumulative = np.zeros((side + 1, values.shape[1]), dtype=np.int64)
    np.cumsum(values, axis=0, out=cumulative[1:])
    whole, part = np.divmod(np.arange(SIDE + 1) * side, SIDE)  # edges in pixels and 24ths of one
    begun = values[np.minimum(whole, side - 1)]  # the last edge has no part
    return np.diff(SIDE * cumulative[whole] + part[:, None] * begun, axis=0)
