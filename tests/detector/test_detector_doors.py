"""What is no number, or a number out of range, at the doors of the detector: an error that names it, or right results.

Numbers of every library count alike, and bounds beyond single precision raise no warning.
"""

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image
from tiny_detector import tiny_detector

from paucens import AdaBoostClassifier, Tree
from paucens.detector import PedestrianDetector, Window, non_maximum_suppression, positive_traces, train_detector
from paucens.detector.first_stage import FirstStage
from paucens.detector.scan import Search
from paucens.features import ChannelSpec

HUGE = 10**400
NO_NUMBERS = [np.nan, True, np.True_, "1", b"1", [1], np.array([1, 2]), 1j, {}]
NO_HEIGHTS = [*NO_NUMBERS, np.inf, -np.inf, HUGE, -HUGE, 0, -1]
NO_JOBS = [np.nan, np.inf, True, np.True_, "2", 0, 1.5, [1], np.float32(2), Fraction(2)]
TOO_SMOOTH = 2
IMAGE = np.random.default_rng(0).integers(256, size=(30, 40, 3)).astype(np.uint8)
CROP = IMAGE[:24, :24]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(scope="module")
def detector():
    tiny = tiny_detector().without_stages()
    return replace(tiny, trees=tiny.trees.without_rejection())


# -- refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_thresholds(detector, value):
    with pytest.raises(ValueError, match="threshold must be a number, not nan; got"):
        detector.detect(IMAGE, threshold=value)
    with pytest.raises(ValueError, match="least_score must be a number, not nan; got"):
        positive_traces(detector, [CROP], least_score=value)


@pytest.mark.parametrize("name", ["min_height", "max_height"])
@pytest.mark.parametrize("value", NO_HEIGHTS)
def test_heights_of_people(detector, name, value):
    with pytest.raises(ValueError, match=f"{name} must be a finite number, larger than 0; got"):
        detector.detect(IMAGE, **{name: value})


@pytest.mark.parametrize("value", [5e-324, 1e-300, 1e-3])
def test_people_too_small_to_enlarge_the_image(detector, value):
    with pytest.raises(ValueError, match=r"min_height=.* enlarges the image to .* at most 400 million are searched\."):
        detector.detect(IMAGE, min_height=value)


@pytest.mark.parametrize("kind", [float, int, np.float16, np.float32, np.int8, Fraction])
def test_empty_ranges(detector, kind):
    with pytest.raises(ValueError, match="max_height is 11, but only people of 12 pixels and more are searched for"):
        detector.detect(IMAGE, max_height=kind(11))
    with pytest.raises(ValueError, match="max_height is 14, but only people of 15 pixels and more are searched for"):
        detector.detect(IMAGE, min_height=kind(15), max_height=kind(14))


@pytest.mark.parametrize("value", NO_JOBS)
def test_numbers_of_threads(detector, value):
    booster = AdaBoostClassifier(learner=Tree(depth=1), n_estimators=2)
    for call in (
        lambda: detector.detect(IMAGE, n_jobs=value),
        lambda: detector.threshold_at_fppi([IMAGE], 1, n_jobs=value),
        lambda: detector.approximated([IMAGE], n_jobs=value),
        lambda: positive_traces(detector, [CROP], least_score=0, n_jobs=value),
        lambda: train_detector([CROP], [IMAGE], detector.spec, booster, window=detector.window, n_jobs=value),
    ):
        with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0"):
            call()


@pytest.mark.parametrize("value", [*NO_HEIGHTS, None])
def test_false_positives_per_image(detector, value):
    with pytest.raises(ValueError, match="fppi must be a finite number, larger than 0; got"):
        detector.threshold_at_fppi([IMAGE], value)


@pytest.mark.parametrize("value", [1, 0, "yes", None, np.nan, [True]])
def test_whether_thresholds_are_staged(detector, value):
    with pytest.raises(TypeError, match="staged must be True or False; got"):
        detector.threshold_at_fppi([IMAGE], 1, staged=value)


def test_too_few_images_for_any_number_of_them(detector):
    for fppi, needed in ((0.05, "20"), (1e-300, r"1e\+300"), (5e-324, "inf")):
        with pytest.raises(ValueError, match=f"1 images are too few to measure .* per image; give {needed} or more"):
            detector.threshold_at_fppi([IMAGE], fppi)


@pytest.mark.parametrize("value", [*NO_NUMBERS, None, -1, -5e-324, -np.inf])
def test_distances_of_the_first_stage(detector, value):
    for call in (
        lambda: FirstStage(("LUV",), within=value),
        lambda: detector.with_first_stage(tiny_detector(), within=value),
    ):
        with pytest.raises(ValueError, match=r"within must be a (number|distance of scores, at least 0)"):
            call()


@pytest.mark.parametrize("value", [*NO_NUMBERS, None, np.inf, HUGE, -20, TOO_SMOOTH])
def test_numbers_of_a_search(value):
    spec = ChannelSpec.parse("LUV+M")
    for settings, message in (
        ({"smooth": value}, "smooth must be a finite number, 0 or larger and at most 1; got"),
        ({"lambdas": {"LUV": 0, "M": value}}, r"lambdas\['M'\] must be a number in \[-10, 10\]; got"),
        ({"per_octave": value}, "scales must be an integer, from 1 to 64; got"),
    )[: 1 if value is TOO_SMOOTH else 3]:
        with pytest.raises(ValueError, match=message):
            Search(spec, Window(), **settings)


@pytest.mark.parametrize("value", [np.nan, True, np.True_, "1", b"1", 1j, {}, None, HUGE, [1], [1] * 3, [1, np.nan]])
def test_rejections(detector, value):
    with pytest.raises(ValueError, match="rejection must be a number or 2 of them, one per tree, not nan; got"):
        detector.trees.with_rejection(value)


@pytest.mark.parametrize(
    "boxes",
    [
        7,
        "boxes",
        {},
        [[0, 0, 1, 1]],
        [[0, 0, 1, 1, "1"]],
        [["0"] * 5],
        [[0, 0, 1, 1, HUGE]],
        [[0, 0, 1, 1, None]],
        [[0, 0, 1, 1, 1j]],
        [[0, 0, 1, 1, [2]]],
        [[0, 0, 1, 1, 2], [0, 0, 1]],
        [[0, 0, 1, 1, np.inf]],
        [[0, 0, -1, 1, 1]],
        np.zeros((1, 1, 5)),
        np.ones((2, 5), dtype=bool),
    ],
    ids=str,
)
def test_boxes(boxes):
    with pytest.raises(ValueError, match=r"boxes must be rows x, y, w, h, score, numbers, .* Leave out invalid boxes"):
        non_maximum_suppression(boxes)


@pytest.mark.parametrize("value", [*NO_NUMBERS, None, np.inf, HUGE, 2, -1])
def test_overlaps(value):
    with pytest.raises(ValueError, match="overlap must be a finite number, 0 or larger and at most 1; got"):
        non_maximum_suppression([[0, 0, 1, 1, 1]], overlap=value)


# -- right results ---------------------------------------------------------------------------------


def test_infinite_and_huge_thresholds(detector):
    every = detector.detect(IMAGE, threshold=-np.inf)
    assert len(every) > 3
    for low in (-1e308, -HUGE, -1e39):
        np.testing.assert_array_equal(detector.detect(IMAGE, threshold=low), every)
    for high in (1e308, HUGE, 1e39, np.inf):
        assert detector.detect(IMAGE, threshold=high).shape == (0, 5)
        with pytest.raises(ValueError, match="windows of 1 crops scores above least_score"):
            positive_traces(detector, [CROP], least_score=high)
    for beyond in (1e308, -1e308):
        rejection = detector.trees.with_rejection(beyond).rejection
        assert (rejection == np.sign(beyond) * np.float32(np.inf)).all()
    lowest = float(detector.threshold_at_fppi([IMAGE], 1e308))
    assert lowest == every[:, 4].min() == detector.threshold_at_fppi([IMAGE], 10**300)


def test_a_threshold_is_found_on_files_as_on_images(detector, tmp_path):
    Image.fromarray(IMAGE).save(tmp_path / "a.png")
    assert detector.threshold_at_fppi([tmp_path / "a.png"], 1) == detector.threshold_at_fppi([IMAGE], 1)
    with pytest.raises(ValueError, match=r"images\[0\]: .*doors\.py cannot be read as an image"):
        detector.threshold_at_fppi([__file__], 1)


def test_scores_are_compared_with_the_threshold_itself(detector):
    """Not with the nearest number in single precision, which may be as high as the score."""
    score = detector.detect(IMAGE, threshold=-np.inf)[0, 4]
    below, above = (float(np.nextafter(score, bound)) for bound in (-np.inf, np.inf))
    assert np.float32(below) == np.float32(above) == score
    assert detector.detect(IMAGE, threshold=below)[0, 4] == score
    assert (
        detector.detect(IMAGE, threshold=float(score)).shape == detector.detect(IMAGE, threshold=above).shape == (0, 5)
    )


@pytest.mark.parametrize("kind", [np.int8, np.float32, np.float64, Fraction])
def test_numbers_of_any_library(detector, kind):
    options = {"min_height": 8, "max_height": 20, "threshold": -1}
    expected = detector.detect(IMAGE, **options)
    np.testing.assert_array_equal(
        detector.detect(IMAGE, **{name: kind(value) for name, value in options.items()}), expected
    )
    assert detector.threshold_at_fppi([IMAGE], kind(2)) == detector.threshold_at_fppi([IMAGE], 2)
    assert FirstStage(("LUV",), within=kind(2)) == FirstStage(("LUV",), within=2.0)


def test_a_search_of_small_integers_has_the_levels_of_large_ones(detector, tmp_path):
    small, large = (
        replace(detector, search=replace(detector.search, per_octave=kind(8), smooth=kind(1)))
        for kind in (np.int8, int)
    )
    assert small.search == large.search
    assert small.search.levels((480, 640)) == large.search.levels((480, 640))
    small.save(tmp_path / "model.npz")
    assert PedestrianDetector.load(tmp_path / "model.npz").search == large.search


@pytest.mark.parametrize("part", ["search", "trees", "first_stage", "proposals"])
@pytest.mark.parametrize("value", [7, "model.npz", {}])
def test_a_detector_is_made_of_its_parts(detector, part, value):
    with pytest.raises(TypeError, match=f"{part} of a detector must be .*; got {value!r}"):
        replace(detector, **{part: value})
