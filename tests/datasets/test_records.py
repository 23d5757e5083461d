"""Detection records, and the annotations of PASCAL."""

from pathlib import Path

import numpy as np
import pytest
from detection_folders import BOXES, pascal, write

from paucens.datasets import DetectionRecord, read_pascal

pytestmark = pytest.mark.usefixtures("no_other_place")


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


# -- PASCAL -------------------------------------------------------------------------------------


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
