"""Data sets: raw files in, checked arrays out. Nothing here trains, plots or downloads.

================  ===========================================  =======================  ====================
name              what                                         where to get it          loader
================  ===========================================  =======================  ====================
toy               two-dimensional points of Sec. 4.2           drawn from a seed        `load_toy`
usps              9298 digits of 16 x 16, even against odd     zip.train.gz and         `load_usps`
                  (Table 5)                                    zip.test.gz of ESL [1]_
digits_parity     1797 digits of 8 x 8, even against odd; a    comes with scikit-learn  `load_digits_parity`
                  stand-in for USPS, never beside the paper
================  ===========================================  =======================  ====================

`describe(name)` adds the terms of use and how the loader checks the content; `describe()` lists all. Files
are looked up in the `path` argument, then in `$PAUCENS_DATA`, then in `./data`, each time in the sub-folder
of the set first. A set that is not there raises FileNotFoundError with the places and the source; one that is
not the genuine one raises ValueError.

A new set is one file in this folder, with a loader and an `ABOUT`, and its name in `REGISTRY` below.

.. [1] Data page of Hastie, Tibshirani and Friedman, The Elements of Statistical Learning,
   https://hastie.su.domains/ElemStatLearn/data.html
"""

from paucens.datasets import digits, toy, usps
from paucens.datasets._files import content_hash
from paucens.datasets._registry import DataSet
from paucens.datasets.digits import load_digits_parity
from paucens.datasets.toy import load_toy
from paucens.datasets.usps import load_usps

__all__ = [
    "REGISTRY",
    "DataSet",
    "content_hash",
    "describe",
    "load_digits_parity",
    "load_toy",
    "load_usps",
]

REGISTRY = {module.ABOUT.name: module.ABOUT for module in (toy, usps, digits)}


def describe(name=None) -> str:
    """Say what a data set is, where to get it, its terms and how it is checked.

    Parameters
    ----------
    name : str, default=None
        A key of `REGISTRY`; None for all of them.

    Returns
    -------
    text : str
        One block of lines a set.

    Raises
    ------
    ValueError
        For an unknown name; the message lists the known ones.

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
