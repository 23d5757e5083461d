"""Warnings that point at the line of the user."""

import warnings

import pytest

from paucens import validation
from paucens.validation import warn_user


def compiled(source, filename):
    """Return the function `call` of a source that claims to be in a file."""
    names = {"warn_user": warn_user}
    exec(compile(source, filename, "exec"), names)
    return names["call"]


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_a_warning_points_at_the_caller_of_the_package(depth, monkeypatch):
    monkeypatch.setattr(validation, "PACKAGE", "/a/package/")
    call = warn_user
    for level in range(depth):
        inner = compiled(f"def call(*args):\n    inner(*args)  # {level}", f"/a/package/module_{level}.py")
        inner.__globals__["inner"] = call
        call = inner
    with pytest.warns(UserWarning, match="of the user") as record:
        call("of the user")
    assert record[0].filename == __file__


def test_the_category_is_passed_on():
    with pytest.warns(RuntimeWarning, match="slow"):
        warn_user("slow", RuntimeWarning)


def test_a_warning_from_inside_only_points_at_the_outermost_frame(monkeypatch):
    """If all frames were in the package, the outermost one is named instead of an error."""
    monkeypatch.setattr(validation, "PACKAGE", "")
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        warn_user("inside")
    assert len(record) == 1
