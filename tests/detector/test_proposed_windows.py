"""BING in front of a detector: what it discards, in which file it is kept, what goes together."""

from dataclasses import replace

import numpy as np
import pytest
from detections import all_windows

from paucens import AdaBoostClassifier, Tree, persistence
from paucens.detector import PedestrianDetector, Window, train_detector
from paucens.features import ChannelSpec
from paucens.parallel import Threads
from paucens.proposals import calibrated, train_bing


@pytest.fixture(scope="module")
def detector(few_streets):
    booster = AdaBoostClassifier(learner=Tree(depth=3, column_fraction=1 / 4), shrinkage=0.1, random_state=0)
    options = {"n_negatives": 60, "most_negatives": 100, "scales": 4, "n_estimators": (4, 16)}
    return train_detector(*few_streets, ChannelSpec.parse("M+O+LUV"), booster, **options)


@pytest.fixture(scope="module")
def bing(detector, few_streets):
    """BING that discards six windows of ten."""
    return calibrated(train_bing(*few_streets, detector.search), detector.search, few_streets[1], [0.6])[0]


def test_discarded_windows_are_those_below_the_threshold(detector, bing, few_people):
    proposed = replace(detector, proposals=bing)
    expected, whole = {}, all_windows(detector, few_people)
    with Threads(1) as one:
        for k, band in detector.search.bands(few_people, detector.search.levels(few_people.shape[:2]), one):
            scores = bing.scores(band.pixels, band.shape, 16, one)
            expected |= {
                (k, r + band.first_row, c): None for r, c in np.argwhere(scores >= bing.thresholds[0]).tolist()
            }
    found = all_windows(proposed, few_people)
    assert set(found) == set(expected) & set(whole) and found.items() <= whole.items()
    assert 0.05 < len(found) / len(whole) < 0.8
    assert all_windows(proposed, few_people, threads=2) == found
    assert all_windows(proposed.without_stages(), few_people) == whole


def test_floats_are_bytes(detector, bing, few_people):
    proposed = replace(detector, proposals=bing, trees=detector.trees.without_rejection())
    found = proposed.detect(few_people, threshold=-np.inf)
    np.testing.assert_array_equal(proposed.detect(few_people / 255, threshold=-np.inf), found)
    assert len(found) > 0


def test_nothing_is_computed_if_nothing_is_proposed(detector, bing, few_people, monkeypatch):
    monkeypatch.setattr(ChannelSpec, "fill", None)  # would raise an error
    nothing = replace(detector, proposals=replace(bing, thresholds=np.float32([np.inf])))
    assert nothing.detect(few_people, threshold=-np.inf).shape == (0, 5)


def test_files(detector, bing, few_people, tmp_path):
    proposed = replace(detector, proposals=bing)
    proposed.save(tmp_path / "model.npz")
    again = PedestrianDetector.load(tmp_path / "model.npz")
    assert all_windows(again, few_people) == all_windows(proposed, few_people)
    header, arrays = persistence.load(tmp_path / "model.npz", "PedestrianDetector")
    header = {key: value for key, value in header.items() if key not in ("format", "format_version")}
    for name, spoilt in (
        ("bases", arrays["proposals/bases"][:, :1]),
        ("weights", arrays["proposals/weights"] * np.nan),
    ):
        persistence.save(tmp_path / "bad.npz", header, arrays | {f"proposals/{name}": np.ascontiguousarray(spoilt)})
        with pytest.raises(ValueError, match=f"{name} is .*The file is damaged"):
            PedestrianDetector.load(tmp_path / "bad.npz")


def test_what_does_not_go_together(detector, bing, few_streets):
    with pytest.raises(ValueError, match=r"These proposals are for windows of \(128, 64\)"):
        replace(detector, search=replace(detector.search, window=Window((64, 32), (50.0, 20.5))), proposals=bing)
    with pytest.raises(ValueError, match="depend on 8 pixels around them; got a margin of 4"):  # or bands would matter
        replace(detector, search=replace(detector.search, window=Window(margin=4)), proposals=bing)
    power_laws = detector.approximated(few_streets[1])
    with pytest.raises(ValueError, match="power laws"):
        replace(power_laws, proposals=bing)
    assert replace(detector, proposals=bing).approximated(few_streets[1]).proposals is None
