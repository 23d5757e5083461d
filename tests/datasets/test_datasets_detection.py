"""Detection sets: small fabricated copies in each form, everything that can be wrong with them, the real ones."""

import doctest
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from paucens.datasets import (
    DetectionRecord,
    eth,
    inria,
    kitti_record,
    load_eth_bahnhof,
    load_inria,
    load_kitti,
    load_penn_fudan,
    load_tud_stadtmitte,
    mot,
    pennfudan,
    read_idl,
    read_kitti,
    read_mot,
    read_pascal,
)
from paucens.images import read_rgb

DATA = Path(os.environ.get("PAUCENS_DATA", "nowhere"))
FOLDERS = {"inria": "INRIAPerson", "eth": "ETH/BAHNHOF", "mot": "TUD-Stadtmitte"}


def needs(name):
    folder = FOLDERS[name]
    return pytest.mark.skipif(not (DATA / folder).is_dir(), reason=f"{folder}/ is not in $PAUCENS_DATA")


@pytest.fixture(autouse=True)
def no_other_place(request, monkeypatch, tmp_path):
    """Nothing but the fabricated files is in any place of the look-up."""
    if "real" not in request.node.name:
        monkeypatch.delenv("PAUCENS_DATA", raising=False)
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="latin-1")
    return path


def draw(path, size=(8, 6)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size).save(path)


# ---------------------------------------------------------------------------------------- records


def test_records_hold_float_boxes_of_four_numbers():
    record = DetectionRecord(Path("a.png"), [[1, 2, 3, 4]], [])
    assert record.boxes.dtype == np.float64 and record.boxes.tolist() == [[1, 2, 3, 4]]
    assert record.ignore.shape == (0, 4) and DetectionRecord(Path("a.png")).boxes.shape == (0, 4)
    DetectionRecord(Path("a.png"), [[-5, -5, 0, 0]])  # outside the image and without area: still a box


@pytest.mark.parametrize(
    ("boxes", "message"),
    [
        ([1, 2, 3, 4], r"boxes of a\.png have shape \(4,\); expected \(k, 4\)"),
        ([[1, 2, 3]], r"shape \(1, 3\)"),
        (
            [[1, 2, 3, 4], [1, 2, -3, 4]],
            r"Row 1 of the boxes of a\.png is \[1\.0, 2\.0, -3\.0, 4\.0\]; expected finite",
        ),
        ([[1, 2, np.nan, 4]], "Row 0 .* w and h at least 0"),
    ],
)
def test_records_refuse_what_is_no_box(boxes, message):
    with pytest.raises(ValueError, match=message):
        DetectionRecord(Path("a.png"), boxes)
    with pytest.raises(ValueError, match="ignore of an image of shape"):
        DetectionRecord(np.zeros((2, 2, 3), np.uint8), ignore=boxes)


# ------------------------------------------------------------------------------------------ PASCAL


def pascal(name, corners, origin=None, count=None):
    """Write an annotation as INRIA does, centres and all, or as Penn-Fudan does, with masks."""
    lines = [
        "# PASCAL Annotation Version 1.00",
        "",
        f'Image filename : "{name}"',
        "Image size (X x Y x C) :  x  x 3",
        'Database : "The INRIA Rhône-Alpes Annotated Person Database"',
        f"Objects with ground truth : {len(corners) if count is None else count} {{ }}",
    ]
    if origin is not None:
        lines.append(f"# Top left pixel co-ordinates : ({origin}, {origin})")
    for number, (left, top, right, bottom) in enumerate(corners, 1):
        lines += [
            "",
            f'# Details for object {number} ("PASperson")',
            f'Original label for object {number} "PASperson" : "UprightPerson"',
            f'Center point on object {number} "PASperson" (X, Y) : (3, 4)',
            f'Bounding box for object {number} "PASperson" (Xmin, Ymin) - (Xmax, Ymax) : ({left}, {top}) - '
            f"({right}, {bottom})",
            f'Pixel mask for object {number} "PASperson" : "PedMasks/a_mask.png"',
        ]
    return "\n".join(lines) + "\n"


BOXES = [(250, 151, 299, 294), (-3, 0, 10, 10)]


@pytest.mark.parametrize(("stated", "default", "first"), [(None, 0, 0), (0, 1, 0), (1, 0, 1), (None, 1, 1)])
def test_pascal_counts_from_where_it_says(tmp_path, stated, default, first):
    annotation = read_pascal(write(tmp_path / "a.txt", pascal("Test/pos/a.png", BOXES, stated)), default)
    assert annotation.image_name == "Test/pos/a.png"
    expected = [[250 - first, 151 - first, 50, 144], [-3 - first, -first, 14, 11]]
    assert annotation.boxes.tolist() == expected and annotation.boxes.dtype == np.float64


def test_pascal_without_objects_or_in_dos_lines(tmp_path):
    assert read_pascal(write(tmp_path / "a.txt", pascal("a.png", []))).boxes.shape == (0, 4)
    assert read_pascal(write(tmp_path / "b.txt", pascal("a.png", BOXES).replace("\n", "\r\n"))).boxes.shape == (2, 4)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: "", r'a\.txt cannot be read: no line reads Image filename : "\.\.\."\. The file is cut short'),
        (lambda text: text[: text.index("Objects")], "no line reads Objects with ground truth"),
        (lambda text: text[: text.rindex("Bounding")], "it announces 2 objects and has 1 bounding boxes"),
        (
            lambda text: text[: text.rindex(") -")],
            r"line 17 is 'Bounding box for object 2 .* expected it to end in \(Xmin",
        ),
        (lambda text: text.replace("299", "249"), "line 11 .* expected Xmin <= Xmax and Ymin <= Ymax"),
        (lambda text: text.replace("299", "29x"), "line 11 is"),
        (lambda text: "<html>", "no line reads Image filename"),
    ],
)
def test_spoilt_pascal_is_named_with_its_line(tmp_path, spoil, message):
    file = write(tmp_path / "a.txt", spoil(pascal("a.png", BOXES)))
    with pytest.raises(ValueError, match=message):
        read_pascal(file)


# ------------------------------------------------------------------------------------------- INRIA


@pytest.fixture
def people(monkeypatch, tmp_path):
    """Write an INRIAPerson of two or three files a folder, one test image missing, and declare it genuine."""
    counts = dict.fromkeys(inria.COUNTS, 2) | {inria.ANNOTATIONS: 3}
    monkeypatch.setattr(inria, "COUNTS", counts)
    root = tmp_path / "d" / "INRIAPerson"
    for name, suffix in ((inria.CROPS, "png"), (inria.TRAIN_NEGATIVES, "jpg"), (inria.TEST_NEGATIVES, "webp")):
        draw(root / name / f"b.{suffix}")
        draw(root / name / "a.png")
    for stem, corners in (("p2", BOXES), ("p1", BOXES[:1]), ("p3", [])):
        write(root / inria.ANNOTATIONS / f"{stem}.txt", pascal(f"Test/pos/{stem}.png", corners))
    draw(root / inria.TEST_IMAGES / "p2.png")
    draw(root / inria.TEST_IMAGES / "p3.png")
    return root


def test_inria_lists_crops_negatives_and_tests_by_name(people):
    bunch = load_inria(people.parent)
    assert [file.name for file in bunch.train_crops] == ["a.png", "b.png"]
    assert [file.name for file in bunch.train_negatives] == ["a.png", "b.jpg"]
    assert [file.name for file in bunch.test_negatives] == ["a.png", "b.webp"]
    assert [record.image.name for record in bunch.test] == ["p2.png", "p3.png"]
    assert bunch.test[0].boxes.tolist() == [[250, 151, 50, 144], [-3, 0, 14, 11]]
    assert bunch.test[1].boxes.shape == (0, 4)
    assert bunch.missing == ["p1"] and bunch.source == "uncompressed" and "INRIA Person" in bunch.DESCR


FOREIGN = ("._a.png", ".DS_Store", "._p1.txt", "._p1.png", "README.txt", "readme.txt", "ReadMe.png", ".hidden.jpg")


def leave_foreign_files(*folders):
    """Leave the files that other systems and careful people leave; some have the suffix of an image or a text."""
    for folder in folders:
        for name in FOREIGN:
            (folder / name).write_bytes(b"Mac OS X")


def test_files_of_other_systems_are_left_alone(people, walk, campus):
    before = load_inria(people), load_eth_bahnhof(walk), load_penn_fudan(campus)
    leave_foreign_files(*(people / name for name in [*inria.COUNTS, inria.TEST_IMAGES]))
    leave_foreign_files(walk / "left", campus / "Annotation", campus / "PNGImages")
    after = load_inria(people), load_eth_bahnhof(walk), load_penn_fudan(campus)
    for one, other in zip(before, after, strict=True):
        assert [record.image for record in one.test] == [record.image for record in other.test]
    for name in ("train_crops", "train_negatives", "test_negatives", "missing"):
        assert before[0][name] == after[0][name]


@pytest.mark.parametrize(
    ("n_images", "source", "words"),
    [
        (287, "uncompressed", "287/288 images, all repaired (5 % of the pixels inside people's boxes), uncompressed"),
        (287, "lossy", "287/288 images, 271 repaired (5 % of the pixels inside people's boxes), lossy"),
        (288, "uncompressed", "288/288 images, uncompressed"),
        (100, "lossy", "100/288 images, lossy"),
    ],
)
def test_a_copy_says_how_many_images_are_repaired(n_images, source, words):
    assert inria.about_test(n_images, source) == f"INRIA test, {words}"
    with pytest.raises(ValueError, match="source must be one of 'uncompressed', 'lossy'; got 'rendered'"):
        inria.about_test(n_images, "rendered")


def test_tables_say_what_the_loader_says():
    """The committed tables of INRIA test carry its words for the uncompressed copy."""
    figures = Path(__file__).parents[2] / "figures"
    for name in ("table_2", "table_3", "ablation"):
        assert f" {inria.about_test(287, 'uncompressed')}." in (figures / f"{name}.md").read_text(encoding="utf-8")


def test_inria_says_that_it_is_compressed(people):
    draw(people / inria.TEST_IMAGES / "p1.jpg")
    bunch = load_inria(people)
    assert bunch.missing == [] and len(bunch.test) == 3 and bunch.source == "lossy"
    assert bunch.about_test == "INRIA test, 3/288 images, lossy"


def test_the_mirrors_of_the_official_crops_are_left_out(people):
    for name in ("a_mirrored.png", "c.png"):
        draw(people / inria.CROPS / name)
    assert [file.name for file in load_inria(people).train_crops] == ["a.png", "b.png"]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda root: draw(root / inria.CROPS / "c.png"),
            r"pos holds 3 files \(\.jpeg, .*; expected 2\. Get them again, or remove what is not",
        ),
        (lambda root: (root / inria.TRAIN_NEGATIVES / "a.png").unlink(), "neg holds 1 files"),
        (
            lambda root: (root / inria.ANNOTATIONS / "p1.txt").unlink(),
            r"annotations holds 2 files \(\.txt\); expected 3",
        ),
        (lambda root: write(root / inria.ANNOTATIONS / "p2.txt", ""), r"p2\.txt cannot be read"),
        (
            lambda root: [file.unlink() for file in (root / inria.TEST_IMAGES).iterdir()],
            "none of its texts has an image",
        ),
    ],
)
def test_a_spoilt_inria_says_what_is_wrong(people, spoil, message):
    spoil(people)
    with pytest.raises(ValueError, match=message):
        load_inria(people)


def test_an_absent_inria_says_where_to_get_it(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"(?s)'inria' was not found.*data/assemble_inria\.py"):
        load_inria(tmp_path)


@pytest.fixture
def script(monkeypatch):
    """The script that puts an uncompressed copy together, made to expect one file in each folder."""
    path = Path(__file__).parents[2] / "data" / "assemble_inria.py"
    spec = importlib.util.spec_from_file_location("assemble_inria", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "COUNTS", dict.fromkeys(module.COUNTS, 1) | {"Train/neg": 2})
    for name in ("NEGATIVES_COMMIT", "TEST_COMMIT"):
        monkeypatch.setattr(module, name, "HEAD")
    return module


def committed(repository):
    """Make a repository of a folder."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *command], cwd=repository, check=True)
    return repository


@pytest.fixture
def snapshots(tmp_path):
    """Arguments of the script: two repositories and a folder as it expects them; the test image has a red line."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    pytest.importorskip("cv2")
    for name in ("train_neg/a.png", "val_neg/b.png", "neg/c.jpg"):
        draw(tmp_path / "n" / "negative" / name)
    picture = np.full((20, 30, 3), 90, np.uint8)
    picture[8, 3:20] = (255, 0, 0)
    folder = tmp_path / "t" / "detect_95_2_new"
    folder.mkdir(parents=True)
    Image.fromarray(picture).save(folder / "p1.png")
    draw(tmp_path / "c" / inria.CROPS / "a.webp")
    write(tmp_path / "c" / inria.ANNOTATIONS / "p1.txt", pascal("Test/pos/p1.png", BOXES))
    leave_foreign_files(tmp_path / "c" / inria.CROPS, tmp_path / "c" / inria.ANNOTATIONS)
    return ["--negatives", committed(tmp_path / "n"), "--test", committed(tmp_path / "t"), "--crops", tmp_path / "c"]


def test_the_uncompressed_copy_is_put_together(script, snapshots, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", list(map(str, ["assemble", *snapshots, "--out", tmp_path / "out"])))
    script.main()
    assert f"{100 * 17 / 600:.2f} % of the pixels" in capsys.readouterr().out
    monkeypatch.setattr(inria, "COUNTS", {name: script.COUNTS[name] for name in inria.COUNTS})
    bunch = load_inria(tmp_path / "out")
    assert bunch.source == "uncompressed" and len(bunch.test[0].boxes) == 2
    assert abs(read_rgb(bunch.test[0].image).astype(int) - 90).max() <= 2
    with pytest.raises(SystemExit, match="exists already"):
        script.main()


def test_a_snapshot_that_lacks_something_leaves_nothing(script, snapshots, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", list(map(str, ["assemble", *snapshots, "--out", tmp_path / "out"])))
    monkeypatch.setattr(script, "COUNTS", script.COUNTS | {"Train/neg": 3})
    with pytest.raises(SystemExit, match=r"'Train/neg': 2.*; expected .*'Train/neg': 3.* Nothing was kept"):
        script.main()
    monkeypatch.setattr(script, "TEST", {"elsewhere": "Test/pos"})
    with pytest.raises(SystemExit, match="does not hold elsewhere of commit HEAD"):
        script.main()
    assert list((tmp_path / "out").iterdir()) == []


@needs("inria")
def test_real_inria_has_588_boxes():
    bunch = load_inria()
    assert (len(bunch.test), bunch.missing) == (287, ["person_094"])
    n_repaired = {"uncompressed": "all", "lossy": "271"}[bunch.source]
    assert bunch.about_test.startswith(f"INRIA test, 287/288 images, {n_repaired} repaired")
    assert sum(len(record.boxes) for record in bunch.test) == 588
    heights = np.concatenate([record.boxes[:, 3] for record in bunch.test])
    assert round((heights < 100).mean(), 2) == 0.05  # so the reference says


# --------------------------------------------------------------------------------------------- ETH

IDL = """"left/image_00000001_0.png": (212, 204, 232, 261), (261, 285, 223, 181);
"left/image_00000002_0.png";
"left/image_00000003_0.png": (1.5, 2, 3, 4):0.75, (5, 6, 7, 8):-1.
"""


def test_idl_with_swapped_corners_scores_and_nobody(tmp_path):
    images = read_idl(write(tmp_path / "a.idl", IDL))
    assert [name for name, _ in images] == [f"left/image_0000000{frame}_0.png" for frame in (1, 2, 3)]
    assert images[0][1].tolist() == [[212, 204, 20, 57], [223, 181, 38, 104]]
    assert images[1][1].shape == (0, 4)
    assert images[2][1].tolist() == [[1.5, 2, 1.5, 2], [5, 6, 2, 2]]
    assert read_idl(write(tmp_path / "empty.idl", "")) == []


@given(st.lists(st.tuples(*[st.integers(-20, 700)] * 4), max_size=5))
def test_idl_boxes_are_the_hull_of_their_corners(tmp_path_factory, corners):
    text = '"image_1.png": ' + ", ".join(map(str, corners)) + ";" if corners else '"image_1.png"'
    ((_, boxes),) = read_idl(write(tmp_path_factory.mktemp("idl") / "a.idl", text))
    expected = [(min(x, u), min(y, v), abs(x - u), abs(y - v)) for x, y, u, v in corners]
    assert list(map(tuple, boxes.tolist())) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('"image_4.png": (1, 2, 3);', r'line 4 is \'"image_4.*expected "image": \(x1, y1, x2, y2\)'),
        ('"image_4.png": (1, 2, 3, 4) (5, 6, 7, 8);', "line 4"),
        ('"image_4.png": (1, 2, 3, 4), ', "line 4"),
        ("image_4.png: (1, 2, 3, 4);", "line 4"),
        ('"left/image_00000001_0.png";', "line 4 .* each image once"),
    ],
)
def test_a_spoilt_line_of_an_idl_is_named(tmp_path, line, message):
    file = write(tmp_path / "a.idl", IDL + line + "\n")
    with pytest.raises(ValueError, match=message):
        read_idl(file)


@pytest.fixture
def walk(monkeypatch, tmp_path):
    monkeypatch.setattr(eth, "N_FRAMES", 3)
    root = tmp_path / "d" / "ETH" / "BAHNHOF"
    write(root / "bahnhof-annot.idl", IDL)
    draw(root / "left" / "image_00000003.jpg")
    draw(root / "left" / "image_00000001_0.png")
    for name in ("other.png", "another.png"):
        draw(root / "left" / name)
    return root


def test_bahnhof_is_joined_by_frame_number(walk):
    bunch = load_eth_bahnhof(walk.parents[1])
    assert bunch.frames == [1, 3] and bunch.missing == [2]
    assert [record.image.name for record in bunch.test] == ["image_00000001_0.png", "image_00000003.jpg"]
    assert [len(record.boxes) for record in bunch.test] == [2, 2]


def test_a_spoilt_bahnhof_says_what_is_wrong(walk):
    for file in (walk / "left").iterdir():
        file.unlink()
    with pytest.raises(ValueError, match="left cannot be read: it holds no image of a frame"):
        load_eth_bahnhof(walk)
    write(walk / "bahnhof-annot.idl", IDL.splitlines()[0])
    with pytest.raises(ValueError, match="it holds 1 frames, expected 3"):
        load_eth_bahnhof(walk)


def test_two_files_of_one_image_are_refused(walk):
    draw(walk / "left" / "image_00000003.png")
    with pytest.raises(ValueError, match=r"image_00000003\.jpg and image_00000003\.png, which are one image"):
        load_eth_bahnhof(walk)


@needs("eth")
def test_real_bahnhof_has_771_boxes_in_100_frames():
    bunch = load_eth_bahnhof()
    heights = np.concatenate([record.boxes[:, 3] for record in bunch.test])
    assert (len(bunch.test), len(heights)) == (100, 771)
    small, middle = heights < 50, (heights >= 50) & (heights < 100)
    assert [round(part.mean(), 2) for part in (small, middle)] == [0.16, 0.51]  # so the reference says


# --------------------------------------------------------------------------------------------- MOT

GT = "1,1,88,99,61.08,218.56,1,4.4852,5.5016,0\n1,2,181,95,75.808,227.01,0,4.4091,4.4283,0\n3,1,1,1,10,20,1,-1,-1,-1\n"


def test_mot_counts_pixels_from_1(tmp_path):
    rows = read_mot(write(tmp_path / "gt.txt", GT))
    assert rows.frame.tolist() == [1, 1, 3] and rows.person.tolist() == [1, 2, 1]
    assert rows.considered.tolist() == [True, False, True]
    assert rows.boxes.tolist() == [[87, 98, 61.08, 218.56], [180, 94, 75.808, 227.01], [0, 0, 10, 20]]
    assert read_mot(write(tmp_path / "empty.txt", "")).boxes.shape == (0, 4)
    assert rows.kind.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("rest", "kind"), [("", 1), (",7", 7), (",7,0.25", 7), (",4.5,-1,0", 1)], ids=["7", "8", "MOT16 to 20", "MOT15"]
)
def test_mot_of_every_year(tmp_path, rest, kind):
    text = "".join(f"{frame},3,88,99,61,218,1{rest}\n" for frame in (1, 2))
    rows = read_mot(write(tmp_path / "gt.txt", text))
    assert rows.boxes.tolist() == [[87, 98, 61, 218]] * 2 and rows.kind.tolist() == [kind] * 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,1,88,99,61,218", "expected 7 to 10 numbers between commas: frame"),
        ("1,1,88,99,61,218,1,4,5,0,3", "expected 7 to 10 numbers"),
        ("1,1,88,99,61,218,1,14,0.5", "a class from 1 to 13 as the eighth number"),
        ("1,1,88,99,61,218,1,1.5", "a class from 1 to 13"),
        ("1,1,88,99,61,218,1,1,0.5\n1,1,88,99,61,218,1,1", "line 2 .*expected 9 numbers .* as in the first line"),
    ],
)
def test_other_lines_of_a_gt_are_refused(tmp_path, line, message):
    with pytest.raises(ValueError, match=message):
        read_mot(write(tmp_path / "gt.txt", line))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,1,88,99,61.08,218.56,1,1,1", "line 4 is '1,1,88.*expected 10 numbers between commas"),  # MOT16: class
        ("1,1,88,99,61.08,x,1,4,5,0", "line 4"),
        ("1,1,88,99,61.08,nan,1,4,5,0", "line 4 .* all of them finite"),
        ("0,1,88,99,61.08,200,1,4,5,0", "line 4 .* frames are integers from 1"),
        ("1.5,1,88,99,61.08,200,1,4,5,0", "line 4"),
        ("1,1,88,99,-61.08,200,1,4,5,0", "line 4 .* sizes are not negative"),
        ("1,1,88,99,61.08,200,2,4,5,0", "line 4"),
    ],
)
def test_a_spoilt_line_of_a_gt_is_named(tmp_path, line, message):
    file = write(tmp_path / "gt.txt", GT + line)
    with pytest.raises(ValueError, match=message):
        read_mot(file)


@pytest.fixture
def street(monkeypatch, tmp_path):
    monkeypatch.setattr(mot, "N_FRAMES", 3)
    root = tmp_path / "d" / "TUD-Stadtmitte"
    for frame in (1, 2, 3):
        draw(root / "img1" / f"{frame:06d}.jpg")
    write(root / "gt" / "gt.txt", GT)
    return root


def test_stadtmitte_has_boxes_to_find_and_to_ignore(street):
    records = load_tud_stadtmitte(street.parent).test
    assert [record.image.name for record in records] == ["000001.jpg", "000002.jpg", "000003.jpg"]
    assert [(len(record.boxes), len(record.ignore)) for record in records] == [(1, 1), (0, 0), (1, 0)]
    assert records[0].ignore.tolist() == [[180, 94, 75.808, 227.01]]


def test_a_spoilt_stadtmitte_says_what_is_wrong(street):
    write(street / "gt" / "gt.txt", GT.replace("3,1,1", "4,1,1"))
    with pytest.raises(ValueError, match="it holds frame 4, expected 1 to 3"):
        load_tud_stadtmitte(street)
    (street / "img1" / "000002.jpg").unlink()
    with pytest.raises(ValueError, match=r"img1 lacks 1 of 3 images, 000002\.jpg first"):
        load_tud_stadtmitte(street)


@needs("mot")
def test_real_stadtmitte_has_1156_boxes_of_people_over_100_pixels():
    records = load_tud_stadtmitte().test
    boxes = np.concatenate([record.boxes for record in records])
    assert (len(records), len(boxes)) == (179, 1156) and boxes[:, 3].min() > 100


# ------------------------------------------------------------------------------------------- KITTI

LABELS = """Pedestrian 0.00 0 -0.20 712.40 143.00 810.73 307.92 1.89 0.48 1.20 1.84 1.47 8.41 0.01
Person_sitting 0.25 3 1.0 10 20 30 40 1 1 1 1 1 1 1
DontCare -1 -1 -10 503.89 169.71 590.61 190.13 -1 -1 -1 -1000 -1000 -1000 -10
"""


def test_kitti_labels_and_results(tmp_path):
    objects = read_kitti(write(tmp_path / "000000.txt", LABELS))
    assert objects.names.tolist() == ["Pedestrian", "Person_sitting", "DontCare"]
    assert objects.truncation.tolist() == [0, 0.25, -1] and objects.occlusion.tolist() == [0, 3, -1]
    np.testing.assert_allclose(objects.boxes[0], [712.4, 143, 98.33, 164.92])
    assert np.isnan(objects.scores).all()
    result = "Pedestrian -1 -1 -10 712.40 143.00 810.73 307.92 -1 -1 -1 -1000 -1000 -1000 -10 0.83\n"
    assert read_kitti(write(tmp_path / "r.txt", result)).scores.tolist() == [0.83]
    nothing = read_kitti(write(tmp_path / "none.txt", "\n"))
    assert nothing.boxes.shape == (0, 4) and nothing.names.dtype.kind == "U"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda text: text.replace("Pedestrian", "Person"), r"line 1 is 'Person 0.*expected a class \(Car, Van"),
        (lambda text: text[:-6], "line 3 .* and 14 numbers, or 15 with a score"),
        (lambda text: text.replace("30 40", "30 x40"), "line 2"),
        (lambda text: text.replace("30 40", "inf 40"), "line 2 .* all of them finite"),
        (lambda text: text.replace("30 40", "30 19"), "line 2 .* expected left <= right, top <= bottom"),
        (lambda text: text.replace("0.25 3", "0.25 4"), "line 2 .* occlusion -1, 0, 1, 2 or 3"),
        (lambda text: text.replace("0.25 3", "1.25 3"), "line 2 .* truncation from 0 to 1, or -1"),
        (lambda text: text.replace("0.25 3", "-0.5 3"), "line 2 .* truncation"),
    ],
)
def test_a_spoilt_line_of_kitti_is_named(tmp_path, spoil, message):
    file = write(tmp_path / "a.txt", spoil(LABELS))
    with pytest.raises(ValueError, match=message):
        read_kitti(file)


@pytest.fixture
def drive(monkeypatch, tmp_path):
    """Two images with labels, and a label without an image."""
    root = tmp_path / "d" / "kitti" / "training"
    for stem in ("000000", "000001", "000002"):
        write(root / "label_2" / f"{stem}.txt", LABELS)
    for stem in ("000001", "000000"):
        draw(root / "image_2" / f"{stem}.png")
    return root


def test_kitti_images_and_labels_belong_together(drive):
    kitti = load_kitti(drive.parents[1])
    assert [image.stem for image in kitti.images] == ["000000", "000001"] and kitti.missing == ["000002"]
    assert [label.names[0] for label in kitti.labels] == ["Pedestrian", "Pedestrian"]
    (drive / "label_2" / "000001.txt").unlink()
    with pytest.raises(ValueError, match="it has no label of image 000001"):
        load_kitti(drive.parents[1])


def test_kitti_is_nowhere(tmp_path, monkeypatch):
    monkeypatch.delenv("PAUCENS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="training/image_2 with training/label_2"):
        load_kitti()


def test_what_of_kitti_is_trained_on(tmp_path):
    """Fully visible pedestrians; whoever else looks like a person is neither found nor a negative, cars may be."""
    lines = {
        "Pedestrian 0.00 0 0 0 0 10 20": "find",
        "Pedestrian 0.00 1 0 20 0 30 20": "ignore",
        "Pedestrian 0.10 0 0 40 0 50 20": "ignore",
        "Person_sitting 0.00 0 0 60 0 70 20": "ignore",
        "Cyclist 0.00 0 0 80 0 90 20": "ignore",
        "DontCare -1 -1 -10 100 0 110 20": "ignore",
        "Car 0.00 0 0 120 0 130 20": "",
    }
    objects = read_kitti(write(tmp_path / "a.txt", "".join(f"{line} 1 1 1 1 1 1 1\n" for line in lines)))
    record = kitti_record(tmp_path / "a.png", objects)
    kinds = np.array(list(lines.values()))
    assert record.boxes.tolist() == objects.boxes[kinds == "find"].tolist()
    assert sorted(record.ignore[:, 0]) == objects.boxes[kinds == "ignore", 0].tolist()
    assert len(kitti_record("a.png", objects, occlusion=1, truncation=0.1).boxes) == 3


# -------------------------------------------------------------------------------------- Penn-Fudan


@pytest.fixture
def campus(monkeypatch, tmp_path):
    monkeypatch.setattr(pennfudan, "N_IMAGES", 2)
    root = tmp_path / "d" / "PennFudanPed"
    for stem, origin in (("FudanPed00001", 1), ("PennPed00001", None)):
        write(root / "Annotation" / f"{stem}.txt", pascal(f"PennFudanPed/PNGImages/{stem}.png", BOXES, origin))
        draw(root / "PNGImages" / f"{stem}.png")
    return root


def test_penn_fudan_counts_from_1(campus):
    records = load_penn_fudan(campus.parent).test
    assert [record.image.stem for record in records] == ["FudanPed00001", "PennPed00001"]
    for record in records:
        assert record.boxes.tolist() == [[249, 150, 50, 144], [-4, -1, 14, 11]]


def test_a_spoilt_penn_fudan_says_what_is_wrong(campus):
    (campus / "PNGImages" / "PennPed00001.png").unlink()
    with pytest.raises(ValueError, match=r"PennPed00001\.txt describes .*PennPed00001\.png, which does not exist"):
        load_penn_fudan(campus)
    (campus / "Annotation" / "PennPed00001.txt").unlink()
    with pytest.raises(ValueError, match="Annotation holds 1 texts; expected 2"):
        load_penn_fudan(campus)


# -------------------------------------------------------------------------------------------- docs


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in FOLDERS])
def test_examples_run_on_the_real_sets(name):
    result = doctest.testmod(importlib.import_module(f"paucens.datasets.{name}"), optionflags=doctest.ELLIPSIS)
    assert result.attempted and not result.failed
