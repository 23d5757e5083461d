"""Tables of detectors: the stand-in, which says what it is, the cache of detectors, folds, stored detections."""

import doctest
from dataclasses import dataclass, replace

import ablation
import numpy as np
import pandas as pd
import pytest
import table_3
from toolbox_files import mat

import detectors
from detectors import data as detectors_data
from detectors import judging, training
from detectors.data import TrainingData, origin, split, without_edges
from detectors.judging import load_detections, save_detections
from harness import MissingData, Run
from paucens.detector import Window
from paucens.detector.scan import Search
from paucens.features import PRESETS, ChannelSpec


def smoke(out):
    return ["--scale", "smoke", "--jobs", "1", "--out", str(out)]


@pytest.fixture(scope="module")
def cropped(tmp_path_factory):
    """The folder of the ablation at smoke scale, which trains on M+O+LUV only."""
    out = tmp_path_factory.mktemp("ablation")
    ablation.main(smoke(out))
    return out


def test_the_stand_in(cropped, capsys):
    text = (cropped / "ablation.md").read_text(encoding="utf-8")
    assert "streets (stand-in)" in text and "INRIA test" not in text and "| paper" not in text
    rows, pairs = (pd.read_csv(cropped / f"ablation{kind}.csv") for kind in ("", "_pairs"))
    assert set(rows.data_set) == {"streets (stand-in)"} and list(rows.method) == list(
        dict.fromkeys([*pairs.baseline, *pairs.method])
    )
    assert not (cropped / "test_evaluations.csv").exists()  # of photographs only
    assert len(list((cropped / "ablation").glob("*.npz"))) == len(rows) == 4
    rates = dict(zip(rows.method, rows.miss_rate, strict=True))
    n_images = rows.n_images.iloc[0]
    for pair in pairs.itertuples():
        assert pair.low <= pair.difference <= pair.high and n_images == 4
        assert pair.difference == pytest.approx(rates[pair.method] - rates[pair.baseline], abs=2e-6)
    before = {path.name: path.read_bytes() for path in cropped.glob("ablation*.*")}
    ablation.main(smoke(cropped))
    assert "were there already" in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in cropped.glob("ablation*.*")} == before


def test_every_variation_is_a_detector_of_its_own(cropped):
    folders = list((cropped / "detectors" / "smoke").iterdir())
    assert len(folders) == 4  # though channels, preset and seed are the same
    assert not [path for folder in folders for path in folder.glob("unfinished")]


def test_detectors_are_cached_by_what_their_configuration_holds(cropped):
    run = Run.of("table_3.py", "", detectors.PROTOCOLS, smoke(cropped))
    data, folder = detectors.training_data(run), cropped / "detectors" / "smoke"
    before = set(folder.iterdir())
    config = replace(table_3.ACF, method="another name", n_seeds=1, cascade=False)
    (one, _), (other, _) = (detectors.trained(run, own, data, 0) for own in (table_3.ACF, config))
    assert set(folder.iterdir()) == before and one.notes == other.notes
    changed = replace(PRESETS["robust"], smooth_channels=0.5)  # under the old name
    detectors.trained(run, replace(config, preset=changed), data, 0)
    run.protocol = replace(run.protocol, n_negatives=101)
    detectors.trained(run, config, data, 0)
    fewer = replace(data, crops=data.crops[1:])
    detectors.trained(run, config, fewer, 0)
    assert len(set(folder.iterdir())) == len(before) + 3


def test_a_table_sets_pairs_apart_and_names_what_it_compares(cropped):
    """Rows as of INRIA: the paper's numbers stand beside those of INRIA only."""
    rows, pairs = (pd.read_csv(cropped / f"ablation{kind}.csv") for kind in ("", "_pairs"))
    elsewhere, inria = ([own.assign(test_set=title) for own in (rows, pairs)] for title in ("TUD", "INRIA, 50 px"))
    inria[0] = inria[0].assign(n_images=287, source="uncompressed")
    both = [pd.concat(two) for two in zip(elsewhere, inria, strict=True)]
    both[0].method = both[0].method.replace("M+O+LUV", "spCov+M+O+LUV")
    text = detectors.table("ablation", *both)
    tud, of_inria = text.split("## ")[1:]
    said = "INRIA test, 287/288 images, all repaired (5 % of the pixels inside people's boxes), uncompressed."
    assert "11.2" in of_inria and said in of_inria and "11.2" not in tud and "repaired" not in tud
    assert "crops with edges left out − M+O+LUV" in tud


def test_stored_detections(tmp_path):
    random = np.random.default_rng(0)
    found = [np.column_stack([random.uniform(0, 300, size=(n, 4)), random.normal(size=n)]) for n in (30, 0, 4)]
    save_detections(tmp_path / "deep" / "some.npz", found)
    stored = load_detections(tmp_path / "deep" / "some.npz")
    least = np.sort(np.concatenate(found)[:, 4])[4]
    assert sum(map(len, stored)) == 30  # ten per image, the best of all
    for boxes, own in zip(stored, found, strict=True):
        np.testing.assert_allclose(boxes[:, :4], own[own[:, 4] >= least, :4], atol=0.0501)
        np.testing.assert_allclose(boxes[:, 4], own[own[:, 4] >= least, 4], rtol=1e-6)


def test_folds_part_photographs_and_hold_all_kinds():
    letters_of = {"crop_": "abc", "person_": "ab", "person_and_bike_": "a"}
    names = [
        f"{kind}{number:03d}{letter}.png"
        for kind, letters in letters_of.items()
        for number in range(40)
        for letter in letters
    ]
    data, seen = TrainingData("INRIA", "", names, [f"{k}.png" for k in range(33)], 0.0), []
    for fold in range(5):
        train, held_out = split(data, fold)
        kinds, photographs = zip(*map(origin, held_out.crops), strict=True)
        assert not set(photographs) & {origin(name)[1] for name in train.crops}
        assert set(kinds) == {"crop", "person", "person_and_bike"}
        assert sorted(train.images + held_out.images) == sorted(data.images)
        seen += held_out.crops
    assert sorted(seen) == sorted(names)


@dataclass
class Oracle:
    """Finds what it is told to, at the score it is told."""

    search: Search

    @property
    def window(self):
        return self.search.window

    def detect(self, image, **options):
        score = float(image[0, 0, 0])
        return np.array([[27.5, 30.0, 41.0, 100.0, score]]) if score else np.empty((0, 5))


def test_crops_with_repeated_edges_are_left_out():
    noise = np.random.default_rng(0).integers(256, size=(3, 160, 96, 3)).astype(np.uint8)
    noise[1, -5:] = noise[1, -6]
    kept = without_edges(list(noise))
    assert len(kept) == 2 and np.array_equal(kept[0], noise[0]) and np.array_equal(kept[1], noise[2])


def test_miss_rate_of_crops():
    """Three of four crops above all false positives, one below; at most 1 false positive in 4 photographs."""
    crops = [np.full((160, 96, 3), score, dtype=np.uint8) for score in (9, 8, 7, 1)]
    negatives = [np.full((160, 96, 3), score, dtype=np.uint8) for score in (5, 0, 0, 0)]
    rate = np.exp((6 * np.log(1 / 4) + 3 * np.log(1 / 8)) / 9)  # at 0.316, 0.562 and 1 nobody is missed: half a crop
    oracle = Oracle(Search(ChannelSpec.parse("M+O+LUV"), Window()))
    assert detectors.crop_miss_rate(oracle, crops, negatives) == pytest.approx(rate)
    assert detectors.crop_miss_rate(oracle, crops[:3], negatives) == pytest.approx(1 / 6)


def test_presets_of_the_ablation_differ():
    presets = [PRESETS["robust"], *ablation.PRESET_OF.values()]
    held = {replace(preset, name="any") for preset in presets}
    assert len(held) == len({str(preset) for preset in presets}) == len(presets) == 7


def test_the_rows_of_table_3():
    names = [tuple(config.names.values()) for config in table_3.CONFIGS]
    assert len(set(names)) == len(names) == 12
    assert all(config in table_3.CONFIGS + table_3.PEERS for pair in table_3.PAIRS for config in pair)
    classifier = table_3.PAUC.classifier(3)
    assert classifier.fpr_range == (0.0, 0.25) and classifier.nu == 0.0625 and classifier.random_state == 3


def test_a_peer_of_the_toolbox_is_run(tmp_path):
    """A detector of few random trees stands in for one of his."""
    run = Run.of("table_3.py", "", detectors.PROTOCOLS, [*smoke(tmp_path / "out"), "--data", str(tmp_path)])
    peer = table_3.PEER_ACF
    path = tmp_path / "toolbox" / "models" / f"{peer.file}.mat"
    path.parent.mkdir(parents=True)
    path.write_bytes(mat())
    (tmp_path / "toolbox" / "detections").mkdir()
    assert detectors.on_disk(run, table_3.PEERS) == [peer] and run.sources["ACF, toolbox"]["shape"] == [len(mat())]
    (start,) = detectors.load(run)
    (row,) = detectors.judge(run, start | peer.names | {"repeat": 0}, [peer])
    assert 0 <= float(row["low"]) <= float(row["miss_rate"]) <= float(row["high"]) <= 1
    assert row["train_seconds"] is None and row["n_negatives"] is None


def test_without_data_it_says_how_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setenv("PAUCENS_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingData, match="INRIA"):
        table_3.main(["--scale", "paper", "--data", str(tmp_path), "--out", str(tmp_path)])


@pytest.mark.parametrize("module", [detectors_data, judging, training])
def test_examples_in_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted and not result.failed
