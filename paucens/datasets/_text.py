"""Read tables of numbers from text without trusting it."""

import warnings

import numpy as np

from paucens.datasets._files import damaged


def read_csv(path, n_columns):
    """Read lines of `n_columns` numbers between commas; numbers may be in single quotes.

    Parameters
    ----------
    path : Path
    n_columns : int

    Returns
    -------
    table : ndarray of shape (n_lines, n_columns), float64

    Raises
    ------
    ValueError
        If the file is empty, holds anything but finite numbers, or has another number of columns; the message names it.
    """
    try:
        with path.open(encoding="utf-8-sig") as stream, warnings.catch_warnings():
            warnings.filterwarnings("ignore", "loadtxt: input contained no data", UserWarning)
            table = np.loadtxt(stream, delimiter=",", comments=None, quotechar="'", ndmin=2)
    except ValueError as error:
        raise damaged(path, f"lines hold {n_columns} numbers between commas, but {error}") from error
    if table.size == 0:
        raise damaged(path, "it is empty")
    if table.shape[1] != n_columns:
        raise damaged(path, f"lines hold {table.shape[1]} numbers between commas, expected {n_columns}")
    if not np.isfinite(table).all():
        raise damaged(path, "it holds NaN or infinity")
    return table
