"""Checkpoints: an interrupted fit resumes from its learners and ends with the same model."""

import contextlib
from pathlib import Path

from paucens import persistence
from paucens.base.files import estimator_to_json, learners_from_arrays, learners_to_arrays
from paucens.base.locks import locked
from paucens.base.settings import check_same

KIND = "Checkpoint"
EVERY = 64  # learners between two writes


class Checkpoint:
    """File of an unfinished fit: its learners, whatever else it needs to resume, and what it depends on.

    Parameters
    ----------
    path : path-like, default=None
        With None nothing is kept.
    """

    def __init__(self, path=None):
        self._path = None if path is None else Path(path)
        self._settings = {}

    def locked(self):
        """Return a context in which no other process uses the file; one that does is waited for."""
        if self._path is None:
            return contextlib.nullcontext()
        return locked(self._path.with_name(f".{self._path.name}.lock"))

    def bind(self, make_settings):
        """Note what the fit depends on; `make_settings()`, a dict of JSON values, is called only if a file is kept."""
        if self._path is not None:
            self._settings = persistence.plain(make_settings(), "settings")

    @contextlib.contextmanager
    def resumed(self):
        """Read the last `keep`, in a context in which an error about its content becomes one that names the file.

        Yields
        ------
        learners : list of fitted learners
        state : dict of str to ndarray
            Both are empty if nothing was kept.

        Raises
        ------
        ValueError
            If the file is damaged, or belongs to another fit.
        """
        if self._path is None or not self._path.exists():
            yield [], {}
            return
        with expendable(self._path):
            header, arrays = persistence.load(self._path, KIND)
        check_same(self._path, header.get("settings", self._settings), self._settings)
        with expendable(self._path), persistence.content_of(self._path, KIND):
            learners = learners_from_arrays(arrays, header["learner"], header["n_features"])
            yield learners, {name.removeprefix("fit/"): array for name, array in arrays.items() if name[:4] == "fit/"}

    def keep(self, learners, state):
        """Write the fit after every `EVERY` learners.

        Parameters
        ----------
        learners : list of fitted learners
        state : callable returning a dict of str to ndarray
            Everything else that the fit needs to resume; it is called only when the file is written.
        """
        if self._path is None or len(learners) % EVERY:
            return
        header = {
            "kind": KIND,
            "learner": estimator_to_json(learners[0]),
            "n_features": learners[0].n_features_in_,
            "settings": self._settings,
        }
        arrays = {f"fit/{name}": array for name, array in state().items()}
        persistence.save(self._path, header, arrays | learners_to_arrays(learners))


@contextlib.contextmanager
def expendable(path):
    """Say in an error about a damaged file of a checkpoint that it may be removed."""
    try:
        yield
    except ValueError as error:
        raise ValueError(
            f"{error} It is part of a checkpoint: remove {path}, and its content is computed again."
        ) from error
