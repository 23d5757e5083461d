"""sp-LBP: spatially pooled local binary patterns (the paper's Section 3.1), and those of the authors' release.

Functions take the plane L and do not check it.
"""

import numpy as np

from paucens._kernels.builds import chosen
from paucens.features.channels import CELL

kernels = chosen("lbp")

PATCH_SIZES = (4, 8, 16)  # Sec. 3.1
DIRECTIONS = ("E", "SE", "S", "SW", "W", "NW", "N", "NE")  # bits 0 to 7 of a code
LABELS = [f"{start}{length}" for start in DIRECTIONS for length in range(1, 8)] + ["all-or-none", "other"]
BORDER = 58
STEPS_PER_PIXEL = 30  # of comparing, or of one patch size, in the inner steps that `Threads.run` counts


def uniform_labels() -> np.ndarray:
    """Return the label of each of the 256 codes, one of 58, numbered as in VLFeat.

    Label 7 start + length - 1 means a run of 1 to 7 neighbours that are brighter than the centre, clockwise from
    direction `start` of E, SE, .. NE. Label 56 means all or none of them, 57 any other pattern.

    Examples
    --------
    >>> labels = uniform_labels()
    >>> [int(labels[code]) for code in (0b00000001, 0b00000110, 0b10000001, 0b11111111, 0b00000101)]
    [0, 8, 50, 56, 57]
    """
    table = np.full(256, LABELS.index("other"), dtype=np.uint8)
    table[[0, 255]] = LABELS.index("all-or-none")
    for start in range(8):
        for length in range(1, 8):
            table[sum(1 << (start + k) % 8 for k in range(length))] = 7 * start + length - 1
    return table


UNIFORM = uniform_labels()


def label_pixels(plane, threads, table=UNIFORM) -> np.ndarray:
    """Label each pixel by its eight neighbours: which of them are brighter.

    Parameters
    ----------
    plane : ndarray of shape (height, width), float32
        Rows are contiguous.
    threads : paucens.parallel.Threads
    table : ndarray of shape (256,), uint8
        Labels of the codes. Bits 0 to 7 of a code are E, SE, S, SW, W, NW, N, NE; a bit is set if the neighbour is
        strictly larger. Default: `uniform_labels()`.

    Returns
    -------
    labels : ndarray of shape (height, width), uint8
        The outermost pixels, which lack a neighbour, have the label 58, which no channel counts.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.parallel import Threads
    >>> ramp = np.tile(np.arange(4, dtype=np.float32), (3, 1))
    >>> label_pixels(ramp, Threads(1)).tolist()
    [[58, 58, 58, 58], [58, 51, 51, 58], [58, 58, 58, 58]]
    >>> LABELS[51]  # three are brighter, from north-east on: NE, E, SE
    'NE3'
    """
    labels = np.empty(plane.shape, dtype=np.uint8)

    def kernel(start, stop):
        kernels.label_pixels(plane, table, labels, start, stop)

    if plane.size:
        threads.run(kernel, len(plane), plane.size * STEPS_PER_PIXEL)
    return labels


def lbp_channels(plane, form, pooled, threads, out):
    """Compute how often each of 58 labels occurs around each cell of 4 x 4 pixels.

    Parameters
    ----------
    plane : ndarray of shape (height, width), float32
        L of the image. Rows are contiguous. Pixels beyond whole cells are left out.
    form : {"patches", "histograms"}
        As the paper describes them, or as the authors' program computes them, except for its last smoothing.
    pooled : bool
        Whether to pool over neighbouring patches or cells.
    threads : paucens.parallel.Threads
    out : ndarray of shape (height // 4, n_channels, width // 4), float32
        Written; columns are contiguous. `lbp_names` lists the names of the channels.

    Notes
    -----
    "patches": a channel is the share of one label in a patch of p = 4, 8 or 16 pixels, count / area. With pooling it is
    the largest share in 8 x 8 patches [c - p/2, c + p/2), whose centres c lie from 4 pixels before to 3 pixels after
    the middle of the cell, 4 i + 2. Patches that leave the image are ignored; the channels of a cell without any patch
    are 0. The outermost pixels of the image have no label, so the shares of patches there add up to less than 1.

    "histograms": a channel is sqrt(h / sum h), where h is a histogram in which a pixel counts for the four cells around
    it with bilinear weights. Pooling adds as many channels: the maximum of each over 4 x 4 cells, of which this cell is
    the top left one.

    Memory beyond `out` is 1 byte per pixel and 22 KB per thread.
    """
    rows, _, cols = out.shape
    labels = label_pixels(plane[: CELL * rows, : CELL * cols], threads)
    if form == "histograms":
        _histogram_cells(labels, pooled, threads, out)
    else:
        for k, patch in enumerate(PATCH_SIZES):
            _pool_patches(labels, patch, pooled, threads, out[:, k * BORDER : (k + 1) * BORDER])


def _pool_patches(labels, patch, pooled, threads, out):
    def kernel(start, stop):
        kernels.pool_patches(labels, patch, pooled, out, start, stop)

    if out.size:
        threads.run(kernel, len(out), labels.size * STEPS_PER_PIXEL)


def _histogram_cells(labels, pooled, threads, out):
    def histogram(start, stop):
        kernels.histogram_cells(labels, out, start, stop)

    def pool(start, stop):
        scratch = np.empty(out.shape[2] + CELL - 1, dtype=np.float32)
        kernels.pool_cells(out, scratch, start, stop)

    if out.size:
        threads.run(histogram, len(out), labels.size * STEPS_PER_PIXEL)
        if pooled:
            threads.run(pool, len(out), labels.size * STEPS_PER_PIXEL)


def lbp_names(form, pooled) -> list:
    """Name the channels; "lbp8 SE3" means three brighter neighbours from south-east on, in patches of 8 pixels.

    Examples
    --------
    >>> names = lbp_names("patches", True)
    >>> len(names), names[7], names[58 + 9], names[-2:]
    (174, 'lbp4 SE1', 'lbp8 SE3', ['lbp16 all-or-none', 'lbp16 other'])
    >>> lbp_names("histograms", True)[58 + 9]
    'pooled lbp SE3'
    """
    if form == "histograms":
        families = ["lbp", "pooled lbp"] if pooled else ["lbp"]
    else:
        families = [f"lbp{patch}" for patch in PATCH_SIZES]
    return [f"{family} {label}" for family in families for label in LABELS]


def lbp_supports(form, pooled) -> np.ndarray:
    """Compute the supports of the channels (see `ChannelSpec`), including the neighbours of labelled pixels.

    Examples
    --------
    >>> lbp_supports("patches", True)[::58].tolist()
    [[-5, 8], [-7, 10], [-11, 14]]
    >>> lbp_supports("patches", False)[::58].tolist()
    [[-1, 5], [-3, 7], [-7, 11]]
    >>> lbp_supports("histograms", True)[::58].tolist()
    [[-3, 7], [-3, 19]]
    """
    if form == "histograms":
        pixels = [(-2, 6), (-2, 6 + 3 * CELL)] if pooled else [(-2, 6)]
    else:
        first, last = (-2, 5) if pooled else (2, 2)  # centres
        pixels = [(first - patch // 2, last + patch // 2) for patch in PATCH_SIZES]
    return np.repeat([(start - 1, stop + 1) for start, stop in pixels], len(LABELS), axis=0)
