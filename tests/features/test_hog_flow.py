"""HOG, HOG + LBP and flow channels: against twins and symmetries; OpenCV missing; bad input."""

import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import reference_lbp as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from paucens import parallel
from paucens.features.flow import dense_flow, flow_channels, flow_names, flow_supports
from paucens.features.hog import cell_lbp, hog, hog_lbp
from paucens.features.lbp import uniform_labels
from paucens.parallel import Threads

quick = settings(deadline=None, max_examples=15, derandomize=True)
HERE = Threads(1)


@pytest.fixture
def cv2():
    return pytest.importorskip("cv2", reason="OpenCV is not installed")


def draw_crops(seed, n, levels=256):
    return np.random.RandomState(seed).randint(levels, size=(n, 128, 64, 3)).astype(np.uint8)


def channels_of(flow, threads=HERE):
    out = np.full((flow.shape[0] // 4, flow.shape[1] // 4, 18), np.nan, dtype=np.float32)
    flow_channels(flow, threads, out)
    return out


def texture(height, width):
    """Smooth noise, so that it can be followed."""
    noise = np.random.RandomState(0).uniform(size=(height + 8, width + 8))
    smooth = sum(noise[k : k + height, m : m + width] for k in range(8) for m in range(8))
    return np.uint8(255 * (smooth - smooth.min()) / np.ptp(smooth))


# -------------------------------------------------------------------------------------------- HOG


def test_hog_of_a_mirrored_crop_is_mirrored(cv2):
    """Blocks and cells change places from left to right, orientation k becomes 8 - k.

    Not exactly: OpenCV's weights of the pixels in a block are not symmetric.
    """
    crops = np.repeat(np.repeat(draw_crops(0, 2)[:, ::8, ::8], 8, axis=1), 8, axis=2)
    straight, mirrored = (hog(images).reshape(2, 7, 15, 2, 2, 9) for images in (crops, crops[:, :, ::-1]))
    np.testing.assert_allclose(mirrored, straight[:, ::-1, :, ::-1, :, ::-1], atol=0.05)
    assert np.abs(mirrored - straight).max() > 0.2


def test_hog_sees_contrast_not_its_strength(cv2):
    crops = draw_crops(1, 1, levels=60)
    np.testing.assert_allclose(hog(4 * crops), hog(crops), atol=0.01)  # roots of colours are twice as large
    assert not hog(np.full((1, 128, 64, 3), 99, dtype=np.uint8)).any()


def test_hog_finds_the_orientation(cv2):
    crops = np.tile(np.arange(0, 256, 4, dtype=np.uint8)[:, None], (1, 128, 1, 3))  # brighter to the right
    inner = hog(crops).reshape(7, 15, 2, 2, 9)[1:-1, 1:-1].sum(axis=(0, 1, 2, 3))
    assert inner[[0, 8]].sum() == pytest.approx(inner.sum()) and inner[0] == pytest.approx(inner[8])


@given(seed=st.integers(0, 2**32 - 1), levels=st.sampled_from([2, 4, 256]))
@quick
def test_cell_lbp(seed, levels):
    crops = draw_crops(seed, 1, levels)
    crops[:, :, :, 1:] = crops[:, :, :, :1]  # grey
    grey = crops[0, :, :, 0].astype(int)
    inner, code = grey[1:-1, 1:-1], np.zeros((126, 62), dtype=int)
    for bit, (down, across) in enumerate(reference.NEIGHBOURS):
        code += (grey[1 + down : 127 + down, 1 + across : 63 + across] >= inner) << bit
    patterns = np.pad(np.where(code == 255, 57, np.where(uniform_labels()[code] == 57, 58, uniform_labels()[code])), 1)
    expected = np.zeros((8, 4, 59))
    for i, j in np.ndindex(8, 4):
        rows, columns = (slice(max(16 * k, 1), min(16 * k + 16, n - 1)) for k, n in ((i, 128), (j, 64)))
        expected[i, j] = np.bincount(patterns[rows, columns].ravel(), minlength=59)
    expected = np.sqrt(expected / expected.sum(axis=2, keepdims=True))
    np.testing.assert_allclose(cell_lbp(crops)[0], expected.ravel(), atol=1e-7)


def test_colours_weigh_as_in_grey_values():
    colours = draw_crops(2, 1)
    grey = np.rint(colours @ [0.299, 0.587, 0.114] / 8).astype(np.uint8)  # few levels: the rest is noise
    colours[...] = grey[..., None]
    colours[..., 0] += 2  # is the same everywhere
    np.testing.assert_array_equal(cell_lbp(colours), cell_lbp(np.repeat(grey[..., None], 3, axis=3)))


def test_hog_and_lbp_stand_side_by_side(cv2, monkeypatch):
    monkeypatch.setattr(parallel, "WORTH_A_THREAD", 1)
    crops = draw_crops(3, 5)
    X = hog_lbp(crops, n_jobs=3)
    assert X.shape == (5, 3780 + 1888) and X.dtype == np.float32
    np.testing.assert_array_equal(X, np.hstack([hog(crops), cell_lbp(crops)]))
    assert hog_lbp(crops[:0]).shape == (0, 5668)


@pytest.mark.parametrize("describe", [hog, cell_lbp])
@pytest.mark.parametrize(
    "crops, came",
    [
        (np.zeros((2, 160, 96, 3), np.uint8), r"shape \(2, 160, 96, 3\) and dtype uint8"),
        (np.zeros((128, 64, 3), np.uint8), r"shape \(128, 64, 3\)"),
        (np.zeros((2, 128, 64, 3)), "dtype float64"),
        (np.zeros((2, 128, 64), np.uint8), r"shape \(2, 128, 64\)"),
    ],
)
def test_crops_that_do_not_fit(describe, crops, came):
    with pytest.raises(ValueError, match=rf"{came}.*expected RGB, \(n, 128, 64, 3\), uint8\. Cut a margin off"):
        describe(crops)


# ------------------------------------------------------------------------------------------- flow


@given(seed=st.integers(0, 2**32 - 1), height=st.integers(0, 22), width=st.integers(0, 22))
@quick
def test_flow_channels(seed, height, width):
    rng = np.random.RandomState(seed)
    flow = rng.choice([0, 1, 30], size=(height, width, 2)) * rng.normal(size=(height, width, 2))
    np.testing.assert_allclose(channels_of(flow), reference.flow_channels(flow), atol=1e-6)


def test_motion_of_everything_is_no_motion():
    channels = channels_of(np.broadcast_to(np.float32([3, -2]), (40, 48, 2)))
    assert not channels[:-1, :-1].any() and channels[-1].any()  # at the border it stands out from 0


def test_flow_moves_with_cells_and_does_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr(parallel, "WORTH_A_THREAD", 1)
    flow = np.random.RandomState(0).normal(scale=8, size=(60, 52, 2)).astype(np.float32)
    whole = channels_of(flow)
    np.testing.assert_array_equal(channels_of(flow[4:, 8:]), whole[1:, 2:])
    with Threads(3) as three:
        np.testing.assert_array_equal(channels_of(flow, three), whole)


def test_a_motion_to_the_right_below_still_ones():
    flow = np.zeros((8, 8, 2), dtype=np.float32)
    flow[4:, :, 0] = 10
    channels = dict(zip(flow_names(), channels_of(flow)[0, 0], strict=True))
    assert {name for name, value in channels.items() if value} == {"flow below 0", "flow diagonal 0"}
    assert channels["flow below 0"] == 0.5 and len(flow_supports()) == len(channels) == 18


def test_flow_memory():
    flow, out = np.zeros((480, 640, 2), dtype=np.float32), np.empty((120, 160, 18), dtype=np.float32)
    tracemalloc.start()
    flow_channels(flow, HERE, out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 2_000_000


@reference.needs_golden
def test_golden_flow_of_the_release():
    """Its table of angles costs it up to 3e-4 in a cell; its last channel is 0 by mistake."""
    golden, (r, c) = reference.golden_values()["quadratic"], np.ogrid[:64, :48]
    flow = 20 * np.stack([0.5 * np.sin(r / 9 + c / 7), 0.5 * np.cos(r / 5 - c / 11)], axis=2)
    channels = reference.finished(channels_of(flow))
    np.testing.assert_allclose(channels.mean(axis=(0, 1))[:17], golden["channel_mean"][259:276], atol=5e-5)
    for row, col in ((7, 5), (12, 9)):
        np.testing.assert_allclose(channels[row, col, :17], golden[f"cell_row{row}_col{col}"][259:276], atol=3e-4)
    assert golden["channel_mean"][276] == 0


@pytest.mark.parametrize("colour", [True, False])
def test_dense_flow_follows_a_shift(cv2, colour):
    image = texture(130, 160)
    image = np.repeat(image[..., None], 3, axis=2) if colour else image / 255
    flow = dense_flow(image[5:125, 3:153], image[3:123, 6:156])  # from (5, 3) to (3, 6): 3 left and 2 down
    assert flow.shape == (120, 150, 2) and flow.dtype == np.float32
    np.testing.assert_allclose(np.median(flow[16:-16, 16:-16], axis=(0, 1)), [-3, 2], atol=0.1)


def test_flow_of_floats_is_flow_of_their_bytes(cv2):
    """Floats are rounded to bytes as everywhere else."""
    first, second = (texture(40, 40)[shift:][:32, :32].astype(np.uint8) for shift in (0, 2))
    floats = [image.astype(np.float64) / 255 for image in (first, second)]
    np.testing.assert_array_equal(dense_flow(*floats), dense_flow(first, second))


@pytest.mark.parametrize("first, second", [((30, 40), (30, 41)), ((15, 40), (15, 40)), ((40, 9), (40, 9))])
def test_sizes_that_do_not_fit(cv2, first, second):
    message = rf"images have {first[0]} x {first[1]} and {second[0]} x {second[1]} pixels; expected the same size"
    with pytest.raises(ValueError, match=message):
        dense_flow(np.zeros(first, np.uint8), np.zeros(second, np.uint8))


# ---------------------------------------------------------------------------------- without OpenCV


CALLS = [lambda: hog(draw_crops(0, 1)), lambda: dense_flow(texture(20, 20), texture(20, 20))]


@pytest.mark.parametrize("call", CALLS)
def test_opencv_that_is_not_installed(monkeypatch, call):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ImportError, match=r"OpenCV is not installed; run pip install 'paucens\[opencv\]'"):
        call()


@pytest.mark.parametrize("call", CALLS)
def test_opencv_that_lacks_something(monkeypatch, call):
    monkeypatch.setitem(sys.modules, "cv2", SimpleNamespace(__version__="5.0.0"))
    with pytest.raises(ImportError, match=r"OpenCV 5\.0\.0 has no (HOGDesc|DISOpt)\w+; it is part of version 4"):
        call()
