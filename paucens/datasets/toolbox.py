"""Detectors of Piotr Dollar's toolbox, and what they found: peers for Table 3 and Figure 6."""

from sklearn.utils import Bunch

from paucens._types import PathLike
from paucens.datasets._files import locate
from paucens.datasets._registry import DataSet
from paucens.datasets.caltech import read_results

MODELS, DETECTIONS = "models", "detections"


def load_toolbox(path: PathLike | None = None) -> Bunch:
    """List the detectors of Dollar's toolbox and read what his program found with them.

    Parameters
    ----------
    path : path-like, default=None
        Folder that holds `toolbox/` or its content. `$PAUCENS_DATA` and `./data` are searched next.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        `models` : dict of str to Path, the `.mat` files by name without suffix, for
        `paucens.detector.PedestrianDetector.from_toolbox`. `detections` : dict of str to ndarray of shape (n, 6),
        image (counted from 1 over the sorted names of a test set), x, y (from 0), width, height, score. `DESCR`.

    Raises
    ------
    FileNotFoundError
        If the files are not found anywhere; the message says where to get them.
    ValueError
        If a file of detections is damaged; the message names it.

    Examples
    --------
    >>> toolbox = load_toolbox()  # doctest: +SKIP
    >>> sorted(toolbox.models)[:2], toolbox.detections["AcfInriaDets_8c81f93"].shape  # doctest: +SKIP
    (['AcfCaltech+Detector', 'AcfInriaDetector'], (871, 6))
    """
    models, detections = locate(ABOUT, path)
    return Bunch(
        models=_by_name(models, "*.mat*"),
        detections={name: read_results(file) for name, file in _by_name(detections, "*.txt*").items()},
        DESCR=ABOUT.describe(),
    )


def _by_name(folder, pattern):
    """Return files, gzipped or not, by their names without suffixes."""
    return {file.name.split(".")[0]: file for file in sorted(folder.glob(pattern)) if not file.name.startswith(".")}


ABOUT = DataSet(
    name="toolbox",
    what="Detectors of Piotr Dollar's toolbox (ACF and LDCF, `.mat`), and the boxes that his program found with them "
    "in the test images of INRIA and Caltech.",
    source="github.com/pdollar/toolbox, folder detector/models: *Detector.mat go to toolbox/models/, *Dets.txt to "
    "toolbox/detections/, gzipped or not. Files of an older version have its commit behind their name, such as "
    "AcfInriaDetector_8c81f93.mat.",
    terms="Simplified BSD licence.",
    check="Form of the detections; models are checked when they are read.",
    loader=load_toolbox,
    folder="toolbox",
    forms=((MODELS, DETECTIONS),),
)
