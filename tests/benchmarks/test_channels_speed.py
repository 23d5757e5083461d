"""Speed of Dollar's channels and of resampling against OpenCV, one thread each."""

import numpy as np

from paucens.features.channels import acf_channels
from paucens.features.pyramid import resize, scales
from paucens.parallel import Threads


def channels_of(picture, threads):
    out = np.empty((120, 10, 160), dtype=np.float32)
    return lambda: acf_channels(picture, ("LUV", "M", "O"), 1, 1, False, threads, out)


def test_ten_channels_against_hog(ratio, picture, hog_call):
    assert ratio(channels_of(picture, Threads(1)), hog_call, rounds=15) <= 0.15


def test_resizing_against_opencv(ratio, picture, opencv):
    sizes = [level.shape for level in scales((480, 640))]

    def ours():
        return [resize(picture, shape, Threads(1)) for shape in sizes]

    def theirs():
        return [opencv.resize(picture, shape[::-1], interpolation=opencv.INTER_AREA) for shape in sizes]

    for mine, peer in zip(ours(), theirs(), strict=True):
        assert np.abs(mine.astype(int) - peer).max() <= 1  # they round .5 the other way
    assert ratio(ours, theirs, rounds=9) <= 1


def test_two_threads(picture, two_threads):
    speedup = two_threads(lambda threads: channels_of(picture, threads))
    assert speedup > 0.5  # 1.6 is wanted on an idle machine; recorded, since these machines seldom are
