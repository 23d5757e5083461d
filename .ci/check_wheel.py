"""What a user does first with the installed package: the code of the README, save, load, detect, the command line."""

import contextlib
import io
import os
import re
import sys
import tempfile
from importlib.metadata import metadata
from pathlib import Path

import paucens
from paucens import AdaBoostClassifier, PAUCEnsClassifier, partial_auc
from paucens.cli import main
from paucens.datasets import load_digits_parity, synthetic_streets
from paucens.detector import PedestrianDetector

installed = Path(paucens.__file__).parent
assert installed.is_relative_to(Path(sys.prefix).resolve()), installed
assert (installed / "py.typed").exists() and (installed / "detector" / "weights" / "LICENSE").exists()
assert metadata("paucens")["Version"] == paucens.__version__

readme, printed = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8"), io.StringIO()
with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(printed):
    for block in re.findall(r"```python\n(.*?)```", readme, re.DOTALL):
        exec(block, {})
    assert os.listdir() == ["street.jpg"]
assert f"```text\n{printed.getvalue()}```" in readme, printed.getvalue()
print(f"wheel: the code of the README printed\n{printed.getvalue()}", end="")

X, y = load_digits_parity()
with tempfile.TemporaryDirectory() as folder:
    for model in (AdaBoostClassifier(n_estimators=50), PAUCEnsClassifier((0, 0.1), n_estimators=50, random_state=0)):
        model.fit(X[::2], y[::2]).save(Path(folder, "model.npz"))
        again = type(model).load(Path(folder, "model.npz"))
        area = partial_auc(y[1::2], again.decision_function(X[1::2]))
        print(f"wheel: {type(model).__name__} on digits (stand-in), pAUC[0, .1] = {area:.3f}")
        assert area > 0.9

detector = PedestrianDetector.default()
boxes = detector.detect(synthetic_streets(1, seed=5)[0].image, threshold=-5)
print(f"wheel: {detector} finds {len(boxes)} boxes in a rendered street")
assert boxes.shape[1] == 5 and len(boxes) > 0
assert main(["info", "--version"]) == main(["info", "default"]) == 0
