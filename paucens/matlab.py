"""Read variables of MATLAB 5 files (saved by -v6 or -v7) lazily and without trusting them.

A file is a header followed by elements, each of a type, a length and its content; an array is an element whose content
is elements again. Damage raises ValueError here; the reader of SciPy ends the process on some damaged files.

>>> import io
>>> from scipy.io import savemat
>>> file = io.BytesIO()
>>> savemat(file, {"clock": {"hours": [[1, 2, 3], [4, 5, 6]], "zone": "UTC"}})
>>> clock = read_variable(file.getvalue(), "clock").record
>>> clock["zone"].text, clock["hours"].array.tolist()
('UTC', [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
"""

import functools
import itertools
import math
import struct
import zlib

import numpy as np

HEADER, LITTLE_ENDIAN = 128, b"\x00\x01IM"
NUMBERS = {1: "i1", 2: "u1", 3: "<i2", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<f4", 9: "<f8", 12: "<i8", 13: "<u8"}
TEXTS = {1: "latin-1", 2: "latin-1", 4: "utf-16-le", 16: "utf-8", 17: "utf-16-le", 18: "utf-32-le"}
ARRAY, COMPRESSED = 14, 15  # types of elements
CELL, STRUCT, TEXT, FIRST_NUMBER, LAST_NUMBER = 1, 2, 4, 6, 15  # classes of arrays
GZIP_MAGIC = b"\x1f\x8b"
GZIP, ZLIB = 31, 15  # how zlib names the two
MOST_BYTES = 1_000_000_000  # that a file or a variable may unpack to


def read_variable(raw, name) -> "Array":
    """Find a variable in the bytes of a file, which may be gzipped.

    ValueError if it is missing or the file is of another kind.
    """
    if raw[:2] == GZIP_MAGIC:
        raw = _unpacked(raw, GZIP)
    if raw[124:HEADER] != LITTLE_ENDIAN:
        raise ValueError("not a little-endian MATLAB 5 file")
    for kind, content in elements(memoryview(raw)[HEADER:]):
        if kind == COMPRESSED:
            kind, content = next(elements(memoryview(_unpacked(content, ZLIB))), (None, None))
        if kind == ARRAY and Array(content).name == name:
            return Array(content)
    raise ValueError(f"no variable {name!r}")


def _unpacked(content, kind):
    """Unpack bytes; ValueError if they are damaged, or would not fit into memory."""
    stream = zlib.decompressobj(kind)
    try:
        unpacked = stream.decompress(content, MOST_BYTES)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not stream.eof:
        raise ValueError(f"compressed content is cut off, or larger than {MOST_BYTES:.0e} bytes")
    return unpacked


def elements(content):
    """Yield type and content of the elements of a memoryview; ValueError if one is cut off."""
    place = 0
    while place < len(content):
        if place + 8 > len(content):
            raise ValueError("an element is cut off")
        kind, size = struct.unpack_from("<II", content, place)
        start = place + 8
        if kind >> 16:  # up to 4 bytes take the place of the length
            kind, size, start = kind & 0xFFFF, kind >> 16, place + 4
        if start + size > len(content):
            raise ValueError("an element is cut off")
        yield kind, content[start : start + size]
        place = start + size if kind == COMPRESSED else start + size + -(start + size) % 8


class Array:
    """An array of numbers, text, cells or structures, parsed when its content is asked for.

    Parameters
    ----------
    content : memoryview
        Content of the element; empty for an empty array.
    """

    def __init__(self, content):
        self._content, self._parts = content, elements(content)

    @functools.cached_property
    def _head(self):
        """Class, shape and name."""
        if not len(self._content):
            return FIRST_NUMBER, (0,), ""
        flags, shape, name = (part for _, part in self._take(3))
        if not len(flags) or len(shape) % 4:
            raise ValueError("an array without a class or a shape")
        sides = struct.unpack(f"<{len(shape) // 4}i", shape)
        if min(sides, default=0) < 0:
            raise ValueError(f"an array of the shape {sides}")
        return flags[0], sides, bytes(name).decode("latin-1")

    @property
    def name(self) -> str:
        """Name of a variable; empty for an array inside another."""
        return self._head[2]

    @property
    def is_empty(self) -> bool:
        """Whether there are no entries."""
        return math.prod(self._head[1]) == 0

    def _take(self, n):
        parts = list(itertools.islice(self._parts, n))
        if len(parts) < n:
            raise ValueError("an array is cut off")
        return parts

    def _size_of(self, what, classes):
        """Return the number of entries of an array that is to be one of these classes."""
        kind, shape, _ = self._head
        size = math.prod(shape)
        if kind not in classes and size:
            raise ValueError(f"{what} expected, but an array of class {kind}")
        return size

    @functools.cached_property
    def numbers(self) -> np.ndarray:
        """Numbers in the order of columns, float64."""
        size = self._size_of("numbers", range(FIRST_NUMBER, LAST_NUMBER + 1))
        if size == 0:
            return np.zeros(0)
        ((kind, content),) = self._take(1)
        if kind not in NUMBERS or len(content) != size * np.dtype(NUMBERS[kind]).itemsize:
            raise ValueError(f"{len(content)} bytes of type {kind} for {size} numbers")
        return np.frombuffer(content, dtype=NUMBERS[kind]).astype(np.float64)

    @property
    def array(self) -> np.ndarray:
        """Numbers in their shape, float64."""
        return self.numbers.reshape(self._head[1], order="F")

    @functools.cached_property
    def text(self) -> str:
        """Letters of a row."""
        if self._size_of("text", [TEXT]) == 0:
            return ""
        ((kind, content),) = self._take(1)
        return bytes(content).decode(TEXTS.get(kind, "ascii"))

    @functools.cached_property
    def cells(self) -> list["Array"]:
        """Entries of a cell array."""
        return self._arrays(self._size_of("cells", [CELL]))

    @functools.cached_property
    def records(self) -> list[dict[str, "Array"]]:
        """Entries of a structure array, by the names of their fields."""
        size = self._size_of("structures", [STRUCT])
        if size == 0:
            return []
        (_, length), (_, names) = self._take(2)
        width = int.from_bytes(length, "little")
        if not 0 < width <= len(names):
            raise ValueError(f"names of {width} letters in {len(names)}")
        keys = [bytes(names[k : k + width]).split(b"\0")[0].decode("latin-1") for k in range(0, len(names), width)]
        values = self._arrays(size * len(keys))
        return [dict(zip(keys, values[k : k + len(keys)], strict=True)) for k in range(0, len(values), len(keys))]

    @property
    def record(self) -> dict[str, "Array"]:
        """Fields of the only entry of a structure array."""
        (fields,) = self.records
        return fields

    def _arrays(self, n):
        """Return the n arrays inside this one."""
        parts = list(self._parts) if n else []
        if len(parts) != n or any(kind != ARRAY for kind, _ in parts):
            raise ValueError(f"{len(parts)} entries for {n}")
        return [Array(content) for _, content in parts]
