"""Read text without trusting it: one decoding for all readers, lines whose errors name them, tables of numbers."""

import codecs
from pathlib import Path

import numpy as np

from paucens.datasets._files import damaged

NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"  # one way only to match: no backtracking
LARGEST = 2.0**53  # frames and persons are exact up to here, and areas of boxes are finite
ANY_SIZE = np.finfo(np.float64).max


def numbered_lines(path, raw=None) -> list[tuple[int, str]]:
    """List the lines of a text that are not blank, stripped, with their numbers from 1.

    Parameters
    ----------
    path : path-like
    raw : bytes, default=None
        Content of the file if it was unpacked; otherwise it is read.

    Raises
    ------
    ValueError
        If the file holds NUL bytes; the message names it.
    """
    text = decoded(path, Path(path).read_bytes() if raw is None else raw)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")  # str.splitlines also splits at rare letters
    return [(number, stripped) for number, line in enumerate(lines, 1) if (stripped := line.strip())]


def text_lines(path):
    """Yield the number, from 1, and the text of each line without its end, one line in memory at a time.

    A line that is not UTF-8 is Latin-1. Otherwise as in `numbered_lines`, but blank lines and blanks are kept.
    """
    with open(path, encoding="utf-8", errors="surrogateescape") as stream:
        for number, line in enumerate(stream, 1):
            if "\0" in line:
                raise _no_text(path)
            if not line.isascii():
                line = _without_escapes(line.removeprefix("\ufeff") if number == 1 else line)
            yield number, line.removesuffix("\n")


def _without_escapes(line):
    """Read bytes that are not UTF-8, which `surrogateescape` has kept, as Latin-1, and all others of the line too."""
    try:
        line.encode("utf-8")
    except UnicodeEncodeError:
        return line.encode("utf-8", "surrogateescape").decode("latin-1")
    return line


def decoded(path, raw) -> str:
    """Decode UTF-8, with or without a byte order mark, or else Latin-1, in which every byte is a letter.

    Raises
    ------
    ValueError
        If there are NUL bytes; the message names the file.
    """
    if b"\0" in raw:
        raise _no_text(path)
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _no_text(path):
    return ValueError(
        f"{path} cannot be read as text: it holds NUL bytes, as UTF-16 and binary files do. Save it as UTF-8, or get "
        "it again."
    )


def bad_line(path, number, line, expected) -> ValueError:
    """Return the error for a line that is not as `expected`."""
    return damaged(path, f"line {number} is {line!r:.160}; expected {expected}")


def numbers_of(path, number, texts, expected, largest=LARGEST) -> list[float]:
    """Convert the texts of a line to finite numbers, none beyond `largest`, or raise its error."""
    try:
        values = [float(text.replace("_", "?")) for text in texts]  # Python reads 1_000, other programs do not
    except ValueError as error:
        raise bad_line(path, number, " ".join(texts), expected) from error
    if not all(abs(value) <= largest for value in values):  # false for nan too
        raise bad_line(path, number, " ".join(texts), f"{expected}, all of them finite and none beyond {largest:.0e}")
    return values


def read_csv(path, n_columns, *, may_be_empty=False, raw=None) -> np.ndarray:
    """Read lines of `n_columns` numbers between commas; numbers may be in single quotes.

    Parameters
    ----------
    path : path-like
    n_columns : int
    may_be_empty : bool, default=False
        Whether a file without lines is a table without rows.
    raw : bytes, default=None
        Content of the file if it was unpacked; otherwise it is read.

    Returns
    -------
    table : ndarray of shape (n_lines, n_columns), float64

    Raises
    ------
    ValueError
        If the file is empty, holds anything but finite numbers, or has another number of columns; the message names it.
    """
    lines = [line for _, line in numbered_lines(path, raw)]
    if not lines:
        if may_be_empty:
            return np.zeros((0, n_columns))
        raise damaged(path, "it is empty")
    return table_of(path, lines, n_columns)


def table_of(path, lines, n_columns) -> np.ndarray:
    """Convert lines of `n_columns` numbers between commas, at least one; see `read_csv`."""
    try:
        table = np.loadtxt(lines, delimiter=",", comments=None, quotechar="'", ndmin=2)
    except ValueError as error:
        raise damaged(path, f"lines hold {n_columns} numbers between commas, but {error}") from error
    if table.shape[1] != n_columns:
        raise damaged(path, f"lines hold {table.shape[1]} numbers between commas, expected {n_columns}")
    if not np.isfinite(table).all():
        raise damaged(path, "it holds NaN or infinity")
    return table
