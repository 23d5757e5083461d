"""Names are loaded when they are first used: metrics, detection and the command line start without scikit-learn."""

import ast
import pickle
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import paucens
from paucens.boosting import AdaBoostClassifier

ROOT = Path(paucens.__file__).parent
LAZY = sorted(".".join(stub.parent.relative_to(ROOT.parent).parts) for stub in ROOT.rglob("__init__.pyi"))
SLOW = {"sklearn", "scipy.stats", "pandas", "matplotlib", "cv2"}
MOST_MODULES = 300  # that `paucens --help` may load, those of Python itself among them; NumPy alone has about 100


def loaded_by(code):
    """Run code in a new process; return the names of all modules that are loaded afterwards."""
    code += "\nimport sys\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def stub_of(package):
    """Return the modules that the stub of a package imports names from, a dict, and its `__all__`."""
    tree = ast.parse(Path(import_module(package).__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.name: node.module for node in imports for alias in node.names}
    (public,) = (ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign))
    return homes, public


@pytest.mark.parametrize("package", LAZY)
def test_every_name_of_a_stub_is_there(package):
    module, (homes, public) = import_module(package), stub_of(package)
    modules = {name for name, home in homes.items() if home == package}
    assert module.__all__ == public and set(public) == homes.keys() - modules - {"__version__"}
    for name, home in homes.items():
        expected = f"{package}.{name}" if name in modules else home
        found = getattr(module, name)
        assert found is (import_module(expected) if name in modules else getattr(import_module(home), name))
    assert homes.keys() <= set(dir(module))
    names = {}
    exec(f"from {package} import *", names)
    assert set(public) <= names.keys()


@pytest.mark.parametrize("package", LAZY)
def test_no_name_hides_a_module(package):
    _, public = stub_of(package)
    assert not set(public) & {module.name for module in pkgutil.iter_modules(import_module(package).__path__)}


def test_unknown_names_are_refused():
    assert len(LAZY) > 5
    for package in LAZY:
        with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
            getattr(import_module(package), "nothing")  # noqa: B009
        assert not hasattr(import_module(package), "_nothing")
    with pytest.raises(ImportError, match="nothing"):
        exec("from paucens import nothing")


def test_modules_are_attributes():
    code = "import paucens\nassert paucens.metrics.partial_auc([0, 1], [0, 1], (0, 1)) == 1\n"
    code += "assert len(paucens.datasets.load_toy(3, 2)[1]) == 5\nassert paucens.datasets.toy.ABOUT.name == 'toy'"
    assert "paucens.datasets.toy" in loaded_by(code)


@pytest.mark.parametrize(
    "code",
    [
        "from paucens import partial_auc, roc_points\npartial_auc([0, 1], [0, 1], (0, 1))",
        "from paucens import partial_auc_interval, threshold_at_fpr\npartial_auc_interval([0, 0, 1, 1], [0, 1, 2, 3])",
        "from paucens.evaluation import miss_rate_curve\nfrom paucens.formats import read_annotations",
        "from paucens.detector import PedestrianDetector\nfrom paucens.datasets import synthetic_streets\n"
        "PedestrianDetector.default().detect(synthetic_streets(1, size=(160, 200))[0].image)",
        "from paucens.features import ChannelSpec, Preset\nfrom paucens.detector import Window",
    ],
    ids=["areas", "intervals", "evaluation", "detection", "features"],
)
def test_no_scikit_learn(code):
    assert not SLOW & loaded_by(code)


def test_the_package_alone_loads_nothing_of_others():
    assert not {"numpy", "scipy", "joblib"} & loaded_by("import paucens")


def test_only_linear_learners_load_liblinear():
    fit = "from paucens import {0}\n{0}({1}).fit([[0.0], [1.0], [2.0], [3.0]], {2})"
    assert "sklearn.svm" not in loaded_by(fit.format("AdaBoostClassifier", "n_estimators=2", [0, 1, 0, 1]))
    assert "sklearn.svm" in loaded_by(fit.format("Linear", "", [-1, 1, -1, 1]))


@pytest.mark.parametrize("arguments", [["--help"], ["detect", "--help"], ["info", "--version"]], ids=" ".join)
def test_the_command_line_starts_light(arguments):
    code = f"from paucens.cli import main\ntry:\n    main({arguments})\nexcept SystemExit:\n    pass"
    modules = loaded_by(code)
    assert "numpy" not in modules and len(modules) < MOST_MODULES


def test_pickles_are_read_in_a_process_that_imported_nothing():
    model = AdaBoostClassifier(n_estimators=2).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    content = pickle.dumps([model, paucens.partial_auc, paucens.Tree])
    loaded_by(f"import pickle\nassert pickle.loads({content!r})[0].predict([[0.0], [3.0]]).tolist() == [0, 1]")
