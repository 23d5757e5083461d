"""The constraint oracle for samples of unequal weight.

A weight stretches the ranks of a sample: a negative of weight 2.5 takes 2.5 ranks. An end of the range may fall inside
a negative, which is then two pieces, of which one is in the range. With whole weights this is the ordering of repeated
samples; `_kernels.ordering` is the same for weights of 1.
"""

import numpy as np


def order_weighted(positives, ranked, rank_range, tight, weights):
    """Find the most violated ordering of weighted positives against ranked negatives.

    Parameters
    ----------
    positives : ndarray of shape (m,)
        Scores s_i.
    ranked : ndarray of shape (k,)
        Scores of negatives, best first, including all that tie with the one in which rank j_beta falls.
    rank_range : tuple of two numbers
        j_alpha and j_beta.
    tight : bool
        Whether negatives beyond j_beta are left out.
    weights : pair of ndarray, of shapes (m,) and (k,)

    Returns
    -------
    of_positives : ndarray of shape (m,)
        Weight times the length of the row.
    of_negatives : ndarray of shape (k,)
        Minus the weight times the weight of the rows that reach the negative.
    tied : slice
        The negatives that tie across rank j_beta, empty if there are none; they may share what they have.
    lost : float
        Weight of the pairs that are lost in the range.
    """
    j_alpha, j_beta = rank_range
    of_class, counts = weights
    ends = np.cumsum(counts)
    stops, owners = _pieces(ends, rank_range)
    first, last = np.searchsorted(stops, rank_range, side="right")  # the pieces in the range
    if tight:
        stops, owners = stops[:last], owners[:last]
    scores, below = ranked[owners], np.concatenate([[0.0], stops])
    widths = np.diff(below)
    n_pieces = _row_ends(positives, scores, below, widths, j_alpha, first, last)
    reached = np.cumsum(np.bincount(n_pieces, of_class, len(stops) + 1)[:0:-1])[::-1]
    lost = float((reached * widths)[first:last].sum())
    of_negatives = np.bincount(owners, reached * widths, len(ranked))
    tied = _tied_across(j_beta, ranked, counts, ends)
    return of_class * below[n_pieces], -of_negatives, tied, lost


def _pieces(ends, rank_range):
    """Return where the pieces end, those of the range among them, and the negative of each."""
    stops = np.union1d(ends, rank_range)
    stops = stops[(stops > 0) & (stops <= ends[-1])]
    return stops, np.searchsorted(ends, stops)


def _row_ends(positives, scores, below, widths, j_alpha, first, last):
    """Return the number of pieces in the row of each positive, as `row_lengths` of `_kernels.ordering` does."""
    falling = -scores
    n_pieces = first + np.searchsorted(falling[first:last], -(positives - 1))
    if first > 0:
        early = np.searchsorted(falling[:first], -positives)
        prefix = np.concatenate([[0.0], np.cumsum(scores * widths)])
        value = below[n_pieces] - j_alpha + prefix[n_pieces] - below[n_pieces] * positives
        n_pieces = np.where(prefix[early] - below[early] * positives > value, early, n_pieces)
    if last < len(scores):
        n_pieces = np.maximum(n_pieces, np.searchsorted(falling, -positives))
    return n_pieces


def _tied_across(rank, ranked, counts, ends):
    """Return which negatives have the score of the one in which a rank falls, if the rank is not between two scores."""
    at = np.searchsorted(ends, rank)
    start, stop = np.searchsorted(-ranked, -ranked[at]), np.searchsorted(-ranked, -ranked[at], side="right")
    inside = ends[start] - counts[start] < rank < ends[stop - 1]
    return slice(start, stop) if inside else slice(0, 0)
