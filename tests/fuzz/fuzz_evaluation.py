"""Matching, miss rates and boxes on random images, against slow twins; spoilt boxes are refused by every function.

    PYTHONPATH=tests python tests/fuzz/fuzz_evaluation.py 100000 1

Input k of a seed does not depend on the number of inputs, so that an error is repeated by `check(seed, k)`.
"""

import sys

import numpy as np
import reference_boxes as reference
import reference_kitti
from sklearn.utils import Bunch

from paucens.evaluation import (
    fppw_curve,
    kitti_average_precision,
    log_average_miss_rate,
    match_detections,
    match_images,
    miss_rate_at_fppw,
    miss_rate_curve,
    prepare_images,
    standardize_boxes,
)

LIMITS = (0.25, 0.5, 0.65, 1.0)
SPOILT = (np.nan, np.inf, -np.inf)


def draw_boxes(rng, n, scores=False):
    """Draw overlapping boxes, some without area, some equal, on a grid (with equal overlaps) or not."""
    boxes = rng.randint(-3, 9, size=(n, 4 + scores)).astype(float)
    boxes[:, 2:4] = rng.randint(6, size=(n, 2))
    if rng.rand() < 0.5:
        boxes[:, :4] += rng.uniform(size=(n, 4))
    return boxes


def draw_images(rng):
    """Draw detections, people and regions of one to six images with at least one person; half of all are found."""
    n = rng.randint(1, 7)
    truths, ignores = ([draw_boxes(rng, rng.randint(most)) for _ in range(n)] for most in (5, 3))
    truths[rng.randint(n)] = draw_boxes(rng, 1).repeat(rng.randint(1, 4), axis=0)
    return [draw_detections(rng, truth) for truth in truths], truths, ignores


def draw_detections(rng, truth):
    """Draw boxes anywhere and on people, in any order, many of equal score."""
    boxes = np.concatenate([draw_boxes(rng, rng.randint(6)), truth[rng.rand(len(truth)) < 0.5]])
    return np.column_stack([rng.permutation(boxes), rng.randint(6, size=len(boxes))])


def check_matching(rng):
    limit, (detections, truths, ignores) = rng.choice(LIMITS), draw_images(rng)
    for image in zip(detections, truths, ignores, strict=True):
        for own, expected in zip(match_detections(*image, limit), reference.match(*image, limit), strict=True):
            np.testing.assert_array_equal(own, expected)
    points = reference.curve(detections, truths, ignores, limit)
    curve = miss_rate_curve(detections, truths, ignores, limit)
    np.testing.assert_array_equal(np.column_stack(curve), points)
    np.testing.assert_allclose(log_average_miss_rate(*curve), reference.log_average(points), rtol=1e-12)


def check_preparation(rng):
    images, scale = draw_images(rng), rng.choice([1, 100 / 128])
    low, high = np.sort(rng.choice(12, 2, replace=False)) / 2
    np.testing.assert_allclose(
        np.reshape(standardize_boxes(images[0][0], height_scale=scale), (-1, 5)),
        np.reshape(reference.standardize(images[0][0], scale=scale), (-1, 5)),
        rtol=1e-12,
        atol=1e-12,
    )
    expected = reference.prepare(*images, (low, high), scale)
    for own, other in zip(prepare_images(*images, heights=(low, high), height_scale=scale), expected, strict=True):
        for boxes, rows in zip(own, other, strict=True):
            np.testing.assert_allclose(boxes, np.reshape(rows, boxes.shape), rtol=1e-12, atol=1e-12)


def check_windows(rng):
    """At every threshold and rate: the counts themselves."""
    scores_pos, scores_neg = rng.randint(6, size=rng.randint(1, 20)), rng.randint(5, size=rng.randint(1, 20))
    thresholds = [np.inf, *np.unique(np.concatenate([scores_pos, scores_neg]))[::-1]]
    points = np.array([[(scores_neg >= t).mean(), (scores_pos < t).mean()] for t in thresholds])
    np.testing.assert_allclose(np.column_stack(fppw_curve(scores_pos, scores_neg)), points, atol=1e-15)
    rate = rng.rand()
    least = points[points[:, 0] <= rate, 1].min()
    np.testing.assert_allclose(miss_rate_at_fppw(scores_pos, scores_neg, rate), least, atol=1e-15)


def check_kitti(rng):
    images, n_points = reference_kitti.draw_labels(rng, rng.randint(1, 8)), rng.choice([11, 40])
    expected = reference_kitti.average_precision(*images, n_points)
    np.testing.assert_allclose(kitti_average_precision(*images, n_points=int(n_points)), expected, rtol=1e-12)


def check_refusal(rng):
    """One wrong number, or one column too few or too many: ValueError and nothing else."""
    images, which = draw_images(rng), rng.randint(3)
    boxes = draw_boxes(rng, rng.randint(1, 5), scores=which == 0)
    row, column = rng.randint(len(boxes)), rng.randint(boxes.shape[1])
    boxes[row, column] = rng.choice(SPOILT)
    if rng.rand() < 0.3:
        boxes[row] = [*boxes[row, :2], -1e-9, *boxes[row, 3:]]
    if rng.rand() < 0.3:
        boxes = np.ones((len(boxes), rng.choice([1, 3, 6])))
    images[which][0] = boxes
    n = len(images[1][0])
    label = Bunch(names=["Pedestrian"] * n, boxes=images[1][0], occlusion=[0] * n, truncation=[0.0] * n)
    first = [own[0] for own in images]
    refuse(match_detections, *first)
    for judge in (match_images, miss_rate_curve, prepare_images):
        refuse(judge, *images)
    refuse(standardize_boxes, boxes)
    if which < 2:  # regions are of no use there
        refuse(kitti_average_precision, [first[0]], [label])


def refuse(judge, *boxes):
    try:
        judge(*boxes)
    except ValueError:
        return
    raise AssertionError(f"{judge.__name__} takes {boxes}")


CHECKS = (check_matching, check_preparation, check_windows, check_kitti, check_refusal)


def check(seed, k):
    """Compare on input k of a seed, or raise AssertionError."""
    try:
        CHECKS[k % len(CHECKS)](np.random.RandomState([seed, k]))
    except Exception as error:
        raise AssertionError(f"seed {seed}, input {k}: {error!r}") from error


def run(n_inputs, seed):
    """Compare on random inputs; raise AssertionError at the first one that differs from its twin."""
    for k in range(n_inputs):
        check(seed, k)


if __name__ == "__main__":
    run(*map(int, sys.argv[1:]))
