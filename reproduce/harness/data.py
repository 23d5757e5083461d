"""Data sets by title, loaded once per process."""

from functools import cache
from pathlib import Path

from paucens.datasets import REGISTRY

DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / "data"


def is_stand_in(title):
    """Tell whether a title is that of a stand-in, which says so itself."""
    return "(stand-in" in title


def available(names, folder):
    """Return the data sets that are on the disk, or their stand-ins, by title, and how to get each of the others."""
    found, misses = {}, []
    for name in names:
        try:
            found[name] = load(name, folder)
        except FileNotFoundError as error:
            stand_in = next((about.title for about in REGISTRY.values() if about.stand_in_for == name), None)
            if stand_in is None:
                misses.append(str(error))
                continue
            print(f"{error}\nUntil then {stand_in} is used; its numbers do not compare with the paper's.\n")
            found[stand_in] = load(stand_in, folder)
    return found, misses


@cache
def load(title, folder):
    """Load a data set as a Bunch of data, target, content_hash and perhaps groups; `folder` is searched first."""
    about = next(about for about in REGISTRY.values() if about.title == title)
    places = () if about.stand_in_for else (folder or DEFAULT_FOLDER,)
    return about.loader(*places, return_X_y=False)
