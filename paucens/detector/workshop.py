"""A folder in which an unfinished training keeps what it has made, so that nothing is made twice."""

import contextlib
import json
import os
from pathlib import Path

import numpy as np

from paucens.detector.model import PedestrianDetector

BLOCK_BYTES = 64_000_000  # of samples turned at a time


class Workshop:
    """Pieces of work by name: made and written once, whole or not at all, and read from then on.

    Parameters
    ----------
    folder : path-like
        Exists.
    settings : dict
        JSON values, what all pieces depend on.

    Raises
    ------
    ValueError
        Where the folder holds work under other settings.
    """

    def __init__(self, folder, settings):
        self._folder = Path(folder)
        known = self.path("settings.json")
        if known.exists():
            _check_same(known, json.loads(known.read_text(encoding="utf-8")), json.loads(json.dumps(settings)))
        else:
            self._write("settings.json", lambda path: path.write_text(json.dumps(settings, indent=1), encoding="utf-8"))

    @staticmethod
    def folder(path):
        """A folder that stays when its context is left, made where it does not exist."""
        Path(path).mkdir(parents=True, exist_ok=True)
        return contextlib.nullcontext(path)

    def path(self, name):
        """Where a piece is, or would be."""
        return self._folder / name.replace(" ", "_")

    def array(self, name, make):
        """An array, mapped from its file; `make()` is called where there is none."""
        path = self.path(f"{name}.npy")
        if not path.exists():
            made = make()
            self._write(path.name, lambda part: _save(part, made))
        return np.load(path, mmap_mode="r", allow_pickle=False)

    def arrays(self, name, make):
        """A tuple of arrays; `make()` is called where one is missing."""
        paths = [self.path(f"{name} {k}.npy") for k in range(2)]
        if not all(path.exists() for path in paths):
            for path, made in zip(paths, make(), strict=True):
                self._write(path.name, lambda part, made=made: _save(part, made))
        return tuple(np.load(path, allow_pickle=False) for path in paths)

    def detector(self, name, make):
        """A detector; `make()` is called where there is none."""
        path = self.path(f"{name}.npz")
        if not path.exists():
            make().save(path)
        return PedestrianDetector.load(path)

    def stacked(self, name, make):
        """Rows of samples end to end, uint8 (n, n_features), mapped; `make()` gives a list of (samples, rows)."""

        def fill(part):
            parts = make()
            shape = (sum(len(rows) for _, rows in parts), parts[0][0].shape[1])
            stack = np.lib.format.open_memmap(part, mode="w+", dtype=np.uint8, shape=shape)
            first = 0
            for samples, rows in parts:
                stack[first : first + len(rows)] = samples[rows]
                first += len(rows)
            stack.flush()

        path = self.path(f"{name}.npy")
        if not path.exists():
            self._write(path.name, fill)
        return np.load(path, mmap_mode="r", allow_pickle=False)

    def turned(self, name, *parts):
        """Samples (n, n_features) end to end, a contiguous row a feature: uint8 (n_features, n), mapped."""

        def fill(part):
            codes = np.lib.format.open_memmap(
                part, mode="w+", dtype=np.uint8, shape=(parts[0].shape[1], sum(map(len, parts)))
            )
            width = max(1, BLOCK_BYTES // codes.shape[1])
            for first in range(0, len(codes), width):
                block = [samples[:, first : first + width] for samples in parts]
                codes[first : first + width] = np.concatenate(block).T
            codes.flush()

        path = self.path(f"{name}.npy")
        if not path.exists():
            self._write(path.name, fill)
        return np.load(path, mmap_mode="r", allow_pickle=False)

    def forget(self, *names):
        """Remove pieces that are not needed any more; names may hold *."""
        for name in names:
            for path in self._folder.glob(self.path(name).name + ("" if "." in name else ".npy")):
                path.unlink()

    def _write(self, name, write):
        """Write under another name and rename, so that a file is whole where there is one."""
        part = self._folder / f".{name}.part"
        write(part)
        os.replace(part, self._folder / name)


def _save(path, array):
    with open(path, "wb") as file:  # np.save would add a suffix to a path
        np.save(file, array, allow_pickle=False)


def _check_same(path, known, wanted):
    different = [name for name in wanted if known.get(name) != wanted[name]]
    if different:
        name = different[0]
        raise ValueError(
            f"{path.parent} holds another training: its {name} is {known.get(name)}, not {wanted[name]}. Give another "
            "folder, or remove this one."
        )
