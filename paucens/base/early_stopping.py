"""Early stopping: samples that are held out, and the partial AUC of the rounds so far on them."""

import numpy as np
from sklearn.utils import check_random_state

from paucens.base.weighted import weighted_sum
from paucens.metrics import check_fpr_range, partial_auc, rank_range
from paucens.persistence import array_of
from paucens.validation import check_choice, check_integer, check_within, total_weight

LEAST_FRACTION = 1e-6  # that may be held out, or left to train on
MOST_COPIES = 2**24  # of samples that are drawn one by one


class EarlyStopping:
    """What stopping early adds to an ensemble, a mixin before `WeightedEnsemble`.

    The class has the parameters `fpr_range`, `early_stopping`, `validation_fraction` and `n_iter_no_change`; its fit
    sets `validation_score_`.
    """

    validation_score_: np.ndarray

    _history = ("validation_score_",)

    def _check_early_stopping(self):
        check_choice("early_stopping", self.early_stopping, (True, False))
        check_within("validation_fraction", self.validation_fraction, LEAST_FRACTION, 1 - LEAST_FRACTION, "0.1 to 0.3")
        check_integer("n_iter_no_change", self.n_iter_no_change, 1)

    def _fit_to_file(self):
        header, arrays = super()._fit_to_file()
        return header, arrays | ({"validation_score_": self.validation_score_} if len(self.validation_score_) else {})

    def _fit_from_file(self, header, arrays):
        super()._fit_from_file(header, arrays)
        self.validation_score_ = np.zeros(0)
        if "validation_score_" in arrays:
            self.validation_score_ = array_of(arrays, "validation_score_", np.float64, (None,))
            if len(self.validation_score_) < self.n_iter_:
                raise ValueError(f"validation_score_ holds fewer than n_iter_ = {self.n_iter_} values. It is damaged.")


def stops_early(ensemble):
    """Tell whether an ensemble holds out samples to stop by."""
    return getattr(ensemble, "early_stopping", False)


def held_out(ensemble, is_positive, seed):
    """Draw the samples to hold out, the same share of each class, at least one.

    Parameters
    ----------
    ensemble : WeightedEnsemble with validation_fraction and fpr_range
    is_positive : ndarray of shape (n_samples,), bool
    seed : int

    Returns
    -------
    held : ndarray of shape (n_samples,), bool

    Raises
    ------
    ValueError
        If no sample of a class is left to train on, or the range holds no position among the negatives that are held
        out.
    """
    fraction, fpr_range = ensemble.validation_fraction, check_fpr_range(ensemble.fpr_range)
    rng, held = check_random_state(seed), np.zeros(len(is_positive), dtype=bool)
    for kind, rows in (("positives", np.flatnonzero(is_positive)), ("negatives", np.flatnonzero(~is_positive))):
        n_held = max(1, round(fraction * len(rows)))
        if n_held == len(rows):
            raise ValueError(
                f"early_stopping takes at least 2 {kind}, one to hold out and one to train on; "
                f"validation_fraction={fraction:g} holds out {n_held} of {len(rows)}. Lower it, or add {kind}."
            )
        held[rng.permutation(rows)[:n_held]] = True
    j_alpha, j_beta = rank_range(n_held, fpr_range)  # of the negatives, which come last
    if j_beta <= j_alpha:
        alpha, beta = fpr_range
        needed = 1 / beta if alpha == 0 else 2 / (beta - alpha)
        raise ValueError(
            f"The range ({alpha:g}, {beta:g}) holds no position among the {n_held} negatives that are held out of "
            f"{len(rows)}; it takes about {np.ceil(needed):.15g}. Raise validation_fraction={fraction:g}, add "
            "negatives, or set early_stopping=False."
        )
    return held


def held_out_and_rest(ensemble, is_positive, weights, seed):
    """Draw the samples to hold out; return the rows and the weights of these, and those of the rest, as two pairs.

    Of a sample of whole weight, which stands for so many equal samples, a part can be held out. Others are held out
    whole, whatever their weight. The weights are None if there are none.
    """
    if weights is None:
        held = held_out(ensemble, is_positive, seed)
        return (np.flatnonzero(held), None), (np.flatnonzero(~held), None)
    are_copies = isinstance(total_weight(weights), int) and weights.sum() <= MOST_COPIES
    rows = np.repeat(np.arange(len(weights)), weights.astype(np.int64) if are_copies else 1)
    held, parts = held_out(ensemble, is_positive[rows], seed), []
    for part in (held, ~held):
        counts = np.bincount(rows[part], minlength=len(weights)).astype(np.float64)
        chosen = np.flatnonzero(counts)
        parts.append((chosen, counts[chosen] if are_copies else weights[chosen]))
    return tuple(parts)


class NoValidation:
    """What stands for `Validation` if no samples are held out: it never ends a fit, and all rounds are kept."""

    scores, n_kept, ended = (), None, False

    def add(self, learner, weights, threshold):
        """Do nothing."""

    def state(self):
        """Return nothing."""
        return {}

    def restore(self, learners, stage_weights, state):
        """Do nothing."""


class Validation:
    """Scores of the rounds so far on samples that are held out, and which round is the best.

    Parameters
    ----------
    ensemble : WeightedEnsemble with fpr_range and n_iter_no_change
        The range that is judged, and the number of rounds without a rise that end the fit.
    is_positive : ndarray of shape (n_held,), bool
    predictions_of : callable(learner) -> Predictions
        Of the samples that are held out.
    threads : Threads
    weights : ndarray of shape (n_held,), default=None
        How much each of them counts.

    Attributes
    ----------
    scores : list of float
        Partial AUC after each round.
    n_kept : int
        Number of rounds up to the first one of the largest score. Rounds whose weights are all 0, with one score for
        all samples, count only as long as there are no others.
    """

    def __init__(self, ensemble, is_positive, predictions_of, threads, weights=None):
        self._fpr_range, self._patience = ensemble.fpr_range, ensemble.n_iter_no_change
        self._is_positive, self._predictions_of, self._threads = is_positive, predictions_of, threads
        self._weights = weights
        self._predictions, self._highest = [], -np.inf
        self.scores, self.n_kept = [], 0

    def add(self, learner, weights, threshold):
        """Judge a round with one more learner, given the weights of all."""
        self._predictions.append(self._predictions_of(learner).narrow)
        scores = weighted_sum(weights, self._predictions, len(self._is_positive), self._threads) - threshold
        self._note(partial_auc(self._is_positive, scores, self._fpr_range, sample_weight=self._weights), weights)

    def _note(self, score, weights):
        """Add the score of a round."""
        self.scores.append(score)
        counts = weights.any()
        if self._highest == -np.inf or (counts and score > self._highest):
            self.n_kept = len(self.scores)
        if counts:
            self._highest = max(self._highest, score)

    @property
    def ended(self):
        """Whether the score has not risen for so many rounds that the fit ends."""
        return self._highest > -np.inf and len(self.scores) - self.n_kept >= self._patience

    def state(self):
        """Return what a checkpoint keeps, a dict of arrays."""
        return {"validation": np.array(self.scores)}

    def restore(self, learners, stage_weights, state):
        """Go on from a `state`, given the learners and the weights after each round."""
        self._predictions = [self._predictions_of(learner).narrow for learner in learners]
        scores = array_of(state, "validation", np.float64, (len(learners),)) if learners else []
        for score, weights in zip(scores, stage_weights, strict=True):
            self._note(float(score), weights)
