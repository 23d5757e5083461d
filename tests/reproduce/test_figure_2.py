"""figure_2.py: the pool of its table is the maximum over the patches that it draws."""

import numpy as np

from reproduce import _run, _store, figure_2


def test_the_pool_is_the_maximum_over_sixteen_patches(tmp_path):
    assert _run.main(figure_2.SCRIPT, ["--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)]) == 0
    frame = _store.read_frame(tmp_path / "figure_2.csv")
    planes = figure_2.planes(frame)
    patches = np.stack([plane for (kind, _), plane in planes.items() if kind == "patch"])
    assert patches.shape == (16, 1, 42) and np.ptp(patches, axis=0).max() > 0.01
    np.testing.assert_allclose(planes["pool", figure_2.POOL], patches.max(axis=0), atol=1e-4)
    height, width = planes["picture", "R"].shape
    assert all(planes["channel", name].shape == (height // 4, width // 4) for name in figure_2.SHOWN)
    assert "M, \\|Ix\\|" in (tmp_path / "figure_2.md").read_text(encoding="utf-8")
    assert (tmp_path / "figure_2.png").stat().st_size > 10_000
