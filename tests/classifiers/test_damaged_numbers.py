"""Numbers in model files that no fit makes: refused when the file is loaded, with its name."""

import warnings

import numpy as np
import pytest

from paucens import AdaBoostClassifier, Linear, LinearPAUCSVC, PAUCBoostClassifier, PAUCEnsClassifier, Tree, persistence
from paucens.datasets import load_toy

RANGE = (0, 0.2)
MODELS = {
    "trees": PAUCEnsClassifier(RANGE, learner=Tree(depth=2, leaves="real"), n_estimators=4, nu=10.0, anneal=False),
    "stages": AdaBoostClassifier(n_estimators=4, n_jobs=1),
    "smoothed": PAUCBoostClassifier(RANGE, n_estimators=4),
    "linear learners": AdaBoostClassifier(learner=Linear(), n_estimators=4),
    "linear": LinearPAUCSVC((0, 1)),
}


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return {name: model.fit(*load_toy(random_state=0)) for name, model in MODELS.items()}


@pytest.fixture
def refused(fitted, tmp_path):
    """Return a check that a changed file of a model is refused, with the name of the file and a message."""
    path = tmp_path / "model.npz"

    def check(name, change, message):
        model = fitted[name]
        model.save(path)
        header, arrays = persistence.load(path, type(model).__name__)
        header = {key: value for key, value in header.items() if key not in ("format", "format_version")}
        change(header, arrays)
        persistence.save(path, header, arrays)
        with pytest.raises(ValueError, match=message) as error:
            type(model).load(path)
        assert str(path) in str(error.value)

    return check


FLOATS = [
    *(("trees", name) for name in ("nodes/value", "nodes/threshold", "nodes/gain", "weights", "stage_thresholds")),
    *(("trees", name) for name in ("objective_", "gap_")),
    *(("stages", name) for name in ("nodes/value", "nodes/threshold", "weights", "stage_thresholds")),
    ("smoothed", "objective_"),
    *(("linear learners", name) for name in ("linear/coef", "linear/intercept", "weights")),
    *(("linear", name) for name in ("coef_", "intercept_", "objective_", "gap_")),
]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("model", "name"), FLOATS)
def test_every_float_is_finite(refused, model, name, value):
    def change(header, arrays):
        arrays[name].flat[-1] = value

    refused(model, change, f"{name} holds nan or infinity")


@pytest.mark.parametrize(("model", "name"), [*FLOATS, ("trees", "nodes/child"), ("trees", "n_cuts_")])
@pytest.mark.parametrize(
    "change",
    [lambda a: a.astype(str), lambda a: a.astype(complex), lambda a: a.astype(bool), lambda a: a.astype(np.longdouble)],
    ids=["text", "complex", "bool", "longdouble"],
)
def test_every_array_has_its_type(refused, model, name, change):
    refused(model, lambda header, arrays: arrays.update({name: change(arrays[name])}), f"{name} holds .*must hold")


@pytest.mark.parametrize("name", ["nodes/missing_left", "nodes/missing_seen"])
def test_sides_of_missing_values_are_flags_and_come_together(refused, name):
    refused("trees", lambda header, arrays: arrays.update({name: arrays[name] * 1}), f"{name} holds int64; it must")
    refused("trees", lambda header, arrays: arrays.update({name: arrays[name][1:]}), f"{name} has the shape")
    refused("trees", lambda header, arrays: arrays.pop(name), name)


@pytest.mark.parametrize(("model", "name"), [*FLOATS, ("trees", "nodes/child"), ("trees", "n_cuts_")])
@pytest.mark.parametrize("change", [lambda a: a[None], lambda a: a[:-1]], ids=["one more side", "one less"])
def test_every_array_has_its_shape(refused, model, name, change):
    refused(model, lambda header, arrays: arrays.update({name: change(arrays[name])}), "has the shape|differ")


@pytest.mark.parametrize(
    ("model", "change", "message"),
    [
        ("trees", lambda a: a["nodes/value"].fill(1.5), r"prediction outside \[-1, 1\]"),
        ("trees", lambda a: a["nodes/n_samples"].fill(-2), "nodes/n_samples holds a negative number"),
        ("trees", lambda a: a.update({"nodes/n_samples": a["nodes/value"]}), "nodes/n_samples holds float64"),
        ("trees", lambda a: a["nodes/code"].fill(256), r"nodes/code\[0\] is 256"),
        ("trees", lambda a: a["weights"].fill(1e308), "sum of the weights is infinite"),
        ("stages", lambda a: a["weights"].fill(1e308), "sum of the weights is infinite"),
        ("linear", lambda a: a["coef_"].fill(1e200), "length of coef_ is infinite"),
        ("trees", lambda a: a["classes"].fill(1), "classes must be finite and ascend"),
        ("linear", lambda a: a.update(classes=a["classes"][::-1].copy()), "classes must be finite and ascend"),
        ("stages", lambda a: a.update(classes=np.array([np.nan, 1])), "classes must be finite and ascend"),
        ("stages", lambda a: a.update(classes=np.array([0, np.inf])), "classes must be finite and ascend"),
        ("stages", lambda a: a.update(classes=np.array(["x", "x"])), "classes must be finite and ascend"),
        ("stages", lambda a: a.update(classes=np.array([0, 1j])), "classes must be two numbers, bools or strings"),
    ],
)
def test_numbers_that_no_fit_makes(refused, model, change, message):
    refused(model, lambda header, arrays: change(arrays), message)


@pytest.mark.parametrize(
    ("model", "name", "value", "message"),
    [
        *((model, "verbose", "x", "verbose must be an integer") for model in MODELS),
        *((model, "n_jobs", "two", "n_jobs must be None or an integer") for model in MODELS if model != "linear"),
        ("trees", "n_jobs", 0, "n_jobs must be None or an integer"),
        ("trees", "nu", "1", "nu must be a number in"),
        ("trees", "nu", None, "nu must be a number in"),
        ("trees", "nu", 10**400, "nu must be a number in"),
        ("trees", "fpr_range", [0.5, 0.1], "fpr_range must be two rates"),
        ("trees", "fpr_range", "01", "fpr_range must be two rates"),
        ("trees", "anneal", 1, "anneal must be one of"),
        ("trees", "learner", {"class": "Tree", "parameters": {"depth": "deep"}}, "depth must be an integer"),
        ("trees", "learner", {"class": "Tree", "parameters": {"max_bins": 1}}, "max_bins must be an integer"),
        ("trees", "learner", {"class": "Tree", "parameters": {"random_state": "x"}}, "seed"),
        ("trees", "learner", "Tree", "learner must have fit"),
        ("stages", "shrinkage", [1], "shrinkage must be a finite number"),
        ("stages", "max_bins", 1000, "max_bins must be an integer"),
        ("stages", "n_estimators", 2.5, "n_estimators must be an integer"),
        ("stages", "random_state", -5, "random_state|seed|Seed"),
        ("stages", "random_state", {"float": "inf"}, "seed"),
        ("stages", "shrinkage", {"scalar": "void", "value": 1}, "means no type"),
        ("smoothed", "fpr_range", [0], "fpr_range must be two rates"),
        ("linear", "formulation", "loose", "formulation must be one of"),
        ("linear", "max_iter", 0, "max_iter must be an integer"),
    ],
)
def test_every_parameter_is_checked(refused, model, name, value, message):
    refused(model, lambda header, arrays: header["parameters"].update({name: value}), message)


@pytest.mark.parametrize(
    ("model", "name", "value", "message"),
    [
        ("trees", "learner", {"class": "Tree", "parameters": {"leaves": "soft"}}, "leaves must be one of"),
        ("linear learners", "learner", {"class": "Linear", "parameters": {"C": 0}}, "C must be a number in"),
        ("trees", "fitted", {"n_iter_": 3, "stop_reason_": "edge"}, "n_iter_ is 3, but there are 4|has the shape"),
        ("stages", "fitted", {"n_iter_": 3}, "n_iter_ is 3, but there are 4 learners"),
        ("trees", "fitted", {"n_iter_": 4, "stop_reason_": "tired"}, "stop_reason_ must be one of edge, n_estimators"),
        ("linear", "fitted", {"n_iter_": 0}, "n_iter_ must be an integer, 1 or larger"),
        ("stages", "n_features", 2**31, "n_features must be an integer"),
        ("stages", "feature_names", ["a"], "feature_names must be 2 strings"),
        ("stages", "feature_names", ["a", 3], "feature_names must be 2 strings"),
        ("stages", "feature_names", "ab", "feature_names must be 2 strings"),
        ("stages", "classes", {"array": "object", "shape": [2], "values": ["b", "a"]}, "ascend"),
        ("stages", "classes", {"array": "object", "shape": [2], "values": [1, 2]}, "classes must be two numbers"),
        ("stages", "classes", ["a", "b"], "not a complete AdaBoostClassifier"),
    ],
)
def test_every_value_of_the_header_is_checked(refused, model, name, value, message):
    refused(model, lambda header, arrays: header.update({name: value}), message)
