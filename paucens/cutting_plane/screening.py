"""Scores of the samples that can matter, certified by a bound on the change of the weights."""

from dataclasses import replace

import numpy as np

from paucens.cutting_plane.cut import kth_largest, lowest_relevant
from paucens.persistence import check_index

SPARE = 1.5  # negatives kept for each one that the oracle needs
LEAST = 500  # negatives kept in addition
NONE = np.zeros(0, dtype=np.int32)
ROUNDING = 1e-12  # rounding error of a score relative to the sum of the weights


class ScreenedScores:
    """Scores of all positives and of the best negatives.

    If learner t predicts values from low_t to high_t, no score rises by more than the sum over t of the larger of
    (w - w_ref)_t low_t and (w - w_ref)_t high_t from one weight vector to another. So of the negatives that were left
    out at w_ref, only those near the limit have to be scored again. If a store has no such bound, none is left out.

    Parameters
    ----------
    store : store of predictions, see `stores`
    n_positives : int
    formulation : {"tight", "struct"}
    weights : ndarray of shape (n_samples,), default=None
        How much each sample counts; 1 by default.
    """

    def __init__(self, store, n_positives, formulation, weights=None):
        self._weights = weights
        self._all, self._part = store, store
        self._n_positives, self._formulation = n_positives, formulation
        self._samples = None  # the samples that are scored; None means all
        self._reference = np.zeros(0)
        self._leave_out(NONE, np.zeros(0))
        self._lows = self._highs = np.zeros(0)  # smallest and largest prediction of each learner
        self._may_shrink = False
        self._last = np.zeros(0), None  # weights, never written to, and the scores at these weights

    @property
    def weights(self):
        """Weights of the positives and of the kept negatives, a pair of arrays, or of None if each counts 1."""
        if self._weights is None:
            return None, None
        kept = self._weights if self._samples is None else self._weights[self._samples]
        return kept[: self._n_positives], kept[self._n_positives :]

    def append(self, predictions):
        """Add the predictions of one learner."""
        self._append_to_all(predictions)
        if self._part is not self._all:
            self._part.append_from(self._all, self._samples)
        self._may_shrink = self._all.bounded

    def _append_to_all(self, predictions):
        self._all.append(predictions)
        self._lows = np.append(self._lows, predictions.values.min())
        self._highs = np.append(self._highs, predictions.values.max())

    def scores(self, weights, j_beta):
        """Return the scores of the positives and of the negatives that are kept, two arrays of float64."""
        if self._may_shrink and self._samples is None:
            self.renew(weights, j_beta)
        return self._kept_scores(weights)

    def _kept_scores(self, weights):
        """Return the scores of the kept samples; the best point is scored again for its threshold and the next range.

        The last scores are returned again if only learners without weight were added, and the bits are the same.
        """
        known, n = self._last[0], len(self._last[0])
        same = np.array_equal(known, weights[:n]) and not weights[n:].any() and self._part.adds_alike(n, len(weights))
        if self._last[1] is None or not same:
            self._last = weights, self._scores(self._part, weights)
        return self._last[1]

    def certifies(self, lowest, weights):
        """Return whether every negative that was left out scores less than `lowest`."""
        rise = self._largest_rise(weights)
        if self._outside + rise < lowest:
            return True
        suspects = self._left_out[self._left_scores + rise >= lowest]
        self._n_suspects += len(suspects)
        if max(2 * len(suspects), self._n_suspects) > len(self._left_out):  # a new choice costs as much
            return False
        return self._all.scores_of(suspects, weights).max() < lowest

    def _largest_rise(self, weights):
        """Bound how much any score rises from the reference to other weights."""
        change = weights.copy()
        change[: len(self._reference)] -= self._reference
        if len(weights) == len(self._reference) and not change.any():  # the scores are the same, bit for bit
            return 0.0
        rise = np.maximum(change * self._lows, change * self._highs).sum()
        return rise + ROUNDING * (np.abs(weights).sum() + np.abs(self._reference).sum())

    def renew(self, weights, j_beta):
        """Choose the negatives to keep by their exact scores at `weights`."""
        positives, negatives = self._kept_scores(weights) if self._samples is None else self._scores(self._all, weights)
        self._may_shrink = False
        of_negatives = None if self._weights is None else self._weights[self._n_positives :]
        lowest = lowest_relevant(positives, negatives, j_beta, self._formulation, of_negatives)
        n_kept = int(SPARE * np.count_nonzero(negatives >= lowest)) + LEAST
        self._reference = weights.copy()
        if 2 * n_kept > len(negatives):
            self._samples, self._part = None, self._all
            self._leave_out(NONE, np.zeros(0))
            self._last = weights, (positives, negatives)
            return
        inside = negatives >= kth_largest(negatives, n_kept)
        m, outside = self._n_positives, np.flatnonzero(~inside)
        self._leave_out((m + outside).astype(np.int32), negatives[outside])
        self._samples = np.concatenate([np.arange(m), m + np.flatnonzero(inside)]).astype(np.int32)
        self._part = self._all.take(self._samples)
        self._last = weights, (positives, negatives[inside])

    def _leave_out(self, samples, scores):
        """Keep the samples that are not scored, and their scores at the reference."""
        self._n_suspects = 0  # that were scored since, from call to call
        self._left_out, self._left_scores, self._outside = samples, scores, scores.max(initial=-np.inf)

    def project(self, cut):
        """Return s . h_t for each learner t, given a cut of the kept samples."""
        return self._part.project(cut)

    def project_all(self, cut):
        """Return s . h_t for each learner t, given a cut of all samples."""
        return self._all.project(cut)

    def unscreened(self, cut):
        """Return the cut in terms of all samples."""
        if self._samples is None:
            return cut
        return replace(cut, samples=self._samples[cut.samples], n_samples=self._all.n_samples)

    def state(self):
        """Return the state except for the predictions, a dict of arrays."""
        samples = np.empty(0, dtype=np.int32) if self._samples is None else self._samples
        flags = np.array([self._samples is not None, self._may_shrink])
        return {"reference": self._reference, "samples": samples, "flags": flags}

    def restore(self, state, predictions):
        """Restore a `state`, given the predictions of its learners; raise ValueError if it names other samples."""
        check_index("samples", state["samples"], self._all.n_samples)
        for of_learner in predictions:
            self._append_to_all(of_learner)
        screened, self._may_shrink = state["flags"].tolist()
        self._reference = state["reference"]
        if screened:
            self._samples = state["samples"]
            self._part = self._all.take(self._samples)
            left_out = np.setdiff1d(np.arange(self._all.n_samples, dtype=np.int32), self._samples)
            unused = np.zeros(len(predictions) - len(self._reference))  # learners that came after the reference
            scores = self._all.scores_of(left_out, np.concatenate([self._reference, unused]))
            self._leave_out(left_out, scores)

    def _scores(self, store, weights):
        scores = store.scores(weights)
        return scores[: self._n_positives], scores[self._n_positives :]
