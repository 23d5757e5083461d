"""Files of fitted ensembles: saved models load bit for bit, damaged files are refused."""

import json
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from paucens import (
    AdaBoostClassifier,
    AdaBoostLDAClassifier,
    AsymBoostClassifier,
    CSAdaBoostClassifier,
    Linear,
    PAUCBoostClassifier,
    PAUCEnsClassifier,
    Stump,
    Tree,
    persistence,
)
from paucens.datasets import load_toy
from paucens.learners.nodes import UNKNOWN

RANGE = (0, 0.2)


def models():
    tree = Tree(depth=3, column_fraction=0.5, column_sampling="node")
    return {
        "published": PAUCEnsClassifier(RANGE, learner=Tree(depth=3), n_estimators=9, nu=1.0, anneal=False),
        "default": PAUCEnsClassifier(RANGE, n_estimators=9, random_state=0),
        "above zero": PAUCEnsClassifier((0.1, 0.3), learner=tree, n_estimators=9, formulation="struct", random_state=0),
        "one round": PAUCEnsClassifier((0, 1), learner=Stump(), n_estimators=1, nu=1.0),
        "AdaBoost": AdaBoostClassifier(n_estimators=9, shrinkage=0.5),
        "AdaBoost, real stumps": AdaBoostClassifier(learner=Stump(leaves="real"), n_estimators=9),
        "Ada + LDA": AdaBoostLDAClassifier(n_estimators=9, ridge=1e-3),
        "AsymBoost": AsymBoostClassifier(2.0, n_estimators=9),
        "CS-AdaBoost": CSAdaBoostClassifier(1.5, 0.5, n_estimators=9),
        "pAUCBoost": PAUCBoostClassifier(RANGE, n_estimators=9),
        "linear": PAUCEnsClassifier(RANGE, learner=Linear(C=0.5), n_estimators=9, nu=1.0, anneal=False),
    }


@pytest.fixture(scope="module")
def data():
    return load_toy(random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    return {name: model.fit(*data) for name, model in models().items()}


# -- saved models load -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", models())
def test_round_trip_scores_the_same(fitted, data, name, tmp_path):
    model = fitted[name]
    path = tmp_path / "model.npz"
    model.save(path)
    copy = type(model).load(path)
    X = np.random.RandomState(1).normal(size=(300, 2))
    np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    stages = zip(model.staged_decision_function(X), copy.staged_decision_function(X), strict=True)
    for mine, its in stages:
        np.testing.assert_array_equal(its, mine)
    if name != "linear":
        np.testing.assert_array_equal(copy.feature_importances_, model.feature_importances_)
    assert copy.threshold_ == model.threshold_
    assert copy.classes_.dtype == model.classes_.dtype
    for attribute in (*model._fitted_attributes, "weights_", "classes_", "n_features_in_"):
        np.testing.assert_array_equal(getattr(copy, attribute), getattr(model, attribute))
    copy.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", models())
def test_parameters_come_back(fitted, data, name, tmp_path):
    model = fitted[name]
    model.save(tmp_path / "model.npz")
    copy = type(model).load(tmp_path / "model.npz")
    assert repr(copy) == repr(model)
    for key, value in model.get_params(deep=False).items():
        its = getattr(copy, key)
        assert type(its) is type(value)
        if key == "learner" and value is not None:
            assert its.get_params() == value.get_params()
        else:
            assert its == value
    np.testing.assert_array_equal(copy.fit(*data).decision_function(data[0]), model.decision_function(data[0]))


@pytest.mark.parametrize(
    "labels", [["cancer", "healthy"], ["ä", "日本"], [3, 8], [-1, 1], [False, True], [2.0, 7.0]], ids=str
)
@pytest.mark.parametrize("name", ["published", "AdaBoost"])
def test_labels_come_back(data, labels, name, tmp_path):
    X, y = data
    model = models()[name].fit(X, np.array(labels)[y])
    model.save(tmp_path / "model.npz")
    copy = type(model).load(tmp_path / "model.npz")
    assert copy.classes_.tolist() == labels
    assert copy.classes_.dtype == np.array(labels).dtype
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))


def test_string_labels_of_object_dtype_are_saved(data, tmp_path):
    X, y = data
    model = AdaBoostClassifier(n_estimators=3).fit(X, np.array(["no", "yes"], dtype=object)[y])
    model.save(tmp_path / "model.npz")
    assert AdaBoostClassifier.load(tmp_path / "model.npz").predict(X).tolist() == model.predict(X).tolist()


def test_a_generator_as_random_state_is_not_saved(data, tmp_path):
    model = AdaBoostClassifier(n_estimators=3, random_state=np.random.RandomState(0)).fit(*data)
    model.save(tmp_path / "model.npz")
    assert AdaBoostClassifier.load(tmp_path / "model.npz").random_state is None


def test_loaded_models_check_their_input(fitted, tmp_path):
    fitted["published"].save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="features"):
        PAUCEnsClassifier.load(tmp_path / "model.npz").predict(np.zeros((3, 5)))


JOINED = {  # since version 0.1
    "mixture": None,
    "binning": "quantile",
    "row_fraction": 1.0,
    "train_range": None,
    "early_stopping": False,
    "validation_fraction": 0.1,
    "n_iter_no_change": 10,
}
OLD_FILES = Path(__file__).parent / "saved_by_0_1"


@pytest.mark.parametrize(
    "kind",
    [PAUCEnsClassifier, AdaBoostClassifier, AdaBoostLDAClassifier, PAUCBoostClassifier],
    ids=lambda k: k.__name__,
)
def test_files_of_version_0_1_load_and_score_the_same(kind, tmp_path):
    """Best-first trees, linear learners, real stumps and trees of depth 2, fitted to toy data of named classes."""
    path = OLD_FILES / f"{kind.__name__}.npz"
    model = kind.load(path)
    X = np.random.RandomState(1).normal(size=(50, 2))
    with np.load(OLD_FILES / "scores.npz") as scores:
        np.testing.assert_array_equal(list(model.staged_decision_function(X)), scores[kind.__name__])
    assert model.classes_.tolist() == ["healthy", "ill"]
    model.save(tmp_path / "again.npz")
    (header, arrays), (again, same) = (persistence.load(p, kind.__name__) for p in (path, tmp_path / "again.npz"))
    joined = {"pos_label": None, "categorical_features": None} | (JOINED if kind is PAUCEnsClassifier else {})
    assert header | {"parameters": header["parameters"] | joined} == again
    if "nodes/child" in arrays:  # files of trees neither counted samples nor said where missing values go
        assert (same.pop("nodes/n_samples") == UNKNOWN).all()
        assert not same.pop("nodes/missing_seen").any()
        np.testing.assert_array_equal(same.pop("nodes/missing_left"), arrays["nodes/child"] > 0)
    assert {name: array.tobytes() for name, array in arrays.items()} == {
        n: array.tobytes() for n, array in same.items()
    }


# -- models that cannot be saved -------------------------------------------------------------------


class Signs(BaseEstimator):
    """A learner from elsewhere."""

    def fit(self, X, signed_weights):
        self.sign_ = np.sign(signed_weights @ np.sign(X[:, 0] - 1))
        return self

    def predict(self, X):
        return self.sign_ * np.sign(X[:, 0] - 1)


@pytest.mark.parametrize(
    "model",
    [
        PAUCEnsClassifier((0, 1), learner=Signs(), n_estimators=3, nu=1.0),
        AdaBoostClassifier(learner=Signs(), n_estimators=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_foreign_learners_leave_no_file(data, model, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(*data)
    (tmp_path / "model.npz").write_text("old")
    with pytest.raises(TypeError, match="Only ensembles of Tree, Stump or Linear can be saved; this one holds Signs"):
        model.save(tmp_path / "model.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]
    assert (tmp_path / "model.npz").read_text() == "old"


def test_labels_that_need_pickle_leave_no_file(data, tmp_path):
    X, y = data
    model = AdaBoostClassifier(n_estimators=2).fit(X, np.array(["2001-01-01", "2002-01-01"], dtype="datetime64[D]")[y])
    with pytest.raises(TypeError, match="Only labels that are numbers, bools or strings can be saved; got"):
        model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_unfitted_models_leave_no_file(tmp_path):
    with pytest.raises(NotFittedError):
        PAUCEnsClassifier().save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("moment", ["while writing", "before renaming"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_interrupted_write_leaves_the_old_file(fitted, data, moment, error, tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    fitted["AdaBoost"].save(path)
    old = path.read_bytes()
    original = zipfile.ZipFile.writestr

    def interrupt(archive, info, *args, **keywords):
        if "weights" in info.filename:
            raise error("stopped")
        original(archive, info, *args, **keywords)

    def stop(*paths):
        raise error("stopped")

    if moment == "while writing":
        monkeypatch.setattr(zipfile.ZipFile, "writestr", interrupt)
    else:
        monkeypatch.setattr("os.replace", stop)
    other = AdaBoostClassifier(n_estimators=2).fit(*data)
    with pytest.raises(error, match="stopped"):
        other.save(path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


# -- damaged files are refused ---------------------------------------------------------------------


@pytest.fixture(params=["published", "AdaBoost"])
def saved(request, fitted, tmp_path):
    path = tmp_path / "model.npz"
    fitted[request.param].save(path)
    return path, type(fitted[request.param])


def rewrite(path, kind, change):
    """Apply a change to (header, arrays) of a file, whose container stays valid."""
    header, arrays = persistence.load(path, kind.__name__)
    for key in ("format", "format_version"):
        header.pop(key)
    change(header, arrays)
    persistence.save(path, header, arrays)


def set_entry(name, place, value):
    def change(header, arrays):
        array = arrays[name]
        array[place(array) if callable(place) else place] = value(array) if callable(value) else value

    return change


def replace_array(name, make):
    def change(header, arrays):
        arrays[name] = make(arrays[name])

    return change


def first_inner(child):
    return int(np.flatnonzero(child)[0])


def split_of(column):
    return int(np.flatnonzero(column >= 0)[-1])


def last_child_is_last_node(header, arrays):
    stop = int(arrays["nodes/start"][1])
    arrays["nodes/child"][0] = stop - 1


INDICES = {
    "child beyond the end": ("nodes/child", set_entry("nodes/child", first_inner, 10**6)),
    "child negative": ("nodes/child", set_entry("nodes/child", first_inner, -1)),
    "child in the next tree": ("nodes/child", set_entry("nodes/child", first_inner, 100)),
    "right child beyond the tree": ("nodes/child", last_child_is_last_node),
    "leaf with a negative child": ("nodes/child", set_entry("nodes/child", lambda c: np.flatnonzero(c == 0)[0], -7)),
    "column beyond the features": ("nodes/column", set_entry("nodes/column", split_of, 2)),
    "column negative": ("nodes/column", set_entry("nodes/column", split_of, -1)),
    "column huge": ("nodes/column", set_entry("nodes/column", split_of, 2**31 - 1)),
    "start beyond the end": ("nodes/start", set_entry("nodes/start", 1, 10**9)),
    "start negative": ("nodes/start", set_entry("nodes/start", 1, -1)),
    "start of floats": ("nodes/start", replace_array("nodes/start", lambda a: a.astype(float))),
}


@pytest.mark.parametrize("case", INDICES)
def test_every_index_is_checked(saved, case):
    path, kind = saved
    name, change = INDICES[case]
    rewrite(path, kind, change)
    with pytest.raises(ValueError, match=name):
        kind.load(path)


def own_child(header, arrays):
    node = np.flatnonzero(arrays["nodes/child"])[1]
    arrays["nodes/child"][node] = node


STRUCTURE = {
    "own child": (own_child, "own ancestor"),
    "cycle through the root": (set_entry("nodes/child", lambda c: np.flatnonzero(c)[1], 1), "own ancestor"),
    "first start is not 0": (set_entry("nodes/start", 0, 1), "nodes"),
    "last start is not the end": (set_entry("nodes/start", -1, lambda a: a[-1] - 1), "nodes"),
    "empty tree": (set_entry("nodes/start", 2, lambda a: a[1]), "no node"),
    "trees out of order": (set_entry("nodes/start", 2, lambda a: a[1] - 1), "no node"),
    "short column": (replace_array("nodes/value", lambda a: a[:-1]), "nodes/value has the shape"),
    "long column": (replace_array("nodes/threshold", lambda a: np.append(a, 0.0)), "nodes/threshold has the shape"),
    "column of two dimensions": (replace_array("nodes/gain", lambda a: a[:, None]), "nodes/gain has the shape"),
    "a weight too few": (replace_array("weights", lambda a: a[:-1]), "weights"),
    "a weight too many": (replace_array("weights", lambda a: np.append(a, 1.0)), "weights"),
    "a threshold too few": (replace_array("stage_thresholds", lambda a: a[:-1]), "thresholds"),
    "thresholds of two dimensions": (replace_array("stage_thresholds", lambda a: a[:, None]), "thresholds"),
    "one label": (replace_array("classes", lambda a: a[:1]), None),
    "three labels": (replace_array("classes", lambda a: np.arange(3)), None),
    "children as floats": (replace_array("nodes/child", lambda a: a + 0.5), None),
    "columns as text": (replace_array("nodes/column", lambda a: a.astype(str)), None),
    "values as text": (replace_array("nodes/value", lambda a: a.astype(str)), None),
    "values as complex numbers": (replace_array("nodes/value", lambda a: a * 1j), None),
    "scalar column": (replace_array("nodes/column", lambda a: a[0]), None),
}


@pytest.mark.parametrize("case", STRUCTURE)
def test_structure_is_checked(saved, case):
    path, kind = saved
    change, message = STRUCTURE[case]
    rewrite(path, kind, change)
    with pytest.raises(ValueError, match=message):
        kind.load(path)


def drop_all_trees(header, arrays):
    for name, array in arrays.items():
        if name.startswith("nodes/") or name in ("weights", "stage_thresholds"):
            arrays[name] = array[:0]
    arrays["nodes/start"] = np.zeros(1, dtype=np.int64)


OTHER_DAMAGE = {
    "learner as a string": lambda header, arrays: header.update(learner="Tree"),
    "features as text": lambda header, arrays: header.update(n_features="2"),
    "features none": lambda header, arrays: header.update(n_features=None),
    "no tree at all": drop_all_trees,
    "no start": replace_array("nodes/start", lambda a: a[:0]),
    "scalar start": replace_array("nodes/start", lambda a: a[0]),
    "scalar weights": replace_array("weights", lambda a: a[0]),
    "weights of two dimensions": replace_array("weights", lambda a: a[:, None]),
    "weights as text": replace_array("weights", lambda a: a.astype(str)),
    "thresholds as text": replace_array("stage_thresholds", lambda a: a.astype("S")),
    "scalar label": replace_array("classes", lambda a: a[0]),
    "labels of two dimensions": replace_array("classes", lambda a: np.tile(a[:, None], 3)),
    "parameters as a list": lambda header, arrays: header.update(parameters=[1, 2]),
    "features a fraction": lambda header, arrays: header.update(n_features=2.5),
}


@pytest.mark.parametrize("case", OTHER_DAMAGE)
def test_damage_never_escapes_as_another_error(saved, case):
    path, kind = saved
    rewrite(path, kind, OTHER_DAMAGE[case])
    with pytest.raises(ValueError, match=r"."):
        kind.load(path)


def test_linear_learners_that_are_not_finite_are_refused(fitted, tmp_path):
    fitted["linear"].save(tmp_path / "model.npz")
    rewrite(tmp_path / "model.npz", PAUCEnsClassifier, set_entry("linear/coef", 0, np.nan))
    with pytest.raises(ValueError, match="linear/coef holds nan or infinity"):
        PAUCEnsClassifier.load(tmp_path / "model.npz")


@pytest.mark.parametrize(
    "name",
    [
        "classes",
        "weights",
        "stage_thresholds",
        "nodes/start",
        "nodes/child",
        "nodes/column",
        "nodes/code",
        "nodes/threshold",
        "nodes/value",
        "nodes/gain",
    ],
)
def test_missing_arrays_are_named(saved, name):
    path, kind = saved
    rewrite(path, kind, lambda header, arrays: arrays.pop(name))
    with pytest.raises(ValueError, match=f"not a complete {kind.__name__}: '{name}'"):
        kind.load(path)


@pytest.mark.parametrize("name", ["parameters", "learner", "n_features", "fitted"])
def test_missing_header_entries_are_named(saved, name):
    path, kind = saved
    rewrite(path, kind, lambda header, arrays: header.pop(name))
    with pytest.raises(ValueError, match=f"not a complete {kind.__name__}: '{name}'"):
        kind.load(path)


def test_unknown_learners_are_named(saved):
    path, kind = saved
    rewrite(path, kind, lambda header, arrays: header["learner"].update({"class": "Forest"}))
    with pytest.raises(ValueError, match="Forest"):
        kind.load(path)


def test_unknown_parameters_are_named(saved):
    path, kind = saved
    rewrite(path, kind, lambda header, arrays: header["parameters"].update(speed=3))
    with pytest.raises(ValueError, match="speed"):
        kind.load(path)


def test_another_kind_is_named(saved):
    path, kind = saved
    other = AdaBoostClassifier if kind is PAUCEnsClassifier else PAUCEnsClassifier
    with pytest.raises(ValueError, match=f"holds a model of kind '{kind.__name__}', expected '{other.__name__}'"):
        other.load(path)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_truncated_files_are_refused(saved, share):
    path, kind = saved
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match=r"model\.npz"):
        kind.load(path)


def test_no_flipped_byte_crashes(saved):
    """Random damage is refused, or is harmless in padding or a date."""
    path, kind = saved
    content = path.read_bytes()
    X = load_toy(random_state=1)[0]
    expected = kind.load(path).decision_function(X)
    rng = np.random.RandomState(0)
    refused = 0
    for _ in range(80):
        damaged = bytearray(content)
        damaged[rng.randint(len(content))] ^= 1 << rng.randint(8)
        path.write_bytes(damaged)
        try:
            scores = kind.load(path).decision_function(X)
        except ValueError:
            refused += 1
        else:
            np.testing.assert_array_equal(scores, expected)
    assert refused > 50


def test_no_changed_number_crashes(saved):
    """A file with any changed integer is refused, or scores without leaving the arrays."""
    path, kind = saved
    content = path.read_bytes()
    X = load_toy(random_state=1)[0]
    rng = np.random.RandomState(0)
    refused = 0
    for _ in range(80):
        path.write_bytes(content)
        name = ["nodes/child", "nodes/column", "nodes/start"][rng.randint(3)]
        value = [-(2**31), -1, 0, 1, 2, 5, 14, 15, 1000, 2**31 - 1][rng.randint(10)]
        rewrite(path, kind, set_entry(name, lambda array: rng.randint(len(array)), value))
        try:
            assert np.isfinite(kind.load(path).decision_function(X)).all()
        except ValueError:
            refused += 1
    assert refused > 40


def test_the_header_is_readable(saved):
    path, kind = saved
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("header.json"))
    assert header["kind"] == kind.__name__
    assert header["learner"]["class"] == "Tree"
    assert header["parameters"]["n_estimators"] == 9
