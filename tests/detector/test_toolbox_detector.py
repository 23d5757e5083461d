"""Detectors of Dollar's toolbox: small files made here, and, if they are on the disk, his own against his own boxes."""

import gzip
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from toolbox_files import CELL, EMPTY, SHAPE, TARGET, classifier, mat, options

from paucens.datasets import load_inria
from paucens.detector import PedestrianDetector
from paucens.detector.scan import Search
from paucens.features import scales
from paucens.features.channels import triangle
from paucens.features.toolbox import toolbox_levels
from paucens.images import pixels_of
from paucens.parallel import Threads


def read(tmp_path, raw):
    path = tmp_path / "Small.mat"
    path.write_bytes(raw)
    return PedestrianDetector.from_toolbox(path)


def picture(height=70, width=90):
    coarse = np.random.RandomState(3).randint(256, size=(height // 7 + 1, width // 7 + 1, 3))
    return np.kron(coarse, np.ones((7, 7, 1)))[:height, :width].astype(np.uint8)


def scores_by_hand(rgb, opts, clf, detector):
    """Score all windows of all levels as `acfDetect` does, in loops: a list of (level, row, column, score)."""
    found = []
    levels = scales(rgb.shape[:2], per_octave=4, min_shape=TARGET, shrink=CELL)
    for k, level in enumerate(
        toolbox_levels(rgb, detector.spec, levels, Threads(1), step=4, lambdas={"LUV": 0.0, "M": 0.1, "O": 0.1})
    ):
        colours = np.pad(level.channels[..., :3], ((2, 2), (2, 2), (0, 0)), mode="edge")
        cells = np.concatenate([colours, np.pad(level.channels[..., 3:], ((2, 2), (2, 2), (0, 0)))], axis=2)
        for row in range(0, cells.shape[0] - SHAPE[0] // CELL + 1, 2):
            for column in range(0, cells.shape[1] - SHAPE[1] // CELL + 1, 2):
                window = cells[row : row + SHAPE[0] // CELL, column : column + SHAPE[1] // CELL]
                score = score_by_hand(window.transpose(2, 1, 0).ravel(), clf, opts["cascThr"])
                if score > opts["cascThr"]:
                    found.append((k, row // 2, column // 2, score))
    return found


def score_by_hand(features, clf, rejected):
    score = np.float32(0)
    for fids, thrs, child, hs in zip(*(clf[name].T for name in ("fids", "thrs", "child", "hs")), strict=True):
        node = 0
        while child[node]:
            node = child[node] - (features[fids[node]] < thrs[node])
        score += hs[node]
        if score <= rejected:
            return -np.inf
    return score


def test_windows_are_scored_as_the_toolbox_does(tmp_path):
    opts, clf, rgb = options(), classifier(16 * 8 * 10), picture()
    detector = read(tmp_path, mat(opts, clf))
    boxes, windows = detector.candidates(rgb, detector.search.levels(rgb.shape[:2]), detector.threshold, Threads(1))
    by_hand = np.array(scores_by_hand(rgb, opts, clf, detector))
    np.testing.assert_array_equal(windows, by_hand[:, :3])
    np.testing.assert_array_equal(boxes[:, 4], by_hand[:, 3].astype(np.float32))
    assert len(boxes) > 20 and len(np.unique(windows[:, 0])) > 3
    first = boxes[windows[:, 0] == 0]
    places = 4 * windows[windows[:, 0] == 0][:, 1:] + (np.array(SHAPE) - TARGET) / 2 - 4
    np.testing.assert_allclose(first[:, :2], places[:, ::-1])
    np.testing.assert_allclose(first[:, 2:4], [TARGET[::-1]] * len(first))


def test_filters_are_kept_and_used(tmp_path):
    identity = np.zeros((5, 5, 10, 2), dtype=np.float32)
    identity[2, 2, :, 0], identity[2, 2, :, 1] = 1, -1
    opts = options(identity)
    clf = classifier(8 * 4 * 20)
    detector = read(tmp_path, mat(opts, clf))
    assert detector.search.cells == (8, 4) and detector.search.n_channels == 20 and detector.search.step == 1
    rgb = picture(71, 93)
    levels = detector.search.levels(rgb.shape[:2])
    plain = replace(detector.search, filters=None)
    for (_, band), (_, other) in zip(
        detector.search.bands(rgb, levels, Threads(1)), plain.bands(rgb, levels, Threads(1)), strict=True
    ):
        rows, columns = (side // 2 for side in other.strips.shape[::2])
        halved = other.strips[: 2 * rows, :, : 2 * columns].reshape(rows, 2, 10, columns, 2).mean(axis=(1, 4))
        if other.strips.shape[0] % 2 == 0 and other.strips.shape[2] % 2 == 0:
            np.testing.assert_allclose(band.strips, np.concatenate([halved, -halved], axis=1), atol=1e-6)
        assert band.shape == (band.strips.shape[0] - 7, band.strips.shape[2] - 3)


@pytest.mark.parametrize("filters", [EMPTY, np.random.RandomState(1).randn(5, 5, 10, 2).astype(np.float32)])
def test_a_detector_of_the_toolbox_is_saved_and_loaded(tmp_path, filters):
    n_features = 16 * 8 * 10 if filters is EMPTY else 8 * 4 * 20
    detector, rgb = read(tmp_path, mat(options(filters), classifier(n_features))), picture()
    detector.save(tmp_path / "small.npz")
    loaded = PedestrianDetector.load(tmp_path / "small.npz")
    boxes = detector.detect(rgb)
    assert len(boxes) and loaded.search.toolbox and str(loaded.spec) == "LUV+M+O (toolbox)"
    np.testing.assert_array_equal(loaded.detect(rgb), boxes)
    np.testing.assert_array_equal(loaded.detect(rgb, n_jobs=2), boxes)
    assert (loaded.search.filters is None) == (filters is EMPTY)


@pytest.mark.parametrize("pack", [gzip.compress, bytes])
@pytest.mark.parametrize("compressed", [True, False])
def test_files_may_be_packed(tmp_path, pack, compressed):
    detector = read(tmp_path, pack(mat(do_compression=compressed)))
    np.testing.assert_array_equal(detector.trees.value, read(tmp_path, mat()).trees.value)


@pytest.mark.parametrize("compressed", [True, False])
def test_damaged_files_are_refused_by_name(tmp_path, compressed):
    """A flipped byte may leave a detector; whatever else happens is a ValueError."""
    raw, rng, refused = mat(do_compression=compressed), np.random.RandomState(0), 0
    spoilt = [raw[:n] for n in rng.randint(len(raw), size=60)]
    for place, bit in zip(rng.randint(len(raw), size=200), rng.randint(8, size=200), strict=True):
        spoilt.append(raw[:place] + bytes([raw[place] ^ 1 << bit]) + raw[place + 1 :])
    for content in [*spoilt, b"", b"PK", gzip.compress(raw)[:-9], gzip.compress(b"other")]:
        try:
            read(tmp_path, content)
        except ValueError as error:
            assert "Small.mat is not a detector of Dollar's toolbox that can be run here" in str(error)
            refused += 1
    assert refused >= 64


def changed(name, value):
    """Return settings with another value of one of them."""
    opts = options()
    *folders, last = name.split(".")
    part = opts
    for folder in folders:
        part = part[folder]
    part[last] = value
    return opts


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("pPyramid.pChns.pColor.colorSpace", "hsv", "colorSpace must be luv; got hsv"),
        ("pPyramid.pChns.pGradHist.softBin", 3, "softBin must be 0 or 1; got 3"),
        ("pPyramid.pChns.pGradHist.useHog", 1, "useHog must be 0; got 1"),
        ("pPyramid.pChns.pCustom", {"name": "mine"}, "pCustom must be empty; got something"),
        ("pPyramid.pChns.shrink", 3, "cell must be one of"),
        ("pPyramid.nApprox", 0, "nApprox must be 3; got 0"),
        ("pPyramid.lambdas", EMPTY, "lambdas must be 3 finite numbers"),
        ("pPyramid.pad", [8, 8], r"pad of the pyramid must be \(4, 4\)"),
        ("pNms.ovrDnm", "union", "ovrDnm must be min; got union"),
        ("modelDsPad", [16, 16], "target of a window"),
        ("stride", 3, "stride of a window must be made of whole cells of 2 pixels; got 3"),
        ("filters", np.ones((4, 4, 10, 2)), "filters must be finite numbers of shape"),
        ("cascThr", np.nan, "cascThr must be 1 finite numbers"),
    ],
)
def test_other_settings_are_refused(tmp_path, name, value, message):
    with pytest.raises(ValueError, match=rf"Small\.mat .*{message}"):
        read(tmp_path, mat(changed(name, value)))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("fids", lambda table: table + 16 * 8 * 10, "channel"),
        ("child", lambda table: table * 4, "child lies outside its tree"),
        ("thrs", lambda table: table[:3], "must have one shape"),
        ("hs", lambda table: table * np.nan, "hs must be a table of finite numbers"),
        ("fids", lambda table: table + 0.5, "fids must be whole numbers"),
    ],
)
def test_other_trees_are_refused(tmp_path, name, change, message):
    clf = classifier(16 * 8 * 10)
    clf[name] = change(clf[name])
    with pytest.raises(ValueError, match=rf"Small\.mat .*{message}"):
        read(tmp_path, mat(clf=clf))


def test_a_missing_setting_is_named(tmp_path):
    opts = options()
    del opts["stride"]
    with pytest.raises(ValueError, match="the field 'stride' is missing"):
        read(tmp_path, mat(opts))
    with pytest.raises(FileNotFoundError):
        PedestrianDetector.from_toolbox(tmp_path / "none.mat")


def test_searches_that_do_not_fit_together_are_refused(tmp_path):
    search = read(tmp_path, mat()).search
    with pytest.raises(ValueError, match=r"cells of 4 pixels, but the channels .* have cells of 2"):
        replace(search, window=replace(search.window, cell=4))
    with pytest.raises(ValueError, match="The order of the toolbox is for LUV, M, O with lambdas"):
        replace(search, lambdas=None)
    with pytest.raises(ValueError, match="filters need the order of the toolbox"):
        replace(search, toolbox=False, filters=np.ones((1, 10, 3, 3)))
    with pytest.raises(ValueError, match="The width of a window must be made of filtered cells of 4; got 18"):
        Search(
            search.spec, replace(search.window, shape=(32, 18)), 4, 0.0, search.lambdas, True, np.ones((1, 10, 3, 3))
        )
    assert triangle(search.spec.preset.smooth_channels)[0] == 0.5


# -- his own ---------------------------------------------------------------------------------------


def toolbox_file(name):
    """Return a file of the toolbox; skip the test if it is not on the disk."""
    path = Path(os.environ.get("PAUCENS_DATA", "data")) / "toolbox" / name
    if not path.exists():
        pytest.skip(f"toolbox/{name} is not in $PAUCENS_DATA")
    return path


@pytest.mark.parametrize(
    ("name", "n_trees", "cells", "n_channels", "step"),
    [
        ("AcfInriaDetector_8c81f93", 2048, (32, 16), 10, 1),
        ("AcfInriaDetector", 2048, (32, 16), 10, 1),
        ("AcfCaltech+Detector", 4096, (32, 16), 10, 2),
        ("LdcfInriaDetector", 1567, (32, 16), 40, 1),
        ("LdcfCaltechDetector", 4028, (16, 8), 40, 1),
    ],
)
def test_his_detectors_are_read(name, n_trees, cells, n_channels, step):
    detector = PedestrianDetector.from_toolbox(toolbox_file(f"models/{name}.mat"))
    search = detector.search
    assert (len(detector.trees.rejection), search.cells, search.n_channels, search.step) == (
        n_trees,
        cells,
        n_channels,
        step,
    )
    assert detector.threshold == -1 and (detector.trees.rejection == -1).all()


def test_his_boxes_are_found_again():
    """Ten of his images; compressed or repaired pixels scatter the scores, of which a leaf is about 0.2."""
    detector = PedestrianDetector.from_toolbox(toolbox_file("models/AcfInriaDetector_8c81f93.mat"))
    his = np.loadtxt(toolbox_file("detections/AcfInriaDets_8c81f93.txt.gz"), delimiter=",")
    try:
        inria = load_inria()
    except FileNotFoundError:
        pytest.skip("INRIA Person is not on the disk")
    names = sorted([*(record.image.stem for record in inria.test), *inria.missing])
    overlaps, apart = [], []
    for record in inria.test[::29]:
        found = detector.detect(pixels_of(record.image))
        own = his[(his[:, 0] == names.index(record.image.stem) + 1) & (his[:, 5] > 20), 1:]
        for box in own:
            shares = overlap(found, box)
            overlaps.append(shares.max(initial=0))
            apart.append(found[shares.argmax(), 4] - box[4] if len(found) else np.nan)
    assert len(overlaps) > 12
    assert np.mean(np.array(overlaps) > 0.5) > 0.9
    assert abs(np.nanmedian(apart)) < (2 if inria.source == "uncompressed" else 8)


def overlap(boxes, box):
    """Return the intersection of boxes with another one over their union."""
    sides = [
        np.minimum(boxes[:, k] + boxes[:, k + 2], box[k] + box[k + 2]) - np.maximum(boxes[:, k], box[k]) for k in (0, 1)
    ]
    shared = np.prod(np.maximum(sides, 0), axis=0)
    return shared / (boxes[:, 2] * boxes[:, 3] + box[2] * box[3] - shared)
