"""Algorithm 1: an ensemble trained for one slice of the ROC curve."""

import warnings

import numpy as np
from tqdm import tqdm

from paucens.cutting_plane import Master
from paucens.learners import Tree
from paucens.learners.binning import MAX_BINS
from paucens.metrics import band_indices, check_fpr_range
from paucens.model import WeightedEnsemble
from paucens.parallel import Threads
from paucens.validation import check_choice, check_integer, check_positive

ANNEALED_SHARE = 0.97  # of the rounds over which the range narrows
DEFAULT_LEARNER = Tree(depth=None, max_leaves=31, leaves="real", leaf_ridge=20, column_fraction=1 / 3,
                       column_sampling="node")


class PAUCEnsClassifier(WeightedEnsemble):
    """docstring later"""

    def __init__(self, fpr_range=(0.0, 0.1), *, learner=None, n_estimators=300, nu=0.1, anneal="auto",
                 formulation="tight", cut_tolerance=1e-2, edge_tolerance=1e-4, max_bins=MAX_BINS, n_jobs=None,
                 random_state=None, verbose=0):
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

    def fit(self, X, y):
        alpha, beta = check_fpr_range(self.fpr_range)
        n_rounds = check_integer("n_estimators", self.n_estimators, 1)
        check_positive("nu", self.nu)
        check_positive("cut_tolerance", self.cut_tolerance)
        check_positive("edge_tolerance", self.edge_tolerance)
        check_choice("anneal", self.anneal, ("auto", True, False))
        check_choice("formulation", self.formulation, ("tight", "struct"))
        anneal = alpha == 0 if self.anneal == "auto" else self.anneal
        learner = DEFAULT_LEARNER if self.learner is None else self.learner
        with Threads(self.n_jobs) as threads:
            trainer, m, n = self._prepare(X, y, learner, threads)
            ranges = positions_by_round(n, alpha, beta, n_rounds, anneal)
            master = Master(m, n, self.nu, self.formulation, trainer.outputs, n_rounds)
            self._boost(trainer, master, ranges)
        return self

    def _boost(self, trainer, master, ranges):
        learners, stages, thresholds = [], [], []
        self.objective_, self.gap_, self.n_cuts_ = [], [], []
        self.stop_reason_ = "n_estimators"
        for t, (j_alpha, j_beta) in enumerate(ranges):
            learner, outputs = trainer.train(master.signed_weights(), t)
            learners.append(learner)
            master.append(outputs)
            n_cuts = master.solve(j_alpha, j_beta, self.cut_tolerance, t > 0 and ranges[t] != ranges[t - 1])
            stages.append(master.weights)
            thresholds.append(0.0)
            self.objective_.append(master.objective)
            self.gap_.append(master.objective - master.bound)
            self.n_cuts_.append(n_cuts)
        self._set_stages(learners, stages, thresholds)


def positions_by_round(n_negatives, alpha, beta, n_rounds, anneal):
    """Positions (j_alpha, j_beta) of each round; annealing narrows the range from [0, 1] to [0, beta].

    beta_t = max(beta, beta^(t / (.97 T))), so the last rounds are all of the wanted range.
    """
    final = band_indices(n_negatives, alpha, beta)
    if not anneal:
        return [final] * n_rounds
    widths = beta ** (np.arange(n_rounds) / (ANNEALED_SHARE * n_rounds))
    return [(0, max(final[1], band_indices(n_negatives, 0.0, min(width, 1.0))[1])) for width in widths]
