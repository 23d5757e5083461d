"""Find raw files, read them without trusting them, and fingerprint their content."""

import hashlib
import io
import os
import zipfile
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paucens.datasets._registry import DataSet

ENVIRONMENT = "PAUCENS_DATA"
HASHED_KINDS = "biufcSUmM"  # dtypes whose bytes are their values: no objects, no padded structures


def locate(about: DataSet, path=None) -> tuple[Path, ...]:
    """Find the files of a data set in `path`, then `$PAUCENS_DATA`, then `./data`.

    Parameters
    ----------
    about : DataSet
        Its `forms` are looked for in `about.folder` of each place, then in the place itself.
    path : path-like, default=None
        A folder, or one of the files. A place that lacks the set is skipped, not refused: the loader verifies the
        content wherever it was found.

    Returns
    -------
    files : tuple of Path
        The files of the first complete form.

    Raises
    ------
    FileNotFoundError
        If no place holds a complete form; the message lists the places, what each lacks, and the source.
    ValueError
        If a place is a file that cannot belong to the set.
    """
    report = []
    for label, place in _places(path):
        if place is None:
            report.append(f"  {label}: not set")
            continue
        files, lack = _search(about, place)
        if files:
            return files
        report.append(f"  {label} ({place}): {lack}")
    raise FileNotFoundError(
        f"The data set {about.name!r} was not found. Looked for {about.files}:\n"
        + "\n".join(report)
        + f"\nTo get it: {about.source}\nPut the files into one of these places, or set {ENVIRONMENT} to the "
        "folder that holds them."
    )


def _places(path):
    """List the places to search as (label, folder or file or None)."""
    environment = os.environ.get(ENVIRONMENT)
    return [
        ("path", None if path is None else Path(path).expanduser()),
        (f"${ENVIRONMENT}", Path(environment).expanduser() if environment else None),
        ("./data", Path("data").absolute()),
    ]


def _search(about, place):
    """Return the files of the first complete form in a place, or what it lacks."""
    if not place.exists():
        return (), "does not exist"
    if place.is_file():
        return _search_around(about, place)
    halves = []
    for folder in (place / about.folder, place):
        for form in about.forms:
            files, lack = _complete(folder, form)
            if files:
                return files, ""
            halves.extend([lack] if lack else [])
    return (), "; ".join(dict.fromkeys(halves)) or "holds none of them"


def _search_around(about, file):
    """Return the files of the form that a file belongs to, or the file itself as a form of one file."""
    for form in about.forms:
        if file.name in form:
            return _complete(file.parent, form)
    for form in about.forms:
        if len(form) == 1 and file.suffix == Path(form[0]).suffix:
            return (file,), ""
    raise ValueError(f"{file} is not a file of the data set {about.name!r}: expected {about.files}.")


def _complete(folder, form):
    """Return the files of a form if all are in the folder, otherwise what is missing beside the others."""
    missing = [name for name in form if not (folder / name).exists()]
    if not missing:
        return tuple(folder / name for name in form), ""
    present = [name for name in form if name not in missing]
    return (), f"has {', '.join(present)} without {', '.join(missing)}" if present else ""


def damaged(path, reason) -> ValueError:
    """Return the error for a file that cannot be read."""
    return ValueError(
        f"{path} cannot be read: {reason}. The file is cut short, damaged, or another kind of file (a web "
        "page, a Git LFS pointer); get it again."
    )


def files_of(folder, suffixes) -> list[Path]:
    """List the files of some suffixes in a folder by name, without hidden ones (`._a.png` of macOS) and read-mes."""
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() in suffixes and not file.name.startswith(".") and file.stem.lower() != "readme"
    )


def check_number(files, folder, count, what, source):
    """Raise ValueError unless a folder holds as many files as the genuine set; `what` names them in the plural."""
    if len(files) != count:
        remove = ", or remove what is not of the set" if len(files) > count else ""
        raise ValueError(f"{folder} holds {len(files)} {what}; expected {count}. Get them again{remove}: {source}")


def by_name(folder, suffixes, name_of) -> dict:
    """Map names to the `files_of` some suffixes in a folder, in the order of the names.

    `name_of` returns the name of a file, or None to leave it out.

    Raises
    ------
    ValueError
        If two files have the same name.
    """
    found = {}
    for file in files_of(folder, suffixes):
        name = name_of(file)
        if name is None:
            continue
        if name in found:
            raise ValueError(
                f"{folder} holds {found[name].name} and {file.name}, which are one image or text; remove one of them."
            )
        found[name] = file
    return dict(sorted(found.items()))


def read_npz(path, names) -> dict[str, np.ndarray]:
    """Read named arrays of a `.npz` archive, never unpickling.

    Raises
    ------
    ValueError
        If the file is not an archive, is cut short, holds Python objects or lacks one of the arrays.
    """
    raw = io.BytesIO(Path(path).read_bytes())  # read at once: an OSError then means damage, not the disk
    if not zipfile.is_zipfile(raw):
        raise damaged(path, "it is not a complete .npz archive")
    try:
        with np.load(raw, allow_pickle=False) as archive:
            lacking = [name for name in names if name not in archive.files]
            if not lacking:
                return {name: archive[name] for name in names}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError) as error:
        raise damaged(path, error) from error
    raise ValueError(f"{path} lacks the arrays {lacking}; expected {list(names)}. It is another archive.")


def content_hash(*arrays: npt.ArrayLike) -> str:
    """Fingerprint arrays by their dtypes, shapes and values.

    Parameters
    ----------
    *arrays : array-like
        Numbers, booleans, strings or dates, of any shape; their order counts.

    Returns
    -------
    digest : str
        SHA-256 as 64 hexadecimal digits. It does not depend on strides or the byte order of the machine, so that a
        Fortran-ordered copy or a read-only view has the hash of the original. -0.0 and 0.0 differ.

    Raises
    ------
    ValueError
        If there is no array, or an array holds Python objects or structures, whose bytes are not its values.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.datasets import content_hash
    >>> content_hash(np.arange(6.0).reshape(2, 3), np.array([0, 1]))[:12]
    '5ff1017659b3'
    """
    if not arrays:
        raise ValueError("content_hash needs at least one array; got none.")
    digest = hashlib.sha256()
    for k, array in enumerate(arrays):
        array = np.asarray(array)
        if array.dtype.kind not in HASHED_KINDS:
            raise ValueError(
                f"content_hash takes numbers, booleans, strings and dates; array {k} has dtype "
                f"{array.dtype}. Convert it, or hash its columns one by one."
            )
        little_endian = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        digest.update(f"{little_endian.dtype.str}{array.shape}".encode())
        digest.update(little_endian.reshape(-1).view(np.uint8))
    return digest.hexdigest()
