"""One constraint of the structured problem, and the oracle that finds the most violated one."""

from dataclasses import dataclass

import numpy as np

from paucens._kernels.ordering import order_ranked, rank_falling
from paucens.cutting_plane.stores import add
from paucens.cutting_plane.weighted import order_weighted
from paucens.metrics import check_fpr_range, rank_range
from paucens.persistence import check_index
from paucens.validation import check_choice, total_weight

MOST_COPIES = 2**20  # of tied negatives, which are listed one by one
MANY, STRIDE = 4096, 64  # of so many values, every 64th suggests which are large


@dataclass(frozen=True, slots=True)
class Cut:
    """An ordering of positives against negatives, as the integers that define it; sums of weights if samples have some.

    Attributes
    ----------
    samples : ndarray of int32
        The samples of nonzero weight: first the positives that rank below a negative, then m + the
        negatives that rank above a positive, the tied ones last.
    counts : ndarray of int32, shorter than `samples` by the tied negatives
        For a positive, the length of its row, sum_j pi_ij; for a negative, minus the number of rows that
        reach it, -sum_i pi_ij. If samples have weights, each pair counts a_i b_j, and counts are float64.
    tied_count : float
        The count of each negative whose score ties with the boundary of the range. With whole weights such a negative
        is listed as often as its weight says: then sums are those of repeated samples, bit for bit. With others its
        count is among `counts`.
    n_samples : int
        m + n.
    normaliser : int, or float for weights
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
    normaliser: float
    loss: float

    @property
    def signed_weights(self):
        """The vector s, positives then negatives; the constraint is loss - s . scores <= xi."""
        weights = np.zeros(self.n_samples)
        add(self, 1.0, weights)
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


def lowest_relevant(positives, negatives, j_beta, formulation, weights=None):
    """Return the score below which no negative can take part in the most violated cut."""
    boundary = kth_largest(negatives, j_beta, weights)
    return boundary if formulation == "tight" else min(boundary, positives.min())


def find_cut(positives, negatives, rank_range, formulation="tight", weights=(None, None)):
    """Find the most violated cut of checked scores; return it and `lowest_relevant`.

    The weights are those of the positives and of the negatives, None if each counts 1.
    """
    j_alpha, j_beta = rank_range
    lowest = lowest_relevant(positives, negatives, j_beta, formulation, weights[1])
    candidates = np.flatnonzero(negatives >= lowest)
    if weights[0] is not None:
        return _find_weighted_cut(positives, negatives, candidates, rank_range, formulation, weights), lowest
    scores = negatives[candidates]
    ranking = falling_order(scores)
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


def _find_weighted_cut(positives, negatives, candidates, rank_range, formulation, weights):
    """Find the most violated cut of samples with weights, given the negatives that can take part."""
    m = len(positives)
    candidates = candidates[falling_order(negatives[candidates])]
    of_ranked = weights[1][candidates]
    of_positives, of_negatives, tied, lost = order_weighted(
        positives, negatives[candidates], rank_range, formulation == "tight", (weights[0], of_ranked)
    )
    tied_count, copies = 0.0, np.empty(0, dtype=np.int32)
    if of_negatives[tied].any():
        of_tied = of_ranked[tied]
        tied_count = of_negatives[tied].sum() / of_tied.sum()
        of_negatives[tied] = tied_count * of_tied
        if isinstance(total_weight(of_tied), int) and of_tied.sum() <= MOST_COPIES:
            of_negatives[tied] = 0.0
            copies = np.repeat(m + candidates[tied], of_tied.astype(np.int64)).astype(np.int32)
    samples, counts = np.concatenate([np.arange(m), m + candidates]), np.concatenate([of_positives, of_negatives])
    used = np.flatnonzero(counts)
    samples = np.concatenate([samples[used].astype(np.int32), copies])
    normaliser = float(weights[0].sum() * (rank_range[1] - rank_range[0]))
    return Cut(samples, counts[used], tied_count, m + len(negatives), normaliser, lost / normaliser)


def kth_largest(values, k, weights=None):
    """Return the k-th largest of the values, k from 1; with weights, the one in which rank k falls."""
    if weights is None:
        values = _largest(values, k)
        return np.partition(values, len(values) - k)[len(values) - k]
    order = falling_order(values)
    return values[order[np.searchsorted(np.cumsum(weights[order]), k)]]


def _largest(values, k):
    """Return the k largest values with some others: those above a limit that a part of the values suggests, or all."""
    if len(values) < MANY:
        return values
    part = values[::STRIDE]
    expected = k * len(part) / len(values)
    rank = int(expected + 3 * np.sqrt(expected) + 3)  # three standard deviations on the safe side
    if 4 * rank > len(part):
        return values
    largest = values[values >= np.partition(part, len(part) - rank)[len(part) - rank]]
    return largest if len(largest) >= k else values


def falling_order(values):
    """Return the order of falling values, in which ties keep the order of the samples.

    NumPy's fastest sort orders ties as the processor's instructions want it, and sums would be rounded accordingly; its
    stable one takes five times as long as this.
    """
    keys, order = np.empty((2, len(values)), dtype=np.uint64), np.empty((2, len(values)), dtype=np.int32)
    return order[rank_falling(values, keys, order)]


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
        "normaliser": np.array([cut.normaliser for cut in cuts]),
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
