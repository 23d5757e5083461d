"""Locks: one process at a time works in a checkpoint folder, and the others wait."""

import contextlib
import os
import socket
import time
from pathlib import Path

from paucens.validation import warn_user

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None
    import msvcrt

SECONDS = 0.1  # between two attempts to get a lock
BEHIND = 2**20  # the byte that is locked where locked bytes cannot be read: behind those that tell who locks


@contextlib.contextmanager
def locked(path):
    """Hold a lock while the block runs; a killed process holds it no longer.

    Parameters
    ----------
    path : path-like
        File that stands for what is locked. It is made, tells who holds the lock, and is removed.

    Warns
    -----
    UserWarning
        If another process or thread holds the lock, which is then waited for, with its process id and host. If the file
        system has no locks; then nothing is locked.
    """
    path = Path(path)
    file = _wait_for(path)
    try:
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}".encode())
        file.flush()
        yield
    finally:
        with contextlib.suppress(OSError):  # some systems do not remove a file that somebody has opened
            path.unlink()
        file.close()


def _wait_for(path):
    """Return the locked file."""
    warned = False
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)  # whoever held the lock may have removed the folder
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(open(path, "ab"))
            if _lock(file, path):
                if _is(file, path):
                    stack.pop_all()
                    return file
            elif not warned:
                warn_user(f"{path.parent} is in use by {_holder(path)}. This one waits until it is free.")
                warned = True
        time.sleep(SECONDS)


def _lock(file, path):
    """Lock an open file; return False if somebody else holds the lock."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            file.seek(BEHIND)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except (BlockingIOError, PermissionError):
        return False
    except OSError as error:
        warn_user(
            f"{path.parent} cannot be locked ({error.strerror}): make sure that no other training uses it meanwhile."
        )
    return True


def _is(file, path):
    """Tell whether a path still stands for an open file, which its earlier holder may have removed."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _holder(path):
    """Tell who holds a lock."""
    try:
        return f"another training, {path.read_text(encoding='utf-8') or 'of which nothing is known yet'}"
    except OSError:
        return "another training"
