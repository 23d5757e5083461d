"""figure_3.py: what is cut out, that all methods see the same windows, how curves are read, and the smoke scale."""

import sys
from dataclasses import replace

import figure_3
import numpy as np
import pandas as pd
import pytest

from detectors import window_classifiers as classifiers
from paucens.datasets import DetectionRecord, synthetic_streets
from paucens.detector import PedestrianDetector, scan
from paucens.evaluation import fppw_curve, miss_rate_at_fppw
from paucens.features.hog import cell_lbp, hog
from paucens.features.pyramid import resize
from paucens.parallel import Threads


def crops_of_windows(rgb):
    """Cut all windows of a photograph with a margin of 16 of its repeated edge, slowly, (n, 160, 96, 3)."""
    crops = []
    for level in classifiers.levels_of(rgb.shape[:2]):
        pixels = np.pad(resize(rgb, level.shape, Threads(1)), ((16, 16), (16, 16), (0, 0)), mode="edge")
        crops += [
            pixels[y : y + 160, x : x + 96]
            for y in range(0, level.shape[0] - 127, 8)
            for x in range(0, level.shape[1] - 63, 8)
        ]
    return np.array(crops)


@pytest.fixture(scope="module")
def photograph():
    return np.ascontiguousarray(synthetic_streets(1, seed=5)[0].image[150:380, 200:332])


def test_a_box_becomes_a_crop_of_96_pixels_height_and_its_mirror():
    image = np.zeros((480, 640, 3), dtype=np.uint8)
    image[100:292, 200:280], image[100:292, 200:220] = 200, 100  # 192 high; its left quarter is darker
    crop, mirror = figure_3.recut([DetectionRecord(image, np.array([[200.0, 100, 80, 192]]))])
    assert crop.shape == (160, 96, 3) and np.array_equal(mirror, crop[:, ::-1])
    expected = np.zeros((160, 96))
    expected[32:128, 28:68], expected[32:128, 28:38] = 200, 100
    inside = np.ones((160, 96), dtype=bool)
    inside[[31, 32, 127, 128]] = inside[:, [27, 28, 37, 38, 67, 68]] = False  # where pixels are mixed
    assert np.array_equal(crop[inside], np.repeat(expected[inside, None], 3, axis=1))


def test_an_edge_is_repeated_where_a_crop_leaves_the_photograph():
    image = np.tile(np.arange(200, dtype=np.uint8)[:, None, None], (1, 100, 3))
    crop, _ = figure_3.recut([DetectionRecord(image, np.array([[2.0, 0, 40, 96]]))])
    assert (crop[:32] == 0).all() and np.array_equal(crop[32:, 0, 0], np.arange(128))  # rows -32 to 127
    assert (crop == crop[:, :1]).all()


def test_crops_of_all_photographs_come_in_order():
    records = synthetic_streets(3, seed=1)
    assert len(figure_3.recut(records)) == 2 * sum(len(record.boxes) for record in records)


def test_all_methods_see_the_same_windows(photograph):
    crops = crops_of_windows(photograph)
    levels = classifiers.levels_of(photograph.shape[:2])
    assert len(crops) == sum(map(classifiers.n_windows, levels)) > 100 and len(levels) > 2
    windows = crops[:, 16:144, 16:80]
    dense = [
        np.concatenate(list(classifiers.levels_described(describe, photograph)))
        for describe in (classifiers.dense_hog, classifiers.dense_lbp)
    ]
    alone = hog(windows), cell_lbp(windows)
    for shape, one, other in zip([(-1, 7, 15, 36), (-1, 8, 4, 59)], dense, alone, strict=True):
        one, other = one.reshape(shape), other.reshape(shape)  # inside, nothing depends on the surroundings
        np.testing.assert_allclose(one[:, 1:-1, 1:-1], other[:, 1:-1, 1:-1], atol=2e-6)
        assert one.shape == other.shape and not np.allclose(one, other, atol=1e-3)


@pytest.mark.parametrize("band_bytes", [scan.BAND_BYTES, 100_000])
def test_trees_see_the_same_windows(photograph, band_bytes, monkeypatch):
    """Bands of few bytes have few rows, and not every second one of these is one of the level."""
    monkeypatch.setattr(scan, "BAND_BYTES", band_bytes)
    detector = PedestrianDetector.default()
    search = replace(detector.search, smooth=0.0)  # which would smooth photographs only
    trees = classifiers.Trees(replace(detector, search=search))
    scores = trees.of_crops(crops_of_windows(photograph))
    assert len(np.unique(scores)) > 100
    np.testing.assert_allclose(trees.of_windows(photograph), scores, atol=1e-4)


def test_wanted_windows_and_those_of_crops(photograph):
    every = np.concatenate(list(classifiers.levels_described(classifiers.dense_hog, photograph)))
    wanted = classifiers.random_places(photograph.shape[:2], 30, np.random.default_rng(0))
    assert len(np.unique(wanted)) == 30
    parts = classifiers.described_windows(classifiers.dense_hog, 2 * [photograph], [wanted, np.array([3])])
    assert np.array_equal(np.concatenate(parts), every[[*wanted, 3]])
    crop = photograph[30:190, 20:116]  # on the grid of the crop alone; HOG sees less than the crop holds
    around = classifiers.dense_hog(np.ascontiguousarray(photograph[46 - 8 : 174 + 8, 36 - 8 : 100 + 8]))[4]
    np.testing.assert_allclose(classifiers.described_crops(classifiers.dense_hog, crop[None])[0], around, atol=2e-6)
    assert classifiers.random_places((100, 60), 10, np.random.default_rng(0)).size == 0  # too small for a window


def test_false_positives():
    scores = [np.array([1.0, -1, 2]), np.array([]), np.array([-1.0]), np.array([-1, 3.0, 4])]
    places = classifiers.false_positives(scores, 10, np.random.default_rng(0))
    assert [part.tolist() for part in places] == [[0, 2], [], [], [1, 2]]
    assert sum(map(len, classifiers.false_positives(scores, 3, np.random.default_rng(0)))) == 3


def test_curves_are_thinned_to_what_they_attain():
    random = np.random.default_rng(0)
    positives, negatives = random.normal(3, 1, size=400), random.normal(size=200_000)
    rates = figure_3.thinned(positives, negatives)
    assert len(figure_3.FPPW) == len(rates) <= 300 and (np.diff(rates) <= 0).all()
    for fppw in map(float, figure_3.REFERENCES):
        at = np.flatnonzero(np.isclose(figure_3.FPPW, fppw, rtol=1e-9))
        assert rates[at].tolist() == pytest.approx([miss_rate_at_fppw(positives, negatives, fppw)])
    assert set(rates.round(9)) <= set(fppw_curve(positives, negatives)[1].round(9))


def test_no_window_is_rejected(photograph):
    """However strict the cascade of the detector: crops and windows get the sum of all trees."""
    detector = PedestrianDetector.default()
    crops, scores = crops_of_windows(photograph)[:8], []
    for rejection in (-np.inf, 0.0):
        trees = classifiers.Trees(replace(detector, trees=detector.trees.with_rejection(rejection)))
        scores.append(np.concatenate([trees.of_crops(crops), trees.of_windows(photograph)]))
    assert np.isfinite(scores[0]).all() and scores[0].min() < 0
    assert np.array_equal(*scores)


def test_the_stand_in(monkeypatch, tmp_path):
    """It says what it is; without OpenCV rows say so, and the trained detector is used again."""
    arguments = ["--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)]
    figure_3.main(arguments)
    rows, text = pd.read_csv(tmp_path / "figure_3.csv"), (tmp_path / "figure_3.md").read_text(encoding="utf-8")
    assert rows.groupby("method").size().to_dict() == dict.fromkeys(figure_3.COLOURS, len(figure_3.FPPW))
    assert rows[["n_positives", "n_negatives"]].drop_duplicates().shape == (1, 2)
    assert "streets (stand-in), recut" in text and "Wang" not in text and "Tuzel" not in text
    assert (rows.low <= rows.miss_rate).all() and (rows.miss_rate <= rows.high).all()
    assert not (tmp_path / "test_evaluations.csv").exists()  # of photographs only
    real = figure_3.table(rows.assign(data_set="INRIA"))
    assert "Wang" in real and "Tuzel" in real and "| 5.3 " in real

    monkeypatch.setitem(sys.modules, "cv2", None)
    figure_3.main(arguments)
    less, text = pd.read_csv(tmp_path / "figure_3.csv"), (tmp_path / "figure_3.md").read_text(encoding="utf-8")
    trees = less[less.note.isna()]
    assert trees.method.unique().tolist() == ["sp-Cov"] and len(less) == len(trees) + 2
    assert trees.train_seconds.tolist() == rows[rows.method == "sp-Cov"].train_seconds.tolist()
    assert "HOG + SVM: cv2.HOGDescriptor is needed, but OpenCV is not installed" in text
    assert (tmp_path / "figure_3.png").stat().st_size > 10_000
