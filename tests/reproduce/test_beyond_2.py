"""Ways of leaving out work: what settings leave and count equals what detectors do that have them; the choice."""

import itertools
from dataclasses import replace
from functools import partial

import beyond_2
import numpy as np
import pandas as pd
import pytest
from detections import all_windows

import detectors
from detectors import cascades, leaving, ways
from detectors import fewer_windows as fewer
from harness import Run
from paucens.datasets import street_crops, synthetic_streets
from paucens.features import ChannelSpec
from paucens.proposals import Bing, calibrated, greedy_bases
from pictures import texts_outside

EARLY_CHANNELS = set(ways.EARLY)


def smoke(out):
    return ["--scale", "smoke", "--jobs", "1", "--out", str(out)]


# -- what settings leave ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rgb():
    return synthetic_streets(3, seed=5, size=(140, 150))[2].image


@pytest.fixture(scope="module")
def detector():
    """Return three late trees of 317 channels, which tell ordinary windows apart."""
    single = fewer.robust().without_stages()
    return replace(single, trees=single.trees.part(1000, 1003).without_rejection())


@pytest.fixture(scope="module")
def settings(detector, rgb):
    """Cascades, BING and first stages, alone and together, each of which leaves some windows."""
    first = fewer.robust().first_stage
    first = replace(first, trees=first.trees.part(300, 304).with_rejection(-0.06), within=0.1)
    cascade = detector.trees.with_rejection(-0.05)
    weights = np.random.default_rng(0).normal(size=(16, 8)).astype(np.float32)
    bings = [
        calibrated(Bing(weights, *greedy_bases(weights, 2), normalised=normalised), detector.search, [rgb], [share])[0]
        for normalised, share in ((False, 0.3), (True, 0.6))
    ]
    product = itertools.product((detector.trees, cascade), (None, *bings), (None, first))
    return [ways.Setting("some", f"{k}", *own) for k, own in enumerate(product)]


def test_settings_leave_what_detectors_with_them_leave(detector, settings, rgb, monkeypatch):
    everything = partial(cascades.sampled_windows, every=1)  # then nothing is estimated
    monkeypatch.setattr(cascades, "sampled_windows", everything)
    whole = all_windows(detector, rgb)
    left, work, totals = leaving.leave_out(detector, settings, rgb, np.array(list(whole)))
    assert totals[:3].tolist() == [len(whole)] * 3
    n_left = []
    for setting, kept, counts in zip(settings, left, work, strict=True):
        on = setting.switched_on(detector)
        found = all_windows(on, rgb)
        assert found == {window: whole[window] for window, here in zip(whole, kept, strict=True) if here}
        n_left.append(len(found))
        assert counts[0] == len(whole) - len(found)
        assert counts[1] == trees_of_first(detector, setting, rgb)
        assert counts[2] == trees_gone_through(on, rgb)
        assert counts[3] == costly_cells(on, rgb, monkeypatch)
    assert n_left[0] == len(whole) and work[0][3] == totals[3]
    assert len(set(n_left)) == len(n_left) and min(n_left) > 0, n_left
    assert work[6][2] < work[0][2]  # not only the last tree rejects windows


def trees_gone_through(detector, rgb):
    """Count the windows that are left before each tree."""
    n = len(detector.trees.rejection)
    return sum(len(all_windows(replace(detector, trees=detector.trees.part(0, k)), rgb)) for k in range(n))


def trees_of_first(detector, setting, rgb):
    if setting.first is None:
        return 0
    first = ways.alone(detector, setting.first.trees)
    return trees_gone_through(replace(first, trees=setting.first.trees, proposals=setting.bing), rgb)


def costly_cells(detector, rgb, monkeypatch):
    """Count the cells for which other channels than the early ones are computed."""
    computed = []

    def record(spec, rgb, families, threads, out, flow, fill=ChannelSpec.fill):
        if set(families) - EARLY_CHANNELS:
            computed.append(out.shape[0] * out.shape[2])
        return fill(spec, rgb, families, threads, out)

    with monkeypatch.context() as patched:
        patched.setattr(ChannelSpec, "fill", record)
        detector.detect(rgb)
    return sum(computed)


def test_bing_saves_the_channels_of_bands_without_windows(detector, rgb, monkeypatch):
    weights = np.ones((16, 8), dtype=np.float32)
    (harsh,) = calibrated(Bing(weights, *greedy_bases(weights, 1)), detector.search, [rgb], [0.999])
    setting = ways.Setting("some", "one", detector.trees, harsh)
    _, work, totals = leaving.leave_out(detector, [setting], rgb, np.empty((0, 3), dtype=int))
    assert work[0][3] == costly_cells(setting.switched_on(detector), rgb, monkeypatch) < totals[3]


def test_windows_are_sampled(detector, settings, rgb):
    """One window of 97 tells about the others; what a first stage leaves is counted."""
    nothing = np.empty((0, 3), dtype=int)
    _, work, totals = leaving.leave_out(detector, settings[:2], rgb, nothing)
    n_sampled = len(cascades.sampled_windows(detector.search, rgb.shape[:2]))
    assert n_sampled == -(-totals[0] // 97)
    assert work[0][2] == pytest.approx(3 * totals[0])  # of one stage, through all trees
    windows, _ = leaving.second_stage(detector, settings[1], rgb)
    assert work[1][2] == 3 * len(windows) > 0 and work[1][0] == totals[0] - len(windows)


def test_ten_channels_are_never_expensive(detector, rgb):
    ten = ways.alone(detector, fewer.robust().first_stage.trees.part(0, 2))
    setting = ways.Setting("some", "one", ten.trees)
    _, work, _ = leaving.leave_out(ten, [setting], rgb, np.empty((0, 3), dtype=int))
    assert work[0][3] == 0


def test_detectors_that_share_channels_detect_the_same(detector, settings, rgb):
    switched_on = [one.switched_on(detector) for one in settings]
    images = [rgb, rgb[:, ::-1].copy()]
    found = detectors.detections_of_each(switched_on, images, -0.05, 2)
    assert sum(len(boxes) for own in found for boxes in own) > 0
    for one, own in zip(switched_on, found, strict=True):
        assert all(map(np.array_equal, own, [one.detect(image, threshold=-0.05) for image in images]))


def test_miss_rates_of_crops_are_those_of_detectors_one_by_one(detector, settings, rgb):
    crops, lowest = list(street_crops(synthetic_streets(3, seed=1))), -np.inf
    switched_on = [replace(one.switched_on(detector), search=detector.search) for one in settings[::5]]
    rates = detectors.crop_miss_rates(switched_on, crops, [rgb], lowest)
    assert rates == [detectors.crop_miss_rate(one, crops, [rgb]) for one in switched_on]
    assert len(set(rates)) > 1


# -- the script ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("beyond_2")


@pytest.fixture(scope="module")
def run(out):
    return beyond_2.main(smoke(out))


def frames(out):
    return [
        pd.read_csv(out / f"beyond_2{part}.csv", keep_default_na=False, na_values=[""])
        for part in ("_choice", "", "_times")
    ]


def test_beyond_2(run, out):
    choice, rows, timed = frames(out)
    every = [ways.NONE, *beyond_2.LOOKS]
    few = [way for way in (ways.NONE, *beyond_2.LOOKS) if way not in (ways.STAGES, ways.STAGES_BEHIND)]
    for frame in (choice, rows, timed):
        assert frame.detector.tolist() == [fewer.TEN.method] * len(few) + [fewer.ALL] * len(every)
        assert set(frame.way[: len(few)]) == set(few) and set(frame.way[len(few) :]) == set(every)
        assert frame.setting.tolist() == choice.setting.tolist()
    none = rows[rows.way == ways.NONE]
    assert none.difference.tolist() == [0, 0] and none.away.tolist() == [0, 0] and none.trees.tolist() == [8, 8]
    assert (rows.cells[rows.detector == fewer.TEN.method] == 0).all() and none.cells.iloc[1] == 1
    in_stages = rows[rows.way.isin([ways.STAGES, ways.STAGES_BEHIND])]
    assert (in_stages.first_trees > 0).all() and in_stages.cells.between(0, 0.5).all()
    assert (timed.detect_ratio[timed.way == ways.NONE] == 1).all() and (timed.seconds > 0).all()
    assert texts_outside(run.figure) == []
    assert not (out / "test_evaluations.csv").exists()  # of photographs only
    text = (out / "beyond_2.md").read_text(encoding="utf-8")
    assert "stand-in" in text and all(way in text for way in every)


def test_the_table_follows_from_the_csv(run, out):
    before = (out / "beyond_2.md").read_text(encoding="utf-8")
    assert beyond_2.main([*smoke(out), "--redraw"]).figure is not None
    assert (out / "beyond_2.md").read_text(encoding="utf-8") == before


def test_boxes_of_the_script_are_those_of_the_detectors(run, out):
    """M+O+LUV with each setting of the run, on an image of the test set."""
    own = Run.of("beyond_2.py", "", detectors.PROTOCOLS, smoke(out))
    (named,) = detectors.load(own)
    tests = detectors.test_set(own, named["test_set"])
    name = fewer.TEN.method
    whole, floor = fewer.whole(own, name), fewer.score_at_fppi(own, name, fewer.FLOOR_FPPI)
    case = frames(out)[1].iloc[0].to_dict()
    own_settings = beyond_2.settings_of(own, case, name)
    boxes, windows = fewer.scored_windows(own, name, tests)
    left, _, _ = leaving.leave_out(whole, own_settings, tests.images[0], windows[0])
    expected = detectors.detections_of_each([one.switched_on(whole) for one in own_settings], tests.images[:1], floor)
    for kept, (found,) in zip(left, expected, strict=True):
        assert np.array_equal(fewer.non_maximum_suppression(boxes[0][kept]), found)
    assert 0 < sum(map(sum, left)) < sum(map(len, left))


def test_ladders(out):
    """All settings of both detectors: their names differ, each way goes from mild to harsh."""
    own = replace(Run.of("beyond_2.py", "", detectors.PROTOCOLS, smoke(out)), scale="small")
    form = dict(zip(beyond_2.bing.AS_THE_PAPER, (True, "none", "2 bases", False), strict=True))
    found = ways.settings(own, fewer.ALL, form)
    counts = pd.Series([one.way for one in found]).value_counts(sort=False)
    assert counts.tolist() == [1, 9, 4, 7, 7, 12, 3, 9]
    assert len({one.label for one in found}) == len(found)
    for _, ladder in itertools.groupby(found, key=lambda one: one.way):
        first, *_, last = [*ladder] * 2
        assert (first.trees.rejection <= last.trees.rejection).all()
        if first.bing is not None:
            assert (first.bing.thresholds <= last.bing.thresholds).all()
        if first.first is not None:
            assert (first.first.trees.rejection <= last.first.trees.rejection).all()


def test_the_least_work_that_loses_almost_nothing_is_chosen():
    columns = ["detector", "way", "setting", "crop_miss_rate", "first_trees", "trees", "cells"]
    lines = [
        ("a", ways.NONE, "none", 0.0200, 0, 2048, 1),
        ("a", "one", "mild", 0.0199, 0, 900, 1),
        ("a", "one", "right", 0.0215, 0, 50, 1),
        ("a", "one", "harsh", 0.0221, 0, 5, 1),
        ("a", "other", "mildest", 0.0300, 0, 900, 1),
        ("a", "other", "harsher", 0.0250, 0, 50, 1),
        ("a", ways.STAGES, "many trees", 0.0200, 90, 1, 0.01),
        ("a", ways.STAGES, "many cells", 0.0200, 20, 1, 0.20),
        ("b", ways.NONE, "none", 0.0300, 0, 2048, 1),
        ("b", "one", "harsh", 0.0320, 0, 5, 1),
    ]
    found = beyond_2.chosen(pd.DataFrame(lines, columns=columns))
    assert found.setting.tolist() == ["none", "right", "mildest", "many trees", "none", "harsh"]


def test_the_frontier_leaves_out_what_is_slower_and_worse():
    rows = pd.DataFrame({"time": [1, 2, 3, 4], "miss_rate": [0.5, 0.3, 0.4, 0.3]})
    assert beyond_2.frontier(rows).time.tolist() == [1, 2]
