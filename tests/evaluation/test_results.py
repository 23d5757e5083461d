"""Thresholds on annotated images, tables of boxes and images, boxes of other shapes."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paucens.evaluation import (
    box_results,
    image_results,
    match_detections,
    match_images,
    miss_rate_curve,
    prepare_images,
    standardize_boxes,
    write_results,
)

quick = settings(max_examples=60, deadline=None, derandomize=True)
PERSON, OTHER, FAR = [0, 0, 10, 20], [50, 0, 10, 20], [100, 0, 10, 20]


def drawn_images(seed, n_images=4):
    """Draw images whose boxes overlap often, with equal scores."""
    rng = np.random.RandomState(seed)

    def boxes(n):
        return np.column_stack([rng.randint(0, 12, size=(n, 2)), rng.randint(6, 14, size=(n, 2))]).astype(float)

    truths = [boxes(rng.randint(1, 4)) for _ in range(n_images)]
    ignores = [boxes(rng.randint(2)) for _ in range(n_images)]
    detections = []
    for _ in range(n_images):
        found = boxes(rng.randint(8))
        detections.append(np.column_stack([found, rng.randint(6, size=len(found)) / 4]))
    return detections, truths, ignores


@given(seed=st.integers(0, 2**32 - 1), fppi=st.sampled_from([0.25, 0.5, 1, 1.5, 3]))
@quick
def test_a_threshold_keeps_the_rate_and_a_lower_one_does_not(seed, fppi):
    """Brute force: every score is tried as threshold."""
    images = drawn_images(seed)
    matches = match_images(*images)
    if len(matches.score) == 0:
        return

    def rate(threshold):
        kept = [found[found[:, 4] > threshold] for found in images[0]]
        status = [match_detections(*boxes)[0] for boxes in zip(kept, *images[1:], strict=True)]
        return sum((one == 0).sum() for one in status) / len(kept)

    threshold = matches.threshold_at(fppi)
    assert rate(threshold) <= fppi
    lower = [score for score in matches.score if score < threshold]
    assert all(rate(np.nextafter(score, -np.inf)) > fppi for score in lower)
    assert rate(np.nextafter(threshold, -np.inf)) > fppi or threshold < matches.score.min()


def test_doubles_of_people_count():
    """On an image with a person, a double of it is a false positive."""
    matches = match_images([[[*PERSON, 0.9], [*PERSON, 0.8], [*PERSON, 0.7]]], [[PERSON]], [[]])
    assert matches.threshold_at(1) == 0.7
    assert matches.threshold_at(2) == np.nextafter(0.7, 0)
    with pytest.raises(ValueError, match=r"1 images are too few to measure 0\.1 .*give 10 or more"):
        matches.threshold_at(0.1)
    for bad in (0, -1, np.nan, "1"):
        with pytest.raises(ValueError, match="fppi must be a finite number"):
            matches.threshold_at(bad)
    with pytest.raises(ValueError, match="no detections that count"):
        match_images([[]], [[PERSON]], [[]]).threshold_at(1)
    many = match_images([[[*OTHER, k]] for k in range(10)], [[PERSON]] * 10, [[]] * 10)
    assert many.threshold_at(0.1) == 8 and many.threshold_at(0.3) == 6  # 0.1 x 10 and 0.3 x 10 are whole numbers


def test_a_curve_with_scores():
    arguments = [[[*PERSON, 0.9], [*OTHER, 0.6]]], [[PERSON]], [[]]
    fppi, miss, scores = miss_rate_curve(*arguments, with_scores=True)
    assert scores.tolist() == [np.inf, 0.9, 0.6] and fppi.tolist() == [0, 0, 1] and miss.tolist() == [1, 0, 0]
    assert len(miss_rate_curve(*arguments)) == 2


# -- tables ----------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1), threshold=st.sampled_from([-np.inf, 0.0, 0.25, 0.6, 9.0]))
@quick
def test_tables_agree_with_the_matching_above_the_threshold(seed, threshold):
    detections, truths, ignores = drawn_images(seed)
    rows = box_results(detections, truths, ignores, threshold=threshold)
    scores = [row["score"] for row in rows]
    assert scores == sorted(scores, reverse=True)
    counts = image_results(detections, truths, ignores, threshold=threshold)
    for k, (found, truth, ignore) in enumerate(zip(detections, truths, ignores, strict=True)):
        kept = found[found[:, 4] > threshold]
        status, matched = match_detections(kept, truth, ignore)
        here = [row for row in rows if row["image"] == k]
        for outcome, code in (("found", 1), ("false", 0), ("ignored", -1)):
            boxes = sorted(
                [row[name] for name in ("x", "y", "w", "h", "score")] for row in here if row["outcome"] == outcome
            )
            assert boxes == sorted(kept[status == code].tolist()) and counts[k][outcome] == len(boxes)
        missed = sorted([row[name] for name in "xywh"] for row in here if row["outcome"] == "missed")
        assert missed == sorted(truth[~matched].tolist())
        assert counts[k]["missed"] == len(missed) and counts[k]["objects"] == len(truth)
        assert counts[k]["best_false"] == kept[status == 0, 4].max(initial=-np.inf)


@given(seed=st.integers(0, 2**32 - 1))
@quick
def test_the_score_of_a_miss_is_where_it_would_be_found(seed):
    """Just below that score the object is found, at it not yet."""
    detections, truths, ignores = drawn_images(seed, n_images=1)
    for row in box_results(detections, truths, ignores, threshold=9):
        box, score = [row[name] for name in "xywh"], row["score"]
        same = (truths[0] == box).all(axis=1)
        for threshold, is_found in ((score, False), (np.nextafter(score, -np.inf), score > -np.inf)):
            kept = detections[0][detections[0][:, 4] > threshold]
            matched = match_detections(kept, truths[0], ignores[0])[1]
            assert matched[same].any() == is_found or same.sum() > 1 or (kept[:, 4] == score).sum() > 1


def test_tables_are_written_as_csv(tmp_path):
    rows = image_results(
        [[[*PERSON, 0.9], [*FAR, 0.5]], []], [[PERSON], [OTHER]], [[], []], images=["a,b.png", "ß.png"]
    )
    write_results(tmp_path / "images.csv", rows)
    with open(tmp_path / "images.csv", encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    assert [row["image"] for row in read] == ["a,b.png", "ß.png"]
    assert [(row["objects"], row["found"], row["missed"], row["false"], row["best_false"]) for row in read] == [
        ("1", "1", "0", "1", "0.5"),
        ("1", "0", "1", "0", "-inf"),
    ]
    with pytest.raises(ValueError, match="There are no rows to write"):
        write_results(tmp_path / "none.csv", [])


def test_names_fit_the_images():
    with pytest.raises(ValueError, match="Every list needs one entry per image"):
        box_results([[]], [[PERSON]], [[]], images=["a", "b"])
    with pytest.raises(ValueError, match="threshold must be a number, not nan"):
        image_results([[]], [[PERSON]], [[]], threshold=np.nan)


# -- other shapes ----------------------------------------------------------------------------------


def test_cars_keep_their_shape():
    """With the aspect of people they would be slivers."""
    car, found = [10.0, 20, 200, 100], [12.0, 22, 190, 104, 0.5]
    detections, truths, ignores = prepare_images([[found]], [[car, [0, 0, 60, 30]]], [[]], aspect=None)
    assert detections[0].tolist() == [found] and truths[0].tolist() == [car]
    assert ignores[0].tolist() == [[0, 0, 60, 30]]
    assert prepare_images([[found]], [[car]], [[]])[1][0][0, 2] == pytest.approx(41)
    assert prepare_images([[found]], [[car]], [[]], aspect=2)[1][0].tolist() == [car]
    assert standardize_boxes([car], None, 0.5).tolist() == [[60, 45, 100, 50]]
    with pytest.raises(ValueError, match="aspect must be"):
        prepare_images([[found]], [[car]], [[]], aspect=0)
