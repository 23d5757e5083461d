"""Data sets by title, loaded once per process."""

from functools import cache
from pathlib import Path

from paucens.datasets import REGISTRY

HERE = Path(__file__).resolve().parents[2] / "data"


def is_stand_in(title):
    """Tell whether a title is that of a stand-in, which says so itself."""
    return "(stand-in" in title


def available(names, folder):
    """Return the data sets that are on the disk, by title, and for each of the others how to get it."""
    found, misses = {}, []
    for name in names:
        try:
            found[name] = load(name, folder)
        except FileNotFoundError as error:
            titles = [about.title for about in REGISTRY.values() if about.stand_in_for == name]
            misses += [] if titles else [str(error)]
            for title in titles:
                print(f"{error}\nUntil then {title} is used; its numbers do not compare with the paper's.\n")
                found[title] = load(title, folder)
    return found, misses


@cache
def load(title, folder=None):
    """Load a data set as a Bunch of data, target, content_hash and perhaps groups; folder is searched first."""
    about = next(about for about in REGISTRY.values() if about.title == title)
    places = () if about.stand_in_for else (folder or HERE,)
    return about.loader(*places, return_X_y=False)
