"""Arrays as `.npy` files, in memory and on disk: plain types only, and no size is believed before it is checked."""

import io
import math
import os
import re
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from paucens._types import PathLike
from paucens.persistence.disk import replacing

KINDS = "biufcSU"  # of types: numbers, booleans and text
MAGIC = b"\x93NUMPY\x01\x00"
HEADER = re.compile(
    rb"\{'descr': '([<>|=][biufcSU]\d{1,9})', 'fortran_order': (False|True), "
    rb"'shape': \(((?:\d{1,18}(?:, \d{1,18})*,?)?)\), \} *\n"
)
MOST_HEADER = 1024  # bytes; the headers of plain types are of 128
MOST_SIDES = 32


def encode(array):
    """Return an array as the bytes of a `.npy` file in C order; raise ValueError if its type is not plain."""
    array = np.asarray(array, order="C")
    if array.dtype.kind not in KINDS:
        raise ValueError(f"dtype {array.dtype}: only numbers, booleans and text are stored, no objects; convert it.")
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def decode(content):
    """Return the array in the bytes of a `.npy` file: C-contiguous, writable, of native byte order.

    Raises
    ------
    ValueError
        If the bytes are damaged, hold Python objects or are more or fewer than their header says.
    """
    dtype, shape, order, start = _layout(content, len(content))
    array = np.ndarray(shape, dtype, buffer=content, offset=start, order=order)
    array = np.array(array, dtype=dtype.newbyteorder("="), order="C")
    _check_codes(array)
    return array


def write_array(path: PathLike, dtype: Any, shape: tuple[int, ...], blocks: Iterable[np.ndarray]) -> None:
    """Write a `.npy` file block by block, completely or not at all.

    Parameters
    ----------
    path : path-like
    dtype : dtype
    shape : tuple of int
    blocks : iterable of ndarrays
        The rows of the array, one block after the other.

    Raises
    ------
    OSError
        If the disk is full or the path cannot be written to, with the path and the number of bytes. The space is
        allocated before the first block is asked for, where the system can do that.
    """
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head, {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": tuple(map(int, shape))}
    )
    n_bytes = len(head.getvalue()) + math.prod(shape) * np.dtype(dtype).itemsize
    with replacing(path, n_bytes) as file:
        file.write(head.getvalue())
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype=dtype))


def read_array(path: PathLike) -> np.ndarray:
    """Read a `.npy` file into memory; raise ValueError with its path if it is damaged."""
    return np.array(map_array(path))


def map_array(path: PathLike) -> np.ndarray:
    """Map a `.npy` file, read-only; raise ValueError with its path if it is damaged."""
    with open(path, "rb") as file:
        try:
            dtype, shape, order, start = _layout(file.read(MOST_HEADER), os.fstat(file.fileno()).st_size)
        except ValueError as error:
            raise ValueError(f"{path} is not an array ({error}); the file is damaged.") from error
        if math.prod(shape) == 0:
            return np.empty(shape, dtype)
        return np.memmap(file, dtype, "r", start, shape, order)


def _layout(head, n_bytes):
    """Return dtype, shape, order and position of the data of a `.npy` file that begins with `head`."""
    length = int.from_bytes(head[len(MAGIC) : len(MAGIC) + 2], "little")
    start = len(MAGIC) + 2 + length
    found = HEADER.fullmatch(head[len(MAGIC) + 2 : start])
    if not head.startswith(MAGIC) or start > min(len(head), MOST_HEADER) or found is None:
        raise ValueError("it has no header of plain numbers, booleans or text")
    try:
        dtype = np.dtype(found[1].decode())
    except TypeError as error:
        raise ValueError(f"it holds the unknown type {found[1].decode()}") from error
    shape = tuple(int(side) for side in found[3].decode().split(",") if side.strip())
    announced = math.prod(shape) * dtype.itemsize
    if announced != n_bytes - start or dtype.itemsize == 0:
        raise ValueError(f"its header announces {announced} bytes of data, but {n_bytes - start} follow")
    if len(shape) > MOST_SIDES or math.prod(filter(None, shape)) > sys.maxsize // dtype.itemsize:
        raise ValueError(f"its shape {shape} is beyond what an empty array may have")
    return dtype, shape, "F" if found[2] == b"True" else "C", start


def _check_codes(array):
    """Raise ValueError if the bytes of booleans or text mean nothing."""
    if array.dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ValueError("a boolean is neither 0 nor 1")
    if array.dtype.kind == "U" and array.size and array.reshape(-1).view(np.uint32).max() > sys.maxunicode:
        raise ValueError("a character is not in Unicode")
