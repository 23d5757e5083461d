"""TUD-Stadtmitte and the files of MOTChallenge: fabricated copies, what can be wrong with them, the real one."""

import numpy as np
import pytest
from detection_folders import draw, needs, write

from paucens.datasets import load_tud_stadtmitte, mot, read_mot

pytestmark = pytest.mark.usefixtures("no_other_place")


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
