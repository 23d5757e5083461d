"""Fits do not depend on the instructions that NumPy finds in the processor; its exponentials, for one, do."""

import os
import subprocess
import sys

import pytest

core = pytest.importorskip("numpy._core._multiarray_umath", reason="It tells which instructions NumPy uses.")
USED = [name for name in core.__cpu_dispatch__ if core.__cpu_features__[name]]  # beyond those that it needs
FIT = """
import hashlib
import warnings

import numpy as np

from paucens import LinearPAUCSVC, PAUCEnsClassifier, Stump, Tree

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
y = np.arange(800) % 5 == 0
X = np.round(rng.normal(size=(800, 6)) + 0.7 * y[:, None], 1)  # many ties
weights = rng.uniform(0.5, 2.0, size=800)
few = Tree(depth=2, leaves="real", leaf_ridge=20)
for model, sample_weight in (
    (PAUCEnsClassifier((0, 0.02), n_estimators=60, random_state=0), None),
    (PAUCEnsClassifier((0, 0.05), n_estimators=20, random_state=0), weights),
    (PAUCEnsClassifier((0, 0.01), learner=few, n_estimators=10, nu=3.0, mixture="auto"), None),
    (PAUCEnsClassifier((0.01, 0.1), learner=Stump(), n_estimators=20, nu=3.0), None),
    (LinearPAUCSVC((0, 0.3), nu=3.0), None),
):
    scores = model.fit(X, y, sample_weight=sample_weight).decision_function(X)
    print(hashlib.sha256(scores.tobytes()).hexdigest())
"""


def fits_without(instructions):
    environment = os.environ | {"NPY_DISABLE_CPU_FEATURES": " ".join(instructions)}
    done = subprocess.run([sys.executable, "-c", FIT], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.skipif(not USED, reason="This processor has no instructions that NumPy can do without.")
def test_fits_are_the_same_with_fewer_instructions():
    everything = fits_without(())
    assert len(set(everything)) == 5
    for first in {0, len(USED) // 2}:
        assert fits_without(USED[first:]) == everything
