"""Average precision of KITTI: cases by hand, and a slow twin of its matching."""

import numpy as np
import pytest
import reference_kitti as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_kitti import PERSON, label_of
from sklearn.utils import Bunch

from paucens.datasets.kitti import read_kitti
from paucens.evaluation import kitti_average_precision, kitti_precision_recall


def with_perfect_ones(detections, label):
    """One image beside 60 whose one person is found with a higher score: recalls 1/40, ... are reached there."""
    detections = [[[*PERSON, 10 + i]] for i in range(60)] + [detections]
    return detections, [label_of(("Pedestrian", PERSON))] * 60 + [label]


def precision(detections, *objects, **options):
    return kitti_average_precision(*with_perfect_ones(detections, label_of(*objects)), **options)


def test_perfect_detections():
    assert precision([[*PERSON, 5]], ("Pedestrian", PERSON)) == 1
    assert precision([[*PERSON, 5]], ("Pedestrian", PERSON), n_points=11) == 1


def test_recall_that_is_not_reached():
    """Half of 120 are found, without an error: about half of the recalls are reached."""
    label = label_of(*[("Pedestrian", [100 * i, 0, 20, 50]) for i in range(60)])
    images = with_perfect_ones([], label)
    assert kitti_average_precision(*images) == pytest.approx(19 / 40, abs=1 / 40 + 1e-12)
    assert kitti_average_precision(*images, n_points=11) == pytest.approx(5 / 11, abs=1 / 11 + 1e-12)
    assert kitti_average_precision([[]], [label]) == 0


def test_few_objects_reach_few_recalls():
    """As the benchmark does it: perfect detections of n objects reach the recalls 0 to (n - 1) / 40."""
    label, all_of_40, all_of_11 = label_of(("Pedestrian", PERSON)), [], []
    for n in range(1, 46):
        images = [[[*PERSON, i]] for i in range(n)], [label] * n
        all_of_40.append(kitti_average_precision(*images))
        all_of_11.append(kitti_average_precision(*images, n_points=11))
    n = np.minimum(np.arange(45), 40)
    np.testing.assert_allclose(all_of_40, n / 40, rtol=1e-12)
    np.testing.assert_allclose(all_of_11, (n // 4 + 1) / 11, rtol=1e-12)
    assert (all_of_40[0], round(all_of_40[9], 3), all_of_40[40]) == (0, 0.225, 1)


def test_average_precision_is_the_mean_of_the_curve():
    rng, label = np.random.default_rng(0), label_of(("Pedestrian", PERSON))
    found = [[[*PERSON, rng.normal()], [200, 0, 20, 50, rng.normal() - 1]] for _ in range(100)]
    recall, curve = kitti_precision_recall(found, [label] * 100, "easy")
    assert recall[20] == 0.5 and 0.5 < curve[40] < curve[20] < curve[0] == 1 and (np.diff(curve) <= 0).all()
    assert kitti_average_precision(found, [label] * 100, "easy") == curve[1:].mean()
    assert kitti_average_precision(found, [label] * 100, "easy", n_points=11) == curve[::4].mean()


def test_precision_by_hand():
    """100 people in one image each, and as many errors: all before, all after, or in between."""
    label = label_of(("Pedestrian", PERSON))
    right, wrong = [[[*PERSON, i]] for i in range(100)], [[[200, 0, 20, 50, 50.5]] for _ in range(100)]
    images = right + wrong, [label] * 100 + [label_of()] * 100
    value = kitti_average_precision(*images)
    found = np.linspace(1, 100, 41)[1:]  # about
    expected = np.where(found <= 49, 1.0, 100 / 200)  # later precision rises to 0.5
    assert value == pytest.approx(expected.mean(), abs=0.02)


WRONG = [500, 0, 20, 50, 1000]  # first of all


def loss(extra, *objects, **options):
    """How much a precision of 1 falls by detections added to the images of perfect ones."""
    return 1 - precision([[*PERSON, 5], extra], ("Pedestrian", PERSON), *objects, **options)


@pytest.mark.parametrize(
    "where",
    [
        pytest.param(("DontCare", [490, 0, 100, 100]), id="DontCare"),
        pytest.param(("Person_sitting", [500, 0, 20, 50]), id="who sits"),
        pytest.param(("Pedestrian", [500, 0, 20, 50], 2), id="hidden"),
        pytest.param(("Pedestrian", [500, 0, 20, 50], 0, 0.4), id="cut off"),
    ],
)
def test_what_excuses_a_detection(where):
    assert loss(WRONG) > 0
    assert loss(WRONG, where) == 0


@pytest.mark.parametrize(
    "where",
    [
        pytest.param(("DontCare", [510, 0, 100, 100]), id="half in DontCare"),
        pytest.param(("Cyclist", [500, 0, 20, 50]), id="another kind"),
        pytest.param(("Pedestrian", [500, 0, 20, 49.9], 3), id="once only"),
    ],
)
def test_what_does_not(where):
    more = [[*PERSON, 5], WRONG, WRONG]
    assert 1 - precision(more, ("Pedestrian", PERSON), where) > 0


def test_difficulties():
    """A person of 30 px and half hidden ones: missing them matters only if they are evaluated."""
    for extra, costs in [
        (("Pedestrian", [300, 0, 20, 30]), {"easy": False, "moderate": True, "hard": True}),
        (("Pedestrian", [300, 0, 20, 24.9]), {"easy": False, "moderate": False, "hard": False}),
        (("Pedestrian", [300, 0, 20, 50], 1), {"easy": False, "moderate": True, "hard": True}),
        (("Pedestrian", [300, 0, 20, 50], 2), {"easy": False, "moderate": False, "hard": True}),
        (("Pedestrian", [300, 0, 20, 50], 0, 0.2), {"easy": False, "moderate": True, "hard": True}),
        (("Pedestrian", [300, 0, 20, 50], 0, 0.5), {"easy": False, "moderate": False, "hard": True}),
    ]:
        for difficulty, cost in costs.items():
            label = label_of(*[extra] * 60)
            assert (kitti_average_precision(*with_perfect_ones([], label), difficulty) < 1) == cost


def test_short_detections_do_not_count():
    """Heights are cut to whole pixels: 25.0 counts, 24.9 does not, nor does 39.9 in "easy"."""
    assert loss([500, 0, 20, 24.9, 1000]) == 0
    assert loss([500, 0, 20, 25, 1000]) > 0
    assert loss([500, 0, 20, 39.9, 1000], difficulty="easy") == 0


def test_overlap_must_be_larger():
    found = [[0, 0, 20, 100, 1000]]  # half of it
    assert precision(found, ("Pedestrian", PERSON)) < precision([[0, 0, 20, 99, 1000]], ("Pedestrian", PERSON)) == 1


def test_cars_need_more():
    images = [[[0, 0, 20, 60, 1 - i]] for i in range(100)], [label_of(("Car", [0, 0, 20, 40]))] * 100
    assert kitti_average_precision(*images, kind="Car") == 0
    images = images[0], [label_of(("Car", [0, 0, 20, 45]))] * 100
    assert kitti_average_precision(*images, kind="Car") == pytest.approx(1)


@given(seed=st.integers(0, 2**32 - 1), n_images=st.integers(1, 25), n_points=st.sampled_from([11, 40]))
@settings(deadline=None, max_examples=60, derandomize=True)
def test_twin(seed, n_images, n_points):
    detections, labels = reference.draw_labels(np.random.RandomState(seed), n_images)
    value = kitti_average_precision(detections, labels, n_points=n_points)
    assert value == pytest.approx(reference.average_precision(detections, labels, n_points), rel=1e-12)


def test_labels_from_files(tmp_path):
    line = "Pedestrian 0.00 0 -0.20 0 0 20 50 1.89 .48 1.2 1.84 1.47 8.41 .01"
    (tmp_path / "000000.txt").write_text(line)
    (tmp_path / "000001.txt").write_text("")
    labels = [read_kitti(tmp_path / "000000.txt")] * 100 + [read_kitti(tmp_path / "000001.txt")]
    detections = [[[*PERSON, i]] for i in range(100)] + [[]]
    assert kitti_average_precision(detections, labels, "easy") == 1


def test_what_is_refused():
    label = label_of(("Pedestrian", PERSON))
    for call, message in [
        (
            lambda: kitti_average_precision([], [label]),
            "Every list needs one entry per image; got .'detections': 0, 'labels': 1",
        ),
        (lambda: kitti_average_precision([[]], [label_of()]), "no Pedestrian of difficulty 'moderate' is labelled"),
        (lambda: kitti_average_precision([[]], [label], kind="Cyclist"), "no Cyclist"),
        (lambda: kitti_average_precision([[]], [label], "normal"), "difficulty must be one of 'easy'"),
        (lambda: kitti_average_precision([[]], [label], kind="Van"), "kind must be one of 'Pedestrian'"),
        (lambda: kitti_average_precision([[]], [label], n_points=12), "n_points must be one of 40, 11"),
        (lambda: kitti_average_precision([[[0, 0, 1, 1, np.nan]]], [label]), r"detections\[0\] must be finite"),
        (
            lambda: kitti_average_precision([[]], [Bunch(**label | {"occlusion": []})]),
            r"labels\[0\] must have equally many",
        ),
        (lambda: kitti_average_precision([[]], [Bunch(**label | {"boxes": [[0] * 3]})]), r"labels\[0\]\.boxes must"),
        (
            lambda: kitti_average_precision(None, [label]),
            "detections must be a list with one entry per image; got None",
        ),
        (
            lambda: kitti_average_precision([[]], [[]]),
            r"labels\[0\] lacks names, boxes, .*; expected what .*read_kitti",
        ),
        (lambda: kitti_average_precision([[]], [Bunch(**label | {"truncation": [np.nan]})]), "got nan"),
    ]:
        with pytest.raises(ValueError, match=message):
            call()
