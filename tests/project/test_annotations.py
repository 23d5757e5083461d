"""Public functions, and public methods of public classes, say the types of their arguments and results."""

import inspect
from importlib import import_module

import pytest

ROOMS = ("boosting", "datasets", "detector", "ensemble", "evaluation", "features", "formats", "learners", "metrics")
PACKAGES = ["paucens", *(f"paucens.{name}" for name in (*ROOMS, "persistence", "proposals"))]


def functions_of(package):
    """Yield title and function of all that the names of a package lead to."""
    for name in import_module(package).__all__:
        value = getattr(import_module(package), name)
        if inspect.isfunction(value):
            yield f"{package}.{name}", value
        elif inspect.isclass(value):
            for owner in value.__mro__:
                if owner.__module__.startswith("paucens."):
                    yield from methods_of(owner)


def methods_of(owner):
    """Yield title and function of the public methods and properties that a class defines, and of its constructor."""
    for name, member in vars(owner).items():
        function = getattr(member, "__func__", getattr(member, "fget", getattr(member, "func", member)))
        ours = inspect.isfunction(function) and function.__module__ == owner.__module__  # typing adds some to protocols
        if ours and (name == "__init__" or not name.startswith("_")):
            yield f"{owner.__module__}.{owner.__qualname__}.{name}", function


def missing(function):
    """Return the parameters without a type, "return" among them."""
    signature = inspect.signature(function)
    unknown = [
        name
        for name, one in signature.parameters.items()
        if one.annotation is one.empty and name not in ("self", "cls")
    ]
    if signature.return_annotation is signature.empty and function.__name__ != "__init__":
        unknown.append("return")
    return unknown


@pytest.mark.parametrize("package", PACKAGES)
def test_all_types_are_there(package):
    found = dict(functions_of(package))
    assert found and {title: missing(function) for title, function in found.items() if missing(function)} == {}


def test_missing_types_are_noticed():
    def bare(x, y: int = 0): ...

    assert missing(bare) == ["x", "return"]
