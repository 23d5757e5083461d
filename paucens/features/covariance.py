"""sp-Cov: spatially pooled covariance of statistics of pixels (the paper's Section 3.1).

Functions take planes and do not check them.
"""

import numpy as np

from paucens._kernels.builds import chosen
from paucens.features.channels import CELL  # the pooling region and its stride (Sec. 3.1)
from paucens.features.preset import PATCH_SIZES

kernels = chosen("covariance")

STATISTICS = ("M", "O2", "O1", "|Ix|", "|Iy|", "|Ixx|", "|Iyy|")
FEATURES = ("x", "y", *STATISTICS)
ENTRIES = [(row, column) for row in range(2, 9) for column in range(row + 1)]  # of the matrix: 42 of 45
STEPS_PER_PIXEL = 150  # of one patch size, in the inner steps that `Threads.run` counts


def covariance_channels(planes, rule, pooled, threads, out):
    """Compute seven statistics per cell of 4 x 4 pixels and 42 covariance channels per patch size.

    Parameters
    ----------
    planes : ndarray of shape (n_planes, height, width), float32
        Intensity or colours; of several planes, each pixel uses the one with the largest gradient. Rows are contiguous.
        Pixels beyond whole cells are left out.
    rule : paucens.features.preset.CovarianceRule
    pooled : bool
        Whether to take the maximum over 4 x 4 patches instead of the patch in the middle of the cell.
    threads : paucens.parallel.Threads
    out : ndarray of shape (height // 4, 7 + 42 n_sizes, width // 4), float32
        Written; columns are contiguous. `covariance_names` lists their names.

    Notes
    -----
    The statistics are M = sqrt(Ix^2 + Iy^2), O2, O1 = atan(|Iy| / |Ix|), |Ix|, |Iy|, |Ixx| and |Iyy|; their channels
    are maxima over the cell. Ix is half of I(x + 1) - I(x - 1), Ixx half of the second difference; both are the first
    difference on the border. O2 is the direction of the gradient in [0, pi), capped at pi - 1e-6; the paper's, an atan2
    in (0, pi], differs for gradients along x. An Iy between -1e-6 and 0 counts as 0: it may be the rounding of colours,
    whose sign would move O2 from 0 to pi. Both orientations are pi / 2 if the gradient is 0.

    The covariance matrix is that of [x, y, M, O2, O1, |Ix|, |Iy|, |Ixx|, |Iyy|] over a patch. Its lower triangle from
    the third row on is kept: variances (unbiased) on the diagonal, correlations elsewhere. Patches that leave the image
    are ignored; the channels of a cell without any patch are 0. x and y are in pixels; their unit cancels out.

    All arithmetic is float32; `_kernels/covariance.pyx` says how it stays precise in flat patches. On crops of a
    photograph the channels are within 4e-6 of those of float64. Memory beyond `out` is 1.6 MB per thread.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.features import PRESETS
    >>> from paucens.parallel import Threads
    >>> rule = PRESETS["paper"].covariance
    >>> planes = np.tile(np.abs(np.arange(32) - 15.5).astype(np.float32), (1, 32, 1))  # a valley
    >>> out = np.empty((8, 133, 8), dtype=np.float32)
    >>> covariance_channels(planes, rule, False, Threads(1), out)
    >>> names = covariance_names(rule)
    >>> {name: round(float(out[4, names.index(name), 4]), 2) for name in ("max M", "cov8 corr(x, O2)", "cov8 var(O2)")}
    {'max M': 1.0, 'cov8 corr(x, O2)': -0.76, 'cov8 var(O2)': 1.88}
    """
    if not out.size:
        return
    levels = np.full((len(PATCH_SIZES) + 1, 3), -1, dtype=np.int32)
    levels[-1] = 0
    for k, size in enumerate(rule.patch_sizes):
        first = len(STATISTICS) + k * len(ENTRIES)
        shift, offset = _placement(rule, size, pooled)
        levels[PATCH_SIZES.index(size)] = first, shift, offset
        _clear_border(out[:, first : first + len(ENTRIES)], size, shift, offset)
    ridges = [rule.orientation_ridge if name.startswith("O") else rule.ridge for name in STATISTICS]
    ridges = np.array(ridges, dtype=np.float32)

    def describe(start, stop):
        scratch = np.empty(kernels.scratch_bytes(), dtype=np.uint8)
        kernels.covariance(
            planes, levels, pooled, pooled and rule.clip_negatives, rule.min_variance, ridges, out, scratch, start, stop
        )

    work = STEPS_PER_PIXEL * CELL**2 * out.shape[0] * out.shape[2] * len(rule.patch_sizes)
    threads.run(describe, len(out), work)


def _placement(rule, size, pooled):
    """Locate the patches that a cell pools.

    Returns
    -------
    shift : int
        Number of cells from the cell that contains the first pixel of the patches to the cell that pools them.
    offset : int
        The row and column, in its cell, of the first pixel of the patch that counts without pooling.
    """
    if pooled:
        return (size // 2 // CELL if rule.centred else 0), 0
    return -((2 - size // 2) // CELL), (2 - size // 2) % CELL


def _clear_border(out, size, shift, offset):
    """Write 0 to cells without a patch inside the image."""
    for cells in (out, out.swapaxes(0, 2)):
        n_cells = max((CELL * len(cells) - size - offset) // CELL + 1, 0)
        cells[:shift] = 0
        cells[shift + n_cells :] = 0


def covariance_names(rule) -> list:
    """Name the channels.

    Examples
    --------
    >>> from paucens.features.preset import CovarianceRule
    >>> names = covariance_names(CovarianceRule())
    >>> len(names), names[3], names[7:10], names[-1]
    (133, 'max |Ix|', ['cov8 corr(x, M)', 'cov8 corr(y, M)', 'cov8 var(M)'], 'cov32 var(|Iyy|)')
    """
    names = [f"max {name}" for name in STATISTICS]
    for size in rule.patch_sizes:
        for row, column in ENTRIES:
            entry = f"corr({FEATURES[column]}, {FEATURES[row]})" if column < row else f"var({FEATURES[row]})"
            names.append(f"cov{size} {entry}")
    return names


def covariance_supports(rule, pooled) -> np.ndarray:
    """Compute the supports of the channels (see `ChannelSpec`), including the neighbours that derivatives read.

    Examples
    --------
    >>> from paucens.features import PRESETS
    >>> rule, release = PRESETS["paper"].covariance, PRESETS["release"].covariance
    >>> covariance_supports(rule, True)[[0, 7, 49, 91]].tolist()
    [[-1, 5], [-5, 8], [-9, 12], [-17, 20]]
    >>> covariance_supports(rule, False)[[0, 7, 49, 91]].tolist()
    [[-1, 5], [-3, 7], [-7, 11], [-15, 19]]
    >>> covariance_supports(release, True)[[0, 7, 49, 91]].tolist()
    [[-1, 5], [-1, 8], [-1, 12], [-1, 20]]
    """
    supports = [(-1, CELL + 1)] * len(STATISTICS)
    for size in rule.patch_sizes:
        shift, offset = _placement(rule, size, pooled)
        first = offset - CELL * shift
        last = first + size + (CELL - 1 if pooled else 0)
        supports += [(first - 1, last + 1)] * len(ENTRIES)
    return np.array(supports)
