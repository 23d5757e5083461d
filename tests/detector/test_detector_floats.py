"""Images and their floats: the same detectors, detections, thresholds and traces, bit for bit."""

from dataclasses import replace

import numpy as np
import pytest

from paucens import AdaBoostClassifier, Tree
from paucens.detector import PedestrianDetector, positive_traces, train_detector
from paucens.features import ChannelSpec
from paucens.proposals import calibrated, train_bing

SETTINGS = {"n_estimators": (2, 6), "n_negatives": 40, "most_negatives": 60, "scales": 1, "smooth": 0.5}


def floats_of(images):
    return [image / 255 for image in images]


def trained(crops, images, **options):
    booster = AdaBoostClassifier(learner=Tree(depth=3, column_fraction=1 / 4), shrinkage=0.1, random_state=0)
    return train_detector(crops, images, ChannelSpec.parse("M+O+LUV"), booster, **SETTINGS, **options)


@pytest.fixture(scope="module")
def detector(few_streets):
    return trained(*few_streets)


@pytest.mark.parametrize("repeat_edges", [True, "mask"])
def test_training(few_streets, repeat_edges):
    crops, images = few_streets[0][:9], few_streets[1][:3]
    one = trained(crops, images, repeat_edges=repeat_edges)
    other = trained(floats_of(crops), floats_of(images), repeat_edges=repeat_edges)
    for name, array in one.trees.arrays().items():
        np.testing.assert_array_equal(other.trees.arrays()[name], array, err_msg=name)
    assert other.notes == one.notes


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_detections_in_two_stages(few_people, kind):
    """All channels, the last of which compare pixels."""
    default, street = PedestrianDetector.default(), few_people[100:300, 200:460]
    for model in (default, default.without_stages()):
        found = model.detect(street, threshold=-40)
        np.testing.assert_array_equal(model.detect((street / 255).astype(kind), threshold=-40), found)
        assert len(found) > 0


def test_detections_by_power_laws(detector, few_streets, few_people):
    images = few_streets[1][:2]
    one, other = detector.approximated(images), detector.approximated(floats_of(images))
    assert one.lambdas == other.lambdas
    found = one.detect(few_people, threshold=-np.inf)
    np.testing.assert_array_equal(one.detect(few_people / 255, threshold=-np.inf), found)
    assert len(found) > 0


def test_thresholds_and_traces(detector, few_streets):
    crops, images = few_streets
    least = detector.threshold_at_fppi(images[:3], 1)
    assert detector.threshold_at_fppi(floats_of(images[:3]), 1) == least
    traces = [positive_traces(detector, some, least_score=-1.0) for some in (crops, floats_of(crops))]
    np.testing.assert_array_equal(*traces)


def test_proposals(detector, few_streets, few_people):
    images = few_streets[1]
    bings = [train_bing(*some, detector.search) for some in (few_streets, map(floats_of, few_streets))]
    for one, other in zip(bings[0].arrays().values(), bings[1].arrays().values(), strict=True):
        np.testing.assert_array_equal(one, other)
    shares = [
        calibrated(bings[0], detector.search, some, [0.3, 0.7], per_scale=True) for some in (images, floats_of(images))
    ]
    for one, other in zip(*shares, strict=True):
        np.testing.assert_array_equal(one.thresholds, other.thresholds)
    proposed = replace(detector, proposals=shares[0][0])
    found = proposed.detect(few_people, threshold=-np.inf)
    np.testing.assert_array_equal(proposed.detect(few_people / 255, threshold=-np.inf), found)
    assert len(found) > 0
