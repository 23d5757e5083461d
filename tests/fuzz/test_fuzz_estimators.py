"""Some drawn fits of every class; `fuzz_estimators.py` makes as many as wanted."""

import fuzz_estimators
import numpy as np
import pytest

from paucens.base import weighted


def test_fits_keep_their_promises():
    counts = fuzz_estimators.run(50, seed=1)
    assert len({name for name, _ in counts}) == 10
    assert sum(count for (_, outcome), count in counts.items() if outcome == "refused") > 5


def test_a_fault_is_found(monkeypatch):
    """A last stage that differs from the model by a rounding error is reported with the input that repeats it."""
    exact = weighted.weighted_sum
    monkeypatch.setattr(weighted, "weighted_sum", lambda *args: exact(*args) * (1 + 1e-15))
    with pytest.raises(AssertionError, match=r"seed 1, input \d+: AssertionError: the scores of the last stage differ"):
        fuzz_estimators.run(60, seed=1)


def test_drawing_repeats_itself():
    one, other = (fuzz_estimators.draw_case(np.random.default_rng([0, 5])) for _ in range(2))
    assert repr(one.model) == repr(other.model) and one.X.tobytes() == other.X.tobytes()
