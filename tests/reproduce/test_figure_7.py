"""figure_7.py: what is counted where, areas and outline of a person, ranks among places, and the smoke scale."""

import doctest
import re

import figure_7
import numpy as np
import pandas as pd
import pytest

from detectors.fewer_windows import robust
from detectors.training import trained
from paucens.detector import Window
from paucens.features import ChannelSpec
from paucens.plotting import house_style
from paucens.proposals import Bing, greedy_bases
from pictures import texts_outside


def slow_splits(trees):
    """Count the splits of each cell and add up the ranges of the leaves below, node by node."""
    counts, sums = np.zeros(figure_7.CELLS), np.zeros(figure_7.CELLS)

    def leaves(first, node):
        left = trees.child[first + node]
        if left == 0:
            return [trees.value[first + node]]
        below = leaves(first, left) + leaves(first, left + 1)
        row, column, _ = trees.place[first + node]
        counts[row, column] += 1
        sums[row, column] += max(below) - min(below)
        return below

    for first in trees.first[:-1]:
        leaves(first, 0)
    return counts, sums


def test_splits_are_those_of_all_trees():
    detector = robust()
    found = figure_7.splits_of(detector)
    counts, sums = slow_splits(detector.trees)
    assert found["splits"].sum() == (detector.trees.child > 0).sum() > 10_000
    assert np.array_equal(found["splits"], counts)
    np.testing.assert_allclose(found["leaf_range"].astype(float), sums, rtol=1e-4)


def test_what_is_offered():
    """Inside the window all channels; at its border not those that see more than 16 pixels around it."""
    offered = figure_7.splits_of(robust())["offered"]
    assert offered.sum() == len(Window().features(ChannelSpec.parse("M+O+LUV+spCov+spLBP")))
    assert (offered[1:-1, 1:-1] == 317).all()
    assert (offered[[0, -1]] == 275).all() and (offered[:, [0, -1]] == 275).all()


@pytest.mark.parametrize("masks", [figure_7.areas(), figure_7.outline_areas()], ids=["cells", "points"])
def test_each_place_lies_in_one_area_and_areas_are_symmetric(masks):
    stacked = np.stack(list(masks.values()))
    assert (stacked.sum(axis=0) == 1).all() and stacked.any(axis=(1, 2)).all()
    assert np.array_equal(stacked, stacked[:, :, ::-1])


def test_the_outline_of_head_and_shoulders():
    """Shaped as a roof: the top of the head, its sides, the shoulders."""
    upper = figure_7.outline_areas()[figure_7.UPPER]
    rows = ["".join(".x"[inside] for inside in row) for row in upper.astype(int)[:7]]
    assert rows == ["........", "...xx...", "..xxxx..", "..xxxx..", ".xx..xx.", ".xx..xx.", "........"]


def test_chance_is_one():
    offered = np.arange(1.0, 513).reshape(figure_7.CELLS)
    np.testing.assert_allclose(figure_7.times_chance({"splits": 3 * offered, "offered": offered}), 1)


def test_bases_stand_for_the_weights():
    weights = np.random.default_rng(0).normal(size=(16, 8)).astype(np.float32)
    errors = []
    for n_bases in (1, 2, 40):
        found = figure_7.bing_weights(Bing(weights, *greedy_bases(weights, n_bases)))
        np.testing.assert_allclose(found["weight"].astype(float), weights, rtol=1e-4)
        errors.append(np.abs(found["of_bases"].astype(float) - weights).mean())
    assert errors[0] > errors[1] > errors[2] and errors[2] < 0.02
    signs = figure_7.bing_weights(Bing(weights, *greedy_bases(weights, 1)))["of_bases"].astype(float)
    assert np.array_equal(signs > 0, weights > 0)


def rows_of(n_splits):
    """Rows as of two detectors, whose splits are drawn from the head or from all features, and of BING."""
    random, masks, frames = np.random.default_rng(0), figure_7.areas(), []
    row, column = (part.ravel() for part in np.indices(figure_7.CELLS))
    offered = np.where((row % 31 == 0) | (column % 15 == 0), 275, 317)
    for method, mask in ((figure_7.ADABOOST, masks["head"]), (figure_7.PAUCENS, masks["head"] | True)):
        chance = offered * mask.ravel() / (offered * mask.ravel()).sum()
        splits = random.multinomial(n_splits, chance)
        own = {"method": method, "row": row, "column": column, "splits": splits, "leaf_range": 0.1 * splits}
        frames.append(pd.DataFrame(own).assign(channels="all", offered=offered))
    row, column = (part.ravel() for part in np.indices(figure_7.POINTS))
    weight = np.where(figure_7.outline_areas()[figure_7.UPPER].ravel(), 3.0, -1.0)
    own = {"method": figure_7.BING, "channels": "some", "row": row, "column": column}
    frames.append(pd.DataFrame(own | {"weight": weight, "of_bases": weight / 2}))
    return pd.concat(frames).assign(data_set="some", source="drawn")


def test_the_table_tells_the_head_from_chance():
    text = figure_7.table(rows_of(20_000))
    lines = [line for line in text.splitlines() if line.startswith(("| AdaBoost, 317", "| pAUCEns, 317"))]
    head, chance = (re.findall(r"(\d+\.\d\d) \((.*?) to (.*?)\)", line) for line in lines)
    assert float(head[0][0]) == pytest.approx(158440 / (16 * 317), abs=0.01)  # all splits, by the share of the head
    assert all(float(share) == 0 for share, _, _ in head[1:])
    assert all(float(low) < 1 < float(high) for _, low, high in chance)
    assert "in 1 of them" in text and "hold 75 %" in text and "| +2.00" not in text
    units = 18 * 3 + 110  # of 128 weights: 18 of 3 and 110 of -1
    assert f"| {3 * 128 / units:+.2f} " in text and f"| {1.5 * 128 / units:+.2f} " in text


def test_no_text_of_the_picture_is_cut():
    with house_style():
        figure = figure_7.picture(rows_of(500))
        assert texts_outside(figure) == []
    shown = [text.get_text() for text in figure.findobj(lambda part: hasattr(part, "get_text"))]
    assert "shoulders" in shown and "some: splits, divided by those of chance" in shown


def test_the_stand_in(monkeypatch, tmp_path):
    """It says what it is; table and picture are made from the CSV alone."""
    few = [case for case in figure_7.CASES if case[1] != figure_7.ALL.channels]
    monkeypatch.setattr(figure_7, "CASES", few)
    arguments = ["--scale", "smoke", "--jobs", "1", "--out", str(tmp_path)]
    run = figure_7.main(arguments)
    rows, text = pd.read_csv(tmp_path / "figure_7.csv"), (tmp_path / "figure_7.md").read_text(encoding="utf-8")
    sizes = rows.groupby("method", sort=False).size().to_dict()
    assert sizes == {figure_7.ADABOOST: 512, figure_7.PAUCENS: 512, figure_7.BING: 128}
    assert "streets (stand-in), rendered" in text and set(rows.data_set) == {"streets (stand-in)"}
    detector, _ = trained(run, figure_7.ACF, figure_7.training_data(run), 0)
    counted = rows[rows.method == figure_7.ADABOOST].splits.to_numpy().reshape(figure_7.CELLS)
    assert np.array_equal(counted, slow_splits(detector.trees)[0]) and counted.sum() > 10
    assert texts_outside(run.figure) == []
    figure_7.main([*arguments, "--redraw"])
    assert (tmp_path / "figure_7.md").read_text(encoding="utf-8") == text
    assert (tmp_path / "figure_7.png").stat().st_size > 10_000


def test_all_four_detectors_are_different_ones_of_table_3_and_one_more():
    configs = list(figure_7.CONFIGS.values())
    assert [config.channels for config in configs] == 2 * ["M+O+LUV"] + 2 * ["spCov+spLBP+M+O+LUV"]
    made = [config.classifier(0) for config in configs]
    assert repr(made[0]) == repr(made[2]) and repr(made[1]) == repr(made[3])
    assert made[3].fpr_range == (0.0, 0.25) and {config.preset for config in configs} == {"robust"}


def test_examples_in_docstrings():
    result = doctest.testmod(figure_7)
    assert result.attempted and not result.failed
