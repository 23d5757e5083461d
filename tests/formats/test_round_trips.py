"""Every format returns what it can hold, of any names, classes and boxes, in constant memory."""

import itertools
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from paucens.datasets import DetectionRecord
from paucens.formats import FORMATS, read_annotations, read_detections, write_annotations, write_detections

quick = settings(max_examples=25, deadline=None, derandomize=True)
of_all_formats = pytest.mark.parametrize("format", FORMATS)
FILES = {"csv": "a.csv", "jsonl": "a.jsonl", "coco": "a.json", "mot": "a.txt"}  # others are folders
RESULT_FILES = FILES | {"voc": "a.txt", "caltech": "a.txt"}
BY_STEM = {"yolo", "caltech", "kitti", "mot"}
BY_FRAME = {"mot"}
RESULTS_BY_FRAME = {"mot": "00000{}", "caltech": "I0000{}"}
CLASSES = {"kitti": ["Pedestrian", "Cyclist", "Car"], "mot": ["pedestrian", "car"], "caltech": ["person", "people"]}
RESULTS_WITH_BOXES = {"mot", "voc", "caltech", "coco"}

numbers = st.floats(-1e6, 1e6, allow_subnormal=False)
sizes = st.floats(0, 1e4, allow_subnormal=False)
boxes = st.lists(st.tuples(numbers, numbers, sizes, sizes), max_size=3)
scored = st.lists(st.tuples(numbers, numbers, sizes, sizes, st.floats(-1e300, 1e300)), max_size=3)
signs = st.text("aZäß€7 .,;:'\"&<>-_", min_size=1, max_size=6).map(lambda text: f"x{text}x")


@st.composite
def names(draw, format, by_frame):
    """Draw names of images that the format keeps."""
    n = draw(st.integers(1, 4))
    if by_frame:
        return [by_frame.format(k) for k in range(1, n + 1)]
    lost = str.maketrans("", "", " ." if format == "voc" else "." if format in BY_STEM else "")
    kept = signs.map(lambda text: text.translate(lost))
    stems = draw(st.lists(kept, min_size=n, max_size=n, unique_by=str.lower))
    if format in BY_STEM:
        return stems
    return [f"{stem}.png" if format == "voc" else f"f/{stem}.png" for stem in stems]


@st.composite
def records_for(draw, format):
    found = []
    for name in draw(names(format, format in BY_FRAME and "00000{}")):
        rows, ignore = draw(boxes), [] if format == "yolo" else draw(boxes)
        kinds = st.sampled_from(CLASSES[format]) if format in CLASSES else signs
        labels = draw(st.lists(kinds, min_size=len(rows), max_size=len(rows)))
        if format != "mot" or len(rows) + len(ignore):
            found.append(DetectionRecord(Path(name), rows, ignore, labels))
    return found


@st.composite
def detections_for(draw, format):
    pairs = [(Path(name), draw(scored)) for name in draw(names(format, RESULTS_BY_FRAME.get(format)))]
    return [pair for pair in pairs if pair[1] or format not in RESULTS_WITH_BOXES]


def with_images(folder, format, images):
    """Make files for the formats that need the sizes of images; return the paths and the options of the readers."""
    if format != "yolo":
        return images, {}
    (folder / "images").mkdir()
    paths = [folder / "images" / f"{image.name}.png" for image in images]
    for path in paths:
        Image.new("L", (640, 480)).save(path)
    return paths, {"images": folder / "images"}


@of_all_formats
def test_annotations(format):
    @given(records=records_for(format))
    @quick
    def returns(records):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / FILES.get(format, "folder")
            images, options = with_images(Path(name), format, [record.image for record in records])
            given = [
                DetectionRecord(image, record.boxes, record.ignore, record.labels)
                for image, record in zip(images, records, strict=True)
            ]
            write_annotations(path, given, format)
            assert_same_records(read_annotations(path, format, **options), given, format)

    returns()


def assert_same_records(found, given, format):
    by_name = {shortened(record.image, format): record for record in found}
    assert by_name.keys() == {shortened(record.image, format) for record in given} and len(found) == len(given)
    for record in given:
        other = by_name[shortened(record.image, format)]
        np.testing.assert_allclose(other.boxes, record.boxes, rtol=1e-9, atol=1e-8)
        np.testing.assert_allclose(other.ignore, record.ignore, rtol=1e-9, atol=1e-8)
        assert other.labels.tolist() == record.labels.tolist()


def shortened(image, format):
    return image.stem if format in BY_STEM else image.name if format == "voc" else image.as_posix()


@of_all_formats
def test_detections(format):
    @given(detections=detections_for(format))
    @quick
    def returns(detections):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / RESULT_FILES.get(format, "folder")
            images, options = with_images(Path(name), format, [image for image, _ in detections])
            given = list(zip(images, [rows for _, rows in detections], strict=True))
            write_detections(path, given, format)
            found = {shortened_result(image, format): rows for image, rows in read_detections(path, format, **options)}
        assert found.keys() == {shortened_result(image, format) for image, _ in given}
        for image, rows in given:
            rows = np.reshape(rows, (-1, 5))
            best = rows[np.argsort(-rows[:, 4], kind="stable")]
            other = found[shortened_result(image, format)]
            assert other.dtype == np.float64 and other.shape == best.shape
            np.testing.assert_allclose(other[:, :4], best[:, :4], rtol=1e-9, atol=1e-8)
            np.testing.assert_array_equal(other[:, 4], best[:, 4])

    returns()


def shortened_result(image, format):
    return image.stem if format in BY_STEM | {"voc"} else image.as_posix()


def test_kitti_and_mot_have_their_own_word_for_a_person(tmp_path):
    record = DetectionRecord(Path("1"), [[1, 2, 3, 4]])
    for format, word in (("kitti", "Pedestrian"), ("mot", "pedestrian")):
        write_annotations(tmp_path / format, [record], format)
        assert read_annotations(tmp_path / format, format)[0].labels.tolist() == [word]


def test_coco_results_take_numbers_from_the_document(tmp_path):
    records = [DetectionRecord(Path(name), [[1, 2, 3, 4]] * 2, labels=["car", "dog"]) for name in ("b.png", "a.png")]
    write_annotations(tmp_path / "truth.json", records)
    found = [(Path("a.png"), [[1, 2, 3, 4, 0.5], [1, 2, 3, 4, 0.75]])]
    write_detections(tmp_path / "found.json", found, annotations=tmp_path / "truth.json", label="dog")
    text = (tmp_path / "found.json").read_text()
    assert text.startswith('[{"image_id": 2, "category_id": 2, "bbox": [1.0, 2.0, 3.0, 4.0], "score": 0.5}')
    options = {"annotations": tmp_path / "truth.json"}
    read = dict(read_detections(tmp_path / "found.json", **options, label="dog"))
    assert list(read) == [Path("b.png"), Path("a.png")] and read[Path("a.png")][:, 4].tolist() == [0.75, 0.5]
    assert not any(len(rows) for _, rows in read_detections(tmp_path / "found.json", **options, label="car"))
    with pytest.raises(ValueError, match=r"label must be one of the classes \['car', 'dog'\]; got 'cat'"):
        list(read_detections(tmp_path / "found.json", **options, label="cat"))
    with pytest.raises(ValueError, match=r"c\.png is not in .*truth\.json"):
        write_detections(tmp_path / "other.json", [("c.png", [])], label="dog", **options)


@pytest.mark.parametrize("format", [format for format in FORMATS if format not in ("coco", "yolo")])
def test_memory_does_not_grow_with_the_number_of_images(tmp_path, format):
    """Ten times as many images take 16 bytes more for each, and names in a folder."""
    few, many = (least_peak(tmp_path, format, n) for n in (40, 400))
    lines_at_once = 600_000 if format == "caltech" else 0
    assert many < few + 400 * 360 + lines_at_once  # all detections would be 320 kB as numbers, and 1 MB as objects


def least_peak(folder, format, n):
    """Return the memory that detections in n images take; the least of two, since others may allocate too."""
    peaks = []
    for k in range(2):
        pairs = ((Path(f"{k:06d}"), np.full((20, 5), 1.5)) for k in range(1, n + 1))
        tracemalloc.start()
        write_detections(folder / f"{n} {k}", pairs, format)
        assert sum(len(rows) for _, rows in read_detections(folder / f"{n} {k}", format)) == 20 * n
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return min(peaks)


def test_images_of_a_folder_are_found_with_their_suffix(tmp_path):
    (tmp_path / "images").mkdir()
    Image.new("L", (4, 4)).save(tmp_path / "images" / "000001.jpg")
    record = DetectionRecord(Path("000001"), [[1, 2, 3, 4]])
    for format in ("kitti", "mot", "caltech"):
        write_annotations(tmp_path / format, [record], format)
        assert read_annotations(tmp_path / format, format, images=tmp_path / "images")[0].image.is_file()
        with pytest.raises(ValueError, match=r"its image 000001 is not in .*with any suffix out of .png"):
            read_annotations(tmp_path / format, format, images=tmp_path)


def test_sizes_are_those_of_upright_images(tmp_path):
    """What `read_rgb` turns upright is measured upright."""
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (40, 20)).save(tmp_path / "a.jpg", exif=exif)
    (tmp_path / "a.txt").write_text("0 0.5 0.5 1 1\n")
    assert read_annotations(tmp_path / "a.txt", "yolo")[0].boxes.tolist() == [[0, 0, 20, 40]]
    write_annotations(tmp_path / "xml", [DetectionRecord(tmp_path / "a.jpg")], "voc")
    text = (tmp_path / "xml" / "a.xml").read_text()
    assert "<height>40</height>" in text and "<width>20</width>" in text
    write_annotations(tmp_path / "a.json", [DetectionRecord(tmp_path / "a.jpg")])
    assert '"width": 20, "height": 40' in (tmp_path / "a.json").read_text()


def test_options_follow_formats(tmp_path):
    for k, (format, suffix) in enumerate(itertools.product(("csv", "jsonl", None), (".csv", ".JSONL"))):
        path = tmp_path / f"{k}{suffix}"
        write_detections(path, [("a", [])], format)
        assert [image.name for image, _ in read_detections(path, format)] == ["a"]
    write_annotations(tmp_path / "folder", [DetectionRecord(Path("a.png"))], "voc")
    assert read_annotations(tmp_path / "folder")[0].image == Path("a.png")
    assert read_annotations(tmp_path / "folder" / "a.xml", images="photos")[0].image == Path("photos/a.png")
