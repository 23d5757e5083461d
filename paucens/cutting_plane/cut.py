"""One constraint of the structured problem, and the oracle that finds the most violated one."""

from dataclasses import dataclass

import numpy as np

from paucens._kernels.ordering import order_ranked
from paucens._kernels.outputs import add_samples
from paucens.metrics import band_indices, check_fpr_range
from paucens.validation import check_choice


@dataclass(frozen=True, slots=True)
class Cut:
    """An ordering of positives against negatives, as the integers that define it.

    Attributes
    ----------
    samples : ndarray of int32
        The samples that take part, positives listed before negatives: first the positives that stand below
        any negative, then m + the negatives that stand above any positive, the tied ones last.
    counts : ndarray of int32, shorter than `samples` by the tied negatives
        Length of the row of a positive, sum_j pi_ij; minus the number of rows that reach a negative,
        -sum_i pi_ij.
    tied_count : float
        The same for each negative whose score ties with the boundary of the range.
    n_samples : int
        m + n.
    normaliser : int
        c = m (j_beta - j_alpha).
    loss : float
        Share of the positions j_alpha + 1..j_beta that stand above a positive, in [0, 1].

    Notes
    -----
    Negatives tied at the boundary share what the ordering gives to some of them: an average of equally
    violated cuts is a cut as violated, and it does not depend on the order of rows. On USPS it takes as many
    cuts and as much time as parting the tie would.
    """

    samples: np.ndarray
    counts: np.ndarray
    tied_count: float
    n_samples: int
    normaliser: int
    loss: float

    @property
    def signed_weights(self):
        """The vector s, positives then negatives: loss - s . scores <= xi is the constraint."""
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
    formulation : {"tight", "struct"}
        Whether orderings are of the best subset of j_beta negatives or of all negatives.

    Returns
    -------
    Cut
        Unpacks as signed_weights, loss.

    Raises
    ------
    ValueError
        Where the range holds no position for this many negatives, and for bad scores or parameters.

    Notes
    -----
    The paper's per-pair rule for pi holds for alpha = 0 only. In general each row is the best prefix of
    the ranked negatives; two lengths are candidates (see ERRATA.md, E1). Positions are j_alpha =
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
    j_alpha, j_beta = band_indices(len(negatives), alpha, beta)
    if j_beta <= j_alpha:
        raise ValueError(
            f"The range ({alpha:g}, {beta:g}) holds no position among {len(negatives)} negatives: j_beta = {j_beta} "
            f"does not exceed j_alpha = {j_alpha}. Widen the range or bring more negatives."
        )
    return find_cut(positives, negatives, j_alpha, j_beta, formulation)[0]


def lowest_relevant(positives, negatives, j_beta, formulation):
    """The score below which no negative can take part in the most violated cut."""
    boundary = kth_largest(negatives, j_beta)
    return boundary if formulation == "tight" else min(boundary, positives.min())


def find_cut(positives, negatives, j_alpha, j_beta, formulation="tight"):
    """As `most_violated_cut`, for scores and positions that have been checked; also `lowest_relevant`."""
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
    """The k-th largest of the values, k from 1."""
    return np.partition(values, len(values) - k)[len(values) - k]


def _checked(name, scores):
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    if scores.ndim != 1 or len(scores) == 0 or not np.isfinite(scores).all():
        raise ValueError(f"{name} must be a non-empty list of finite numbers; got shape {scores.shape}.")
    return scores
