"""Boosters that fix one coefficient a round."""

import numpy as np
from tqdm import tqdm

from paucens.learners import Tree
from paucens.learners.binning import MAX_BINS
from paucens.model import WeightedEnsemble
from paucens.parallel import Threads
from paucens.validation import all_or_nothing, check_integer, check_positive

LARGEST_COEFFICIENT = 5.0  # a perfect learner's would be infinite
NO_EDGE = 1e-12  # an edge that is rounding
PERFECT = 1.0 - NO_EDGE


class AdaBoostClassifier(WeightedEnsemble):
    """Fit discrete AdaBoost (Freund and Schapire 1997), balanced between the classes, with shrinkage.

    Parameters
    ----------
    learner : weak learner, default=None
        `Tree(depth=3)` where None.
    n_estimators : int, default=100
        Rounds at most; fitting stops early at a learner without edge or without error.
    shrinkage : float in (0, 1], default=1.0
        Factor on every coefficient.
    max_bins : int in [2, 256], default=256
        Bins of a feature.
    n_jobs : int, optional
        Threads, as in joblib; results do not depend on it.
    random_state : int, RandomState or None
        Source of the learner's column samples.
    verbose : int, default=0
        Show a progress bar where positive.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the larger one is positive.
    learners_, weights_, threshold_
        decision_function is sum_t weights_[t] learners_[t].predict(X) - threshold_; threshold_ is 0.
    n_iter_ : int
    feature_importances_ : ndarray of shape (n_features,)

    Notes
    -----
    Coefficient w_t = 1/2 log((1 + r) / (1 - r)) with r the normalised edge sum_l u_l y_l h_t(x_l) / sum_l u_l
    (Schapire and Singer 1999; with sign leaves this is 1/2 log((1 - eps) / eps)), clipped to 5. Weights start
    at .5/m on each of m positives and .5/n on each of n negatives, as in Algorithm 1 of the paper.

    Examples
    --------
    >>> from paucens import AdaBoostClassifier
    >>> from paucens.datasets import load_toy
    >>> X, y = load_toy(random_state=0)
    >>> AdaBoostClassifier(n_estimators=20).fit(X, y).score(X, y)
    0.995
    """

    def __init__(self, *, learner=None, n_estimators=100, shrinkage=1.0, max_bins=MAX_BINS, n_jobs=None,
                 random_state=None, verbose=0):
        self.learner = learner
        self.n_estimators = n_estimators
        self.shrinkage = shrinkage
        self.max_bins = max_bins
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X, y):
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            float32 and float64 are used as they are, not copied.
        y : array-like of shape (n_samples,)
            Two labels, the larger one positive. Where the alphabet puts them the wrong way round, pass
            `y == "cancer"`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For data that is not finite, not numeric, sparse or empty, for one class or more than two, and for
            parameters out of range.
        """
        n_rounds = check_integer("n_estimators", self.n_estimators, 1)
        shrinkage = check_positive("shrinkage", self.shrinkage, most=1)
        learner = Tree(depth=3) if self.learner is None else self.learner
        with Threads(self.n_jobs) as threads:
            trainer, m, n = self._prepare(X, y, learner, threads)
            learners, coefficients = self._boost(trainer, m, n, n_rounds, shrinkage)
        self.n_iter_ = len(learners)
        return self._set_stages(learners, np.array(coefficients), np.zeros(len(learners)))

    def _boost(self, trainer, m, n, n_rounds, shrinkage):
        signed_weights = np.concatenate([np.full(m, 0.5 / m), np.full(n, -0.5 / n)])
        learners, coefficients = [], []
        with tqdm(total=n_rounds, disable=not self.verbose, desc="AdaBoost") as progress:
            for t in range(n_rounds):
                learner, outputs, edge = train_with_edge(trainer, signed_weights, t)
                if edge <= NO_EDGE and learners:
                    break
                coefficient = shrinkage * boosting_coefficient(edge)
                learners.append(learner)
                coefficients.append(coefficient)
                progress.update()
                progress.set_postfix(edge=f"{edge:.4f}", refresh=False)
                if not NO_EDGE < edge < PERFECT:
                    break
                signed_weights = reweighted(signed_weights, m, outputs, coefficient)
        return learners, coefficients


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


def reweighted(signed_weights, m, outputs, coefficient):
    """AdaBoost's weights after a round: u_l exp(-w y_l h(x_l)), normalised; positives are the first m."""
    factor = np.exp(coefficient * outputs.values)
    if outputs.index is not None:
        factor = factor[outputs.index]
    updated = signed_weights * factor
    np.divide(signed_weights[:m], factor[:m], out=updated[:m])
    return updated / np.abs(updated).sum()
