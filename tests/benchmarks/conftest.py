"""Data and peers of the benchmarks, and how a ratio is measured."""

import statistics
import time

import numpy as np
import pytest
from PIL import Image

from paucens.datasets import load_usps
from paucens.parallel import Threads


def seconds(call):
    """How long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@pytest.fixture
def ratio(benchmark):
    """Time `ours` against `peer` in turns; both medians and their ratio go into the report.

    Absolute times are noise on a shared machine; calls in turns meet the same noise.
    """

    def measure(ours, peer, rounds=5, peer_factor=1.0):
        ours(), peer()
        mine, theirs = [], []

        def turn():
            theirs.append(seconds(peer) * peer_factor)
            mine.append(seconds(ours))

        benchmark.pedantic(turn, rounds=rounds)
        result = statistics.median(mine) / statistics.median(theirs)
        benchmark.extra_info.update(
            ours_ms=1e3 * statistics.median(mine), peer_ms=1e3 * statistics.median(theirs), ratio=result
        )
        print(
            f"\n{benchmark.name}: ours {1e3 * statistics.median(mine):.1f} ms, "
            f"peer {1e3 * statistics.median(theirs):.1f} ms, ratio {result:.3f}"
        )
        return result

    return measure


@pytest.fixture(scope="session")
def usps_halves():
    """USPS in random halves: X_train, y_train, X_test, y_test."""
    try:
        X, y = load_usps()
    except FileNotFoundError as error:
        pytest.skip(f"USPS is not here: {error}")
    order = np.random.RandomState(0).permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    return X[train], y[train], X[test], y[test]


@pytest.fixture(scope="session")
def few_columns():
    """6000 x 8, a tenth positives, which differ a little in half of the columns."""
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(6000, 8)), (np.arange(6000) < 600).astype(int)
    X[:600, :4] += 0.5
    return X, y


@pytest.fixture(scope="session")
def rare_positives():
    """2 000 positives against 98 000 negatives, 50 Gaussian columns of which 10 are shifted by .5."""
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(100_000, 50)), np.zeros(100_000, dtype=int)
    y[:2000] = 1
    X[:2000, :10] += 0.5
    return X, y


@pytest.fixture(scope="session")
def wide_bytes():
    """20 000 x 2000 bytes as float32, and labels that ten of the columns explain in part."""
    rng = np.random.RandomState(0)
    X = rng.randint(0, 256, size=(20_000, 2000)).astype(np.float32)
    return X, (X[:, :10].sum(axis=1) + rng.normal(0, 300, len(X)) > 1275).astype(int)


@pytest.fixture(scope="session")
def picture():
    """scikit-image's astronaut, a public-domain photograph, as RGB of 640 x 480 pixels."""
    data = pytest.importorskip("skimage.data", reason="scikit-image has the picture")
    return np.asarray(Image.fromarray(data.astronaut()).resize((640, 640)).crop((0, 80, 640, 560)))


@pytest.fixture
def opencv():
    """OpenCV with one thread."""
    cv2 = pytest.importorskip("cv2", reason="OpenCV is the peer of these benchmarks")
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    yield cv2
    cv2.setNumThreads(threads)


@pytest.fixture
def hog_call(picture, opencv):
    """OpenCV's HOG detector on the picture, all defaults, one thread."""
    hog = opencv.HOGDescriptor()
    hog.setSVMDetector(opencv.HOGDescriptor_getDefaultPeopleDetector())
    return lambda: hog.detectMultiScale(picture)


@pytest.fixture
def two_threads(ratio, benchmark):
    """Record and return how much faster a call is with two threads; `make` gets the threads and gives the call."""

    def measure(make):
        with Threads(2) as two:
            speedup = 1 / ratio(make(two), make(Threads(1)), rounds=15)
        benchmark.extra_info["speedup"] = speedup
        return speedup

    return measure
