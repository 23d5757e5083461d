"""The folder of a training: which training it belongs to, damage, a full disk, and images that are too small."""

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st

from paucens import AdaBoostClassifier, PAUCEnsClassifier, Tree
from paucens.detector import Window, train_detector
from paucens.detector.cache import TrainingCache
from paucens.detector.config import TrainingConfig
from paucens.detector.scan import Search
from paucens.detector.window_sampler import WindowSampler
from paucens.features import ChannelSpec
from paucens.parallel import ALONE

SPEC = ChannelSpec.parse("LUV")
BOOSTER = AdaBoostClassifier(learner=Tree(depth=2), shrinkage=0.1, random_state=0)
OPTIONS = {"n_estimators": (2, 3), "n_negatives": 20, "most_negatives": 30, "scales": 2}


def train(streets, classifier=BOOSTER, **options):
    crops, images = streets
    return train_detector(crops[:10], images[:3], SPEC, classifier, **(OPTIONS | options))


@pytest.fixture(scope="module")
def folder(few_streets, tmp_path_factory):
    """The folder of a finished training."""
    path = tmp_path_factory.mktemp("finished")
    train(few_streets, checkpoint=path)
    return path


# -- which training --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"n_jobs": 2},
        {"verbose": True},
        {"n_estimators": 7},
        {"shrinkage": np.float64(0.1)},
        {"random_state": np.int32(0)},
        {"learner__max_bins": 9},
    ],
    ids=str,
)
def test_what_changes_no_result_does_not_matter(few_streets, folder, changes):
    with sklearn.config_context(print_changed_only=False):
        again = train(few_streets, sklearn.base.clone(BOOSTER).set_params(**changes), checkpoint=folder)
    assert again.notes["negatives"] == 30


def test_arguments_of_other_types_are_the_same_training(few_streets, folder):
    options = {"mirrors": np.True_, "repeat_edges": np.True_, "n_estimators": [np.int8(2), 3], "smooth": np.float32(0)}
    assert train(few_streets, checkpoint=folder, **options).notes["negatives"] == 30


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learner__depth": 3}, r"its classifiers\[0\]\.learner\.depth is 2, not 3; its classifiers\[1\]\.learner\."),
        ({"shrinkage": 0.05}, r"its classifiers\[0\]\.shrinkage is 0\.1, not 0\.05"),
        ({"max_bins": 8}, "its max_bins is 256, not 8"),
    ],
    ids=str,
)
def test_other_classifiers_are_named(few_streets, folder, changes, message):
    with pytest.raises(ValueError, match=f"holds another training: {message}"):
        train(few_streets, sklearn.base.clone(BOOSTER).set_params(**changes), checkpoint=folder)


def test_other_classes_are_named(few_streets, folder):
    with pytest.raises(ValueError, match=r"its classifiers\[1\] is \{'class': 'AdaBoost.*, not \{'class': 'PAUCEns"):
        train(few_streets, [BOOSTER, PAUCEnsClassifier(random_state=0)], checkpoint=folder)


def test_a_generator_counts_by_its_state(few_streets):
    crops, images = few_streets
    given_values = {"positives": crops[:2], "negative_images": images[:1], "spec": SPEC, "window": Window()}
    given_values |= {"per_image": 5, "smooth": 0, "repeat_edges": True, "mirrors": True, "stages": None}
    given_values |= {"random_state": 0, "notes": {}, "verbose": 0} | OPTIONS

    def settings_of(seed):
        booster = sklearn.base.clone(BOOSTER).set_params(random_state=np.random.RandomState(seed))
        return TrainingConfig(classifier=booster, **given_values).settings()

    assert settings_of(1) == settings_of(1) != settings_of(2)


# -- damage ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
def test_settings_that_are_damaged(tmp_path, content):
    (tmp_path / "settings.json").write_bytes(content)
    with (
        pytest.raises(ValueError, match=r"settings\.json is damaged \(.*Remove the folder, and training starts anew"),
        TrainingCache.open(tmp_path, {"seed": 0}),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]


def test_results_that_are_damaged_say_what_to_do(tmp_path):
    with TrainingCache.open(tmp_path, {}) as cache:
        cache.array("edges", lambda: np.arange(6).reshape(2, 3))
        cache.arrays("bins", lambda: (np.zeros(3), np.arange(3)))
        for name in ("edges.npy", "bins_1.npy"):
            content = (tmp_path / name).read_bytes()
            (tmp_path / name).write_bytes(content[:-1])
        with pytest.raises(ValueError, match=r"edges\.npy is not an array .*remove .*edges\.npy, and its content is"):
            cache.array("edges", None)
        with pytest.raises(
            ValueError, match=r"bins_1\.npy is not an array .*announces 24 bytes of data, but 23 follow"
        ):
            cache.arrays("bins", None)


def test_detectors_that_are_damaged_say_what_to_do(few_streets, folder):
    whole = (folder / "round_0.npz").read_bytes()
    (folder / "round_0.npz").write_bytes(whole[:-1])
    try:
        with pytest.raises(ValueError, match=r"round_0\.npz is not a complete .npz file .* remove .*round_0\.npz, and"):
            train(few_streets, checkpoint=folder)
    finally:
        (folder / "round_0.npz").write_bytes(whole)
    with TrainingCache.open(folder, json.loads((folder / "settings.json").read_bytes())) as cache:
        detector = cache.load_detector(0)
        cache.save_detector(9, replace(detector, notes={}))
        with pytest.raises(ValueError, match=r"'hard' in the notes of .*round_9\.npz must be a number"):
            cache.load_detector(9)
        (folder / "round_9.npz").unlink()


# -- the disk and other processes ------------------------------------------------------------------


def test_a_full_disk_is_an_error_with_the_file_and_its_size(few_streets, tmp_path):
    """It ended by SIGBUS, since the file was mapped before it had its space."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(OSError, match=r"_0\.npy takes \d+ bytes, which could not be written .*Free space"):
            train(few_streets, checkpoint=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.glob(".*"))
    assert train(few_streets, checkpoint=tmp_path).notes["negatives"] == 30


def test_arrays_larger_than_a_block_are_written_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr("paucens.detector.cache.BLOCK_BYTES", 50)
    random = np.random.default_rng(0)
    parts = [random.integers(256, size=(n, 11)).astype(np.uint8) for n in (7, 0, 5)]
    with TrainingCache.open(tmp_path, {}) as cache:
        codes = cache.codes(0, *parts)
        np.testing.assert_array_equal(codes, np.concatenate(parts).T)
        assert codes.dtype == np.uint8 and codes.flags.c_contiguous
        rows = [np.array([3, 0]), np.array([], dtype=int), np.array([4, 4])]
        samples = cache.samples("positives", lambda: list(zip(parts, rows, strict=True)))
        np.testing.assert_array_equal(samples, np.concatenate([p[r] for p, r in zip(parts, rows, strict=True)]))


def test_what_a_killed_training_left_is_removed(tmp_path):
    (tmp_path / ".0123456789abcdef.part").write_bytes(bytes(10))
    with TrainingCache.open(tmp_path, {}):
        assert sorted(path.name for path in tmp_path.iterdir()) == [".lock", "settings.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]


SCRIPT = """
import sys, warnings
warnings.simplefilter("ignore")
from paucens.datasets import street_crops, synthetic_streets
from test_training_cache import train
streets = list(street_crops(synthetic_streets(8, seed=1))), [
    record.image for record in synthetic_streets(3, seed=2, people=False, size=(240, 320))
]
print("begin", flush=True)
train(streets, checkpoint=sys.argv[1]).save(sys.argv[2])
"""


def test_two_processes_in_one_folder_end_with_the_same_detector(tmp_path):
    models = [tmp_path / f"{k}.npz" for k in range(2)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, tmp_path / "work", model],
            stdout=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for model in models
    ]
    assert [process.wait() for process in processes] == [0, 0]
    assert models[0].read_bytes() == models[1].read_bytes()


# -- images that are too small ---------------------------------------------------------------------


@st.composite
def windows(draw):
    shape = draw(st.tuples(*[st.integers(1, 12).map(lambda n: 4 * n)] * 2))
    target = tuple(draw(st.floats(1, side)) for side in shape)
    return Window(shape, target, 4 * draw(st.integers(0, 4)), draw(st.booleans()))


@given(windows(), st.integers(1, 8))
@settings(derandomize=True, max_examples=150, deadline=None)
def test_the_least_image_holds_a_window_and_no_smaller_one_does(window, per_octave):
    """Sides are rounded to whole cells, so that windows that stay inside may get along with a pixel or two less."""

    def n_windows(shape):
        levels = Search(SPEC, window, per_octave).levels(shape)
        return sum(np.prod(window.grid_shape(level.shape)) for level in levels)

    (height, width), less = window.least_image, 4 if window.inside else 1
    assert n_windows((height, width)) > 0
    assert n_windows((height - less, 200)) == 0 == n_windows((200, width - less))


@pytest.mark.parametrize(("inside", "least"), [(False, (100, 41)), (True, (128, 64))])
def test_the_message_has_the_size_that_is_enough(few_streets, inside, least):
    height, width = least
    with pytest.raises(ValueError, match=f"None of 1 negative images .* of at least {height} x {width} pixels"):
        small = [np.zeros((height - 4, width, 3), dtype=np.uint8)]
        train_detector(few_streets[0][:5], small, SPEC, BOOSTER, window=Window(inside=inside), **OPTIONS)


def test_images_between_object_and_window_hold_no_window_that_stays_inside():
    search = Search(SPEC, Window(inside=True))
    sampler = WindowSampler(search, search.window.features(SPEC), 0, ALONE)
    assert len(sampler.random_negatives([np.zeros((110, 50, 3), dtype=np.uint8)], [0], 5)) == 0


def test_training_without_standard_error(few_streets, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with contextlib.redirect_stdout(None):
        assert train(few_streets, verbose=1, n_estimators=(2,)).notes["negatives"] == 20
