"""Splits that keep groups of positives together, for sets whose positives come in families.

Groups are numbers other than 0 on positives and 0 on negatives, which are split one by one at random; where there
are none, every positive stands for itself.
"""

import numpy as np
from sklearn.utils import check_random_state

LARGE = 0.05  # of the positives: a larger group never goes into training


def group_split(y, groups, train_share, random_state=None):
    """Draw a training and a test part that share no group.

    Groups are taken in random order, each if it still fits, until the training part has its share of the positives;
    a group with more than 5 % of all positives is always in the test part.

    Parameters
    ----------
    y : array of shape (n,)
        1 for positives, 0 for negatives.
    groups : array of shape (n,), or None
        Group of each positive; 0 for negatives. None where every positive stands for itself.
    train_share : float
        Of the positives and of the negatives. The positives may be fewer, by less than the smallest group left out
        that is not large.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    train, test : ndarray of int
        Sorted indices; together all of them.

    Raises
    ------
    ValueError
        Where positives are without a group or negatives in one, or the groups that may be trained on hold fewer
        positives than asked for.

    Examples
    --------
    >>> y, groups = np.repeat([1, 0], 100), np.repeat([*range(1, 51), 0], [*[2] * 50, 100])
    >>> train, test = group_split(y, groups, 0.1, random_state=0)
    >>> len(train), int(y[train].sum()), set(groups[train].tolist()) & set(groups[test].tolist())
    (20, 10, {0})
    """
    rng = check_random_state(random_state)
    groups, names, sizes = _grouped(y, groups)
    in_train = np.isin(groups, names[_drawn(sizes, train_share, rng)])
    negatives = np.flatnonzero(groups == 0)
    in_train[rng.choice(negatives, round(train_share * len(negatives)), replace=False)] = True
    return np.flatnonzero(in_train), np.flatnonzero(~in_train)


def group_folds(y, groups, n_folds, random_state=None):
    """Give every sample a fold so that no group is in two, with the positives as even as that allows.

    The largest group that is left goes to the fold with the fewest positives; groups of one size are in random order.

    Parameters
    ----------
    y, groups : array of shape (n,)
        As for `group_split`; None included.
    n_folds : int
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    folds : ndarray of shape (n,), int
        From 0 to n_folds - 1.

    Raises
    ------
    ValueError
        Where positives are without a group or negatives in one, or there are fewer groups than folds.

    Examples
    --------
    >>> y, groups = np.array([1, 1, 1, 0, 0, 0]), np.array([4, 4, 9, 0, 0, 0])
    >>> group_folds(y, groups, 2, random_state=0).tolist()
    [0, 0, 1, 0, 0, 1]
    """
    rng = check_random_state(random_state)
    groups, names, sizes = _grouped(y, groups)
    if len(names) < n_folds:
        raise ValueError(f"{n_folds} folds need as many groups; got {len(names)}.")
    fold_of, load = np.zeros(len(names), dtype=int), np.zeros(n_folds, dtype=int)
    shuffled = rng.permutation(len(names))
    for group in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        fold_of[group] = np.argmin(load)
        load[fold_of[group]] += sizes[group]
    folds = np.empty(len(y), dtype=int)
    positive = groups != 0
    folds[positive] = fold_of[np.searchsorted(names, groups[positive])]
    folds[~positive] = rng.permutation(np.count_nonzero(~positive)) % n_folds
    return folds


def _grouped(y, groups):
    """Return the group of each sample, the numbers of the groups, ascending, and how many positives each holds."""
    if groups is None:
        groups = np.where(y == 1, np.cumsum(y == 1), 0)
    if not np.array_equal(groups != 0, y == 1):
        raise ValueError("groups must be 0 on negatives and another number on every positive.")
    return groups, *np.unique(groups[y == 1], return_counts=True)


def _drawn(sizes, train_share, rng):
    """Draw groups that together hold the share of the positives, or a little less."""
    wanted = round(train_share * sizes.sum())
    allowed = np.flatnonzero(sizes <= LARGE * sizes.sum())
    if sizes[allowed].sum() < wanted:
        raise ValueError(
            f"The groups of at most {LARGE:.0%} of the positives hold {sizes[allowed].sum()} of {sizes.sum()}; "
            f"train_share {train_share:g} asks for {wanted}."
        )
    drawn, total = [], 0
    for group in rng.permutation(allowed):
        if total + sizes[group] <= wanted:
            drawn.append(group)
            total += sizes[group]
    return drawn
