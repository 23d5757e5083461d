"""The negatives that a range of false positive rates means in training."""

import warnings

import numpy as np

from paucens.metrics import band_indices, check_fpr_range


def training_positions(n_negatives, fpr_range):
    """Return j_alpha and j_beta, the positions to train for; at least one where the range starts at 0.

    To be called one call below a guarded `fit`: the warning points to the line that called `fit`.

    Raises
    ------
    ValueError
        Where a range with alpha > 0 holds no position.

    Warns
    -----
    UserWarning
        Where alpha is 0 and beta less than one negative.
    """
    alpha, beta = check_fpr_range(fpr_range)
    j_alpha, j_beta = band_indices(n_negatives, alpha, beta)
    if alpha == 0 and j_beta == 0:
        warnings.warn(
            f"The range (0, {beta:g}) is narrower than one of {n_negatives} negatives; the best one stands for "
            f"it. It takes {int(np.ceil(1 / beta))} negatives to hold one.",
            UserWarning,
            stacklevel=5,
        )
        j_beta = 1
    if j_beta <= j_alpha:
        raise ValueError(
            f"The range ({alpha:g}, {beta:g}) holds no position among {n_negatives} negatives; it takes about "
            f"{int(np.ceil(2 / (beta - alpha)))} negatives, or a wider range."
        )
    return j_alpha, j_beta
