"""INRIA Person: people in photographs (Dalal and Triggs 2005), the data of Tables 2 and 3."""

from operator import attrgetter

from sklearn.utils import Bunch

from paucens._types import PathLike
from paucens.datasets._files import by_name, check_number, damaged, locate
from paucens.datasets._pascal import read_pascal
from paucens.datasets._registry import DataSet
from paucens.datasets.records import DetectionRecord
from paucens.validation import check_choice

CROPS, TRAIN_NEGATIVES, TEST_NEGATIVES = "96X160H96/Train/pos", "Train/neg", "Test/neg"
ANNOTATIONS, TEST_IMAGES = "Test/annotations", "Test/pos"
N_TEST_IMAGES = 288
COUNTS = {CROPS: 1208, TRAIN_NEGATIVES: 1218, TEST_NEGATIVES: 453, ANNOTATIONS: N_TEST_IMAGES}
SUFFIXES = {".png", ".jpg", ".jpeg", ".webp"}
STEM = attrgetter("stem")
# Test images into which somebody's detections were drawn; these pixels were filled in. Copies without person_094 come
# from one snapshot, in which it is every image. For the compressed copy, 16 clean ones were found elsewhere.
REPAIRED = {"uncompressed": 287, "lossy": 271}


def load_inria(path: PathLike | None = None) -> Bunch:
    """List the images and the boxes of INRIA Person.

    Parameters
    ----------
    path : path-like, default=None
        Folder that holds `INRIAPerson/` or its content. `$PAUCENS_DATA` and `./data` are searched next.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `train_crops` : list of 1208 Paths, crops of 96 x 160 pixels with a person of 96 pixels in the middle (the
        64 x 128 window with a margin of 16). `train_negatives`, `test_negatives` : lists of 1218 and 453 Paths of
        photographs without people. `test` : list of `DetectionRecord`, the 288 test images with 589 boxes, without
        those whose image is missing. `missing` : the names of these. `source` : "uncompressed" if all test images are
        PNG, otherwise "lossy". `about_test` : what to say of this copy with every number, see `about_test`. `DESCR`.

    Raises
    ------
    FileNotFoundError
        If the set is not found anywhere; the message says where to get it.
    ValueError
        If the numbers of crops, negatives and annotations are not those of the genuine set, an annotation cannot be
        read, or there is no test image; the message names the folder or file.

    Notes
    -----
    Images are PNG, JPEG or WebP; they are identified and ordered by their name without suffix. The official folder of
    crops has 2416 files, in which each crop is followed by its mirror: every second one is taken.

    The annotations count pixels from 0 ("Top left pixel co-ordinates : (0, 0)"), and both corners are pixels of the
    person: the box (Xmin, Ymin) - (Xmax, Ymax) is x = Xmin, y = Ymin, w = Xmax - Xmin + 1, h = Ymax - Ymin + 1.

    Examples
    --------
    >>> from paucens.datasets import load_inria
    >>> inria = load_inria()
    >>> len(inria.train_crops), len(inria.train_negatives), len(inria.test_negatives)
    (1208, 1218, 453)
    >>> inria.test[0].image.stem, inria.test[0].boxes[0].tolist()
    ('crop001501', [250.0, 151.0, 50.0, 144.0])
    """
    folders = dict(zip(ABOUT.forms[0], locate(ABOUT, path), strict=True))
    test, missing = _test(folders[ANNOTATIONS], by_name(folders[TEST_IMAGES], SUFFIXES, STEM))
    source = "uncompressed" if all(record.image.suffix.lower() == ".png" for record in test) else "lossy"
    return Bunch(
        train_crops=_crops(folders[CROPS]),
        train_negatives=_all_of(folders, TRAIN_NEGATIVES),
        test_negatives=_all_of(folders, TEST_NEGATIVES),
        test=test,
        missing=missing,
        source=source,
        about_test=about_test(len(test), source),
        DESCR=ABOUT.describe(),
    )


def about_test(n_images, source) -> str:
    """Say what the test images of a copy are, for tables: how many, how many of them repaired, compressed or not.

    Parameters
    ----------
    n_images : int
        288 are the official images. 287 are those of the public snapshot, in whose images lines had been drawn.
    source : {"uncompressed", "lossy"}

    Returns
    -------
    words : str

    Raises
    ------
    ValueError
        If the source is another one.

    Examples
    --------
    >>> about_test(287, "uncompressed")
    "INRIA test, 287/288 images, all repaired (5 % of the pixels inside people's boxes), uncompressed"
    >>> about_test(287, "lossy")
    "INRIA test, 287/288 images, 271 repaired (5 % of the pixels inside people's boxes), lossy"
    >>> about_test(288, "uncompressed")
    'INRIA test, 288/288 images, uncompressed'
    """
    check_choice("source", source, list(REPAIRED))
    words = f"INRIA test, {n_images}/{N_TEST_IMAGES} images"
    if n_images == N_TEST_IMAGES - 1:
        repaired = "all" if REPAIRED[source] == n_images else REPAIRED[source]
        words += f", {repaired} repaired (5 % of the pixels inside people's boxes)"
    return f"{words}, {source}"


ABOUT = DataSet(
    name="inria",
    what="INRIA Person: 1208 training crops of people, 1218 and 453 photographs without people for training and "
    "testing, 288 test images with 589 boxes (Tables 2 and 3).",
    source="INRIAPerson.tar of Dalal and Triggs (CVPR 2005), http://pascal.inrialpes.fr/data/human/; if that is no "
    "longer available, data/assemble_inria.py of this project builds it from public snapshots. Unpack it into "
    "INRIAPerson/.",
    terms="None stated; research use, not passed on with this package.",
    check="Number of crops, negatives and annotations; each annotation has as many boxes as it announces. Test images "
    "that are missing are named in `missing`; `source` says whether the copy is compressed, `about_test` how many test "
    "images are repaired.",
    loader=load_inria,
    folder="INRIAPerson",
    forms=((CROPS, TRAIN_NEGATIVES, TEST_NEGATIVES, ANNOTATIONS, TEST_IMAGES),),
)


def _all_of(folders, name):
    """List the images of a folder; raise ValueError if their number is not that of the genuine set."""
    files = list(by_name(folders[name], SUFFIXES, STEM).values())
    _check_number(files, folders[name], name, SUFFIXES)
    return files


def _check_number(files, folder, name, suffixes):
    check_number(files, folder, COUNTS[name], f"files ({', '.join(sorted(suffixes))})", ABOUT.source)


def _crops(folder):
    """List the crops without the mirrors that follow them in the official folder."""
    files = list(by_name(folder, SUFFIXES, STEM).values())
    if len(files) == 2 * COUNTS[CROPS]:
        files = files[::2]
    _check_number(files, folder, CROPS, SUFFIXES)
    return files


def _test(annotations, images):
    """Pair annotations with images; return the records and the names of those without an image."""
    texts = by_name(annotations, {".txt"}, STEM)
    _check_number(texts, annotations, ANNOTATIONS, {".txt"})
    records = [DetectionRecord(images[stem], read_pascal(texts[stem]).boxes) for stem in texts if stem in images]
    missing = [stem for stem in texts if stem not in images]
    if not records:
        raise damaged(annotations, "none of its texts has an image of the same name in Test/pos")
    return records, missing
