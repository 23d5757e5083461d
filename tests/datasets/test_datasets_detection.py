"""What all detection sets share."""

import doctest
import importlib.util

import pytest
from detection_folders import FOLDERS, leave_foreign_files, needs

from paucens.datasets import inria, load_eth_bahnhof, load_inria, load_penn_fudan

pytestmark = pytest.mark.usefixtures("no_other_place")


def test_files_of_other_systems_are_left_alone(people, walk, campus):
    before = load_inria(people), load_eth_bahnhof(walk), load_penn_fudan(campus)
    leave_foreign_files(*(people / name for name in [*inria.COUNTS, inria.TEST_IMAGES]))
    leave_foreign_files(walk / "left", campus / "Annotation", campus / "PNGImages")
    after = load_inria(people), load_eth_bahnhof(walk), load_penn_fudan(campus)
    for one, other in zip(before, after, strict=True):
        assert [record.image for record in one.test] == [record.image for record in other.test]
    for name in ("train_crops", "train_negatives", "test_negatives", "missing"):
        assert before[0][name] == after[0][name]


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in FOLDERS])
def test_examples_run_on_the_real_sets(name):
    result = doctest.testmod(importlib.import_module(f"paucens.datasets.{name}"), optionflags=doctest.ELLIPSIS)
    assert result.attempted and not result.failed
