"""Archives that announce or unpack to too much, and arrays whose headers lie: refused before memory is taken."""

import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest

from paucens.persistence import archive, load, map_array, read_array, save, write_array

LIMIT = 20_000_000  # bytes that refusing a file may take


@pytest.fixture
def file(tmp_path):
    save(tmp_path / "model.npz", {"kind": "K"}, {"x": np.arange(5.0)})
    return tmp_path / "model.npz"


def rewrite(path, changes, method=zipfile.ZIP_DEFLATED):
    """Rewrite an archive with some entries replaced or added."""
    with zipfile.ZipFile(path) as old:
        entries = {name: old.read(name) for name in old.namelist()} | changes
    with zipfile.ZipFile(path, "w", method) as new:
        for name, content in entries.items():
            new.writestr(name, content)


def npy(header, data=b"", version=b"\x01\x00"):
    """Return an array file with any header."""
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text + data


def header_of(dtype="<f8", shape="(2,)", order="False"):
    return f"{{'descr': {dtype!r}, 'fortran_order': {order}, 'shape': {shape}, }}"


def refused(path, message):
    """Check that a file is refused by name, without much memory."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message) as error:
            load(path, "K")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(path) in str(error.value)
    assert peak < LIMIT


# -- the archive -----------------------------------------------------------------------------------


def test_zeros_that_would_fill_the_memory(file):
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("z.npy", "w") as entry:
        for _ in range(100):
            entry.write(bytes(1_000_000))
    assert file.stat().st_size < 120_000
    refused(file, r"would unpack to 1\d+, and at most 7\d+ are allowed")


def test_many_entries_that_would_fill_the_memory(file):
    rewrite(file, {f"z{k}.npy": bytes(5_000_000) for k in range(16)})
    refused(file, "would unpack to")


def test_a_directory_that_announces_less_than_is_packed(file):
    """Only what is announced is unpacked."""
    rewrite(file, {"x.npy": bytes(50_000_000)})
    content = bytearray(file.read_bytes())
    place = content.rfind(b"PK\x01\x02")
    content[place + 24 : place + 28] = (1000).to_bytes(4, "little")
    file.write_bytes(content)
    refused(file, r"model\.npz")


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2], ids=["LZMA", "BZIP2"])
def test_other_ways_of_packing(file, method):
    rewrite(file, {}, method)
    refused(file, "neither stored nor deflated")


def test_two_entries_of_one_name(file):
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("x.npy", b"")
    refused(file, "two entries have one name")


def test_a_header_that_is_too_long(file, tmp_path):
    rewrite(file, {"header.json": b"[" + b"[]," * 6_000_000 + b"0]"})
    refused(file, "header.json takes 18000003 bytes")
    with pytest.raises(ValueError, match=r"header takes .* bytes as JSON.* names of features"):
        save(tmp_path / "long.npz", {"kind": "K", "names": "x" * 16_000_001}, {})
    assert not (tmp_path / "long.npz").exists()


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity"])
def test_numbers_of_the_header_are_finite(file, number):
    header = f'{{"format": "paucens", "format_version": 1, "kind": "K", "arrays": ["x"], "nu": {number}}}'
    rewrite(file, {"header.json": header.encode()})
    refused(file, f"{number} is not a finite number")


def test_what_packs_too_well_is_stored_and_loads(tmp_path, monkeypatch):
    """`save` writes no file that `load` refuses."""
    monkeypatch.setattr(archive, "FREE_BYTES", 1000)
    zeros, noise = np.zeros(100_000), np.random.default_rng(0).integers(9, size=1000)
    for name, array in (("zeros", zeros), ("noise", noise)):
        save(tmp_path / name, {"kind": "K"}, {"x": array})
        np.testing.assert_array_equal(load(tmp_path / name, "K")[1]["x"], array)
    assert (tmp_path / "zeros").stat().st_size > zeros.nbytes
    assert (tmp_path / "noise").stat().st_size < noise.nbytes


# -- headers of arrays -----------------------------------------------------------------------------

LIES = {
    "more than follows": npy(header_of(shape="(3,)"), bytes(16)),
    "less than follows": npy(header_of(shape="(1,)"), bytes(16)),
    "10^12 numbers": npy(header_of(shape="(1000000000000,)"), bytes(16)),
    "10^40 numbers": npy(header_of(shape=f"({10**18}, {10**18}, 1000)"), bytes(16)),
    "no numbers of a huge shape": npy(header_of(shape=f"(0, {10**18}, {10**18})")),
    "forty sides": npy(header_of(shape=f"({'1, ' * 40})")[:-2] + "}", bytes(8)),
    "a negative side": npy(header_of(shape="(-2,)"), bytes(16)),
    "a side that is no number": npy(header_of(shape="(2.0,)"), bytes(16)),
    "a long text": npy(header_of("<U999999999", "()"), bytes(16)),
    "text of no length": npy(header_of("<U0", "(2,)")),
    "objects": npy(header_of("|O"), bytes(16)),
    "no type": npy(header_of("<f3"), bytes(6)),
    "dates": npy(header_of("<M8[s]"), bytes(16)),
    "a structure": npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", bytes(16)),
    "an open bracket": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2,", bytes(16)),
    "a quotation mark": npy("'", bytes(16)),
    "a thousand brackets": npy("(" * 100, bytes(16)),
    "a name": npy("descr", bytes(16)),
    "a number": npy("3", bytes(16)),
    "another version": npy(header_of(), bytes(16), b"\x02\x00"),
    "a header beyond the end": b"\x93NUMPY\x01\x00\xff\xff" + bytes(100),
    "booleans of 2": npy(header_of("|b1"), b"\x02\x00"),
    "characters beyond Unicode": npy(header_of("<U1"), b"\xff" * 8),
}


@pytest.mark.parametrize("case", LIES)
def test_headers_that_lie(file, case):
    rewrite(file, {"x.npy": LIES[case]})
    refused(file, r"model\.npz: x\.npy is not an array \(.*\); the file is damaged")


@pytest.mark.parametrize("case", [case for case in LIES if case not in ("booleans of 2", "characters beyond Unicode")])
@pytest.mark.parametrize("read", [read_array, map_array], ids=["read", "map"])
def test_headers_of_files_that_lie(tmp_path, read, case):
    (tmp_path / "x.npy").write_bytes(LIES[case])
    with pytest.raises(ValueError, match=r"x\.npy is not an array"):
        read(tmp_path / "x.npy")


ARRAYS = [
    np.arange(6, dtype=np.int32).reshape(2, 3),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.array(3, dtype=np.uint8),
    np.empty((0, 4), dtype=np.float32),
    np.arange(3, dtype=">i2"),
    np.array(["a", "bé"]),
    np.array([True, False]),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: array.dtype.str)
def test_arrays_of_numpy_are_read(tmp_path, array):
    np.save(tmp_path / "x.npy", array)
    for read in (read_array, map_array):
        again = read(tmp_path / "x.npy")
        assert again.dtype == array.dtype and again.shape == array.shape
        np.testing.assert_array_equal(again, array)


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: array.dtype.str)
def test_numpy_reads_what_is_written(tmp_path, array):
    blocks = np.array_split(array, 2) if array.ndim else [array]
    write_array(tmp_path / "x.npy", array.dtype, array.shape, blocks)
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(array).reshape(array.shape))
    assert (tmp_path / "x.npy").read_bytes() == buffer.getvalue()


def test_a_mapped_array_is_read_only(tmp_path):
    write_array(tmp_path / "x.npy", np.uint8, (2, 2), [np.ones((2, 2))])
    with pytest.raises(ValueError, match="read-only"):
        map_array(tmp_path / "x.npy")[0] = 1


def test_the_header_of_a_model_stays_readable(file):
    with zipfile.ZipFile(file) as archive:
        assert json.loads(archive.read("header.json"))["kind"] == "K"
