"""The window of a detector, as arguments."""

import argparse


def add_window_arguments(parser):
    """Add --window, --target and --margin."""
    parser.add_argument(
        "--window", type=size, default=(128, 64), metavar="HxW", help="pixels of the window, default: 128x64"
    )
    parser.add_argument(
        "--target", type=size, default=(100, 41), metavar="HxW", help="pixels of the object in it, default: 100x41"
    )
    parser.add_argument("--margin", type=int, default=16, help="pixels around the window that crops hold, default: 16")


def size(text):
    """Parse height x width."""
    try:
        height, width = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no height x width, such as 128x64") from None
    return height, width


def window_of(options):
    """Make the window."""
    from paucens.detector import Window

    return Window(shape=options.window, target=tuple(map(float, options.target)), margin=options.margin)
