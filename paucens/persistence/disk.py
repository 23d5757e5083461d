"""Files that are written completely or not at all, and read with errors that say what to do."""

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paucens._types import PathLike

NO_ALLOCATION = {errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS}  # of file systems that cannot allocate ahead
PART = ".{}.part"  # what a file is called while it is written; short, since the name of the file may be the longest


@contextlib.contextmanager
def replacing(path: PathLike, n_bytes: int | None = None) -> Iterator[Any]:
    """Open a file that takes the place of `path` when the block ends; if it fails, nothing is left of the new file.

    Parameters
    ----------
    path : path-like
        A link is followed. The mode of an existing file is kept.
    n_bytes : int, optional
        How many bytes will be written. They are allocated first, where the system can do that, so that a full disk is
        found before the work is done. Default: not known.

    Yields
    ------
    file : binary file
        Write to it in the block, and to nothing else.

    Raises
    ------
    ValueError
        If more or fewer bytes have been written in the end.
    OSError
        If the folder is missing or cannot be written to, the path is not a file, or the disk is full. The message has
        the path and the number of bytes, if it is known.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"No folder {target.parent} to write {target.name} into; create it first.")
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, f"{path} is a folder or a device, not a file; give the name of a file")
    part = target.with_name(PART.format(secrets.token_hex(8)))
    try:
        with open(part, "xb") as file:
            _allocate(file, n_bytes or 0)
            yield file
            if n_bytes is not None and file.tell() != n_bytes:  # the rest would be zeros
                raise ValueError(f"{file.tell()} bytes were written to {path}; {n_bytes} were announced.")
        if target.exists():
            shutil.copymode(target, part)
        os.replace(part, target)
    except OSError as error:
        size = "" if n_bytes is None else f" takes {n_bytes} bytes, which"
        raise OSError(
            error.errno,
            f"{path}{size} could not be written ({error.strerror or error}). The old file, if any, is unchanged. Free "
            "space, or give another place",
        ) from error
    finally:
        part.unlink(missing_ok=True)


def remove_parts(folder: PathLike) -> None:
    """Remove what killed processes left of files in a folder that no other process writes to."""
    for part in Path(folder).glob(PART.format("*")):
        part.unlink(missing_ok=True)


def read_bytes(path):
    """Return the content of a file; raise OSError that says what to do if there is no such file."""
    path = Path(path)
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        suffixed = path.with_name(path.name + ".npz")
        hint = f"did you mean {suffixed.name}?" if suffixed.is_file() else "give the path that it was saved to."
        raise FileNotFoundError(f"No file {path.absolute()}; {hint}") from error
    except IsADirectoryError as error:
        raise IsADirectoryError(f"{path.absolute()} is a folder; give the path of a file in it.") from error


def _allocate(file, n_bytes):
    """Reserve space on the disk; where that is not possible, writing finds out that the disk is full."""
    if n_bytes == 0 or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file.fileno(), 0, n_bytes)
    except OSError as error:
        if error.errno not in NO_ALLOCATION:
            raise
