"""Tables of features with few positives, on which the package is compared with gradient boosters.

`load_tabular` reads any of them; `load_mammography` and so on read one, since the registry and the scripts identify a
set by its loader.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils import Bunch

from paucens.datasets._files import content_hash, locate, read_npz
from paucens.datasets._registry import DataSet
from paucens.datasets._text import read_csv


@dataclass(frozen=True)
class Table:
    """Storage, returned type and content of a genuine table.

    Attributes
    ----------
    n_samples, n_features, n_positive : int
    stored : dtype
        Type of `X` in the `.npz`; numbers from text are rounded to it.
    returned : dtype
        Type of X as the loader returns it; every stored value is exact in it.
    content : str
        Content hash of the stored X and of y as uint8.
    packed : bool, default=False
        Whether the file holds bits, eight features per byte, as `X_packed`.
    """

    n_samples: int
    n_features: int
    n_positive: int
    stored: type
    returned: type
    content: str
    packed: bool = False

    @property
    def stored_name(self):
        """Name of the array of features in the `.npz`."""
        return "X_packed" if self.packed else "X"

    @property
    def stored_shape(self):
        """Shape of that array."""
        return self.n_samples, -(-self.n_features // 8) if self.packed else self.n_features


TABLES = {
    "mammography": Table(
        11183,
        6,
        260,
        np.float32,
        np.float64,
        content="e32c7029794d653225d89d4bfd43dea59d5db8718e1490f49e67dd5923525dad",
    ),
    "htru2": Table(
        17898,
        8,
        1639,
        np.float32,
        np.float64,
        content="88a402fd801d71a71c668119c4c48d27c30ef7783c1015a49746d48d052fcb72",
    ),
    "sylva": Table(
        13086,
        216,
        805,
        np.int16,
        np.float64,
        content="cd482b5d072cead427f4b8f44eab8706a6107fc2b3221be6a99992859ab7a715",
    ),
    "hiv_ecfp4": Table(
        41120,
        1024,
        1443,
        np.uint8,
        np.float32,
        content="a7ce77234f84d8ecc87c36a8dd286d07d0a500242e9455c2894bdce9cd4d653d",
        packed=True,
    ),
}


def load_tabular(name, path=None, return_X_y=True):
    """Load a table of features with few positives.

    Parameters
    ----------
    name : {"mammography", "htru2", "sylva", "hiv_ecfp4"}
    path : path-like, default=None
        Folder that holds the set (itself or in a sub-folder `tabular/`), or its file: `<name>.npz`, for two of
        them also the public text file. `$PAUCENS_DATA` and `./data` are searched next.
    return_X_y : bool, default=True
        Whether to return (X, y) instead of a Bunch.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        11183 x 6, 17898 x 8, 13086 x 216 or 41120 x 1024, in this order. float64, but float32 for hiv_ecfp4:
        0 and 1 are exact in it, and it takes 168 MB instead of 337.
    y : ndarray of shape (n_samples,), int64
        1 for the 260 calcifications, 1639 pulsars, 805 cells of Ponderosa pine or 1443 active compounds.
    bunch : sklearn.utils.Bunch
        With `return_X_y=False`: `data`, `target`, `filenames`, `content_hash` and `DESCR`.

    Raises
    ------
    FileNotFoundError
        If the set is not found anywhere; the message says where to get it.
    ValueError
        If the name is unknown, the file cannot be read, or its shape, class counts or content are not those of the
        genuine set.

    Notes
    -----
    The `.npz` holds `y` (0 or 1) and `X`, in single precision for mammography and htru2, whose text files give
    the same values once rounded to it, and as int16 for sylva. For hiv_ecfp4 it holds `X_packed` (41120, 128)
    uint8, eight bits of the fingerprint per byte, the first one in the highest bit.

    Examples
    --------
    >>> from paucens.datasets import load_tabular
    >>> X, y = load_tabular("htru2")
    >>> X.shape, X.dtype.name, int(y.sum())
    ((17898, 8), 'float64', 1639)
    """
    if name not in TABLES:
        raise ValueError(f"No table is called {name!r}; choose one of {sorted(TABLES)}.")
    about, table = SETS[name], TABLES[name]
    (file,) = locate(about, path)
    stored, labels = _read_csv(file, table) if file.suffix == ".csv" else _read_npz(file, table)
    _verify(stored, labels, about, table, file)
    digest = _verify_content(stored, labels, about, table, file)
    bits = np.unpackbits(stored, axis=1, count=table.n_features) if table.packed else stored
    X, y = bits.astype(table.returned), labels.astype(np.int64)
    if return_X_y:
        return X, y
    return Bunch(data=X, target=y, filenames=[str(file)], content_hash=digest, DESCR=about.describe())


def _read_npz(file, table):
    """Read the stored features and the labels of the `.npz` form."""
    arrays = read_npz(file, (table.stored_name, "y"))
    return arrays[table.stored_name], arrays["y"]


def _read_csv(file, table):
    """Read a text file: per line the features of a sample and its label, 1 for positives and 0 or -1 otherwise."""
    numbers = read_csv(file, table.n_features + 1)
    labels = numbers[:, -1]
    return numbers[:, :-1].astype(table.stored), np.where(labels == -1, 0, labels)


def _verify(stored, labels, about, table, file):
    """Compare dtype, shape and class counts with the genuine set's."""
    wanted = f"{table.stored_name} {table.stored_shape} {np.dtype(table.stored)} and y ({table.n_samples},)"
    if stored.shape != table.stored_shape or stored.dtype != table.stored or labels.shape != stored.shape[:1]:
        raise ValueError(
            f"{file}: {table.stored_name} has shape {stored.shape} and dtype {stored.dtype}, y has shape "
            f"{labels.shape}; expected {wanted}. Get it again: {about.source}"
        )
    if labels.dtype.kind not in "biuf" or not np.isin(labels, (0, 1)).all():
        raise ValueError(f"{file}: the labels must be 1 for positives and 0 for negatives (in text also -1).")
    if np.count_nonzero(labels) != table.n_positive:
        raise ValueError(
            f"{file}: {np.count_nonzero(labels)} samples are positive; expected {table.n_positive} of "
            f"{table.n_samples}. Get it again: {about.source}"
        )


def _verify_content(stored, labels, about, table, file):
    """Compare the content hash with the genuine set's and return it."""
    digest = content_hash(stored, labels.astype(np.uint8))
    if digest != table.content:
        raise ValueError(
            f"{file}: shape and class counts are right, but the content hashes to {digest}, expected "
            f"{table.content}: values or the order of rows were changed. Get it again: {about.source}"
        )
    return digest


def load_mammography(path=None, return_X_y=True):
    """Load `load_tabular("mammography")`: spots on mammograms, calcifications or not.

    Parameters
    ----------
    path, return_X_y
        As for `load_tabular`.
    """
    return load_tabular("mammography", path, return_X_y)


def load_htru2(path=None, return_X_y=True):
    """Load `load_tabular("htru2")`: candidates for pulsars.

    Parameters
    ----------
    path, return_X_y
        As for `load_tabular`.
    """
    return load_tabular("htru2", path, return_X_y)


def load_sylva(path=None, return_X_y=True):
    """Load `load_tabular("sylva")`: cells of forest, Ponderosa pine or not.

    Parameters
    ----------
    path, return_X_y
        As for `load_tabular`.
    """
    return load_tabular("sylva", path, return_X_y)


def load_hiv_ecfp4(path=None, return_X_y=True):
    """Load `load_tabular("hiv_ecfp4")`: compounds that inhibit HIV or not, as fingerprints.

    Parameters
    ----------
    path, return_X_y
        As for `load_tabular`.
    """
    return load_tabular("hiv_ecfp4", path, return_X_y)


CHECK = "Dtype and shape, number of positives, and a content hash of all features and labels"

SETS = {
    about.name: about
    for about in (
        DataSet(
            name="mammography",
            what="11183 candidate spots on digitised mammograms, 6 standardised features, 260 calcifications "
            "(Woods et al. 1993).",
            source="mammography.csv of https://github.com/jbrownlee/Datasets, which is the body of the ARFF file of "
            "https://www.openml.org/d/310: 6 numbers and '-1' or '1' per line. mammography.npz is the same in single "
            "precision: X (11183, 6) float32, y uint8.",
            terms="OpenML lists it as public; made available by Aleksandar Lazarevic. Cite Woods, Doss, Bowyer, Solka, "
            "Priebe and Kegelmeyer (1993).",
            check=f"{CHECK}, the same for both forms.",
            loader=load_mammography,
            folder="tabular",
            forms=(("mammography.npz",), ("mammography.csv",)),
        ),
        DataSet(
            name="htru2",
            what="17898 candidates of the High Time Resolution Universe survey, 1639 of them pulsars; mean, standard "
            "deviation, excess kurtosis and skewness of the pulse profile, then of the DM-SNR curve.",
            source="HTRU_2.csv in the archive of https://archive.ics.uci.edu/dataset/372/htru2: 8 numbers and 0 or 1 "
            "per line, no header. htru2.npz is the same in single precision: X (17898, 8) float32, y uint8.",
            terms="UCI Machine Learning Repository, CC BY 4.0; cite Lyon, Stappers, Cooper, Brooke and Knowles (2016).",
            check=f"{CHECK}, the same for both forms.",
            loader=load_htru2,
            folder="tabular",
            forms=(("htru2.npz",), ("HTRU_2.csv",)),
        ),
        DataSet(
            name="sylva",
            what="13086 samples, 805 of Ponderosa pine against other forest; each is four 30 m cells, two of the class "
            "and two drawn at random, with 54 features each, shuffled (216 columns): the training part of SYLVA, "
            "agnostic track.",
            source="sylva_train.data and sylva_train.labels of the Agnostic Learning vs. Prior Knowledge Challenge "
            "(2007), http://clopinet.com/isabelle/Projects/agnostic/; https://www.openml.org/d/40992 holds them with "
            "the 1309 samples of the validation part. sylva.npz is made of the two: X (13086, 216) int16, y uint8, 1 "
            "if the label is 1, otherwise 0 (data/README.md).",
            terms="None stated for the challenge's form; the raw data are the Covertype set of Blackard and Dean, "
            "Colorado State University, UCI Machine Learning Repository.",
            check=f"{CHECK}. The features add up to 238271607, the check sum that the challenge publishes.",
            loader=load_sylva,
            folder="tabular",
            forms=(("sylva.npz",),),
        ),
        DataSet(
            name="hiv_ecfp4",
            what="41120 compounds of the AIDS antiviral screen, 1443 active (404 CA, 1039 CM) against inactive (CI), "
            "as ECFP4 fingerprints folded to 1024 bits.",
            source="HIV.csv of MoleculeNet, https://moleculenet.org/datasets-1: 41127 compounds as SMILES. "
            "hiv_ecfp4.npz is made of it with RDKit, which reads 41120 of them: X_packed (41120, 128) uint8, "
            "numpy.packbits of Morgan fingerprints of radius 2 and 1024 bits; y uint8 = HIV_active (data/README.md).",
            terms="Results of the Developmental Therapeutics Program, U.S. National Cancer Institute, open to the "
            "public; cite Wu et al. (2018) for the collection.",
            check=f"{CHECK}.",
            loader=load_hiv_ecfp4,
            folder="tabular",
            forms=(("hiv_ecfp4.npz",),),
        ),
    )
}
