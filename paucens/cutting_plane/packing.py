"""Cuts as flat arrays, end to end, so that a file can hold a working set."""

import numpy as np

from paucens.cutting_plane.cut import Cut


def cuts_to_arrays(cuts):
    """The integers of all cuts end to end, and where each begins; a dict of arrays."""
    return {
        "samples": _joined([cut.samples for cut in cuts]),
        "counts": _joined([cut.counts for cut in cuts]),
        "sizes": np.array([(len(cut.samples), len(cut.counts)) for cut in cuts], dtype=np.int64).reshape(-1, 2),
        "tied_count": np.array([cut.tied_count for cut in cuts], dtype=np.float64),
        "normaliser": np.array([cut.normaliser for cut in cuts], dtype=np.int64),
        "loss": np.array([cut.loss for cut in cuts], dtype=np.float64),
    }


def cuts_from_arrays(arrays, n_samples):
    """The cuts again, of n_samples samples."""
    samples, counts = (
        np.split(arrays[name], np.cumsum(arrays["sizes"][:-1, k])) for k, name in enumerate(("samples", "counts"))
    )
    columns = zip(
        samples, counts, *(arrays[name].tolist() for name in ("tied_count", "normaliser", "loss")), strict=False
    )  # np.split of nothing is one empty piece
    return [Cut(part, count, tied, n_samples, normaliser, loss) for part, count, tied, normaliser, loss in columns]


def _joined(parts):
    return np.concatenate([np.empty(0, dtype=np.int32), *parts])
