"""Progress bars: shown if wanted, and never the end of a fit."""

import sys

import numpy as np
import pytest

from paucens import (
    AdaBoostClassifier,
    AdaBoostLDAClassifier,
    AsymBoostClassifier,
    CSAdaBoostClassifier,
    LinearPAUCSVC,
    PAUCBoostClassifier,
    PAUCEnsClassifier,
)
from paucens.datasets import load_toy
from paucens.progress import progress_bar

CLASSIFIERS = [
    PAUCEnsClassifier(n_estimators=2, nu=1.0),
    AdaBoostClassifier(n_estimators=2),
    AdaBoostLDAClassifier(n_estimators=2),
    AsymBoostClassifier(n_estimators=2),
    CSAdaBoostClassifier(n_estimators=2),
    PAUCBoostClassifier(n_estimators=2),
    LinearPAUCSVC(),
]


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda one: type(one).__name__)
def test_fits_without_standard_error(classifier, monkeypatch):
    """As with pythonw, where sys.stderr is None."""
    monkeypatch.setattr(sys, "stderr", None)
    assert classifier.set_params(verbose=1).fit(*load_toy(random_state=0)).n_iter_ > 0


def test_verbose_decides(capsys):
    for verbose in (0, False, np.False_):
        assert list(progress_bar(range(3), verbose=verbose)) == [0, 1, 2]
    assert capsys.readouterr().err == ""
    for verbose in (1, True, np.True_):
        with progress_bar(total=3, verbose=verbose, desc="work") as progress:
            progress.update(3)
        assert "work: 100%" in capsys.readouterr().err
