"""Speed of local binary patterns, one thread, as ratios against scikit-image and OpenCV on a picture of 640 x 480."""

import numpy as np
import pytest
from PIL import Image

from paucens.features.lbp import label_pixels, lbp_channels
from paucens.parallel import Threads

cv2 = pytest.importorskip("cv2", reason="OpenCV is the peer of these benchmarks")
skimage = pytest.importorskip("skimage", reason="scikit-image is the peer of these benchmarks")
from skimage.data import astronaut  # noqa: E402
from skimage.feature import local_binary_pattern  # noqa: E402

HERE = Threads(1)


@pytest.fixture(scope="module")
def picture():
    return Image.fromarray(astronaut()).resize((640, 640)).crop((0, 80, 640, 560))


def lightness(picture, width, height):
    return np.asarray(picture.convert("L").resize((width, height)), dtype=np.float32) / 255


def pyramid(picture):
    """Planes of 8 scales per octave down to 52 x 68 pixels: 6.2 times the picture's pixels in 27 of them."""
    sizes = [(4 * round(160 * 2 ** (-k / 8)), 4 * round(120 * 2 ** (-k / 8))) for k in range(26)]
    return [lightness(picture, *size) for size in [*sizes, (68, 52)]]


def hog_call(picture):
    cv2.setNumThreads(1)
    descriptor, image = cv2.HOGDescriptor(), np.asarray(picture)
    descriptor.setSVMDetector(cv2.HOGDescriptor_getDefaultPeopleDetector())
    return lambda: descriptor.detectMultiScale(image)


def test_labels_against_scikit_image(ratio, picture):
    grey = np.asarray(picture.convert("L"))
    plane = grey.astype(np.float32)

    def ours():
        for _ in range(10):  # of less than a millisecond each
            label_pixels(plane, HERE)

    def peer():
        local_binary_pattern(grey, 8, 1, "nri_uniform")

    assert ratio(ours, peer, rounds=9, peer_factor=10) <= 1 / 5


@pytest.mark.parametrize(
    ("preset", "pooled", "limit"), [("paper", True, 0.6), ("paper", False, 0.45), ("release", True, 0.5)]
)
def test_pyramid_against_hog(ratio, picture, preset, pooled, limit):
    """All of the budget is 6 times the peer."""
    planes = pyramid(picture)
    n_channels = {"paper": 174, "release": 116}[preset]
    outs = [np.zeros((plane.shape[0] // 4, plane.shape[1] // 4, n_channels), dtype=np.float32) for plane in planes]

    def ours():
        for plane, out in zip(planes, outs, strict=True):
            lbp_channels(plane, preset, pooled, HERE, out)

    assert ratio(ours, hog_call(picture), rounds=9) <= limit


def test_two_threads(ratio, picture, benchmark):
    plane = lightness(picture, 640, 480)
    out = np.zeros((120, 160, 174), dtype=np.float32)
    with Threads(2) as two:
        speedup = 1 / ratio(
            lambda: lbp_channels(plane, "paper", True, two, out),
            lambda: lbp_channels(plane, "paper", True, HERE, out),
            rounds=15,
        )
    benchmark.extra_info["speedup"] = speedup
    assert speedup > 0.5  # 1.6 on an idle machine; recorded, since these machines seldom are
