"""Files of the Caltech benchmark, written as its tools do."""

import io
import struct

import numpy as np
from PIL import Image
from scipy.io import savemat

FIELDS = ("id", "pos", "occl", "lock", "posv")


def write_vbb(path, n_frames, rows, labels, compressed=False):
    """Write a file as the labelling tool does; rows are (frame from 0, object from 1, box, visible, occluded)."""
    lists = np.empty((1, n_frames), dtype=object)
    for f in range(n_frames):
        objects = [(k, box, occluded, 0, visible) for frame, k, box, visible, occluded in rows if frame == f]
        lists[0, f] = np.zeros((0, 0))
        if objects:
            lists[0, f] = np.zeros((1, len(objects)), dtype=[(name, object) for name in FIELDS])
            for place, values in enumerate(objects):
                lists[0, f][0, place] = tuple(np.atleast_2d(np.asarray(value)) for value in values)
    names = np.empty((1, len(labels)), dtype=object)
    names[0, :] = labels
    path.parent.mkdir(parents=True, exist_ok=True)
    video = {"nFrame": n_frames, "objLists": lists, "maxObj": len(labels), "objLbl": names}
    savemat(path, {"vers": 1.4, "A": video}, do_compression=compressed)


def encoded(image, format_):
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, format_, quality=95)
    return stream.getvalue()


def header(code, n_frames, stride=0, size=1024, width=12, rate=25.0):
    text = "Norpix seq\n".encode("utf-16-le").ljust(24, b"\0")
    numbers = (width, 8, 24, 8, width * 8 * 3, code, n_frames, 0, stride)
    return struct.pack("<I24siI512s9Id", 0xFEED, text, 3, size, b"", *numbers, rate).ljust(size, b"\0")


def write_seq(path, code, frames, padding=8, n_frames=None):
    """Write a video; padding bytes follow each image, and raw images are 4 bytes farther apart than necessary."""
    n_frames = len(frames) if n_frames is None else n_frames
    if code in (100, 200):
        body = b"".join(frame + b"t" * (padding + 4) for frame in frames)
        stride = len(frames[0]) + padding + 4
    else:
        stamp, stride = b"\1\2\3\4\5\6".ljust(padding, b"\0"), 0
        body = b"".join(struct.pack("<I", len(frame) + 4) + frame + stamp for frame in frames)
    path.write_bytes(header(code, n_frames, stride) + body)
    return path
