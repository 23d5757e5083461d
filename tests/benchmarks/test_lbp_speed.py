"""Speed of local binary patterns, one thread, as ratios against scikit-image and OpenCV on a picture of 640 x 480."""

import numpy as np
import pytest
from PIL import Image

from paucens.features.lbp import label_pixels, lbp_channels
from paucens.features.pyramid import scales
from paucens.parallel import Threads

pytest.importorskip("skimage", reason="scikit-image is the peer of these benchmarks")
from skimage.feature import local_binary_pattern

HERE = Threads(1)


def lightness(picture, width, height):
    grey = Image.fromarray(picture).convert("L")
    return np.asarray(grey.resize((width, height)), dtype=np.float32) / 255


def test_labels_against_scikit_image(ratio, picture):
    grey = np.asarray(Image.fromarray(picture).convert("L"))
    plane = grey.astype(np.float32)

    def ours():
        for _ in range(10):  # of less than a millisecond each
            label_pixels(plane, HERE)

    def peer():
        local_binary_pattern(grey, 8, 1, "nri_uniform")

    assert ratio(ours, peer, rounds=9, peer_factor=10) <= 1 / 5


@pytest.mark.parametrize(
    ("form", "pooled", "limit"), [("patches", True, 0.6), ("patches", False, 0.45), ("histograms", True, 0.5)]
)
def test_pyramid_against_hog(ratio, picture, hog_call, form, pooled, limit):
    """All of the budget is 6 times the peer."""
    planes = [lightness(picture, *level.shape[::-1]) for level in scales((480, 640))]
    n_channels = {"patches": 174, "histograms": 116}[form]
    outs = [np.zeros((plane.shape[0] // 4, n_channels, plane.shape[1] // 4), dtype=np.float32) for plane in planes]

    def ours():
        for plane, out in zip(planes, outs, strict=True):
            lbp_channels(plane, form, pooled, HERE, out)

    assert ratio(ours, hog_call, rounds=9) <= limit


def test_two_threads(picture, two_threads):
    plane = lightness(picture, 640, 480)
    out = np.zeros((120, 174, 160), dtype=np.float32)
    speedup = two_threads(lambda threads: lambda: lbp_channels(plane, "patches", True, threads, out))
    assert speedup > 0.5  # 1.6 is wanted on an idle machine; recorded, since these machines seldom are
