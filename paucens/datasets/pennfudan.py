"""Penn-Fudan: people in 170 photographs of campuses and streets (Wang, Shi, Song and Shen 2007)."""

from sklearn.utils import Bunch

from paucens._types import PathLike
from paucens.datasets._files import check_number, files_of, locate
from paucens.datasets._pascal import read_pascal
from paucens.datasets._registry import DataSet
from paucens.datasets.records import DetectionRecord

IMAGES, ANNOTATIONS = "PNGImages", "Annotation"
N_IMAGES = 170


def load_penn_fudan(path: PathLike | None = None) -> Bunch:
    """List the photographs of Penn-Fudan and their boxes.

    Parameters
    ----------
    path : path-like, default=None
        Folder that holds `PennFudanPed/` or its content. `$PAUCENS_DATA` and `./data` are searched next.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `test` : list of 170 `DetectionRecord` in the order of their names. `DESCR`.

    Raises
    ------
    FileNotFoundError
        If the set is not found anywhere; the message says where to get it.
    ValueError
        If there are not 170 annotations, one cannot be read, or its image is missing; the message names it.

    Notes
    -----
    The texts count pixels from 1, the boxes from 0: (Xmin, Ymin) - (Xmax, Ymax) is x = Xmin - 1, y = Ymin - 1,
    w = Xmax - Xmin + 1, h = Ymax - Ymin + 1. The masks are not read.
    """
    images, annotations = locate(ABOUT, path)
    texts = files_of(annotations, {".txt"})
    check_number(texts, annotations, N_IMAGES, "texts", ABOUT.source)
    return Bunch(test=[_record(images, text) for text in texts], DESCR=ABOUT.describe())


ABOUT = DataSet(
    name="penn_fudan",
    what="Penn-Fudan: 170 photographs with boxes of the people in them.",
    source="PennFudanPed.zip of https://www.cis.upenn.edu/~jshi/ped_html/; unpack it, which makes PennFudanPed/.",
    terms="None stated; research use, not passed on with this package.",
    check="170 annotations, each with as many boxes as it announces and an image. Tested on files written in this "
    "format only: the set itself was not available.",
    loader=load_penn_fudan,
    folder="PennFudanPed",
    forms=((IMAGES, ANNOTATIONS),),
)


def _record(images, text):
    annotation = read_pascal(text, origin=1)
    image = images / annotation.image_name.rsplit("/", 1)[-1]
    if not image.exists():
        raise ValueError(f"{text} describes {image}, which does not exist. Get the set again: {ABOUT.source}")
    return DetectionRecord(image, annotation.boxes)
