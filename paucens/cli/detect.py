"""Detect: find people, or what a detector was trained for, in images."""

import itertools
import sys
from functools import cache
from pathlib import Path

from paucens.cli.failures import CRITERION, DONE, MODEL_UNUSABLE, USAGE, Failure, failing_with, text_of
from paucens.cli.journal import Journal
from paucens.cli.models import DEFAULT, load_detector
from paucens.cli.outputs import add_output_arguments, check_output
from paucens.cli.reporting import Progress, add_log_argument, log_to, say
from paucens.cli.sources import add_source_argument, count_images, images_of, read_source

STREAMED = ("csv", "jsonl")  # formats that standard output takes


def add_arguments(parser):
    """Add what the command takes."""
    add_source_argument(parser)
    parser.add_argument("-m", "--model", metavar="FILE", default=DEFAULT, help="a detector; default: people, on INRIA")
    parser.add_argument("--threshold", type=float, help="boxes score above it; default: that of the model")
    parser.add_argument("--min-height", type=float, help="of people to look for, in pixels; default: that of the model")
    parser.add_argument("--max-height", type=float, help="default: the height of the image")
    parser.add_argument(
        "--format",
        metavar="NAME",
        help="csv, jsonl, coco, voc, yolo, caltech, kitti or mot; default: by the suffix of the output, csv for "
        "standard output",
    )
    parser.add_argument("--draw", metavar="FOLDER", help="write each image with its boxes into FOLDER")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="look at every N-th image only")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="number of processes; default: 1")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was interrupted")
    add_output_arguments(parser, "the boxes")
    add_log_argument(parser)


def run(options):
    """Detect in all images; unreadable ones are named and left out."""
    if options.every < 1 or options.jobs < 1:
        raise Failure(USAGE, "--every and --jobs must be at least 1.")
    check_output(options.output, options.force)
    form = _format(options)
    detector = _detector(*version_of(options.model))
    detector.window.checked_heights(options.min_height, options.max_height)
    if options.draw is not None:
        Path(options.draw).mkdir(parents=True, exist_ok=True)
    with log_to(options.log) as log:
        if _is_standard(options.output):
            return _to_standard_output(options, form, log)
        return _to_file(options, form, log)


def _is_standard(output):
    return output in (None, "-")


def _format(options):
    """Return the format of the output, or raise an error."""
    from paucens.formats import format_of

    if not _is_standard(options.output):
        return format_of(options.output, options.format)
    form = options.format or STREAMED[0]
    if form not in STREAMED:
        raise Failure(USAGE, f"standard output takes {' or '.join(STREAMED)}; give -o for the format {form}.")
    return form


def _to_standard_output(options, form, log):
    from paucens.formats import FORMATS

    entries = _Readable(found_in(options, 0, log))
    FORMATS[form].write_detections(sys.stdout, entries)
    return _ended(entries.n_unreadable)


def _to_file(options, form, log):
    from paucens.formats import write_detections

    settings = {
        name: getattr(options, name)
        for name in ("sources", "model", "threshold", "min_height", "max_height", "every", "draw")
    }
    with Journal(options.output, settings, options.resume, options.force) as journal:
        for entry in found_in(options, journal.n_done, log):
            journal.add(entry)
        entries = _Readable(journal.entries())
        try:
            write_detections(options.output, entries, form)
        except ValueError as error:
            raise Failure(USAGE, f"{error} The boxes are kept: --resume with another --format writes them.") from error
        journal.remove()
    return _ended(entries.n_unreadable)


class _Readable:
    """Images and boxes of entries; those without boxes, because they could not be read, are counted."""

    def __init__(self, entries):
        self._entries, self.n_unreadable = entries, 0

    def __iter__(self):
        import numpy as np

        for entry in self._entries:
            if "error" in entry:
                self.n_unreadable += 1
            else:
                yield entry["image"], np.array(entry["boxes"]).reshape(-1, 5)


def _ended(n_unreadable):
    if n_unreadable:
        say(f"paucens detect: {n_unreadable} images could not be read and are not among the results.")
    return CRITERION if n_unreadable else DONE


def found_in(options, n_done, log):
    """Yield an entry per image, in order: its name, and boxes or an error.

    Parameters
    ----------
    options : Namespace
    n_done : int
        Number of images to leave out at the start.
    log : callable
    """
    from joblib import Parallel, delayed

    total = count_images(options.sources, options.every)
    if total == n_done:
        return
    images = itertools.islice(images_of(options.sources, options.every), n_done, None)
    model = version_of(options.model)
    look = (model, options.threshold, options.min_height, options.max_height, options.draw)
    workers = Parallel(n_jobs=options.jobs, return_as="generator", pre_dispatch="2 * n_jobs")
    with Progress(None if total is None else total - n_done, "images") as progress:
        for entry in workers(delayed(find_in)(image, *look) for image in images):
            if "error" in entry:
                say(f"{entry['image']}: {entry['error']}")
                log("unreadable", **entry)
            else:
                log("detected", image=entry["image"], boxes=len(entry["boxes"]))
            yield entry
            progress.step()


def picture_name(name):
    """Return the name of the picture of an image: its path in one word."""
    return "_".join(part for part in Path(name).with_suffix(".jpg").parts if part not in ("/", "..", "."))


def find_in(source, model, threshold, min_height, max_height, folder):
    """Detect in one image; return an entry."""
    from paucens.drawing import draw_boxes, save_image

    try:
        image = read_source(source)
    except (ValueError, OSError) as error:
        return {"image": source.name, "error": text_of(error)}
    detector = _detector(*model)
    boxes = detector.detect(image, threshold=threshold, min_height=min_height, max_height=max_height)
    if folder is not None:
        save_image(Path(folder) / picture_name(source.name), draw_boxes(image, boxes))
    return {"image": source.name, "boxes": boxes.tolist()}


def version_of(model):
    """Return the name of a detector, and what tells its file from others that have been there."""
    if model == DEFAULT:
        return model, None
    file = Path(model).resolve()
    with failing_with(MODEL_UNUSABLE):
        about = file.stat()
    return str(file), (about.st_mtime_ns, about.st_size, about.st_ino)


@cache
def _detector(model, version):
    """Load a detector once per process and version of its file."""
    return load_detector(model)
