"""What a detector finds, window by window."""

import numpy as np

from paucens.parallel import Threads


def all_windows(detector, image, threads=1):
    """Return the scores of all windows that are not rejected, {(level, row, column): score}."""
    with Threads(threads) as pool:
        levels = detector.search.levels(image.shape[:2])
        boxes, windows = detector.candidates(image, levels, -np.inf, pool)
    return dict(zip(map(tuple, windows.tolist()), boxes[:, 4].tolist(), strict=True))
