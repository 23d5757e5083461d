"""Checks of the arrays of a file, which may be damaged or made by anybody."""

from typing import Any

import numpy as np


def array_of(arrays: dict[str, np.ndarray], name: str, dtype: Any, *shapes: tuple[int, ...]) -> np.ndarray:
    """Return one of the arrays of a file in the type that it must have.

    Parameters
    ----------
    arrays : dict of str to ndarray
    name : str
    dtype : dtype
        Types that convert to it without loss, of the same kind, are converted.
    *shapes : tuples of int or None
        The shapes that are allowed; None stands for any length.

    Returns
    -------
    array : ndarray

    Raises
    ------
    KeyError
        If it is missing.
    ValueError
        If it has another type or shape, or holds nan or infinity.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.persistence import array_of
    >>> array_of({"weights": np.array([0.5, np.nan])}, "weights", np.float64, (None,))
    Traceback (most recent call last):
    ...
    ValueError: weights holds nan or infinity; it must be finite. The file is damaged.
    """
    array, dtype = arrays[name], np.dtype(dtype)
    if array.dtype.kind != dtype.kind or not np.can_cast(array.dtype, dtype, "safe"):
        raise ValueError(f"{name} holds {array.dtype}; it must hold {dtype}. The file is damaged.")
    if not any(_fits(array.shape, shape) for shape in shapes):
        allowed = " or ".join(str(shape).replace("None", "any") for shape in shapes)
        raise ValueError(f"{name} has the shape {array.shape}; it must have {allowed}. The file is damaged.")
    if dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} holds nan or infinity; it must be finite. The file is damaged.")
    return array.astype(dtype, copy=False)


def _fits(shape, allowed):
    return len(shape) == len(allowed) and all(wanted in (None, n) for n, wanted in zip(shape, allowed, strict=True))


def check_index(name: str, array: np.ndarray, upper: int, lower: int = 0) -> None:
    """Refuse an array of indices if one lies outside [lower, upper).

    Parameters
    ----------
    name : str
        Name of the array in the error.
    array : ndarray of integers, any shape
    upper, lower : int
        The first index that is too large, and the smallest allowed one.

    Raises
    ------
    ValueError
        With the name of the array and its first offending entry; also if the array does not hold integers.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.persistence import check_index
    >>> check_index("column", np.array([0, 9, 3, 12]), 9)
    Traceback (most recent call last):
    ...
    ValueError: column[1] is 9; it must lie in [0, 9). The file is damaged or was not written by paucens.
    """
    array = np.asarray(array)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} holds {array.dtype}; indices must be integers. The file is damaged.")
    offending = np.flatnonzero((array < lower) | (array >= upper))
    if offending.size:
        position = np.unravel_index(offending[0], array.shape)
        raise ValueError(
            f"{name}[{', '.join(map(str, position))}] is {array[position]}; it must lie in [{lower}, "
            f"{upper}). The file is damaged or was not written by paucens."
        )
