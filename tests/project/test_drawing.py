"""Boxes on photographs, contact sheets and curves of detectors."""

import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from paucens import drawing, plotting
from paucens.evaluation import box_results
from pictures import texts_outside

BLACK = np.zeros((60, 80, 3), dtype=np.uint8)


def test_boxes_are_outlined_and_nothing_else_changes(tmp_path):
    drawn = drawing.draw_boxes(BLACK, [[10, 20, 30, 25]], colour=(255, 0, 0))
    rows, columns = np.nonzero(drawn[..., 0])
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (20, 44, 10, 39)
    assert len(rows) == 2 * 30 + 2 * 25 - 4 and not BLACK.any()
    Image.fromarray(BLACK).save(tmp_path / "a.png")
    np.testing.assert_array_equal(drawing.draw_boxes(tmp_path / "a.png", [[10, 20, 30, 25]], colour=(255, 0, 0)), drawn)


def test_scores_are_written_above_boxes_if_wanted():
    box = [[10, 30, 30, 25, 0.75]]
    assert drawing.draw_boxes(BLACK, box)[:30].any() and not drawing.draw_boxes(BLACK, box, scores=False)[:30].any()


@pytest.mark.parametrize("boxes", [[], [[-1e300, 0, 5, 5]], [[-5, -5, 1e9, 1e9]], [[0, 0, 0, 0]]])
def test_boxes_anywhere_can_be_drawn(boxes):
    assert drawing.draw_boxes(BLACK, boxes).shape == BLACK.shape


@pytest.mark.parametrize("boxes", [[1, 2, 3], [[1, 2, 3]], [[1, 2, np.nan, 4]], [["a"] * 4]])
def test_what_is_no_box_is_refused(boxes):
    with pytest.raises(ValueError, match="boxes must be"):
        drawing.draw_boxes(BLACK, boxes)


def test_a_contact_sheet_has_every_picture_in_its_place():
    pictures = [np.full((10 + k, 6, 3), 40 * k, dtype=np.uint8) for k in range(5)]
    sheet = drawing.contact_sheet(pictures, columns=2)
    for k, picture in enumerate(pictures):
        top, left = 4 + (k // 2) * 18, 4 + (k % 2) * 10
        np.testing.assert_array_equal(sheet[top : top + len(picture), left : left + 6], picture)
    assert drawing.contact_sheet([]).shape[2] == 3
    assert len(drawing.contact_sheet(pictures, list("abcde"), columns=2)) == len(sheet) + 3 * 12
    with pytest.raises(ValueError, match="1 titles do not fit 5 pictures"):
        drawing.contact_sheet(pictures, ["a"])
    with pytest.raises(ValueError, match="more than 100,000,000 pixels"):
        drawing.contact_sheet([np.broadcast_to(BLACK[:1, :1], (9000, 9000, 3))] * 2)


def errors():
    detections = [[[10, 10, 20, 20, 0.4], [50, 10, 20, 20, 0.9]], [[10, 10, 20, 20, 0.7]]]
    truths = [[[40, 40, 10, 15]], [[60, 40, 10, 15]]]
    results = box_results(detections, truths, [[], []])
    sources = dict(enumerate([BLACK, np.full_like(BLACK, 200)]))
    return results, sources


def test_errors_come_by_falling_score():
    results, sources = errors()
    sheet = drawing.error_sheet(results, sources, "false", height=40, most=2)
    assert (sheet[9, 9].tolist(), sheet[9, 53].tolist()) == ([0] * 3, [200] * 3)  # 0.9 is in the black image
    assert drawing.error_sheet(results[1:], sources, "false", height=40, most=1)[9, 9].tolist() == [200] * 3
    colour = np.array(drawing.COLOURS["missed"])
    assert (drawing.error_sheet(results, sources, "missed") == colour).all(axis=2).any()
    with pytest.raises(ValueError, match="outcome must be one of 'found', 'false', 'missed', 'ignored'; got 'wrong'"):
        drawing.error_sheet(results, sources, "wrong")
    with pytest.raises(ValueError, match="sources must have the images of all results; 1 is missing"):
        drawing.error_sheet(results, {0: BLACK})


def test_images_are_saved_with_a_suffix(tmp_path):
    drawing.save_image(tmp_path / "a.png", BLACK)
    assert Image.open(tmp_path / "a.png").size == (80, 60)
    with pytest.raises(ValueError, match="needs the suffix of a format of images"):
        drawing.save_image(tmp_path / "a", BLACK)


def test_curves_and_sheets_in_the_house_style(tmp_path):
    results, sources = errors()
    with plotting.house_style():
        figure = plotting.new_figure(8, 3)
        left, right = figure.subplots(1, 2)
        plotting.draw_miss_rates(left, {"worse": ([0, 0.1], [1, 0.5]), "better": ([0, 0.1], [0.2, 0.05])})
        plotting.draw_errors(right, results, sources, "missed")
        labels = [text.get_text().split()[-1] for text in left.get_legend().get_texts()]
        assert labels == ["better", "worse"]
        assert "Misses" in {right.get_title(), right.get_title(loc="left")}
        np.testing.assert_allclose(left.lines[0].get_ydata(), [0.2, 0.05])
        assert not texts_outside(figure)


def test_without_matplotlib_there_is_one_clear_message_and_drawing_works():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import numpy as np\nfrom paucens.drawing import draw_boxes\n"
        "draw_boxes(np.zeros((9, 9, 3), np.uint8), [[1, 1, 5, 5]])\n"
        "try:\n    import paucens.plotting\nexcept ImportError as error:\n    print(error)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("paucens.plotting needs matplotlib, which is not installed: pip install")
