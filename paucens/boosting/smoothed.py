"""Boosting of a smoothed partial AUC, after Komori and Eguchi."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from paucens.base import WeightedEnsemble, prepare
from paucens.boosting.rounds import CHANCE, LARGEST_COEFFICIENT, NO_EDGE, SEPARATED, train_with_edge
from paucens.cutting_plane import training_threshold
from paucens.learners.binning import MAX_BINS
from paucens.metrics import check_fpr_range
from paucens.parallel import Threads
from paucens.persistence import array_of
from paucens.progress import progress_bar
from paucens.validation import all_or_nothing

NOISE = np.sqrt(0.5)  # sd of the noise of each score, so that P(s > t) = Phi(s - t)
FAR = 8.0 * NOISE  # noise beyond this is negligible
NEGLIGIBLE = 1e-15  # rate; noise beyond FAR has probability 6e-16
NARROWEST = 1e-9  # range; the thresholds of its ends are known to 2e-12
PANEL = 3.0 * NOISE  # maximum width of a panel of the quadrature
BLOCK = 4096
NODES, SHARES = (values / 2 for values in np.polynomial.legendre.leggauss(8))  # of a panel of width 1 around 0
PROBE = 0.1  # step between the two slopes that give the curvature
MAX_HALVINGS = 30
SATURATED = 1e-12  # a smaller distance of the objective from 1 is a rounding error
HISTORY = {"objective_": np.float64}  # attributes that tell how a fit went, see `history_from_file`


class PAUCBoostClassifier(WeightedEnsemble):
    """Fit pAUCBoost (our reading): boost a partial AUC that is smoothed with the normal distribution.

    Parameters
    ----------
    fpr_range : tuple of two floats, default=(0.0, 0.1)
        0 <= alpha < beta <= 1, the range to maximise the area in, at least 1e-9 wide.
    learner : weak learner, default=None
        Any object with fit(X, signed_weights) and predict(X) in [-1, 1]. None means `Tree(depth=3)`. The
        source boosts single features, as `Stump()` does.
    n_estimators : int, default=100
        Maximum number of rounds. Fitting stops early if no step raises the objective.
    max_bins : int in [2, 256], default=256
        Maximum number of bins per feature.
    categorical_features : None, "from_dtype" or list, default=None
        Features that hold categories, text or numbers: a list of indices, of names or of one flag per feature, or those
        whose columns are categorical in a frame of pandas or polars. Only trees take them. There may be `max_bins` of
        them per feature, at most 255. Missing categories and those that are new in prediction are missing values.
    pos_label : label, default=None
        The positive label, whose detection at few false alarms is maximised; None means the larger of the two. If it is
        `classes_[0]`, its samples have negative scores: those above 0 are of `classes_[1]` in any case.
    n_jobs : int, default=None
        Number of threads, as in joblib; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Source of the column samples of the learners.
    verbose : int, default=0
        Show a progress bar if positive.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    learners_ : list of fitted learners
    weights_ : ndarray of shape (`n_iter_`,)
        `decision_function` is `sum_t weights_[t] learners_[t].predict(X) - threshold_`.
    threshold_ : float
        The threshold of largest TPR - FPR among those of FPR <= beta on the training samples.
    objective_ : ndarray of shape (`n_iter_`,)
        The smoothed partial AUC after each round; it never falls.
    n_iter_ : int
        Number of rounds.
    categories_ : dict of int to ndarray
        The categories of these features, sorted. `learners_` know them by their places in there, 0, 1, ...
    n_features_in_ : int
    feature_importances_ : ndarray of shape (n_features,)
        Gains summed over the splits on each feature, with sum 1; for trees only.

    Warns
    -----
    UserWarning
        If fitting ends in the first ten rounds, with the reason.

    Notes
    -----
    The algorithm of the article was not available to us, so this is a reading of its idea: a partial AUC smoothed
    with the normal distribution function, thresholds of the range recomputed in every round, one learner and one
    Newton step per round.

    Let each score have noise N(0, 1/2), so that a positive of score s beats a negative of score t with probability
    Phi(s - t). The ROC curve of the noisy scores is smooth; the objective is its mean height between alpha and beta,

        A = 1/(beta - alpha) integral of TPR(c) f-(c) dc over the thresholds c from c(beta) to c(alpha),

    where f- is the density of the noisy negatives. On [0, 1] it is the mean of Phi(s_i - t_j) over all pairs. Its
    gradient, including the motion of the thresholds, is K(s_i, f-) / m for a positive and -K(t_j, f+) / n for a
    negative. K is the integral over the same thresholds of the normal density around the score times the density of
    the other class, divided by beta - alpha. The learner is the one of largest edge under the gradient. Its
    coefficient is a Newton step of at most 5, with the curvature from the slopes at 0 and at 0.1. It is halved until
    the objective, with its thresholds recomputed, rises. There is no roughness penalty, because learners are trees,
    not splines.

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

    _fitted_attributes = HISTORY
    _has_training_threshold = True

    def __init__(
        self,
        fpr_range=(0.0, 0.1),
        *,
        learner=None,
        n_estimators=100,
        max_bins=MAX_BINS,
        categorical_features=None,
        pos_label=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.fpr_range = fpr_range
        self.learner = learner
        self.n_estimators = n_estimators
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self):
        super()._check_parameters()
        alpha, beta = check_fpr_range(self.fpr_range)
        if beta - alpha < NARROWEST:
            raise ValueError(
                f"fpr_range must be at least {NARROWEST:g} wide for a smoothed area; got {self.fpr_range!r}. Widen it."
            )

    @all_or_nothing
    def fit(self, X, y, sample_weight=None):
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            float32 and float64 are used without a copy. NaN is a missing value; only trees take them.
        y : array-like of shape (n_samples,)
            Two labels; `pos_label` says which one is positive.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts: a weight of 2 is as two equal samples, and 0 leaves one out. None is 1 each.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the data are infinite, not numeric, sparse or empty, or hold NaN and the learner is not a tree, y has one
            class or more than two, a weight is negative or not finite, a class has no weight, or a parameter is out of
            range.
        """
        self._check_parameters()
        with np.errstate(under="ignore"), Threads(self.n_jobs) as threads:
            training = prepare(self, X, y, threads, sample_weight)
            learners, history = self._run_rounds(training, check_fpr_range(self.fpr_range))
        coefficients, thresholds, self.objective_ = (np.array(column) for column in zip(*history, strict=True))
        self._set_fit(learners, coefficients, thresholds)
        return self

    def _run_rounds(self, training, fpr_range):
        """Return the learners, and coefficient, threshold and objective of each round.

        A first learner without edge counts as a round of coefficient 0.
        """
        trainer, m, n = training.trainer, training.n_positives, training.n_negatives
        n_counted = training.weights.totals[1]
        with training.checkpoint.resumed() as (learners, state):
            history = array_of(state, "history", np.float64, (len(learners), 3)).tolist() if learners else []
        scores = np.zeros(m + n)
        for learner, (coefficient, _, _) in zip(learners, history, strict=True):
            scores = scores + coefficient * trainer.predictions_of(learner).dense
        area = SmoothedArea(scores, m, fpr_range, training.weights.of_classes)
        with progress_bar(
            total=self.n_estimators, initial=len(learners), verbose=self.verbose, desc=type(self).__name__
        ) as progress:
            for t in range(len(learners), self.n_estimators):
                if 1 - area.value <= SATURATED:
                    self.warn_of_early_end(t, SEPARATED)
                    break
                gradient = area.gradient()
                learner, predictions, edge = train_with_edge(trainer, gradient, t)
                coefficient, area = step_up(area, gradient, predictions.dense) if edge > NO_EDGE else (0.0, area)
                if coefficient == 0:
                    self.warn_of_early_end(max(t, 1), CHANCE)
                if coefficient == 0 and t > 0:
                    break
                learners.append(learner)
                size = coefficient + sum(earlier for earlier, _, _ in history)
                threshold = training_threshold(*np.split(area.scores, [m]), n_counted, fpr_range[1], size, area.weights)
                history.append((coefficient, threshold, area.value))
                progress.update()
                progress.set_postfix(objective=f"{area.value:.4f}", refresh=False)
                if coefficient == 0:
                    break
                training.checkpoint.keep(learners, lambda: {"history": np.array(history)})
        return learners, history


class SmoothedArea:
    """Partial area under the ROC curve of scores with noise N(0, 1/2), and its gradient.

    Parameters
    ----------
    scores : ndarray of shape (m + n,)
        Positives first.
    m : int
    fpr_range : tuple of two floats
    weights : pair of ndarray or None, default=(None, None)
        How much each positive and each negative counts; None is 1 each.

    Attributes
    ----------
    value : float
        In [0, 1].
    """

    def __init__(self, scores, m, fpr_range, weights=(None, None)):
        self.scores, self.m, self.fpr_range, self.weights = scores, m, fpr_range, weights
        positives, negatives = scores[:m], scores[m:]
        self._nodes, self._shares = self._quadrature(negatives)
        self._negative_density = density(negatives, self._nodes, weights[1])
        detected = detection_rate(positives, self._nodes, weights[0])
        self.value = float((self._shares * detected * self._negative_density).sum())

    def moved(self, change):
        """Return the area of scores that are changed by so much."""
        return SmoothedArea(self.scores + change, self.m, self.fpr_range, self.weights)

    def gradient(self):
        """Return the derivative with respect to each score, ndarray of shape (m + n,), positives first."""
        positives, negatives = np.split(self.scores, [self.m])
        up = weighted_bells(positives, self._nodes, self._shares * self._negative_density)
        positive_density = density(positives, self._nodes, self.weights[0])
        down = weighted_bells(negatives, self._nodes, self._shares * positive_density)
        return np.concatenate([share_of_mean(up, self.weights[0]), -share_of_mean(down, self.weights[1])])

    def _quadrature(self, negatives):
        """Return nodes and shares of Gauss-Legendre panels from the threshold of beta to that of alpha.

        The shares are divided by beta - alpha.
        """
        low, high = (self._threshold(negatives, rate) for rate in self.fpr_range[::-1])
        edges = np.linspace(low, high, max(1, int(np.ceil((high - low) / PANEL))) + 1)
        width = edges[1] - edges[0]
        nodes = (edges[:-1, None] + edges[1:, None]) / 2 + width * NODES
        shares = np.tile(width * SHARES, len(nodes))
        return nodes.ravel(), shares / (self.fpr_range[1] - self.fpr_range[0])

    def _threshold(self, negatives, rate):
        """Return the threshold that a noisy negative exceeds with probability `rate`."""
        low, high = self.scores.min() - FAR, self.scores.max() + FAR
        if rate <= NEGLIGIBLE:
            return high
        if rate >= 1 - NEGLIGIBLE:
            return low
        return brentq(lambda c: detection_rate(negatives, np.array([c]), self.weights[1])[0] - rate, low, high)


def weighted_bells(scores, nodes, weights):
    """Return, per score, the sum over the nodes of its noisy density times a weight, ndarray of shape (n_scores,)."""
    out = np.zeros(len(scores))
    near = np.flatnonzero(scores > nodes[0] - FAR)
    for block in blocks_of(near):
        out[block] = np.einsum("ik,k->i", bells(scores[block], nodes), weights)
    return out


def density(scores, nodes, weights=None):
    """Return the density of the noisy scores of a class at each node."""
    near = np.flatnonzero(scores > nodes[0] - FAR)
    sums = (sum_of_rows(bells(scores[block], nodes), weights, block) for block in blocks_of(near))
    return sum(sums, np.zeros(len(nodes))) / (len(scores) if weights is None else weights.sum())


def sum_of_rows(values, weights, block):
    """Sum the rows of a matrix, each of which counts as the sample of the block that it belongs to."""
    return values.sum(axis=0) if weights is None else (weights[block, None] * values).sum(axis=0)


def share_of_mean(values, weights):
    """Return what each value of a class adds to the mean, ndarray of shape (n_samples,)."""
    return values / len(values) if weights is None else values * weights / weights.sum()


def bells(scores, nodes):
    """Return the density of each noisy score at each node, ndarray of shape (n_scores, n_nodes)."""
    return np.exp(-np.square(scores[:, None] - nodes)) / np.sqrt(np.pi)  # variance 1/2


def detection_rate(scores, nodes, weights=None):
    """Return the share of the noisy scores of a class above each node."""
    blocks = blocks_of(np.arange(len(scores)))
    sums = (sum_of_rows(ndtr((scores[block, None] - nodes) / NOISE), weights, block) for block in blocks)
    return sum(sums) / (len(scores) if weights is None else weights.sum())


def blocks_of(indices):
    """Cut indices into blocks whose matrices of densities fit the cache."""
    return [indices[start : start + BLOCK] for start in range(0, len(indices), BLOCK)]


def step_up(area, gradient, predicted):
    """Return the coefficient of a learner and the area with it; 0 and the area unchanged if no step raises it."""
    slope = float((gradient * predicted).sum())
    probe = area.moved(PROBE * predicted)
    fall = slope - float((probe.gradient() * predicted).sum())
    coefficient = min(slope * PROBE / fall, LARGEST_COEFFICIENT) if fall > 0 else LARGEST_COEFFICIENT
    for _ in range(MAX_HALVINGS):
        stepped = area.moved(coefficient * predicted)
        if stepped.value > area.value:
            return coefficient, stepped
        coefficient /= 2
    return 0.0, area
