"""scikit-learn's small digits, even against odd: the stand-in for USPS on a fresh machine."""

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from paucens.datasets._files import content_hash
from paucens.datasets._registry import DataSet

CONTENT = "ae588ca009782c75b562002379a6fbba9c29fb60a403ae26522407f0af4022ae"


def load_digits_parity(return_X_y: bool = True) -> Any:
    """Load the digits bundled with scikit-learn as even against odd, a stand-in for USPS.

    With it, scripts and examples run even if USPS has not been downloaded. It is *another* data set (8 x 8 pixels of 17
    levels, 1797 images): its numbers are printed under a name that says stand-in and never beside the paper's.

    Parameters
    ----------
    return_X_y : bool, default=True
        Whether to return (X, y) instead of a Bunch.

    Returns
    -------
    X : ndarray of shape (1797, 64), float64
        Grey values 0 to 16, row by row.
    y : ndarray of shape (1797,), int64
        1 for even digits (891), 0 for odd ones (906).
    bunch : sklearn.utils.Bunch
        With `return_X_y=False`: `data`, `target`, `digit` (0 to 9), `target_names`, `stand_in_for`,
        `content_hash` and `DESCR`.

    Raises
    ------
    ValueError
        If scikit-learn ships other images than those behind the numbers of this project.

    Examples
    --------
    >>> from paucens.datasets import load_digits_parity
    >>> X, y = load_digits_parity()
    >>> X.shape, int(y.sum())
    ((1797, 64), 891)
    """
    from sklearn.datasets import load_digits  # not above: sklearn.datasets is slow to import

    X, digit = load_digits(return_X_y=True)
    digest = content_hash(X.astype(np.uint8), digit.astype(np.uint8))
    if digest != CONTENT:
        raise ValueError(
            f"The digits bundled with this scikit-learn hash to {digest}, expected {CONTENT}: the images "
            "changed. Install another version of scikit-learn, or use load_usps."
        )
    y = (digit % 2 == 0).astype(np.int64)
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        digit=digit,
        target_names=["odd", "even"],
        stand_in_for=ABOUT.stand_in_for,
        content_hash=digest,
        DESCR=ABOUT.describe(),
    )


ABOUT = DataSet(
    name="digits_parity",
    what="The 1797 digits of 8 x 8 pixels bundled with scikit-learn (test part of the UCI set Optical "
    "Recognition of Handwritten Digits), even (891) against odd (906).",
    source="Comes with scikit-learn; nothing to get.",
    terms="Those under which scikit-learn ships it; cite Alpaydin and Kaynak (1998), UCI Machine Learning Repository.",
    check="Content hash of the images and labels.",
    loader=load_digits_parity,
    stand_in_for="usps",
)
