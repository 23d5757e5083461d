"""From annotated images to crops and negatives, and to a detector of any shape."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from paucens import AdaBoostClassifier, Tree
from paucens.datasets import DetectionRecord, street_crops, synthetic_streets
from paucens.detector import Window, cut_crops, train_detector
from paucens.detector.scan import Search
from paucens.detector.window_sampler import WindowSampler
from paucens.evaluation import match_detections
from paucens.features import ChannelSpec
from paucens.images import read_rgb
from paucens.parallel import ALONE

SPEC = ChannelSpec.parse("M+O+LUV", preset="acf")
BOOSTER = AdaBoostClassifier(learner=Tree(depth=2), shrinkage=0.1)
QUICK = {"n_estimators": (16,), "n_negatives": 300, "most_negatives": 300}


def test_street_crops_and_windows_agree_on_the_height_of_a_person():
    """The same bytes: both put a person of the height of `Window.target` into the middle."""
    records = synthetic_streets(3, seed=4)
    np.testing.assert_array_equal(np.array(cut_crops(records, Window())), street_crops(records))
    image = np.full((400, 300, 3), 200, dtype=np.uint8)
    image[100:300, 100:182] = 10
    for window in (Window(), Window((64, 96), (40.0, 80.0), 8)):
        (crop,) = cut_crops([DetectionRecord(image, [[100, 100, 82, 200]])], window)
        rows, columns = np.nonzero(crop[..., 0] < 105)
        height, centre = window.target[0], np.array(window.crop) / 2
        assert crop.shape == (*window.crop, 3)
        assert np.ptp(rows) + 1 == height and abs(np.ptp(columns) + 1 - height * 0.41) <= 1
        assert np.allclose([rows.mean() + 0.5, columns.mean() + 0.5], centre, atol=0.6)


def test_crops_of_files_arrays_and_grey_images_are_the_same(tmp_path):
    record = synthetic_streets(1, seed=4)[0]
    Image.fromarray(record.image).save(tmp_path / "a.png")
    crops = cut_crops([record])
    for image in (tmp_path / "a.png", Image.fromarray(record.image), record.image / 255):
        np.testing.assert_array_equal(cut_crops([DetectionRecord(image, record.boxes)]), crops)


def test_objects_at_the_border_repeat_it_or_are_left_out():
    image = np.tile(np.arange(200, dtype=np.uint8)[:, None, None], (1, 200, 3))
    record = DetectionRecord(image, [[-20, -10, 40, 100], [80, 50, 41, 100]])
    both, inner = cut_crops([record]), cut_crops([record], repeat_edges=False)
    assert len(both) == 2 and len(inner) == 1
    np.testing.assert_array_equal(inner[0], both[1])
    assert (both[0][:20] == both[0][0]).all()


def test_a_contact_sheet_is_written_on_request(tmp_path):
    crops = cut_crops(synthetic_streets(2, seed=4), contact_sheet=tmp_path / "crops.png")
    sheet = read_rgb(tmp_path / "crops.png")
    assert sheet.shape[0] >= 160 and sheet.shape[1] >= 96
    np.testing.assert_array_equal(sheet[4:164, 4:100], crops[0])


def test_one_class_is_chosen():
    image = np.zeros((200, 200, 3), np.uint8)
    record = DetectionRecord(image, [[0, 0, 41, 100], [50, 50, 100, 50]], labels=["person", "car"])
    with pytest.raises(ValueError, match=r"classes \['car', 'person'\]; choose one of them: label='car'"):
        cut_crops([record])
    with pytest.raises(ValueError, match=r"label must be one of the classes of the records, \['car', 'person'\]"):
        cut_crops([record], label="dog")
    assert len(cut_crops([record], label="car")) == 1


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], "records must be a list of images"),
        (["a.png"], r"records\[0\] must be a DetectionRecord"),
        ([DetectionRecord(np.zeros((9, 9, 3), np.uint8), [[0, 0, 5, 0]])], r"records\[0\] has the box .* no area"),
        ([DetectionRecord(np.zeros((9, 9, 3), np.uint8), [[9, 0, 5, 5]])], "no area inside its image of 9 x 9 pixels"),
        ([DetectionRecord(np.zeros((9, 9, 4), np.uint8), [[0, 0, 5, 5]])], r"records\[0\]: The image has 4 values"),
    ],
)
def test_records_that_are_refused(records, message):
    with pytest.raises((ValueError, TypeError), match=message):
        cut_crops(records)
    with pytest.raises(TypeError, match="window must be a Window"):
        cut_crops([DetectionRecord(Path("a.png"))], (128, 64))


# -- negatives around objects ----------------------------------------------------------------------


class Seen:
    """A sampler that notes windows instead of computing features."""

    def __init__(self, regions, n_images=1):
        search = Search(SPEC, Window(), 4)
        self.sampler = WindowSampler(search, Window().features(SPEC)[:1], 0, ALONE, regions=regions)
        self.boxes = []
        self.sampler._of_windows = self.note

    def note(self, index, rgb, levels, windows):
        self.boxes += [self.sampler.search.window.boxes([cell], levels[k].ratio)[0] for k, *cell in windows]
        return np.zeros((len(windows), 1), np.float32)


def test_random_negatives_overlap_nothing_that_is_marked():
    image, regions = np.zeros((300, 400, 3), np.uint8), np.array([[100.0, 50, 60, 150], [300, 0, 20, 300]])
    seen = Seen([regions])
    assert len(seen.sampler.random_negatives([image], [0], 200)) == 200
    for x, y, w, h in seen.boxes:
        across = np.minimum(x + w, regions[:, 0] + regions[:, 2]) - np.maximum(x, regions[:, 0])
        down = np.minimum(y + h, regions[:, 1] + regions[:, 3]) - np.maximum(y, regions[:, 1])
        assert not ((across > 0) & (down > 0)).any()
    free = Seen(None)
    free.sampler.random_negatives([image], [0], 200)
    assert any(abs(x + w / 2 - 130) < 40 for x, _, w, _ in free.boxes)  # without regions, some are there
    full = Seen([np.array([[-50.0, -50, 600, 600]])])
    assert len(full.sampler.random_negatives([image], [0], 20)) == 0


def test_hard_negatives_overlap_nothing_that_is_marked():
    class Finds:
        def candidates(self, rgb, levels, threshold, threads):
            cells = np.array([[0, 0, 0], [0, 2, 30]])
            boxes = np.concatenate([Window().boxes(cells[:, 1:], levels[0].ratio), [[2.0], [1.0]]], axis=1)
            return boxes, cells

    image = np.zeros((300, 400, 3), np.uint8)
    everywhere, beside = Seen(None), Seen([np.array([[0.0, 0, 30, 80]])])
    for seen, n in ((everywhere, 2), (beside, 1)):
        assert len(seen.sampler.hard_negatives([image], [0], Finds(), 0, 5)) == n
    np.testing.assert_array_equal(beside.boxes, everywhere.boxes[1:])


def test_records_are_crops_and_images_around_them(few_streets):
    """Without regions in them, records train the detector that their crops and images train."""
    crops, empty = few_streets
    people = synthetic_streets(4, seed=1, size=(240, 320))
    records = [DetectionRecord(record.image, record.boxes) for record in people]
    from_records = train_detector(None, empty, SPEC, BOOSTER, records=records, **QUICK)
    by_hand = train_detector(cut_crops(records), empty, SPEC, BOOSTER, **QUICK)
    scene = synthetic_streets(1, seed=8, size=(240, 320))[0].image
    assert len(from_records.detect(scene, threshold=-50)) and len(by_hand.detect(scene, threshold=-50))
    assert from_records.notes["negatives"] == by_hand.notes["negatives"] == 300
    only = train_detector(spec=SPEC, classifier=BOOSTER, records=records, **QUICK)
    assert only.notes["negatives"] > 250
    with pytest.raises(ValueError, match="Give positives or records, not both"):
        train_detector(crops, empty, SPEC, BOOSTER, records=records)
    far = [DetectionRecord(np.zeros((100, 60, 3), np.uint8), [[10, 10, 40, 80]])]
    with pytest.raises(ValueError, match="None of 1 records has an object whose crop can be cut"):
        train_detector(spec=SPEC, classifier=BOOSTER, records=far, repeat_edges=False)
    covered = [DetectionRecord(people[0].image, people[0].boxes, [[0, 0, 2000, 2000]])]
    with pytest.raises(ValueError, match="large enough for a window beside what is marked in them"):
        train_detector(spec=SPEC, classifier=BOOSTER, records=covered, **QUICK)


# -- another shape ---------------------------------------------------------------------------------


def street_with_cars(seed, n=3):
    """Render cars, seen from the side, among boards and balls."""
    rng = np.random.RandomState(seed)
    noise = rng.randint(90, 150, size=(30, 40, 3)).astype(np.uint8)
    picture = Image.fromarray(noise).resize((400, 300), Image.Resampling.BICUBIC)
    draw, boxes = ImageDraw.Draw(picture), []
    for k in range(40):
        x, y = rng.randint(400), rng.randint(300)
        shape = draw.rectangle if k % 2 else draw.ellipse
        shape([x, y, x + rng.randint(10, 60), y + rng.randint(10, 40)], fill=tuple(rng.randint(256, size=3).tolist()))
    for k in range(n):
        h = rng.randint(36, 60)
        w, x, y = 2 * h, rng.randint(5, 260), 5 + 100 * k + rng.randint(30)
        colour = tuple(rng.randint(256, size=3).tolist())
        middle, back, front = rng.uniform(0.35, 0.5), rng.uniform(0, 0.3), rng.uniform(0.7, 0.9)
        draw.rectangle([x, y + middle * h, x + w - 1, y + 0.8 * h], fill=colour)
        roof = [(back, middle), (back + 0.1, 0), (front - 0.2, 0), (front, middle)]
        glass = tuple(rng.randint(256, size=3).tolist())
        draw.polygon([(x + across * w, y + down * h) for across, down in roof], fill=glass)
        for at in (0.22, 0.78):
            r, cx, cy = 0.2 * h, x + at * w, y + 0.8 * h
            draw.ellipse([cx - r, cy - r, cx + r, cy + r - 1], fill=(20, 20, 20))
        boxes.append([x, y, w, h])
    return DetectionRecord(np.array(picture), boxes, labels=["car"] * n)


def test_cars_are_learnt_in_a_window_of_their_shape():
    """Most cars of new images are found with few false alarms."""
    records = [street_with_cars(seed) for seed in range(16)]
    options = {"window": Window((48, 88), (36.0, 72.0), 8), "n_estimators": (16, 64, 64), "n_negatives": 1000}
    stumps = AdaBoostClassifier(learner=Tree(depth=1), shrinkage=0.1)
    detector = train_detector(spec=SPEC, classifier=stumps, records=records, label="car", **options)
    found = n_false = 0
    for seed in range(100, 106):
        record = street_with_cars(seed)
        status, matched = match_detections(detector.detect(record.image), record.boxes, [])
        found, n_false = found + matched.sum(), n_false + (status == 0).sum()
    assert found >= 15 and n_false <= 6  # of 18 cars
