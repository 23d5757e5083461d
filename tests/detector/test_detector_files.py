"""Files of detectors: what they keep, and numbers that no training makes."""

from dataclasses import replace

import numpy as np
import pytest
from tiny_detector import tiny_detector

from paucens import persistence
from paucens.detector import PedestrianDetector


@pytest.fixture
def detector():
    return tiny_detector()


def change_file(detector, path, change):
    """Save a detector and apply a change to the header and arrays of its file."""
    detector.save(path)
    header, arrays = persistence.load(path, "PedestrianDetector")
    header = {key: value for key, value in header.items() if key not in ("format", "format_version")}
    change(header, arrays)
    persistence.save(path, header, arrays)


@pytest.mark.parametrize("threshold", [-np.inf, np.inf, 0, np.float32(0.1), -1.5])
def test_any_threshold_is_saved(detector, threshold, tmp_path):
    replace(detector, threshold=threshold).save(tmp_path / "model.npz")
    assert PedestrianDetector.load(tmp_path / "model.npz").threshold == threshold


def test_a_threshold_that_is_nan_is_not_saved(detector, tmp_path):
    with pytest.raises(ValueError, match="threshold must be a number, not nan"):
        replace(detector, threshold=np.nan).save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_rejection_may_be_infinite(detector, tmp_path):
    detector.save(tmp_path / "model.npz")
    assert PedestrianDetector.load(tmp_path / "model.npz").trees.rejection.tolist() == [-1, -np.inf]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["threshold", "value", "bias", "rejection"])
def test_numbers_are_finite(detector, name, value, tmp_path):
    """An infinite bias used to load and fail in the suppression."""
    if name == "rejection" and np.isinf(value):
        pytest.skip("allowed")

    def change(header, arrays):
        arrays[name] = np.full_like(arrays[name], value)

    change_file(detector, tmp_path / "model.npz", change)
    with pytest.raises(ValueError, match=rf"model\.npz is not a complete .*: {name} holds nan or infinity"):
        PedestrianDetector.load(tmp_path / "model.npz")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header, arrays: arrays["value"].fill(3e38), "sum of the trees is infinite"),
        (lambda header, arrays: arrays.update(more=np.zeros(1)), "more"),
        (lambda header, arrays: arrays.pop("bias"), "bias"),
        (lambda header, arrays: arrays["place"].fill(100), "row"),
        (lambda header, arrays: header.update(notes=[["hard", 1]]), "notes must be a JSON object"),
        (lambda header, arrays: header.update(notes=None), "notes must be a JSON object"),
        (lambda header, arrays: header.update(threshold={"float": "nan"}), "threshold must be a number, not nan"),
        (lambda header, arrays: header.update(threshold=True), "threshold must be a number"),
        (lambda header, arrays: header.update(threshold=[0]), "threshold must be a number"),
        (lambda header, arrays: header.update(smooth="0"), "smooth must be a finite number"),
        (lambda header, arrays: header.pop("window"), "'window'"),
        (lambda header, arrays: header["window"].update(inside=0), "inside of a window must be one of True, False"),
        (lambda header, arrays: header["window"].update(target=[12, None]), "target of a window"),
        (lambda header, arrays: header["first_stage"].update(within="far"), "within must be a number"),
        (lambda header, arrays: header["first_stage"].update(families="Haar"), "first stage needs some families"),
        (lambda header, arrays: header["spec"].update(families="LUV+Haar"), "Haar"),
    ],
)
def test_every_setting_is_checked_and_the_file_is_named(detector, change, message, tmp_path):
    path = tmp_path / "model.npz"
    change_file(detector, path, change)
    with pytest.raises(ValueError, match=message) as error:
        PedestrianDetector.load(path)
    assert str(path) in str(error.value)


def test_the_default_model_loads():
    assert np.isfinite(PedestrianDetector.default().trees.value).all()


def test_a_missing_file_says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"No file .*/model; give the path that it was saved to"):
        PedestrianDetector.load(tmp_path / "model")
