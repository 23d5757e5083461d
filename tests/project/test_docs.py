"""The examples in docstrings, in the README and in the user guide give the results shown."""

import doctest
import importlib
import pkgutil
import re
import shlex

import numpy as np
import pytest
from pages import GUIDE, PAGES, ROOT, blocks, commands
from PIL import Image

import paucens
from paucens.cli import main

MODULES = [module.name for module in pkgutil.walk_packages(paucens.__path__, "paucens.") if "._" not in module.name]
NEEDS_DATA = {  # the tests of the data sets run their examples if the data are available
    f"paucens.datasets.{name}" for name in ("usps", "scene15", "faces", "tabular", "yeast_pairs", "inria", "eth", "mot")
}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.REPORT_NDIFF


@pytest.mark.filterwarnings("ignore:All weights are 0", "ignore:The range .* is narrower")
@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    if name == "paucens.plotting":
        pytest.importorskip("matplotlib")
    if name in NEEDS_DATA:
        pytest.skip(f"{name} reads a data set")
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_of_a_page(page, tmp_path, monkeypatch, capsys):
    """Code prints what is shown below it, and draws the pictures that are shown; later code goes on from earlier."""
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks(page):
        place = f"{page.relative_to(ROOT)}, line {block.line}"
        if block.reason is not None:
            continue
        if block.kind == "console":
            for command, output in commands(block.code):
                check(place, command, output, run_command(command, capsys))
        else:
            exec(compile("\n" * block.line + block.code, str(page), "exec"), names)
            check(place, block.code, block.output, capsys.readouterr().out)
    for shown in (GUIDE / "images").iterdir():
        if (tmp_path / shown.name).exists():
            check_picture(tmp_path / shown.name, shown)


def run_command(command, capsys):
    """Run a line of the shell that begins with paucens; return what it prints, messages included."""
    program, *arguments = shlex.split(command)
    assert program == "paucens"
    main(arguments)
    printed = capsys.readouterr()
    return printed.err + printed.out


def check(place, code, wanted, printed):
    wanted, printed = (re.sub(r"\b\d+\.\d s\b", "... s", text) for text in (wanted, printed))  # times
    example, checker = doctest.Example(code, wanted), doctest.OutputChecker()
    if not checker.check_output(example.want, printed, FLAGS):
        pytest.fail(f"{place}\n{checker.output_difference(example, printed, FLAGS)}", pytrace=False)


def check_picture(drawn, shown):
    """Check that it is the same picture, but for edges and letters, which depend on the version of the library."""
    drawn, shown = (np.asarray(Image.open(path).convert("RGB"), dtype=float) for path in (drawn, shown))
    assert drawn.shape == shown.shape and np.abs(drawn - shown).mean() < 3


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_that_a_page_refers_to_exist(page):
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150
