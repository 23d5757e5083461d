"""The rivals of `beyond_1.py` and `defaults.py`: one function each, training samples in, a scoring function out.

Each takes (X, y, fpr_range, seed) and the parameters of a setting, uses one thread, and gives back what turns
samples into scores. The libraries behind them are optional; `installed` says whether one is there.
"""

from functools import partial
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier

from paucens import AdaBoostClassifier, PAUCEnsClassifier, Tree
from paucens.ensemble import DEFAULT_LEARNER


def installed(*distributions):
    """Return the version of the first distribution that is installed, or an empty text.

    Examples
    --------
    >>> installed("no-such-distribution")
    ''
    """
    for distribution in distributions:
        try:
            return version(distribution)
        except PackageNotFoundError:
            continue
    return ""


# ---------------------------------------------------------------------------------- ours


def fit_paucens(X, y, fpr_range, seed, *, power=1.0, **parameters):
    """Our method as a user gets it: what the setting does not name is the default of the package.

    The parameters of `Tree` may stand beside those of the classifier; they change its default learner. A power
    below 1 trains for the wider range [0, beta^power].
    """
    model = PAUCEnsClassifier((0.0, fpr_range[1] ** power), n_jobs=1, random_state=seed)
    ensemble = {name: parameters.pop(name) for name in set(parameters) & set(model.get_params(deep=False))}
    learner = clone(DEFAULT_LEARNER).set_params(**parameters)
    return model.set_params(learner=learner, **ensemble).fit(X, y).decision_function


def fit_published(X, y, fpr_range, seed, *, depth, rounds, nu):
    """The published form of our method: sign leaves, no annealing."""
    model = PAUCEnsClassifier(
        fpr_range, learner=Tree(depth=depth), n_estimators=rounds, nu=nu, anneal=False, n_jobs=1, random_state=seed
    )
    return model.fit(X, y).decision_function


def fit_adaboost(X, y, fpr_range, seed, *, depth, rounds, shrinkage):
    """Discrete AdaBoost, balanced between the classes."""
    model = AdaBoostClassifier(
        learner=Tree(depth=depth), n_estimators=rounds, shrinkage=shrinkage, n_jobs=1, random_state=seed
    )
    return model.fit(X, y).decision_function


# ---------------------------------------------------------------------------------- gradient boosters


def fit_lightgbm(X, y, fpr_range, seed, *, rate, trees, leaves, columns, ridge=0.0, objective=None):
    """LightGBM on the logistic loss, or on the gradient that `objective` computes."""
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(
        objective=objective,
        learning_rate=rate,
        n_estimators=trees,
        num_leaves=leaves,
        feature_fraction_bynode=columns,
        reg_lambda=ridge,
        n_jobs=1,
        random_state=seed,
        deterministic=True,
        force_col_wise=True,
        verbose=-1,
    )
    return partial(model.fit(X, y).predict, raw_score=True)


def fit_top_pairs(X, y, fpr_range, seed, *, share, **parameters):
    """LightGBM on pairs of a positive and one of the best-scored negatives: the rival to beat.

    `share` is the part of the negatives that counts as the best; None for beta of the range.
    """
    objective = TopPairs(fpr_range[1] if share is None else share)
    return fit_lightgbm(X, y, fpr_range, seed, objective=objective, **parameters)


class TopPairs:
    """The logistic loss of all pairs of a positive and a negative of the top share, averaged over the negatives.

        sum_i mean_j log(1 + exp(f_j - f_i)),   i a positive, j one of the best-scored negatives

    Parameters
    ----------
    share : float in (0, 1]
        At least one negative takes part, and with the last one those that tie with it.

    Notes
    -----
    Called by LightGBM each round for the gradient and the diagonal of the Hessian. Scaled so that a positive
    weighs at most 1, as in the logistic loss, and the negatives weigh together as much as the positives.

    Examples
    --------
    >>> TopPairs(0.5)(np.array([1, 0, 0]), np.array([0.0, 0.0, -1.0]))
    (array([-0.5,  0.5,  0. ]), array([0.25, 0.25, 0.  ]))
    """

    def __init__(self, share):
        self.share = share

    def __call__(self, y, scores):
        positives, negatives = np.flatnonzero(y > 0), np.flatnonzero(y <= 0)
        rank = len(negatives) - max(1, int(self.share * len(negatives) + 1e-9))
        top = negatives[scores[negatives] >= np.partition(scores[negatives], rank)[rank]]
        small = scores.astype(np.float32)
        wrong = expit(small[top] - small[positives, None])  # pairs, the derivative of their losses
        squares = np.einsum("ij,ij->i", wrong, wrong), np.einsum("ij,ij->j", wrong, wrong)
        gradient, curvature = np.zeros((2, len(y)))
        for samples, axis, sign in ((positives, 1, -1), (top, 0, 1)):
            total = wrong.sum(axis=axis)
            gradient[samples] = sign * total / len(top)
            curvature[samples] = (total - squares[1 - axis]) / len(top)
        return gradient, curvature


def fit_xgboost(X, y, fpr_range, seed, *, rate, trees, leaves, columns, ridge=1.0):
    """XGBoost, growing best first like the others."""
    from xgboost import XGBClassifier

    model = XGBClassifier(
        learning_rate=rate,
        n_estimators=trees,
        max_leaves=leaves,
        max_depth=0,
        grow_policy="lossguide",
        colsample_bynode=columns,
        reg_lambda=ridge,
        tree_method="hist",
        n_jobs=1,
        random_state=seed,
    )
    return partial(model.fit(X, y).predict, output_margin=True)


def fit_histogram_boosting(X, y, fpr_range, seed, *, rate, trees, leaves, columns, ridge=0.0):
    """scikit-learn's histogram boosting, without early stopping."""
    model = HistGradientBoostingClassifier(
        learning_rate=rate,
        max_iter=trees,
        max_leaf_nodes=leaves,
        max_features=columns,
        l2_regularization=ridge,
        early_stopping=False,
        random_state=seed,
    )
    return model.fit(X, y).decision_function
