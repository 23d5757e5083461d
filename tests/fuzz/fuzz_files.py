"""Random damage to model files: whatever a file holds, `load` returns a model that scores, or names the file.

python tests/fuzz/fuzz_files.py [number of inputs] [seed]
"""

import contextlib
import functools
import io
import json
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from tiny_detector import tiny_detector

from paucens import AdaBoostClassifier, FPRThresholdClassifier, Linear, LinearPAUCSVC, PAUCEnsClassifier, Tree
from paucens.detector import PedestrianDetector
from paucens.persistence.arrays import decode

try:
    import resource
except ImportError:  # not a POSIX system: memory is not limited
    resource = None

FOLDER = tempfile.TemporaryDirectory()  # for a file at a time
MOST_BYTES = 300_000_000  # of memory that loading may take
MOST_FEATURES = 100  # of a model that is scored
NUMBERS = [0, -1, 1, 2, 7, 255, 256, 2**31 - 1, 2**31, -(2**63), 2**63, 10**30, 10**400]
NUMBERS += [0.5, -0.5, 1e300, -1e308, 5e-324]
VALUES = [*NUMBERS, None, True, False, "", "x", "1e999", [], [1], [[0, 0.1]], {}, {"float": "nan"}, {"float": "inf"}]
VALUES += [{"array": "float64", "shape": [2], "values": [0, 0.5]}, {"scalar": "int8", "value": 300}, {"list": [0, 0.2]}]
SHAPES = ["()", "(1,)", "(0,)", "(3, 1)", "(1000000000000,)", "(0, 99999999999999999)", "(-1,)", "(1,", "(" * 200]
TYPES = ["<f8", "<f4", "<f2", "<i8", "<i4", "|u1", "|b1", "<U1", "<U999999999"]
TYPES += ["|O", "<M8[s]", ">f8", "<c16", "|V8", "<f3"]


# -- valid files -----------------------------------------------------------------------------------


@functools.cache
def valid_files(folder):
    """Write small models; return their classes and the bytes of their files."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=40) > 0.5, "yes", "no")
    named = AdaBoostClassifier(learner=Linear(), n_estimators=3).fit(X, y.astype(object))
    named.feature_names_in_ = np.array(["a", "b", "ä"], dtype=object)
    models = [
        PAUCEnsClassifier((0, 0.5), learner=Tree(depth=2, leaves="real"), n_estimators=4, nu=1.0).fit(X, y == "yes"),
        named,
        LinearPAUCSVC(np.array([0, 0.5])).fit(X, y),
        FPRThresholdClassifier(named, 0.2, confidence=None, random_state=0).fit(X, y),
        replace(tiny_detector(), threshold=-np.inf),
    ]
    files = []
    for model in models:
        model.save(folder / "valid.npz")
        files.append((type(model), (folder / "valid.npz").read_bytes()))
    return files


# -- damage ----------------------------------------------------------------------------------------


def damaged(content, rng):
    """Return the bytes of a file after one or two kinds of damage."""
    for _ in range(rng.integers(1, 3)):
        kind = [change_bytes, change_directory, change_entry, change_header, change_array, change_json][rng.integers(6)]
        with contextlib.suppress(Exception):  # what is no archive or array any more cannot be changed as one
            content = kind(content, rng)
    return content


def change_bytes(content, rng):
    """Change some bytes, or cut the file short."""
    if rng.random() < 0.2:
        return content[: rng.integers(len(content))]
    changed = bytearray(content)
    for place in rng.integers(len(content), size=rng.integers(1, 5)):
        changed[place] = rng.integers(256)
    return bytes(changed)


def change_directory(content, rng):
    """Change bytes of the directory at the end, where sizes and methods are."""
    changed, start = bytearray(content), content.rfind(b"PK\x01\x02")
    for place in rng.integers(max(start, 0), len(content), size=2):
        changed[place] = rng.integers(256)
    return bytes(changed)


def change_entry(content, rng):
    """Leave out an entry, replace it by zeros, or pack it in another way."""
    entries = entries_of(content)
    name = choice(sorted(entries), rng)
    match rng.integers(4):
        case 0:
            del entries[name]
        case 1:
            entries[name] = bytes(1_000_000)
        case 2:
            entries[name] = entries[name][: rng.integers(len(entries[name]))]
        case 3:
            return archive_of(entries, choice([zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_STORED], rng))
    return archive_of(entries)


def change_header(content, rng):
    """Change the header of an array: its type, its shape or any byte."""
    entries = entries_of(content)
    name = choice([name for name in entries if name.endswith(".npy")], rng)
    raw = entries[name]
    match rng.integers(3):
        case 0:
            dtype, shape = choice(TYPES, rng), choice(SHAPES, rng)
            text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
            raw = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + raw[128:]
        case 1:
            place = rng.integers(min(128, len(raw)))
            raw = raw[:place] + bytes([rng.integers(256)]) + raw[place + 1 :]
        case 2:
            raw = raw[:128] + rng.bytes(max(0, len(raw) - 128))
    return archive_of(entries | {name: raw})


def change_array(content, rng):
    """Change a number, the type or the shape of an array."""
    entries = entries_of(content)
    name = choice([name for name in entries if name.endswith(".npy")], rng)
    array = decode(entries[name])
    match rng.integers(4):
        case 0 if array.size:
            with np.errstate(all="ignore"), contextlib.suppress(OverflowError):
                array.flat[rng.integers(array.size)] = choice([*NUMBERS, np.nan, np.inf, -np.inf], rng)
        case 1:
            array = array.astype(choice(["f8", "f4", "f2", "i8", "i4", "u1", "?", "U4", "c16"], rng))
        case 2:
            array = choice([array[..., None], array[:0], array[::-1], np.append(array, array)], rng)
        case 3 if array.size:
            rng.shuffle(array.reshape(-1))
    buffer = io.BytesIO()
    np.save(buffer, array)
    return archive_of(entries | {name: buffer.getvalue()})


def change_json(content, rng):
    """Replace or remove a value anywhere in the header."""
    entries = entries_of(content)
    header = json.loads(entries["header.json"])
    node, key = choice(list(places_in(header)), rng)
    if rng.random() < 0.2:
        del node[key]
    else:
        node[key] = choice(VALUES, rng)
    return archive_of(entries | {"header.json": json.dumps(header).encode()})


def places_in(node):
    """Yield every (container, key) of a JSON value."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], dict | list):
            yield from places_in(node[key])


def entries_of(content):
    """Return the entries of an archive by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(entries, method=zipfile.ZIP_DEFLATED):
    """Return an archive of named bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def choice(options, rng):
    """Return one of some options of any type."""
    return options[rng.integers(len(options))]


# -- what must hold --------------------------------------------------------------------------------


def run(n_inputs, seed):
    """Load damaged files; raise AssertionError at the first that breaks the rule.

    Parameters
    ----------
    n_inputs, seed : int

    Returns
    -------
    counts : Counter
        How many files were refused, and how many were loaded and scored.
    """
    return Counter(check(seed, k) for k in range(n_inputs))


def check(seed, k):
    """Load input k of a seed; tell whether it was refused or loaded, or raise AssertionError."""
    rng, path = np.random.default_rng([seed, k]), Path(FOLDER.name) / "damaged.npz"
    kind, content = choice(valid_files(Path(FOLDER.name)), rng)
    path.write_bytes(damaged(content, rng))
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            return outcome(kind, path)
    except Exception as error:
        raise AssertionError(f"seed {seed}, input {k}, a {kind.__name__}: {error!r}") from error


def outcome(kind, path):
    """Load a file and score with it; tell whether it was refused or loaded."""
    try:
        with limited_memory():
            model = kind.load(path)
    except ValueError as error:
        assert str(path) in str(error), f"the file is not named: {error}"
        return "refused"
    assert np.isfinite(scores_of(model)).all()
    return "loaded"


def scores_of(model):
    """Return scores of random samples, or the boxes in a random image."""
    rng = np.random.default_rng(0)
    if isinstance(model, PedestrianDetector):
        return model.detect(rng.integers(256, size=(32, 24, 3)).astype(np.uint8))
    if model.n_features_in_ > MOST_FEATURES:
        return np.zeros(1)
    X = rng.normal(size=(5, model.n_features_in_))
    assert set(model.predict(X).tolist()) <= set(model.classes_.tolist())
    return model.decision_function(X)


@contextlib.contextmanager
def limited_memory():
    """Let the process allocate at most `MOST_BYTES` more than it holds, where that can be limited."""
    sizes = Path("/proc/self/statm")
    if resource is None or not sizes.exists():
        yield
        return
    held = int(sizes.read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (held + MOST_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


if __name__ == "__main__":
    print(run(*(int(argument) for argument in sys.argv[1:] or ("1000", "0"))))
