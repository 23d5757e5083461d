"""Strips of a search: the channels of its pixels without the margin, whatever the spec and the number of threads."""

import numpy as np
import pytest

from paucens import parallel
from paucens.detector import Window
from paucens.detector.bands import SLACK
from paucens.detector.scan import Search
from paucens.features import ChannelSpec
from paucens.parallel import Threads

FAMILIES = "M+O+LUV+spCov+spLBP"
SPECS = [
    ChannelSpec.parse(text, preset=preset)
    for text, preset in [
        *((FAMILIES, preset) for preset in ("robust", "paper", "release")),
        ("M+O+LUV+Cov+LBP", "robust"),
        ("O+LUV", "acf"),
        ("M", "acf"),
        ("spLBP", "release"),
    ]
]
BY_SPEC = pytest.mark.parametrize("spec", SPECS, ids=str)


@pytest.fixture(params=[1, 3])
def threads(request, monkeypatch):
    monkeypatch.setattr(parallel, "WORTH_A_THREAD", 1)
    with Threads(request.param) as pool:
        yield pool


@BY_SPEC
@pytest.mark.parametrize("margin", [0, 12])
def test_strips_are_the_turned_channels_of_the_windows(spec, margin, threads, few_people):
    search = Search(spec, Window((64, 32), (50.0, 20.5), margin), smooth=0.5)
    _, band = next(search.bands(few_people, search.levels(few_people.shape[:2], max_height=51), threads))
    strips, pixels = search.with_strips(band, threads).strips, band.pixels[: len(band.pixels) // 4 * 4]
    inner = slice(margin // 4, -(margin // 4) or None)
    np.testing.assert_array_equal(strips, np.moveaxis(spec.compute(pixels)[inner, inner], 2, 1))
    assert strips.shape[::2] == tuple(n + side - 1 for n, side in zip(band.shape, search.window.cells, strict=True))
    assert strips.strides[0] == spec.n_channels * strips.strides[1] and strips.strides[2] == 4
    assert strips.base.size >= strips.shape[0] * spec.n_channels * strips.shape[2] + SLACK


@BY_SPEC
def test_families_are_written_one_by_one_into_a_part_of_an_array(spec, threads, few_people):
    pixels = few_people[:121, :163]
    expected = np.moveaxis(spec.compute(pixels), 2, 1)
    whole = np.full((34, spec.n_channels + 2, 43), -7, dtype=np.float32)
    part = whole[1:31, 1:-1, 2:42]
    for family in spec.families:
        assert (part[:, spec.groups[family]] == -7).all()
        spec.fill(pixels, [family], threads, part)
    np.testing.assert_array_equal(part, expected)
    part[:] = -7
    assert (whole == -7).all()
