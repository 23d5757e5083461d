"""A small detector of people in rendered streets, and what it is trained on."""

import numpy as np

from paucens import AdaBoostClassifier, Tree
from paucens.datasets import street_crops, synthetic_streets
from paucens.detector import train_detector
from paucens.features import ChannelSpec

SPEC = ChannelSpec.parse("M+O+LUV")
SIZE = (240, 320)


def booster(**parameters):
    learner = Tree(depth=3, column_fraction=1 / 4, column_sampling="node")
    return AdaBoostClassifier(learner=learner, shrinkage=0.1, random_state=0, **parameters)


def training_data():
    crops = street_crops(synthetic_streets(16, seed=1), 96)
    return list(crops), [record.image for record in synthetic_streets(10, seed=2, people=False, size=SIZE)]


def noise_image(k):
    return np.random.default_rng(k).integers(256, size=(200, 200, 3)).astype(np.uint8)


def train(streets, classifier=None, **options):
    options = {"n_estimators": (4, 12, 24), "n_negatives": 60, "most_negatives": 100, "scales": 4} | options
    return train_detector(*streets, SPEC, classifier or booster(), **options)


def assert_same(one, other):
    for name, array in one.trees.arrays().items():
        np.testing.assert_array_equal(array, other.trees.arrays()[name], err_msg=name)
    assert one.notes == other.notes
