"""Files that a command writes: never over others unless asked."""

import sys
from pathlib import Path

from paucens.cli.failures import USAGE, Failure
from paucens.persistence import replacing


def add_output_arguments(parser, what, required=False):
    """Add -o and --force."""
    default = "" if required else "; default: standard output"
    parser.add_argument("-o", "--output", metavar="FILE", required=required, help=f"where to write {what}{default}")
    parser.add_argument("--force", action="store_true", help="write over files that exist")


def check_output(path, force):
    """Raise Failure if a file must not be written; called before the work, not after it."""
    if path is None or path == "-":
        return
    if Path(path).is_dir() and any(Path(path).iterdir()):
        raise Failure(USAGE, f"{path} is a folder that is not empty. Give another name.")
    if Path(path).exists() and not force:
        raise Failure(USAGE, f"{path} exists. Give another name, or --force to write over it.")
    if not Path(path).absolute().parent.is_dir():
        raise Failure(USAGE, f"there is no folder {Path(path).absolute().parent} to write {Path(path).name} into.")


def write_text(path, text):
    """Write to a file, completely or not at all, or to standard output if the path is None or -."""
    if path is None or path == "-":
        sys.stdout.write(text)
        return
    content = text.encode()
    with replacing(path, len(content)) as file:
        file.write(content)
