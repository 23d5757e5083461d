"""The range, the rows and the bins that `PAUCEnsClassifier` is trained with, if they are not the usual ones."""

import numpy as np
import pytest

from paucens import PAUCEnsClassifier, Stump, Tree
from paucens.datasets import load_toy
from paucens.ensemble.automatic import trained_nu, trained_range
from paucens.ensemble.rounds import RowSample

SMALL = {"learner": Tree(depth=2), "n_estimators": 6, "nu": 1.0, "anneal": False}


@pytest.fixture(scope="module")
def toy():
    return load_toy(100, 400, random_state=0)


# -- the range -------------------------------------------------------------------------------------


def test_a_training_range_changes_the_weights_and_not_the_threshold_rule(toy):
    X, y = toy
    wide = PAUCEnsClassifier((0, 0.2), **SMALL).fit(X, y)
    model = PAUCEnsClassifier((0, 0.01), train_range=(0, 0.2), **SMALL).fit(X, y)
    np.testing.assert_array_equal(model.weights_, wide.weights_)
    np.testing.assert_array_equal(model.objective_, wide.objective_)
    scores = model.decision_function(X)
    assert (scores[y == 0] > 0).mean() <= 0.01 < (wide.decision_function(X)[y == 0] > 0).mean()


def test_a_training_range_may_be_narrower_than_the_wanted_one(toy):
    X, y = toy
    model = PAUCEnsClassifier((0, 0.2), train_range=(0, 0.05), **SMALL).fit(X, y)
    narrow = PAUCEnsClassifier((0, 0.05), **SMALL).fit(X, y)
    np.testing.assert_array_equal(model.weights_, narrow.weights_)
    assert (model.decision_function(X)[y == 0] > 0).mean() <= 0.2
    assert model.threshold_ <= narrow.threshold_


@pytest.mark.parametrize(
    ("n_negatives", "beta", "expected"), [(400, 0.01, 0.1), (20_000, 0.001, 0.01), (400, 0.2, 0.2)]
)
def test_an_automatic_range_holds_200_negatives_or_a_tenth(n_negatives, beta, expected):
    model = PAUCEnsClassifier((0, beta), train_range="auto")
    assert trained_range(model, n_negatives) == (0.0, expected)


def test_the_automatic_range_is_that_range(toy):
    X, y = toy
    automatic = PAUCEnsClassifier((0, 0.01), train_range="auto", n_estimators=5, random_state=0).fit(X, y)
    named = PAUCEnsClassifier((0, 0.01), train_range=(0, 0.1), n_estimators=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(automatic.decision_function(X), named.decision_function(X))


@pytest.mark.parametrize(
    "options",
    [
        {"train_range": "wide"},
        {"train_range": "auto", "learner": Stump()},
        {"train_range": "auto", "fpr_range": (0.1, 0.2)},
    ],
    ids=repr,
)
def test_automatic_ranges_that_are_refused(toy, options):
    with pytest.raises(ValueError, match="train_range must be None, two rates, or 'auto' for a range that starts at 0"):
        PAUCEnsClassifier(**options).fit(*toy)


def test_a_training_range_is_a_range(toy):
    with pytest.raises(ValueError, match="must be two rates"):
        PAUCEnsClassifier(train_range=(0.2, 0.1)).fit(*toy)


# -- nu --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_samples", "expected"), [(1, 0.03), (8000, 0.03), (12_000, 0.065), (16_000, 0.1), (64_000, 0.4), (10**9, 0.8)]
)
def test_an_automatic_nu_grows_with_the_samples(n_samples, expected):
    assert trained_nu(PAUCEnsClassifier(nu="auto"), n_samples) == pytest.approx(expected)


def test_the_automatic_nu_is_that_nu_and_weights_count_as_samples(toy):
    X, y = toy
    options = {"n_estimators": 3, "random_state": 0}
    weights = np.full(len(y), 32_000 // len(y))
    automatic = PAUCEnsClassifier(nu="auto", **options).fit(X, y, weights)
    named = PAUCEnsClassifier(nu=weights.sum() / 160_000, **options).fit(X, y, weights)
    np.testing.assert_array_equal(automatic.decision_function(X), named.decision_function(X))
    assert not np.array_equal(named.decision_function(X), PAUCEnsClassifier(**options).fit(X, y).decision_function(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"nu": "large"}, "nu must be"), ({"nu": None}, "nu must be"), ({"nu": "auto", "learner": Stump()}, "is for")],
    ids=repr,
)
def test_values_of_nu_that_are_refused(toy, options, message):
    with pytest.raises(ValueError, match=message):
        PAUCEnsClassifier(**options).fit(*toy)


# -- rows ------------------------------------------------------------------------------------------


def test_rows_are_drawn_anew_in_each_round_and_again_in_each_fit():
    weights = np.arange(1.0, 101)
    parts = [RowSample(100, 0.6, seed=3).of_round(weights, t) for t in (0, 1, 0)]
    for part in parts:
        assert np.count_nonzero(part) == 60
        assert set(part) <= {0.0, *weights}
    np.testing.assert_array_equal(parts[0], parts[2])
    assert (parts[0] != parts[1]).any()
    assert RowSample(100, 1.0, 3).of_round(weights, 0) is weights
    assert np.count_nonzero(RowSample(100, 1e-9, 3).of_round(weights, 0)) == 1


def test_learners_see_a_part_of_the_rows(toy):
    X, y = toy
    whole, part = (PAUCEnsClassifier((0, 0.2), row_fraction=f, random_state=0, **SMALL).fit(X, y) for f in (1.0, 0.5))
    again = PAUCEnsClassifier((0, 0.2), row_fraction=0.5, random_state=0, n_jobs=2, **SMALL).fit(X, y)
    np.testing.assert_array_equal(part.decision_function(X), again.decision_function(X))
    assert (part.decision_function(X) != whole.decision_function(X)).any()
    assert (part.gap_ <= 0.01 * part.objective_).all()


def test_a_learner_of_few_rows_is_no_reason_to_stop(toy):
    """A learner of one row has no edge; before stopping one is trained on all rows."""
    X, y = toy
    model = PAUCEnsClassifier((0, 0.2), row_fraction=1e-9, random_state=0, **SMALL).fit(X, y)
    assert model.n_iter_ == 6 and model.weights_.any()


@pytest.mark.parametrize("fraction", [0, -0.5, 1.5, np.nan, "half"])
def test_fractions_of_rows(toy, fraction):
    with pytest.raises(ValueError, match="row_fraction must be a finite number, larger than 0 and at most 1"):
        PAUCEnsClassifier(row_fraction=fraction).fit(*toy)
