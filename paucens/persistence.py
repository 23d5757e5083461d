"""Files of named arrays and a JSON header, one `.npz` each; nothing here knows a class or unpickles.

A file is a zip archive of `header.json`, readable with any unzip, and one `<name>.npy` per array. The header
holds the name and version of the format and the `kind` of object that was saved.
"""

import io
import json
import math
import os
import re
import secrets
import zipfile
import zlib
from pathlib import Path

import numpy as np

FORMAT = "paucens"
VERSION = 1  # raise it when files of the old layout can no longer be read as the new one
HEADER = "header.json"
ARRAY_NAME = re.compile(r"\w+(?:[./-]\w+)*", re.ASCII)  # no leading or doubled dots and slashes
EPOCH = (1980, 1, 1, 0, 0, 0)  # the time stamp of all entries, the earliest that zip allows


def save(path, header, arrays):
    """Write a header and named arrays to one file, completely or not at all.

    Parameters
    ----------
    path : path-like
        Written exactly there: no suffix is added, an existing file is replaced.
    header : dict
        JSON values under string keys, including the string `kind`. NumPy scalars become Python's, tuples become
        lists. `format`, `format_version` and `arrays` (the names of the arrays) are added.
    arrays : dict of str to ndarray
        Of any dtype without Python objects. They are stored in C order.

    Raises
    ------
    ValueError, TypeError
        For a header or array that cannot be stored, before anything is written.
    OSError
        If the folder is missing or cannot be written to.

    Notes
    -----
    The same content gives the same bytes (with the same zlib): entries are sorted and have no real time stamp.
    The file is written under a temporary name in the same folder and renamed, so an interruption leaves the old
    file in place.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from paucens.persistence import load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(folder + "/m.npz", {"kind": "Line", "slope": 0.5}, {"knots": np.array([1, 2, 4])})
    ...     header, arrays = load(folder + "/m.npz", "Line")
    >>> header["slope"], arrays["knots"].tolist()
    (0.5, [1, 2, 4])
    """
    path = Path(path)
    encoded = {name: _encode_array(name, arrays[name]) for name in arrays}
    entries = {HEADER: _encode_header(header, sorted(encoded))}
    entries |= {f"{name}.npy": encoded[name] for name in sorted(encoded)}
    if not path.parent.is_dir():
        raise FileNotFoundError(f"No folder {path.parent} to write {path.name} into; create it first.")
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with zipfile.ZipFile(part, "x") as archive:
            for entry, content in entries.items():
                info = zipfile.ZipInfo(entry, EPOCH)
                info.create_system = 3  # the same bytes on every system
                archive.writestr(info, content, zipfile.ZIP_DEFLATED)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def load(path, kind):
    """Read a file written by `save` and check its kind.

    Parameters
    ----------
    path : path-like
    kind : str
        The required `kind` of the header.

    Returns
    -------
    header : dict
        As saved, with `format` and `format_version`.
    arrays : dict of str to ndarray
        C-contiguous, writable, of native byte order. Their shapes and values are not checked: see `check_index`
        and `flat_array`.

    Raises
    ------
    ValueError
        If the file is cut short, damaged, not of this format, of a newer version, or of another kind.
    OSError
        If it does not exist or cannot be read.
    """
    content = _read_entries(path)
    header = _decode_header(path, content.pop(HEADER, None))
    if header["kind"] != kind:
        raise ValueError(
            f"{path} holds a model of kind {header['kind']!r}, expected {kind!r}; load it with the class of "
            "that name, or give another file."
        )
    names = header.pop("arrays", None)
    stored = {name.removesuffix(".npy"): raw for name, raw in content.items() if name.endswith(".npy")}
    if names != sorted(stored) or len(stored) < len(content):
        raise ValueError(f"{path} holds {sorted(content)}, but its header lists {names}; the file is damaged.")
    return header, {name: _decode_array(path, name, raw) for name, raw in stored.items()}


def check_index(name, array, upper, lower=0):
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


def flat_array(arrays, name, kinds, lengths=None):
    """Return one of the arrays; raise ValueError unless it is flat and of an allowed dtype kind and length."""
    array = arrays[name]
    if array.ndim != 1 or array.dtype.kind not in kinds or (lengths is not None and len(array) not in lengths):
        allowed = "" if lengths is None else f" and of length {' or '.join(map(str, lengths))}"
        raise ValueError(
            f"{name} must be flat{allowed}; it is {array.dtype} of shape {array.shape}. The file is damaged."
        )
    return array


def _encode_header(header, names):
    """Return the header with format, version and names of the arrays as JSON, UTF-8."""
    if not isinstance(header, dict) or not isinstance(header.get("kind"), str):
        raise ValueError(f"A header is a dict with a string under 'kind'; got {header!r}.")
    stamp = {"format": FORMAT, "format_version": VERSION}
    for key, value in stamp.items():
        if header.get(key, value) != value:
            raise ValueError(f"header[{key!r}] is always {value!r}; got {header[key]!r}. Rename it.")
    if "arrays" in header:
        raise ValueError("header['arrays'] is reserved for the names of the arrays. Rename it.")
    header = plain(header, "header") | stamp | {"arrays": names}
    return json.dumps(header, sort_keys=True, allow_nan=False, indent=1).encode()


def plain(value, where):
    """Return a header value as JSON can hold it without loss; raise an error with its place if that is impossible."""
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


def _read_entries(path):
    """Return the bytes of each entry of the archive by name; zipfile checks their CRC-32."""
    raw = io.BytesIO(Path(path).read_bytes())  # all of it: an OSError below is then a wrong offset, not the disk
    try:
        with zipfile.ZipFile(raw) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{path} is not a complete .npz file ({error}): it is cut short, damaged or of another format. "
            "Copy it again, or save the model again."
        ) from error


def _decode_header(path, content):
    """Parse the header and check its format and version."""
    try:
        header = json.loads(content, parse_constant=_refuse_constant) if content is not None else None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {HEADER} is not valid JSON ({error}); the file is damaged.") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT or "kind" not in header:
        raise ValueError(
            f"{path} is a zip archive, but has no {HEADER} of format {FORMAT!r}: it was not written by "
            "paucens. Give a file made by the save method of a model."
        )
    version = header.get("format_version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise ValueError(
            f"{path} has format version {version!r}; this paucens reads 1 to {VERSION}. Upgrade paucens, "
            "or save the model again with this version."
        )
    return header


def _refuse_constant(name):
    raise ValueError(f"{name} is not standard JSON")


def _encode_array(name, array):
    """Return an array as the bytes of a `.npy` file in C order."""
    if not isinstance(name, str) or not ARRAY_NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot name an array: use letters, digits, _, joined by single . / -")
    array = np.asarray(array, order="C")
    if array.dtype.hasobject:
        raise ValueError(f"Array {name!r} has dtype {array.dtype}: objects are not stored; convert it.")
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _decode_array(path, name, content):
    """Parse the bytes of a `.npy` file into a C-contiguous array of native byte order, without objects."""
    try:
        array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{path}: {name}.npy is not an array ({error}); the file is damaged.") from error
    return np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")
