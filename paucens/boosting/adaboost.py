"""AdaBoost."""

from paucens.boosting.rounds import Booster
from paucens.learners.binning import MAX_BINS


class AdaBoostClassifier(Booster):
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

    def __init__(
        self,
        *,
        learner=None,
        n_estimators=100,
        shrinkage=1.0,
        max_bins=MAX_BINS,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        super().__init__(
            learner=learner,
            n_estimators=n_estimators,
            shrinkage=shrinkage,
            max_bins=max_bins,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
