"""The rounds of boosting: train on weights, fix a coefficient, reweight.

A booster passes the weights to start from and two functions to `boosting_rounds`: one returns the coefficient of a
learner, the other the next weights. AdaBoost spreads `BALANCED` over the samples; its functions are
`adaboost_coefficient` and `reweighted`.
"""

import numpy as np

from paucens.persistence import array_of
from paucens.progress import progress_bar

BALANCED = 0.5, -0.5  # of each class, to be spread over its samples: 0.5/m per positive and -0.5/n per negative
LARGEST_COEFFICIENT = 5.0  # that of a perfect learner would be infinite
NO_EDGE = 1e-12  # smaller edges are rounding errors
PERFECT = 1.0 - NO_EDGE
SEPARATED = (
    "the training samples are separated without error, so that none is left to learn from, and scores take few values. "
    "Simpler learners (trees of smaller depth) or more and harder samples help."
)
CHANCE = (
    "no further learner does better than chance on the weights that the samples have by now. Deeper trees, other "
    "features or more samples help."
)


def boosting_rounds(booster, training, signed_weights, coefficient_of, reweight):
    """Yield learner, predictions and coefficient of each round; stop at a learner without edge or without error.

    Parameters
    ----------
    booster : WeightedEnsemble with n_estimators, shrinkage and verbose
        It warns if the rounds end early.
    training : TrainingData
        The rounds resume from its checkpoint.
    signed_weights : ndarray of shape (n_samples,)
        Weights of the first round, positives first.
    coefficient_of : callable(signed_weights, n_positives, predictions, edge) -> float
        The coefficient before shrinkage.
    reweight : callable(signed_weights, n_positives, predictions, coefficient) -> signed_weights
    """
    trainer, m = training.trainer, training.n_positives
    with training.checkpoint.resumed() as (learners, state):
        coefficients = array_of(state, "coefficients", np.float64, (len(learners),)).tolist() if learners else []
    for learner, coefficient in zip(learners, coefficients, strict=True):
        predictions = trainer.predictions_of(learner)
        yield learner, predictions, coefficient
        signed_weights = reweight(signed_weights, m, predictions, coefficient)
    with progress_bar(
        total=booster.n_estimators, initial=len(learners), verbose=booster.verbose, desc=type(booster).__name__
    ) as progress:
        for t in range(len(learners), booster.n_estimators):
            learner, predictions, edge = train_with_edge(trainer, signed_weights, t)
            if edge <= NO_EDGE and t > 0:
                booster.warn_of_early_end(t, CHANCE)
                return
            coefficient = booster.shrinkage * coefficient_of(signed_weights, m, predictions, edge)
            progress.update()
            progress.set_postfix(edge=f"{edge:.4f}", refresh=False)
            learners.append(learner)
            coefficients.append(coefficient)
            training.checkpoint.keep(learners, lambda: {"coefficients": np.array(coefficients)})
            yield learner, predictions, coefficient
            if not NO_EDGE < edge < PERFECT:
                booster.warn_of_early_end(t + 1, CHANCE if edge <= NO_EDGE else SEPARATED)
                return
            signed_weights = reweight(signed_weights, m, predictions, coefficient)


def plain_stages(rounds):
    """Return learners, their coefficients as weights, and thresholds of 0: the stages of a booster without range."""
    learners, coefficients = [], []
    for learner, _, coefficient in rounds:
        learners.append(learner)
        coefficients.append(coefficient)
    return learners, np.array(coefficients), np.zeros(len(learners))


def train_with_edge(trainer, signed_weights, t):
    """Train the learner of round t; return it, its predictions and its normalised edge.

    If a learner on sampled columns has no edge, a learner on all columns is trained instead.
    """
    total = np.abs(signed_weights).sum()
    learner, predictions = trainer.train(signed_weights, t)
    edge = float((signed_weights * predictions.dense).sum()) / total
    if edge <= NO_EDGE and trainer.samples_columns(t):
        learner, predictions = trainer.train(signed_weights, t, every_column=True)
        edge = float((signed_weights * predictions.dense).sum()) / total
    return learner, predictions, edge


def adaboost_coefficient(signed_weights, n_positives, predictions, edge):
    """Return the coefficient of AdaBoost, which depends on the edge alone."""
    return boosting_coefficient(edge)


def boosting_coefficient(edge):
    """Return 1/2 log((1 + r) / (1 - r)) of a normalised edge r, clipped; 0 for a learner without edge.

    Examples
    --------
    >>> round(boosting_coefficient(0.6), 6), boosting_coefficient(1.0)
    (0.693147, 5.0)
    """
    if edge <= NO_EDGE:
        return 0.0
    return float(min(np.arctanh(min(edge, PERFECT)), LARGEST_COEFFICIENT))


def reweighted(signed_weights, n_positives, predictions, coefficient, of_negatives=None):
    """Return the weights after a round, normalised: u exp(-w h) for the positives, u exp(w h) for the negatives.

    The coefficient w of the negatives is `of_negatives`, if it differs from that of the positives.
    """
    m, of_negatives = n_positives, coefficient if of_negatives is None else of_negatives
    shrink, swell = np.exp(coefficient * predictions.values), np.exp(of_negatives * predictions.values)
    if predictions.index is not None:
        shrink, swell = shrink[predictions.index[:m]], swell[predictions.index[m:]]
    else:
        shrink, swell = shrink[:m], swell[m:]
    updated = np.concatenate([signed_weights[:m] / shrink, signed_weights[m:] * swell])
    return updated / np.abs(updated).sum()
