"""Data sets: results of the loaders, places that they search, and refusal of anything but the genuine files."""

import doctest
import gzip
import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from paucens import datasets
from paucens.datasets import content_hash, load_digits_parity, load_toy, load_usps, usps

DOCUMENTED = [
    "paucens.datasets.catalogue",
    "paucens.datasets._files",
    "paucens.datasets.toy",
    "paucens.datasets.digits",
]
HAS_USPS = bool(os.environ.get("PAUCENS_DATA")) and (Path(os.environ["PAUCENS_DATA"], "usps", "usps.npz").is_file())
needs_usps = pytest.mark.skipif(not HAS_USPS, reason="usps/usps.npz is not in $PAUCENS_DATA")


# ------------------------------------------------------------------------------------------ toy


def test_toy_has_the_shapes_and_order_it_promises():
    X, y = load_toy(30, 20, random_state=1)
    assert X.shape == (50, 2) and X.dtype == np.float64
    assert y.tolist() == [1] * 30 + [0] * 20
    X, y = load_toy()
    assert X.shape == (400, 2) and y.sum() == 200


def test_toy_follows_the_distributions_of_section_4_2():
    X, y = load_toy(20_000, 20_000, random_state=0)
    radius, angle = np.hypot(*X.T), np.arctan2(*X.T) % (2 * np.pi)
    assert kstest(radius[y == 1] / 1.5, "uniform").pvalue > 0.01
    assert kstest((radius[y == 0] - 2) / 0.4, "norm").pvalue > 0.01
    for label in (0, 1):
        assert kstest(angle[y == label] / (2 * np.pi), "uniform").pvalue > 0.01
        assert abs(np.corrcoef(radius[y == label], angle[y == label])[0, 1]) < 0.02


def test_toy_stream_is_frozen():
    """The points that figures were made with: a change of generator or of the order of draws shows here."""
    X, _ = load_toy(200, 200, random_state=0)
    expected = [[-0.311665, 0.761943], [1.336351, -0.314644]]
    np.testing.assert_allclose(X[[0, 399]], expected, atol=1e-6)


def test_toy_is_reproducible_by_seed():
    first, again, other = (load_toy(random_state=seed)[0] for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.any(first == other)
    stream = np.random.RandomState(3)
    np.testing.assert_array_equal(load_toy(random_state=stream)[0], first)
    assert not np.any(load_toy(random_state=stream)[0] == first)


@pytest.mark.parametrize("count, error", [(0, ValueError), (-1, ValueError), (2.5, TypeError), ("9", TypeError)])
@pytest.mark.parametrize("argument", ["n_positive", "n_negative"])
def test_toy_refuses_bad_counts(argument, count, error):
    with pytest.raises(error, match=argument):
        load_toy(**{argument: count})


# ----------------------------------------------------------------------------- fabricated USPS


@pytest.fixture
def genuine(monkeypatch, tmp_path):
    """Declare a small fabricated set to be the genuine one; nothing else is in any place of the look-up."""
    rng = np.random.RandomState(0)
    arrays = {}
    for part, n in (("train", 40), ("test", 20)):
        arrays[f"X_{part}"] = rng.randint(-1000, 1001, (n, 256)).astype(np.int16)
        arrays[f"y_{part}"] = (np.arange(n) % 10).astype(np.uint8)
    pixels = np.concatenate([arrays["X_train"], arrays["X_test"]])
    digit = np.concatenate([arrays["y_train"], arrays["y_test"]])
    expected = usps.Expected((4,) * 10, (2,) * 10, content_hash(pixels, digit))
    monkeypatch.setattr(usps, "EXPECTED", expected)
    monkeypatch.delenv("PAUCENS_DATA", raising=False)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return arrays


def text_of(pixels, digits, decimals=4):
    """Print digits and pixels as the public files do: four decimals and a blank before each end of line."""
    words = {value: f"{value / 1000:.{decimals}f}" for value in range(-1000, 1001)}
    words[0] = "-0.0000"  # the public files round small negative values to this
    lines = (
        f"{digit:.{decimals}f} " + " ".join(map(words.__getitem__, row)) + " \n"
        for digit, row in zip(digits.tolist(), pixels.tolist(), strict=True)
    )
    return "".join(lines)


def write_npz(folder, arrays, name="usps.npz"):
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / name, **arrays)
    return folder / name


def write_text(folder, arrays, suffix=".gz", compress=True):
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("train", "test"):
        raw = text_of(arrays[f"X_{part}"], arrays[f"y_{part}"]).encode()
        (folder / f"zip.{part}{suffix}").write_bytes(gzip.compress(raw, 1) if compress else raw)
    return folder / f"zip.train{suffix}"


FORMS = {
    "npz": write_npz,
    "gzipped text": write_text,
    "text": lambda folder, arrays: write_text(folder, arrays, "", compress=False),
    "text unpacked in transit": lambda folder, arrays: write_text(folder, arrays, ".gz", compress=False),
}


@pytest.mark.parametrize("form", FORMS)
def test_usps_every_form_gives_the_same_bits(genuine, tmp_path, form):
    file = FORMS[form](tmp_path / "d", genuine)
    X, y = load_usps(tmp_path / "d")
    pixels = np.concatenate([genuine["X_train"], genuine["X_test"]])
    assert X.dtype == np.float64 and X.flags.c_contiguous
    assert X.tobytes() == (pixels.astype(np.float64) / 1000).tobytes()
    assert y.tolist() == [1, 0] * 30
    np.testing.assert_array_equal(load_usps(file)[0], X)


def test_usps_bunch(genuine, tmp_path):
    file = write_npz(tmp_path / "d", genuine)
    bunch = load_usps(file, return_X_y=False)
    X, y = load_usps(file)
    np.testing.assert_array_equal(bunch.data, X)
    np.testing.assert_array_equal(bunch.target, y)
    assert bunch.digit.tolist() == list(range(10)) * 6
    assert bunch.source.tolist() == [0] * 40 + [1] * 20
    assert [bunch.target_names[label] for label in y[:2]] == ["even", "odd"]
    assert bunch.source_names == ["zip.train", "zip.test"]
    assert bunch.filenames == [str(file)]
    assert bunch.content_hash == usps.EXPECTED.content
    assert "usps.npz" in bunch.DESCR and "terms" in bunch.DESCR


@pytest.mark.parametrize("sub", ["", "usps"])
@pytest.mark.parametrize("form", ["npz", "gzipped text", "text"])
def test_usps_is_found_in_each_place_and_in_their_order(genuine, tmp_path, monkeypatch, form, sub):
    monkeypatch.setenv("PAUCENS_DATA", str(tmp_path / "environment"))
    for place in (Path("data").absolute(), tmp_path / "environment", tmp_path / "argument"):
        FORMS[form](place / sub, genuine)
        found = load_usps(tmp_path / "argument", return_X_y=False).filenames
        assert {Path(name).parent for name in found} == {place / sub}
    found = load_usps(return_X_y=False).filenames
    assert {Path(name).parent for name in found} == {tmp_path / "environment" / sub}


def test_usps_prefers_its_own_folder_and_the_compact_form(genuine, tmp_path):
    write_npz(tmp_path, genuine)
    write_text(tmp_path / "usps", genuine)
    assert load_usps(tmp_path, return_X_y=False).filenames[0] == str(tmp_path / "usps" / "zip.train.gz")
    file = write_npz(tmp_path / "usps", genuine)
    assert load_usps(tmp_path, return_X_y=False).filenames == [str(file)]


def test_usps_recipe_for_the_compact_form(genuine):
    """The snippet of data/README.md makes the file it promises."""
    page = (Path(__file__).parents[2] / "data" / "README.md").read_text(encoding="utf-8")
    write_text(Path("data/usps"), genuine)
    X, _ = load_usps()
    exec(page.split("```python")[1].split("```")[0], {})
    bunch = load_usps(return_X_y=False)
    assert Path(bunch.filenames[0]).name == "usps.npz"
    np.testing.assert_array_equal(bunch.data, X)


def test_usps_takes_a_file_under_another_name(genuine, tmp_path):
    assert load_usps(write_npz(tmp_path, genuine, "mine.npz"))[0].shape == (60, 256)


def test_usps_missing_names_the_places_and_the_source(genuine, tmp_path, monkeypatch):
    monkeypatch.setenv("PAUCENS_DATA", str(tmp_path / "environment"))
    (tmp_path / "argument").mkdir()
    with pytest.raises(FileNotFoundError) as caught:
        load_usps(tmp_path / "argument")
    message = str(caught.value)
    assert f"path ({tmp_path / 'argument'}): holds none" in message
    assert f"$PAUCENS_DATA ({tmp_path / 'environment'}): does not exist" in message
    assert f"./data ({Path('data').absolute()}): does not exist" in message
    assert "https://hastie.su.domains/ElemStatLearn/data.html" in message
    monkeypatch.delenv("PAUCENS_DATA")
    with pytest.raises(FileNotFoundError, match=r"path: not set\n +\$PAUCENS_DATA: not set"):
        load_usps()


@pytest.mark.parametrize("as_file", [False, True])
def test_usps_half_of_the_set_is_named(genuine, tmp_path, as_file):
    file = write_text(tmp_path / "d", genuine)
    (tmp_path / "d" / "zip.test.gz").unlink()
    with pytest.raises(FileNotFoundError, match=r"has zip\.train\.gz without zip\.test\.gz"):
        load_usps(file if as_file else file.parent)


def test_usps_refuses_a_file_of_another_sort(genuine, tmp_path):
    (tmp_path / "digits.csv").write_text("1,2,3")
    with pytest.raises(ValueError, match=r"digits\.csv is not a file of the data set 'usps'"):
        load_usps(tmp_path / "digits.csv")


# ------------------------------------------------------------------- USPS files that must not pass


def spoil_text(change):
    """Make a writer of gzipped text whose zip.test has its lines changed by a function."""

    def write(folder, arrays):
        write_text(folder, arrays)
        lines = text_of(arrays["X_test"], arrays["y_test"]).splitlines()
        (folder / "zip.test.gz").write_bytes(gzip.compress("\n".join(change(lines)).encode()))

    return write


def word(position, new):
    """Replace one word of the fourth line."""

    def change(lines):
        words = lines[3].split()
        words[position] = new
        return [*lines[:3], " ".join(words), *lines[4:]]

    return change


def spoil_bytes(name, change, write=write_text):
    """Make a writer that changes the bytes of one file."""

    def spoil(folder, arrays):
        write(folder, arrays)
        (folder / name).write_bytes(change((folder / name).read_bytes()))

    return spoil


def spoil_arrays(change):
    """Make a writer of the npz form with some arrays replaced."""
    return lambda folder, arrays: write_npz(folder, arrays | change(arrays))


def swapped(array, i, j):
    """Swap two rows."""
    array = array.copy()
    array[[i, j]] = array[[j, i]]
    return array


def nudged(array):
    """Move one entry by one towards zero."""
    array = array.copy()
    array[3, 5] -= np.sign(array[3, 5])
    return array


SPOILT = {
    "gzip cut short": (spoil_bytes("zip.test.gz", lambda raw: raw[: len(raw) // 2]), r"zip\.test\.gz cannot be"),
    "gzip cut in its head": (spoil_bytes("zip.test.gz", lambda raw: raw[:5]), r"zip\.test\.gz cannot be"),
    "gzip with a flipped byte": (
        spoil_bytes("zip.train.gz", lambda raw: raw[:5000] + bytes([raw[5000] ^ 255]) + raw[5001:]),
        r"zip\.train\.gz cannot be",
    ),
    "not text": (spoil_bytes("zip.test.gz", lambda raw: b"\x89PNG" + raw), r"zip\.test\.gz cannot be"),
    "empty": (spoil_bytes("zip.test.gz", lambda raw: b""), r"zip\.test\.gz cannot be read: it is empty"),
    "blank": (spoil_text(lambda lines: ["", "  "]), r"zip\.test\.gz cannot be read: it is empty"),
    "pointer": (
        spoil_bytes("zip.test.gz", lambda raw: b"version https://git-lfs.github.com/spec/v1\n"),
        r"zip\.test\.gz cannot be read.*'version'.*pointer",
    ),
    "a column less": (
        spoil_text(lambda lines: [line.rsplit(maxsplit=1)[0] for line in lines]),
        r"zip\.test\.gz cannot be read: lines hold 256 values",
    ),
    "a short line": (
        spoil_text(lambda lines: [*lines[:5], lines[5][:100], *lines[6:]]),
        r"zip\.test\.gz cannot be read.*columns changed from 257",
    ),
    "too bright": (spoil_text(word(7, "1.0010")), r"zip\.test\.gz: grey values must lie in \[-1, 1\]"),
    "too dark": (spoil_text(word(7, "-1.0010")), r"zip\.test\.gz: grey values must lie in \[-1, 1\]"),
    "infinite": (spoil_text(word(7, "inf")), r"zip\.test\.gz: grey values must lie in"),
    "not a number": (spoil_text(word(7, "nan")), r"zip\.test\.gz: grey values must lie in"),
    "four decimals": (spoil_text(word(7, "0.1234")), r"zip\.test\.gz: grey values have more than three"),
    "digit ten": (spoil_text(word(0, "10.0000")), r"zip\.test\.gz: the labels must be digits"),
    "half a digit": (spoil_text(word(0, "2.5")), r"zip\.test\.gz: the labels must be digits"),
    "negative digit": (spoil_text(word(0, "-1")), r"zip\.test\.gz: the labels must be digits"),
    "npz cut short": (
        spoil_bytes("usps.npz", lambda raw: raw[:-100], write_npz),
        r"usps\.npz cannot be read: it is not a complete",
    ),
    "npz with a flipped byte": (
        spoil_bytes("usps.npz", lambda raw: raw[:5000] + bytes([raw[5000] ^ 255]) + raw[5001:], write_npz),
        r"usps\.npz cannot be read",
    ),
    "npz without an array": (
        lambda folder, arrays: write_npz(folder, {"X_train": arrays["X_train"]}),
        r"usps\.npz lacks the arrays \['y_train', 'X_test', 'y_test'\]",
    ),
    "npz of floats": (
        spoil_arrays(lambda arrays: {"X_test": arrays["X_test"] / 1000}),
        r"usps\.npz: X_test has dtype float64; expected integers",
    ),
    "npz of images": (
        spoil_arrays(lambda arrays: {"X_test": arrays["X_test"].reshape(-1, 16, 16)}),
        r"usps\.npz \(test\): pixels have shape \(20, 16, 16\)",
    ),
    "npz with a label less": (
        spoil_arrays(lambda arrays: {"y_test": arrays["y_test"][1:]}),
        r"usps\.npz \(test\): pixels have shape \(20, 256\) and digits \(19,\)",
    ),
    "too few images": (
        spoil_text(lambda lines: lines[:-1]),
        r"zip\.test\.gz: the test part has 19 images, \(2, .* 1\).*expected 20, \(2, .*hastie",
    ),
    "another digit": (
        spoil_arrays(lambda arrays: {"y_train": np.where(arrays["y_train"] == 9, 8, arrays["y_train"])}),
        r"usps\.npz: the train part has 40 images, .* 8, 0\).*expected 40, .* 4, 4\)",
    ),
    "one pixel a thousandth off": (spoil_arrays(lambda arrays: {"X_test": nudged(arrays["X_test"])}), "content hash"),
    "images of one digit swapped": (
        spoil_arrays(lambda arrays: {"X_train": swapped(arrays["X_train"], 0, 10)}),
        r"usps\.npz: .*content hashes to [0-9a-f]{64}, expected [0-9a-f]{64}.*hastie",
    ),
    "rows in another order": (
        spoil_arrays(lambda arrays: {name: swapped(arrays[name], 0, 1) for name in ("X_train", "y_train")}),
        "content hash",
    ),
}


@pytest.mark.parametrize("case", SPOILT)
def test_usps_refuses_what_is_not_the_genuine_set(genuine, tmp_path, case):
    write, message = SPOILT[case]
    write(tmp_path / "d", genuine)
    with pytest.raises(ValueError, match=message):
        load_usps(tmp_path / "d")


class Bomb:
    """An object whose unpickling leaves a file behind."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


def test_usps_never_unpickles(genuine, tmp_path):
    trace = tmp_path / "trace"
    pickle.loads(pickle.dumps(Bomb(trace)))  # the bomb works
    trace.unlink()
    objects = np.array([Bomb(trace)] * 20, dtype=object)
    write_npz(tmp_path / "d", genuine | {"y_test": objects})
    with pytest.raises(ValueError, match=r"usps\.npz cannot be read"):
        load_usps(tmp_path / "d")
    assert not trace.exists()


# ------------------------------------------------------------------------------------ real USPS


@needs_usps
def test_usps_real():
    bunch = load_usps(return_X_y=False)
    X, y = bunch.data, bunch.target
    assert X.shape == (9298, 256) and X.dtype == np.float64
    assert X.min() == -1 and X.max() == 1
    np.testing.assert_array_equal(y, bunch.digit % 2 == 0)
    assert y.sum() == 4876
    assert np.bincount(bunch.source).tolist() == [7291, 2007]
    assert bunch.digit[[0, 7291]].tolist() == [6, 9]  # the first lines of zip.train and zip.test
    assert X[0, 6:9].tolist() == [-1, -0.631, 0.862]
    assert len(np.unique(X, axis=0)) == 9298


@needs_usps
def test_usps_real_text_form_gives_the_same_bits(tmp_path):
    compact = Path(os.environ["PAUCENS_DATA"], "usps", "usps.npz")
    with np.load(compact) as arrays:
        file = write_text(tmp_path, arrays)
    X, y = load_usps(compact)
    X_text, y_text = load_usps(file)
    assert X_text.tobytes() == X.tobytes()
    assert y_text.tobytes() == y.tobytes()


# --------------------------------------------------------------------------------------- digits


def test_digits_parity():
    X, y = load_digits_parity()
    bunch = load_digits_parity(return_X_y=False)
    assert X.shape == (1797, 64) and X.dtype == np.float64 and (X.min(), X.max()) == (0, 16)
    assert np.bincount(y).tolist() == [906, 891]
    np.testing.assert_array_equal(bunch.data, X)
    np.testing.assert_array_equal(y, bunch.digit % 2 == 0)
    assert bunch.stand_in_for == "usps" and "stand-in for usps" in bunch.DESCR


def test_digits_parity_refuses_other_images(monkeypatch):
    import sklearn.datasets

    X, digit = sklearn.datasets.load_digits(return_X_y=True)
    X[5, 20] += 1
    monkeypatch.setattr(sklearn.datasets, "load_digits", lambda return_X_y: (X, digit))
    with pytest.raises(ValueError, match="the images changed"):
        load_digits_parity()


# --------------------------------------------------------------------- registry, hash and imports


@pytest.mark.parametrize("name", datasets.REGISTRY)
def test_registry_and_pages_tell_the_same(name):
    about = datasets.REGISTRY[name]
    assert about.name == name and about.loader is getattr(datasets, about.loader.__name__)
    text = datasets.describe(name)
    for field in ("what:", "source:", "terms:", "check:", f"paucens.datasets.{about.loader.__name__}"):
        assert field in text
    assert text in datasets.describe()
    assert f"\n{name} " in datasets.__doc__ and f"`{about.loader.__name__}`" in datasets.__doc__
    page = Path(__file__).parents[2] / "data" / "README.md"
    assert f"\n| `{name}` |" in page.read_text(encoding="utf-8")


def test_a_stand_in_says_so_in_its_title():
    assert datasets.REGISTRY["digits_parity"].title == "digits_parity (stand-in for usps)"
    assert datasets.REGISTRY["usps"].title == "usps"


def test_describe_refuses_an_unknown_name():
    with pytest.raises(ValueError, match=r"'mnist'; choose one of \['caltech', .*'usps', 'yeast_pairs'\]"):
        datasets.describe("mnist")


def test_content_hash_is_fixed():
    """CSV files hold these digests, so the definition must not change."""
    digest = content_hash(np.array([[1, 2, 3]], dtype=np.int16))
    assert digest == "6bc288f8674cd5e11577099e2520823e6bdad4a71bae0a0f5ec53b253a576a09"
    digest = content_hash([True, False], ["a", "bc"], 1.5)
    assert digest == "34c521ece108e0136dcbeaefa01afdf2221b19bac02a9c66b32d896f1854a265"


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=3),
    st.sampled_from(["<f8", "<i2", "<u1", "?", "<U3", "<c8", "<M8[s]"]),
)
def test_content_hash_does_not_depend_on_layout(shape, dtype):
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    wide = np.repeat(array, 2, axis=-1)
    layouts = [
        np.asfortranarray(array),
        array.astype(array.dtype.newbyteorder(">")),
        wide[..., ::2],
        array[::-1].copy()[::-1],
    ]
    wide.flags.writeable = False
    assert {content_hash(layout) for layout in layouts} == {content_hash(array)}


def test_content_hash_sees_dtype_shape_values_and_grouping():
    a = np.arange(6)
    variants = [
        (a,),
        (a.astype(np.int32),),
        (a.astype(np.uint64),),
        (a.reshape(2, 3),),
        (a.reshape(3, 2),),
        (a[::-1],),
        (a[:3], a[3:]),
        (a[:2], a[2:]),
        (a, a[:0]),
        (a[:1],),
        (a[0],),
    ]
    assert len({content_hash(*arrays) for arrays in variants}) == len(variants)


@pytest.mark.parametrize("arrays", [(), ([None],), ([{}],), (np.zeros(2, dtype=[("a", "i1"), ("b", "f8")]),)])
def test_content_hash_refuses_what_has_no_canonical_bytes(arrays):
    with pytest.raises(ValueError, match="content_hash"):
        content_hash(*arrays)


def test_import_is_light():
    code = "import sys, paucens.datasets; print({'sklearn.datasets', 'matplotlib'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


@pytest.mark.parametrize("module", [*DOCUMENTED, pytest.param("paucens.datasets.usps", marks=needs_usps)])
def test_examples_in_docstrings(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0 and result.failed == 0
