"""One constraint of the structured problem, and the oracle that finds the most violated one."""

from dataclasses import dataclass

import numpy as np

from paucens._kernels.ordering import order_ranked
from paucens._kernels.stores import add_samples
from paucens.metrics import check_fpr_range, rank_range
from paucens.persistence import check_index
from paucens.validation import check_choice


@dataclass(frozen=True, slots=True)
class Cut:
    """An ordering of positives against negatives, as the integers that define it.

    Attributes
    ----------
    samples : ndarray of int32
        The samples of nonzero weight: first the positives that rank below a negative, then m + the
        negatives that rank above a positive, the tied ones last.
    counts : ndarray of int32, shorter than `samples` by the tied negatives
        For a positive, the length of its row, sum_j pi_ij; for a negative, minus the number of rows that
        reach it, -sum_i pi_ij.
    tied_count : float
        The count of each negative whose score ties with the boundary of the range.
    n_samples : int
        m + n.
    normaliser : int
        c = m (j_beta - j_alpha).
    loss : float
        Share of the pairs of a positive and a rank in j_alpha + 1..j_beta that are lost, in [0, 1].

    Notes
    -----
    Negatives tied at the boundary share the counts that the ordering gives to some of them: an average of
    equally violated cuts is equally violated, and it does not depend on the order of rows. On USPS it takes
    as many cuts and as much time as breaking the tie would.
    """

    samples: np.ndarray
    counts: np.ndarray
    tied_count: float
    n_samples: int
    normaliser: int
    loss: float

    @property
    def signed_weights(self):
        """The vector s, positives then negatives; the constraint is loss - s . scores <= xi."""
        weights = np.zeros(self.n_samples)
        add_samples(self.samples, self.counts, self.tied_count, 1.0, weights)
        return weights / self.normaliser

    def __iter__(self):
        return iter((self.signed_weights, self.loss))


def most_violated_cut(scores_pos, scores_neg, fpr_range, formulation="tight"):
    """Find the ordering of largest loss - s . scores.

    Parameters
    ----------
    scores_pos : array-like of shape (m,)
    scores_neg : array-like of shape (n,)
    fpr_range : tuple of two floats
        0 <= alpha < beta <= 1.
    formulation : {"tight", "struct"}, default="tight"
        Whether orderings are of the best subset of j_beta negatives or of all negatives.

    Returns
    -------
    Cut
        It unpacks as signed_weights, loss.

    Raises
    ------
    ValueError
        If the range holds no position for this many negatives, or a score or parameter is not allowed.

    Notes
    -----
    The paper's per-pair rule for pi holds for alpha = 0 only. In general each row is the best prefix of
    the ranked negatives, and two lengths are candidates (see ERRATA.md, E1). The ranks are j_alpha =
    ceil(n alpha) and j_beta = floor(n beta), and c = m (j_beta - j_alpha).

    Examples
    --------
    >>> cut = most_violated_cut([2.0, 0.0], [1.5, -3.0, -3.0, -3.0], (0, 0.5))
    >>> cut.loss
    0.5
    >>> cut.signed_weights
    array([ 0.25,  0.25, -0.5 ,  0.  ,  0.  ,  0.  ])
    """
    positives, negatives = _checked("scores_pos", scores_pos), _checked("scores_neg", scores_neg)
    check_choice("formulation", formulation, ("tight", "struct"))
    alpha, beta = check_fpr_range(fpr_range)
    j_alpha, j_beta = rank_range(len(negatives), (alpha, beta))
    if j_beta <= j_alpha:
        raise ValueError(
            f"The range ({alpha:g}, {beta:g}) holds no position among {len(negatives)} negatives: j_beta = {j_beta} "
            f"does not exceed j_alpha = {j_alpha}. Widen the range or add negatives."
        )
    return find_cut(positives, negatives, (j_alpha, j_beta), formulation)[0]


def lowest_relevant(positives, negatives, j_beta, formulation):
    """Return the score below which no negative can take part in the most violated cut."""
    boundary = kth_largest(negatives, j_beta)
    return boundary if formulation == "tight" else min(boundary, positives.min())


def find_cut(positives, negatives, rank_range, formulation="tight"):
    """Find the most violated cut of checked scores; return it and `lowest_relevant`."""
    j_alpha, j_beta = rank_range
    lowest = lowest_relevant(positives, negatives, j_beta, formulation)
    candidates = np.flatnonzero(negatives >= lowest)
    scores = negatives[candidates]
    exact = j_alpha == 0 and formulation == "tight"  # then tied negatives have equal counts in any order
    ranking = np.argsort(-scores, kind=None if exact else "stable")
    ranked, candidates = scores[ranking], candidates[ranking].astype(np.int32)
    prefix = np.concatenate([[0.0], np.cumsum(ranked)]) if j_alpha > 0 else ranked
    m, n_ranks = len(positives), j_beta if formulation == "tight" else len(ranked)
    samples, counts = np.empty((2, m + len(ranked)), dtype=np.int32)
    n_samples, n_counts, tied_count, lost = order_ranked(
        positives,
        ranked,
        candidates,
        prefix,
        j_alpha,
        j_beta,
        np.empty(m, dtype=np.int32),
        np.empty(n_ranks, dtype=np.int32),
        samples,
        counts,
    )
    normaliser = m * (j_beta - j_alpha)
    cut = Cut(
        samples[:n_samples].copy(),
        counts[:n_counts].copy(),
        tied_count,
        m + len(negatives),
        normaliser,
        lost / normaliser,
    )
    return cut, lowest


def kth_largest(values, k):
    """Return the k-th largest of the values, k from 1."""
    return np.partition(values, len(values) - k)[len(values) - k]


def _checked(name, scores):
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    if scores.ndim != 1 or len(scores) == 0 or not np.isfinite(scores).all():
        raise ValueError(f"{name} must be a non-empty list of finite numbers; got shape {scores.shape}.")
    return scores


# -- files -----------------------------------------------------------------------------------------


def cuts_to_arrays(cuts):
    """Return the integers of all cuts end to end and the sizes of each, a dict of arrays."""
    return {
        "samples": _joined([cut.samples for cut in cuts]),
        "counts": _joined([cut.counts for cut in cuts]),
        "sizes": np.array([(len(cut.samples), len(cut.counts)) for cut in cuts], dtype=np.int64).reshape(-1, 2),
        "tied_count": np.array([cut.tied_count for cut in cuts], dtype=np.float64),
        "normaliser": np.array([cut.normaliser for cut in cuts], dtype=np.int64),
        "loss": np.array([cut.loss for cut in cuts], dtype=np.float64),
    }


def cuts_from_arrays(arrays, n_samples):
    """Return the cuts of `cuts_to_arrays`, of n_samples samples each; raise ValueError if one names another sample."""
    check_index("samples", arrays["samples"], n_samples)
    samples, counts = (
        np.split(arrays[name], np.cumsum(arrays["sizes"][:-1, k])) for k, name in enumerate(("samples", "counts"))
    )
    columns = zip(
        samples, counts, *(arrays[name].tolist() for name in ("tied_count", "normaliser", "loss")), strict=False
    )  # np.split of an empty array is one empty piece
    return [Cut(part, count, tied, n_samples, normaliser, loss) for part, count, tied, normaliser, loss in columns]


def _joined(parts):
    return np.concatenate([np.empty(0, dtype=np.int32), *parts])
