"""The methods that `beyond_1.py` and `defaults.py` compare: training samples in, a scoring function out.

Each function takes (X, y, fpr_range, seed) and the parameters of a configuration, fits on one thread, and returns a
function that scores samples. Some need an optional library; `installed` tells whether it is there.
"""

import re
from fractions import Fraction
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier

from paucens import AdaBoostClassifier, PAUCEnsClassifier, Tree
from paucens.ensemble import DEFAULT_LEARNER

COUNTS = ("depth", "rounds", "trees", "leaves", "max_leaves", "n_estimators")  # parameters that are integers


def installed(distribution):
    """Return the version of a distribution, or an empty string if it is not installed."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def parameters(configuration):
    """Read "name=value, name=value"; the value beta becomes None.

    >>> parameters("trees=300, columns=1/3, share=beta"), parameters("default")
    ({'trees': 300, 'columns': 0.3333333333333333, 'share': None}, {})
    """
    return {
        name: None if value == "beta" else int(value) if name in COUNTS else float(Fraction(value))
        for name, value in re.findall("([a-z_]+)=([^,]+)", configuration)
    }


def fit_paucens(X, y, fpr_range, seed, *, power=1.0, **parameters):
    """Fit our method with the defaults of the package, except for the given parameters of it or of its `Tree`.

    A power below 1 trains for the wider range [0, beta^power].
    """
    model = PAUCEnsClassifier((0.0, fpr_range[1] ** power), n_jobs=1, random_state=seed)
    of_ensemble = {name: parameters.pop(name) for name in set(parameters) & set(model.get_params(deep=False))}
    learner = clone(DEFAULT_LEARNER).set_params(**parameters)
    return model.set_params(learner=learner, **of_ensemble).fit(X, y).decision_function


def fit_published(X, y, fpr_range, seed, *, depth, rounds, nu):
    """Fit our method in its published form: sign leaves, no annealing."""
    fixed = {"learner": Tree(depth=depth), "anneal": False, "n_jobs": 1, "random_state": seed}
    return PAUCEnsClassifier(fpr_range, n_estimators=rounds, nu=nu, **fixed).fit(X, y).decision_function


def fit_adaboost(X, y, fpr_range, seed, *, depth, rounds, shrinkage):
    """Fit discrete AdaBoost, balanced between the classes."""
    fixed = {"learner": Tree(depth=depth), "n_jobs": 1, "random_state": seed}
    return AdaBoostClassifier(n_estimators=rounds, shrinkage=shrinkage, **fixed).fit(X, y).decision_function


def fit_lightgbm(X, y, fpr_range, seed, *, rate, trees, leaves, columns, ridge=0.0, objective=None):
    """Fit LightGBM to the logistic loss, or to the gradient that `objective` computes."""
    from lightgbm import LGBMClassifier

    size = {"learning_rate": rate, "n_estimators": trees, "num_leaves": leaves}
    fixed = {"n_jobs": 1, "random_state": seed, "deterministic": True, "force_col_wise": True, "verbose": -1}
    model = LGBMClassifier(objective=objective, feature_fraction_bynode=columns, reg_lambda=ridge, **size, **fixed)
    return partial(model.fit(X, y).predict, raw_score=True)


def fit_top_pairs(X, y, fpr_range, seed, *, share, **parameters):
    """Fit LightGBM to pairs of a positive and one of the highest-scored negatives: the rival to beat.

    `share` is the fraction of the negatives that count as highest; None means the beta of the range.
    """
    objective = TopPairs(fpr_range[1] if share is None else share)
    return fit_lightgbm(X, y, fpr_range, seed, objective=objective, **parameters)


class TopPairs:
    """The logistic loss of all pairs of a positive and a negative of the top share, averaged over these negatives.

        sum_i mean_j log(1 + exp(f_j - f_i)),   i a positive, j one of the highest-scored negatives

    LightGBM calls it in each round for the gradient and the diagonal of the Hessian. It is scaled so that a positive
    weighs at most 1, as in the logistic loss, and the negatives together weigh as much as the positives. At least one
    negative takes part, and all that tie with the last one.

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
        wrong = expit(small[top] - small[positives, None])  # of each pair, the derivative of its loss
        squares = np.einsum("ij,ij->i", wrong, wrong), np.einsum("ij,ij->j", wrong, wrong)
        gradient, curvature = np.zeros((2, len(y)))
        for samples, axis, sign in ((positives, 1, -1), (top, 0, 1)):
            total = wrong.sum(axis=axis)
            gradient[samples] = sign * total / len(top)
            curvature[samples] = (total - squares[1 - axis]) / len(top)
        return gradient, curvature


def fit_xgboost(X, y, fpr_range, seed, *, rate, trees, leaves, columns, ridge=1.0):
    """Fit XGBoost, with trees that grow best first like those of the others."""
    from xgboost import XGBClassifier

    size = {"learning_rate": rate, "n_estimators": trees, "max_leaves": leaves, "max_depth": 0}
    fixed = {"grow_policy": "lossguide", "tree_method": "hist", "n_jobs": 1, "random_state": seed}
    model = XGBClassifier(colsample_bynode=columns, reg_lambda=ridge, **size, **fixed)
    return partial(model.fit(X, y).predict, output_margin=True)


def fit_histogram_boosting(X, y, fpr_range, seed, *, rate, trees, leaves, columns, ridge=0.0):
    """Fit scikit-learn's histogram boosting, without early stopping."""
    size = {"learning_rate": rate, "max_iter": trees, "max_leaf_nodes": leaves, "max_features": columns}
    model = HistGradientBoostingClassifier(l2_regularization=ridge, early_stopping=False, random_state=seed, **size)
    return model.fit(X, y).decision_function
