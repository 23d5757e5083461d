"""Groups of windows against a twin."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from paucens._kernels.regions import group_windows


def grouped(windows, height, width, overhead):
    group, boxes = np.full(len(windows), -1, np.int32), np.empty((len(windows), 4), np.int32)
    n = group_windows(windows, height, width, overhead, group, boxes)
    return group.tolist(), boxes[:n].tolist()


@given(
    windows=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=25, unique=True),
    size=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    overhead=st.sampled_from([0.0, 5.0, 200.0]),
)
@settings(max_examples=150, deadline=None)
def test_groups_are_those_of_the_twin(windows, size, overhead):
    windows = np.array(sorted(windows), dtype=np.int32).reshape(-1, 2)
    assert grouped(windows, *size, overhead) == reference.group_windows(windows.tolist(), *size, overhead)


@pytest.mark.parametrize("n", [0, 1])
def test_few_windows(n):
    windows = np.full((n, 2), 7, dtype=np.int32)
    assert grouped(windows, 4, 4, 1.0) == ([0] * n, [[7, 7, 7, 7]] * n)
