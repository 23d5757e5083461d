"""Data sets that are tables: results of the loaders, and refusal of anything but the genuine files."""

import doctest
import importlib
import os
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.data import available, load
from paucens.datasets import (
    REGISTRY,
    content_hash,
    load_protein_pairs,
    load_tabular,
    load_yeast_pairs,
    protein_pairs,
    tabular,
    yeast_pairs,
)
from paucens.datasets._text import read_csv


def needs(*parts):
    """Skip the test if a file is not in $PAUCENS_DATA."""
    folder = os.environ.get("PAUCENS_DATA")
    there = bool(folder) and Path(folder, *parts).is_file()
    return pytest.mark.skipif(not there, reason=f"{'/'.join(parts)} is not in $PAUCENS_DATA")


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """Leave nothing in any place of the look-up."""
    monkeypatch.delenv("PAUCENS_DATA", raising=False)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")


def write_npz(folder, name, arrays):
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / name, **arrays)
    return folder / name


def write_lines(folder, name, lines):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder / name


class Bomb:
    """An object whose unpickling leaves a file behind."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


# ------------------------------------------------------------------------------- numbers from text


def test_csv_reads_quotes_blanks_marks_and_blank_lines(tmp_path):
    file = tmp_path / "table.csv"
    file.write_bytes("\ufeff1, 2.5,'-1'\r\n\r\n-3e2,0,'1'".encode())
    np.testing.assert_array_equal(read_csv(file, 3), [[1, 2.5, -1], [-300, 0, 1]])
    file.write_text("7,8")
    np.testing.assert_array_equal(read_csv(file, 2), [[7, 8]])


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        ("1,2\n3\n", "columns changed from 2"),
        ("1,2\n3,4\n", "lines hold 2 numbers between commas, expected 3"),
        ("1,,3\n", "lines hold 3 numbers between commas, but"),
        ("1,2,three\n", "'three'"),
        ("1,2,nan\n", "NaN or infinity"),
        ("1,2,-inf\n", "NaN or infinity"),
        ("<!DOCTYPE html>\n", "web page"),
        ("version https://git-lfs.github.com/spec/v1\n", "LFS pointer"),
    ],
)
def test_csv_names_the_file_and_what_is_wrong(tmp_path, text, message):
    (tmp_path / "table.csv").write_text(text)
    with pytest.raises(ValueError, match=rf"table\.csv cannot be read: .*{message}"):
        read_csv(tmp_path / "table.csv", 3)


def test_csv_refuses_bytes_that_are_not_text(tmp_path):
    (tmp_path / "table.csv").write_bytes(b"\x89PNG\xff\xfe,1,2")
    with pytest.raises(ValueError, match=r"table\.csv cannot be read"):
        read_csv(tmp_path / "table.csv", 3)


# ------------------------------------------------------------------------------- fabricated tables


@pytest.fixture
def spots(monkeypatch, elsewhere):
    """Declare a small fabricated table to be the genuine mammography."""
    X = np.random.RandomState(0).normal(size=(12, 6)).astype(np.float32)
    y = (np.arange(12) % 4 == 1).astype(np.uint8)
    table = replace(tabular.TABLES["mammography"], n_samples=12, n_positive=3, content=content_hash(X, y))
    monkeypatch.setitem(tabular.TABLES, "mammography", table)
    return {"X": X, "y": y}


def spots_csv(folder, arrays):
    """Write the public form: nine digits, the label in quotes."""
    labels = np.where(arrays["y"] == 1, "'1'", "'-1'")
    numbers = (",".join(f"{value:.9g}" for value in row) for row in arrays["X"])
    return write_lines(folder, "mammography.csv", map(",".join, zip(numbers, labels, strict=True)))


def spots_npz(folder, arrays):
    return write_npz(folder, "mammography.npz", arrays)


@pytest.mark.parametrize("write", [spots_npz, spots_csv])
@pytest.mark.parametrize("sub", ["", "tabular"])
def test_both_forms_give_the_same_table(spots, tmp_path, write, sub):
    file = write(tmp_path / "d" / sub, spots)
    for place in (tmp_path / "d", file):
        X, y = load_tabular("mammography", place)
        assert X.dtype == np.float64 and X.tobytes() == spots["X"].astype(np.float64).tobytes()
        assert y.dtype == np.int64 and y.tolist() == spots["y"].tolist()
    bunch = load_tabular("mammography", tmp_path / "d", return_X_y=False)
    assert bunch.filenames == [str(file)] and bunch.content_hash == content_hash(spots["X"], spots["y"])
    assert "calcifications" in bunch.DESCR


def test_labels_of_any_number_type_are_the_same_labels(spots, tmp_path):
    for dtype in (bool, np.int64, np.float64):
        spots_npz(tmp_path / "d", spots | {"y": spots["y"].astype(dtype)})
        assert load_tabular("mammography", tmp_path / "d")[1].tolist() == spots["y"].tolist()


def test_bits_are_unpacked_in_order(monkeypatch, elsewhere, tmp_path):
    rng = np.random.RandomState(0)
    bits, y = rng.randint(0, 2, (10, 20)), np.repeat([0, 1], [7, 3]).astype(np.uint8)
    packed = np.zeros((10, 3), dtype=np.uint8)
    for feature in range(20):
        packed[:, feature // 8] |= (bits[:, feature] << (7 - feature % 8)).astype(np.uint8)
    table = tabular.Table(10, 20, 3, np.uint8, np.float32, content_hash(packed, y), packed=True)
    monkeypatch.setitem(tabular.TABLES, "hiv_ecfp4", table)
    write_npz(tmp_path / "d", "hiv_ecfp4.npz", {"X_packed": packed, "y": y})
    X, _ = load_tabular("hiv_ecfp4", tmp_path / "d")
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X, bits)


@pytest.mark.parametrize("name", tabular.TABLES)
def test_a_missing_table_names_the_places_and_the_source(name, elsewhere, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        load_tabular(name, tmp_path)
    message = str(caught.value)
    assert f"{name!r} was not found" in message and f"path ({tmp_path}): holds none" in message
    assert "To get it: " in message and "https://" in message and f"{name}.npz" in message


def test_an_unknown_table_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"'iris'; choose one of \['hiv_ecfp4', 'htru2', 'mammography', 'sylva'\]"):
        load_tabular("iris")


def changed(array, place, value):
    """Copy an array with one entry set."""
    array = array.copy()
    array[place] = value
    return array


SPOILT_TABLES = {
    "cut short": (
        lambda folder, arrays: (file := spots_npz(folder, arrays)).write_bytes(file.read_bytes()[:-100]),
        r"mammography\.npz cannot be read: it is not a complete",
    ),
    "without labels": (
        lambda folder, arrays: spots_npz(folder, {"X": arrays["X"]}),
        r"mammography\.npz lacks the arrays \['y'\]",
    ),
    "of another table": (
        lambda folder, arrays: write_npz(folder, "mammography.npz", {"X_packed": arrays["X"], "y": arrays["y"]}),
        r"mammography\.npz lacks the arrays \['X'\]",
    ),
    "in double precision": (
        lambda folder, arrays: spots_npz(folder, arrays | {"X": arrays["X"].astype(float)}),
        r"mammography\.npz: X has shape \(12, 6\) and dtype float64, .*expected X \(12, 6\) float32.*openml",
    ),
    "a column less": (
        lambda folder, arrays: spots_npz(folder, arrays | {"X": arrays["X"][:, 1:]}),
        r"X has shape \(12, 5\)",
    ),
    "a label less": (
        lambda folder, arrays: spots_npz(folder, arrays | {"y": arrays["y"][1:]}),
        r"y has shape \(11,\); expected .* y \(12,\)",
    ),
    "a label of 2": (
        lambda folder, arrays: spots_npz(folder, arrays | {"y": changed(arrays["y"], 0, 2)}),
        r"mammography\.npz: the labels must be 1 for positives and 0",
    ),
    "labels in words": (
        lambda folder, arrays: spots_npz(folder, arrays | {"y": arrays["y"].astype(str)}),
        r"mammography\.npz: the labels must be 1",
    ),
    "a positive more": (
        lambda folder, arrays: spots_npz(folder, arrays | {"y": changed(arrays["y"], 0, 1)}),
        r"mammography\.npz: 4 samples are positive; expected 3 of 12.*openml",
    ),
    "a value changed": (
        lambda folder, arrays: spots_npz(folder, arrays | {"X": changed(arrays["X"], (5, 2), 0.25)}),
        r"mammography\.npz: .*content hashes to [0-9a-f]{64}, expected [0-9a-f]{64}.*openml",
    ),
    "rows in another order": (
        lambda folder, arrays: spots_npz(folder, {name: array[::-1] for name, array in arrays.items()}),
        "content hash",
    ),
    "text a column less": (
        lambda folder, arrays: spots_csv(folder, arrays | {"X": arrays["X"][:, 1:]}),
        r"mammography\.csv cannot be read: lines hold 6 numbers between commas, expected 7",
    ),
    "text a line less": (
        lambda folder, arrays: spots_csv(folder, {name: array[:-1] for name, array in arrays.items()}),
        r"mammography\.csv: X has shape \(11, 6\)",
    ),
    "text with a value changed": (
        lambda folder, arrays: spots_csv(folder, arrays | {"X": changed(arrays["X"], (5, 2), 0.25)}),
        r"mammography\.csv: .*content hash",
    ),
    "text with a label of 3": (
        lambda folder, arrays: write_lines(folder, "mammography.csv", ["0,0,0,0,0,0,3"] * 12),
        r"mammography\.csv: the labels must be 1",
    ),
}


@pytest.mark.parametrize("case", SPOILT_TABLES)
def test_a_table_that_is_not_the_genuine_one_is_refused(spots, tmp_path, case):
    write, message = SPOILT_TABLES[case]
    write(tmp_path / "d", spots)
    with pytest.raises(ValueError, match=message):
        load_tabular("mammography", tmp_path / "d")


def test_tables_are_never_unpickled(spots, tmp_path):
    trace = tmp_path / "trace"
    pickle.loads(pickle.dumps(Bomb(trace)))  # the bomb works
    trace.unlink()
    spots_npz(tmp_path / "d", spots | {"y": np.array([Bomb(trace)] * 12, dtype=object)})
    with pytest.raises(ValueError, match=r"mammography\.npz cannot be read"):
        load_tabular("mammography", tmp_path / "d")
    assert not trace.exists()


def test_scripts_load_a_table_by_its_name(spots, tmp_path):
    spots_npz(tmp_path / "d", spots)
    bunch = load("mammography", tmp_path / "d")
    assert bunch.data.shape == (12, 6) and bunch.content_hash == tabular.TABLES["mammography"].content


@pytest.mark.parametrize("name", tabular.TABLES)
def test_each_loader_of_the_registry_loads_its_own_table(name, monkeypatch):
    monkeypatch.setattr(tabular, "load_tabular", lambda *arguments: arguments)
    assert REGISTRY[name].loader("folder", return_X_y=False) == (name, "folder", False)
    assert REGISTRY[name].loader() == (name, None, True)


# --------------------------------------------------------------------------- the files of Qi et al.

POSITIVE, RANDOM = "dipsPosPair.feature", "dipsRandpairSub23w.feature"


@pytest.fixture
def interactions(monkeypatch, elsewhere):
    """Expect few pairs, and make such: text of the features of each, 85 of them complete, and which these are."""
    monkeypatch.setattr(protein_pairs, "EXPECTED", protein_pairs.Expected(6, 9, 85))
    rng = np.random.RandomState(0)
    words = np.array([f"{value:.4f}" for value in rng.normal(size=15 * 162)], dtype="U8").reshape(15, 162)
    words[:, 20:97] = rng.randint(0, 2, (15, 77)).astype(str)
    complete = np.sort(rng.choice(162, 85, replace=False))
    for column in np.setdiff1d(np.arange(162), complete):
        words[rng.choice(15, rng.randint(1, 9), replace=False), column] = "-100"
    return words, complete


def write_pairs(folder, words, n_positive=6, labels=(1, 0)):
    """Write both files as the authors' programs do: the values and then the class, between commas."""
    for name, label, part in zip((POSITIVE, RANDOM), labels, (words[:n_positive], words[n_positive:]), strict=True):
        write_lines(folder, name, [",".join([*row, str(label)]) for row in part])
    return folder / POSITIVE


@pytest.mark.parametrize("sub", ["", "protein_pairs"])
def test_pairs_keep_the_complete_features(interactions, tmp_path, sub):
    words, complete = interactions
    file = write_pairs(tmp_path / "d" / sub, words)
    X, y = load_protein_pairs(tmp_path / "d")
    assert X.dtype == np.float64 and y.dtype == np.int64 and y.tolist() == [1] * 6 + [0] * 9
    np.testing.assert_array_equal(X, words[:, complete].astype(float))
    bunch = load_protein_pairs(file, return_X_y=False)
    assert bunch.columns.tolist() == (complete + 1).tolist()
    assert bunch.content_hash == content_hash(X, y) and "were not available" in bunch.DESCR
    np.testing.assert_array_equal(bunch.data, X)


@pytest.mark.parametrize("row", [0, 14], ids=["positive", "random"])
def test_a_value_missing_in_either_file_makes_a_feature_incomplete(interactions, tmp_path, row):
    words, complete = interactions
    words[row, complete[3]] = "-100.0"
    write_pairs(tmp_path / "d", words)
    with pytest.raises(ValueError, match=r"feature and .*feature: 84 of the 162 .* \(-100\); expected 85.*assumed"):
        load_protein_pairs(tmp_path / "d")


def test_pairs_refuse_other_counts_and_classes(interactions, tmp_path):
    words, _ = interactions
    write_pairs(tmp_path / "d", words, n_positive=5)
    with pytest.raises(ValueError, match=r"dipsPosPair\.feature holds 5 pairs; expected 6.*qyj"):
        load_protein_pairs(tmp_path / "d")
    write_pairs(tmp_path / "d", words[:-2])
    with pytest.raises(ValueError, match=r"dipsRandpairSub23w\.feature holds 7 pairs; expected 9.*qyj"):
        load_protein_pairs(tmp_path / "d")
    write_pairs(tmp_path / "d", words, labels=(1, 1))
    with pytest.raises(ValueError, match=r"dipsRandpairSub23w\.feature: the last number .* here 0 .*got \[1\.\]"):
        load_protein_pairs(tmp_path / "d")


def test_pairs_name_a_damaged_or_missing_file(interactions, tmp_path):
    words, _ = interactions
    file = write_pairs(tmp_path / "d", words)
    (tmp_path / "d" / RANDOM).write_text((tmp_path / "d" / RANDOM).read_text()[:-40])
    with pytest.raises(ValueError, match=r"dipsRandpairSub23w\.feature cannot be read"):
        load_protein_pairs(tmp_path / "d")
    write_pairs(tmp_path / "d", words[:, 1:])
    with pytest.raises(ValueError, match=r"dipsPosPair\.feature .* lines hold 162 numbers .* expected 163"):
        load_protein_pairs(tmp_path / "d")
    (tmp_path / "d" / RANDOM).unlink()
    with pytest.raises(FileNotFoundError, match=rf"has {POSITIVE} without {RANDOM}(.|\n)*feature-download\.html"):
        load_protein_pairs(file)


def test_the_counts_are_the_papers():
    expected = protein_pairs.EXPECTED
    assert (expected.n_positive, expected.n_negative, expected.n_complete) == (2865, 237384, 85)
    assert yeast_pairs.EXPECTED.n_drawn == (2865, 237384)


# --------------------------------------------------------------------------------------- substitute


@pytest.fixture
def yeast(monkeypatch, elsewhere):
    """Declare a small fabricated archive to be the genuine one, of which 4 positives and 12 negatives are drawn."""
    rng = np.random.RandomState(0)
    first, second = np.triu_indices(8, 1)
    y = (np.arange(28) % 3 == 0).astype(np.uint8)
    arrays = {
        "X": rng.normal(size=(28, 3)).astype(np.float16),
        "y": y,
        "feature_names": np.array(["STRING", "TOPO", "N_PUBS"]),
        "pair_u": first.astype(np.int16),
        "pair_v": second.astype(np.int16),
        "genes": np.array([f"YAL{number:03d}W" for number in range(8)]),
        "expr_z": rng.normal(size=(8, 5)).astype(np.float16),
        "cyc2008_complex": (y * rng.randint(1, 4, 28)).astype(np.int16),
    }
    content = content_hash(*(arrays[name] for name in yeast_pairs.ARRAYS))
    monkeypatch.setattr(yeast_pairs, "EXPECTED", yeast_pairs.Expected(28, int(y.sum()), (4, 12), content))
    return arrays


def write_yeast(folder, arrays):
    return write_npz(folder, "yeast_pairs.npz", arrays)


@pytest.mark.parametrize("sub", ["", "protein_pairs"])
def test_yeast_pairs_are_rows_of_the_file_with_exact_products(yeast, tmp_path, sub):
    write_yeast(tmp_path / "d" / sub, yeast)
    bunch = load_yeast_pairs(tmp_path / "d", return_X_y=False)
    X, y, groups = load_yeast_pairs(tmp_path / "d")
    assert X.shape == (16, 8) and X.dtype == np.float32 and y.sum() == 4
    rows = [np.flatnonzero((yeast["pair_u"] == u) & (yeast["pair_v"] == v)).item() for u, v in bunch.pairs]
    assert rows == sorted(set(rows))  # without replacement, in the order of the file
    np.testing.assert_array_equal(y, yeast["y"][rows])
    np.testing.assert_array_equal(groups, yeast["cyc2008_complex"][rows])
    for row, values in zip(rows, X, strict=True):
        u, v = yeast["expr_z"][[yeast["pair_u"][row], yeast["pair_v"][row]]].astype(float)
        assert values.tolist() == [*yeast["X"][row].astype(float), *(u * v)]
    assert bunch.feature_names == ["STRING", "TOPO", "N_PUBS", *(f"EXPR_PRODUCT_{time}" for time in range(1, 6))]
    assert bunch.content_hash == content_hash(X, y, groups) and "never beside" in bunch.DESCR
    assert bunch.genes.tolist() == yeast["genes"].tolist()


def test_yeast_pairs_are_drawn_by_seed(yeast, tmp_path):
    file = write_yeast(tmp_path / "d", yeast)
    first, again, other = (load_yeast_pairs(file, return_X_y=False, random_state=seed) for seed in (0, 0, 1))
    assert first.content_hash == again.content_hash != other.content_hash
    np.testing.assert_array_equal(first.pairs, load_yeast_pairs(file, return_X_y=False).pairs)
    stream = np.random.RandomState(1)
    np.testing.assert_array_equal(load_yeast_pairs(file, return_X_y=False, random_state=stream).pairs, other.pairs)


SPOILT_YEAST = {
    "an array missing": (
        lambda arrays: {name: array for name, array in arrays.items() if name != "expr_z"},
        r"lacks the arrays \['expr_z'\]",
    ),
    "a pair less": (
        lambda arrays: {name: array[:-1] for name, array in arrays.items()},
        r"y has 27 pairs, \d+ of them positive; expected 28 and \d+.*put together",
    ),
    "another label": (
        lambda arrays: arrays | {"y": changed(arrays["y"], 1, 1)},
        r"y has 28 pairs, 11 of them positive; expected 28 and 10",
    ),
    **{
        f"{name} changed": (lambda arrays, name=name: arrays | {name: arrays[name][::-1]}, "content hashes to")
        for name in ("X", "feature_names", "pair_u", "genes", "expr_z", "cyc2008_complex")
    },
}


@pytest.mark.parametrize("case", SPOILT_YEAST)
def test_an_archive_that_is_not_the_genuine_one_is_refused(yeast, tmp_path, case):
    spoil, message = SPOILT_YEAST[case]
    write_yeast(tmp_path / "d", spoil(yeast))
    with pytest.raises(ValueError, match=rf"yeast_pairs\.npz:? .*{message}"):
        load_yeast_pairs(tmp_path / "d")


def test_the_substitute_has_a_name_of_its_own(yeast, tmp_path):
    """It never replaces the paper's set silently."""
    write_yeast(tmp_path / "d", yeast)
    assert load("yeast_pairs", tmp_path / "d").data.shape == (16, 8)
    found, (miss,) = available(["protein_pairs"], tmp_path / "d")
    assert found == {} and "dipsPosPair" in miss


# -------------------------------------------------------------------------------------- real files


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs("tabular", f"{name}.npz")) for name in tabular.TABLES])
def test_real_tables(name):
    bunch = REGISTRY[name].loader(return_X_y=False)
    table = tabular.TABLES[name]
    assert bunch.data.shape == (table.n_samples, table.n_features) and bunch.data.dtype == table.returned
    assert bunch.target.sum() == table.n_positive and set(bunch.target.tolist()) == {0, 1}
    assert np.isfinite(bunch.data).all()


@needs("tabular", "sylva.npz")
def test_real_sylva_has_the_published_check_sum():
    assert load_tabular("sylva")[0].sum() == 238271607


@needs("tabular", "htru2.npz")
def test_real_htru2_starts_as_the_public_file():
    first = [140.5625, 55.68378214, -0.234571412, -0.699648398, 3.199832776, 19.11042633, 7.975531794, 74.24222492]
    assert load_tabular("htru2")[0][0].tolist() == np.array(first, dtype=np.float32).tolist()


@needs("protein_pairs", "yeast_pairs.npz")
def test_real_yeast_pairs():
    bunch = load_yeast_pairs(return_X_y=False)
    y, groups = bunch.target, bunch.groups
    assert bunch.data.shape == (240249, 52) and np.bincount(y).tolist() == [237384, 2865]
    np.testing.assert_array_equal(groups != 0, y == 1)
    assert bunch.content_hash == "ef90b11e580aa94fdf8600f885ab9ec6103961ecc36b767a6760ef77a8c10cac"
    pearson = bunch.data[:, bunch.feature_names.index("COEXP_PEARSON")]
    np.testing.assert_allclose(bunch.data[:, 16:].mean(axis=1), pearson, atol=1e-3)  # both in half precision


@needs("protein_pairs", "yeast_pairs.npz")
def test_real_yeast_pairs_are_as_the_docstring_says(monkeypatch):
    def joined(bunch):
        """Share of the negatives that join two proteins which occur in positives."""
        occurs = np.isin(bunch.pairs, bunch.pairs[bunch.target == 1])
        return occurs[bunch.target == 0].all(axis=1).mean()

    drawn = load_yeast_pairs(return_X_y=False)
    assert round(joined(drawn), 2) == 0.12
    monkeypatch.setattr(yeast_pairs, "EXPECTED", replace(yeast_pairs.EXPECTED, n_drawn=(9350, 338874)))
    whole = load_yeast_pairs(return_X_y=False)
    assert round(joined(whole), 2) == 0.20
    for bunch in (drawn, whole):
        shares = np.sort(np.bincount(bunch.groups[bunch.target == 1]) / bunch.target.sum())[::-1]
        assert shares[:3].round(2).tolist() in ([0.26, 0.13, 0.07], [0.26, 0.12, 0.07]) and shares[3] < 0.05


@pytest.mark.parametrize(
    "module",
    [
        pytest.param("paucens.datasets.tabular", marks=needs("tabular", "htru2.npz")),
        pytest.param("paucens.datasets.yeast_pairs", marks=needs("protein_pairs", "yeast_pairs.npz")),
        "paucens.datasets.protein_pairs",
    ],
)
def test_examples_in_docstrings(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0 and result.failed == 0
