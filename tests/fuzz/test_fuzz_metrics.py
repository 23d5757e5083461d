"""A short run of the metrics on drawn inputs; it must find a fault if there is one."""

import numpy as np
import pytest
from fuzz_metrics import run

from paucens.metrics import _influences, _samples


def test_metrics_of_drawn_inputs_are_right():
    run(200, seed=0)


@pytest.mark.parametrize(
    "module, name, fault",
    [
        (_samples, "_exact", lambda column, values: column.astype(float)),
        (_samples, "_scaled", lambda weight: weight),
        (_influences, "_run", lambda start, stop: np.ones(len(start))),
    ],
)
def test_a_fault_is_found(monkeypatch, module, name, fault):
    monkeypatch.setattr(module, name, fault)
    with pytest.raises(AssertionError, match=r"seed 1, input \d+"):
        run(200, seed=1)
