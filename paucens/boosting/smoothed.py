"""Boosting of a smoothed partial AUC, after Komori and Eguchi."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr
from tqdm import tqdm

from paucens.boosting.rounds import LARGEST_COEFFICIENT, NO_EDGE, train_with_edge
from paucens.cutting_plane import training_threshold
from paucens.learners.binning import MAX_BINS
from paucens.metrics import check_fpr_range
from paucens.model import WeightedEnsemble

NOISE = np.sqrt(0.5)  # sd on each score, so that P(s > t) = Phi(s - t)
FAR = 8.0 * NOISE  # beyond this the noise does not reach
PANEL = 3.0 * NOISE  # width of a piece of the quadrature
BLOCK = 4096
NODES, SHARES = (values / 2 for values in np.polynomial.legendre.leggauss(8))  # of a piece of width 1 around 0
PROBE = 0.1  # step at which the slope tells the curvature
MOST_HALVINGS = 30
SATURATED = 1e-12  # distance of the objective from 1 that is rounding


class PAUCBoostClassifier(WeightedEnsemble):
    """Fit pAUCBoost (our reading): boost a partial AUC that is smoothed with the normal distribution.

    Parameters
    ----------
    fpr_range : tuple of two floats, default=(0.0, 0.1)
        0 <= alpha < beta <= 1, the slice that counts.
    learner : weak learner, default=None
        `Tree(depth=3)` where None. The source boosts single features, as `Stump()` does.
    n_estimators : int, default=100
        Rounds at most; fitting stops early where no step raises the objective.
    max_bins, n_jobs, random_state, verbose
        As in `AdaBoostClassifier`.

    Attributes
    ----------
    classes_, learners_, weights_, n_iter_, feature_importances_
        As in `AdaBoostClassifier`.
    threshold_ : float
        The cut of largest TPR - FPR among those of FPR <= beta on the training samples.
    objective_ : ndarray of shape (n_iter_,)
        The smoothed partial AUC after each round; it never falls.

    Notes
    -----
    The article's algorithm could not be consulted, so this is a reading of its idea: a partial AUC smoothed with the
    normal distribution function, band thresholds recomputed in every round, one learner and one Newton step a round.

    Let every score carry noise N(0, 1/2), so that a positive of score s beats a negative of score t with probability
    Phi(s - t). The ROC curve of the noisy scores is smooth; the objective is its mean height between alpha and beta,

        A = 1/(beta - alpha) integral of TPR(c) f-(c) dc over the thresholds c from c(beta) to c(alpha),

    f- the density of the noisy negatives. On [0, 1] it is the mean of Phi(s_i - t_j) over all pairs. Its gradient,
    the motion of the thresholds included, is K(s_i, f-) / m for a positive and -K(t_j, f+) / n for a negative, K the
    integral of the normal density around the score times the other class's density over the same thresholds, over
    beta - alpha. The learner is the one of largest edge under the gradient. Its coefficient is a Newton step, the
    curvature taken from the slopes at 0 and at .1, at most 5, and halved until the objective, its own thresholds
    recomputed, rises. There is no roughness penalty: learners are trees, not splines.

    References
    ----------
    Komori and Eguchi, A boosting method for maximizing the partial area under the ROC curve, BMC Bioinformatics
    11:314, 2010.

    Examples
    --------
    >>> from paucens import PAUCBoostClassifier, Stump, partial_auc
    >>> from paucens.datasets import load_toy
    >>> X, y = load_toy(random_state=0)
    >>> model = PAUCBoostClassifier((0, 0.2), learner=Stump(), n_estimators=10).fit(X, y)
    >>> X_new, y_new = load_toy(2000, 2000, random_state=1)
    >>> round(partial_auc(y_new, model.decision_function(X_new), (0, 0.2)), 3)
    0.816
    """

    _fitted_arrays = ("objective_",)

    def __init__(
        self,
        fpr_range=(0.0, 0.1),
        *,
        learner=None,
        n_estimators=100,
        max_bins=MAX_BINS,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.fpr_range = fpr_range
        self.learner = learner
        self.n_estimators = n_estimators
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self):
        check_fpr_range(self.fpr_range)

    def _fit_stages(self, trainer, m, n, checkpoint):
        rounds = self._rounds(trainer, m, n, check_fpr_range(self.fpr_range))
        learners, coefficients, thresholds, objectives = zip(*rounds, strict=True)
        self.objective_ = np.array(objectives)
        self._set_stages(list(learners), np.array(coefficients), np.array(thresholds))

    def _rounds(self, trainer, m, n, fpr_range):
        """Yield learner, coefficient, threshold and objective of each round; a first one without edge counts as 0."""
        scores = np.zeros(m + n)
        area = SmoothedArea(scores, m, fpr_range)
        with tqdm(total=self.n_estimators, disable=not self.verbose, desc=type(self).__name__) as progress:
            for t in range(self.n_estimators):
                if 1 - area.value <= SATURATED:
                    return
                gradient = area.gradient()
                learner, outputs, edge = train_with_edge(trainer, gradient, t)
                coefficient, area = step_up(area, gradient, outputs.dense) if edge > NO_EDGE else (0.0, area)
                if coefficient == 0 and t > 0:
                    return
                threshold = training_threshold(*np.split(area.scores, [m]), n, fpr_range[1])
                progress.update()
                progress.set_postfix(objective=f"{area.value:.4f}", refresh=False)
                yield learner, coefficient, threshold, area.value
                if coefficient == 0:
                    return


class SmoothedArea:
    """The partial area under the ROC curve of scores with noise N(0, 1/2), and its gradient.

    Parameters
    ----------
    scores : ndarray of shape (m + n,)
        Positives first.
    m : int
    fpr_range : tuple of two floats

    Attributes
    ----------
    value : float
        In [0, 1].
    """

    def __init__(self, scores, m, fpr_range):
        self.scores, self.m, self.fpr_range = scores, m, fpr_range
        positives, negatives = scores[:m], scores[m:]
        self._nodes, self._shares = self._quadrature(negatives)
        self._negative_density = density(negatives, self._nodes)
        self.value = float((self._shares * detection_rate(positives, self._nodes) * self._negative_density).sum())

    def gradient(self):
        """Return the derivative by each score, ndarray of shape (m + n,), positives first."""
        positives, negatives = np.split(self.scores, [self.m])
        up = weighted_bells(positives, self._nodes, self._shares * self._negative_density) / len(positives)
        positive_density = density(positives, self._nodes)
        down = weighted_bells(negatives, self._nodes, self._shares * positive_density) / len(negatives)
        return np.concatenate([up, -down])

    def _quadrature(self, negatives):
        """Nodes and shares of Gauss-Legendre pieces from the threshold of beta to that of alpha, over beta - alpha."""
        low, high = (self._threshold(negatives, rate) for rate in self.fpr_range[::-1])
        edges = np.linspace(low, high, max(1, int(np.ceil((high - low) / PANEL))) + 1)
        width = edges[1] - edges[0]
        nodes = (edges[:-1, None] + edges[1:, None]) / 2 + width * NODES
        shares = np.tile(width * SHARES, len(nodes))
        return nodes.ravel(), shares / (self.fpr_range[1] - self.fpr_range[0])

    def _threshold(self, negatives, rate):
        """The threshold above which a noisy negative lies with probability `rate`."""
        low, high = self.scores.min() - FAR, self.scores.max() + FAR
        if rate <= 0:
            return high
        if rate >= 1:
            return low
        return brentq(lambda c: detection_rate(negatives, np.array([c]))[0] - rate, low, high)


def weighted_bells(scores, nodes, weights):
    """Sum over the nodes of the density of each noisy score there times a weight, ndarray of shape (n_scores,)."""
    out = np.zeros(len(scores))
    near = np.flatnonzero(scores > nodes[0] - FAR)
    for block in blocks_of(near):
        out[block] = np.einsum("ik,k->i", bells(scores[block], nodes), weights)
    return out


def density(scores, nodes):
    """Density of the noisy scores of a class at each node."""
    near = np.flatnonzero(scores > nodes[0] - FAR)
    sums = (bells(scores[block], nodes).sum(axis=0) for block in blocks_of(near))
    return sum(sums, np.zeros(len(nodes))) / len(scores)


def bells(scores, nodes):
    """Density of each noisy score at each node, ndarray of shape (n_scores, n_nodes)."""
    return np.exp(-np.square(scores[:, None] - nodes)) / np.sqrt(np.pi)  # variance 1/2


def detection_rate(scores, nodes):
    """Share of the noisy scores of a class above each node."""
    blocks = blocks_of(np.arange(len(scores)))
    return sum(ndtr((scores[block, None] - nodes) / NOISE).sum(axis=0) for block in blocks) / len(scores)


def blocks_of(indices):
    """Cut indices into pieces whose matrices of bells stay in the cache."""
    return [indices[start : start + BLOCK] for start in range(0, len(indices), BLOCK)]


def step_up(area, gradient, outputs):
    """Return the coefficient of a learner and the area with it; 0 and the area as it was where no step raises it."""
    slope = float((gradient * outputs).sum())
    probe = SmoothedArea(area.scores + PROBE * outputs, area.m, area.fpr_range)
    fall = slope - float((probe.gradient() * outputs).sum())
    coefficient = min(slope * PROBE / fall, LARGEST_COEFFICIENT) if fall > 0 else LARGEST_COEFFICIENT
    for _ in range(MOST_HALVINGS):
        stepped = SmoothedArea(area.scores + coefficient * outputs, area.m, area.fpr_range)
        if stepped.value > area.value:
            return coefficient, stepped
        coefficient /= 2
    return 0.0, area
