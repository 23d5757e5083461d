"""Fabricated copies of detection sets."""

import pytest
from detection_folders import BOXES, IDL, draw, pascal, write

from paucens.datasets import eth, inria, pennfudan


@pytest.fixture
def no_other_place(request, monkeypatch, tmp_path):
    """Nothing but the fabricated files is in any place of the look-up."""
    if "real" not in request.node.name:
        monkeypatch.delenv("PAUCENS_DATA", raising=False)
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")


@pytest.fixture
def people(monkeypatch, tmp_path):
    """Write an INRIAPerson of two or three files a folder, one test image missing, and declare it genuine."""
    counts = dict.fromkeys(inria.COUNTS, 2) | {inria.ANNOTATIONS: 3}
    monkeypatch.setattr(inria, "COUNTS", counts)
    root = tmp_path / "d" / "INRIAPerson"
    for name, suffix in ((inria.CROPS, "png"), (inria.TRAIN_NEGATIVES, "jpg"), (inria.TEST_NEGATIVES, "webp")):
        draw(root / name / f"b.{suffix}")
        draw(root / name / "a.png")
    for stem, corners in (("p2", BOXES), ("p1", BOXES[:1]), ("p3", [])):
        write(root / inria.ANNOTATIONS / f"{stem}.txt", pascal(f"Test/pos/{stem}.png", corners))
    draw(root / inria.TEST_IMAGES / "p2.png")
    draw(root / inria.TEST_IMAGES / "p3.png")
    return root


@pytest.fixture
def walk(monkeypatch, tmp_path):
    monkeypatch.setattr(eth, "N_FRAMES", 3)
    root = tmp_path / "d" / "ETH" / "BAHNHOF"
    write(root / "bahnhof-annot.idl", IDL)
    draw(root / "left" / "image_00000003.jpg")
    draw(root / "left" / "image_00000001_0.png")
    for name in ("other.png", "another.png"):
        draw(root / "left" / name)
    return root


@pytest.fixture
def campus(monkeypatch, tmp_path):
    monkeypatch.setattr(pennfudan, "N_IMAGES", 2)
    root = tmp_path / "d" / "PennFudanPed"
    for stem, origin in (("FudanPed00001", 1), ("PennPed00001", None)):
        write(root / "Annotation" / f"{stem}.txt", pascal(f"PennFudanPed/PNGImages/{stem}.png", BOXES, origin))
        draw(root / "PNGImages" / f"{stem}.png")
    return root
