"""Trained for one range, judged on another: the matrix, the gains by hand, the script from end to end on a tiny set."""

from types import SimpleNamespace

import beyond_4
import numpy as np
import pandas as pd
import pytest
from sklearn.utils import Bunch

from harness import Run
from paucens.metrics import mean_interval, partial_auc
from pictures import texts_outside


def draw():
    rng = np.random.RandomState(0)
    y = np.repeat([1, 0], [200, 2000])
    return Bunch(data=rng.normal(size=(len(y), 3)) + y[:, None], target=y)


class TinyRun(Run):
    """A run on one small set."""

    def data(self, *names):
        self.sources["tiny"] = {"content_hash": "0", "shape": [2200, 3]}
        return {} if self.redraw else {"tiny": draw()}

    def load(self, title):
        return draw()


def tiny_run(folder, *more):
    return TinyRun.of(
        "beyond_4.py", "", beyond_4.PROTOCOLS, ["--scale", "smoke", "--jobs", "1", "--out", folder, *more]
    )


def test_a_case_is_one_model_judged_on_each_range_of_enough_negatives(tmp_path):
    run = tiny_run(str(tmp_path))
    rows = beyond_4.measure(run, {"data_set": "tiny", "model": "ten trees", "trained": 0.1, "repeat": 0})
    assert [row["judged"] for row in rows] == [1.0, 0.1] and {row["n_train"] for row in rows} == {1100}
    train, test, _ = beyond_4.split(run, draw(), 0)
    data = draw()
    X = data.data.astype(np.float32)
    model = beyond_4.MODELS["ten trees"](0, 0.1).fit(X[train], data.target[train])
    assert model.fpr_range == (0.0, 0.1) and model.get_params()["n_estimators"] == 10
    for row in rows:
        expected = partial_auc(data.target[test], model.decision_function(X[test]), (0.0, row["judged"]))
        assert row["pauc"] == pytest.approx(expected, abs=1e-6)


def test_the_default_is_the_package_s():
    model = beyond_4.MODELS["default"](7, 0.01)
    changed = {name for name, value in model.get_params().items() if value != type(model)().get_params()[name]}
    assert changed == {"fpr_range", "n_jobs", "random_state"}


def test_gains_are_over_training_for_all_rates():
    rows = pd.DataFrame(
        [
            {"judged": 0.1, "trained": trained, "repeat": repeat, "pauc": pauc, "n_train": 4, "n_test": 4}
            for trained, paucs in ((1.0, (0.5, 0.6)), (0.1, (0.7, 0.7)), (0.01, (0.4, 0.4)))
            for repeat, pauc in enumerate(paucs)
        ]
    )
    ((judged, found),) = beyond_4.gains(rows)
    assert judged == 0.1 and list(found) == [0.1, 0.01]
    assert found[0.1] == pytest.approx(mean_interval([0.2, 0.1], overlap=1.0))
    assert found[0.01] == pytest.approx(mean_interval([-0.1, -0.2], overlap=1.0))


def test_the_script_from_end_to_end(tmp_path, monkeypatch):
    monkeypatch.setattr(beyond_4, "Run", SimpleNamespace(of=lambda *arguments: tiny_run(str(tmp_path))))
    finished = beyond_4.main([])
    text = (tmp_path / "beyond_4.md").read_text(encoding="utf-8")
    assert "| tiny  | [0, 0.1]" in text and "best trained for" in text and "nan" not in text
    assert not texts_outside(finished.figure)
