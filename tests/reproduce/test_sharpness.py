"""How smooth images are: the measure, and the script on its stand-in."""

import numpy as np
import pytest

from paucens.features.pyramid import resize
from paucens.parallel import Threads
from reproduce import sharpness
from reproduce._run import parse_arguments, perform
from reproduce._store import read_frame


def test_smoothing_lowers_the_ratio():
    noise = np.random.default_rng(0).integers(256, size=(200, 100, 3)).astype(np.uint8)
    ratios = [sharpness.ratios_of(resize(noise, (200, 100), Threads(1), radius)) for radius in sharpness.RADII]
    assert (np.diff(ratios, axis=0) < 0).all()
    ramp = np.repeat(np.arange(200, dtype=np.uint8)[:, None, None], 3, axis=2) + np.zeros((1, 50, 1), dtype=np.uint8)
    assert sharpness.ratios_of(ramp) == pytest.approx([0, 0], abs=1e-6)


def test_strips_are_the_same_at_every_radius():
    photograph = np.random.default_rng(0).integers(256, size=(300, 200, 3)).astype(np.uint8)
    small = np.zeros((100, 100, 3), dtype=np.uint8)  # too small for a strip
    plain, smooth = (list(sharpness.strips_of([photograph, small], 1.5, radius, 3, 0)) for radius in (0.0, 0.5))
    assert len(plain) == len(smooth) == 3
    for one, other in zip(plain, smooth, strict=True):
        assert np.corrcoef(one.ravel(), other.ravel())[0, 1] > 0.9


def test_the_stand_in(tmp_path):
    perform(sharpness.SCRIPT, parse_arguments("", ["--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)]))
    frame = read_frame(tmp_path / "sharpness.csv")
    assert len(frame) == 1 + len(sharpness.FACTORS) * len(sharpness.RADII)
    assert frame.data_set.iloc[0] == "streets (stand-in)"
