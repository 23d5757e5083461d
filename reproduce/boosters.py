"""The methods that `beyond_1.py`, `beyond_3.py` and `defaults.py` compare.

Each `fit_` function takes (X, y, fpr_range, seed) and the parameters of a configuration, fits on one thread, and
returns a function that scores samples. Each `make_` function takes the seed and the parameters and returns a classifier
to be fitted, perhaps one of few trees. Some need an optional library; `installed` tells whether it is there.
"""

import re
from fractions import Fraction
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import islice

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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
    """Read "name=value, name=value"; the value beta becomes None, other words remain.

    >>> parameters("trees=300, columns=1/3, share=beta"), parameters("leaves=sign"), parameters("default")
    ({'trees': 300, 'columns': 0.3333333333333333, 'share': None}, {'leaves': 'sign'}, {})
    """
    return {name: _value(name, text) for name, text in re.findall("([A-Za-z_]+)=([^,]+)", configuration)}


def _value(name, text):
    if text.isalpha():
        return None if text == "beta" else text
    return int(text) if name in COUNTS else float(Fraction(text))


def fit_paucens(X, y, fpr_range, seed, *, power=1.0, **parameters):
    """Fit our method with the defaults of the package, except for the given parameters of it or of its `Tree`.

    A power below 1 trains for the wider range [0, beta^power].
    """
    model = PAUCEnsClassifier((0.0, fpr_range[1] ** power), n_jobs=1, random_state=seed)
    of_ensemble = {name: parameters.pop(name) for name in set(parameters) & set(model.get_params(deep=False))}
    if parameters:
        model.set_params(learner=clone(DEFAULT_LEARNER).set_params(**parameters))
    return model.set_params(**of_ensemble).fit(X, y).decision_function


def fit_published(X, y, fpr_range, seed, *, depth, rounds, nu):
    """Fit our method in its published form: sign leaves, no annealing."""
    fixed = {"learner": Tree(depth=depth), "anneal": False, "n_jobs": 1, "random_state": seed}
    return PAUCEnsClassifier(fpr_range, n_estimators=rounds, nu=nu, **fixed).fit(X, y).decision_function


def make_paucens(seed, *, beta, depth, trees, nu, leaf_ridge=0.0, leaves="real", mixture="auto", binning="quantile"):
    """Make our method for [0, beta], without annealing: what it is after t rounds does not depend on later ones."""
    learner = Tree(depth=depth, leaves=leaves, leaf_ridge=leaf_ridge)
    fixed = {"learner": learner, "anneal": False, "n_jobs": 1, "random_state": seed}
    return PAUCEnsClassifier((0.0, beta), n_estimators=trees, nu=nu, mixture=mixture, binning=binning, **fixed)


def fit_adaboost(X, y, fpr_range, seed, *, depth, rounds, shrinkage):
    """Fit discrete AdaBoost, balanced between the classes."""
    fixed = {"learner": Tree(depth=depth), "n_jobs": 1, "random_state": seed}
    return AdaBoostClassifier(n_estimators=rounds, shrinkage=shrinkage, **fixed).fit(X, y).decision_function


def make_adaboost(seed, *, depth, trees, leaves, shrinkage, leaf_ridge=0.0):
    """Make AdaBoost of sign or real leaves, balanced between the classes."""
    learner = Tree(depth=depth, leaves=leaves, leaf_ridge=leaf_ridge)
    return AdaBoostClassifier(learner=learner, n_estimators=trees, shrinkage=shrinkage, n_jobs=1, random_state=seed)


def make_logistic_regression(seed, *, C):
    """Make a logistic regression of standardised features."""
    return make_pipeline(StandardScaler(), LogisticRegression(C=C, max_iter=200, random_state=seed))


def fit_lightgbm(X, y, fpr_range, seed, **parameters):
    """Fit LightGBM to the logistic loss, or to the gradient that `objective` computes."""
    return partial(make_lightgbm(seed, **parameters).fit(X, y).predict, raw_score=True)


def make_lightgbm(seed, *, rate, trees, leaves=None, depth=None, columns=1.0, ridge=0.0, objective=None):
    """Make LightGBM; without a depth trees have any number of levels, and without leaves 2^depth."""
    from lightgbm import LGBMClassifier

    size = {"n_estimators": trees, "num_leaves": leaves or 2**depth, "max_depth": depth or -1, "learning_rate": rate}
    fixed = {"n_jobs": 1, "random_state": seed, "deterministic": True, "force_col_wise": True, "verbose": -1}
    return LGBMClassifier(objective=objective, feature_fraction_bynode=columns, reg_lambda=ridge, **size, **fixed)


def fit_top_pairs(X, y, fpr_range, seed, **parameters):
    """Fit LightGBM to pairs of a positive and one of the highest-scored negatives: the rival to beat."""
    return partial(make_top_pairs(seed, beta=fpr_range[1], **parameters).fit(X, y).predict, raw_score=True)


def make_top_pairs(seed, *, beta, share, **parameters):
    """Make LightGBM with the loss of top pairs; the fraction of the negatives that count is the share, or else beta."""
    return make_lightgbm(seed, objective=TopPairs(beta if share is None else share), **parameters)


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


def fit_xgboost(X, y, fpr_range, seed, **parameters):
    """Fit XGBoost."""
    return partial(make_xgboost(seed, **parameters).fit(X, y).predict, output_margin=True)


def make_xgboost(seed, *, rate, trees, leaves=None, depth=None, columns=1.0, ridge=1.0):
    """Make XGBoost, with trees that grow best first like those of the others; leaves and depth as for LightGBM."""
    from xgboost import XGBClassifier

    size = {"n_estimators": trees, "max_leaves": leaves or 2**depth, "max_depth": depth or 0, "learning_rate": rate}
    fixed = {"grow_policy": "lossguide", "tree_method": "hist", "n_jobs": 1, "random_state": seed}
    return XGBClassifier(colsample_bynode=columns, reg_lambda=ridge, **size, **fixed)


def fit_histogram_boosting(X, y, fpr_range, seed, **parameters):
    """Fit scikit-learn's histogram boosting."""
    return make_histogram_boosting(seed, **parameters).fit(X, y).decision_function


def make_histogram_boosting(seed, *, rate, trees, leaves=None, depth=None, columns=1.0, ridge=0.0):
    """Make scikit-learn's histogram boosting, without early stopping; leaves and depth as for LightGBM."""
    size = {"max_iter": trees, "max_leaf_nodes": leaves or 2**depth, "max_depth": depth, "learning_rate": rate}
    fixed = {"early_stopping": False, "random_state": seed}
    return HistGradientBoostingClassifier(l2_regularization=ridge, max_features=columns, **size, **fixed)


def scores_after(model, X, n):
    """Score by the first n trees of a fitted ensemble, or by all if it has fewer; a model without trees as it is."""
    if hasattr(model, "booster_"):  # LightGBM
        return model.predict(X, raw_score=True, num_iteration=n)
    if hasattr(model, "get_booster"):  # XGBoost
        return model.predict(X, output_margin=True, iteration_range=(0, n))
    if hasattr(model, "truncated"):
        return model.truncated(min(n, len(model.learners_))).decision_function(X)
    if hasattr(model, "staged_decision_function"):
        return next(islice(model.staged_decision_function(X), n - 1, None))
    return model.decision_function(X)
