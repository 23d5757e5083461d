"""The examples in docstrings and in the README give the results shown."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import paucens

MODULES = [module.name for module in pkgutil.walk_packages(paucens.__path__, "paucens.") if "._" not in module.name]
NEEDS_DATA = {  # the tests of the data sets run their examples if the data are available
    f"paucens.datasets.{name}" for name in ("usps", "scene15", "faces", "tabular", "yeast_pairs", "inria", "eth", "mot")
}


@pytest.mark.filterwarnings("ignore:All weights are 0", "ignore:The range .* is narrower")
@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    if name == "paucens.plotting":
        pytest.importorskip("matplotlib")
    if name in NEEDS_DATA:
        pytest.skip(f"{name} reads a data set")
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_readme_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    names = {}  # a block may go on from those before it
    for code in re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL):
        exec(compile(code, "README.md", "exec"), names)
    area, alarms, *tree, channels = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"pAUC\[0, \.01\] = 0\.\d{3}, 95 % interval 0\.\d{3} to [01]\.\d{3}", area)
    assert (tmp_path / "digits.npz").stat().st_size > 0
    assert re.fullmatch(r"false alarms: 0\.0[01]\d, found: 0\.[89]\d{2}", alarms)
    assert tree[0].startswith("PAUCEnsClassifier, number of trees: 10.")
    assert channels.startswith("['max M', 'max O2'") and channels.endswith("'cov8 corr(x, M)', 'cov8 corr(y, M)']")
