"""The USPS digits of Table 5, even against odd, from the public text files or a compact `.npz` of them."""

import gzip
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from paucens._types import PathLike
from paucens.datasets._files import content_hash, damaged, locate, read_npz
from paucens.datasets._registry import DataSet
from paucens.datasets._text import numbered_lines

N_PIXELS = 256  # 16 x 16, row by row
LEVELS = 1000  # grey values are printed with three decimals: an integer number of thousandths
GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class Expected:
    """Content of the genuine files: images per digit 0 to 9 in both parts, and the content hash."""

    train_counts: tuple[int, ...]
    test_counts: tuple[int, ...]
    content: str


EXPECTED = Expected(
    train_counts=(1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644),
    test_counts=(359, 264, 198, 166, 200, 160, 170, 147, 166, 177),
    content="719e61eae748079f7df1fd2b7ab8df58a228cf08a5eff66bd87b0f3b9e1524f1",
)


def load_usps(path: PathLike | None = None, return_X_y: bool = True) -> Any:
    """Load the 9298 USPS digits as even against odd (Table 5).

    Parameters
    ----------
    path : path-like, default=None
        Folder that holds the set (itself or in a sub-folder `usps/`), or one of its files: `usps.npz`, or
        `zip.train.gz` with `zip.test.gz` beside it, or both without `.gz`. `$PAUCENS_DATA` and `./data` are
        searched next.
    return_X_y : bool, default=True
        Whether to return (X, y) instead of a Bunch.

    Returns
    -------
    X : ndarray of shape (9298, 256), float64
        Grey values in [-1, 1] (background -1), 16 x 16 pixels row by row; the 7291 rows of `zip.train`, then
        the 2007 of `zip.test`. Every form of the files gives the same bits.
    y : ndarray of shape (9298,), int64
        1 for even digits, 0 for odd ones.
    bunch : sklearn.utils.Bunch
        With `return_X_y=False`: `data`, `target`, `digit` (0 to 9), `source` (0 for rows of
        `zip.train`, 1 for rows of `zip.test`), `target_names`, `source_names`, `filenames`, `content_hash`, `DESCR`.

    Raises
    ------
    FileNotFoundError
        If the set is not found anywhere; the message says where to get it.
    ValueError
        If a file cannot be read, or its class counts or its content are not those of the genuine set.

    Notes
    -----
    The `.npz` form holds `X_train`, `y_train`, `X_test`, `y_test` as integers, pixels in thousandths. The
    paper splits the 9298 images at random; the original two parts are a harder split and do not give its
    numbers.

    Examples
    --------
    >>> from paucens.datasets import load_usps
    >>> X, y = load_usps()
    >>> X.shape, int(y.sum()), float(X.min()), float(X.max())
    ((9298, 256), 4876, -1.0, 1.0)
    """
    files = locate(ABOUT, path)
    train, test = _read_npz(files[0]) if len(files) == 1 else (_read_text(file) for file in files)
    pixels, digit = (np.concatenate(arrays) for arrays in zip(train, test, strict=True))
    source = np.repeat([0, 1], [len(train[1]), len(test[1])])
    _verify(pixels, digit, source, EXPECTED, " and ".join(map(str, files)))
    X = pixels.astype(np.float64) / LEVELS
    y = (digit % 2 == 0).astype(np.int64)
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        digit=digit.astype(np.int64),
        source=source,
        target_names=["odd", "even"],
        source_names=["zip.train", "zip.test"],
        filenames=[str(file) for file in files],
        content_hash=content_hash(pixels, digit),
        DESCR=ABOUT.describe(),
    )


ABOUT = DataSet(
    name="usps",
    what="9298 handwritten digits from envelopes of the U.S. Postal Service, 16 x 16 grey values in [-1, 1], "
    "even (4876) against odd (4422); 7291 of zip.train, then 2007 of zip.test (Table 5).",
    source="zip.train.gz and zip.test.gz ('ZIP code') on the data page of The Elements of Statistical "
    "Learning by Hastie, Tibshirani and Friedman, https://hastie.su.domains/ElemStatLearn/data.html",
    terms="No licence is stated there: made available by the neural network group at AT&T research labs. Use "
    "it for research and do not pass it on; this package does not contain it.",
    check="256 pixels per row in thousandths of [-1, 1], images per digit in both parts, and a content hash of "
    "all pixels and labels, the same for every form of the files.",
    loader=load_usps,
    folder="usps",
    forms=(("usps.npz",), ("zip.train.gz", "zip.test.gz"), ("zip.train", "zip.test")),
)


def _read_npz(file):
    """Read both parts of the `.npz` form as (pixels, digits) pairs."""
    arrays = read_npz(file, ("X_train", "y_train", "X_test", "y_test"))
    for name, array in arrays.items():
        if array.dtype.kind not in "iu":
            raise ValueError(
                f"{file}: {name} has dtype {array.dtype}; expected integers (pixels in thousandths, digits)."
            )
    return [_checked(arrays[f"X_{part}"], arrays[f"y_{part}"], f"{file} ({part})") for part in ("train", "test")]


def _read_text(file):
    """Read one text file, each line a digit and 256 grey values, as a (pixels, digits) pair."""
    lines = [line for _, line in numbered_lines(file, _unpacked(file))]
    if not lines:
        raise damaged(file, "it is empty")
    try:
        table = np.loadtxt(lines, dtype=np.float64, comments=None, ndmin=2)
    except ValueError as error:
        raise damaged(file, f"lines hold a digit and {N_PIXELS} grey values, but {error}") from error
    if table.shape[1] != 1 + N_PIXELS:
        raise damaged(file, f"lines hold {table.shape[1]} values, expected a digit and {N_PIXELS} pixels")
    return _checked(table[:, 1:] * LEVELS, table[:, 0], file)


def _unpacked(file):
    """Return the content of a file, unpacked if its first bytes are those of gzip, whatever its suffix."""
    raw = file.read_bytes()
    try:
        return gzip.decompress(raw) if raw.startswith(GZIP_MAGIC) else raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise damaged(file, error) from error


def _checked(thousandths, digits, origin):
    """Return pixels (n, 256) int16 and digits (n,) uint8 in canonical form; raise ValueError if they are invalid."""
    if thousandths.ndim != 2 or thousandths.shape[1] != N_PIXELS or digits.shape != thousandths.shape[:1]:
        raise ValueError(
            f"{origin}: pixels have shape {thousandths.shape} and digits {digits.shape}; expected "
            f"(n, {N_PIXELS}) and (n,)."
        )
    if not np.all((digits >= 0) & (digits <= 9) & (digits == np.rint(digits))):
        raise ValueError(f"{origin}: the labels must be digits 0 to 9, the first value of each line.")
    if not np.all((thousandths >= -LEVELS) & (thousandths <= LEVELS)):  # also refuses NaN
        raise ValueError(f"{origin}: grey values must lie in [-1, 1]; the file is another scaling of the set.")
    pixels = np.rint(thousandths)
    if not np.all(np.abs(thousandths - pixels) < 1e-6):
        raise ValueError(f"{origin}: grey values have more than three decimals; the file is not the original.")
    return pixels.astype(np.int16), digits.astype(np.uint8)


def _verify(pixels, digit, source, expected, origin):
    """Compare images per digit and the content hash with those of the genuine set."""
    for part, wanted in enumerate((expected.train_counts, expected.test_counts)):
        counts = tuple(np.bincount(digit[source == part], minlength=10).tolist())
        if counts != wanted:
            raise ValueError(
                f"{origin}: the {('train', 'test')[part]} part has {sum(counts)} images, {counts} of the "
                f"digits 0 to 9; expected {sum(wanted)}, {wanted}. Get the files again: {ABOUT.source}"
            )
    digest = content_hash(pixels, digit)
    if digest != expected.content:
        raise ValueError(
            f"{origin}: shapes and class counts are right, but the content hashes to {digest}, expected "
            f"{expected.content}: values or the order of rows were changed. Get them again: {ABOUT.source}"
        )
