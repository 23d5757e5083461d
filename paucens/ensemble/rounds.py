"""The rounds of Algorithm 1: train a learner on the dual variables, then solve for all weights again."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from paucens.cutting_plane import training_threshold
from paucens.metrics import check_fpr_range, rank_range
from paucens.persistence import array_of
from paucens.progress import progress_bar


def run_rounds(ensemble, training, master, ranges):
    """Train a learner and solve for all weights in each round.

    Parameters
    ----------
    ensemble : PAUCEnsClassifier
        Its fpr_range, row_fraction, tolerances and verbose are used.
    training : TrainingData
        The rounds resume from its checkpoint.
    master : Master
        Of no learners yet.
    ranges : list of tuple of two numbers
        The rank range of each round.

    Returns
    -------
    rounds : Rounds
        If samples are held out, those up to the one of the best validation score.
    stop_reason : {"edge", "n_estimators", "validation"}
    """
    validation = training.validation
    with training.checkpoint.resumed() as (learners, state):
        rounds = Rounds.from_arrays(learners, state)
        if learners:
            master.restore(state, [training.trainer.predictions_of(learner) for learner in learners])
            validation.restore(learners, rounds.weights, state)
    beta = check_fpr_range(ensemble.fpr_range)[1]
    n = training.weights.totals[1]
    last = rank_range(n, (0.0, beta))[1]
    sample = RowSample(master.n_positives + master.n_negatives, ensemble.row_fraction, training.seed)
    exhausted = False
    with progress_bar(total=len(ranges), initial=len(learners), verbose=ensemble.verbose, desc="pAUCEns") as progress:
        for t in range(len(learners), len(ranges)):
            before, ranks = ranges[max(t - 1, 0)], ranges[t]
            learner, predictions, promising = _promising_learner(ensemble, training.trainer, master, t, before, sample)
            # While annealing, the next range may help; so may the columns of the next stage.
            exhausted = not promising and before == ranges[-1] and t >= training.trainer.last_stage
            if exhausted and t > 0:
                break
            master.append(predictions)
            n_cuts = master.solve(ranks, ensemble.cut_tolerance, new_range=ranks != before)
            while not master.weights.any() and master.widen():
                n_cuts += master.solve(ranks, ensemble.cut_tolerance)
            size = np.abs(master.weights).sum()
            scores = master.scores(max(last, ranks[1]))
            threshold = training_threshold(*scores, n, beta, size, master.screen.weights)
            gap = master.objective - master.bound
            rounds.append(learner, master.weights, threshold, (master.objective, gap, n_cuts))
            validation.add(learner, master.weights, threshold)
            progress.update()
            progress.set_postfix(objective=f"{master.objective:.4g}", gap=f"{gap:.1e}", cuts=n_cuts, refresh=False)
            if exhausted or validation.ended:
                break
            training.checkpoint.keep(rounds.learners, lambda: master.state() | rounds.to_arrays() | validation.state())
    reason = "edge" if exhausted else "validation" if validation.ended else "n_estimators"
    return rounds.first(validation.n_kept), reason


def _promising_learner(ensemble, trainer, master, t, ranks, sample):
    """Train the learner of round t; return it, its predictions and whether its promise is enough to go on.

    If the promise is too small, the master is solved to `edge_tolerance` and a learner that may use all rows and
    columns is trained instead.
    """
    learner, predictions, promise = train_on_dual(trainer, master, t, sample)
    if promise > ensemble.edge_tolerance:
        return learner, predictions, True
    if t > 0:
        master.solve(ranks, min(ensemble.edge_tolerance, ensemble.cut_tolerance))
    learner, predictions, promise = train_on_dual(trainer, master, t)
    return learner, predictions, promise > ensemble.edge_tolerance


def train_on_dual(trainer, master, t, sample=None):
    """Train on lambda' S; return the learner, its predictions and its promise.

    Without a sample of the rows, the learner may also use all columns. The promise is e^2 / 2, the most by which the
    objective can fall, relative to the objective; its edge e is over all rows.
    """
    signed_weights = master.signed_weights()
    part = signed_weights if sample is None else sample.of_round(signed_weights, t)
    learner, predictions = trainer.train(part, t, every_column=sample is None)
    edge = float((signed_weights * predictions.dense).sum())
    return learner, predictions, edge * edge / 2 / master.objective


class RowSample(NamedTuple):
    """The rows that the learner of a round is trained on."""

    n_rows: int
    fraction: float
    seed: int

    def of_round(self, signed_weights, t):
        """Return the signed weights with 0 for the rows that are not drawn in round t."""
        if self.fraction == 1:
            return signed_weights
        n_drawn = max(1, round(self.fraction * self.n_rows))
        drawn = np.random.default_rng((self.seed, t)).permutation(self.n_rows)[:n_drawn]
        part = np.zeros_like(signed_weights)
        part[drawn] = signed_weights[drawn]
        return part


@dataclass
class Rounds:
    """The rounds so far, one entry each.

    Attributes
    ----------
    learners : list of fitted learners
    weights : list of ndarray
        Weights of all learners after the round.
    thresholds : list of float
    history : list of tuples
        Objective, gap and number of cuts.
    """

    learners: list = field(default_factory=list)
    weights: list = field(default_factory=list)
    thresholds: list = field(default_factory=list)
    history: list = field(default_factory=list)

    def append(self, learner, weights, threshold, history):
        """Add a round."""
        self.learners.append(learner)
        self.weights.append(weights)
        self.thresholds.append(threshold)
        self.history.append(history)

    def first(self, n):
        """Return the first n rounds, or all if n is None."""
        return Rounds(self.learners[:n], self.weights[:n], self.thresholds[:n], self.history[:n])

    def to_arrays(self):
        """Return all but the learners as a dict of arrays, for a checkpoint."""
        return {
            "stages": np.concatenate(self.weights),
            "thresholds": np.array(self.thresholds),
            "history": np.array(self.history),
        }

    @classmethod
    def from_arrays(cls, learners, arrays):
        """Return the rounds of a checkpoint, given its learners; no rounds if there are none."""
        if not learners:
            return cls()
        n = len(learners)
        stages = array_of(arrays, "stages", np.float64, (n * (n + 1) // 2,))
        thresholds = array_of(arrays, "thresholds", np.float64, (n,)).tolist()
        history = array_of(arrays, "history", np.float64, (n, 3)).tolist()
        return cls(learners, np.split(stages, np.cumsum(np.arange(1, n))), thresholds, list(map(tuple, history)))
