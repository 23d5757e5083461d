"""The two-dimensional synthetic set of Sec. 4.2: a blob of positives inside a ring of negatives."""

import numbers

import numpy as np
from sklearn.utils import check_random_state, check_scalar

from paucens.datasets._registry import DataSet

POSITIVE_RADIUS = (0.0, 1.5)  # uniform between these, Sec. 4.2
NEGATIVE_RADIUS = (2.0, 0.4)  # normal, mean and standard deviation, Sec. 4.2


def load_toy(
    n_positive: int = 200, n_negative: int = 200, *, random_state: int | np.random.RandomState | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the synthetic data set of Sec. 4.2.

    Parameters
    ----------
    n_positive, n_negative : int, default=200
        Number of points of each class, at least 1. The paper trains on 200 + 200, chooses its parameters on
        200 + 200 and tests on 2000 + 2000.
    random_state : int, RandomState instance or None, default=None
        Seed. Streams of `numpy.random.RandomState` are frozen, so one seed gives the same points with every
        version of NumPy.

    Returns
    -------
    X : ndarray of shape (n_positive + n_negative, 2), float64
        Cartesian coordinates, positives first; shuffle them if the order matters.
    y : ndarray of shape (n_positive + n_negative,), int64
        1 for positives, 0 for negatives.

    Raises
    ------
    TypeError, ValueError
        If a number of points is not an integer or is below 1.

    Notes
    -----
    The radius of a positive is uniform on [0, 1.5], that of a negative normal with mean 2 and standard
    deviation 0.4; all angles are uniform on [0, 2 pi]. A uniform *radius* crowds the positives around the
    origin, so they are not uniform on the disc. Radii and angles of the positives are drawn first, then those
    of the negatives.

    Examples
    --------
    >>> from paucens.datasets import load_toy
    >>> X, y = load_toy(3, 2, random_state=0)
    >>> X.round(2).tolist()
    [[-0.79, -0.23], [-0.95, 0.5], [-0.55, -0.72], [2.32, -0.54], [-1.44, 1.3]]
    >>> y.tolist()
    [1, 1, 1, 0, 0]
    """
    check_scalar(n_positive, "n_positive", numbers.Integral, min_val=1)
    check_scalar(n_negative, "n_negative", numbers.Integral, min_val=1)
    rng = check_random_state(random_state)
    positives = _to_plane(rng.uniform(*POSITIVE_RADIUS, n_positive), rng)
    negatives = _to_plane(rng.normal(*NEGATIVE_RADIUS, n_negative), rng)
    return np.concatenate([positives, negatives]), np.repeat([1, 0], [n_positive, n_negative])


def _to_plane(radius, rng):
    """Draw a uniform angle for each radius and return Cartesian coordinates, shape (n, 2)."""
    angle = rng.uniform(0.0, 2.0 * np.pi, radius.size)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


ABOUT = DataSet(
    name="toy",
    what="Two-dimensional synthetic points of Sec. 4.2: positives with uniform radius in [0, 1.5], negatives "
    "with normal radius (mean 2, standard deviation 0.4), angles uniform; any number of each.",
    source="Drawn from a seed; nothing to get.",
    terms="None.",
    check="By construction: a seed fixes every point, for all versions of NumPy.",
    loader=load_toy,
)
