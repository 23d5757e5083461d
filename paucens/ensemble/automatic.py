"""Parameters of `PAUCEnsClassifier` that can depend on the data: the range that is trained, and nu."""

import numpy as np

from paucens.cutting_plane import check_nu
from paucens.metrics import check_fpr_range

WIDEST, ENOUGH = 0.1, 200  # an automatic range ends there, or where it holds so many negatives
# An automatic nu is the default up to 8000 samples, and their number over 160 000 from 16 000 on: of four such shares,
# this has the largest mean gain for 16 000 and 64 000 samples (reproduce/many_rows.py). From 128 000 on, twice as many
# as were tried, it stays as it is.
SIZES, NUS = (8_000, 16_000, 128_000), (0.03, 0.1, 0.8)


def trained_range(ensemble, n_negatives):
    """Return the range whose risk is minimised; raise ValueError if the parameters do not go together."""
    wanted, learner = ensemble.train_range, ensemble.learner
    if wanted is None:
        return ensemble.fpr_range
    if not isinstance(wanted, str):
        return check_fpr_range(wanted)
    alpha, beta = check_fpr_range(ensemble.fpr_range)
    if wanted != "auto" or learner is not None or alpha > 0:
        raise ValueError(
            "train_range must be None, two rates, or 'auto' for a range that starts at 0 and learner=None; got "
            f"{wanted!r} for fpr_range={ensemble.fpr_range} and learner={learner!r}."
        )
    return 0.0, max(beta, min(WIDEST, ENOUGH / n_negatives))


def trained_nu(ensemble, n_samples):
    """Return nu for a number of samples; raise ValueError if the parameter is not allowed."""
    if not isinstance(ensemble.nu, str) or ensemble.nu != "auto":
        check_nu(ensemble.nu)
        return ensemble.nu
    if ensemble.learner is not None:
        raise ValueError(
            f"nu='auto' is for learner=None; got learner={ensemble.learner!r}. Set nu to a number, such as 0.03."
        )
    return float(np.interp(n_samples, SIZES, NUS))
