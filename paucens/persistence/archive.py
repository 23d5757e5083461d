"""The archive: a JSON header and named arrays in one zip file, whose sizes are checked before it is unpacked."""

import contextlib
import io
import json
import math
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from paucens._types import PathLike
from paucens.persistence import arrays as npy
from paucens.persistence.disk import read_bytes, replacing
from paucens.persistence.values import plain

FORMAT = "paucens"
VERSION = 1  # raise it when files of the old layout can no longer be read as the new one
HEADER = "header.json"
ARRAY_NAME = re.compile(r"\w+(?:[./-]\w+)*", re.ASCII)  # no leading or doubled dots and slashes
EPOCH = (1980, 1, 1, 0, 0, 0)  # the time stamp of all entries, the earliest that zip allows
MOST_HEADER_BYTES = 16_000_000
# A file may unpack to so many bytes, and so many more for each of its own. Zeros are packed tenfold tighter: `save`
# does not pack what would unpack to more.
FREE_BYTES, MOST_PER_BYTE = 64_000_000, 100
# What Python says about content that is not what it should be; all of it means that the file is damaged.
DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


def save(path: PathLike, header: dict[Any, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write a header and named arrays to one file, completely or not at all.

    Parameters
    ----------
    path : path-like
        Written exactly there: no suffix is added, an existing file is replaced. A link is followed.
    header : dict
        JSON values under string keys, including the string `kind`. NumPy scalars become Python's, tuples become
        lists. `format`, `format_version` and `arrays` (the names of the arrays) are added.
    arrays : dict of str to ndarray
        Numbers, booleans or text, of any shape. They are stored in C order.

    Raises
    ------
    ValueError, TypeError
        For a header or array that cannot be stored, before anything is written.
    OSError
        If the folder is missing or cannot be written to, or the disk is full.

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
    encoded = {name: _encode_array(name, arrays[name]) for name in arrays}
    entries = {HEADER: _encode_header(header, sorted(encoded))}
    entries |= {f"{name}.npy": encoded[name] for name in sorted(encoded)}
    content = _archive(entries, zipfile.ZIP_DEFLATED)
    if sum(map(len, entries.values())) > _most_unpacked(len(content)):
        content = _archive(entries, zipfile.ZIP_STORED)
    with replacing(path, len(content)) as file:
        file.write(content)


def load(path: PathLike, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
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
        and `array_of`.

    Raises
    ------
    ValueError
        If the file is cut short, damaged, not of this format, of a newer version, or of another kind, or unpacks to
        more than 100 times its size and 64 MB.
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


def kind_of(path: PathLike) -> str:
    """Return the kind of a file written by `save`; errors are those of `load`."""
    return _decode_header(path, _read_entries(path).get(HEADER))["kind"]


@contextlib.contextmanager
def opened(path: PathLike, kind: str) -> Iterator[tuple[dict[str, Any], dict[str, np.ndarray]]]:
    """Read a file like `load`, and check in the block what it holds.

    Whatever is wrong with the content becomes a ValueError that names the file: in the block, a missing name, a value
    of the wrong type or out of range.

    Parameters
    ----------
    path : path-like
    kind : str

    Yields
    ------
    header, arrays : dict
        As from `load`.
    """
    header, arrays = load(path, kind)
    with content_of(path, kind):
        yield header, arrays


@contextlib.contextmanager
def content_of(path: PathLike, kind: str) -> Any:
    """Turn an error about what a file holds into a ValueError that names the file; see `opened`."""
    try:
        yield
    except DAMAGE as error:
        reason = str(error).rstrip(".")
        raise ValueError(f"{path} is not a complete {kind}: {reason}. Save the model again.") from error


# -- the archive -----------------------------------------------------------------------------------


def _archive(entries, compression):
    """Return a zip archive of named bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for entry, content in entries.items():
            info = zipfile.ZipInfo(entry, EPOCH)
            info.create_system = 3  # the same bytes on every system
            archive.writestr(info, content, compression)
    return buffer.getvalue()


def _read_entries(path):
    """Return the bytes of each entry of the archive by name; zipfile checks their CRC-32."""
    raw = read_bytes(path)
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            entries = archive.infolist()
            _check_entries(entries, len(raw))
            return {entry.filename: _unpacked(archive, entry) for entry in entries}
    except Exception as error:  # zipfile and zlib have many for damage, and nothing else happens here
        raise ValueError(
            f"{path} is not a complete .npz file ({error}): it is cut short, damaged or of another format. "
            "Copy it again, or save the model again."
        ) from error


def _check_entries(entries, n_bytes):
    """Raise ValueError if the directory of an archive of n_bytes announces what `save` does not write."""
    if len({entry.filename for entry in entries}) < len(entries):
        raise ValueError("two entries have one name")
    unpacked, most = sum(entry.file_size for entry in entries), _most_unpacked(n_bytes)
    if unpacked > most:
        raise ValueError(f"its {n_bytes} bytes would unpack to {unpacked}, and at most {most} are allowed")
    for entry in entries:
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{entry.filename} is neither stored nor deflated")
        if entry.filename == HEADER and entry.file_size > MOST_HEADER_BYTES:
            raise ValueError(f"{HEADER} takes {entry.file_size} bytes, and at most {MOST_HEADER_BYTES} are allowed")


def _most_unpacked(n_bytes):
    return FREE_BYTES + MOST_PER_BYTE * n_bytes


def _unpacked(archive, entry):
    """Return the bytes of an entry; no more of them are unpacked than the directory announces."""
    with archive.open(entry) as stream:
        content = stream.read(entry.file_size)
    if len(content) < entry.file_size:
        raise ValueError(f"{entry.filename} has {len(content)} bytes, and {entry.file_size} were announced")
    return content


# -- the header ------------------------------------------------------------------------------------


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
    content = json.dumps(header, sort_keys=True, allow_nan=False, indent=1).encode()
    if len(content) > MOST_HEADER_BYTES:
        raise ValueError(
            f"The header takes {len(content)} bytes as JSON, and at most {MOST_HEADER_BYTES} are allowed. Shorten the "
            "names of features, or fit on an array, which has none."
        )
    return content


def _decode_header(path, content):
    """Parse the header and check its format and version."""
    try:
        header = None if content is None else json.loads(content, parse_float=_finite, parse_constant=_finite)
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


def _finite(digits):
    """Return a number of the header; raise ValueError if it is infinite or nan."""
    if not math.isfinite(value := float(digits)):
        raise ValueError(f"{digits} is not a finite number")
    return value


# -- arrays ----------------------------------------------------------------------------------------


def _encode_array(name, array):
    """Return an array as the bytes of a `.npy` file; raise ValueError with its name if that is impossible."""
    if not isinstance(name, str) or not ARRAY_NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot name an array: use letters, digits, _, joined by single . / -")
    try:
        return npy.encode(array)
    except ValueError as error:
        raise ValueError(f"Array {name!r} cannot be saved: {error}") from error


def _decode_array(path, name, content):
    """Return the array in the bytes of a `.npy` file; raise ValueError with both names if it is damaged."""
    try:
        return npy.decode(content)
    except ValueError as error:
        raise ValueError(f"{path}: {name}.npy is not an array ({error}); the file is damaged.") from error
