"""Data sets: raw files in, checked arrays out. Nothing here trains, plots or downloads.

================  ===========================================  =======================  ====================
name              what                                         where to get it          loader
================  ===========================================  =======================  ====================
toy               two-dimensional points of Sec. 4.2           drawn from a seed        `load_toy`
usps              9298 digits of 16 x 16, even against odd     zip.train.gz and         `load_usps`
                  (Table 5)                                    zip.test.gz of ESL (1)
digits_parity     1797 digits of 8 x 8, even against odd; a    comes with scikit-learn  `load_digits_parity`
                  stand-in for USPS, never beside the paper
scene15           4485 photographs of 15 scenes, indoor        scene_categories.zip     `load_scene15`
                  against outdoor (Table 5)                    (3)
faces             4916 faces against 5000 random patches, 24   Viola and Jones (2004),  `load_faces`
                  x 24 (Table 5)                               and INRIAPerson.tar (4)
protein_pairs     240249 pairs of yeast proteins, interacting  two .feature files of    `load_protein_pairs`
                  or not (Table 4)                             Qi et al. (2006) (2)
yeast_pairs       a substitute for protein_pairs, of its size  put together for this    `load_yeast_pairs`
                  and under its own name                       project
mammography       11183 spots on mammograms                    mammography.csv          `load_mammography`
htru2             17898 candidates for pulsars                 HTRU_2.csv of UCI        `load_htru2`
sylva             13086 samples of forest                      made of the challenge's  `load_sylva`
hiv_ecfp4         41120 compounds as fingerprints              made of HIV.csv          `load_hiv_ecfp4`
inria             INRIA Person: crops of people, photographs   INRIAPerson.tar (4),     `load_inria`
                  without, 288 test images (Tables 2, 3)       data/assemble_inria.py
caltech           annotations, videos and results of the       Caltech-USA (5)          `read_vbb`,
                  Caltech benchmark                                                     `read_results`,
                                                                                        `SeqVideo`
eth_bahnhof       999 frames of one walk                       sequence BAHNHOF (6)     `load_eth_bahnhof`
tud_stadtmitte    179 frames of one street                     MOTChallenge 2015 (7)    `load_tud_stadtmitte`
kitti             7481 photographs of streets from a car       object data set (8)      `load_kitti`,
                                                                                        `read_kitti`
penn_fudan        170 photographs of people                    PennFudanPed.zip (9)     `load_penn_fudan`
toolbox           detectors of Dollar's toolbox, and what      pdollar/toolbox on       `load_toolbox`
                  they found in INRIA and Caltech              GitHub
streets           street scenes, any number; a stand-in for    rendered from a seed     `synthetic_streets`,
                  inria, never beside the paper                                         `street_sequences`
================  ===========================================  =======================  ====================

`describe(name)` adds the terms of use and how the loader checks the content; `describe()` lists all sets. Files are
searched in the `path` argument, then in `$PAUCENS_DATA`, then in `./data`, each time in the sub-folder of the set
first. A set that is not found raises FileNotFoundError with the places and the source; a set that is not the genuine
one raises ValueError. `load_tabular(name)` reads mammography, htru2, sylva and hiv_ecfp4.

Sets for detection are lists of `DetectionRecord`: an image (a path for `paucens.images.read_rgb`, or pixels), boxes to
find and boxes to ignore, all x, y, w, h in 0-based continuous pixels. `read_pascal`, `read_idl`, `read_mot` and
`read_kitti` read one file of these formats. Text is UTF-8, with or without a byte order mark, or else Latin-1; line
ends are those of any system, and blank lines do not count.

A new set is one file in this folder, with a loader and an `ABOUT`, and an entry in `REGISTRY` below.

Sources:

1. Data page of Hastie, Tibshirani and Friedman, The Elements of Statistical Learning,
   https://hastie.su.domains/ElemStatLearn/data.html
2. http://www.cs.cmu.edu/~qyj/papers_sulp/proteins05_pages/feature-download.html
3. http://www-cvr.ai.uiuc.edu/ponce_grp/data/scene_categories/scene_categories.zip
4. http://pascal.inrialpes.fr/data/human/
5. http://www.vision.caltech.edu/Image_Datasets/CaltechPedestrians/
6. https://data.vision.ee.ethz.ch/cvl/aess/dataset/
7. https://motchallenge.net/data/MOT15/
8. https://www.cvlibs.net/datasets/kitti/eval_object.php
9. https://www.cis.upenn.edu/~jshi/ped_html/
"""

from paucens.datasets import (
    caltech,
    digits,
    eth,
    faces,
    inria,
    kitti,
    mot,
    pennfudan,
    protein_pairs,
    scene15,
    streets,
    tabular,
    toolbox,
    toy,
    usps,
    yeast_pairs,
)
from paucens.datasets._files import content_hash, locate
from paucens.datasets._pascal import read_pascal
from paucens.datasets._registry import DataSet
from paucens.datasets.caltech import SeqVideo, locate_caltech, read_results, read_vbb
from paucens.datasets.digits import load_digits_parity
from paucens.datasets.eth import load_eth_bahnhof, read_idl
from paucens.datasets.faces import load_faces
from paucens.datasets.inria import load_inria
from paucens.datasets.kitti import kitti_record, load_kitti, read_kitti
from paucens.datasets.mot import load_tud_stadtmitte, read_mot
from paucens.datasets.pennfudan import load_penn_fudan
from paucens.datasets.protein_pairs import load_protein_pairs
from paucens.datasets.records import DetectionRecord
from paucens.datasets.scene15 import load_scene15
from paucens.datasets.streets import StreetSequence, street_crops, street_sequences, synthetic_streets
from paucens.datasets.tabular import load_hiv_ecfp4, load_htru2, load_mammography, load_sylva, load_tabular
from paucens.datasets.toolbox import load_toolbox
from paucens.datasets.toy import load_toy
from paucens.datasets.usps import load_usps
from paucens.datasets.yeast_pairs import load_yeast_pairs

__all__ = [
    "REGISTRY",
    "DataSet",
    "DetectionRecord",
    "SeqVideo",
    "StreetSequence",
    "content_hash",
    "describe",
    "kitti_record",
    "load_digits_parity",
    "load_eth_bahnhof",
    "load_faces",
    "load_hiv_ecfp4",
    "load_htru2",
    "load_inria",
    "load_kitti",
    "load_mammography",
    "load_penn_fudan",
    "load_protein_pairs",
    "load_scene15",
    "load_sylva",
    "load_tabular",
    "load_toolbox",
    "load_toy",
    "load_tud_stadtmitte",
    "load_usps",
    "load_yeast_pairs",
    "locate_caltech",
    "read_idl",
    "read_kitti",
    "read_mot",
    "read_pascal",
    "read_results",
    "read_vbb",
    "street_crops",
    "street_sequences",
    "synthetic_streets",
    "whereabouts",
]

MODULES = (toy, usps, digits, scene15, faces, protein_pairs, yeast_pairs)
DETECTION = (inria, caltech, eth, mot, kitti, pennfudan, toolbox, streets)
REGISTRY = {module.ABOUT.name: module.ABOUT for module in MODULES}
REGISTRY |= tabular.SETS | {module.ABOUT.name: module.ABOUT for module in DETECTION}


def describe(name=None) -> str:
    """Describe a data set: contents, source, terms and how it is checked.

    Parameters
    ----------
    name : str, default=None
        A key of `REGISTRY`; None means all of them.

    Returns
    -------
    text : str
        One block of lines per set.

    Raises
    ------
    ValueError
        If the name is unknown; the message lists the known ones.

    Examples
    --------
    >>> from paucens.datasets import describe
    >>> print(describe("toy").splitlines()[-1])
      loader:       paucens.datasets.load_toy
    """
    if name is None:
        return "\n\n".join(about.describe() for about in REGISTRY.values())
    if name not in REGISTRY:
        raise ValueError(f"No data set is called {name!r}; choose one of {sorted(REGISTRY)}.")
    return REGISTRY[name].describe()


def whereabouts(name) -> str:
    """Tell where the files of a data set were found.

    Parameters
    ----------
    name : str
        A key of `REGISTRY`.

    Returns
    -------
    place : str
        The path of the first file, "no files needed" for a set that is generated or bundled, or "not found".

    Examples
    --------
    >>> from paucens.datasets import whereabouts
    >>> whereabouts("toy")
    'no files needed'
    """
    if not REGISTRY[name].forms:
        return "no files needed"
    try:
        return str(locate(REGISTRY[name])[0])
    except FileNotFoundError:
        return "not found"
