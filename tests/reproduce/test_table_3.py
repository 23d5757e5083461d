"""Tables of detectors: the stand-in runs, resumes and says what it is; folds and stored detections are right."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.utils import Bunch

from paucens.detector import Window, samples
from paucens.detector.samples import with_edges
from paucens.detector.scan import Search
from paucens.features import ChannelSpec
from paucens.parallel import Threads
from reproduce import _detection, _detectors, _variants, ablation, table_3
from reproduce._detection import (
    best_detections,
    crop_miss_rate,
    held_crops,
    kind_of,
    load_detections,
    photograph_of,
    save_detections,
    training_fold,
)
from reproduce._run import parse_arguments, perform


@pytest.fixture
def only_acf(monkeypatch, tmp_path):
    """Two rows of few channels, and a home of their own for the detectors."""
    twin = _detectors.Row("again", "M+O+LUV", "acf")
    monkeypatch.setattr(table_3, "STAND_IN", (table_3.ACF, twin))
    monkeypatch.setattr(table_3, "PAIRS", ((table_3.ACF, twin),))
    monkeypatch.setattr(_detectors, "ROOT", tmp_path)
    monkeypatch.setattr(_detection, "EVALUATIONS", tmp_path / "test_evaluations.csv")
    return tmp_path


def test_the_stand_in(only_acf, monkeypatch):
    arguments = parse_arguments("", ["--scale", "smoke", "--jobs", "1", "--out", str(only_acf / "out")])
    paths = perform(table_3.SCRIPT, arguments)
    text = next(path for path in paths if path.suffix == ".md").read_text(encoding="utf-8")
    assert "streets (stand-in)" in text and "INRIA test" not in text and "| paper" not in text
    lines = paths[0].read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3 and all("stand-in" in line for line in lines[1:])
    one, other = (line.split(",")[-6] for line in lines[1:])
    assert one == other  # M, O and LUV are those of the preset "acf"
    pairs = paths[1].read_text(encoding="utf-8").splitlines()[1].split(",")
    assert [float(value) for value in pairs[-3:]] == [0.0, 0.0, 0.0]
    assert not (only_acf / "test_evaluations.csv").exists()  # of photographs only
    assert len(list((only_acf / "out" / "table_3").glob("*.npz"))) == 2
    monkeypatch.setitem(_detectors.PROTOCOLS, "smoke", replace(_detectors.PROTOCOLS["smoke"], n_negatives=101))
    homes = only_acf / "build" / "detectors" / "smoke"
    n_before = len(list(homes.iterdir()))
    material = _detectors.material_of(arguments)
    _detectors.trained(table_3.ACF, 0, material, arguments)
    assert len(list(homes.iterdir())) == n_before + 1  # another protocol, another detector
    monkeypatch.setitem(_detectors.PROTOCOLS, "smoke", replace(_detectors.PROTOCOLS["smoke"], n_negatives=100))
    before = paths[0].read_bytes()
    perform(table_3.SCRIPT, arguments)
    assert paths[0].read_bytes() == before


def test_stored_detections(tmp_path):
    random = np.random.default_rng(0)
    found = [np.column_stack([random.uniform(0, 300, size=(n, 4)), random.normal(size=n)]) for n in (30, 0, 4)]
    kept = best_detections(found)
    assert sum(map(len, kept)) == 30  # ten an image, the best of all
    assert min(boxes[:, 4].min() for boxes in kept if len(boxes)) > np.sort(np.concatenate(found)[:, 4])[3]
    save_detections(tmp_path / "deep" / "some.npz", kept)
    for stored, boxes in zip(load_detections(tmp_path / "deep" / "some.npz"), kept, strict=True):
        np.testing.assert_allclose(stored[:, :4], boxes[:, :4], atol=0.0501)
        np.testing.assert_allclose(stored[:, 4], boxes[:, 4], rtol=1e-6)


def test_folds_part_photographs_and_hold_all_kinds():
    letters_of = {"crop_": "abc", "person_": "ab", "person_and_bike_": "a"}
    names = [
        f"{kind}{number:03d}{letter}.png"
        for kind, letters in letters_of.items()
        for number in range(40)
        for letter in letters
    ]
    inria = Bunch(train_crops=names, train_negatives=[f"{k}.png" for k in range(33)])
    seen = []
    for fold in range(5):
        train, negatives, held, held_negatives = training_fold(inria, fold)
        assert not {photograph_of(name) for name in train} & {photograph_of(name) for name in held}
        assert {kind_of(name) for name in held} == {"crop", "person", "person_and_bike"}
        assert sorted(negatives + held_negatives) == sorted(inria.train_negatives)
        seen += held
    assert sorted(seen) == sorted(names)


class Oracle:
    """Finds what it is told to, at the score it is told."""

    class window:
        crop = (160, 96)

    def detect(self, image, **options):
        score = float(image[0, 0, 0])
        return np.array([[27.5, 30.0, 41.0, 100.0, score]]) if score else np.empty((0, 5))


def test_crops_with_repeated_edges_are_not_held():
    noise = np.random.default_rng(0).integers(256, size=(3, 160, 96, 3)).astype(np.uint8)
    noise[1, -5:] = noise[1, -6]
    held = held_crops(list(noise))
    assert len(held) == 2 and np.array_equal(held[0], noise[0]) and np.array_equal(held[1], noise[2])


def test_miss_rate_of_crops():
    """Three of four crops above all false positives, one below; 1 false positive in 4 photographs at most."""
    crops = [np.full((160, 96, 3), score, dtype=np.uint8) for score in (9, 8, 7, 1)]
    negatives = [np.full((160, 96, 3), score, dtype=np.uint8) for score in (5, 0, 0, 0)]
    rate = np.exp((6 * np.log(1 / 4) + 3 * np.log(1 / 8)) / 9)  # at .316, .562 and 1 nobody is missed: half a crop
    assert crop_miss_rate(Oracle(), crops, negatives) == pytest.approx(rate)
    assert crop_miss_rate(Oracle(), crops[:3], negatives) == pytest.approx(1 / 6)


def test_ablation(tmp_path, monkeypatch):
    monkeypatch.setattr(_detectors, "ROOT", tmp_path)
    arguments = parse_arguments("", ["--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)])
    paths = perform(ablation.SCRIPT, arguments)
    assert len(paths[0].read_text(encoding="utf-8").splitlines()) == 1 + 1 + len(ablation.STAND_IN)
    homes = list((tmp_path / "build" / "detectors" / "smoke").iterdir())
    assert len(homes) == 1 + len(ablation.STAND_IN)  # each its own, though channels, preset and seed are the same


def test_presets_of_the_ablation_differ(monkeypatch):
    monkeypatch.setattr(_variants, "PRESETS", dict(_variants.PRESETS))
    monkeypatch.setattr(_variants, "RULES", dict(_variants.RULES))
    _variants.with_variants(None)
    made = [(_variants.PRESETS[name], _variants.RULES[name]) for name in ("robust", *_variants.VARIANTS)]
    assert len(set(made)) == len(made)
    assert {row.preset for row in ablation.CHANGED} == {"robust", *_variants.VARIANTS}


def test_masked_values_do_not_depend_on_the_edges():
    search = Search(ChannelSpec.parse("M+O+LUV"), Window())
    noise = np.random.default_rng(0).integers(256, size=(4, 160, 96, 3)).astype(np.uint8)
    noise[1] = with_edges(noise[1], (0, 20, 6, 0))
    other = noise.copy()
    other[1, -20:], other[1, :, :6] = 7, 9
    places = search.window.offered(search.spec)
    masked = _variants.Masked(search, places, 0, Threads(1), np.zeros((8, 4), dtype=np.int64))
    plain = samples.Sampler(search, places, 0, Threads(1), None)
    of_noise, of_other = (plain.positives(list(crops), range(4)) for crops in (noise, other))
    found = masked.positives(list(noise), range(4))
    for row, edges in ((2, (0, 20, 6, 0)), (3, (0, 20, 0, 6))):  # a crop and its mirror
        reached = masked.reached(edges)
        np.testing.assert_array_equal(of_noise[row, ~reached], of_other[row, ~reached])
        np.testing.assert_array_equal(found[row, ~reached], of_noise[row, ~reached])
        assert not (found[row, reached] == of_noise[row, reached]).any()
        assert any(np.array_equal(found[row, reached], of_noise[k, reached]) for k in (0, 1, 4, 5, 6, 7))
    assert np.array_equal(np.delete(found, (2, 3), axis=0), np.delete(of_noise, (2, 3), axis=0))
