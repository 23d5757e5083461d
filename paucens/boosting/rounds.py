"""The rounds that all boosters share: train on weights, fix a coefficient, reweight."""

import numpy as np
from tqdm import tqdm

from paucens.model import WeightedEnsemble
from paucens.validation import check_positive

LARGEST_COEFFICIENT = 5.0  # a perfect learner's would be infinite
NO_EDGE = 1e-12  # an edge that is rounding
PERFECT = 1.0 - NO_EDGE


class Booster(WeightedEnsemble):
    """Boost in rounds that subclasses shape.

    A subclass may say how the weights start, what coefficient a learner gets, how the weights go on, and how
    learners and coefficients become an ensemble.
    """

    def __init__(self, *, learner, n_estimators, shrinkage, max_bins, n_jobs, random_state, verbose):
        self.learner = learner
        self.n_estimators = n_estimators
        self.shrinkage = shrinkage
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self):
        check_positive("shrinkage", self.shrinkage, most=1)

    def _fit_stages(self, trainer, m, n, checkpoint):
        self._assemble(self._rounds(trainer, m, n, checkpoint), m, n)

    def _rounds(self, trainer, m, n, checkpoint):
        """Yield learner, outputs and coefficient of each round; stop at a learner without edge or without error."""
        signed_weights = self._first_weights(m, n)
        learners, known = checkpoint.load()
        coefficients = known.get("coefficients", np.empty(0)).tolist()
        for learner, coefficient in zip(learners, coefficients, strict=True):  # of a fit that was cut short
            outputs = trainer.outputs_of(learner)
            yield learner, outputs, coefficient
            signed_weights = self._reweighted(signed_weights, m, outputs, coefficient)
        with tqdm(
            total=self.n_estimators, initial=len(learners), disable=not self.verbose, desc=type(self).__name__
        ) as progress:
            for t in range(len(learners), self.n_estimators):
                learner, outputs, edge = train_with_edge(trainer, signed_weights, t)
                if edge <= NO_EDGE and t > 0:
                    return
                coefficient = self.shrinkage * self._coefficient(signed_weights, m, outputs, edge)
                progress.update()
                progress.set_postfix(edge=f"{edge:.4f}", refresh=False)
                learners.append(learner)
                coefficients.append(coefficient)
                checkpoint.keep(learners, lambda: {"coefficients": np.array(coefficients)})
                yield learner, outputs, coefficient
                if not NO_EDGE < edge < PERFECT:
                    return
                signed_weights = self._reweighted(signed_weights, m, outputs, coefficient)

    def _assemble(self, rounds, m, n):
        """Turn the rounds into an ensemble; by default every learner keeps its coefficient and the threshold is 0."""
        learners, coefficients = [], []
        for learner, _, coefficient in rounds:
            learners.append(learner)
            coefficients.append(coefficient)
        self._set_stages(learners, np.array(coefficients), np.zeros(len(learners)))

    def _first_weights(self, m, n):
        """Weights of the first round, positives first, balanced between the classes."""
        return np.concatenate([np.full(m, 0.5 / m), np.full(n, -0.5 / n)])

    def _coefficient(self, signed_weights, m, outputs, edge):
        return boosting_coefficient(edge)

    def _reweighted(self, signed_weights, m, outputs, coefficient):
        return reweighted(signed_weights, m, outputs, coefficient, coefficient)


def train_with_edge(trainer, signed_weights, t):
    """Train the learner of round t; return it, its outputs and its normalised edge.

    A learner on sampled columns that has no edge is sought again on all of them.
    """
    total = np.abs(signed_weights).sum()
    learner, outputs = trainer.train(signed_weights, t)
    edge = float((signed_weights * outputs.dense).sum()) / total
    if edge <= NO_EDGE and trainer.samples_columns:
        learner, outputs = trainer.train(signed_weights, t, every_column=True)
        edge = float((signed_weights * outputs.dense).sum()) / total
    return learner, outputs, edge


def boosting_coefficient(edge):
    """1/2 log((1 + r) / (1 - r)) of a normalised edge r, clipped; 0 for a learner without edge.

    Examples
    --------
    >>> round(boosting_coefficient(0.6), 6), boosting_coefficient(1.0)
    (0.693147, 5.0)
    """
    if edge <= NO_EDGE:
        return 0.0
    return float(min(np.arctanh(min(edge, PERFECT)), LARGEST_COEFFICIENT))


def reweighted(signed_weights, m, outputs, of_positives, of_negatives):
    """Weights after a round, normalised: u exp(-w h) on the m positives, u exp(w h) on the negatives.

    The coefficient w may differ between the classes.
    """
    shrink, swell = np.exp(of_positives * outputs.values), np.exp(of_negatives * outputs.values)
    if outputs.index is not None:
        shrink, swell = shrink[outputs.index[:m]], swell[outputs.index[m:]]
    else:
        shrink, swell = shrink[:m], swell[m:]
    updated = np.concatenate([signed_weights[:m] / shrink, signed_weights[m:] * swell])
    return updated / np.abs(updated).sum()
