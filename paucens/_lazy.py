"""Packages whose names are loaded when they are first used (PEP 562), so that importing one costs next to nothing.

The names of such a package and the modules they come from stand in the `__init__.pyi` beside its `__init__.py`, once:
type checkers and editors read the file as they read every stub, and `attach` reads it when the package is imported.
"""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path


def attach(package: str, file: str) -> tuple[Callable, Callable, list[str]]:
    """Make the functions and the list that give a package the names of its stub.

    Parameters
    ----------
    package, file : str
        `__name__` and `__file__` of the package.

    Returns
    -------
    getter : callable
        Its `__getattr__`: loads a name of the stub, or a module of the package.
    lister : callable
        Its `__dir__`.
    names : list of str
        Its `__all__`.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    homes, public = {}, []
    for statement in stub.body:
        if isinstance(statement, ast.ImportFrom):
            homes |= {alias.name: statement.module for alias in statement.names}
        elif isinstance(statement, ast.Assign):  # the stub assigns to `__all__` only
            public = ast.literal_eval(statement.value)

    def getter(name):
        home = homes.get(name, package)
        if home != package:
            value = getattr(import_module(home), name)
            setattr(sys.modules[package], name, value)
            return value
        if name.startswith("_") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")  # becomes an attribute by itself

    def lister():
        return sorted({*vars(sys.modules[package]), *homes})

    return getter, lister, public
