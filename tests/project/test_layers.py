"""Who may import whom: every module may import from the levels below its own, never from its own or above."""

import ast
import re
from pathlib import Path

import pytest

import paucens

ROOT = Path(paucens.__file__).parent
LEVELS = [  # bottom to top
    {"_kernels", "_lazy", "_types", "_version"},
    {"images", "matlab", "parallel", "persistence", "progress", "validation"},
    {"datasets", "drawing", "features", "learners", "metrics"},
    {"base", "cutting_plane", "evaluation", "formats"},
    {"boosting", "ensemble", "structural", "proposals"},
    {"detector", "operating_point"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(LEVELS) for name in names}
FREE = {"", "__main__", "plotting"}  # the package itself, and what only scripts import
PICTURES = {"matplotlib", "pandas"}
MAKES_FRAMES = ROOT / "base" / "exports.py"  # with pandas, loaded when a frame is made

FILES = sorted(path for path in ROOT.rglob("*") if path.suffix in {".py", ".pyi", ".pyx", ".pxd"})


def part_of(path):
    """Return the module or package directly under paucens that a file belongs to, '' for paucens/__init__.py."""
    first = path.relative_to(ROOT).parts[0]
    return "" if first.startswith("__init__.") else first.split(".")[0]


def modules_imported(path):
    """Return the dotted names of all imports of a file, wherever they are, with relative imports resolved."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in {".pyx", ".pxd"}:  # Cython's grammar is not Python's, but its import lines look the same
        text = "\n".join(re.findall(r"^(?:from .+ c?import|c?import) .*", text, re.MULTILINE))
        text = re.sub(r"\bcimport\b", "import", text).replace("(", "").replace(")", "").replace("\\", "")
    package = ["paucens", *path.relative_to(ROOT).parts[:-1]]
    return sorted(names_in(ast.parse(text), package))


def names_in(tree, package):
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            names |= {f"{module}.{alias.name}" for alias in node.names}
    return names


def parts_imported(path):
    """Return the modules and packages directly under paucens that a file imports."""
    parts = set()
    for name in modules_imported(path):
        top, *rest = name.split(".")
        if top == "paucens":
            parts.add(rest[0] if rest and rest[0] in LEVEL.keys() | FREE else "")
    return parts


def breaches(part, imported):
    """Return the imports of a part that are not allowed."""
    others = imported - {part}
    if part in FREE:
        return others & {"plotting"}
    if part == "cli":
        others -= {"plotting"}  # for the curves that a command draws
    return {other for other in others if other in FREE or LEVEL[other] >= LEVEL[part]}


def test_every_module_has_a_level():
    assert {part_of(path) for path in FILES} == LEVEL.keys() | FREE
    assert len(FILES) > 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_come_from_below(path):
    assert not breaches(part_of(path), parts_imported(path))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_only_plotting_draws(path):
    drawn = PICTURES & {name.split(".")[0] for name in modules_imported(path)}
    allowed = {"pandas"} if path == MAKES_FRAMES else set()
    assert part_of(path) == "plotting" or drawn <= allowed


def test_the_rule_finds_all_imports():
    source = "import paucens.ensemble\ndef f():\n    from paucens import detector\n    from ..learners.tree import Tree"
    names = names_in(ast.parse(source), ["paucens", "metrics"])
    assert names == {"paucens.ensemble", "paucens.detector", "paucens.learners.tree.Tree"}
    assert breaches("metrics", {"metrics", "parallel", "_kernels"}) == set()
    assert breaches("metrics", {"learners"}) == {"learners"}
    assert breaches("cutting_plane", {"ensemble", "metrics", "plotting", ""}) == {"ensemble", "plotting", ""}
    assert breaches("", {"ensemble", "plotting"}) == {"plotting"}
    assert breaches("cli", {"cli", "detector", "plotting", ""}) == {""}
    assert {"_kernels", "learners"} <= set().union(*map(parts_imported, FILES))
    trees = ROOT / "_kernels" / "trees.pyx"
    assert "paucens._kernels.types.code_t" in modules_imported(trees)
    assert "libc.math.INFINITY" in modules_imported(trees)
