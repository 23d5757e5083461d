"""Detection in two stages: the scores of what is left, what is computed, files and errors."""

from dataclasses import replace

import numpy as np
import pytest
from detections import all_windows

from paucens import AdaBoostClassifier, Tree, persistence
from paucens.detector import PedestrianDetector, Window, first_stage, train_detector
from paucens.detector.first_stage import FirstStage, regions
from paucens.detector.suppression import rows_kept
from paucens.features import ChannelSpec
from paucens.parallel import Threads

FULL, FEW = ChannelSpec.parse("M+O+LUV+spLBP+spCov"), ChannelSpec.parse("M+O+LUV")


def train(few_streets, spec, n_estimators, **options):
    booster = AdaBoostClassifier(
        learner=Tree(depth=3, column_fraction=1 / 16, column_sampling="node"), shrinkage=0.1, random_state=0
    )
    options = {"n_negatives": 60, "most_negatives": 100, "scales": 4} | options
    return train_detector(*few_streets, spec, booster, n_estimators=n_estimators, **options)


@pytest.fixture(scope="module")
def detector(few_streets):
    return train(few_streets, FULL, (4, 24))


@pytest.fixture(scope="module")
def staged(detector, few_streets, few_people):
    """The same detector behind one of ten channels that leaves some windows of a few_people."""
    return detector.with_first_stage(leaving_few(train(few_streets, FEW, (4, 16)), few_people))


def leaving_few(detector, image):
    """Make the last tree of a detector leave the best windows of an image only, about three in a hundred."""
    single = replace(detector, first_stage=None, trees=detector.trees.without_rejection())
    rejection = single.trees.rejection.copy()
    score = np.quantile(list(all_windows(single, image).values()), 0.97)
    rejection[-1] = np.nextafter(np.float32(score), np.float32(-np.inf))
    return replace(detector, trees=detector.trees.with_rejection(rejection))


def test_what_is_left_has_the_scores_of_the_whole_detector(detector, staged, few_people):
    whole, left = all_windows(detector, few_people), all_windows(staged, few_people)
    assert 0 < len(left) < 0.1 * len(whole)
    assert all(whole[window] == score for window, score in left.items())
    assert all_windows(staged, few_people, threads=2) == left
    first = replace(staged, search=replace(staged.search, spec=FEW), trees=staged.first_stage.trees, first_stage=None)
    assert set(left) == set(all_windows(first, few_people)) & set(whole)


@pytest.mark.parametrize("families", ["M", "LUV+O", "spLBP"])
def test_any_families_may_come_first(detector, few_people, families, few_streets):
    first = train(few_streets, ChannelSpec.parse(families), (8,))
    staged = detector.with_first_stage(leaving_few(first, few_people))
    whole, left = all_windows(detector, few_people), all_windows(staged, few_people)
    assert 0 < len(left) < len(whole)
    assert all(whole[window] == score for window, score in left.items())


def test_leading_trees_are_a_first_stage_too(few_streets, few_people):
    """Trained in stages, an ensemble needs no other one: the first trees reject, and their sums are kept."""
    whole = train(few_streets, FULL, (4, 32), stages={0: FEW.text, 12: FULL.text})
    assert whole.first_stage == FirstStage(FEW.families)
    n_trees = len(whole.trees.rejection)
    head = replace(whole, trees=whole.trees.part(0, 12), first_stage=None)
    rejection = np.concatenate([leaving_few(head, few_people).trees.rejection, np.full(n_trees - 12, -np.inf)])
    whole = replace(whole, trees=whole.trees.with_rejection(rejection))
    left, single = all_windows(whole, few_people), all_windows(whole.without_stages(), few_people)
    assert left == single and len(left) > 0


def test_windows_far_below_one_that_they_overlap_are_left_out(staged, few_people):
    first = staged.first_stage
    stages = {within: replace(first, within=within) for within in (0, 0.2)}
    some = {within: all_windows(replace(staged, first_stage=one), few_people) for within, one in stages.items()}
    everything = all_windows(staged, few_people)
    assert 0 < len(some[0]) < len(some[0.2]) < len(everything)
    assert some[0].items() <= some[0.2].items() <= everything.items()
    heads = replace(staged, search=replace(staged.search, spec=FEW), trees=first.trees, first_stage=None)
    assert set(some[0]) >= set(best_windows(heads, few_people)) & set(everything)


def best_windows(detector, image):
    """List the windows that suppression keeps."""
    with Threads(1) as pool:
        boxes, windows = detector.candidates(image, detector.search.levels(image.shape[:2]), -np.inf, pool)
    return map(tuple, windows[rows_kept(boxes, 0.65, "min")].tolist())


def test_bands_that_do_not_fit_into_memory_are_computed_again(staged, few_people, monkeypatch):
    expected = all_windows(staged, few_people)
    for limit in (0, 500_000):  # bytes: no band is kept, or some; regions are large for two threads
        monkeypatch.setattr(first_stage, "BAND_BYTES", limit)
        assert all_windows(staged, few_people, threads=2) == expected


def test_other_channels_are_computed_around_windows_only(staged, few_people, monkeypatch):
    computed = []

    def record(spec, rgb, families, threads, strips, flow, fill=ChannelSpec.fill):
        computed.append((tuple(families), strips.shape[0] * strips.shape[2]))
        return fill(spec, rgb, families, threads, strips, flow)

    monkeypatch.setattr(ChannelSpec, "fill", record)
    staged.detect(few_people)
    cells = {families: sum(n for own, n in computed if own == families) for families in dict(computed)}
    assert set(cells) == {FEW.families, ("spLBP", "spCov")}
    assert cells["spLBP", "spCov"] < cells[FEW.families]
    computed.clear()
    nothing = replace(staged, first_stage=replace(staged.first_stage, trees=reject_all(staged.first_stage.trees)))
    assert nothing.detect(few_people, threshold=-np.inf).shape == (0, 5)
    assert {families for families, _ in computed} == {FEW.families}


def reject_all(trees):
    return trees.with_rejection(np.inf)


def test_thresholds_do_not_depend_on_the_stages(detector, staged, few_streets):
    images = few_streets[1]
    assert staged.threshold_at_fppi(images, 1) == detector.threshold_at_fppi(images, 1)
    assert staged.threshold_at_fppi(images, 1, staged=True) <= detector.threshold_at_fppi(images, 1)


def test_a_first_stage_searches_the_same_windows(detector, few_streets):
    first = train(few_streets, FEW, (4,))
    for other in (
        replace(first, search=replace(first.search, per_octave=8)),
        replace(first, search=replace(first.search, window=Window(inside=True))),
        replace(first, search=replace(first.search, spec=ChannelSpec.parse("M+O+LUV", preset="release"))),
    ):
        with pytest.raises(ValueError, match="The first stage must search the same windows at the same sizes"):
            detector.with_first_stage(other)
    with pytest.raises(ValueError, match="needs some families out of LUV, M, O, spLBP, spCov, and not all of them"):
        detector.with_first_stage(detector)
    with pytest.raises(ValueError, match="they allow no first stage"):
        replace(first, search=replace(first.search, lambdas={"LUV": 0, "M": 0, "O": 0}), first_stage=FirstStage(("M",)))
    assert detector.with_first_stage(first).without_stages().first_stage is None


# -- files -----------------------------------------------------------------------------------------


def test_files(staged, few_people, tmp_path):
    staged.save(tmp_path / "model.npz")
    again = PedestrianDetector.load(tmp_path / "model.npz")
    assert again.first_stage.families == FEW.families
    assert all_windows(again, few_people) == all_windows(staged, few_people)
    leading = replace(staged, first_stage=FirstStage(FEW.families))
    leading.save(tmp_path / "model.npz")
    assert PedestrianDetector.load(tmp_path / "model.npz").first_stage == FirstStage(FEW.families)


def stage(families, within=None):
    return {"families": families, "within": within}


@pytest.mark.parametrize(
    ("changes", "name", "spoil", "message"),
    [
        ({"first_stage": stage("LUV+M+O+spLBP+spCov")}, "place", None, "needs some families"),
        ({"first_stage": stage("")}, "place", None, "needs some families"),
        ({"first_stage": 3}, "place", None, "not a complete PedestrianDetector"),
        ({"first_stage": None}, "place", None, "not a complete PedestrianDetector"),
        ({"first_stage": stage("LUV+Haar")}, "place", None, "needs some families"),
        ({"first_stage": stage("LUV")}, "place", None, "channel"),
        ({"first_stage": stage("LUV+M+O", -1)}, "place", None, "within must be a distance"),
        ({"first_stage": stage("LUV+M+O", "far")}, "place", None, "within must be a number"),
        ({}, "place", lambda a: a + 1000, "row"),
        ({}, "child", lambda a: -a, "own ancestor"),
        ({}, "threshold", lambda a: a * np.float32(np.nan), "nan"),
    ],
)
def test_tampered_files(staged, changes, name, spoil, message, tmp_path):
    staged.save(tmp_path / "model.npz")
    header, arrays = persistence.load(tmp_path / "model.npz", "PedestrianDetector")
    header = {key: value for key, value in header.items() if key not in ("format", "format_version")} | changes
    if spoil is not None:
        arrays[f"first_stage/{name}"] = spoil(arrays[f"first_stage/{name}"])
    persistence.save(tmp_path / "bad.npz", header, arrays)
    with pytest.raises(ValueError, match=message):
        PedestrianDetector.load(tmp_path / "bad.npz")


# -- regions ---------------------------------------------------------------------------------------


def test_regions_hold_every_window_once():
    alive = np.random.default_rng(0).random((60, 80)) < 0.02
    alive[10:14, 20:25] = True
    windows = np.argwhere(alive).astype(np.int32, order="C")
    groups = regions(windows, Window())
    assert sorted(np.concatenate(groups)) == list(range(len(windows)))
    assert regions(windows[:0], Window()) == []


def test_windows_far_apart_get_regions_of_their_own():
    windows = [[5, 5], [5, 6], [5, 180], [6, 5], [6, 6], [150, 150]]
    groups = regions(np.array(windows, dtype=np.int32), Window())
    assert sorted(map(list, groups)) == [[0, 1, 3, 4], [2], [5]]
