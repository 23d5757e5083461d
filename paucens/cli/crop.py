"""Crop: cut annotated objects out of images, as training crops."""

from pathlib import Path

from paucens.cli.annotations import add_annotation_arguments, read_records
from paucens.cli.failures import DATA_MISSING, DONE, USAGE, Failure, failing_with
from paucens.cli.outputs import check_output
from paucens.cli.reporting import add_log_argument, log_to, say
from paucens.cli.windows import add_window_arguments, window_of


def add_arguments(parser):
    """Add what the command takes."""
    add_annotation_arguments(parser, required=True)
    add_window_arguments(parser)
    parser.add_argument("--no-edges", action="store_true", help="leave out objects whose crop leaves the image")
    parser.add_argument("--sheet", metavar="FILE", help="a picture of all crops, to look at")
    parser.add_argument("-o", "--output", metavar="FOLDER", required=True, help="a new folder for the crops, as .png")
    parser.add_argument("--force", action="store_true", help="write into a folder that holds files, and over the sheet")
    add_log_argument(parser)


def run(options):
    """Cut and write the crops."""
    from paucens.detector import cut_crops
    from paucens.drawing import save_image

    folder = Path(options.output)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) and not options.force:
        raise Failure(USAGE, f"{folder} exists and is not an empty folder. Give a new one, or --force.")
    check_output(options.sheet, options.force)
    records, window = (
        read_records(options.boxes, options.images, options.boxes_format, options.label),
        window_of(options),
    )
    with failing_with(DATA_MISSING):
        crops = cut_crops(records, window, repeat_edges=not options.no_edges, contact_sheet=options.sheet)
    folder.mkdir(parents=True, exist_ok=True)
    for k, crop in enumerate(crops):
        save_image(folder / f"{k:06d}.png", crop)
    n_boxes = sum(len(record.boxes) for record in records)
    height, width = window.crop
    say(f"{len(crops)} crops of {n_boxes} boxes in {len(records)} images, {height} x {width} pixels each")
    with log_to(options.log) as log:
        log("cropped", images=len(records), boxes=n_boxes, crops=len(crops))
    return DONE
