"""The formats of the Caltech Pedestrian Benchmark: annotations, videos and result files.

Coordinates are those of the files, counted from 1: the benchmark compares boxes of annotations and of results with each
other and with bounds in the same units. Subtract 1 from x and y for the continuous pixels of this package.
"""

import codecs
import contextlib
import gzip
import mmap
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from paucens._types import PathLike
from paucens.datasets._files import damaged, locate
from paucens.datasets._registry import DataSet
from paucens.datasets._text import LARGEST, read_csv
from paucens.images import decode, rgb_of
from paucens.matlab import GZIP_MAGIC, read_variable
from paucens.validation import warn_user

# -- annotations -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VideoAnnotation:
    """Annotated boxes of a video, one row per object and frame.

    Attributes
    ----------
    n_frames : int
        Number of frames of the video, with or without boxes.
    frame : ndarray of shape (n_boxes,), int64
        Frame of the box, counted from 0; ascending.
    label : ndarray of shape (n_boxes,), str
        "person", "people", "person?", "person-fa", ...
    boxes, visible : ndarray of shape (n_boxes, 4), float64
        x, y, width and height of the whole object and of its visible part; the latter is 0 if nothing hides it.
    occluded : ndarray of shape (n_boxes,), bool
        The annotator's flag.
    """

    n_frames: int
    frame: np.ndarray
    label: np.ndarray
    boxes: np.ndarray
    visible: np.ndarray
    occluded: np.ndarray


def read_vbb(path: PathLike, frames: slice = slice(None)) -> VideoAnnotation:
    """Read a `.vbb` annotation, a MATLAB 5 file.

    Parameters
    ----------
    path : path-like
    frames : slice, default=slice(None)
        Frames whose boxes are returned; the benchmark evaluates slice(29, None, 30).

    Returns
    -------
    VideoAnnotation

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If it is cut short, damaged, or another kind of file, or holds a box of a negative size or of a number beyond
        9e15; the message names it.

    Examples
    --------
    >>> video = read_vbb("annotations/set06/V000.vbb", slice(29, None, 30))  # doctest: +SKIP
    >>> video.n_frames, len(video.boxes)  # doctest: +SKIP
    (1842, 26)
    """
    path = Path(path)
    raw = path.read_bytes()
    if raw.removeprefix(codecs.BOM_UTF8).startswith(b"% vbb"):
        raise ValueError(f"{path} is the text form of an annotation; only the binary (MATLAB) form is read.")
    try:
        return _annotation(read_variable(raw, "A").records[0], frames)
    except (ValueError, KeyError, IndexError) as error:
        raise damaged(path, f"no complete .vbb annotation ({error})") from error


def _annotation(video, frames):
    """Collect the rows of the wanted frames from the nested cells of the file."""
    names, lists = [cell.text for cell in video["objLbl"].cells], video["objLists"].cells
    (n_frames,) = video["nFrame"].numbers
    if len(lists) != n_frames:
        raise ValueError(f"{len(lists)} lists of objects for {n_frames:g} frames")
    rows = [(f, entry) for f in range(len(lists))[frames] for entry in lists[f].records]
    objects = _table(rows, "id", 1)[:, 0]
    if not np.isin(objects, np.arange(1, len(names) + 1)).all():
        raise ValueError(f"objects {objects.min():g} to {objects.max():g}, but {len(names)} labels")
    return VideoAnnotation(
        n_frames=len(lists),
        frame=np.array([f for f, _ in rows], dtype=np.int64),
        label=np.array([names[int(k) - 1] for k in objects], dtype=np.str_),
        boxes=_boxes(rows, "pos"),
        visible=_boxes(rows, "posv"),
        occluded=_table(rows, "occl", 1)[:, 0] != 0,
    )


def _boxes(rows, field):
    boxes = _table(rows, field, 4)
    if (boxes[:, 2:] < 0).any():
        raise ValueError(f"{field} has a negative width or height")
    return boxes


def _table(rows, field, n_columns):
    """Collect the numbers of a field, one row per object."""
    table = np.array([entry[field].numbers for _, entry in rows], dtype=np.float64).reshape(len(rows), n_columns)
    if not (np.abs(table) <= LARGEST).all():  # false for nan too
        raise ValueError(f"{field} is not finite, or beyond {LARGEST:.0e}")
    return table


# -- results ---------------------------------------------------------------------------------------


def read_results(path: PathLike) -> np.ndarray:
    """Read the detections of a video, a text file.

    Parameters
    ----------
    path : path-like
        Lines of frame (counted from 1), x, y, width, height, score between commas; empty without detections. The file
        may be gzipped. Results of Dollar's toolbox have the same form; they count images instead of frames.

    Returns
    -------
    table : ndarray of shape (n_detections, 6), float64
        In the order of the file.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If it holds anything but lines of 6 finite numbers, a frame below 1, a negative size, or a number but the score
        beyond 9e15.

    Examples
    --------
    >>> read_results("res/HOG/set06/V000.txt")[0]  # doctest: +SKIP
    array([3.00000e+01, 6.24500e+02, 2.47500e+01, 1.67500e+01, 3.35000e+01,
           2.01290e-02])
    """
    raw = Path(path).read_bytes()
    try:
        raw = gzip.decompress(raw) if raw[:2] == GZIP_MAGIC else raw
    except (OSError, EOFError, zlib.error) as error:
        raise damaged(path, error) from error
    return checked_results(path, read_csv(path, 6, may_be_empty=True, raw=raw))


def checked_results(path, table) -> np.ndarray:
    """Return a table of detections; raise ValueError unless its rows are as `read_results` says."""
    if (np.abs(table[:, :5]) > LARGEST).any():
        raise ValueError(f"{path}: a line is frame, x, y, width, height, score; got a number beyond {LARGEST:.0e}.")
    if (table[:, 0] < 1).any() or (table[:, 0] % 1 != 0).any():
        raise ValueError(
            f"{path}: the first number of a line is the frame, counted from 1; got "
            f"{table[(table[:, 0] < 1) | (table[:, 0] % 1 != 0), 0][0]:g}. Add 1 to frames counted from 0."
        )
    if (table[:, 3:5] < 0).any():
        raise ValueError(f"{path}: a line is frame, x, y, width, height, score; got a negative width or height.")
    return table


# -- videos ----------------------------------------------------------------------------------------

MAGIC = 0xFEED
HEADER = struct.Struct("<I 24s i I 512s 9I d")  # magic, name, version, size, description, nine numbers, rate
RAW = {100: 1, 200: 3}  # format: values per pixel
COMPRESSED = {102: b"\xff\xd8", 201: b"\xff\xd8", 1: b"\x89PNG", 2: b"\x89PNG"}  # format: first bytes of an image
PADDINGS = (8, 16)  # bytes of time stamp and padding after a compressed image; either occurs


class SeqVideo:
    """Read the frames of a `.seq` video (Norpix), in any order; a slice is a list of frames.

    Frames are found by walking through the file, since the number in the header is 0 or wrong if the recording was
    interrupted. A last frame that is cut off is left out.

    Parameters
    ----------
    path : path-like
        Images are raw (formats 100, 200), JPEG (102, 201) or PNG (1, 2).

    Attributes
    ----------
    width, height : int
    fps : float
        Frames per second.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the file is damaged or of another kind, or its images are raw Bayer mosaics (formats 101, 103). Also when a
        frame is read that cannot be decoded or has another size, or when the video is closed.

    Warns
    -----
    UserWarning
        If there are fewer frames than the header says, because the file was cut short.

    Examples
    --------
    >>> with SeqVideo("videos/set06/V000.seq") as video:  # doctest: +SKIP
    ...     print(len(video), video[29].shape)
    1842 (480, 640, 3)
    """

    path: Path
    fps: float
    width: int
    height: int

    def __init__(self, path: PathLike):
        self.path = Path(path)
        with self.path.open("rb") as stream:
            self._bytes = _mapped(stream, self.path)
        with contextlib.ExitStack() as on_error:
            on_error.callback(self.close)
            self._starts = self._walk(*self._read_header())
            on_error.pop_all()

    def _read_header(self):
        """Read the header; return the start of the images, the distance between them and their number."""
        if len(self._bytes) < HEADER.size:
            raise damaged(self.path, "it is shorter than the header of a .seq video")
        magic, _, _, size, _, *numbers, self.fps = HEADER.unpack_from(self._bytes)
        self.width, self.height, _, _, _, self._format, declared, _, stride = numbers
        if magic != MAGIC or not HEADER.size <= size <= len(self._bytes):
            raise damaged(self.path, f"it starts with {magic:#x} and a header of {size} bytes, unlike any .seq video")
        if self._format not in RAW.keys() | COMPRESSED.keys():
            raise ValueError(
                f"{self.path} holds images of format {self._format}; read are {sorted(RAW | COMPRESSED)} (raw, JPEG, "
                "PNG). 101 and 103 are Bayer mosaics: convert the video with the tool that wrote it."
            )
        if self._format in RAW and not self.width * self.height * RAW[self._format] <= stride:
            raise damaged(self.path, f"{stride} bytes per image for {self.width} x {self.height} pixels")
        if not (self.width * self.height > 0 and 0 <= self.fps < np.inf):
            raise damaged(self.path, f"{self.width} x {self.height} pixels, {self.fps:g} frames per second")
        return size, stride, declared

    def _walk(self, place, stride, declared):
        """Return the start and the end of each image."""
        if self._format in RAW:
            size = self.width * self.height * RAW[self._format]
            starts = [(start, start + size) for start in range(place, len(self._bytes) - size + 1, stride)]
            starts = starts[:declared] if declared else starts
        else:
            starts, padding = [], None
            while end := self._end(place):
                starts.append((place + 4, end))
                if padding is None:
                    padding = next((gap for gap in PADDINGS if self._end(end + gap)), PADDINGS[0])
                place = end + padding
        if len(starts) < max(1, declared):
            message = f"{self.path} holds {len(starts)} complete frames; its header says {declared}."
            if not starts:
                raise damaged(self.path, message)
            warn_user(f"{message} The file was cut short.")
        return starts

    def _end(self, place):
        """Return the end of the compressed image at `place`, 0 if there is none."""
        if place + 8 > len(self._bytes):
            return 0
        first = COMPRESSED[self._format]
        end = place + struct.unpack_from("<I", self._bytes, place)[0]  # the length counts itself
        begins = self._bytes[place + 4 : place + 4 + len(first)] == first
        return end if begins and place + 4 + len(first) <= end <= len(self._bytes) else 0

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, i: Any) -> Any:
        """Decode frame i, counted from 0: ndarray of shape (height, width, 3), uint8, RGB; or a list of frames."""
        if isinstance(i, slice):
            return [self[k] for k in range(len(self))[i]]
        start, end = self._starts[i]
        if self._bytes.closed:
            raise ValueError(f"{self.path} was closed; read frames before that, or open it again.")
        raw, shape = self._bytes[start:end], (self.height, self.width, 3)
        if self._format in RAW:
            pixels = np.frombuffer(raw, dtype=np.uint8).reshape(self.height, self.width, -1)
            return np.ascontiguousarray(np.broadcast_to(pixels[..., ::-1], shape))
        image = decode(raw, f"Frame {i} of {self.path}", rgb_of)
        if image.shape != shape:
            raise damaged(self.path, f"frame {i} has shape {image.shape}, but its header says {shape}")
        return image

    def close(self) -> None:
        """Release the file."""
        self._bytes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _mapped(stream, path):
    try:
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError as error:  # an empty file cannot be mapped
        raise damaged(path, "it is empty") from error


def locate_caltech(path: PathLike | None = None) -> Path:
    """Find the folder of the benchmark, for `paucens.evaluation.evaluate_caltech`.

    Parameters
    ----------
    path : path-like, default=None
        Folder that holds `caltech/` or its content. `$PAUCENS_DATA` and `./data` are searched next.

    Returns
    -------
    folder : Path
        It has the folders annotations/ and res/.

    Raises
    ------
    FileNotFoundError
        If it is not found anywhere; the message says where to get it.

    Examples
    --------
    >>> locate_caltech().name  # doctest: +SKIP
    'caltech'
    """
    return locate(ABOUT, path)[0].parent


ABOUT = DataSet(
    name="caltech",
    what="Caltech Pedestrian Benchmark (USA): annotated videos of 640 x 480 pixels in 11 sets, 6 to 10 of them for "
    "testing, and published results of many detectors. Files are read one by one: read_vbb, read_results, SeqVideo; "
    "paucens.evaluation.evaluate_caltech reads a folder of annotations/ and res/.",
    source="Annotations, videos and results of Dollar, Wojek, Schiele and Perona (PAMI 2012), "
    "http://www.vision.caltech.edu/Image_Datasets/CaltechPedestrians/",
    terms="None stated; research use.",
    check="Structure of each file; the evaluation reports the numbers of images and people (4024 and 1014).",
    loader=read_vbb,
    folder="caltech",
    forms=(("annotations", "res"),),
)
