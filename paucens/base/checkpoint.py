"""Checkpoints: an interrupted fit resumes from its learners and ends with the same model."""

from pathlib import Path

from paucens import persistence
from paucens.base.files import estimator_to_json, learners_from_arrays, learners_to_arrays

EVERY = 64  # learners between two writes


class Checkpoint:
    """File of an unfinished fit: its learners, and whatever else it needs to resume.

    Parameters
    ----------
    path : path-like, default=None
        With None nothing is kept. The caller must make sure that the file belongs to this fit: to the same data
        and parameters.
    """

    def __init__(self, path=None):
        self._path = None if path is None else Path(path)

    def load(self):
        """Return the learners and the state of the last `keep`; an empty list and dict if nothing was kept."""
        if self._path is None or not self._path.exists():
            return [], {}
        header, arrays = persistence.load(self._path, Checkpoint.__name__)
        learners = learners_from_arrays(arrays, header["learner"], header["n_features"])
        return learners, {name.removeprefix("fit/"): array for name, array in arrays.items() if name[:4] == "fit/"}

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
            "kind": Checkpoint.__name__,
            "learner": estimator_to_json(learners[0]),
            "n_features": learners[0].n_features_in_,
        }
        arrays = {f"fit/{name}": array for name, array in state().items()}
        persistence.save(self._path, header, arrays | learners_to_arrays(learners))
