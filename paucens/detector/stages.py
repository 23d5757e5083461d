"""Stages of a training: which families of channels the trees see, from which tree on."""

import itertools

import numpy as np

from paucens.validation import check_integer


def checked_stages(stages, spec, n_trees):
    """Check the stages of a training.

    Parameters
    ----------
    stages : dict of int to str
        The first tree of each stage, and the families that the trees from there on may see, joined by "+".
    spec : ChannelSpec
    n_trees : int
        Number of trees of the last round.

    Returns
    -------
    stages : dict of int to str
        The same stages, families in the order of the spec.

    Raises
    ------
    ValueError, TypeError
        If the stages do not begin with tree 0, do not ascend or begin behind the last tree, or a family does not belong
        to the spec.

    Examples
    --------
    >>> from paucens.features import ChannelSpec
    >>> spec = ChannelSpec.parse("M+O+LUV+spCov")
    >>> checked_stages({0: "M+O+LUV", 512: "spCov + M"}, spec, 2048)
    {0: 'LUV+M+O', 512: 'M+spCov'}
    """
    if not isinstance(stages, dict):
        raise TypeError(f"stages must be a dict of first trees to channels, such as {_example(spec)}; got {stages!r}.")
    firsts = [check_integer("the first tree of a stage", first, 0, n_trees - 1) for first in stages]
    if firsts[:1] != [0] or any(one >= other for one, other in itertools.pairwise(firsts)):
        raise ValueError(
            f"stages must begin with tree 0 and ascend; got the first trees {firsts}. Give {_example(spec)}, say."
        )
    return {first: _ordered_families(first, text, spec) for first, text in stages.items()}


def _ordered_families(first, text, spec):
    if not isinstance(text, str):
        raise TypeError(f"stages[{first}] must name channels, such as {spec.text!r}; got {text!r}.")
    wanted = [name.strip() for name in text.split("+")]
    for name in wanted:
        if name not in spec.families:
            raise ValueError(
                f"stages[{first}] may hold {', '.join(spec.families)}, the families of the spec, joined by '+'; got "
                f"{name!r} in {text!r}. Name others, or train with a spec that has it."
            )
        if wanted.count(name) > 1:
            raise ValueError(f"stages[{first}] may hold each family once; got {name!r} more than once in {text!r}.")
    return "+".join(name for name in spec.families if name in wanted)


def _example(spec):
    return {0: spec.text}


def channels_of(text, spec):
    """List the channels of some families of a spec, ascending.

    Parameters
    ----------
    text : str
        Families joined by "+", as `checked_stages` returns them.
    spec : ChannelSpec

    Returns
    -------
    channels : ndarray of int32
    """
    indices = np.arange(spec.n_channels, dtype=np.int32)
    return np.concatenate([indices[spec.groups[name]] for name in text.split("+")])


def stage_columns(stages, spec, places):
    """Find the features that the trees of each stage may use, for `paucens.base.fit_binned`.

    Parameters
    ----------
    stages : dict of int to str
        From `checked_stages`.
    spec : ChannelSpec
    places : ndarray of shape (n_features, 3)
        Row, column and channel of each feature.

    Returns
    -------
    stages : list of (int, ndarray of int32)
        The first tree of each stage, and the indices of its features, ascending.
    """
    return [
        (first, np.flatnonzero(np.isin(places[:, 2], channels_of(text, spec))).astype(np.int32))
        for first, text in stages.items()
    ]
