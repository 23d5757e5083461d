"""Progress bars, which `verbose` turns on."""

import sys

from tqdm import tqdm


def progress_bar(*arguments, verbose, **options):
    """Make a progress bar of tqdm, or a silent one if `verbose` is 0 or the process has no standard error."""
    return tqdm(*arguments, disable=not verbose or sys.stderr is None, **options)
