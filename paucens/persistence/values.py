"""Values as JSON: plain ones for headers, and typed ones that are read as they were, bit for bit."""

import math
from dataclasses import asdict, fields
from typing import Any

import numpy as np

INTEGERS = "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"
NUMBERS = "bool", *INTEGERS, "float16", "float32", "float64"
LATER = {"later": True}  # metadata of a field that joined its dataclass when there were files already
TEXT, OBJECTS = "str", "object"  # further types of arrays: text, and Python strings


def plain(value: Any, where: str) -> Any:
    """Return a header value as JSON can hold it without loss; raise an error with its place if that is impossible.

    NumPy scalars become Python's, tuples become lists.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{where} is {value}, which JSON cannot hold; store None, or put it into an array.")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(item, f"{where}[{position}]") for position, item in enumerate(value)]
    if not isinstance(value, dict):
        raise TypeError(f"{where} is a {type(value).__name__}, not JSON; arrays go beside the header.")
    for key in value:
        if not isinstance(key, str):
            raise TypeError(f"{where} has the key {key!r}; keys of a header are strings.")
    return {key: plain(item, f"{where}[{key!r}]") for key, item in value.items()}


def settings_of(instance: Any, *, plain: bool = False) -> dict[str, Any]:
    """Return the fields of a dataclass by name, dataclasses in it as dicts if `plain`.

    Fields that joined it later (`LATER`) are left out at their defaults, so that what was made before is recognised.
    """
    named = asdict(instance) if plain else {field.name: getattr(instance, field.name) for field in fields(instance)}
    for field in fields(instance):
        if field.metadata == LATER and named[field.name] == field.default:
            del named[field.name]
    return named


def typed(value: Any, where: str) -> Any:
    """Return a value as JSON from which `untyped` makes an equal value of the same type.

    Parameters
    ----------
    value : None, bool, int, float, str, or a list, tuple, NumPy scalar or array of them
        Arrays of dtype object may hold strings only.
    where : str
        Name of the value in errors.

    Returns
    -------
    json : None, bool, int, float, str, list or dict
        What JSON knows, as it is; tuples as lists; anything else as a dict that names the type.

    Raises
    ------
    TypeError
        For other types.

    Examples
    --------
    >>> import numpy as np
    >>> typed((0, np.float32(0.5)), "range")
    [0, {'scalar': 'float32', 'value': 0.5}]
    >>> untyped(typed((0, np.float32(0.5)), "range"))
    (0, np.float32(0.5))
    """
    if isinstance(value, np.generic):
        return {"scalar": _name_of_type(value.dtype, where), "value": typed(value.item(), where)}
    if isinstance(value, np.ndarray):
        name, items = _name_of_type(value.dtype, where), value.ravel().tolist()
        if name == OBJECTS and not all(isinstance(item, str) for item in items):
            raise TypeError(f"{where} holds Python objects; of these, only strings can be saved. Got {value!r}.")
        values = [typed(item, where) for item in items]
        return {"array": name, "shape": list(value.shape), "values": values}
    if isinstance(value, tuple):
        return [typed(item, f"{where}[{position}]") for position, item in enumerate(value)]
    if isinstance(value, list):
        return {"list": typed(tuple(value), where)}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(
        f"{where} is a {type(value).__name__}, which a file cannot hold. Numbers, strings, None, and lists, tuples "
        "or NumPy arrays of them can be saved."
    )


def untyped(value: Any) -> Any:
    """Return the value that `typed` described; raise ValueError, TypeError or an arithmetic error if it is none."""
    if isinstance(value, list):
        return tuple(untyped(item) for item in value)
    if not isinstance(value, dict):
        return value
    tags = sorted(value)
    if tags == ["float"]:
        return float(value["float"])
    if tags == ["list"]:
        return list(untyped(value["list"]))
    if tags == ["scalar", "value"] and value["scalar"] in (*NUMBERS, TEXT):
        return np.array(untyped(value["value"]), dtype=value["scalar"])[()]
    if tags == ["array", "shape", "values"] and value["array"] in (*NUMBERS, TEXT, OBJECTS):
        return np.array(untyped(value["values"]), dtype=value["array"]).reshape(value["shape"])
    raise ValueError(f"A value is described by {', '.join(tags) or 'nothing'}, which means no type. It is damaged.")


def _name_of_type(dtype, where):
    name = TEXT if dtype.kind == "U" else dtype.name
    if name not in (*NUMBERS, TEXT, OBJECTS):
        raise TypeError(f"{where} has the dtype {dtype}, which a file cannot hold; convert it to int64 or float64.")
    return name
