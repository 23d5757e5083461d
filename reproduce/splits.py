"""Random splits: streams of random numbers, halves, and parts and folds that keep groups of positives together."""

import numpy as np

LARGE = 0.05  # of the positives: a larger group never goes into training


def streams(seed, repeat, n_streams):
    """Make independent `RandomState`s for a repeat; their streams are the same in all versions of NumPy.

    Examples
    --------
    >>> first, second = streams(0, 3, 2)
    >>> first.randint(100, size=3).tolist(), second.randint(100, size=3).tolist()
    ([77, 98, 29], [8, 47, 18])
    """
    children = np.random.SeedSequence(seed, spawn_key=(repeat,)).spawn(n_streams)
    return [np.random.RandomState(child.generate_state(4)) for child in children]


def halves(strata, random):
    """Halve the samples at random within each stratum.

    Returns
    -------
    train, test : ndarray of int
        Sorted indices.
    drawn : list of ndarray of int
        The training samples of each stratum in the order of the draw.
    """
    drawn = [random.permutation(np.flatnonzero(strata == stratum)) for stratum in np.unique(strata)]
    drawn = [members[: len(members) // 2] for members in drawn]
    train = np.sort(np.concatenate(drawn))
    return train, np.setdiff1d(np.arange(len(strata)), train), drawn


def group_split(y, groups, train_share, random):
    """Draw a training and a test part that share no group.

    Groups are drawn in random order, each if it still fits, until the training part has its share of the positives; a
    group with more than 5 % of all positives is always in the test part. Negatives are split one by one.

    Parameters
    ----------
    y : array of shape (n,)
        1 for positives, 0 for negatives.
    groups : array of shape (n,), or None
        Group of each positive, 0 for negatives; None if every positive is a group of its own.
    train_share : float
    random : RandomState

    Returns
    -------
    train, test : ndarray of int
        Sorted indices; together all of them.

    Raises
    ------
    ValueError
        If positives are without a group or negatives in one, or small groups hold fewer positives than asked for.
    """
    groups, names, sizes = _grouped(y, groups)
    wanted, allowed = round(train_share * sizes.sum()), np.flatnonzero(sizes <= LARGE * sizes.sum())
    if sizes[allowed].sum() < wanted:
        raise ValueError(
            f"The groups of at most {LARGE:.0%} of the positives hold {sizes[allowed].sum()} of {sizes.sum()}; "
            f"train_share {train_share:g} asks for {wanted}."
        )
    drawn, total = [], 0
    for group in random.permutation(allowed):
        if total + sizes[group] <= wanted:
            drawn.append(group)
            total += sizes[group]
    in_train, negatives = np.isin(groups, names[drawn]), np.flatnonzero(groups == 0)
    in_train[random.choice(negatives, round(train_share * len(negatives)), replace=False)] = True
    return np.flatnonzero(in_train), np.flatnonzero(~in_train)


def group_folds(y, groups, n_folds, random):
    """Give every sample a fold so that no group is in two, with the positives as even as that allows.

    The largest group that is left goes to the fold with the fewest positives; groups of one size are in random order.
    Parameters and errors as for `group_split`.

    Examples
    --------
    >>> y, groups = np.array([1, 1, 1, 0, 0, 0]), np.array([4, 4, 9, 0, 0, 0])
    >>> group_folds(y, groups, 2, np.random.RandomState(0)).tolist()
    [0, 0, 1, 0, 0, 1]
    """
    groups, names, sizes = _grouped(y, groups)
    if len(names) < n_folds:
        raise ValueError(f"{n_folds} folds need as many groups; got {len(names)}.")
    fold_of, load = np.zeros(len(names), dtype=int), np.zeros(n_folds, dtype=int)
    shuffled = random.permutation(len(names))
    for group in shuffled[np.argsort(-sizes[shuffled], kind="stable")]:
        fold_of[group] = np.argmin(load)
        load[fold_of[group]] += sizes[group]
    folds, positive = np.empty(len(y), dtype=int), groups != 0
    folds[positive] = fold_of[np.searchsorted(names, groups[positive])]
    folds[~positive] = random.permutation(np.count_nonzero(~positive)) % n_folds
    return folds


def _grouped(y, groups):
    """Return the group of each sample, the numbers of the groups, ascending, and how many positives each holds."""
    if groups is None:
        groups = np.where(y == 1, np.cumsum(y == 1), 0)
    if not np.array_equal(groups != 0, y == 1):
        raise ValueError("groups must be 0 on negatives and another number on every positive.")
    return groups, *np.unique(groups[y == 1], return_counts=True)
