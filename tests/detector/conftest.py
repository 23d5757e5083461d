"""Rendered streets that tests of several files train detectors on, and one such detector."""

import pytest
from street_detector import train, training_data

from paucens.datasets import street_crops, synthetic_streets


@pytest.fixture(scope="session")
def few_streets():
    """Crops of people, and images without people, for trainings of seconds."""
    crops = street_crops(synthetic_streets(16, seed=1))
    return list(crops), [record.image for record in synthetic_streets(8, seed=2, people=False, size=(240, 320))]


@pytest.fixture(scope="session")
def few_people():
    """Return a street with people, RGB."""
    return synthetic_streets(3, seed=5)[2].image


@pytest.fixture(scope="session")
def streets():
    """Crops of people, and more images without people."""
    return training_data()


@pytest.fixture(scope="session")
def detector(streets):
    """A detector of 24 trees, trained in three rounds."""
    return train(streets)


@pytest.fixture(scope="session")
def scene():
    """Return a street with people, RGB."""
    return synthetic_streets(3, seed=5)[2].image
