"""Some random images, compared with the slow twins."""

import fuzz_evaluation
import pytest

from paucens.evaluation import standardize_boxes


def test_evaluation_equals_its_twins():
    fuzz_evaluation.run(150, seed=0)


def test_a_difference_is_found(monkeypatch):
    """A slightly other shape of boxes is reported with the input that repeats it."""
    monkeypatch.setattr(
        fuzz_evaluation, "standardize_boxes", lambda boxes, **options: standardize_boxes(boxes, 0.4100001, **options)
    )
    with pytest.raises(AssertionError, match=r"seed 0, input \d+"):
        fuzz_evaluation.run(50, seed=0)
