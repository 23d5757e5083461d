"""Evaluate: judge detections on annotated images."""

import json
import math
from pathlib import Path

from paucens.cli.annotations import add_annotation_arguments, detections_of, read_records
from paucens.cli.failures import CRITERION, DATA_MISSING, DONE, USAGE, Failure, failing_with
from paucens.cli.outputs import add_output_arguments, check_output, write_text
from paucens.cli.reporting import add_log_argument, log_to, say

CURVES = (".csv", ".png", ".pdf", ".svg")


def add_arguments(parser):
    """Add what the command takes."""
    parser.add_argument(
        "detections", metavar="DETECTIONS", help="boxes that paucens detect, or another detector, wrote"
    )
    add_annotation_arguments(parser, required=True)
    parser.add_argument("--format", metavar="NAME", help="of the detections; default: by the suffix")
    parser.add_argument("--against", metavar="OTHER", help="detections of another detector, for a paired difference")
    parser.add_argument("--against-format", metavar="NAME", help="their format; default: by the suffix")
    parser.add_argument("--overlap", type=float, default=0.5, help="least overlap of a match, default: 0.5")
    parser.add_argument("--min-height", type=float, default=50.0, help="smaller objects do not count, default: 50")
    parser.add_argument("--max-height", type=float, default=math.inf, help="neither do larger ones, default: no limit")
    parser.add_argument(
        "--aspect",
        type=_aspect,
        default=0.41,
        help="width / height that all boxes are given before they are compared, default: 0.41, as for people in the "
        "Caltech protocol; none leaves them as they are",
    )
    parser.add_argument("--fppi", type=float, default=0.1, help="false positives per image of interest, default: 0.1")
    parser.add_argument("--max-miss", type=float, help="exit with 1 if the log-average miss rate is above this")
    parser.add_argument("--curve", metavar="FILE", help="the curve: .csv, or .png or .pdf (with matplotlib)")
    parser.add_argument("--per-image", metavar="FILE", help="a table of what is found, missed and wrong, .csv")
    parser.add_argument("--sheets", metavar="FOLDER", help="pictures of false alarms and of what is missed, best first")
    add_output_arguments(parser, "the results, in JSON")
    add_log_argument(parser)


def _aspect(text):
    return None if text == "none" else float(text)


def run(options):
    """Match, summarise, and write what was asked for."""
    from paucens.evaluation import match_images, miss_rate_difference, miss_rate_interval

    for path in (options.output, options.curve, options.per_image):
        check_output(path, options.force)
    if options.curve is not None and Path(options.curve).suffix.lower() not in CURVES:
        raise Failure(USAGE, f"a curve is written as {', '.join(CURVES)}; got {options.curve}.")
    records = read_records(options.boxes, options.images, options.boxes_format, options.label)
    images = _prepared(options, records, options.detections, options.format)
    matches = match_images(*images, options.overlap)
    if matches.n_truths.sum() == 0:
        raise Failure(DATA_MISSING, f"{options.boxes} has no object of the heights that count.")
    threshold = matches.threshold_at(options.fppi)
    results = {
        "images": len(records),
        "objects": int(matches.n_truths.sum()),
        "log_average_miss_rate": _with_ends(miss_rate_interval(matches)),
        "fppi": options.fppi,
        "threshold": threshold,
        "miss_rate_at_fppi": _miss_at(matches, options.fppi),
    }
    if options.against is not None:
        other = match_images(*_prepared(options, records, options.against, options.against_format), options.overlap)
        difference, low, high = miss_rate_difference(matches, other)
        results["difference_to_other"] = {"low": low, "value": difference, "high": high}
    _write_extras(options, records, images, matches, threshold)
    write_text(options.output, json.dumps(results, indent=1) + "\n")
    with log_to(options.log) as log:
        log("evaluated", **results)
    return _verdict(options, results)


def _prepared(options, records, path, form):
    """Read detections; return detections, truths and ignored regions per image, in the form that is compared."""
    from paucens.evaluation import prepare_images
    from paucens.formats import read_detections

    with failing_with(DATA_MISSING):
        found, n_missing, n_others = detections_of(records, read_detections(path, form), path)
    if n_missing:
        say(f"paucens evaluate: {n_missing} annotated images are not in {path}; nothing counts as found in them.")
    if n_others:
        say(f"paucens evaluate: {n_others} images of {path} have no annotation and are left out.")
    truths, ignores = [record.boxes for record in records], [record.ignore for record in records]
    heights = (options.min_height, options.max_height)
    return prepare_images(found, truths, ignores, heights=heights, aspect=options.aspect)


def _with_ends(interval):
    low, value, high = interval
    return {"low": low, "value": value, "high": high}


def _miss_at(matches, fppi):
    from paucens.evaluation import miss_rates_at

    return float(miss_rates_at(*matches.curve(), [fppi])[0])


def _write_extras(options, records, images, matches, threshold):
    """Write the curve, the table and the sheets that were asked for."""
    from paucens.evaluation import box_results, image_results, write_results

    names = [Path(record.image).as_posix() for record in records]
    if options.per_image is not None:
        rows = image_results(*images, options.overlap, threshold=threshold, images=names)
        write_results(options.per_image, rows)
    if options.curve is not None:
        _write_curve(options.curve, Path(options.detections).stem, matches)
    if options.sheets is not None:
        rows = box_results(*images, options.overlap, threshold=threshold)
        _write_sheets(Path(options.sheets), rows, dict(enumerate(record.image for record in records)))


def _write_curve(path, name, matches):
    """Write the curve as a table or, with matplotlib, as a picture."""
    fppi, miss = matches.curve()
    if Path(path).suffix.lower() == ".csv":
        rows = "".join(f"{x:.9g},{y:.9g},{s:.9g}\n" for x, y, s in zip(fppi, miss, matches.scores(), strict=True))
        write_text(path, "fppi,miss_rate,score\n" + rows)
        return
    from paucens.plotting import draw_miss_rates, house_style, new_figure

    with house_style():
        figure = new_figure(4.5, 3.5)
        draw_miss_rates(figure.subplots(), {name: (fppi, miss)})
        figure.savefig(path)


def _write_sheets(folder, rows, sources):
    """Write a sheet of the best false alarms, and one of what is missed, as far as there are any."""
    from paucens.drawing import error_sheet, save_image

    folder.mkdir(parents=True, exist_ok=True)
    for outcome in ("false", "missed"):
        if any(row["outcome"] == outcome for row in rows):
            save_image(folder / f"{outcome}.png", error_sheet(rows, sources, outcome))


def _verdict(options, results):
    miss = results["log_average_miss_rate"]["value"]
    if options.max_miss is not None and miss > options.max_miss:
        say(f"paucens evaluate: the log-average miss rate is {miss:.4g}, above {options.max_miss:g}.")
        return CRITERION
    return DONE
