"""Stages of training: which channels the trees see, from which tree on."""

import numpy as np
import pytest

from paucens import AdaBoostClassifier, PAUCEnsClassifier, Tree
from paucens.base import checkpoint
from paucens.datasets import street_crops, synthetic_streets
from paucens.detector import Window, cache, train_detector
from paucens.detector.stages import channels_of, stage_columns
from paucens.features import ChannelSpec

SPEC = ChannelSpec.parse("M+O+LUV")
STAGES = {0: "LUV", 10: "O+LUV", 16: "M+O+LUV"}
SAMPLED = Tree(depth=3, column_fraction=1 / 4, column_sampling="node")
ENSEMBLES = [
    AdaBoostClassifier(learner=SAMPLED, shrinkage=0.1, random_state=0),
    PAUCEnsClassifier((0, 0.1), learner=SAMPLED, random_state=0),
    PAUCEnsClassifier((0, 0.1), learner=Tree(depth=3), nu=1.0, anneal=False, edge_tolerance=0.3, random_state=0),
]


@pytest.fixture(scope="module")
def streets():
    crops = street_crops(synthetic_streets(16, seed=1))
    return list(crops), [record.image for record in synthetic_streets(6, seed=2, people=False, size=(240, 320))]


def train(streets, classifier=ENSEMBLES[0], **options):
    options = {"n_estimators": (4, 24), "n_negatives": 60, "most_negatives": 100, "scales": 4} | options
    return train_detector(*streets, SPEC, classifier, **options)


def channels_of_trees(trees):
    """List the channels that each tree looks at."""
    inner = trees.child > 0
    return [
        set(trees.place[first:last][inner[first:last], 2])
        for first, last in zip(trees.first[:-1], trees.first[1:], strict=True)
    ]


def assert_same(one, other):
    for name, array in one.trees.arrays().items():
        np.testing.assert_array_equal(array, other.trees.arrays()[name], err_msg=name)
    assert one.notes == other.notes


@pytest.mark.parametrize("classifier", ENSEMBLES, ids=["AdaBoost", "PAUCEns", "PAUCEns without annealing"])
def test_trees_see_the_channels_of_their_stage(streets, classifier):
    """The last classifier would stop in the first stage, since its trees promise too little; it stops in the last."""
    trees = train(streets, classifier, stages=STAGES).trees
    seen = channels_of_trees(trees)
    luv, m, o = (set(range(SPEC.n_channels)[SPEC.groups[name]]) for name in ("LUV", "M", "O"))
    assert len(seen) >= 16
    assert set.union(*seen[:10]) == luv
    assert set.union(*seen[10:16]) <= luv | o and set.union(*seen[10:16]) & o
    assert len(seen) < 24 or set.union(*seen[16:]) & m
    assert 10 <= trees.n_leading_within(channels_of("LUV", SPEC)) < 16
    assert trees.n_leading_within(range(SPEC.n_channels)) == len(seen) and trees.n_leading_within([]) == 0


def test_earlier_rounds_see_all_channels(streets, tmp_path):
    folders = [tmp_path / name for name in ("with", "without")]
    train(streets, stages=STAGES, checkpoint=folders[0])
    train(streets, checkpoint=folders[1])
    first, other = (cache.PedestrianDetector.load(folder / "round_0.npz") for folder in folders)
    assert_same(first, other)


@pytest.mark.parametrize("classifier", ENSEMBLES[:2], ids=["AdaBoost", "PAUCEns"])
def test_one_stage_of_all_channels_changes_nothing(streets, classifier):
    assert_same(train(streets, classifier, stages={0: "O+M+LUV"}), train(streets, classifier))


def test_threads_change_nothing(streets):
    assert_same(train(streets, stages=STAGES, n_jobs=2), train(streets, stages=STAGES))


@pytest.mark.parametrize("classifier", ENSEMBLES[:2], ids=["AdaBoost", "PAUCEns"])
@pytest.mark.parametrize("after", [4, 12, 20])
def test_training_resumes_in_any_stage(streets, classifier, after, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 4)
    keep = checkpoint.Checkpoint.keep

    def interrupted(self, learners, state):
        keep(self, learners, state)
        if self._path.name == "fit_1.npz" and len(learners) == after + 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(checkpoint.Checkpoint, "keep", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(streets, classifier, stages=STAGES, checkpoint=tmp_path)
    resumed = train(streets, classifier, stages=STAGES, checkpoint=tmp_path)
    assert_same(resumed, train(streets, classifier, stages=STAGES))


def test_other_stages_are_another_training(streets, tmp_path):
    train(streets, stages={0: "LUV+M", 8: "LUV"}, checkpoint=tmp_path / "with")
    train(streets, stages={0: "M + LUV", 8: "LUV"}, checkpoint=tmp_path / "with")
    train(streets, checkpoint=tmp_path / "without")
    assert "stages" not in (tmp_path / "without" / "settings.json").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"another training: its stages is \{'0': 'LUV\+M', '8': 'LUV'\}, not None"):
        train(streets, checkpoint=tmp_path / "with")
    with pytest.raises(ValueError, match=r"another training: its stages is None, not \{'0': 'LUV'\}"):
        train(streets, stages={0: "LUV"}, checkpoint=tmp_path / "without")


def test_columns_of_stages_are_those_of_their_channels():
    places = Window().features(SPEC)
    stages = stage_columns({0: "O", 7: "LUV+O"}, SPEC, places)
    assert [first for first, _ in stages] == [0, 7]
    for (_, columns), names in zip(stages, ({"O"}, {"LUV", "O"}), strict=True):
        assert columns.dtype == np.int32 and (np.diff(columns) > 0).all()
        allowed = [k for name in names for k in range(SPEC.n_channels)[SPEC.groups[name]]]
        assert set(columns) == {k for k, place in enumerate(places) if place[2] in allowed}


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ("LUV", r"stages must be a dict of first trees to channels, such as \{0: 'LUV\+M\+O'\}; got 'LUV'"),
        ({}, r"stages must begin with tree 0 and ascend; got the first trees \[\]\. Give \{0: 'LUV\+M\+O'\}"),
        ({2: "LUV"}, r"must begin with tree 0 and ascend; got the first trees \[2\]"),
        ({0: "LUV", 9: "M", 4: "O"}, r"ascend; got the first trees \[0, 9, 4\]"),
        ({0: "LUV", 24: "M"}, "first tree of a stage must be an integer, from 0 to 23; got 24"),
        ({-1: "LUV"}, "first tree of a stage must be an integer, from 0 to 23; got -1"),
        ({0.0: "LUV"}, "first tree of a stage must be an integer"),
        ({False: "LUV"}, "first tree of a stage must be an integer"),
        ({0: ["LUV"]}, r"stages\[0\] must name channels, such as 'LUV\+M\+O'; got \['LUV'\]"),
        ({0: "LUV", 8: "LUV+spCov"}, r"stages\[8\] may hold LUV, M, O, .*got 'spCov' in 'LUV\+spCov'\. Name others"),
        ({0: ""}, r"stages\[0\] may hold LUV, M, O, .*got ''"),
        ({0: "M+M"}, r"stages\[0\] may hold each family once; got 'M' more than once"),
    ],
)
def test_messages(streets, stages, message):
    with pytest.raises((TypeError, ValueError), match=message):
        train(streets, stages=stages)


def test_a_stage_without_a_feature_is_refused(streets):
    spec = ChannelSpec.parse("LUV+spCov")
    options = {"n_estimators": (8,), "n_negatives": 60, "most_negatives": 100, "window": Window((8, 8), (4, 4), 4)}
    with pytest.raises(ValueError, match=r"All cells of LUV, stages\[4\], depend on pixels outside the crop"):
        train_detector(*streets, spec, ENSEMBLES[0], stages={0: "spCov", 4: "LUV"}, **options)
