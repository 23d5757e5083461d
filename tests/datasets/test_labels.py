"""Classes of the boxes of a record."""

from dataclasses import replace
from pathlib import Path

import pytest

from paucens.datasets import DetectionRecord

BOXES = [[0, 0, 4, 9], [5, 5, 20, 10]]


def test_boxes_are_people_unless_they_are_something_else():
    assert DetectionRecord(Path("a.png"), BOXES).labels.tolist() == ["person", "person"]
    assert DetectionRecord(Path("a.png")).labels.shape == (0,)
    record = DetectionRecord(Path("a.png"), BOXES, [[1, 1, 1, 1]], ["person", "car"])
    cars = record.of_class("car")
    assert cars.boxes.tolist() == BOXES[1:] and cars.labels.tolist() == ["car"]
    assert cars.ignore.tolist() == [[1, 1, 1, 1], BOXES[0]]
    assert len(record.of_class("dog").boxes) == 0 and len(record.of_class("dog").ignore) == 3
    assert replace(record, image=Path("b.png")).labels.tolist() == ["person", "car"]


@pytest.mark.parametrize("labels", [["car"], ["car", "dog", "cat"], ["car", 3], [None, None]])
def test_labels_are_one_text_per_box(labels):
    with pytest.raises(ValueError, match=r"labels of a\.png are .*; expected one text for each of its 2 boxes"):
        DetectionRecord(Path("a.png"), BOXES, labels=labels)
