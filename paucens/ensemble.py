"""Algorithm 1: an ensemble trained for one slice of the ROC curve."""

import itertools
import warnings

import numpy as np
from tqdm import tqdm

from paucens.cutting_plane import Master, training_positions, training_threshold
from paucens.learners import Tree
from paucens.learners.binning import MAX_BINS
from paucens.metrics import band_indices, check_fpr_range
from paucens.model import WeightedEnsemble
from paucens.validation import check_choice, check_positive

ANNEALED_SHARE = 0.97  # of the rounds, over which the range narrows
DEFAULT_LEARNER = Tree(
    depth=None, max_leaves=31, leaves="real", leaf_ridge=20, column_fraction=1 / 3, column_sampling="node"
)


class PAUCEnsClassifier(WeightedEnsemble):
    """Fit an ensemble that maximises the area under the ROC curve between two false positive rates.

    Parameters
    ----------
    fpr_range : tuple of two floats, default=(0.0, 0.1)
        0 <= alpha < beta <= 1, the slice that counts.
    learner : weak learner, default=None
        Anything with fit(X, signed_weights) and predict(X) in [-1, 1]. None is best-first trees of 31
        real leaves: Tree(depth=None, max_leaves=31, leaves="real", leaf_ridge=20, column_fraction=1/3,
        column_sampling="node").
    n_estimators : int, default=600
        Rounds at most.
    nu : float, default=0.03
        Weight of the risk against |w|^2 / 2. The objective is at most nu and a round lowers it by at most
        2 nu^2, so a nu below half of `edge_tolerance` stops after one round.
    anneal : bool or "auto", default="auto"
        Narrow the range from [0, 1] to [0, beta] over the rounds, beta_t = max(beta, beta^(t / (.97 T))), t = 1..T.
        "auto" anneals where alpha is 0, the only case in which it is defined.
    formulation : {"tight", "struct"}, default="tight"
        Whether orderings are of the best j_beta negatives (the paper's) or of all negatives (its ICCV 2013
        forerunner).
    cut_tolerance : float, default=1e-2
        Cutting planes stop when (primal - dual) <= cut_tolerance * primal.
    edge_tolerance : float, default=1e-4
        Fitting stops when a new learner of edge e promises at most e^2 / 2 <= edge_tolerance * objective.
    max_bins : int in [2, 256], default=256
        Bins of a feature.
    n_jobs : int, optional
        Threads, as in joblib; results do not depend on it.
    random_state : int, RandomState or None
        Source of the learner's column samples.
    verbose : int, default=0
        Show a progress bar with objective, gap and cuts where positive.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the larger one is positive.
    learners_, weights_, threshold_
        decision_function is sum_t weights_[t] learners_[t].predict(X) - threshold_. The threshold is the
        cut of largest TPR - FPR among those of FPR <= beta on the training samples.
    objective_, gap_ : ndarray of shape (n_iter_,)
        |w|^2 / 2 + nu R(w) after each round, R of the range of that round, and what it may be above the
        minimum over the learners so far, certified by the dual.
    n_cuts_ : ndarray of shape (n_iter_,)
        Calls of the constraint oracle for the weights of each round.
    n_iter_ : int
    stop_reason_ : {"edge", "n_estimators"}
    feature_importances_ : ndarray of shape (n_features,)

    Warns
    -----
    UserWarning
        Where beta is less than one negative, and where all weights are 0 in the end.

    Notes
    -----
    The published method is `PAUCEnsClassifier(fpr_range, learner=Tree(depth=3), n_estimators=100, nu=1.0,
    anneal=False)`. We depart from its Algorithms 1 and 2 in this: cuts are kept from round to round and
    dropped when idle, tolerances are relative, the oracle is exact for alpha > 0, the loss is divided by
    m (j_beta - j_alpha) (ERRATA.md, E1, E3, E13).

    The stopping rule on edges is a certificate only if the learner maximises the edge exactly, as a stump
    with sign leaves does and a greedy tree does not (E12).

    As long as no combination of the learners lifts the mean score of the positives above the mean of the
    j_beta best negatives, w = 0 is the exact optimum for every nu. Fitting goes on through such rounds.

    Examples
    --------
    >>> from paucens import PAUCEnsClassifier, Stump, partial_auc
    >>> from paucens.datasets import load_toy
    >>> X, y = load_toy(random_state=0)
    >>> model = PAUCEnsClassifier((0, 0.2), learner=Stump(), n_estimators=10, nu=10.0, anneal=False).fit(X, y)
    >>> X_new, y_new = load_toy(2000, 2000, random_state=1)
    >>> round(partial_auc(y_new, model.decision_function(X_new), (0, 0.2)), 3)
    0.857

    Where the alphabet puts the classes the wrong way round, say which one is wanted:

    >>> import numpy as np
    >>> labels = np.where(y == 1, "cancer", "healthy")
    >>> PAUCEnsClassifier(n_estimators=5).fit(X, labels == "cancer").classes_
    array([False,  True])
    """

    _default_learner = DEFAULT_LEARNER
    _fitted_scalars = ("n_iter_", "stop_reason_")
    _fitted_arrays = ("objective_", "gap_", "n_cuts_")

    def __init__(
        self,
        fpr_range=(0.0, 0.1),
        *,
        learner=None,
        n_estimators=600,
        nu=0.03,
        anneal="auto",
        formulation="tight",
        cut_tolerance=1e-2,
        edge_tolerance=1e-4,
        max_bins=MAX_BINS,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.fpr_range = fpr_range
        self.learner = learner
        self.n_estimators = n_estimators
        self.nu = nu
        self.anneal = anneal
        self.formulation = formulation
        self.cut_tolerance = cut_tolerance
        self.edge_tolerance = edge_tolerance
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self):
        check_fpr_range(self.fpr_range)
        check_positive("nu", self.nu)
        check_positive("cut_tolerance", self.cut_tolerance)
        check_positive("edge_tolerance", self.edge_tolerance)
        check_choice("anneal", self.anneal, ("auto", True, False))
        check_choice("formulation", self.formulation, ("tight", "struct"))
        if self.anneal is True and self.fpr_range[0] > 0:
            raise ValueError(
                f"anneal=True narrows [0, 1] to [0, beta] and needs a range that starts at 0; got {self.fpr_range}. "
                "Set anneal='auto' or False."
            )

    def _fit_stages(self, trainer, m, n, checkpoint):
        ranges = self._ranges(n, self.n_estimators)
        master = Master(m, n, self.nu, self.formulation, trainer.outputs, self.n_estimators)
        self._set_stages(*self._boost(trainer, master, ranges, checkpoint))
        if not self.weights_.any():
            warnings.warn(
                f"All weights are 0 in the end (n_iter_ = {len(self.learners_)}): no combination of the learners lifts "
                "the positives above the best negatives of the range, so every sample gets the same score. A wider "
                "range, anneal=True, deeper trees, leaves='real' or more rounds help.",
                UserWarning,
                stacklevel=4,  # past fit and its guard
            )

    def _ranges(self, n_negatives, n_rounds):
        """Positions (j_alpha, j_beta) of each round."""
        alpha, beta = check_fpr_range(self.fpr_range)
        positions = training_positions(n_negatives, self.fpr_range)
        if self.anneal is False or alpha > 0:
            return [positions] * n_rounds
        widths = beta ** (np.arange(1, n_rounds + 1) / (ANNEALED_SHARE * n_rounds))
        return [(0, max(positions[1], band_indices(n_negatives, 0.0, width)[1])) for width in widths]

    def _boost(self, trainer, master, ranges, checkpoint):
        learners, stages, thresholds, history = self._restored(trainer, master, checkpoint)
        beta = check_fpr_range(self.fpr_range)[1]
        self.stop_reason_ = "n_estimators"
        steps = list(enumerate(itertools.pairwise([ranges[0], *ranges])))[len(learners) :]
        with tqdm(total=len(ranges), initial=len(learners), disable=not self.verbose, desc="pAUCEns") as progress:
            for t, (before, positions) in steps:
                learner, outputs, promises = self._next_learner(trainer, master, t, before)
                exhausted = not promises and before == ranges[-1]  # while annealing, the next range may wake it
                if exhausted:
                    self.stop_reason_ = "edge"
                if exhausted and learners:
                    break
                master.append(outputs)
                n_cuts = master.solve(*positions, self.cut_tolerance, new_range=positions != before)
                learners.append(learner)
                stages.append(master.weights)
                thresholds.append(training_threshold(*master.scores(positions[1]), master.n_negatives, beta))
                history.append((master.objective, master.objective - master.bound, n_cuts))
                progress.update()
                progress.set_postfix(
                    objective=f"{master.objective:.4g}", gap=f"{history[-1][1]:.1e}", cuts=n_cuts, refresh=False
                )
                if exhausted:
                    break
                checkpoint.keep(learners, lambda: _state_of(master, stages, thresholds, history))
        self.objective_, self.gap_, n_cuts = (np.array(column) for column in zip(*history, strict=True))
        self.n_cuts_ = n_cuts.astype(np.int64)
        return learners, stages, thresholds

    def _restored(self, trainer, master, checkpoint):
        """What a fit that was cut short had found; the master takes up its state."""
        learners, state = checkpoint.load()
        if not learners:
            return [], [], [], []
        master.restore(state, [trainer.outputs_of(learner) for learner in learners])
        stages = np.split(state["stages"], np.cumsum(np.arange(1, len(learners))))
        return learners, stages, state["thresholds"].tolist(), [tuple(row) for row in state["history"].tolist()]

    def _next_learner(self, trainer, master, t, positions):
        """Train the learner of round t; also whether its edge promises enough to go on.

        A promise too small is checked again, after the master has been solved to the tolerance of the
        promise and with every column in sight.
        """
        learner, outputs, promise = self._train(trainer, master, t)
        if promise > self.edge_tolerance:
            return learner, outputs, True
        if t > 0:
            master.solve(*positions, min(self.edge_tolerance, self.cut_tolerance))
        learner, outputs, promise = self._train(trainer, master, t, every_column=True)
        return learner, outputs, promise > self.edge_tolerance

    def _train(self, trainer, master, t, every_column=False):
        """Train on lambda' S; the promise is e^2 / 2, the most the objective can fall, relative to it."""
        signed_weights = master.signed_weights()
        learner, outputs = trainer.train(signed_weights, t, every_column)
        edge = float((signed_weights * outputs.dense).sum())
        return learner, outputs, edge * edge / 2 / master.objective


def _state_of(master, stages, thresholds, history):
    """All that the rounds so far have left, for a checkpoint."""
    return master.state() | {
        "stages": np.concatenate(stages),
        "thresholds": np.array(thresholds),
        "history": np.array(history),
    }
