"""Pages of the API: one per part of the package, with all of its public names.

A name that `paucens` itself offers is documented under that shorter name, on the page of the part it comes from.
"""

import importlib
import inspect
import pkgutil
from pathlib import Path
from types import FunctionType

import paucens

GROUPS = {
    "Classifiers and metrics": ("ensemble", "boosting", "structural", "operating_point", "learners", "metrics"),
    "Images and detectors": ("features", "features.hog", "detector", "proposals", "evaluation", "images", "drawing"),
    "Data, files and pictures": ("datasets", "formats", "plotting", "cli"),
    "Inside": ("base", "cutting_plane", "persistence", "parallel", "progress", "validation", "matlab"),
}
PARTS = [part for group in GROUPS.values() for part in group]
INDEX = """\
# API

`paucens` itself offers what most users need. Everything else is imported from the part of the package it belongs to.

```{{eval-rst}}
{table}
```
"""
GROUP = """
## {title}

| part | what it is about |
|---|---|
{rows}

```{{toctree}}
:hidden:
:caption: {title}

{pages}
```
"""
PAGE = """\
{module}
{underline}

.. automodule:: {module}
   :no-members:

{table}
{entries}
"""
TABLE = """\
.. currentmodule:: paucens

.. autosummary::
   :nosignatures:

   {names}
"""
LONGEST_VALUE = 160


def write(folder):
    """Write the pages of the API into a folder.

    Raises
    ------
    ValueError
        If a part of the package belongs to no group.
    """
    folder = Path(folder)
    check_complete()
    for part in PARTS:
        write_if_new(folder / f"{part}.rst", page_of(imported(part)))
    groups = "".join(group_of(title, group) for title, group in GROUPS.items())
    write_if_new(folder / "index.md", INDEX.format(table=table_of(paucens.__all__)) + groups)


def imported(part):
    return importlib.import_module(f"paucens.{part}")


def check_complete():
    """Raise ValueError if `GROUPS` lacks a part of the package."""
    public = {module.name for module in pkgutil.iter_modules(paucens.__path__) if not module.name.startswith("_")}
    if unknown := sorted(public - set(PARTS)):
        raise ValueError(f"No page of the API is about paucens.{unknown[0]}: add it to GROUPS in docs/api_pages.py.")


def group_of(title, parts):
    """Write the table of the parts of a group, and their place in the table of contents."""
    rows = "\n".join(f"| [`paucens.{part}`]({part}.rst) | {first_sentence(part)} |" for part in parts)
    return GROUP.format(title=title, rows=rows, pages="\n".join(parts))


def first_sentence(part):
    return inspect.getdoc(imported(part)).split("\n\n")[0].replace("\n", " ")


def page_of(module):
    """Write the page of a module: its docstring, a table of its names, and their docstrings."""
    objects = {public_name(module, name): getattr(module, name) for name in names_of(module)}
    documented = {name: thing for name, thing in objects.items() if inspect.isroutine(thing) or inspect.isclass(thing)}
    return PAGE.format(
        module=module.__name__,
        underline="=" * len(module.__name__),
        table=table_of(name.removeprefix("paucens.") for name in documented) if len(documented) > 1 else "",
        entries="\n".join(entry_of(name, thing) for name, thing in objects.items()),
    )


def table_of(names):
    """Write a table of names, as they are called within `paucens`, and the first lines of their docstrings."""
    return TABLE.format(names="\n   ".join(names))


def names_of(module):
    """List the public names of a module; without `__all__` those of the functions and classes it defines."""
    if hasattr(module, "__all__"):
        return module.__all__
    own = {name: thing for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__}
    return [name for name, thing in own.items() if not name.startswith("_") and hasattr(thing, "__name__")]


def public_name(module, name):
    """Return the shortest public name of an object, which a module has under `name`."""
    offered = getattr(paucens, name, None) is getattr(module, name) and name in paucens.__all__
    return f"paucens.{name}" if offered else f"{module.__name__}.{name}"


def entry_of(name, thing):
    """Write the directive that documents an object."""
    if inspect.isclass(thing):
        members = members_of(thing)
        return f".. autoclass:: {name}\n" + (f"   :members: {', '.join(members)}\n" if members else "")
    if inspect.isroutine(thing):
        return f".. autofunction:: {name}\n"
    value = " ".join(repr(thing).split())
    shown = f"\n   :value: {value}" if len(value) <= LONGEST_VALUE and " object at " not in value else ""
    return f".. py:data:: {name}{shown}\n"


def members_of(cls):
    """List the methods and properties of a class that it or another class of this package documents."""
    names = [name for base in reversed(cls.__mro__) if base.__module__.startswith("paucens.") for name in vars(base)]
    return [name for name in dict.fromkeys(names) if not name.startswith("_") and is_documented(cls, name)]


def is_documented(cls, name):
    kinds = (FunctionType, property, classmethod, staticmethod)
    return isinstance(inspect.getattr_static(cls, name), kinds) and bool(inspect.getdoc(getattr(cls, name)))


def write_if_new(path, text):
    """Write a page unless it is there already: then Sphinx need not read it again."""
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
