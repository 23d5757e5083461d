"""Readers of annotations and images on damaged files: a sane result, or an error that names the file; never a hang.

    PYTHONPATH=tests python tests/fuzz/fuzz_readers.py 100000 1

Input k of a seed does not depend on the number of inputs, so that an error is repeated by `check(seed, k)`.
"""

import contextlib
import functools
import io
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from time import perf_counter
from unittest import mock

import numpy as np
from caltech_files import write_seq, write_vbb
from PIL import Image

from paucens.datasets import SeqVideo, read_idl, read_kitti, read_mot, read_pascal, read_results, read_vbb
from paucens.datasets._files import read_npz
from paucens.datasets._text import read_csv
from paucens.formats import FORMATS, read_annotations, read_detections
from paucens.images import read_grey, read_rgb

FOLDER = tempfile.TemporaryDirectory()  # for a file at a time
LONGEST = 10.0  # seconds per input
MOST_PIXELS = 100_000  # as Pillow's own limit, but soon
NUMBERS = [
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "1e300",
    "-1e300",
    "1e-400",
    ".5",
    "5.",
    "+5",
    "1_0",
    "0x10",
    "٣",
    "9" * 5000,
]
LETTERS = ["", " ", "\t", "\r", "\r\n", "\0", "\ufeff", "\u2028", "ß", *",;:()\"'#-"]
TOKENS = NUMBERS + LETTERS


# -- what is sane ----------------------------------------------------------------------------------


def is_array(array, kinds, *shape):
    """Tell whether an array is of these kinds and this shape (None: any length), finite and writable."""
    fits = len(array.shape) == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    return fits and array.dtype.str[1:] in kinds.split() and array.flags.writeable and np.isfinite(array).all()


def are_boxes(boxes, n=None):
    return is_array(boxes, "f8", n, 4) and (boxes[:, 2:] >= 0).all()


def idl(path):
    images = read_idl(path)
    return len({name for name, _ in images}) == len(images) and all(are_boxes(boxes) for _, boxes in images)


def pascal(path):
    annotation = read_pascal(path)
    return annotation.image_name != "" and are_boxes(annotation.boxes)


def mot(path):
    rows = read_mot(path)
    n = len(rows.frame)
    return (
        are_boxes(rows.boxes, n)
        and all(is_array(rows[name], "i8", n) for name in ("frame", "person", "kind"))
        and rows.frame.min(initial=1) >= 1
        and is_array(rows.considered, "b1", n)
    )


def kitti(path):
    objects = read_kitti(path)
    n, truncation = len(objects.names), objects.truncation
    return (
        are_boxes(objects.boxes, n)
        and is_array(truncation, "f8", n)
        and ((truncation >= 0) & (truncation <= 1) | (truncation == -1)).all()
        and is_array(objects.occlusion, "i8", n)
        and set(objects.occlusion) <= {-1, 0, 1, 2, 3}
        and objects.scores.shape == (n,)
        and not np.isinf(objects.scores).any()
    )


def results(path):
    table = read_results(path)
    return is_array(table, "f8", None, 6) and are_boxes(table[:, 1:5]) and (table[:, 0] >= 1).all()


def csv(path):
    return is_array(read_csv(path, 3), "f8", None, 3)


def npz(path):
    return read_npz(path, ("X", "y"))["X"].ndim >= 0


def vbb(path):
    video = read_vbb(path)
    n = len(video.frame)
    return (
        are_boxes(video.boxes, n)
        and are_boxes(video.visible, n)
        and is_array(video.frame, "i8", n)
        and ((video.frame >= 0) & (video.frame < video.n_frames)).all()
        and video.label.shape == (n,)
        and is_array(video.occluded, "b1", n)
    )


def seq(path):
    with contextlib.closing(SeqVideo(path)) as video:
        shape = video.height, video.width, 3
        return all(is_array(image, "u1", *shape) for image in video[:3]) and np.isfinite(video.fps)


def rgb(path):
    image = read_rgb(path)
    return is_array(image, "u1", None, None, 3) and image.size > 0


def grey(path):
    image = read_grey(path)
    return is_array(image, "u1", None, None) and image.size > 0


def are_records(records):
    return all(
        are_boxes(record.boxes) and are_boxes(record.ignore) and len(record.labels) == len(record.boxes)
        for record in records
    )


def are_detections(pairs):
    return all(
        is_array(boxes, "f8", None, 5)
        and (boxes[:, 2:4] >= 0).all()
        and (np.diff(boxes[:, 4]) <= 0).all()
        and str(image) != ""
        for image, boxes in pairs
    )


def reader(name, format, read, is_sane):
    """Return a function that reads a file in a format and tells whether the result is sane."""

    def check_file(path):
        return is_sane(read(path, format))

    check_file.__name__ = name
    return check_file


OF_FORMATS = {
    (kind, format): reader(f"{format} {kind}", format, read, is_sane)
    for format in FORMATS
    for kind, read, is_sane in (
        ("annotations", read_annotations, are_records),
        ("detections", read_detections, are_detections),
    )
}


# -- whole files -----------------------------------------------------------------------------------

PASCAL = """# PASCAL Annotation Version 1.00

Image filename : "Test/pos/Straße.png"
Objects with ground truth : 2 { "PASperson" "PASperson" }
# Top left pixel co-ordinates : (0, 0)
Bounding box for object 1 "PASperson" (Xmin, Ymin) - (Xmax, Ymax) : (250, 151) - (299, 294)
Bounding box for object 2 "PASperson" (Xmin, Ymin) - (Xmax, Ymax) : (-3, 0.5) - (10, 12.5)
"""
KITTI = """Pedestrian 0.00 0 -0.20 712.40 143.00 810.73 307.92 1.89 0.48 1.20 1.84 1.47 8.41 0.01
DontCare -1 -1 -10 503.89 169.71 590.61 190.13 -1 -1 -1 -1000 -1000 -1000 -10
"""
TEXTS = {
    idl: ['"a_1.png": (212, 204, 232, 261), (261, 285, 223, 181):0.75;\n"Straße.png";\n"b.png": (1.5, 2, 3, 4).\n'],
    pascal: [PASCAL],
    mot: ["1,1,88,99,61.08,218.56,1,4.48,5.5,0\n3,1,1,1,10,20,0,-1,-1,-1\n", "1,1,912,484,97,109,0,7,1\n"],
    kitti: [KITTI, KITTI.splitlines()[0] + " 0.83\n"],
    results: ["30,1.5,2,10,20,0.5\n60,1,2,10,20,-3e-2\n", ""],
    csv: ["1,2.5,'-1'\n-3,1e3,'1'\n"],
}
VOC = """<annotation><filename>Straße.jpg</filename>
<object><name>dog</name><difficult>1</difficult>
<bndbox><xmin>5.5</xmin><ymin>6</ymin><xmax>7</xmax><ymax>8</ymax></bndbox></object></annotation>
"""
COCO = """{"images": [{"id": 7, "file_name": "Straße.jpg"}, {"id": 9, "file_name": "b.jpg"}],
"annotations": [{"id": 1, "image_id": 7, "category_id": 1, "bbox": [0, 1, 10, 20], "iscrowd": 0}],
"categories": [{"id": 1, "name": "person"}]}
"""
TEXTS_OF_FORMATS = {
    ("annotations", "csv"): 'image,x,y,w,h,label,ignore\nß.jpg,0,1,10,20,person,0\n"b,",4.5,5,2.5,3,,1\nc,,,,,,\n',
    ("detections", "csv"): "image,x,y,w,h,score\nß.jpg,0,1,10,20,0.5\nb,,,,,\n",
    (
        "annotations",
        "jsonl",
    ): '{"image": "ß", "boxes": [[0, 1, 10, 20]], "labels": ["car"], "ignore": [[4, 5, 2, 3]]}\n',
    ("detections", "jsonl"): '{"image": "ß", "detections": [[0, 1, 10, 20, 0.5]]}\n{"image": "b", "detections": []}\n',
    ("annotations", "coco"): COCO,
    ("detections", "coco"): '[{"image_id": 7, "category_id": 1, "bbox": [0, 1, 10, 20], "score": 0.5}]',
    ("annotations", "voc"): VOC,
    ("detections", "voc"): "Straße 0.5 1 2 10 21\nb 2 5.5 6 7 8\n",
    ("annotations", "yolo"): "0 0.05 0.055 0.1 0.1\n1 0.5 0.5 1 1\n",
    ("detections", "yolo"): "0 0.05 0.055 0.1 0.1 0.5\n1 0.5 0.5 1 1 3\n",
    ("annotations", "caltech"): "% bbGt version=3\nperson 1 2 10 20 1 1 1 5 5 0 0\npeople 5.5 6 2.5 3 0 0 0 0 0 1 0\n",
    ("detections", "caltech"): "30,1,2,10,20,0.5\n31,5.5,6,2.5,3,2\n",
    ("annotations", "kitti"): KITTI,
    ("detections", "kitti"): KITTI.replace("0.01\n", "0.01 0.5\n").replace("-10\n", "-10 2\n"),
    ("annotations", "mot"): "1,5,1,2,10,20,1,1,0.5\n1,6,5.5,6,2.5,3,0,8,0.5\n",
    ("detections", "mot"): "1,-1,1,2,10,20,0.5,-1,-1,-1\n2,-1,5.5,6,2.5,3,2,-1,-1,-1\n",
}
TEXTS |= {OF_FORMATS[key]: [text] for key, text in TEXTS_OF_FORMATS.items()}


def saved(image, form, **options):
    stream = io.BytesIO()
    image.save(stream, form, **options)
    return stream.getvalue()


@functools.cache
def images():
    """Return the bytes of small images of many formats and modes."""
    pixels = np.random.RandomState(0).randint(256, size=(7, 9, 3)).astype(np.uint8)
    picture, exif = Image.fromarray(pixels), Image.Exif()
    exif[0x0112] = 6
    deep = Image.fromarray(pixels[..., 0].astype(np.uint16) * 257)
    several = [picture.convert(mode) for mode in ("L", "1", "P", "RGBA", "LA")]
    return [
        saved(picture, "PNG", exif=exif),
        *(saved(image, "PNG") for image in [*several, deep]),
        saved(several[2], "PNG", transparency=bytes(range(250))),
        saved(picture, "JPEG", exif=exif, quality=95),
        saved(picture.convert("CMYK"), "JPEG"),
        *(saved(image, "TIFF") for image in [picture, *several[:4], picture.convert("CMYK"), deep]),
        saved(Image.fromarray(pixels[..., 0].astype(np.int32)), "TIFF"),
        saved(Image.fromarray(pixels[..., 0].astype(np.float32)), "TIFF"),
        saved(picture, "TIFF", compression="tiff_lzw", exif=exif),
        *(saved(picture, form) for form in ("WEBP", "GIF", "BMP", "PPM")),
    ]


def videos(folder):
    pixels = np.random.RandomState(0).randint(256, size=(2, 8, 12, 3), dtype=np.uint8)
    for code, form in ((2, "PNG"), (201, "JPEG")):
        yield write_seq(folder / "V.seq", code, [saved(Image.fromarray(image), form) for image in pixels]).read_bytes()
    yield write_seq(folder / "V.seq", 200, [image.tobytes() for image in pixels]).read_bytes()


def annotations(folder):
    rows = [(0, 2, [100, 100, 41, 100], [0] * 4, 0), (2, 1, [100.5, 100, 20, 100], [100, 100, 9, 9], 1)]
    for compressed in (False, True):
        write_vbb(folder / "V.vbb", 4, rows, ["person", "people"], compressed)
        yield (folder / "V.vbb").read_bytes()


def archive():
    stream = io.BytesIO()
    np.savez_compressed(stream, X=np.arange(12.0).reshape(4, 3), y=np.arange(4))
    return stream.getvalue()


@functools.cache
def whole_files(folder):
    """List pairs of a reader and the bytes of a file that it reads."""
    texts = [(read, text.encode()) for read, several in TEXTS.items() for text in several]
    pictures = [(read, raw) for read in (rgb, grey) for raw in images()]
    others = [(seq, raw) for raw in videos(folder)] + [(vbb, raw) for raw in annotations(folder)]
    return 4 * texts + pictures + 2 * others + [(npz, archive())]


# -- damage ----------------------------------------------------------------------------------------


def damaged(raw, is_text, rng):
    """Return the bytes after none to three accidents."""
    accidents = (TEXT_ACCIDENTS if is_text else ()) + ACCIDENTS
    for _ in range(rng.integers(4)):
        raw = accidents[rng.integers(len(accidents))](raw, rng)
    return raw


def part(raw, rng):
    """Draw the start and the end of a short part."""
    start = int(rng.integers(len(raw) + 1))
    return start, start + int(rng.integers(9))


def flip(raw, rng):
    place = int(rng.integers(len(raw) + 1))
    return raw[:place] + bytes([b ^ (1 << int(rng.integers(8))) for b in raw[place : place + 1]]) + raw[place + 1 :]


def overwrite(raw, rng):
    start, end = part(raw, rng)
    return raw[:start] + rng.choice([rng.bytes(end - start), b"\xff" * 4, b"\0" * 4]) + raw[end:]


def drop(raw, rng):
    start, end = part(raw, rng)
    return raw[:start] + raw[end:]


def repeat(raw, rng):
    start, end = part(raw, rng)
    return raw[:end] + raw[start:]


def cut(raw, rng):
    return raw[: int(rng.integers(len(raw) + 1))]


def replace_token(raw, rng):
    """Put a token in the place of a number, a word or a separator."""
    words = [word for word in raw.replace(b",", b" , ").replace(b"(", b" ( ").split() if word]
    if not words:
        return raw
    return raw.replace(words[rng.integers(len(words))], TOKENS[rng.integers(len(TOKENS))].encode(), 1)


def repeat_line(raw, rng):
    lines = raw.split(b"\n")
    lines.insert(int(rng.integers(len(lines) + 1)), lines[rng.integers(len(lines))])
    return b"\n".join(lines)


def encode_otherwise(raw, rng):
    text, other = raw.decode("utf-8", "replace"), int(rng.integers(4))
    lines, marked = text.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + raw
    return (text.encode("latin-1", "replace"), text.encode("utf-16"), lines, marked)[other]


def add_blanks(raw, rng):
    return raw.replace(b"\n", b"\n  \t\n", int(rng.integers(3)))


ACCIDENTS = (flip, overwrite, drop, repeat, cut)
TEXT_ACCIDENTS = 2 * (replace_token, repeat_line, encode_otherwise, add_blanks)


# -- the loop --------------------------------------------------------------------------------------


def check(seed, k):
    """Read input k of a seed; return the reader and whether it was read, or raise AssertionError."""
    rng, whole = np.random.default_rng([seed, k]), whole_files(Path(FOLDER.name))
    read, raw = whole[k % len(whole)]
    path = Path(FOLDER.name) / "fuzzed.dat"
    path.write_bytes(damaged(raw, read in TEXTS, rng))
    (path.parent / "fuzzed.png").write_bytes(images()[0])  # YOLO needs its size
    start, title = perf_counter(), f"seed {seed}, input {k}, {read.__name__}"
    try:
        with limited_pixels():
            was_read, is_fine = True, read(path)
    except ValueError as error:
        was_read, is_fine = False, path.name in str(error)
    except Exception as error:
        raise AssertionError(f"{title}: {error!r}") from error
    assert is_fine, f"{title}: {'the result is not sane' if was_read else 'the error does not name the file'}."
    assert perf_counter() - start < LONGEST, f"{title}: took {perf_counter() - start:.1f} s."
    return read.__name__, was_read


@contextlib.contextmanager
def limited_pixels():
    """Lower Pillow's limit of pixels, and make warnings errors where they tell of a fault."""
    with mock.patch.object(Image, "MAX_IMAGE_PIXELS", MOST_PIXELS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Pillow about metadata, of SeqVideo about lost frames
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # one of them
        yield


def run(n_inputs, seed):
    """Read damaged files.

    Returns
    -------
    counts : Counter
        Number of inputs per (name of the reader, whether it was read).

    Raises
    ------
    AssertionError
        At the first input that a reader neither reads sanely nor refuses as documented.
    """
    return Counter(check(seed, k) for k in range(n_inputs))


if __name__ == "__main__":
    for (name, was_read), count in sorted(run(*map(int, sys.argv[1:])).items()):
        print(f"{name:20} {'read' if was_read else 'refused':8} {count}")
