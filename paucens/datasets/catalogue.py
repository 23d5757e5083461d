"""All data sets: what is known of each, and where its files are."""

from paucens.datasets import (
    caltech,
    digits,
    eth,
    faces,
    inria,
    kitti,
    mot,
    pennfudan,
    protein_pairs,
    scene15,
    streets,
    tabular,
    toolbox,
    toy,
    usps,
    yeast_pairs,
)
from paucens.datasets._files import locate

MODULES = (toy, usps, digits, scene15, faces, protein_pairs, yeast_pairs)
DETECTION = (inria, caltech, eth, mot, kitti, pennfudan, toolbox, streets)
REGISTRY = {module.ABOUT.name: module.ABOUT for module in MODULES}
REGISTRY |= tabular.SETS | {module.ABOUT.name: module.ABOUT for module in DETECTION}


def describe(name: str | None = None) -> str:
    """Describe a data set: contents, source, terms and how it is checked.

    Parameters
    ----------
    name : str, default=None
        A key of `REGISTRY`; None means all of them.

    Returns
    -------
    text : str
        One block of lines per set.

    Raises
    ------
    ValueError
        If the name is unknown; the message lists the known ones.

    Examples
    --------
    >>> from paucens.datasets import describe
    >>> print(describe("toy").splitlines()[-1])
      loader:       paucens.datasets.load_toy
    """
    if name is None:
        return "\n\n".join(about.describe() for about in REGISTRY.values())
    if name not in REGISTRY:
        raise ValueError(f"No data set is called {name!r}; choose one of {sorted(REGISTRY)}.")
    return REGISTRY[name].describe()


def whereabouts(name: str) -> str:
    """Tell where the files of a data set were found.

    Parameters
    ----------
    name : str
        A key of `REGISTRY`.

    Returns
    -------
    place : str
        The path of the first file, "no files needed" for a set that is generated or bundled, or "not found".

    Examples
    --------
    >>> from paucens.datasets import whereabouts
    >>> whereabouts("toy")
    'no files needed'
    """
    if not REGISTRY[name].forms:
        return "no files needed"
    try:
        return str(locate(REGISTRY[name])[0])
    except FileNotFoundError:
        return "not found"
