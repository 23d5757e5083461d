"""Warnings that point at the line of the user, and parameters of Python's types and of NumPy's."""

import contextlib
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from paucens import validation
from paucens.detector import Window
from paucens.features.preset import PRESETS
from paucens.validation import (
    check_choice,
    check_flag,
    check_integer,
    check_jobs,
    check_number,
    check_positive,
    check_verbose,
    warn_user,
)


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


def test_a_warning_inside_a_context_points_at_its_block():
    @contextlib.contextmanager
    def context():
        warn_user("inside")
        yield

    context.__wrapped__.__code__ = context.__wrapped__.__code__.replace(co_filename=validation.__file__)
    with pytest.warns(UserWarning, match="inside") as record, context():
        pass
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


# -- parameters ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [int, np.int8, np.uint64], ids=lambda kind: kind.__name__)
def test_integers_of_any_library(kind):
    checked = check_integer("n", kind(7), 1, 9)
    assert checked == 7 and type(checked) is int
    assert check_jobs(kind(2)) == check_verbose(kind(2)) == 2


@pytest.mark.parametrize("kind", [float, np.float16, np.float32, np.float64, np.longdouble, Fraction])
def test_numbers_of_any_library(kind):
    assert check_positive("nu", kind(0.5)) == check_number("nu", kind(0.5)) == 0.5
    assert type(check_positive("nu", kind(0.5))) is float


@pytest.mark.parametrize("kind", [bool, np.bool_])
def test_flags_are_flags_and_no_numbers(kind):
    for flag in (True, False):
        assert check_choice("anneal", kind(flag), ("auto", True, False)) is flag
        assert check_flag("centred", kind(flag)) is flag
        assert check_verbose(kind(flag)) == flag
    for check in (check_number, check_positive, lambda name, value: check_integer(name, value, 0)):
        with pytest.raises(ValueError, match="nu must be"):
            check("nu", kind(1))
    with pytest.raises(ValueError, match="n_jobs must be None or an integer"):
        check_jobs(kind(1))


@pytest.mark.parametrize("value", [1, 0, 1.0, "True", None, np.int8(1), np.array([True])], ids=repr)
def test_other_values_are_no_flags(value):
    with pytest.raises(TypeError, match="centred must be True or False"):
        check_flag("centred", value)
    with pytest.raises(ValueError, match="mirrors must be one of True, False"):
        check_choice("mirrors", value, (True, False))


def test_strings_of_numpy_are_choices():
    assert check_choice("leaves", np.str_("real"), ("sign", "real")) == "real"


@pytest.mark.parametrize("value", [10**400, np.inf, np.nan, "1", None, 1j, [1]], ids=lambda value: repr(value)[:9])
def test_numbers_that_are_not_finite(value):
    with pytest.raises(ValueError, match="nu must be a finite number"):
        check_positive("nu", value)


def test_objects_with_flags_take_those_of_numpy():
    robust = PRESETS["robust"]
    assert replace(robust, colours=np.False_, covariance=replace(robust.covariance, centred=np.True_)) == robust
    assert Window(inside=np.False_) == Window() and type(Window(inside=np.True_).inside) is bool
