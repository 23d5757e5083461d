"""INRIA Person: people in photographs (Dalal and Triggs 2005), the data of Tables 2 and 3."""

from operator import attrgetter

from sklearn.utils import Bunch

from paucens.datasets._files import by_name, damaged, locate
from paucens.datasets._pascal import read_pascal
from paucens.datasets._registry import DataSet
from paucens.datasets.records import DetectionRecord

CROPS, TRAIN_NEGATIVES, TEST_NEGATIVES = "96X160H96/Train/pos", "Train/neg", "Test/neg"
ANNOTATIONS, TEST_IMAGES = "Test/annotations", "Test/pos"
COUNTS = {CROPS: 1208, TRAIN_NEGATIVES: 1218, TEST_NEGATIVES: 453, ANNOTATIONS: 288}
SUFFIXES = {".png", ".jpg", ".jpeg", ".webp"}
STEM = attrgetter("stem")


def load_inria(path=None) -> Bunch:
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
        PNG, otherwise "lossy". `DESCR`.

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
    return Bunch(
        train_crops=_crops(folders[CROPS]),
        train_negatives=_all_of(folders, TRAIN_NEGATIVES),
        test_negatives=_all_of(folders, TEST_NEGATIVES),
        test=test,
        missing=missing,
        source="uncompressed" if all(record.image.suffix.lower() == ".png" for record in test) else "lossy",
        DESCR=ABOUT.describe(),
    )


ABOUT = DataSet(
    name="inria",
    what="INRIA Person: 1208 training crops of people, 1218 and 453 photographs without people for training and "
    "testing, 288 test images with 589 boxes (Tables 2 and 3).",
    source="INRIAPerson.tar of Dalal and Triggs (CVPR 2005), http://pascal.inrialpes.fr/data/human/; if that is no "
    "longer available, data/assemble_inria.py of this project builds it from public snapshots. Unpack it into "
    "INRIAPerson/.",
    terms="None stated; research use, not passed on with this package.",
    check="Number of crops, negatives and annotations; each annotation has as many boxes as it announces. Test images "
    "that are missing are named in `missing`; `source` says whether the copy is compressed.",
    loader=load_inria,
    folder="INRIAPerson",
    forms=((CROPS, TRAIN_NEGATIVES, TEST_NEGATIVES, ANNOTATIONS, TEST_IMAGES),),
)


def _all_of(folders, name, suffixes=SUFFIXES):
    """List the files of a folder; raise ValueError if their number is not that of the genuine set."""
    files = list(by_name(folders[name], suffixes, STEM).values())
    return _counted(files, folders[name], COUNTS[name], suffixes)


def _counted(files, folder, count, suffixes):
    if len(files) != count:
        raise ValueError(
            f"{folder} holds {len(files)} files ({', '.join(sorted(suffixes))}); expected {count}. Get them again: "
            f"{ABOUT.source}"
        )
    return files


def _crops(folder):
    """List the crops without the mirrors that follow them in the official folder."""
    files = list(by_name(folder, SUFFIXES, STEM).values())
    if len(files) == 2 * COUNTS[CROPS]:
        files = files[::2]
    return _counted(files, folder, COUNTS[CROPS], SUFFIXES)


def _test(annotations, images):
    """Pair annotations with images; return the records and the names of those without an image."""
    texts = by_name(annotations, {".txt"}, STEM)
    _counted(list(texts), annotations, COUNTS[ANNOTATIONS], {".txt"})
    records = [DetectionRecord(images[stem], read_pascal(texts[stem]).boxes) for stem in texts if stem in images]
    missing = [stem for stem in texts if stem not in images]
    if not records:
        raise damaged(annotations, "none of its texts has an image of the same name in Test/pos")
    return records, missing
