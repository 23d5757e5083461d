"""Peers of our detectors that are run as they are: those of Dollar's toolbox."""

from dataclasses import dataclass

import numpy as np

from paucens import datasets
from paucens.detector import PedestrianDetector


@dataclass(frozen=True)
class ToolboxConfig:
    """A detector of Dollar's toolbox in a table: its name, and its file without suffix."""

    method: str
    file: str
    preset: str = "toolbox"
    n_seeds: int = 1
    cascade: bool = True

    @property
    def names(self):
        """How cases name it: by method and preset."""
        return {"method": self.method, "preset": self.preset}

    def detector(self, run):
        """Read the detector."""
        return PedestrianDetector.from_toolbox(datasets.load_toolbox(run.data_folder).models[self.file])


def on_disk(run, configs):
    """Return those peers whose files are on the disk, put them into the provenance, and say how to get the others."""
    if run.redraw:
        return []
    try:
        models = datasets.load_toolbox(run.data_folder).models
    except FileNotFoundError as error:
        models = {}
        print(f"{error}\nUntil then its detectors are left out.\n")
    found = [config for config in configs if config.file in models]
    for config in found:
        raw = np.frombuffer(models[config.file].read_bytes(), dtype=np.uint8)
        run.sources[f"{config.method}, {config.preset}"] = {
            "content_hash": datasets.content_hash(raw),
            "shape": [len(raw)],
        }
    return found
