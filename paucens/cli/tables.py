"""Tables in CSV: a header, a row per sample, numbers or text."""

import csv
import sys

from paucens.cli.failures import DATA_MISSING, Failure

MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}  # in lower case


class Table:
    """A table whose cells are text.

    Attributes
    ----------
    path : str
        Where it is from, for errors.
    names : list of str
        The columns.
    rows : list of list of str
    """

    def __init__(self, path, names, rows):
        self.path, self.names, self.rows = path, names, rows

    @classmethod
    def read(cls, path):
        """Read a file, or standard input if the path is -; raise Failure if it is no table."""
        try:
            if path == "-":
                return cls._parsed("standard input", sys.stdin)
            with open(path, encoding="utf-8-sig", newline="") as file:
                return cls._parsed(path, file)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise Failure(DATA_MISSING, f"{path}: {reason}. Give a table in CSV, UTF-8.") from error

    @classmethod
    def _parsed(cls, path, file):
        reader = csv.reader(file)
        names = next(reader, None)
        if names is None:
            raise Failure(DATA_MISSING, f"{path} is empty. Give a table in CSV with a line of names first.")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise Failure(DATA_MISSING, f"{path} has two columns called {twice!r}. Rename one.")
        rows = []
        for cells in reader:
            if cells and len(cells) != len(names):
                raise Failure(
                    DATA_MISSING,
                    f"{path}, line {reader.line_num}: {len(cells)} cells, but the first line names {len(names)}.",
                )
            if cells:
                rows.append(cells)
        if not rows:
            raise Failure(DATA_MISSING, f"{path} has names of columns and no row.")
        return cls(path, names, rows)

    def column(self, name):
        """Return the cells of a column, a list of str."""
        if name not in self.names:
            raise Failure(
                DATA_MISSING, f"{self.path} has no column {name!r}; it has {', '.join(map(repr, self.names))}."
            )
        k = self.names.index(name)
        return [row[k] for row in self.rows]

    def features(self, names, categorical=None):
        """Return columns as features.

        Parameters
        ----------
        names : list of str
        categorical : collection of str, optional
            Columns that hold categories. Default: those in which a cell is neither a number nor missing.

        Returns
        -------
        X : ndarray of shape (n_rows, n_names), float64, or object if there are categories
            Missing values are nan, missing categories None.
        categorical : list of str
        """
        import numpy as np

        columns, found = [], []
        for name in names:
            cells = self.column(name)
            is_categorical = name in categorical if categorical is not None else not all(map(_is_number, cells))
            if is_categorical:
                found.append(name)
                columns.append([None if _is_missing(cell) else cell.strip() for cell in cells])
            else:
                columns.append([self._number(name, k, cell) for k, cell in enumerate(cells)])
        X = np.array(columns, dtype=object if found else float).T
        return np.ascontiguousarray(X), found

    def _number(self, name, k, cell):
        try:
            return float("nan") if _is_missing(cell) else float(cell)
        except ValueError:
            raise Failure(
                DATA_MISSING,
                f"{self.path}, row {k + 1}: {cell!r} in the column {name!r} is no number, as this column must hold.",
            ) from None


def _is_missing(cell):
    return cell.strip().lower() in MISSING


def _is_number(cell):
    """Tell whether a cell is a number or missing."""
    try:
        float(cell)
    except ValueError:
        return _is_missing(cell)
    return True
