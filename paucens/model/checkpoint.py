"""A fit that was cut short goes on from the learners it had, and ends where it would have ended."""

from pathlib import Path

from paucens import persistence
from paucens.model.files import learners_from_arrays, learners_to_arrays, plain_estimator

EVERY = 64  # learners from one writing to the next


class Checkpoint:
    """The learners of an unfinished fit, and what else it needs to go on, in one file.

    Parameters
    ----------
    path : path-like, optional
        Nothing is kept where None. Whoever names the file answers for its being of this fit: of this data and these
        parameters.
    """

    def __init__(self, path=None):
        self._path = None if path is None else Path(path)

    def load(self):
        """The learners of the last `keep` and its arrays; none and an empty dict where nothing was kept."""
        if self._path is None or not self._path.exists():
            return [], {}
        header, arrays = persistence.load(self._path, Checkpoint.__name__)
        learners = learners_from_arrays(arrays, header["learner"], header["n_features"])
        return learners, {name.removeprefix("fit/"): array for name, array in arrays.items() if name[:4] == "fit/"}

    def keep(self, learners, state):
        """Write down a fit after every `EVERY` learners.

        Parameters
        ----------
        learners : list of fitted learners
        state : callable returning a dict of str to ndarray
            What else there is to know; called only when it is written.
        """
        if self._path is None or len(learners) % EVERY:
            return
        header = {
            "kind": Checkpoint.__name__,
            "learner": plain_estimator(learners[0]),
            "n_features": learners[0].n_features_in_,
        }
        arrays = {f"fit/{name}": array for name, array in state().items()}
        persistence.save(self._path, header, arrays | learners_to_arrays(learners))
