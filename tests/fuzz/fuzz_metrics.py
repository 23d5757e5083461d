"""Metrics of drawn inputs against exact rational arithmetic.

Scores, weights and ranges are ordinary or at the edges of their types: integers beyond 2^53, neighbouring floats,
weights whose sum overflows or vanishes, ranges of denormal width. `run` is the entry.
"""

import itertools
import math
import warnings
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from paucens.metrics import (
    partial_auc,
    partial_auc_interval,
    partial_auc_test,
    rank_range,
    roc_points,
    threshold_at_fpr,
    tpr_at_fpr,
)

TOLERANCE = Fraction(1, 10**9)  # relative; rates this close count as equal
ROUNDING = 1e-14  # relative error of a rate


class Case(NamedTuple):
    """One input of all metrics."""

    labels: np.ndarray
    scores: np.ndarray | list
    others: np.ndarray  # a second score
    weights: np.ndarray | None
    fpr_range: tuple
    fpr: float


def run(n_inputs, seed):
    """Check all metrics on `n_inputs` drawn inputs; raise AssertionError with the first one that fails."""
    for k in range(n_inputs):
        check(seed, k)


def check(seed, k):
    """Check all metrics on input k of a seed, or raise AssertionError."""
    case = draw_case(np.random.default_rng([seed, k]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for check_one in CHECKS_OF_NARROW if is_narrow(case.fpr_range) else CHECKS:
                check_one(case)
    except Exception as error:
        raise AssertionError(f"seed {seed}, input {k}: {type(error).__name__}: {error}\n{case!r}") from error


# ---- inputs

SCORES = {
    "tied": lambda steps, rng: steps % 4 / 2.0,
    "floats": lambda steps, rng: rng.normal(size=len(steps)),
    "float32": lambda steps, rng: rng.normal(size=len(steps)).astype(np.float32),
    "bool": lambda steps, rng: steps % 2 == 0,
    "int8": lambda steps, rng: (steps - 10).astype(np.int8),
    "int64": lambda steps, rng: 2**60 + steps,
    "negative int64": lambda steps, rng: -(2**63) + steps,
    "uint64": lambda steps, rng: 2**64 - 1 - steps.astype(np.uint64),
    "negated uint64": lambda steps, rng: -(2**60 + steps.astype(np.uint64)),
    "python integers": lambda steps, rng: [10**25 + int(step) for step in steps],
    "integers of two sizes": lambda steps, rng: [int(step) + 2**63 * int(step % 2) for step in steps],
    "neighbours": lambda steps, rng: 1.0 + steps * 2.0**-52,
    "long neighbours": lambda steps, rng: np.longdouble(1) + steps * np.finfo(np.longdouble).eps,
    "denormal": lambda steps, rng: steps * 5e-324,
    "largest": lambda steps, rng: np.finfo(float).max * (1 - steps / 10),
}

WEIGHTS = {
    "none": lambda rng, size: None,
    "none again": lambda rng, size: None,
    "integers": lambda rng, size: rng.integers(0, 4, size),
    "floats": lambda rng, size: rng.random(size),
    "overflow": lambda rng, size: rng.choice([1e308, 1.7e308, 3e307], size),
    "vanish": lambda rng, size: rng.integers(0, 4, size) * 5e-324,
    "many magnitudes": lambda rng, size: 10.0 ** rng.uniform(-100, 100, size),
}

RANGES = {
    "any": lambda rng, n: sorted(rng.random(2)),
    "twentieths": lambda rng, n: sorted(rng.choice(21, 2, replace=False) / 20),
    "from zero": lambda rng, n: (0, rng.random() ** 4),
    "whole negatives": lambda rng, n: sorted(rng.choice(n + 1, 2, replace=False) / n),
    "tiny": lambda rng, n: (0, 10.0 ** rng.uniform(-250, -3)),
    "denormal": lambda rng, n: [k * 5e-324 for k in sorted(rng.choice(9, 2, replace=False))],
    "narrow": lambda rng, n: rng.integers(1, 20) / 20 * np.array([1, 1 + 10.0 ** rng.uniform(-14, -3)]),
}


def draw_case(rng):
    """Draw one input."""
    size = int(rng.integers(2, 25))
    labels = rng.permutation([0, 1, *(rng.random(size - 2) < rng.random())]).astype(int)
    n_negatives = int(np.sum(labels == 0))
    scores = pick(rng, SCORES)(rng.integers(0, 20, size), rng)
    weights = pick(rng, WEIGHTS)(rng, size)
    if weights is not None:  # no class may weigh nothing
        for label in (0, 1):
            row = rng.choice(np.flatnonzero(labels == label))
            weights[row] = weights[row] or weights.max() or 1
    kinds = [kind for kind in RANGES if weights is None or kind != "denormal"]  # their rates are not exact to 1e-14
    alpha, beta = (float(end) for end in RANGES[rng.choice(kinds)](rng, n_negatives))
    fpr = float(rng.choice([alpha, beta, rng.random(), rng.integers(0, n_negatives + 1) / n_negatives]))
    return Case(labels, scores, rng.permutation(size) // 2, weights, (alpha, beta), fpr)


def pick(rng, choices):
    """Choose one of the values of a dictionary."""
    return choices[rng.choice(list(choices))]


# ---- exact twins


def exact_curve(labels, scores, weights):
    """Return the distinct scores that weigh something, best first, and FPR and TPR before and after each, fractions."""
    values = scores if isinstance(scores, list) else scores.tolist()  # Python compares all of them exactly
    weights = [Fraction(1)] * len(values) if weights is None else [Fraction(w) for w in weights.tolist()]
    rows = [row for row in zip(values, labels.tolist(), weights, strict=True) if row[2] > 0]
    totals = [sum(weight for _, label, weight in rows if label == kind) for kind in (0, 1)]
    place = {value: k for k, value in enumerate(sorted({row[0] for row in rows}, reverse=True))}
    tallies = [[Fraction(0)] * len(place) for _ in totals]
    for value, label, weight in rows:
        tallies[label][place[value]] += weight / totals[label]
    return list(place), *([Fraction(0), *itertools.accumulate(tally)] for tally in tallies)


def exact_area(fpr, tpr, alpha, beta):
    """Return the area under a curve between two rates, a fraction."""
    area = Fraction(0)
    for (x0, x1), (y0, y1) in zip(itertools.pairwise(fpr), itertools.pairwise(tpr), strict=True):
        left, right = max(x0, alpha), min(x1, beta)
        if right > left:
            area += (right - left) * (y0 + (y1 - y0) * ((left + right) / 2 - x0) / (x1 - x0))
    return area


def exact_heights(fpr, tpr, rate):
    """Return the lowest and the highest point of a curve at a rate; they differ on a vertical piece."""
    heights = [y for x, y in zip(fpr, tpr, strict=True) if x == rate]
    for (x0, x1), (y0, y1) in zip(itertools.pairwise(fpr), itertools.pairwise(tpr), strict=True):
        if x0 < rate < x1:
            heights.append(y0 + (y1 - y0) * (rate - x0) / (x1 - x0))
    return min(heights), max(heights)


def exact_share(rows, chosen, weights):
    """Return the share of the weight of some rows that is chosen, a fraction."""
    weights = np.ones(len(rows)) if weights is None else weights
    return sum(map(Fraction, weights[rows & chosen].tolist())) / sum(map(Fraction, weights[rows].tolist()))


def exact_range(fpr_range):
    """Return the two ends as fractions and the largest error that rounded rates make in a normalized area."""
    alpha, beta = map(Fraction, fpr_range)
    return alpha, beta, ROUNDING * float(1 + beta / (beta - alpha))


def is_narrow(fpr_range):
    """Say whether the ends of a range count as equal."""
    alpha, beta = fpr_range
    return beta - alpha <= float(TOLERANCE) * beta


# ---- checks


def check_curve(case):
    """Rates, thresholds, and the refusal of integers that do not fit beside infinity."""
    thresholds, *rates = exact_curve(case.labels, case.scores, case.weights)
    try:
        *got, got_thresholds = roc_points(case.labels, case.scores, sample_weight=case.weights)
    except ValueError as error:
        assert "Subtract a common offset" in str(error)
        assert all(isinstance(t, int) for t in thresholds) and max(map(abs, thresholds)) > 2**53
        return
    assert got_thresholds.tolist() == [math.inf, *thresholds]
    for ours, exact in zip(got, rates, strict=True):
        assert all(abs(x - float(e)) <= ROUNDING * float(e) for x, e in zip(ours.tolist(), exact, strict=True))


def check_areas(case):
    """The partial AUC on all scales."""
    _, fpr, tpr = exact_curve(case.labels, case.scores, case.weights)
    alpha, beta, error = exact_range(case.fpr_range)
    area, width, chance = exact_area(fpr, tpr, alpha, beta), beta - alpha, (alpha + beta) / 2
    expected = {
        "normalized": (area / width, 1),
        "raw": (area, width),
        "mcclish": ((1 + (area / width - chance) / (1 - chance)) / 2, 1 / (1 - chance)),
    }
    for scale, (value, stretch) in expected.items():
        got = partial_auc(case.labels, case.scores, case.fpr_range, scale=scale, sample_weight=case.weights)
        assert abs(got - float(value)) <= error * stretch + 5e-324, (scale, got, float(value))


def check_operating_points(case):
    """TPR and threshold at a bound, and the rate between two corners."""
    distinct, fpr, tpr = exact_curve(case.labels, case.scores, case.weights)
    low, high = (Fraction(case.fpr) * (1 + TOLERANCE * sign) for sign in (-2, 2))
    # the last corner within the bound, of which there may be several within the tolerance
    corners = [k for k in range(len(fpr)) if fpr[k] <= high and not any(x <= low for x in fpr[k + 1 :])]
    arguments, weights = (case.labels, case.scores, case.fpr), {"sample_weight": case.weights}
    got = tpr_at_fpr(*arguments, **weights)
    assert min(abs(got - float(tpr[k])) for k in corners) <= ROUNDING, (got, corners)
    threshold = threshold_at_fpr(*arguments, **weights)
    assert threshold in [distinct[min(k, len(distinct) - 1)] for k in corners], (threshold, corners)
    passes = np.asarray(case.scores, dtype=object if isinstance(case.scores, list) else None) > threshold
    assert exact_share(case.labels == 0, passes, case.weights) <= high, threshold
    got = tpr_at_fpr(*arguments, rule="interpolate", **weights)
    bounds = exact_heights(fpr, tpr, low)[0], exact_heights(fpr, tpr, min(high, Fraction(1)))[1]
    assert float(bounds[0]) - ROUNDING <= got <= float(bounds[1]) + ROUNDING, (got, *map(float, bounds))


def check_ranks(case):
    """The ranks that a range holds: rounded towards its inside, up to the tolerance."""
    n = int(np.sum(case.labels == 0)) * 10**6
    alpha, beta, _ = exact_range(case.fpr_range)
    j_alpha, j_beta = rank_range(n, case.fpr_range)
    assert n * alpha * (1 - 2 * TOLERANCE) <= j_alpha < n * alpha + 1
    assert n * beta - 1 < j_beta <= n * beta * (1 + 2 * TOLERANCE)


def check_interval(case):
    """The ends lie around the value, in [0, 1], apart, and depend on the order of the scores only."""
    got = partial_auc_interval(case.labels, case.scores, case.fpr_range)
    assert got.value == partial_auc(case.labels, case.scores, case.fpr_range)
    assert 0 <= got.low <= got.value <= got.high <= 1 and got.low < got.high, got
    assert got == partial_auc_interval(case.labels, ranks(case.scores), case.fpr_range)


def check_test(case):
    """The difference is that of the exact areas; interval and p-value fit it and change sign with the order."""
    got = partial_auc_test(case.labels, case.scores, case.others, case.fpr_range)
    alpha, beta, error = exact_range(case.fpr_range)
    areas = (exact_area(*exact_curve(case.labels, s, None)[1:], alpha, beta) for s in (case.scores, case.others))
    difference = float((next(areas) - next(areas)) / (beta - alpha))
    assert abs(got.difference - difference) <= 2 * error, (got, difference)
    assert -1 <= got.low <= got.difference <= got.high <= 1 and 0 <= got.p_value <= 1, got
    back = partial_auc_test(case.labels, case.others, case.scores, case.fpr_range)
    assert np.allclose(back, (-got.difference, -got.high, -got.low, got.p_value), rtol=1e-9, atol=1e-12), (got, back)
    assert got == partial_auc_test(case.labels, ranks(case.scores), case.others, case.fpr_range)


def check_refusal(case):
    """A range whose ends count as equal is refused."""
    for call in (partial_auc, partial_auc_interval, lambda y, s, r: partial_auc_test(y, s, case.others, r)):
        try:
            call(case.labels, case.scores, case.fpr_range)
        except ValueError as error:
            assert "fpr_range must be wider" in str(error)
        else:
            raise AssertionError("not refused")


def ranks(scores):
    """Return the ranks of the scores as floats, by exact comparison; tied scores share one."""
    values = scores if isinstance(scores, list) else scores.tolist()
    place = {value: float(k) for k, value in enumerate(sorted(set(values)))}
    return np.array([place[value] for value in values])


CHECKS_OF_NARROW = check_curve, check_operating_points, check_refusal
CHECKS = check_curve, check_operating_points, check_areas, check_ranks, check_interval, check_test
