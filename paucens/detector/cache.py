"""The folder of an unfinished training, which keeps what has been computed so that nothing is computed twice."""

import contextlib
import json
import os
import tempfile
from pathlib import Path

import numpy as np

from paucens.detector.model import PedestrianDetector

try:
    import fcntl
except ImportError:  # not a POSIX system: nobody waits for anybody
    fcntl = None

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
        If the folder holds results of other settings.
    """

    def __init__(self, folder, settings):
        self._folder = Path(folder)
        known, wanted = self._path("settings.json"), json.dumps(settings, indent=1)
        if known.exists():
            _check_same(known, json.loads(known.read_text(encoding="utf-8")), json.loads(wanted))
        else:
            self._write(known, lambda path: path.write_text(wanted, encoding="utf-8"))

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
        with tempfile.TemporaryDirectory() if folder is None else contextlib.nullcontext(folder) as path:
            Path(path).mkdir(parents=True, exist_ok=True)
            with _locked(Path(path) / ".lock"):
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
        return PedestrianDetector.load(self._path(f"round {k}.npz"))

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

        def fill(path):
            shape = (parts[0].shape[1], sum(map(len, parts)))
            codes = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=shape)
            width = max(1, BLOCK_BYTES // codes.shape[1])
            for first in range(0, len(codes), width):
                block = [samples[:, first : first + width] for samples in parts]
                codes[first : first + width] = np.concatenate(block).T
            codes.flush()

        return self._mapped(f"codes {k}", fill)

    def clear(self):
        """Remove all samples; a finished training leaves its detectors."""
        self._remove("*.npy")

    # -- samples -----------------------------------------------------------------------------------

    def array(self, name, make):
        """Return an array, mapped from its file; `make()` is called if it does not exist yet."""
        return self._mapped(name, lambda path: _save(path, make()))

    def arrays(self, name, make):
        """Return two arrays; `make()` is called if one of them does not exist yet."""
        paths = [self._path(f"{name} {k}.npy") for k in range(2)]
        if not all(path.exists() for path in paths):
            for path, made in zip(paths, make(), strict=True):
                self._write(path, lambda part, made=made: _save(part, made))
        return tuple(np.load(path, allow_pickle=False) for path in paths)

    def samples(self, name, make):
        """Return samples, uint8 (n, n_features), mapped from a file.

        Parameters
        ----------
        name : str
            Parts that were cached as "<name> 0", "<name> 1", ... are removed once all of them are in the file.
        make : callable
            Returns a list of (samples, rows), which are concatenated. Called if the file does not exist yet.
        """

        def fill(path):
            parts = make()
            shape = (sum(len(rows) for _, rows in parts), parts[0][0].shape[1])
            stack = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=shape)
            first = 0
            for samples, rows in parts:
                stack[first : first + len(rows)] = samples[rows]
                first += len(rows)
            stack.flush()

        mapped = self._mapped(name, fill)
        self._remove(f"{name} *.npy")
        return mapped

    def forget(self, name):
        """Remove samples that are no longer needed."""
        self._remove(f"{name}.npy")

    # -- files -------------------------------------------------------------------------------------

    def _path(self, name):
        return self._folder / name.replace(" ", "_")

    def _mapped(self, name, fill):
        path = self._path(f"{name}.npy")
        if not path.exists():
            self._write(path, fill)
        return np.load(path, mmap_mode="r", allow_pickle=False)

    def _write(self, path, write):
        """Write under another name and rename, so that a file that exists is complete."""
        part = path.with_name(f".{path.name}.part")
        write(part)
        os.replace(part, path)

    def _remove(self, *patterns):
        for pattern in patterns:
            for path in self._folder.glob(self._path(pattern).name):
                path.unlink()


@contextlib.contextmanager
def _locked(path):
    """Hold a lock file; it is released even if the process is killed."""
    with open(path, "wb") as file:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _save(path, array):
    with open(path, "wb") as file:  # np.save would add a suffix to a path
        np.save(file, array, allow_pickle=False)


def _check_same(path, known, wanted):
    different = [name for name in wanted | known if known.get(name) != wanted.get(name)]
    if different:
        name = different[0]
        raise ValueError(
            f"{path.parent} holds another training: its {name} is {known.get(name)}, not {wanted.get(name)}. Give "
            "another folder, or remove this one."
        )
