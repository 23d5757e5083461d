"""Penn-Fudan: fabricated files and everything that can be wrong with them."""

import pytest

from paucens.datasets import load_penn_fudan

pytestmark = pytest.mark.usefixtures("no_other_place")


def test_penn_fudan_counts_from_1(campus):
    records = load_penn_fudan(campus.parent).test
    assert [record.image.stem for record in records] == ["FudanPed00001", "PennPed00001"]
    for record in records:
        assert record.boxes.tolist() == [[249, 150, 50, 144], [-4, -1, 14, 11]]


def test_a_spoilt_penn_fudan_says_what_is_wrong(campus):
    (campus / "PNGImages" / "PennPed00001.png").unlink()
    with pytest.raises(ValueError, match=r"PennPed00001\.txt describes .*PennPed00001\.png, which does not exist"):
        load_penn_fudan(campus)
    (campus / "Annotation" / "PennPed00001.txt").unlink()
    with pytest.raises(ValueError, match="Annotation holds 1 texts; expected 2"):
        load_penn_fudan(campus)
