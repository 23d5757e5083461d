"""ETH-Bahnhof: fabricated copies, everything that can be wrong with them, the real one."""

import numpy as np
import pytest
from detection_folders import IDL, draw, needs, write
from hypothesis import given
from hypothesis import strategies as st

from paucens.datasets import load_eth_bahnhof, read_idl

pytestmark = pytest.mark.usefixtures("no_other_place")


def test_idl_with_swapped_corners_scores_and_nobody(tmp_path):
    images = read_idl(write(tmp_path / "a.idl", IDL))
    assert [name for name, _ in images] == [f"left/image_0000000{frame}_0.png" for frame in (1, 2, 3)]
    assert images[0][1].tolist() == [[212, 204, 20, 57], [223, 181, 38, 104]]
    assert images[1][1].shape == (0, 4)
    assert images[2][1].tolist() == [[1.5, 2, 1.5, 2], [5, 6, 2, 2]]
    assert read_idl(write(tmp_path / "empty.idl", "")) == []


@given(st.lists(st.tuples(*[st.integers(-20, 700)] * 4), max_size=5))
def test_idl_boxes_are_the_hull_of_their_corners(tmp_path_factory, corners):
    text = '"image_1.png": ' + ", ".join(map(str, corners)) + ";" if corners else '"image_1.png"'
    ((_, boxes),) = read_idl(write(tmp_path_factory.mktemp("idl") / "a.idl", text))
    expected = [(min(x, u), min(y, v), abs(x - u), abs(y - v)) for x, y, u, v in corners]
    assert list(map(tuple, boxes.tolist())) == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('"image_4.png": (1, 2, 3);', r'line 4 is \'"image_4.*expected "image": \(x1, y1, x2, y2\)'),
        ('"image_4.png": (1, 2, 3, 4) (5, 6, 7, 8);', "line 4"),
        ('"image_4.png": (1, 2, 3, 4), ', "line 4"),
        ("image_4.png: (1, 2, 3, 4);", "line 4"),
        ('"left/image_00000001_0.png";', "line 4 .* each image once"),
    ],
)
def test_a_spoilt_line_of_an_idl_is_named(tmp_path, line, message):
    file = write(tmp_path / "a.idl", IDL + line + "\n")
    with pytest.raises(ValueError, match=message):
        read_idl(file)


def test_bahnhof_is_joined_by_frame_number(walk):
    bunch = load_eth_bahnhof(walk.parents[1])
    assert bunch.frames == [1, 3] and bunch.missing == [2]
    assert [record.image.name for record in bunch.test] == ["image_00000001_0.png", "image_00000003.jpg"]
    assert [len(record.boxes) for record in bunch.test] == [2, 2]


def test_a_spoilt_bahnhof_says_what_is_wrong(walk):
    for file in (walk / "left").iterdir():
        file.unlink()
    with pytest.raises(ValueError, match="left cannot be read: it holds no image of a frame"):
        load_eth_bahnhof(walk)
    write(walk / "bahnhof-annot.idl", IDL.splitlines()[0])
    with pytest.raises(ValueError, match="it holds 1 frames, expected 3"):
        load_eth_bahnhof(walk)


def test_two_files_of_one_image_are_refused(walk):
    draw(walk / "left" / "image_00000003.png")
    with pytest.raises(ValueError, match=r"image_00000003\.jpg and image_00000003\.png, which are one image"):
        load_eth_bahnhof(walk)


@needs("eth")
def test_real_bahnhof_has_771_boxes_in_100_frames():
    bunch = load_eth_bahnhof()
    heights = np.concatenate([record.boxes[:, 3] for record in bunch.test])
    assert (len(bunch.test), len(heights)) == (100, 771)
    small, middle = heights < 50, (heights >= 50) & (heights < 100)
    assert [round(part.mean(), 2) for part in (small, middle)] == [0.16, 0.51]  # so the reference says
