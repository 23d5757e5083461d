"""Files of arrays: round trips, fixed bytes, and bad files that are refused with a reason."""

import doctest
import io
import json
import os
import zipfile

import numpy as np
import pytest

from paucens.persistence import archive, check_index, checks, load, save, values

HEADER = {"kind": "Ensemble", "classes": ["no", "yes"], "nu": 0.1, "params": {"depth": 3, "anneal": None}}
ARRAYS = {
    "threshold": np.array([0.25, -np.inf, np.nan]),
    "trees/column": np.array([[3, 1], [0, 2]], dtype=np.int32),
    "scalar": np.array(7, dtype=np.uint8),
    "empty": np.empty((0, 4), dtype=np.float32),
    "labels": np.array(["a", "bé"]),
}


@pytest.fixture
def file(tmp_path):
    save(tmp_path / "model.npz", HEADER, ARRAYS)
    return tmp_path / "model.npz"


def rewrite(path, changes):
    """Rewrite an archive with some entries replaced (None: left out); return the path."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()} | changes
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            if content is not None:
                archive.writestr(name, content)
    return path


def header_with(**changes):
    return json.dumps({"format": "paucens", "format_version": 1, "kind": "Ensemble"} | changes).encode()


# -------------------------------------------------------------------------------------- round trip


def test_round_trip(file):
    header, arrays = load(file, "Ensemble")
    assert header == HEADER | {"format": "paucens", "format_version": 1}
    assert sorted(arrays) == sorted(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype and arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()
        assert arrays[name].flags.c_contiguous and arrays[name].flags.writeable


def test_loaded_content_can_be_saved(file, tmp_path):
    save(tmp_path / "again.npz", *load(file, "Ensemble"))
    assert (tmp_path / "again.npz").read_bytes() == file.read_bytes()


def test_numpy_reads_the_arrays_and_any_unzip_the_header(file):
    with np.load(file, allow_pickle=False) as archive:
        assert archive["trees/column"].tolist() == [[3, 1], [0, 2]]
    with zipfile.ZipFile(file) as archive:
        assert json.loads(archive.read("header.json"))["params"] == {"depth": 3, "anneal": None}


def test_the_name_is_taken_as_it_is(tmp_path):
    save(str(tmp_path / "model"), HEADER, {})
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]
    assert load(tmp_path / "model", "Ensemble")[1] == {}


def test_numpy_scalars_and_tuples_become_json(tmp_path):
    values = {"f": np.float32(0.5), "i": np.int64(-3), "b": np.True_, "s": np.str_("é"), "t": (0.0, (1, None))}
    save(tmp_path / "m", {"kind": "K", "deep": [values]}, {})
    deep = load(tmp_path / "m", "K")[0]["deep"]
    assert deep == [{"f": 0.5, "i": -3, "b": True, "s": "é", "t": [0.0, [1, None]]}]
    assert [type(value) for value in deep[0].values()] == [bool, float, int, str, list]  # keys are sorted


def test_floats_of_the_header_keep_their_bits(tmp_path):
    values = np.random.RandomState(0).standard_normal(50) * 10.0 ** np.arange(-25, 25)
    save(tmp_path / "m", {"kind": "K", "values": list(values)}, {})
    assert load(tmp_path / "m", "K")[0]["values"] == values.tolist()


def test_arrays_come_back_native_and_in_c_order(tmp_path):
    a = np.arange(6, dtype=np.int32).reshape(2, 3)
    save(tmp_path / "m", HEADER, {"big": a.astype(">i4"), "fortran": np.asfortranarray(a)})
    for array in load(tmp_path / "m", "Ensemble")[1].values():
        assert array.dtype.isnative and array.flags.c_contiguous
        np.testing.assert_array_equal(array, a)


# ------------------------------------------------------------------------------------------- bytes


def test_equal_content_gives_equal_bytes(file, tmp_path):
    arrays = {name: np.asfortranarray(ARRAYS[name]) if ARRAYS[name].ndim else ARRAYS[name] for name in ARRAYS}
    reverse = dict(reversed(arrays.items()))
    save(tmp_path / "other", dict(reversed(HEADER.items())), reverse)
    assert (tmp_path / "other").read_bytes() == file.read_bytes()
    with zipfile.ZipFile(file) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_DEFLATED}


def test_an_interrupted_save_leaves_the_old_file(file, monkeypatch):
    before = file.read_bytes()
    write = zipfile.ZipFile.writestr

    def interrupted(archive, info, *rest):
        if info.filename == "scalar.npy":
            raise KeyboardInterrupt
        write(archive, info, *rest)

    monkeypatch.setattr(zipfile.ZipFile, "writestr", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(file, HEADER | {"nu": 2}, ARRAYS)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_a_saved_file_has_the_usual_mode(file):
    plain = file.with_name("plain")
    plain.touch()
    assert file.stat().st_mode == plain.stat().st_mode


# ------------------------------------------------------------------------------ refused when saving


@pytest.mark.parametrize(
    "header, error, message",
    [
        ({}, ValueError, "a string under 'kind'"),
        ({"kind": 3}, ValueError, "a string under 'kind'"),
        ([("kind", "K")], ValueError, "A header is a dict"),
        ({"kind": "K", "format": "zip"}, ValueError, r"header\['format'\] is always 'paucens'; got 'zip'"),
        ({"kind": "K", "format_version": 9}, ValueError, r"header\['format_version'\] is always 1; got 9"),
        ({"kind": "K", "arrays": []}, ValueError, r"header\['arrays'\] is reserved"),
        ({"kind": "K", "a": {"b": [0.0, np.inf]}}, ValueError, r"header\['a'\]\['b'\]\[1\] is inf"),
        ({"kind": "K", "a": np.float32("nan")}, ValueError, r"header\['a'\] is nan"),
        ({"kind": "K", "a": np.arange(3)}, TypeError, r"header\['a'\] is a ndarray.*beside the header"),
        ({"kind": "K", "a": {1, 2}}, TypeError, r"header\['a'\] is a set"),
        ({"kind": "K", "a": 1j}, TypeError, r"header\['a'\] is a complex"),
        ({"kind": "K", "a": {7: "x"}}, TypeError, r"header\['a'\] has the key 7"),
    ],
)
def test_header_that_json_cannot_hold(tmp_path, header, error, message):
    with pytest.raises(error, match=message):
        save(tmp_path / "m", header, {})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("array", [[None], [{"a": 1}], np.array([1, "a"], dtype=object), np.zeros(2, "i4,O")])
def test_objects_are_not_stored(tmp_path, array):
    with pytest.raises(ValueError, match=r"Array 'x' cannot be saved: dtype .* no objects"):
        save(tmp_path / "m", HEADER, {"a": np.zeros(3), "x": array})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["", "../up", "/root", "a//b", "a/", ".hidden", "a..b", "a b", "a\n", 3, "é"])
def test_names_that_could_leave_the_archive(tmp_path, name):
    with pytest.raises(ValueError, match="cannot name an array"):
        save(tmp_path / "m", HEADER, {name: np.zeros(3)})


def test_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No folder .*nowhere to write m\.npz"):
        save(tmp_path / "nowhere" / "m.npz", HEADER, {})


# ----------------------------------------------------------------------------- refused when loading


def test_wrong_kind(file):
    with pytest.raises(ValueError, match=r"model\.npz holds a model of kind 'Ensemble', expected 'Detector'"):
        load(file, "Detector")


@pytest.mark.parametrize("version", [2, 0, "1", 1.0, True, None])
def test_unknown_version(file, version):
    rewrite(file, {"header.json": header_with(format_version=version)})
    with pytest.raises(ValueError, match=rf"format version {version!r}; this paucens reads 1 to 1\. Upgrade"):
        load(file, "Ensemble")


@pytest.mark.parametrize(
    "header", [None, b"[]", b"{}", header_with(format="other"), b'{"format": "paucens", "format_version": 1}']
)
def test_archive_of_another_program(file, header):
    rewrite(file, {"header.json": header})
    with pytest.raises(ValueError, match=r"model\.npz is a zip archive, but has no header\.json"):
        load(file, "Ensemble")


@pytest.mark.parametrize("header", [b"", b"{", b"\xff{}", header_with(nu=np.nan), b"[" * 100_000])
def test_header_that_is_not_json(file, header):
    rewrite(file, {"header.json": header})
    with pytest.raises(ValueError, match=r"model\.npz: header\.json is not valid JSON"):
        load(file, "Ensemble")


@pytest.mark.parametrize(
    "changes",
    [
        {"scalar.npy": None},
        {"more.npy": b""},
        {"note.txt": b""},
        {"note.txt": b"", "header.json": header_with(arrays=[*sorted(ARRAYS), "note.txt"])},
        {"header.json": header_with()},
    ],
)
def test_arrays_are_those_of_the_header(file, changes):
    rewrite(file, changes)
    with pytest.raises(ValueError, match=r"model\.npz holds .*but its header lists"):
        load(file, "Ensemble")


@pytest.mark.parametrize("content", [b"", b"no array", b"\x93NUMPY\x01\x00"])
def test_entry_that_is_not_an_array(file, content):
    rewrite(file, {"scalar.npy": content})
    with pytest.raises(ValueError, match=r"model\.npz: scalar\.npy is not an array"):
        load(file, "Ensemble")


class Bomb:
    """An object whose unpickling leaves a file behind."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


def test_nothing_is_unpickled(file, tmp_path):
    trace = tmp_path / "trace"
    buffer = io.BytesIO()
    np.save(buffer, np.array([Bomb(trace)], dtype=object), allow_pickle=True)
    np.load(io.BytesIO(buffer.getvalue()), allow_pickle=True)  # the bomb works
    trace.unlink()
    rewrite(file, {"scalar.npy": buffer.getvalue()})
    with pytest.raises(ValueError, match=r"scalar\.npy is not an array"):
        load(file, "Ensemble")
    assert not trace.exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"<html>not found</html>"])
def test_file_that_is_not_an_archive(tmp_path, content):
    (tmp_path / "m.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"m\.npz is not a complete \.npz file"):
        load(tmp_path / "m.npz", "Ensemble")


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "m.npz", "Ensemble")


def test_every_truncation_is_found(file):
    whole = file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"model\.npz"):
            load(file, "Ensemble")


def test_every_flipped_byte_is_found_or_harmless(file):
    """Damage must never change a value; in a time stamp, for example, it may go unnoticed."""
    whole = file.read_bytes()
    n_found = 0
    for position in range(len(whole)):
        file.write_bytes(whole[:position] + bytes([whole[position] ^ 0xFF]) + whole[position + 1 :])
        try:
            header, arrays = load(file, "Ensemble")
        except ValueError:
            n_found += 1
        else:
            assert header["params"] == HEADER["params"]
            assert {name: array.tobytes() for name, array in arrays.items()} == {
                name: array.tobytes() for name, array in ARRAYS.items()
            }
    assert n_found > len(whole) / 2


# ------------------------------------------------------------------------------------------ indices


@pytest.mark.parametrize(
    "array, upper, lower, message",
    [
        ([0, 9, 3, 12], 9, 0, r"column\[1\] is 9; it must lie in \[0, 9\)"),
        ([0, -1], 9, 0, r"column\[1\] is -1; it must lie in \[0, 9\)"),
        ([4, -2], 9, -1, r"column\[1\] is -2; it must lie in \[-1, 9\)"),
        ([[0, 1], [2, 5]], 5, 0, r"column\[1, 1\] is 5"),
        (np.array([0, 2**64 - 1], dtype=np.uint64), 9, -1, r"column\[1\] is 18446744073709551615"),
        (np.array(3), 3, 0, r"column.* is 3"),
        ([0], 0, 0, r"column\[0\] is 0"),
        ([0.0, 1.0], 9, 0, "column holds float64; indices must be integers"),
        ([True], 9, 0, "column holds bool; indices must be integers"),
    ],
)
def test_index_outside(array, upper, lower, message):
    with pytest.raises(ValueError, match=message):
        check_index("column", np.asarray(array), upper, lower)


@pytest.mark.parametrize(
    "array, upper, lower", [([0, 8], 9, 0), ([-1, 8], 9, -1), (np.empty(0, int), 0, 0), (np.uint8([255]), 256, 0)]
)
def test_index_inside(array, upper, lower):
    assert check_index("column", np.asarray(array), upper, lower) is None


def test_examples_in_docstrings():
    for module in (archive, checks, values):
        result = doctest.testmod(module)
        assert result.attempted > 0 and result.failed == 0
