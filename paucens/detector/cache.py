"""The folder of an unfinished training, which keeps what has been computed so that nothing is computed twice."""

import contextlib
import json
import tempfile
from pathlib import Path

import numpy as np

from paucens.base import check_same, expendable, locked
from paucens.detector.model import PedestrianDetector
from paucens.persistence import map_array, read_array, remove_parts, replacing, write_array
from paucens.validation import check_number

BLOCK_BYTES = 64_000_000  # of samples transposed at a time


class TrainingCache:
    """Results of a training by name. Each is computed and written once, completely or not at all, and then read.

    Parameters
    ----------
    folder : path-like
        Exists, and is used by no other training; see `open`.
    settings : dict
        JSON values that all results depend on.

    Raises
    ------
    ValueError
        If the folder holds results of other settings, or they are damaged.
    """

    def __init__(self, folder, settings):
        self._folder = Path(folder)
        known, wanted = self._path("settings.json"), json.dumps(settings, indent=1).encode()
        if known.exists():
            check_same(self._folder, _read_settings(known), json.loads(wanted))
        else:
            with replacing(known, len(wanted)) as file:
                file.write(wanted)

    @classmethod
    @contextlib.contextmanager
    def open(cls, folder, settings):
        """Make a cache, in a context.

        Parameters
        ----------
        folder : path-like or None
            Made if it does not exist. Another training in it is waited for. None means a temporary folder.
        settings : dict
        """
        place = tempfile.TemporaryDirectory() if folder is None else contextlib.nullcontext(folder)
        with place as path, locked(Path(path) / ".lock"):
            remove_parts(path)
            yield cls(path, settings)

    # -- rounds ------------------------------------------------------------------------------------

    def has_detector(self, k):
        """Tell whether the detector of round k exists."""
        return self._path(f"round {k}.npz").exists()

    def save_detector(self, k, detector):
        """Write the detector of round k."""
        detector.save(self._path(f"round {k}.npz"))

    def load_detector(self, k):
        """Read the detector of round k and remove what was needed to train it."""
        self._remove(f"codes {k}.npy", f"fit {k}.npz")
        path = self._path(f"round {k}.npz")
        with expendable(path):
            detector = PedestrianDetector.load(path)
            check_number(f"'hard' in the notes of {path}", detector.notes.get("hard"))
        return detector

    def fit_path(self, k):
        """Return the path of the unfinished fit of round k."""
        return self._path(f"fit {k}.npz")

    def codes(self, k, *parts):
        """Return the samples of round k as features, uint8 (n_features, n_samples), mapped from a file.

        Parameters
        ----------
        k : int
        *parts : ndarrays of shape (n, n_features), uint8
            Concatenated and transposed, a contiguous row per feature.
        """
        shape = parts[0].shape[1], sum(map(len, parts))

        def blocks():
            width = max(1, BLOCK_BYTES // shape[1])
            for first in range(0, shape[0], width):
                yield np.concatenate([samples[:, first : first + width] for samples in parts]).T

        path = self._path(f"codes {k}.npy")
        if not path.exists():
            write_array(path, np.uint8, shape, blocks())
        return self._mapped(path)

    def clear(self):
        """Remove all samples; a finished training leaves its detectors."""
        self._remove("*.npy")

    # -- samples -----------------------------------------------------------------------------------

    def array(self, name, make):
        """Return an array, mapped from its file; `make()` is called if it does not exist yet."""
        path = self._path(f"{name}.npy")
        if not path.exists():
            _write(path, make())
        return self._mapped(path)

    def arrays(self, name, make):
        """Return two arrays; `make()` is called if one of them does not exist yet."""
        paths = [self._path(f"{name} {k}.npy") for k in range(2)]
        if not all(path.exists() for path in paths):
            for path, made in zip(paths, make(), strict=True):
                _write(path, made)
        arrays = []
        for path in paths:
            with expendable(path):
                arrays.append(read_array(path))
        return tuple(arrays)

    def samples(self, name, make):
        """Return samples, uint8 (n, n_features), mapped from a file.

        Parameters
        ----------
        name : str
            Parts that were cached as "<name> 0", "<name> 1", ... are removed once all of them are in the file.
        make : callable
            Returns a list of (samples, rows), which are concatenated. Called if the file does not exist yet.
        """
        path = self._path(f"{name}.npy")
        if not path.exists():
            parts = make()
            shape = sum(len(rows) for _, rows in parts), parts[0][0].shape[1]
            write_array(path, np.uint8, shape, (samples[rows] for samples, rows in parts))
        self._remove(f"{name} *.npy")
        return self._mapped(path)

    def forget(self, name):
        """Remove samples that are no longer needed."""
        self._remove(f"{name}.npy")

    # -- files -------------------------------------------------------------------------------------

    def _path(self, name):
        return self._folder / name.replace(" ", "_")

    def _mapped(self, path):
        with expendable(path):
            return map_array(path)

    def _remove(self, *patterns):
        for pattern in patterns:
            for path in self._folder.glob(self._path(pattern).name):
                path.unlink()


def _write(path, array):
    write_array(path, array.dtype, array.shape, [array])


def _read_settings(path):
    """Return the settings in a file; raise ValueError that says what to do if it is damaged."""
    try:
        settings = json.loads(path.read_bytes())
        if not isinstance(settings, dict):
            raise ValueError("it is no JSON object")
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} is damaged ({error}), so nothing tells which training {path.parent} belongs to. Remove the "
            "folder, and training starts anew; or give another folder."
        ) from error
    return settings
