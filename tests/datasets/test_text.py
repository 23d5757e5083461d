"""Text of any origin: encodings, line ends and blanks that all readers take alike, and numbers that none takes."""

import codecs
from time import perf_counter

import numpy as np
import pytest

from paucens.datasets import read_idl, read_kitti, read_mot, read_pascal, read_results
from paucens.datasets._text import numbered_lines, read_csv

PASCAL = """# PASCAL Annotation Version 1.00

Image filename : "Test/pos/a.png"
Objects with ground truth : 1 { "PASperson" }
Bounding box for object 1 "PASperson" (Xmin, Ymin) - (Xmax, Ymax) : (@, 151) - (299, 294)
"""
KITTI = "Pedestrian 0.00 0 -0.20 @ 143 810 307 1.89 0.48 1.20 1.84 1.47 8.41 0.01\n"
READERS = {  # one line or more with a box, whose left is @: how to read its boxes, text
    "idl": (lambda path: read_idl(path)[0][1], '"a.png": (@, 204, 232, 261);\n"b.png";\n'),
    "pascal": (lambda path: read_pascal(path).boxes, PASCAL),
    "mot": (lambda path: read_mot(path).boxes, "1,1,@,99,61.08,218.56,1,4.4852,5.5016,0\n3,1,1,1,10,20,1,-1,-1,-1\n"),
    "kitti": (lambda path: read_kitti(path).boxes, 2 * KITTI),
    "results": (lambda path: read_results(path)[:, 1:5], "30,@,2,10,20,0.5\n60,1,2,10,20,-3e-2\n"),
    "csv": (lambda path: read_csv(path, 3), "@,2.5,'-1'\n-3,1e3,'1'\n"),
}
of_all_readers = pytest.mark.parametrize(("read", "text"), READERS.values(), ids=READERS)


@of_all_readers
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_marks_line_ends_and_blanks_change_nothing(tmp_path, read, text, mark, end):
    text = text.replace("@", "12.5")
    (tmp_path / "plain.txt").write_bytes(text.encode())
    (tmp_path / "other.txt").write_bytes(mark + f"\n{text}  \t\n\n".replace("\n", end).encode())
    boxes = read(tmp_path / "plain.txt")
    assert 12.5 in boxes or 12.5 - 1 in boxes  # MOT counts from 1
    np.testing.assert_array_equal(read(tmp_path / "other.txt"), boxes)
    assert boxes.flags.writeable


@of_all_readers
@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999", "9" * 400, "9" * 5000, "1_0", "0x1", "one", ""])
def test_what_is_no_finite_number_is_refused_with_the_file(tmp_path, read, text, number):
    (tmp_path / "a.txt").write_text(text.replace("@", number))
    with pytest.raises(ValueError, match=r"a\.txt"):
        read(tmp_path / "a.txt")


@pytest.mark.parametrize("name", ["idl", "pascal", "mot", "kitti", "results"])
def test_places_beyond_exact_integers_are_refused(tmp_path, name):
    read, text = READERS[name]
    file = tmp_path / "a.txt"
    for number in ("-1e300", "-9.1e15"):
        file.write_text(text.replace("@", number))
        with pytest.raises(ValueError, match=r"a\.txt.*beyond 9e\+15"):
            read(file)
    file.write_text(text.replace("@", "-9e15"))
    assert -9e15 in read(file) or -9e15 - 1 in read(file)


def test_utf_8_comes_before_latin_1(tmp_path):
    idl, pascal = '"Straße.png": (1, 2, 3, 4);', PASCAL.replace("@", "3").replace("a.png", "Straße.png")
    for encoding in ("utf-8", "utf-8-sig", "latin-1"):
        (tmp_path / "a.idl").write_text(idl, encoding=encoding)
        (tmp_path / "a.txt").write_text(pascal, encoding=encoding)
        assert read_idl(tmp_path / "a.idl")[0][0] == "Straße.png"
        assert read_pascal(tmp_path / "a.txt").image_name == "Test/pos/Straße.png"


def test_lines_end_at_line_ends_only(tmp_path):
    """Not at the other places where str.splitlines would part the name of a file."""
    name = "a\x85b\u2028c\x0bd.png"
    (tmp_path / "a.idl").write_text(f'\n"{name}";\r\n\r\n"e.png"', encoding="utf-8", newline="")
    assert [image for image, _ in read_idl(tmp_path / "a.idl")] == [name, "e.png"]
    assert [number for number, _ in numbered_lines(tmp_path / "a.idl")] == [2, 4]


@of_all_readers
def test_utf_16_is_refused_with_what_to_do(tmp_path, read, text):
    (tmp_path / "a.txt").write_text(text.replace("@", "3"), encoding="utf-16")
    with pytest.raises(ValueError, match=r"a\.txt cannot be read as text: it holds NUL bytes.*Save it as UTF-8"):
        read(tmp_path / "a.txt")


@pytest.mark.parametrize("place", ["1e300,1", "1,1e300", "1,-1e300", "9.1e15,1"])
def test_frames_and_persons_are_integers_that_fit(tmp_path, place):
    (tmp_path / "gt.txt").write_text(f"{place},88,99,61,218,1,4,5,0")
    with pytest.raises(ValueError, match=r"gt\.txt.*beyond 9e\+15"):
        read_mot(tmp_path / "gt.txt")
    (tmp_path / "gt.txt").write_text("9e15,9e15,88,99,61,218,1,4,5,0")
    rows = read_mot(tmp_path / "gt.txt")
    assert (rows.frame[0], rows.person[0]) == (9 * 10**15, 9 * 10**15)


def test_a_score_may_have_any_size(tmp_path):
    (tmp_path / "a.txt").write_text(KITTI.strip().replace("@", "712") + " 1e300")
    assert read_kitti(tmp_path / "a.txt").scores.tolist() == [1e300]
    (tmp_path / "a.txt").write_text(KITTI.strip().replace("@", "712") + " inf")
    with pytest.raises(ValueError, match="all of them finite"):
        read_kitti(tmp_path / "a.txt")
    (tmp_path / "a.txt").write_text("30,1,2,10,20,-1e300")
    assert read_results(tmp_path / "a.txt")[0, 5] == -1e300


def test_numbers_in_other_forms(tmp_path):
    (tmp_path / "a.idl").write_text('"a.png": (+1, .5, 3., 1e1):-2.5e-1, (1,2,3,4):1;')
    assert read_idl(tmp_path / "a.idl")[0][1].tolist() == [[1, 0.5, 2, 9.5], [1, 2, 2, 2]]


def test_a_long_line_that_is_spoilt_at_its_end_is_refused_at_once(tmp_path):
    (tmp_path / "a.idl").write_text('"a.png": ' + ", ".join(["(1234567, 1234567, 1234567, 1234567)"] * 500) + ", (1")
    start = perf_counter()
    with pytest.raises(ValueError, match="line 1"):
        read_idl(tmp_path / "a.idl")
    assert perf_counter() - start < 2


def test_pascal_with_decimals(tmp_path):
    """Both corners are pixels of the object, as with integers."""
    (tmp_path / "a.txt").write_text(PASCAL.replace("(@, 151) - (299, 294)", "(12.5, 0.25) - (20.5, 30)"))
    assert read_pascal(tmp_path / "a.txt").boxes.tolist() == [[12.5, 0.25, 9, 30.75]]
    (tmp_path / "b.txt").write_text(PASCAL.replace("(@, 151) - (299, 294)", "(12.5, 0.25) - (12.25, 30)"))
    with pytest.raises(ValueError, match=r"line 5 .* Xmin <= Xmax"):
        read_pascal(tmp_path / "b.txt")
    (tmp_path / "c.txt").write_text(PASCAL.replace("truth : 1", "truth : 1.5").replace("@", "3"))
    with pytest.raises(ValueError, match=r"announces 1\.5 objects and has 1"):
        read_pascal(tmp_path / "c.txt")
    for origin in (2, -1, 0.5, None):
        with pytest.raises(ValueError, match="origin must be an integer, from 0 to 1"):
            read_pascal(tmp_path / "a.txt", origin)
