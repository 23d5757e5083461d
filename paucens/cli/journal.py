"""Results so far of a command that can be interrupted: a file of JSON lines beside the one that it will write."""

import json
from pathlib import Path

from paucens.cli.failures import USAGE, Failure

SUFFIX = ".unfinished"


class Journal:
    """Entries that outlast an interruption; the first line holds the settings that they belong to.

    Parameters
    ----------
    output : str
        The file that the results are for.
    settings : dict
        JSON values; entries of other settings are not gone on with.
    resume : bool
        Go on with what is there. Otherwise a journal that is there is an error, unless `force`.
    force : bool
        Begin anew, whatever is there.

    Attributes
    ----------
    n_done : int
        Number of entries so far.
    """

    def __init__(self, output, settings, resume=False, force=False):
        self.path = Path(f"{output}{SUFFIX}")
        self.n_done = 0
        if self.path.exists() and not resume and not force:
            raise Failure(
                USAGE,
                f"{self.path} holds the results of a run that was interrupted: --resume goes on, --force begins anew.",
            )
        if self.path.exists() and resume:
            self._check(settings)
            self._file = open(self.path, "a", encoding="utf-8")  # noqa: SIM115, closed at exit
        else:
            self._file = open(self.path, "w", encoding="utf-8")  # noqa: SIM115, closed at exit
            self.add(settings)
            self.n_done = 0

    def _check(self, settings):
        """Count whole lines, cut off the rest, and compare the settings."""
        n_bytes, first = 0, None
        with open(self.path, "rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                n_bytes += len(line)
                self.n_done += first is not None
                first = line if first is None else first
        if first is None or _parsed(first) != settings:
            raise Failure(
                USAGE, f"{self.path} is of another run, with other arguments. --force begins anew, without its results."
            )
        with open(self.path, "r+b") as file:
            file.truncate(n_bytes)

    def add(self, entry):
        """Write an entry."""
        self._file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        self._file.flush()
        self.n_done += 1

    def entries(self):
        """Yield all entries, one after the other."""
        with open(self.path, encoding="utf-8") as file:
            next(file)
            yield from map(json.loads, file)

    def remove(self):
        """Remove the file; the results are elsewhere."""
        self._file.close()
        self.path.unlink()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()


def _parsed(line):
    try:
        return json.loads(line)
    except ValueError:
        return None
