"""Files by hand: what is counted from where, text of any origin, and errors with file, line and reason."""

import codecs
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from paucens.datasets import DetectionRecord
from paucens.formats import read_annotations, read_detections, write_annotations, write_detections

VOC = """<?xml version="1.0"?>
<annotation>
  <folder>VOC2007</folder>
  <filename>Straße.jpg</filename>
  <object>
    <name>person</name>
    <difficult>0</difficult>
    <bndbox><xmin>1</xmin><ymin>2</ymin><xmax>10</xmax><ymax>21</ymax></bndbox>
    <part><name>head</name><bndbox><xmin>3</xmin><ymin>3</ymin><xmax>4</xmax><ymax>4</ymax></bndbox></part>
  </object>
  <object>
    <name>dog</name><difficult>1</difficult>
    <bndbox><xmin>5.5</xmin><ymin>6</ymin><xmax>7</xmax><ymax>8</ymax></bndbox>
  </object>
</annotation>
"""
COCO = {
    "info": {},
    "images": [{"id": 7, "file_name": "Straße.jpg", "width": 640, "height": 480}, {"id": 9, "file_name": "b.jpg"}],
    "annotations": [
        {"id": 1, "image_id": 7, "category_id": 1, "bbox": [0, 1, 10, 20], "iscrowd": 0, "segmentation": []},
        {"id": 2, "image_id": 7, "category_id": 3, "bbox": [4.5, 5, 2.5, 3], "iscrowd": 1},
    ],
    "categories": [{"id": 1, "name": "person"}, {"id": 3, "name": "dog"}],
}
KITTI = (
    "Pedestrian 0.00 0 -0.20 0 1 10 21 1.89 0.48 1.20 1.84 1.47 8.41 0.01\n"
    "DontCare -1 -1 -10 4.5 5 7 8 -1 -1 -1 -1000 -1000 -1000 -10\n"
)
ANNOTATIONS = {  # all of an image with the box 0, 1, 10, 20 and, but for YOLO, the box 4.5, 5, 2.5, 3 to ignore
    "csv": "image,x,y,w,h,label,ignore\nStraße.jpg,0,1,10,20,person,0\nStraße.jpg,4.5,5,2.5,3,,1\n",
    "jsonl": '{"image": "Straße.jpg", "boxes": [[0, 1, 10, 20]], "ignore": [[4.5, 5, 2.5, 3]], "by": "me"}\n',
    "coco": json.dumps(COCO, ensure_ascii=False),
    "voc": VOC,
    "kitti": KITTI,
    "mot": "1,5,1,2,10,20,1,1,0.5\n1,6,5.5,6,2.5,3,0,8,0.5\n",
    "caltech": "% bbGt version=3\nperson 1 2 10 20 1 1 1 5 5 0 0\npeople 5.5 6 2.5 3 0 0 0 0 0 1 0\n",
    "yolo": "0 0.05 0.055 0.1 0.1\n",
}
DETECTIONS = {  # one image, boxes 0, 1, 10, 20 of score 0.5 and 4.5, 5, 2.5, 3 of score 2
    "csv": "score,image,x,y,w,h,by\n0.5,Straße.jpg,0,1,10,20,me\n2,Straße.jpg,4.5,5,2.5,3,me\n",
    "jsonl": '{"image": "Straße.jpg", "detections": [[0, 1, 10, 20, 0.5], [4.5, 5, 2.5, 3, 2]]}\n',
    "coco": '[{"image_id": 7, "category_id": 1, "bbox": [0, 1, 10, 20], "score": 0.5},\n'
    ' {"image_id": 7, "category_id": 1, "bbox": [4.5, 5, 2.5, 3], "score": 2}]',
    "voc": "Straße 0.5 1 2 10 21\nStraße 2 5.5 6 7 8\n",
    "kitti": KITTI.replace("0.01\n", "0.01 0.5\n").replace("-10\n", "-10 2\n"),
    "mot": "1,-1,1,2,10,20,0.5,-1,-1,-1\n1,-1,5.5,6,2.5,3,2,-1,-1,-1\n",
    "caltech": "30,1,2,10,20,0.5\n30,5.5,6,2.5,3,2\n",
    "yolo": "0 0.05 0.055 0.1 0.1 0.5\n0 0.0575 0.0325 0.025 0.015 2\n",
}
SUFFIXES = {"csv": ".csv", "jsonl": ".jsonl", "coco": ".json", "voc": ".xml"}


def written(tmp_path, format, text, encoding="utf-8"):
    """Write a text, and the image beside it whose size YOLO needs."""
    path = tmp_path / f"000001{SUFFIXES.get(format, '.txt')}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    Image.new("L", (100, 200)).save(tmp_path / "000001.png")
    return path


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("format", ANNOTATIONS)
def test_annotations_by_hand(tmp_path, format, end, mark):
    text = ANNOTATIONS[format].replace("\n", end).encode()
    record = read_annotations(written(tmp_path, format, mark + text), format)[0]
    np.testing.assert_allclose(record.boxes, [[0, 1, 10, 20]], atol=1e-12)
    np.testing.assert_allclose(
        record.ignore, np.reshape([] if format == "yolo" else [4.5, 5, 2.5, 3], (-1, 4)), atol=1e-12
    )
    assert record.image.stem == ("Straße" if "Straße" in ANNOTATIONS[format] else "000001")
    word = {"kitti": "Pedestrian", "mot": "pedestrian", "yolo": "0"}.get(format, "person")
    assert record.labels.tolist() == [word]


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("format", DETECTIONS)
def test_detections_by_hand(tmp_path, format, end, mark):
    text = DETECTIONS[format].replace("\n", end).encode()
    ((image, boxes),) = read_detections(written(tmp_path, format, mark + text), format)
    np.testing.assert_allclose(boxes, [[4.5, 5, 2.5, 3, 2], [0, 1, 10, 20, 0.5]], atol=1e-12)
    stems = {"coco": "7", "kitti": "000001", "mot": "000001", "yolo": "000001", "caltech": "I00029"}
    assert image.stem == stems.get(format, "Straße") and boxes.flags.writeable


@pytest.mark.parametrize("format", ["csv", "jsonl", "voc"])
def test_latin_1_is_read_if_a_line_is_no_utf_8(tmp_path, format):
    (image, _), *_ = read_detections(written(tmp_path, format, DETECTIONS[format], "latin-1"), format)
    assert image.stem == "Straße"


def test_images_without_boxes_in_csv(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("image,x,y,w,h,score\n\nb.png,,,,,\na.png, 1 ,2,3,4,0.5\n")
    assert [(image.name, len(boxes)) for image, boxes in read_detections(path)] == [("b.png", 0), ("a.png", 1)]


@pytest.mark.parametrize("rest", ["", ",-1", ",7,0.5", ",-1,-1", ",4.5,-1,0", ",-1,-1,-1"])
def test_mot_of_7_to_10_columns(tmp_path, rest):
    path = tmp_path / "gt.txt"
    path.write_text(f"2,1,912,484,97,109,1{rest}\n1,1,912,484,97,109,0{rest}\n")
    first, second = read_annotations(path, "mot")
    assert (first.image.name, second.image.name) == ("000001", "000002")
    assert first.ignore.tolist() == second.boxes.tolist() == [[911, 483, 97, 109]]
    assert second.labels.tolist() == ["static person" if rest == ",7,0.5" else "pedestrian"]
    path.write_text(f"1,-1,912,484,97,109,-2.5{rest}\n2,-1,912,484,97,109,1e3{rest}\n")
    assert [boxes.tolist() for _, boxes in read_detections(path, "mot")] == [
        [[911, 483, 97, 109, -2.5]],
        [[911, 483, 97, 109, 1000]],
    ]


def test_classes_of_yolo(tmp_path):
    path = written(tmp_path, "yolo", "1 0.5 0.5 1 1\n")
    (tmp_path / "classes.txt").write_text("person\ncar\n")
    assert read_annotations(tmp_path, "yolo")[0].labels.tolist() == ["car"]
    assert read_annotations(path, "yolo", classes=["a", "b"])[0].labels.tolist() == ["b"]
    with pytest.raises(ValueError, match=r"000001\.txt.*line 1 .*a class below 1"):
        read_annotations(path, "yolo", classes=["a"])
    records = [DetectionRecord(tmp_path / "000001.png", [[0, 0, 1, 1]] * 2, labels=["dog", "car"])]
    write_annotations(tmp_path / "own", records, "yolo", classes=["car", "cat", "dog"])
    assert (tmp_path / "own" / "000001.txt").read_text().split("\n")[0].startswith("2 ")
    with pytest.raises(ValueError, match=r"classes must hold the classes of all boxes; .* has 'dog' too"):
        write_annotations(tmp_path / "few", records, "yolo", classes=["car"])


def test_a_class_of_results_is_chosen(tmp_path):
    path = written(tmp_path, "kitti", DETECTIONS["kitti"].replace("DontCare", "Car"))
    ((_, boxes),) = read_detections(path, "kitti", label="person")
    assert boxes[:, 4].tolist() == [0.5]
    path = written(tmp_path, "yolo", "0 0.5 0.5 1 1 3\n1 0.5 0.5 1 1 4\n")
    ((_, boxes),) = read_detections(path, "yolo", label="1")
    assert boxes[:, 4].tolist() == [4]


# -- what is refused -------------------------------------------------------------------------------

BAD_ANNOTATIONS = [
    ("csv", "", "it is empty"),
    ("csv", "image,x,y\n", "line 1 is 'image,x,y'; expected a header with the columns image, x, y, w, h, label"),
    ("csv", "<html>\n", "line 1 .* a header"),
    ("csv", ANNOTATIONS["csv"] + "a,1,2,3\n", "line 4 .* 7 fields as in the header"),
    ("csv", ANNOTATIONS["csv"] + "a,1,2,-3,4,,0\n", "line 4 .* not negative"),
    ("csv", ANNOTATIONS["csv"] + "a,1,2,x,4,,0\n", "line 4"),
    ("csv", ANNOTATIONS["csv"] + "a,1,2,,4,,0\n", "line 4"),
    ("csv", ANNOTATIONS["csv"] + "a,1,2,3,4,,2\n", "line 4 is '2'; expected 0 or 1 in the column ignore"),
    ("csv", ANNOTATIONS["csv"] + '"a,1,2', "line 4 is no row"),
    ("csv", ANNOTATIONS["csv"] + "b,1,2,3,4,,0\nStraße.jpg,1,2,3,4,,0\n", "lines 2 and 5 begin with the same image"),
    ("csv", "image,x,y,w,h,label,ignore\n,1,2,3,4,,0", "line 2 .* the name of an image"),
    ("jsonl", "", "it is empty"),
    ("jsonl", "[1]", "line 1 .* an object"),
    ("jsonl", ANNOTATIONS["jsonl"] + '{"image": "b"', "line 2 is no JSON object"),
    ("jsonl", DETECTIONS["jsonl"], 'line 1 .* an object with "image", a text, and "boxes"'),
    (
        "jsonl",
        '\n{"image": "b", "boxes": [[1, 2, 3]]}',
        r"line 2 has the boxes \[\[1, 2, 3\]\]: expected rows x, y, w, h",
    ),
    ("jsonl", '{"image": "b", "boxes": [[1, 2, -3, 4]]}', "line 1 .* negative"),
    ("jsonl", '{"image": "b", "boxes": [[1, 2, NaN, 4]]}', "line 1 .* not finite"),
    ("jsonl", '{"image": "b", "boxes": [[1, 2, "3", 4]]}', "line 1 .* of numbers"),
    ("jsonl", '{"image": "b", "boxes": [], "labels": ["a"]}', "line 1 has the labels"),
    ("jsonl", "[" * 100_000, "line 1 is no JSON"),
    ("jsonl", 2 * ANNOTATIONS["jsonl"], "lines 1 and 2 begin with the same image"),
    ("coco", "", "line 1 is no JSON"),
    ("coco", '{"images": [],\n]', "line 2 is no JSON"),
    ("coco", "[]", "annotations, an object with images"),
    ("coco", '{"images": []}', "it has no list 'categories'"),
    ("coco", ANNOTATIONS["coco"].replace('"image_id": 7', '"image_id": 8', 1), r"annotations\[0\] is of image 8"),
    ("coco", ANNOTATIONS["coco"].replace("[0, 1, 10, 20]", "[0, 1, 10]"), r"annotations\[0\] has the boxes"),
    ("coco", ANNOTATIONS["coco"].replace("[0, 1, 10, 20]", "null"), r"annotations\[0\] has the boxes"),
    ("coco", ANNOTATIONS["coco"].replace('"id": 9', '"id": 7'), r"images\[1\] has the id 7 of another one"),
    ("coco", ANNOTATIONS["coco"].replace("b.jpg", "Straße.jpg"), "two of its images have the same file_name"),
    ("voc", "", "line 1 is no XML"),
    ("voc", VOC[:-20], "line 1[0-9] is no XML"),
    ("voc", VOC.replace("annotation>", "html>"), "outermost element is not <annotation>"),
    ("voc", VOC.replace("<annotation>", "<!DOCTYPE annotation>\n<annotation>"), "it has a DOCTYPE"),
    ("voc", VOC.replace(">10<", ">x<"), "line 8"),
    ("voc", VOC.replace(">10<", ">-1<"), "line 8 .*less 1"),
    ("voc", VOC.replace("<xmin>1</xmin>", ""), "<bndbox>, which ends on line 8, has no xmin"),
    ("voc", VOC.replace("<name>person</name>", ""), "<object>, which ends on line 10, has no name"),
    ("voc", VOC.replace("difficult>1<", "difficult>2<"), "line 14 has difficult '2'"),
    ("kitti", KITTI + "Tree 0\n", "line 3 .* expected a class"),
    ("mot", ANNOTATIONS["mot"] + "1,2\n", "line 3"),
    ("caltech", "", "line 1 is ''; expected '% bbGt version=3'"),
    ("caltech", "% bbGt version=0\n", "line 1"),
    ("caltech", ANNOTATIONS["caltech"] + "person 1 2 3 4\n", "line 4 .* a class and 11 numbers"),
    ("caltech", ANNOTATIONS["caltech"] + "person 1 2 -3 4 0 0 0 0 0 0 0\n", "line 4 .* not negative"),
    ("yolo", "0 0.5 0.5 1\n", "line 1 .* the number of a class"),
    ("yolo", "0 0.5 0.5 1 -1\n", "line 1 .* not negative"),
    ("yolo", "0.5 0.5 0.5 1 1\n", "line 1"),
]


@pytest.mark.parametrize(("format", "text", "message"), BAD_ANNOTATIONS)
def test_damaged_annotations_are_named(tmp_path, format, text, message):
    path = written(tmp_path, format, text)
    with pytest.raises(ValueError, match=f"(?s){path.name}.*{message}"):
        read_annotations(path, format)


BAD_DETECTIONS = [
    ("csv", ANNOTATIONS["csv"], "expected a header with the columns image, x, y, w, h, score"),
    ("csv", DETECTIONS["csv"] + "x,b,1,2,3,4,me\n", "line 4"),
    ("csv", DETECTIONS["csv"] + "nan,b,1,2,3,4,me\n", "line 4"),
    ("jsonl", ANNOTATIONS["jsonl"], 'and "detections"'),
    ("coco", ANNOTATIONS["coco"], "results, a list"),
    ("coco", "[3]", r"results\[0\] is 3; expected an object"),
    ("coco", DETECTIONS["coco"].replace("0.5", "null"), r"results\[0\] has score None"),
    ("coco", DETECTIONS["coco"].replace("0.5", "NaN"), "image 7 .* not finite"),
    ("coco", DETECTIONS["coco"].replace("10, 20", "10, true, 3"), r"results\[0\]"),
    ("voc", DETECTIONS["voc"] + "a 1 2\n", "line 3 .* the name of an image, a score"),
    ("voc", DETECTIONS["voc"] + "a 1 9 9 7 9\n", "line 3"),
    ("voc", DETECTIONS["voc"] + "a 1 1 1 9 9\nStraße 1 1 1 9 9\n", "lines 1 and 4 begin with the same image"),
    ("kitti", KITTI, "line 1 of those with text has no score"),
    ("mot", DETECTIONS["mot"] + "2,-1,1,1,1,1,1\n1,-1,1,1,1,1,1\n", "line 4 .* Sort the lines by frame"),
    ("mot", "1,2,3\n", "line 1 .* 7 to 10 numbers"),
    ("caltech", DETECTIONS["caltech"] + "\n31,1,1,1,1\n", "line 4 is '31,1,1,1,1'; expected frame"),
    ("caltech", DETECTIONS["caltech"] + "29,1,1,1,1,1\n", "line 3 .* Sort the lines by frame"),
    ("caltech", DETECTIONS["caltech"] + "31,1,1,-1,1,1\n", "line 3"),
    ("yolo", ANNOTATIONS["yolo"], "line 1 .* and a score"),
]


@pytest.mark.parametrize(("format", "text", "message"), BAD_DETECTIONS)
def test_damaged_detections_are_named(tmp_path, format, text, message):
    path = written(tmp_path, format, text)
    with pytest.raises(ValueError, match=f"(?s){path.name}.*{message}"):
        list(read_detections(path, format))


@pytest.mark.parametrize("format", ANNOTATIONS)
def test_utf_16_is_refused(tmp_path, format):
    path = written(tmp_path, format, ANNOTATIONS[format], "utf-16")
    with pytest.raises(ValueError, match=f"{path.name} cannot be read as text: it holds NUL bytes"):
        read_annotations(path, format)


def test_entities_are_not_expanded(tmp_path):
    lines = ['<!ENTITY a "x">'] + [f'<!ENTITY a{k} "{f"&a{k - 1};" * 10 if k else "&a;"}">' for k in range(9)]
    text = f"<!DOCTYPE annotation [{''.join(lines)}]><annotation><filename>&a8;</filename></annotation>"
    with pytest.raises(ValueError, match="DOCTYPE"):
        read_annotations(written(tmp_path, "voc", text))


def test_a_format_that_is_not_told_is_asked_for(tmp_path):
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(ValueError, match=r"a\.txt does not tell its format.*csv, jsonl, coco, voc, yolo"):
        read_detections(tmp_path / "a.txt")
    with pytest.raises(ValueError, match=r"format must be one of 'csv', .*; got 'xls'"):
        write_annotations(tmp_path / "a.xls", [], "xls")
    with pytest.raises(FileNotFoundError, match=r"No file or folder .*none"):
        read_detections(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="is a folder; csv is one file"):
        read_annotations(tmp_path, "csv")


BAD_IMAGES = [
    (np.zeros((2, 2, 3), np.uint8), "names images; got ndarray. Save the pixels to a file"),
    (Path("a\nb.png"), "without control characters"),
    (Path("a\udcff.png"), "must be text in UTF-8"),
    (Path(" a.png"), "without blanks around it"),
]


@pytest.mark.parametrize(("image", "message"), BAD_IMAGES)
@pytest.mark.parametrize("format", [format for format in ANNOTATIONS if format != "yolo"])
def test_images_that_cannot_be_named(tmp_path, format, image, message):
    with pytest.raises(ValueError, match=message):
        write_annotations(tmp_path / "out", [DetectionRecord(image, [[0, 0, 1, 1]])], format)
    with pytest.raises(ValueError, match=message):
        write_detections(tmp_path / "found", [(image, [[0, 0, 1, 1, 1]])], format)


@pytest.mark.parametrize("format", ["csv", "jsonl", "coco", "voc", "kitti", "caltech", "mot"])
def test_an_image_is_written_once_and_nothing_is_left_of_a_failure(tmp_path, format):
    path, record = tmp_path / "out", DetectionRecord(Path("a1.png"), [[0, 0, 1, 1]])
    message = "same name|comes twice|belongs to two images|ascending order"
    for write, entries in (
        (write_annotations, [record, record]),
        (write_detections, [("a1.png", [[0, 0, 1, 1, 1]])] * 2),
    ):
        with pytest.raises(ValueError, match=message):
            write(path, entries, format)
        assert path.is_dir() or not path.exists()
        if path.is_dir():
            path.rename(tmp_path / write.__name__)


def test_old_files_stay_until_new_ones_are_complete(tmp_path):
    path = tmp_path / "a.csv"
    write_detections(path, [("a.png", [[0, 0, 1, 1, 1]])])
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"The detections of b\.png cannot be written: a number is not finite"):
        write_detections(path, [("a.png", []), ("b.png", [[0, 0, 1, 1, np.nan]])])
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


REFUSED = [
    ("yolo", DetectionRecord(Path("a.png"), ignore=[[0, 0, 1, 1]]), "1 boxes to ignore, which YOLO texts cannot hold"),
    ("yolo", DetectionRecord(Path("none.png")), "there is no file none.png"),
    ("kitti", DetectionRecord(Path("a.png"), [[0, 0, 1, 1]], labels=["dog"]), "Classes of KITTI are Car.*got 'dog'"),
    ("mot", DetectionRecord(Path("a1.png"), [[0, 0, 1, 1]], labels=["dog"]), "Classes of MOT are .*got 'dog'"),
    ("mot", DetectionRecord(Path("a.png"), [[0, 0, 1, 1]]), "must end in the number of its frame, 1 or larger"),
    ("mot", DetectionRecord(Path("0.png"), [[0, 0, 1, 1]]), "must end in the number of its frame, 1 or larger"),
    ("caltech", DetectionRecord(Path("a.png"), [[0, 0, 1, 1]], labels=["a b"]), "must have none; got 'a b'"),
    ("kitti", DetectionRecord(Path("classes.png")), "is no name of an image in a folder"),
    ("csv", DetectionRecord(Path("a.png"), [[0, 0, 1, 1]], labels=[""]), "A class must be text"),
]


@pytest.mark.parametrize(("format", "record", "message"), REFUSED)
def test_what_a_format_cannot_hold_is_refused(tmp_path, format, record, message):
    with pytest.raises(ValueError, match=message):
        write_annotations(tmp_path / "out", [record], format)


def test_folders_are_new(tmp_path):
    (tmp_path / "old.txt").write_text("")
    with pytest.raises(ValueError, match=r"is not empty.*give a new folder"):
        write_detections(tmp_path, [], "kitti")
