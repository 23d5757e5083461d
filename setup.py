"""Build the Cython kernels; everything else about the package stands in pyproject.toml."""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("PAUCENS_DEBUG", "0") == "1"  # bounds checks on, for hunting a crash

if sys.platform == "win32":
    FLAGS = ["/O2"]
else:
    # No -march and no -ffast-math: every x86-64 and arm64 machine gets the same bits.
    FLAGS = ["-O3", "-ffp-contract=off"]

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "cdivision": True,
    "freethreading_compatible": True,
}

kernels = [
    Extension(".".join(path.with_suffix("").parts), [path.as_posix()], extra_compile_args=FLAGS)
    for path in sorted(Path("paucens/_kernels").glob("*.pyx"))
]
utility = Extension("paucens._cyutility", ["paucens/_cyutility.c"])  # Cython's helpers, shared by all kernels

setup(
    ext_modules=cythonize(
        [*kernels, utility],
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name="paucens._cyutility",
    )
)
