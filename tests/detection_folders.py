"""Small files of detection sets, and where the real sets are."""

import os
from pathlib import Path

import pytest
from PIL import Image

DATA = Path(os.environ.get("PAUCENS_DATA", "nowhere"))
FOLDERS = {"inria": "INRIAPerson", "eth": "ETH/BAHNHOF", "mot": "TUD-Stadtmitte"}
BOXES = [(250, 151, 299, 294), (-3, 0, 10, 10)]
IDL = """"left/image_00000001_0.png": (212, 204, 232, 261), (261, 285, 223, 181);
"left/image_00000002_0.png";
"left/image_00000003_0.png": (1.5, 2, 3, 4):0.75, (5, 6, 7, 8):-1.
"""
FOREIGN = ("._a.png", ".DS_Store", "._p1.txt", "._p1.png", "README.txt", "readme.txt", "ReadMe.png", ".hidden.jpg")


def needs(name):
    folder = FOLDERS[name]
    return pytest.mark.skipif(not (DATA / folder).is_dir(), reason=f"{folder}/ is not in $PAUCENS_DATA")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="latin-1")
    return path


def draw(path, size=(8, 6)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size).save(path)


def pascal(name, corners, origin=None, count=None):
    """Write an annotation as INRIA does, centres and all, or as Penn-Fudan does, with masks."""
    lines = [
        "# PASCAL Annotation Version 1.00",
        "",
        f'Image filename : "{name}"',
        "Image size (X x Y x C) :  x  x 3",
        'Database : "The INRIA Rhône-Alpes Annotated Person Database"',
        f"Objects with ground truth : {len(corners) if count is None else count} {{ }}",
    ]
    if origin is not None:
        lines.append(f"# Top left pixel co-ordinates : ({origin}, {origin})")
    for number, (left, top, right, bottom) in enumerate(corners, 1):
        lines += [
            "",
            f'# Details for object {number} ("PASperson")',
            f'Original label for object {number} "PASperson" : "UprightPerson"',
            f'Center point on object {number} "PASperson" (X, Y) : (3, 4)',
            f'Bounding box for object {number} "PASperson" (Xmin, Ymin) - (Xmax, Ymax) : ({left}, {top}) - '
            f"({right}, {bottom})",
            f'Pixel mask for object {number} "PASperson" : "PedMasks/a_mask.png"',
        ]
    return "\n".join(lines) + "\n"


def leave_foreign_files(*folders):
    """Leave the files that other systems and careful people leave; some have the suffix of an image or a text."""
    for folder in folders:
        for name in FOREIGN:
            (folder / name).write_bytes(b"Mac OS X")
