"""BING in front of a detector: what it discards, in which file it is kept, what goes together."""

from dataclasses import replace

import numpy as np
import pytest

from paucens import AdaBoostClassifier, Tree, persistence
from paucens.datasets import street_crops, synthetic_streets
from paucens.detector import PedestrianDetector, Window, train_detector
from paucens.features import ChannelSpec
from paucens.parallel import Threads
from paucens.proposals import calibrated, train_bing

SIZE = (240, 320)


@pytest.fixture(scope="module")
def streets():
    crops = street_crops(synthetic_streets(16, seed=1))
    return list(crops), [record.image for record in synthetic_streets(8, seed=2, people=False, size=SIZE)]


@pytest.fixture(scope="module")
def detector(streets):
    booster = AdaBoostClassifier(learner=Tree(depth=3, column_fraction=1 / 4), shrinkage=0.1, random_state=0)
    options = {"n_negatives": 60, "most_negatives": 100, "scales": 4, "n_estimators": (4, 16)}
    return train_detector(*streets, ChannelSpec.parse("M+O+LUV"), booster, **options)


@pytest.fixture(scope="module")
def bing(streets):
    """BING that discards six windows of ten."""
    return calibrated(train_bing(*streets), streets[1], [0.6])[0]


@pytest.fixture(scope="module")
def scene():
    return synthetic_streets(3, seed=5)[2].image


def all_windows(detector, image, threads=1):
    with Threads(threads) as pool:
        boxes, windows = detector.candidates(image, detector.search.levels(image.shape[:2]), -np.inf, pool)
    return dict(zip(map(tuple, windows.tolist()), boxes[:, 4].tolist(), strict=True))


def test_discarded_windows_are_those_below_the_threshold(detector, bing, scene):
    proposed = replace(detector, proposals=bing)
    expected, whole = {}, all_windows(detector, scene)
    with Threads(1) as one:
        for k, band in detector.search.bands(scene, detector.search.levels(scene.shape[:2]), one):
            scores = bing.scores(band.pixels, band.shape, 16, one)
            expected |= {
                (k, r + band.first_row, c): None for r, c in np.argwhere(scores >= bing.thresholds[0]).tolist()
            }
    found = all_windows(proposed, scene)
    assert set(found) == set(expected) & set(whole) and found.items() <= whole.items()
    assert 0.05 < len(found) / len(whole) < 0.8
    assert all_windows(proposed, scene, threads=2) == found
    assert all_windows(proposed.without_stages(), scene) == whole


def test_floats_are_bytes(detector, bing, scene):
    """At the size of the image itself; at others, bytes have been rounded."""
    proposed = replace(detector, proposals=bing, trees=detector.trees.without_rejection())
    of_floats, of_bytes = (
        {window for window in all_windows(proposed, image) if window[0] == 0}
        for image in (scene.astype(np.float32) / 255, scene)
    )
    assert of_floats == of_bytes and len(of_bytes) > 0


def test_nothing_is_computed_if_nothing_is_proposed(detector, bing, scene, monkeypatch):
    monkeypatch.setattr(ChannelSpec, "fill", None)  # would raise an error
    nothing = replace(detector, proposals=replace(bing, thresholds=np.float32([np.inf])))
    assert nothing.detect(scene, threshold=-np.inf).shape == (0, 5)


def test_files(detector, bing, scene, tmp_path):
    proposed = replace(detector, proposals=bing)
    proposed.save(tmp_path / "model.npz")
    again = PedestrianDetector.load(tmp_path / "model.npz")
    assert all_windows(again, scene) == all_windows(proposed, scene)
    header, arrays = persistence.load(tmp_path / "model.npz", "PedestrianDetector")
    header = {key: value for key, value in header.items() if key not in ("format", "format_version")}
    for name, spoilt in (
        ("bases", arrays["proposals/bases"][:, :1]),
        ("weights", arrays["proposals/weights"] * np.nan),
    ):
        persistence.save(tmp_path / "bad.npz", header, arrays | {f"proposals/{name}": np.ascontiguousarray(spoilt)})
        with pytest.raises(ValueError, match=f"{name} is .*The file is damaged"):
            PedestrianDetector.load(tmp_path / "bad.npz")


def test_what_does_not_go_together(detector, bing, streets):
    with pytest.raises(ValueError, match=r"These proposals are for windows of \(128, 64\)"):
        replace(detector, search=replace(detector.search, window=Window((64, 32), (50.0, 20.5))), proposals=bing)
    power_laws = detector.approximated(streets[1])
    with pytest.raises(ValueError, match="and power laws"):
        replace(power_laws, proposals=bing)
    assert replace(detector, proposals=bing).approximated(streets[1]).proposals is None
