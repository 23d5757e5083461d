"""Some drawn images and presets; `fuzz_channels.py` makes as many as wanted."""

import fuzz_channels
import numpy as np
import pytest

from paucens.detector import Window


def test_channels_pyramids_and_detectors_are_those_of_their_twins():
    assert set(fuzz_channels.run(12, seed=0)) == {"check_channels", "check_pyramid", "check_detector"}


def test_a_fault_is_found(monkeypatch):
    """A box that is a little too far to the right is reported with the input that repeats it."""
    exact = Window.boxes
    monkeypatch.setattr(Window, "boxes", lambda *args: exact(*args) + np.array([1e-6, 0, 0, 0]))
    with pytest.raises(AssertionError, match=r"seed 0, input \d+, check_detector"):
        fuzz_channels.run(12, seed=0)
