"""Files on a disk that is full, under names that are long or links, and files that are not there."""

import contextlib
import errno
import os

import numpy as np
import pytest

from paucens.persistence import load, map_array, read_array, remove_parts, replacing, save, write_array

resource = pytest.importorskip("resource")

HEADER, ARRAYS = {"kind": "K"}, {"x": np.random.default_rng(0).normal(size=20_000)}
N_BYTES = 100_000  # of the largest file that fits


@contextlib.contextmanager
def small_files():
    """Let no file grow beyond `N_BYTES`, as on a disk that is almost full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (N_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


# -- a full disk -----------------------------------------------------------------------------------


@pytest.fixture(params=["allocated", "not allocated"])
def allocation(request, monkeypatch):
    """Whether the system can allocate ahead; if it cannot, writing finds out."""
    if request.param == "not allocated":
        monkeypatch.delattr(os, "posix_fallocate", raising=False)


@pytest.mark.usefixtures("allocation")
def test_a_model_that_does_not_fit_leaves_the_old_one(tmp_path):
    save(tmp_path / "m.npz", HEADER, {"x": np.zeros(3)})
    before = (tmp_path / "m.npz").read_bytes()
    with small_files(), pytest.raises(OSError, match=r"m\.npz takes 1\d{5} bytes, which could not be written") as error:
        save(tmp_path / "m.npz", HEADER, ARRAYS)
    assert error.value.errno == errno.EFBIG
    assert names_in(tmp_path) == ["m.npz"] and (tmp_path / "m.npz").read_bytes() == before


@pytest.mark.usefixtures("allocation")
def test_an_array_that_does_not_fit_leaves_nothing(tmp_path):
    asked = []

    def blocks():
        for k in range(4):
            asked.append(k)
            yield np.zeros((1000, 50))

    with small_files(), pytest.raises(OSError, match=r"x\.npy takes 1600128 bytes, which could not be written"):
        write_array(tmp_path / "x.npy", np.float64, (4000, 50), blocks())
    assert names_in(tmp_path) == []
    assert len(asked) == (0 if hasattr(os, "posix_fallocate") else 1)  # the disk is asked before the work is done


def test_systems_that_cannot_allocate(tmp_path, monkeypatch):
    def refuse(descriptor, start, length):
        raise OSError(errno.EOPNOTSUPP, "not supported")

    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    write_array(tmp_path / "x.npy", np.int64, (3,), [np.arange(3)])
    assert read_array(tmp_path / "x.npy").tolist() == [0, 1, 2]


def test_space_is_allocated_to_the_byte(tmp_path):
    write_array(tmp_path / "x.npy", np.uint8, (1000, 300), (np.full((100, 300), k) for k in range(10)))
    assert (tmp_path / "x.npy").stat().st_size == 128 + 300_000
    assert map_array(tmp_path / "x.npy")[::100, 0].tolist() == list(range(10))


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, OSError])
def test_a_block_that_fails_leaves_the_old_file(tmp_path, error):
    (tmp_path / "f").write_text("old")
    with pytest.raises(error), replacing(tmp_path / "f", 3) as file:
        file.write(b"new")
        raise error("stopped")
    assert names_in(tmp_path) == ["f"] and (tmp_path / "f").read_text() == "old"


@pytest.mark.parametrize("content", [b"", b"ab", b"abcd"])
def test_as_much_is_written_as_was_announced(tmp_path, content):
    with (
        pytest.raises(ValueError, match=f"{len(content)} bytes were written to .*f; 3 were announced"),
        replacing(tmp_path / "f", 3) as file,
    ):
        file.write(content)
    assert names_in(tmp_path) == []


# -- names and links -------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [250, 255])
def test_the_longest_names(tmp_path, length):
    path = tmp_path / ("m" * (length - 4) + ".npz")
    save(path, HEADER, {})
    assert load(path, "K")[0]["kind"] == "K"
    assert names_in(tmp_path) == [path.name]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "m.npz", tmp_path / "link.npz"
    save(target, HEADER, {"x": np.zeros(1)})
    link.symlink_to(target)
    save(link, HEADER, {"x": np.ones(2)})
    assert link.is_symlink() and load(target, "K")[1]["x"].tolist() == [1, 1]
    assert names_in(target.parent) == ["m.npz"]


def test_a_link_to_a_file_that_does_not_exist_yet(tmp_path):
    (tmp_path / "link.npz").symlink_to(tmp_path / "m.npz")
    save(tmp_path / "link.npz", HEADER, {})
    assert (tmp_path / "link.npz").is_symlink() and load(tmp_path / "m.npz", "K")


@pytest.mark.parametrize("mode", [0o600, 0o640])
def test_a_replaced_file_keeps_its_mode(tmp_path, mode):
    save(tmp_path / "m.npz", HEADER, {})
    (tmp_path / "m.npz").chmod(mode)
    save(tmp_path / "m.npz", HEADER, ARRAYS)
    assert (tmp_path / "m.npz").stat().st_mode & 0o777 == mode


def test_folders_and_devices_are_not_replaced(tmp_path):
    for path in (tmp_path, os.devnull):
        with pytest.raises(OSError, match="is a folder or a device, not a file"):
            save(path, HEADER, {})
    assert not os.path.isfile(os.devnull) and names_in(tmp_path) == []


def test_what_killed_processes_left_is_removed(tmp_path):
    with contextlib.suppress(SystemExit), replacing(tmp_path / "f", 3) as file:
        left = file.name
        (tmp_path / "copy").write_bytes(b"")
        raise SystemExit
    os.replace(tmp_path / "copy", left)
    (tmp_path / "mine.part").write_text("kept")
    remove_parts(tmp_path)
    assert names_in(tmp_path) == ["mine.part"]


# -- files that are not there ----------------------------------------------------------------------


def test_a_missing_file_says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No file .*/m; give the path that it was saved to"):
        load(tmp_path / "m", "K")
    save(tmp_path / "m.npz", HEADER, {})
    with pytest.raises(FileNotFoundError, match=r"No file .*/m; did you mean m\.npz\?"):
        load(tmp_path / "m", "K")


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; give the path of a file in it"):
        load(tmp_path, "K")
