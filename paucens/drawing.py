"""Boxes on photographs and sheets of small pictures, drawn with Pillow alone."""

import os
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from paucens.images import pixels_of, resampled_part
from paucens.validation import as_floats, check_choice, check_integer

COLOURS = {"found": (0, 158, 115), "false": (213, 94, 0), "missed": (0, 114, 178), "ignored": (119, 119, 119)}
WHITE, DARK = (255, 255, 255), (51, 51, 51)
GAP, LINE, FONT = 4, 12, 11  # pixels between pictures, for a line of text, and of its letters
MOST_PIXELS = 100_000_000  # of a sheet


def draw_boxes(image, boxes, *, colour=COLOURS["found"], scores=True) -> np.ndarray:
    """Draw boxes on a copy of an image.

    Parameters
    ----------
    image : path-like or image
        As for `PedestrianDetector.detect`, or its file.
    boxes : array-like of shape (k, 4) or (k, 5)
        x, y, w, h and perhaps a score, in pixels; boxes may leave the image.
    colour : tuple of int, default=(0, 158, 115)
        Red, green and blue, 0 to 255. `COLOURS` has those of results.
    scores : bool, default=True
        Whether the scores, if any, are written above the boxes.

    Returns
    -------
    rgb : ndarray of shape (height, width, 3), uint8

    Raises
    ------
    ValueError
        If the argument is no image, or the boxes are not finite rows of 4 or 5 numbers.

    Examples
    --------
    >>> draw_boxes(np.zeros((60, 40, 3), dtype=np.uint8), [[10, 20, 20, 30]])[20, 15].tolist()
    [0, 158, 115]
    """
    picture = Image.fromarray(pixels_of(image))
    boxes = as_floats("boxes", boxes, "rows x, y, w, h or x, y, w, h, score of numbers")
    boxes = boxes if boxes.size else np.empty((0, 4))
    if boxes.ndim != 2 or boxes.shape[1] not in (4, 5) or not np.isfinite(boxes).all():
        raise ValueError(f"boxes must be finite rows x, y, w, h or x, y, w, h, score; got shape {boxes.shape}.")
    draw, limit = ImageDraw.Draw(picture), 2 * max(picture.size)  # Pillow takes no coordinates of any size
    width = max(1, round(max(picture.size) / 400))
    font = ImageFont.load_default(max(FONT, round(max(picture.size) / 50)))
    for x, y, w, h, *score in boxes:
        corners = np.clip([x, y, max(x, x + w - 1), max(y, y + h - 1)], -limit, limit).round().tolist()
        draw.rectangle(corners, outline=colour, width=width)
        if score and scores:
            place, text = (corners[0], corners[1] - LINE * font.size // FONT), f"{score[0]:.3g}"
            draw.rectangle(draw.textbbox(place, text, font), fill=colour, outline=colour, width=2)
            draw.text(place, text, WHITE, font)
    return np.array(picture)


def contact_sheet(pictures, titles=None, *, columns=None) -> np.ndarray:
    """Put small pictures beside each other, in rows from the top left.

    Parameters
    ----------
    pictures : list of ndarray of shape (height, width, 3), uint8
        Of any sizes; each gets the room of the largest.
    titles : list of str, optional
        A short text below each picture.
    columns : int, optional
        Number of pictures in a row. Default: about as many pixels across as down.

    Returns
    -------
    rgb : ndarray of shape (height, width, 3), uint8

    Raises
    ------
    ValueError
        If there are not as many titles as pictures, or the sheet would have more than a hundred million pixels.

    Examples
    --------
    >>> contact_sheet([np.zeros((10, 6, 3), dtype=np.uint8)] * 3, columns=2).shape
    (32, 24, 3)
    """
    pictures = [pixels_of(picture) for picture in pictures]
    if titles is not None and len(titles) != len(pictures):
        raise ValueError(f"{len(titles)} titles do not fit {len(pictures)} pictures; give one for each.")
    height, width = np.max([(1, 1), *(picture.shape[:2] for picture in pictures)], axis=0) + GAP
    height += LINE if titles is not None else 0
    if columns is None:
        columns = max(1, round((len(pictures) * height / width) ** 0.5))
    columns = check_integer("columns", columns, 1)
    rows = -(-len(pictures) // columns)
    if rows * height * columns * width > MOST_PIXELS:
        raise ValueError(
            f"A sheet of {len(pictures)} pictures would have more than {MOST_PIXELS:,} pixels; take fewer of them."
        )
    sheet = Image.new("RGB", (int(columns * width + GAP), int(rows * height + GAP)), WHITE)
    draw = ImageDraw.Draw(sheet)
    for k, picture in enumerate(pictures):
        row, column = divmod(k, columns)
        left, top = int(GAP + column * width), int(GAP + row * height)
        sheet.paste(Image.fromarray(picture), (left, top))
        if titles is not None:
            draw.text((left, top + int(height) - GAP - LINE), titles[k], fill=DARK)
    return np.array(sheet)


def error_sheet(results, sources, outcome="false", *, most=60, height=120) -> np.ndarray:
    """Put detections or objects of one outcome on a contact sheet, best score first.

    Parameters
    ----------
    results : list of dict
        From `paucens.evaluation.box_results`.
    sources : dict of image to path-like or image
        The image of each name in the results, such as `dict(enumerate(images))`.
    outcome : {"false", "missed", "found", "ignored"}, default="false"
    most : int, default=60
        Number of pictures.
    height : int, default=120
        Height of each picture in pixels. A picture shows twice the box, which is drawn, with the score as its title.

    Returns
    -------
    rgb : ndarray of shape (height, width, 3), uint8

    Raises
    ------
    ValueError
        If the outcome is unknown, an image of the results is missing, or a number is out of range.

    Examples
    --------
    >>> row = {"image": 0, "outcome": "missed", "x": 10, "y": 20, "w": 20, "h": 40, "score": 0.5}
    >>> error_sheet([row], {0: np.zeros((90, 60, 3), dtype=np.uint8)}, "missed").shape
    (140, 68, 3)
    """
    check_choice("outcome", outcome, list(COLOURS))
    most, height = check_integer("most", most, 1), check_integer("height", height, 8)
    rows = sorted((row for row in results if row["outcome"] == outcome), key=lambda row: -row["score"])[:most]
    lacking = sorted({str(row["image"]) for row in rows if row["image"] not in sources})
    if lacking:
        raise ValueError(f"sources must have the images of all results; {lacking[0]} is missing.")
    pictures = [_around(row, sources[row["image"]], COLOURS[outcome], height) for row in rows]
    titles = [f"{row['score']:.3g}" if np.isfinite(row["score"]) else "no box" for row in rows]
    return contact_sheet(pictures, titles)


def _around(row, source, colour, height):
    """Return a picture of twice a box, with the box in it."""
    box = np.array([row["x"], row["y"], max(row["w"], 1), max(row["h"], 1)])
    low, scale = box[:2] - box[2:] / 2, height / (2 * box[3])
    shape = height, max(1, round(2 * box[2] * scale))
    part = resampled_part(pixels_of(source), (*low, *(low + 2 * box[2:])), shape)
    return draw_boxes(part, [[*((box[:2] - low) * scale), *(box[2:] * scale)]], colour=colour)


def save_image(path, rgb):
    """Write RGB bytes to a file whose suffix tells the format, such as ".png".

    Parameters
    ----------
    path : path-like
    rgb : ndarray of shape (height, width, 3), uint8

    Raises
    ------
    ValueError
        If Pillow knows no format of this suffix.
    """
    path = Path(os.fspath(path))
    if path.suffix.lower() not in Image.registered_extensions():
        raise ValueError(f"{path} needs the suffix of a format of images, such as .png or .jpg.")
    Image.fromarray(rgb).save(path)
