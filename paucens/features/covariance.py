"""sp-Cov: spatially pooled covariance of what is seen at a pixel (the paper's Section 3.1).

Functions take planes and check nothing.
"""

from dataclasses import dataclass

import numpy as np

from paucens._kernels.builds import chosen
from paucens.features.channels import CELL  # the pooling region and its stride (Sec. 3.1)

kernels = chosen("covariance")

STATISTICS = ("M", "O2", "O1", "|Ix|", "|Iy|", "|Ixx|", "|Iyy|")
FEATURES = ("x", "y", *STATISTICS)
ENTRIES = [(row, column) for row in range(2, 9) for column in range(row + 1)]  # of the matrix: 42 of 45
KNOWN_SIZES = (4, 8, 16, 32)  # of patches, to the kernel
STEPS_A_PIXEL = 150  # of one patch size, in the inner steps that `Threads.run` counts


@dataclass(frozen=True)
class CovarianceRule:
    """Say what a preset means by covariance; `RULES` has the three of them.

    Attributes
    ----------
    patch_sizes : tuple of int
        In pixels, ascending, of 4, 8, 16 and 32.
    centred : bool
        A cell pools the patches with their centre in it, or else those with their first pixel in it.
    clipped : bool
        The pool starts from 0, so that negative correlations become 0.
    floor : float
        A correlation is 0 where a variance is at most this.
    ridge, ridge_of_orientations : float
        Added to the variances below the root, but not to those of x and y.
    """

    patch_sizes: tuple = (8, 16, 32)
    centred: bool = True
    clipped: bool = False
    floor: float = 1e-8
    ridge: float = 0.0
    ridge_of_orientations: float = 0.0

    def placing(self, size, pooled):
        """Return how many cells a cell is from that of its patches' first pixels, and which of four pixels counts.

        Without pooling it is the patch in the middle of the cell, whatever the rule.
        """
        if pooled:
            return (size // 2 // CELL if self.centred else 0), 0
        return -((2 - size // 2) // CELL), (2 - size // 2) % CELL


RULES = {
    "paper": CovarianceRule(),
    "robust": CovarianceRule(floor=-1.0, ridge=2e-6, ridge_of_orientations=0.02),  # ridges keep roots above 0
    "release": CovarianceRule(patch_sizes=(4, 8, 16), centred=False, clipped=True),
}


def covariance_channels(planes, rule, pooled, threads, out):
    """Write seven statistics of each cell of 4 x 4 pixels, and 42 numbers about the patches of each size around it.

    Parameters
    ----------
    planes : ndarray of shape (n_planes, height, width), float32
        Intensity, or colours: then the one of largest gradient counts at each pixel. Rows are contiguous. What is over
        whole cells is left out.
    rule : CovarianceRule
    pooled : bool
        Take the maximum over 4 x 4 patches, or else the patch in the middle of the cell.
    threads : paucens.parallel.Threads
    out : ndarray of shape (height // 4, width // 4, 7 + 42 n_sizes), float32
        Is written; channels are contiguous. `covariance_names` has their names.

    Notes
    -----
    The statistics are M = sqrt(Ix^2 + Iy^2), O2, O1 = atan(|Iy| / |Ix|), |Ix|, |Iy|, |Ixx| and |Iyy|; their channels
    are maxima over the cell. Ix is half of I(x + 1) - I(x - 1), Ixx half of the second difference, and both are the
    first difference on the border. O2 is the direction of the gradient in [0, pi), capped at pi - 1e-6; the paper's,
    an atan2 in (0, pi], differs for gradients along x. An Iy of -1e-6 to 0 counts as 0: where it is the rounding of
    colours, its sign would take O2 from 0 to pi. Both orientations are pi / 2 where nothing changes.

    Of the covariance matrix of [x, y, M, O2, O1, |Ix|, |Iy|, |Ixx|, |Iyy|] over a patch, the lower triangle from the
    third row on is kept: variances (unbiased) on the diagonal, elsewhere correlations. Patches that leave the image
    take no part; where none is left, channels are 0. x and y are pixels: what one divides them by cancels out.

    All is float32; `_kernels/covariance.pyx` says how that keeps its precision in patches however flat. On crops of a
    photograph the channels are those of float64 within 4e-6. Memory beyond `out` is 1.6 MB a thread.

    Examples
    --------
    >>> import numpy as np
    >>> from paucens.parallel import Threads
    >>> planes = np.tile(np.abs(np.arange(32) - 15.5).astype(np.float32), (1, 32, 1))  # a valley
    >>> out = np.empty((8, 8, 133), dtype=np.float32)
    >>> covariance_channels(planes, RULES["paper"], False, Threads(1), out)
    >>> names = covariance_names(RULES["paper"])
    >>> {name: round(float(out[4, 4, names.index(name)]), 2) for name in ("max M", "cov8 corr(x, O2)", "cov8 var(O2)")}
    {'max M': 1.0, 'cov8 corr(x, O2)': -0.76, 'cov8 var(O2)': 1.88}
    """
    if not out.size:
        return
    levels = np.full((len(KNOWN_SIZES) + 1, 3), -1, dtype=np.int32)
    levels[-1] = 0
    for k, size in enumerate(rule.patch_sizes):
        first = len(STATISTICS) + k * len(ENTRIES)
        shift, offset = rule.placing(size, pooled)
        levels[KNOWN_SIZES.index(size)] = first, shift, offset
        _clear_border(out[..., first : first + len(ENTRIES)], size, shift, offset)
    ridges = [rule.ridge_of_orientations if name.startswith("O") else rule.ridge for name in STATISTICS]
    ridges = np.array(ridges, dtype=np.float32)

    def describe(start, stop):
        scratch = np.empty(kernels.scratch_bytes(), dtype=np.uint8)
        kernels.covariance(
            planes, levels, pooled, pooled and rule.clipped, rule.floor, ridges, out, scratch, start, stop
        )

    work = STEPS_A_PIXEL * CELL**2 * out.shape[0] * out.shape[1] * len(rule.patch_sizes)
    threads.run(describe, len(out), work)


def _clear_border(out, size, shift, offset):
    """Write 0 to cells without a patch inside the image."""
    for cells in (out, out.swapaxes(0, 1)):
        n_cells = max((CELL * len(cells) - size - offset) // CELL + 1, 0)
        cells[:shift] = 0
        cells[shift + n_cells :] = 0


def covariance_names(rule) -> list:
    """Name the channels.

    Examples
    --------
    >>> names = covariance_names(RULES["paper"])
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
    """Return the supports of the channels, as `ChannelSpec` defines them, with the neighbours that derivatives read.

    Examples
    --------
    >>> covariance_supports(RULES["paper"], True)[[0, 7, 49, 91]].tolist()
    [[-1, 5], [-5, 8], [-9, 12], [-17, 20]]
    >>> covariance_supports(RULES["paper"], False)[[0, 7, 49, 91]].tolist()
    [[-1, 5], [-3, 7], [-7, 11], [-15, 19]]
    >>> covariance_supports(RULES["release"], True)[[0, 7, 49, 91]].tolist()
    [[-1, 5], [-1, 8], [-1, 12], [-1, 20]]
    """
    supports = [(-1, CELL + 1)] * len(STATISTICS)
    for size in rule.patch_sizes:
        shift, offset = rule.placing(size, pooled)
        first = offset - CELL * shift
        last = first + size + (CELL - 1 if pooled else 0)
        supports += [(first - 1, last + 1)] * len(ENTRIES)
    return np.array(supports)
