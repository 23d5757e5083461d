"""The protein-protein interaction set of Table 4, from the text files that Qi et al. (2006) published."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from paucens._types import PathLike
from paucens.datasets._files import content_hash, locate
from paucens.datasets._registry import DataSet
from paucens.datasets._text import read_csv

N_FEATURES = 162  # "detailed" encoding
MISSING = -100


@dataclass(frozen=True)
class Expected:
    """Content of the genuine files: pairs of each class, and features without missing values."""

    n_positive: int
    n_negative: int
    n_complete: int


EXPECTED = Expected(n_positive=2865, n_negative=237384, n_complete=85)


def load_protein_pairs(path: PathLike | None = None, return_X_y: bool = True) -> Any:
    """Load the physical interactions of yeast proteins in the detailed encoding of Qi et al. (Table 4).

    Parameters
    ----------
    path : path-like, default=None
        Folder that holds the set (itself or in a sub-folder `protein_pairs/`), or one of its files:
        `dipsPosPair.feature` with `dipsRandpairSub23w.feature` beside it. `$PAUCENS_DATA` and `./data` are
        searched next.
    return_X_y : bool, default=True
        Whether to return (X, y) instead of a Bunch.

    Returns
    -------
    X : ndarray of shape (240249, 85), float64
        The features that no pair lacks, in the order of the files; positive pairs first.
    y : ndarray of shape (240249,), int64
        1 for the 2865 pairs known to interact, 0 for the 237384 random ones.
    bunch : sklearn.utils.Bunch
        With `return_X_y=False`: `data`, `target`, `columns` (the numbers of these features among the 162 of the files,
        counted from 1), `target_names`, `filenames`, `content_hash`, `DESCR`.

    Raises
    ------
    FileNotFoundError
        If no place has both files; the message says where to get them.
    ValueError
        If a file cannot be read, has another number of pairs or a label of the other class, or if the number of
        complete features is not 85.

    Notes
    -----
    The genuine files were not available when this reader was written. It assumes that they are as the authors'
    published programs write them and as public scripts read them: one pair per line, 162 features and the class (1 or
    0) between commas, no header, -100 for a missing value. The features are 1 to 20 gene expression, 21 to 97 gene
    ontology (function, process, component), 98 protein expression, 99 essentiality, 100 to 105 single experiments and
    comparisons, 106 to 109 homologous interactions, 110 domains, 111 to 126 transcription factors, 127 to 162 MIPS
    classes and phenotypes. The files without `.feature` name the proteins and are not needed.

    The 85 features are those "that do not contain missing values" of Narasimhan and Agarwal (2013), whom the paper
    follows. They are determined from the data, and any other number is refused. Only counts are known of the genuine
    set, so there is no content hash to compare with; the Bunch holds the hash of the files that were read. Generated
    text of that size (163 MB) was read in 19 s and 0.8 GB.

    Examples
    --------
    >>> from paucens.datasets import load_protein_pairs
    >>> X, y = load_protein_pairs()  # doctest: +SKIP
    >>> X.shape, int(y.sum())  # doctest: +SKIP
    ((240249, 85), 2865)
    """
    files = locate(ABOUT, path)
    wanted = ((1, EXPECTED.n_positive), (0, EXPECTED.n_negative))
    parts = [_read(file, label, n_pairs) for file, (label, n_pairs) in zip(files, wanted, strict=True)]
    complete = _complete_columns(parts, files)
    X = np.concatenate([part[:, complete] for part in parts])
    y = np.repeat([1, 0], [len(part) for part in parts])
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        columns=np.flatnonzero(complete) + 1,
        target_names=["random", "interacting"],
        filenames=[str(file) for file in files],
        content_hash=content_hash(X, y),
        DESCR=ABOUT.describe(),
    )


ABOUT = DataSet(
    name="protein_pairs",
    what="240249 pairs of yeast proteins, 2865 known to interact and 237384 drawn at random, 85 features without "
    "missing values of the 162 of the task 'physical interaction', feature type 'detailed' (Table 4).",
    source="dipsPosPair.feature and dipsRandpairSub23w.feature ('Physical Interaction Task in Detailed feature type') "
    "of the page http://www.cs.cmu.edu/~qyj/papers_sulp/proteins05_pages/feature-download.html",
    terms="None stated there; cite Qi, Bar-Joseph and Klein-Seetharaman (2006), Proteins 63(3).",
    check="163 numbers per line, 2865 and 237384 lines, the class in the last column, 85 complete features. No content "
    "hash: the files were not available.",
    loader=load_protein_pairs,
    folder="protein_pairs",
    forms=(("dipsPosPair.feature", "dipsRandpairSub23w.feature"),),
)


def _read(file, label, n_pairs):
    """Read the features of a file whose pairs are all of one class."""
    table = read_csv(file, N_FEATURES + 1)
    if len(table) != n_pairs:
        raise ValueError(f"{file} holds {len(table)} pairs; expected {n_pairs}. Get it again: {ABOUT.source}")
    if not np.all(table[:, -1] == label):
        raise ValueError(
            f"{file}: the last number of a line is the class, here {label} throughout; got "
            f"{np.unique(table[:, -1])[:5]}. It is another file of this name; get it again: {ABOUT.source}"
        )
    return table[:, :-1]


def _complete_columns(parts, files):
    """Tell which features no pair of either class lacks, ndarray of shape (162,), bool."""
    complete = ~np.any([np.any(part == MISSING, axis=0) for part in parts], axis=0)
    if complete.sum() != EXPECTED.n_complete:
        raise ValueError(
            f"{' and '.join(map(str, files))}: {complete.sum()} of the {N_FEATURES} features are without a missing "
            f"value ({MISSING}); expected {EXPECTED.n_complete}. Values were changed, or the files mark missing "
            f"values in another way than assumed; compare with {ABOUT.source}"
        )
    return complete
