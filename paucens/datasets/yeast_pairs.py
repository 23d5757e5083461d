"""Pairs of yeast proteins in one complex or not: a substitute for the set of Table 4, under its own name."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from paucens._types import PathLike
from paucens.datasets._files import content_hash, locate, read_npz
from paucens.datasets._registry import DataSet

ARRAYS = ("X", "y", "feature_names", "pair_u", "pair_v", "genes", "expr_z", "cyc2008_complex")


@dataclass(frozen=True)
class Expected:
    """Content of the genuine file, and the number of pairs of each class that are drawn from it."""

    n_pairs: int
    n_positive: int
    n_drawn: tuple[int, int]  # positives, negatives
    content: str


EXPECTED = Expected(
    n_pairs=348224,
    n_positive=9350,
    n_drawn=(2865, 237384),
    content="3080157952602b770f4e5de34523ca401ab7879f5356bef8177f61d1cf913968",
)


def load_yeast_pairs(
    path: PathLike | None = None, return_X_y: bool = True, *, random_state: int | np.random.RandomState | None = 0
) -> Any:
    """Load pairs of yeast proteins, drawn to the size of the paper's set but *not* the paper's set.

    Positives are two proteins in one complex. Numbers of this set stand in a table of their own.

    Parameters
    ----------
    path : path-like, default=None
        Folder that holds the set (itself or in a sub-folder `protein_pairs/`), or `yeast_pairs.npz`.
        `$PAUCENS_DATA` and `./data` are searched next.
    return_X_y : bool, default=True
        Whether to return (X, y, groups) instead of a Bunch.
    random_state : int, RandomState instance or None, default=0
        Seed of the draw of 2865 of the 9350 positives and 237384 of the 338874 negatives, without replacement.

    Returns
    -------
    X : ndarray of shape (240249, 52), float32
        16 features of the pair, and the 36 products of the standardised expression of the two proteins. The file holds
        half precision, so that all of them, including the products, are exact in single precision, in 50 MB. Rows keep
        the order of the file, in which the classes are mixed.
    y : ndarray of shape (240249,), int64
        1 for pairs within a complex of CYC2008, 0 for the others.
    groups : ndarray of shape (240249,), int64
        Number of the complex, 1 to 406, of positives; 0 for negatives.
    bunch : sklearn.utils.Bunch
        With `return_X_y=False`: `data`, `target`, `groups`, `feature_names`, `pairs` (240249, 2) with the indices of
        both proteins in `genes` (systematic names), `target_names`, `filenames`, `content_hash` (of the draw), `DESCR`.

    Raises
    ------
    FileNotFoundError
        If the set is not found anywhere; the message says where it comes from.
    ValueError
        If the file cannot be read or is not the genuine one.

    Notes
    -----
    - Split the set so that no complex is on both sides: pairs of one complex are similar, and few complexes hold most
      of the positives (the largest 26 %, the next two 12 and 7 %).
    - Negatives belong to no complex and can only be split pair by pair; state this limit. 20 % of them join two
      proteins that occur in positives of the file, 12 % two that occur in positives of the draw (seed 0).
    - Feature 0, STRING, is partly derived from curated knowledge of complexes: report results without it too.

    Examples
    --------
    >>> from paucens.datasets import load_yeast_pairs
    >>> bunch = load_yeast_pairs(return_X_y=False)
    >>> bunch.data.shape, int(bunch.target.sum())
    ((240249, 52), 2865)
    >>> without_string = bunch.data[:, [name != "STRING" for name in bunch.feature_names]]
    >>> without_string.shape
    (240249, 51)
    """
    (file,) = locate(ABOUT, path)
    arrays = read_npz(file, ARRAYS)
    _verify(arrays, file)
    rng = check_random_state(random_state)
    rows = np.sort(
        np.concatenate(
            [
                rng.choice(np.flatnonzero(arrays["y"] == label), n_drawn, replace=False)
                for label, n_drawn in zip((1, 0), EXPECTED.n_drawn, strict=True)
            ]
        )
    )
    pairs = np.column_stack([arrays["pair_u"], arrays["pair_v"]])[rows]
    X = _features(arrays["X"][rows], arrays["expr_z"], pairs)
    y, groups = (arrays[name][rows].astype(np.int64) for name in ("y", "cyc2008_complex"))
    if return_X_y:
        return X, y, groups
    times = range(1, arrays["expr_z"].shape[1] + 1)
    return Bunch(
        data=X,
        target=y,
        groups=groups,
        feature_names=[*arrays["feature_names"].tolist(), *(f"EXPR_PRODUCT_{time}" for time in times)],
        pairs=pairs,
        genes=arrays["genes"],
        target_names=["apart", "one complex"],
        filenames=[str(file)],
        content_hash=content_hash(X, y, groups),
        DESCR=ABOUT.describe(),
    )


ABOUT = DataSet(
    name="yeast_pairs",
    what="240249 pairs of yeast proteins with 52 features, 2865 within one complex of CYC2008, drawn from 348224 "
    "(9350). A substitute for protein_pairs, made to its size from later public tables: another task, never beside the "
    "paper's numbers.",
    source="Not public as a whole. yeast_pairs.npz was put together for this project, with X (348224, 16) "
    "float16, y, cyc2008_complex, pair_u, pair_v, genes (4693), expr_z (4693, 36), feature_names. The tables behind "
    "it: the composite network of Yong, Liu, Chua and Wong (2012), "
    "https://www.comp.nus.edu.sg/~wongls/projects/complexprediction/SWC-31oct14/ (STRING, TOPO, TOPO_L2), "
    "publications of interactions, expression over the metabolic cycle by Tu et al. (2005, GSE3431), complexes of "
    "Pu et al. (2009).",
    terms="Those of the tables behind it; research use, not passed on with this package. Cite them.",
    check="Number of pairs and of positives, and a content hash of all arrays of the file.",
    loader=load_yeast_pairs,
    folder="protein_pairs",
    forms=(("yeast_pairs.npz",),),
)


def _verify(arrays, file):
    """Compare numbers of pairs and the content hash with those of the genuine file."""
    n_pairs, n_positive = arrays["y"].size, np.count_nonzero(arrays["y"])
    if (n_pairs, n_positive) != (EXPECTED.n_pairs, EXPECTED.n_positive):
        raise ValueError(
            f"{file}: y has {n_pairs} pairs, {n_positive} of them positive; expected {EXPECTED.n_pairs} and "
            f"{EXPECTED.n_positive}. Get it again: {ABOUT.source}"
        )
    digest = content_hash(*(arrays[name] for name in ARRAYS))
    if digest != EXPECTED.content:
        raise ValueError(
            f"{file}: the numbers of pairs are right, but the content hashes to {digest}, expected "
            f"{EXPECTED.content}: values, types or the order of rows were changed. Get it again: {ABOUT.source}"
        )


def _features(of_pair, expression, pairs):
    """Join the features of each pair and the products of the expression of its proteins, exactly, in float32."""
    n_own = of_pair.shape[1]
    X = np.empty((len(pairs), n_own + expression.shape[1]), dtype=np.float32)
    X[:, :n_own] = of_pair
    first, second = expression.astype(np.float32)[pairs.T]
    np.multiply(first, second, out=X[:, n_own:])
    return X
