"""The image sets: small fabricated ones declared genuine, everything that can be wrong with them, the real ones."""

import base64
import doctest
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from paucens.datasets import content_hash, faces, load_faces, load_scene15, scene15
from paucens.images import read_grey

DATA = Path(os.environ.get("PAUCENS_DATA", "nowhere"))
needs_scenes = pytest.mark.skipif(not (DATA / "scene15").is_dir(), reason="scene15/ is not in $PAUCENS_DATA")
needs_faces = pytest.mark.skipif(
    not ((DATA / "faces").is_dir() and (DATA / "INRIAPerson").is_dir()),
    reason="faces/ and INRIAPerson/ are not in $PAUCENS_DATA",
)


@pytest.fixture(autouse=True)
def no_other_place(request, monkeypatch, tmp_path):
    """Nothing but the fabricated files is in any place of the look-up."""
    if "real" not in request.node.name:
        monkeypatch.delenv("PAUCENS_DATA", raising=False)
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")


def save(path, pixels, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)


# ---------------------------------------------------------------------------------------- scenes


@pytest.fixture
def scenes(monkeypatch, tmp_path):
    """Write two images a scene, a third for the last, and declare them to be the genuine set."""
    counts = dict.fromkeys(scene15.COUNTS, 2) | {"store": 3}
    rng = np.random.RandomState(0)
    files = [
        tmp_path / "d" / "scene15" / name / f"image_{number:04d}.jpg"
        for name, count in counts.items()
        for number in range(1, count + 1)
    ]
    for file in files:
        save(file, rng.randint(256, size=(16, 24)).astype(np.uint8))
    digests = [content_hash(read_grey(file)) for file in files]
    names = [f"{file.parent.name}/{file.name}" for file in files]
    monkeypatch.setattr(scene15, "COUNTS", counts)
    monkeypatch.setattr(scene15._scene15, "CONTENT", content_hash(names, digests))
    first_bytes = bytes(int(digest[:2], 16) for digest in digests)
    monkeypatch.setattr(scene15._scene15, "FIRST_BYTES", base64.b85encode(first_bytes).decode())
    return tmp_path / "d"


def test_scenes_are_indoor_or_outdoor(scenes):
    X, y = load_scene15(scenes)
    bunch = load_scene15(scenes / "scene15", return_X_y=False)
    assert X.shape == y.shape == (31,) and y.dtype == np.int64
    np.testing.assert_array_equal(X, bunch.data)
    np.testing.assert_array_equal([Path(file).parent.name for file in X], np.array(bunch.scene_names)[bunch.scene])
    indoor = {name for name, label in zip(np.array(bunch.scene_names)[bunch.scene], y, strict=True) if label}
    assert indoor == {"bedroom", "kitchen", "livingroom", "PARoffice", "store"}
    assert [Path(file).name for file in X[-3:]] == ["image_0001.jpg", "image_0002.jpg", "image_0003.jpg"]
    assert bunch.content_hash == scene15._scene15.CONTENT and "indoor (1245" in bunch.DESCR


def test_other_bytes_of_the_same_pixels_are_genuine(scenes):
    file = scenes / "scene15" / "store" / "image_0002.jpg"
    start, rest = file.read_bytes()[:2], file.read_bytes()[2:]
    file.write_bytes(start + b"\xff\xfe\x00\x04hi" + rest)  # a comment
    assert load_scene15(scenes, return_X_y=False).content_hash == scene15._scene15.CONTENT
    (file.parent / "Thumbs.db").write_bytes(b"no image, so it is passed over")
    load_scene15(scenes)


def other_pixels(file):
    pixels = read_grey(file)
    save(file, 255 - pixels)


SPOILT_SCENES = {
    "missing": (lambda file: file.unlink(), r"store lacks image_0002\.jpg; expected 3 images, .*Get the set again"),
    "renamed": (lambda file: file.rename(file.with_stem("image_0009")), r"store lacks image_0002\.jpg"),
    "one too many": (
        lambda file: save(file.with_stem("extra"), np.zeros((8, 8), np.uint8)),
        r"store has, as files that do not belong there, extra\.jpg; expected 3 images",
    ),
    "cut short": (lambda file: file.write_bytes(file.read_bytes()[:-90]), r"image_0002\.jpg cannot be read"),
    "a web page": (lambda file: file.write_text("<html>"), r"image_0002\.jpg cannot be read.*no known format"),
    "other pixels": (
        other_pixels,
        r"pixels of \S+store.image_0002\.jpg are not those.*hashes to [0-9a-f]{64}, expected .*scene_categories",
    ),
}


@pytest.mark.parametrize("case", SPOILT_SCENES)
def test_spoilt_scenes_are_named(scenes, case):
    spoil, message = SPOILT_SCENES[case]
    spoil(scenes / "scene15" / "store" / "image_0002.jpg")
    with pytest.raises(ValueError, match=message):
        load_scene15(scenes)


def test_swapped_scenes_are_named(scenes):
    first, second = (scenes / "scene15" / "kitchen" / f"image_000{number}.jpg" for number in (1, 2))
    third = first.with_stem("third")
    first.rename(third), second.rename(first), third.rename(second)
    with pytest.raises(ValueError, match=r"kitchen.image_0001\.jpg, \S+kitchen.image_0002\.jpg are not"):
        load_scene15(scenes)


def test_missing_scenes_say_where_to_get_them(scenes, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"'scene15' was not found(?s:.)*scene_categories\.zip"):
        load_scene15(tmp_path / "elsewhere")
    for file in (scenes / "scene15" / "kitchen").iterdir():
        file.unlink()
    (scenes / "scene15" / "kitchen").rmdir()
    with pytest.raises(FileNotFoundError, match="without kitchen"):
        load_scene15(scenes)


# ----------------------------------------------------------------------------------------- faces


@pytest.fixture
def people(monkeypatch, tmp_path):
    """Write five faces and five photographs, and declare them to be the genuine set, with 40 patches."""
    rng = np.random.RandomState(0)
    images = rng.randint(256, size=(5, 24, 24)).astype(np.uint8)
    (tmp_path / "d" / "faces").mkdir(parents=True)
    np.savez(tmp_path / "d" / "faces" / "viola_faces_24x24.npz", faces=images)
    monkeypatch.setattr(faces, "CONTENT", content_hash(images))
    monkeypatch.setattr(faces, "N_NEGATIVES", {"Train/neg": 3, "Test/neg": 2})
    monkeypatch.setattr(faces, "N_PATCHES", 40)
    names = ["Train/neg/b.png", "Train/neg/a.webp", "Train/neg/c.png", "Test/neg/a.png", "Test/neg/z.png"]
    for k, name in enumerate(names):
        pixels = rng.randint(256, size=(30 + 10 * k, 50, 3)).astype(np.uint8)
        save(tmp_path / "d" / "INRIAPerson" / name, pixels, **({"lossless": True} if "webp" in name else {}))
    return tmp_path / "d"


def average(square):
    """The mean over each of 24 x 24 areas, of pixels cut into 24 x 24; a half rounded up."""
    side = len(square)
    fine = np.repeat(np.repeat(square.astype(int), 24, axis=0), 24, axis=1)
    sums = fine.reshape(24, side, 24, side).sum(axis=(1, 3))
    return np.floor(sums / side**2 + 0.5)


@given(seed=st.integers(0, 2**32 - 1), side=st.integers(24, 60), levels=st.sampled_from([1, 2, 256]))
@settings(deadline=None, max_examples=15, derandomize=True)
def test_shrink_averages_over_areas(seed, side, levels):
    square = 255 - np.random.RandomState(seed).randint(levels, size=(side, side)).astype(np.uint8)
    np.testing.assert_array_equal(faces.shrink(square), average(square))


def test_faces_then_patches_of_their_boxes(people):
    bunch = load_faces(people, return_X_y=False)
    assert bunch.data.shape == (45, 576) and bunch.data.dtype == np.float64
    assert bunch.target.tolist() == [1] * 5 + [0] * 40
    with np.load(people / "faces" / "viola_faces_24x24.npz") as archive:
        np.testing.assert_array_equal(bunch.data[:5], archive["faces"].reshape(5, 576))
    for (x, y, side), file, patch in zip(bunch.boxes, bunch.filenames, bunch.data[5:], strict=True):
        grey = read_grey(file)
        assert side >= 24 and min(x, y) >= 0 and x + side <= grey.shape[1] and y + side <= grey.shape[0]
        np.testing.assert_array_equal(patch.reshape(24, 24), average(grey[y : y + side, x : x + side]))
    assert len(set(bunch.filenames)) == 5 and len(set(map(tuple, bunch.boxes))) > 30
    X, y = load_faces(people)
    np.testing.assert_array_equal(X, bunch.data)
    np.testing.assert_array_equal(y, bunch.target)


def test_patches_come_by_seed(people):
    first, again, other = (load_faces(people, random_state=seed)[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)
    stream = load_faces(people, random_state=np.random.RandomState(1))[0]
    np.testing.assert_array_equal(stream, other)


def test_another_copy_of_the_photographs_is_cut_at_the_same_places(people):
    before = load_faces(people, return_X_y=False)
    for file in sorted((people / "INRIAPerson").rglob("*.*")):
        with Image.open(file) as image:
            image.save(file.with_suffix(".jpg"), quality=90)
        file.unlink()
    after = load_faces(people, return_X_y=False)
    np.testing.assert_array_equal(after.boxes, before.boxes)
    assert [Path(file).stem for file in after.filenames] == [Path(file).stem for file in before.filenames]
    assert after.content_hash != before.content_hash


def test_a_stale_orientation_turns_no_photograph(people):
    """Seven photographs of INRIA are stored upright and have an EXIF orientation all the same."""
    before = load_faces(people, return_X_y=False)
    exif = Image.Exif()
    exif[0x0112] = 6
    for file in (people / "INRIAPerson").rglob("*.png"):
        with Image.open(file) as image:
            image.save(file, exif=exif)
    after = load_faces(people, return_X_y=False)
    assert after.content_hash == before.content_hash


@pytest.mark.parametrize("name", ["._c.png", ".DS_Store", "readme.png"])
def test_files_of_other_systems_are_no_photographs(people, scenes, name):
    before = load_faces(people, return_X_y=False)
    (people / "INRIAPerson" / "Test" / "neg" / name).write_bytes(b"Mac OS X")
    assert load_faces(people, return_X_y=False).content_hash == before.content_hash
    (scenes / "scene15" / "store" / "._image_0001.jpg").write_bytes(b"Mac OS X")
    assert len(load_scene15(scenes)[0]) == 31
    save(people / "INRIAPerson" / "Test" / "neg" / "more.png", np.zeros((30, 30), np.uint8))
    with pytest.raises(ValueError, match="or remove what is not of the set"):
        load_faces(people)


def test_sides_and_places_cover_their_range():
    last = np.nextafter(1, 0)
    assert faces._box((30, 50), [0, 0, 0]) == (0, 0, 24)
    assert faces._box((30, 50), [last, last, last]) == (20, 0, 30)
    assert faces._box((50, 30), [0, last, last]) == (6, 26, 24)
    assert faces._box((24, 24), [last, last, last]) == (0, 0, 24)


def other_faces(folder):
    np.savez(folder / "faces" / "viola_faces_24x24.npz", faces=np.zeros((5, 24, 24), np.uint8))


SPOILT_FACES = {
    "other faces": (
        other_faces,
        r"npz: faces has shape \(5, 24, 24\), dtype uint8 and hashes to .*; expected \(4916, 24, 24\)",
    ),
    "faces cut short": (
        lambda folder: (folder / "faces" / "viola_faces_24x24.npz").write_bytes(b"PK"),
        r"viola_faces_24x24\.npz cannot be read",
    ),
    "a photograph missing": (
        lambda folder: (folder / "INRIAPerson" / "Train" / "neg" / "c.png").unlink(),
        r"neg holds 2 photographs .*; expected 3\. Get them again: INRIAPerson\.tar",
    ),
    "a photograph damaged": (
        lambda folder: (folder / "INRIAPerson" / "Test" / "neg" / "z.png").write_bytes(b"<html>"),
        r"z\.png cannot be read as an image",
    ),
    "a photograph too small": (
        lambda folder: save(folder / "INRIAPerson" / "Test" / "neg" / "z.png", np.zeros((20, 90), np.uint8)),
        r"z\.png has 20 x 90 pixels; a patch needs 24 x 24",
    ),
}


@pytest.mark.parametrize("case", SPOILT_FACES)
def test_spoilt_faces_are_named(people, case):
    spoil, message = SPOILT_FACES[case]
    spoil(people)
    with pytest.raises(ValueError, match=message):
        load_faces(people)


@pytest.mark.parametrize(
    "folder, message",
    [("faces", "'faces' was not found(?s:.)*To get it"), ("INRIAPerson", r"'INRIA photographs(?s:.)*INRIAPerson\.tar")],
)
def test_missing_faces_say_where_to_get_them(people, tmp_path, folder, message):
    (people / folder).rename(tmp_path / "moved")
    with pytest.raises(FileNotFoundError, match=message):
        load_faces(people)


# ------------------------------------------------------------------------------------- real sets


@needs_scenes
@pytest.mark.slow
def test_real_scenes():
    bunch = load_scene15(return_X_y=False)
    assert np.bincount(bunch.scene).tolist() == list(scene15.COUNTS.values())
    assert (len(bunch.data), bunch.target.sum()) == (4485, 1245)
    assert bunch.content_hash == scene15._scene15.CONTENT
    assert doctest.testmod(scene15).failed == 0


@needs_faces
@pytest.mark.slow
def test_real_faces():
    X, y = load_faces()
    assert X.shape == (9916, 576) and y.sum() == 4916
    assert len(np.unique(X[:4916], axis=0)) == 4891
    values = np.linalg.eigvalsh(np.cov(X[::2].T))
    kept = np.cumsum(values[::-1]) / values.sum()
    assert 88 <= 1 + np.sum(kept < 0.95) <= 98  # 93 in the paper
    assert doctest.testmod(faces).failed == 0
