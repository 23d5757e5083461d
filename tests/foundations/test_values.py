"""Values as JSON: each comes back equal and of its own type."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from paucens.persistence import typed, untyped

TYPES = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.float16, np.float32, np.float64]
DTYPES = st.sampled_from([np.dtype(kind) for kind in TYPES])
SIMPLE = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text())
NUMBERS = DTYPES.flatmap(hnp.from_dtype)
ARRAYS = hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, min_side=0, max_side=4))
VALUES = st.recursive(
    st.one_of(SIMPLE, NUMBERS, ARRAYS, st.text().map(np.str_)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple)),
    max_leaves=8,
)


def assert_same(one, other):
    assert type(one) is type(other)
    if isinstance(one, list | tuple):
        assert len(one) == len(other)
        for mine, its in zip(one, other, strict=True):
            assert_same(mine, its)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other or (one != one and other != other)
        assert np.signbit(one) == np.signbit(other) if isinstance(one, float) and one == 0 else True


@given(VALUES)
@settings(derandomize=True, max_examples=150, deadline=None)
def test_values_come_back_with_their_types(value):
    text = json.dumps(typed(value, "value"), allow_nan=False)
    assert_same(untyped(json.loads(text)), value)


@pytest.mark.parametrize("labels", [["no", "yes"], ["a\0", "\ud800"], ["", "x" * 1000]], ids=["words", "odd", "long"])
def test_arrays_of_python_strings_come_back(labels):
    array = np.array(labels, dtype=object)
    again = untyped(json.loads(json.dumps(typed(array, "labels"))))
    assert again.dtype == object and again.tolist() == labels


def test_what_json_knows_is_stored_as_it_is():
    assert typed((0, 0.5, None, "auto", True, (1,)), "x") == [0, 0.5, None, "auto", True, [1]]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({1, 2}, "x is a set, which a file cannot hold"),
        ((0, object()), r"x\[1\] is a object"),
        ({"a": 1}, "x is a dict"),
        (1j, "x is a complex"),
        (np.complex64(1j), "x has the dtype complex64, which a file cannot hold"),
        (np.array([1, "a", None], dtype=object), "x holds Python objects; of these, only strings can be saved"),
        (np.array(["2001-01-01"], dtype="datetime64[D]"), "x has the dtype datetime64"),
    ],
)
def test_other_types_are_named(value, message):
    with pytest.raises(TypeError, match=message):
        typed(value, "x")


@pytest.mark.parametrize(
    "json_value",
    [
        {},
        {"scalar": "object", "value": 1},
        {"scalar": "int8", "value": 300},
        {"scalar": "int8", "value": "x"},
        {"array": "float64", "shape": [3], "values": [1]},
        {"array": "V8", "shape": [1], "values": [1]},
        {"array": "float64", "values": [1]},
        {"float": "x"},
        {"list": 3},
    ],
    ids=str,
)
def test_descriptions_that_mean_nothing(json_value):
    with pytest.raises((ValueError, TypeError, OverflowError)):
        untyped(json_value)
