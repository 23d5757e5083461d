"""KITTI: fabricated files and everything that can be wrong with them."""

import numpy as np
import pytest
from detection_folders import draw, write

from paucens.datasets import kitti_record, load_kitti, read_kitti

pytestmark = pytest.mark.usefixtures("no_other_place")


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
