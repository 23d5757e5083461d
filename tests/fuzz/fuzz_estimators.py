"""Classifiers and weak learners on odd data: a fit that keeps its promises, or a refusal where one is due.

    PYTHONPATH=tests python tests/fuzz/fuzz_estimators.py 1000 0

Input k of a seed does not depend on the number of inputs, so that an error is repeated by `check(seed, k)`.
"""

import copy
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from time import process_time
from unittest import mock

import numpy as np
from estimator_cases import draw_case
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from paucens import LinearPAUCSVC, PAUCEnsClassifier, Stump, Tree, parallel
from paucens.base.categories import as_codes
from paucens.metrics import rank_range
from paucens.validation import total_weight

FOLDER = tempfile.TemporaryDirectory()  # for a model at a time
LONGEST = 60.0  # seconds of the processor per input

# -- what must hold --------------------------------------------------------------------------------


def check(seed, k):
    """Fit on input k of a seed; return the class and whether it was fitted or refused, or raise AssertionError."""
    start, case = process_time(), draw_case(np.random.default_rng([seed, k]))
    try:
        with np.errstate(all="raise"), warnings.catch_warnings(action="ignore"):
            outcome = check_case(case)
    except Exception as error:
        raise AssertionError(f"seed {seed}, input {k}: {type(error).__name__}: {error}\n{described(case)}") from error
    seconds = process_time() - start
    assert seconds < LONGEST, f"seed {seed}, input {k}: took {seconds:.1f} s.\n{described(case)}"
    return type(case.model).__name__, outcome


def described(case):
    model = " ".join(repr(case.model).split())
    weights = "" if case.weights is None else f", weights {case.weights[:5]}..."
    return f"{model} on {case.X.dtype} {case.X.shape}{weights}, spoilt: {case.spoilt or 'no'}"


def fitted(model, case, X=None):
    """Fit a copy of a model on a case, or on other features."""
    weights = {} if case.weights is None else {"sample_weight": case.weights}
    return clone(model).fit(case.X if X is None else X, case.y, **weights)


def check_case(case):
    before = case.X.tobytes(), case.y.tobytes()
    try:
        model = fitted(case.model, case)
    except (ValueError, TypeError) as error:
        assert case.spoilt, f"refused: {error}"
        assert len(str(error)) > 20, f"the error says too little: {error!r}"
        return "refused"
    assert not case.spoilt, "not refused"
    (check_classifier if hasattr(model, "decision_function") else check_learner)(case, model)
    assert (case.X.tobytes(), case.y.tobytes()) == before, "the input was changed"
    return "fitted"


def check_classifier(case, model):
    """Finite scores that neither layout, type nor threads change, and the same from a file."""
    scores = scores_of(model, case.X)
    plain = np.ascontiguousarray(case.X, dtype=case.X.dtype.newbyteorder("=") if single(case.X) else np.float64)
    with mock.patch.object(parallel, "WORTH_A_THREAD", 1):
        again = clone(case.model)
        if "n_jobs" in again.get_params():
            again.set_params(n_jobs=2)
        assert_same(scores_of(fitted(again, case, plain), plain), scores, "of a copy in two threads")
    with warnings.catch_warnings(action="always", record=True) as seen:
        model = fitted(model, case)
    assert_same(scores_of(model, case.X), scores, "of a second fit")
    model.save(Path(FOLDER.name) / "model")
    assert_same(scores_of(type(model).load(Path(FOLDER.name) / "model"), case.X), scores, "of a file")
    row = len(case.X) // 2
    assert_same(model.decision_function(case.X[row : row + 1]), scores[-1][row : row + 1], "of one row")
    check_operating_point(model, case, scores[-1])
    if hasattr(model, "learners_"):
        check_sum(model, case.X, scores[-1])
    if isinstance(model, PAUCEnsClassifier | LinearPAUCSVC):
        check_history(model, any(issubclass(warning.category, ConvergenceWarning) for warning in seen))


def single(X):
    """Tell whether estimators compute with these features in single precision."""
    return X.dtype == np.float32


def scores_of(model, X):
    """Return the scores of all stages; the last ones are those of `decision_function`."""
    scores = model.decision_function(X)
    assert scores.shape == (len(X),) and scores.dtype == np.float64 and np.isfinite(scores).all(), scores
    np.testing.assert_array_equal(model.predict(X), model.classes_[(scores > 0).astype(int)])
    if not hasattr(model, "staged_decision_function"):
        return scores[None]
    stages = np.array(list(model.staged_decision_function(X)))
    assert len(stages) == model.n_iter_ and np.isfinite(stages).all()
    assert_same(stages[-1], scores, "of the last stage")
    return stages


def assert_same(found, expected, what):
    assert np.array_equal(found, expected), f"the scores {what} differ: {found} instead of {expected}"


@np.errstate(under="ignore")
def check_sum(model, X, scores):
    """The score is the weighted sum of what the learners say, who know categories by their codes."""
    total = np.zeros(len(X))
    if model.categories_:
        X = as_codes(X, model.categories_)
    for weight, learner in zip(model.weights_, model.learners_, strict=True):
        predicted = learner.predict(X)
        assert (np.abs(predicted) <= 1).all()
        total += weight * predicted
    assert_same(total - model.threshold_, scores, "as a sum")


def check_operating_point(model, case, scores):
    """Where there is a range, no more negatives pass than it allows, if all were trained on."""
    if hasattr(model, "fpr_range") and not getattr(model, "early_stopping", False):
        is_negative = case.y == model.classes_[0]
        weights = np.ones(len(scores)) if case.weights is None else case.weights.astype(float)
        total, passed = total_weight(weights[is_negative]), weights[is_negative & (scores > 0)].sum()
        allowed = rank_range(total, (0.0, model.fpr_range[1]))[1]
        assert passed <= allowed + (0 if isinstance(total, int) else 1e-9 * total), "too many negatives pass"


def check_history(model, has_warned):
    """The gap keeps its tolerance or a warning says that it does not; the objective begins at nu and does not rise."""
    objective, gap = model.objective_, model.gap_
    if isinstance(model, LinearPAUCSVC) or model.anneal is False or model.fpr_range[0] > 0:
        assert objective[0] <= model.nu and (np.diff(objective) <= 0).all(), f"the objective rises: {objective}"
    if not has_warned:
        ends = slice(None) if isinstance(model, PAUCEnsClassifier) else slice(-1, None)
        shares = np.abs(gap[ends]) / objective[ends]
        assert (shares <= model.cut_tolerance * (1 + 1e-9)).all(), f"no warning of a gap beyond the tolerance: {gap}"
        bound = objective - gap
        if model.cut_tolerance <= 1:  # else the digits of the bound may be rounding errors
            assert (bound <= model.nu * (1 + 1e-9)).all(), f"a bound above the objective of no weights: {bound}"


def check_learner(case, model):
    """Predictions in [-1, 1], and invariances of a fit."""
    X, weights = case.X, case.y
    predicted = model.predict(X)
    assert predicted.shape == (len(X),) and predicted.dtype == np.float64 and (np.abs(predicted) <= 1).all()
    plain = np.ascontiguousarray(X, dtype=np.float32 if single(X) else np.float64)
    assert_same(clone(case.model).fit(plain, weights).predict(plain), predicted, "of a copy")
    assert_same(copy.deepcopy(model).fit(X, weights).predict(X), predicted, "of a second fit")
    if isinstance(model, Tree | Stump):
        check_tree(case, predicted)


def check_tree(case, predicted):
    """Neither the order of the rows nor the unit of the weights matters, and of features only their order does."""

    def refitted(X, weights):
        return clone(case.model).fit(X, weights).predict(X)

    order = np.random.default_rng(0).permutation(len(case.X))
    assert_same(refitted(case.X[order], case.y[order]), predicted[order], "of permuted rows")
    magnitudes = np.abs(case.y[case.y != 0])
    if magnitudes.min(initial=1.0) > 1e-290:  # so that division is exact
        assert_same(refitted(case.X, case.y / 1024), predicted, "of weights of another unit")
    if len(case.X) <= case.model.max_bins:
        ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in case.X.T])
        assert_same(refitted(np.where(np.isnan(case.X), np.nan, ranks), case.y), predicted, "of ranks")


# -- the loop --------------------------------------------------------------------------------------


def run(n_inputs, seed):
    """Fit on drawn inputs.

    Returns
    -------
    counts : Counter
        Number of inputs per (name of the class, "fitted" or "refused").

    Raises
    ------
    AssertionError
        At the first input that breaks a promise.
    """
    return Counter(check(seed, k) for k in range(n_inputs))


if __name__ == "__main__":
    for (name, outcome), count in sorted(run(*map(int, sys.argv[1:])).items()):
        print(f"{name:22} {outcome:8} {count}")
