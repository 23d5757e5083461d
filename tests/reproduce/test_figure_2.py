"""figure_2.py: the pool of its table is the maximum over the patches that it draws."""

import figure_2
import numpy as np
import pandas as pd


def test_the_pool_is_the_maximum_over_sixteen_patches(tmp_path):
    run = figure_2.main(["--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)])
    planes = figure_2.planes(pd.read_csv(tmp_path / "figure_2.csv"))
    assert list(planes) == figure_2.PLANES
    patches = np.stack([planes["patch", name] for name in figure_2.CENTRED])
    assert patches.shape == (16, 1, 42) and np.ptp(patches, axis=0).max() > 0.01
    np.testing.assert_allclose(planes["pool", figure_2.POOL], patches.max(axis=0), atol=1e-4)
    height, width = planes["picture", "R"].shape
    assert height == run.protocol.height
    assert all(planes["channel", name].shape == (height // 4, width // 4) for name in figure_2.SHOWN)
    assert "M, \\|Ix\\|" in (tmp_path / "figure_2.md").read_text(encoding="utf-8")
    assert (tmp_path / "figure_2.png").stat().st_size > 10_000
