"""Progress bars, which `verbose` turns on."""

import sys


def progress_bar(*arguments, verbose, **options):
    """Make a progress bar of tqdm, or a silent one if `verbose` is 0 or the process has no standard error."""
    from tqdm import tqdm  # slow to import

    return tqdm(*arguments, disable=not verbose or sys.stderr is None, **options)
