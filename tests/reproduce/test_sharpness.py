"""sharpness.py and crop_edges.py: what they measure, and both scripts on rendered streets."""

import crop_edges
import numpy as np
import pandas as pd
import pytest
import sharpness

from paucens.features.pyramid import resize
from paucens.parallel import Threads


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


@pytest.mark.parametrize("script", [sharpness, crop_edges])
def test_the_stand_in(script, tmp_path):
    run = script.main(["--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)])
    rows = pd.read_csv(tmp_path / f"{run.name}.csv")
    assert len(rows) == {"sharpness": 1 + len(sharpness.FACTORS) * len(sharpness.RADII), "crop_edges": 20}[run.name]
    assert set(rows.data_set) == {"streets (stand-in)"} and list(run.sources) == ["streets (stand-in), training"]
    assert "streets (stand-in)" in (tmp_path / f"{run.name}.md").read_text(encoding="utf-8")
