"""House style: reproducible files, no text cut, one look per method, contents of the drawings."""

import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest

from paucens import plotting
from pictures import texts_outside


@pytest.fixture
def axes():
    with plotting.house_style():
        yield plotting.new_figure(4, 3).subplots()


@pytest.fixture
def frame():
    """Two methods, two repeats, three rounds; the first method is 0.1 higher."""
    index = pd.MultiIndex.from_product(
        [["pAUCEnsT", "AdaBoost"], [0, 1], [1, 10, 100]], names=["method", "repeat", "rounds"]
    )
    frame = index.to_frame(index=False)
    frame["pauc"] = 0.5 + 0.1 * np.log10(frame.rounds) + 0.02 * frame.repeat
    frame.loc[frame.method == "pAUCEnsT", "pauc"] += 0.1
    return frame


def test_the_same_figure_gives_the_same_bytes(axes, tmp_path):
    axes.plot([0, 1], [0, 1])
    axes.set_title("twice")
    paths = [plotting.save_figure(axes.figure, tmp_path / stem) for stem in ("first", "second")]
    assert [path.suffix for path in paths[0]] == [".png", ".pdf"]
    for first, second in zip(*paths, strict=True):
        assert first.read_bytes() == second.read_bytes()
    assert b"CreationDate" not in paths[0][1].read_bytes()


def test_a_stem_with_a_dot_keeps_it(axes, tmp_path):
    assert plotting.save_figure(axes.figure, tmp_path / "beta.05")[0].name == "beta.05.png"


def panels_of_equal_aspect(height):
    """Five panels of equal aspect with titles, laid out by their width and then, once they are square, by height."""
    figure = plotting.new_figure(11.5, height)
    for k, axes in enumerate(figure.subplots(1, 5)):
        axes.plot([-3, 3], [-3, 3])
        axes.set_title(f"panel {k}")
        axes.set_xlabel("below")
        axes.set_box_aspect(1)
    axes.set_xticks([-2, 0, 2], ["a long label", "a longer label", "another label"], rotation=25, ha="right")
    return figure


@pytest.mark.parametrize("height", [2.4, 2.6, 4])
def test_saving_cuts_no_title(height, tmp_path, monkeypatch):
    with plotting.house_style():
        figure = panels_of_equal_aspect(height)
        plotting.save_figure(figure, tmp_path / "panels")
        with monkeypatch.context() as once:
            once.setattr(plotting, "settle", lambda figure: None)
            assert texts_outside(figure) == []


def test_a_figure_that_is_drawn_once_may_lose_its_titles(monkeypatch):
    """This is what `settle` is for; matplotlib may repair it one day."""
    with plotting.house_style():
        monkeypatch.setattr(plotting, "settle", lambda figure: None)
        heights = np.arange(2.45, 2.7, 0.05)
        assert any(texts_outside(panels_of_equal_aspect(height)) for height in heights)


def test_texts_beyond_the_edge_are_found(axes):
    axes.set_title("inside")
    axes.plot([0, 1], [0, 1], label="a line")
    axes.legend()
    axes.annotate("inside too", (0.5, 0.5))
    axes.text(99, 99, "")
    assert texts_outside(axes.figure) == []
    axes.set_title("a title that is much too long for a figure of four inches, whatever its size may be")
    axes.text(5, 0.5, "far right").set_in_layout(False)
    axes.text(5, 0.7, "unseen", visible=False)
    axes.figure.set_layout_engine("none")
    axes.set_position([0.01, 0.3, 0.9, 0.5])  # no room for the labels of the ticks
    outside = texts_outside(axes.figure)
    assert "far right" in outside and "unseen" not in outside
    assert axes.get_title(loc="left") in outside and any(name.startswith("y axis of") for name in outside)
    axes.set_visible(False)
    assert texts_outside(axes.figure) == []


def test_house_style_applies_inside_and_leaves_nothing_behind():
    with matplotlib.rc_context({"font.size": 31, "lines.linewidth": 9}):
        with plotting.house_style():
            assert matplotlib.rcParams["pdf.fonttype"] == 42
            assert matplotlib.rcParams["svg.hashsalt"] == "paucens"
            assert matplotlib.rcParams["figure.constrained_layout.use"]
            assert matplotlib.rcParams["font.size"] < 12
        assert matplotlib.rcParams["font.size"] == 31


def test_methods_differ_in_colour_and_in_marker():
    colours, markers = zip(*plotting.METHOD_STYLES.values(), strict=True)
    assert len(set(colours)) == len(colours) and len(set(markers)) == len(markers)
    assert plotting.method_style("unheard of") == (plotting.GREY, "o")


def test_mean_curves_are_the_means(axes, frame):
    ends = plotting.draw_mean_curves(axes, frame, "rounds", "pauc")
    assert ends == pytest.approx({"pAUCEnsT": 0.81, "AdaBoost": 0.71})
    assert [line.get_ydata() for line in axes.lines][1] == pytest.approx([0.51, 0.61, 0.71])
    assert axes.lines[0].get_color() == plotting.BLUE


def test_one_repeat_is_drawn_without_a_band(axes, frame):
    ends = plotting.draw_mean_curves(axes, frame[frame.repeat == 0], "rounds", "pauc")
    assert ends["AdaBoost"] == pytest.approx(0.7)


@pytest.mark.parametrize("seed", range(20))
def test_labels_keep_their_order_and_distance(seed):
    heights = np.sort(np.random.RandomState(seed).uniform(size=5))
    placed = plotting.spread_out(heights.tolist(), 0.1)
    assert (np.diff(placed) >= 0.1 - 1e-12).all()
    if (np.diff(heights) >= 0.1).all():
        assert placed == pytest.approx(heights)


def test_labels_that_are_far_apart_stay():
    assert plotting.spread_out([0.1, 0.5, 0.9], 0.1) == pytest.approx([0.1, 0.5, 0.9])
    assert plotting.spread_out([0.5, 0.5, 0.5], 0.1) == pytest.approx([0.4, 0.5, 0.6])
    assert plotting.spread_out([0.7], 0.1) == [0.7]


def test_line_ends_are_labelled_in_order_on_a_logarithmic_axis(axes, frame):
    ends = plotting.draw_mean_curves(axes, frame, "rounds", "pauc")
    axes.set_xscale("log")
    plotting.label_ends(axes, 100, ends)
    heights = {text.get_text(): text.xy[1] for text in axes.texts}
    assert heights["pAUCEnsT"] > heights["AdaBoost"]


def test_paired_dots_join_the_repeats_and_mark_the_means(axes, frame):
    plotting.draw_paired_dots(axes, frame[frame.rounds == 100], "pauc")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["pAUCEnsT", "AdaBoost"]
    assert [text.get_text() for text in axes.texts] == ["0.810", "0.710"]
    assert axes.lines[0].get_ydata() == pytest.approx([0.8, 0.7])


def test_intervals_that_are_not_there_are_left_out(axes):
    plotting.draw_intervals(axes, [1, 2], [(0.1, 0.0, 0.2), (0.3, np.nan, np.nan)], plotting.BLUE, "o")
    assert axes.lines[0].get_ydata() == pytest.approx([0.1, 0.3])
    axes.figure.canvas.draw()


def test_regions_are_filled_and_outlined_where_the_call_changes(axes):
    called = np.array([[False, True], [False, False]])
    plotting.draw_regions(axes, np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 5.0]), called, plotting.BLUE)
    (cell,) = axes.patches
    assert cell.get_bbox().bounds == (1.0, 0.0, 2.0, 2.0)
    uprights, levels = (collection.get_segments() for collection in axes.collections)
    assert uprights[0].tolist() == [[1.0, 0.0], [1.0, 2.0]] and len(uprights) == 1
    assert levels[0].tolist() == [[1.0, 2.0], [3.0, 2.0]] and len(levels) == 1
    assert axes.get_xlim() == (0.0, 3.0) and axes.get_ylim() == (0.0, 5.0)


def test_importing_the_package_loads_neither_matplotlib_nor_pandas():
    code = (
        "import sys, sklearn.base, sklearn.utils.validation; before = set(sys.modules); import paucens\n"
        "print(sorted({'matplotlib', 'pandas'} & (set(sys.modules) - before)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
