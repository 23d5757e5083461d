"""Build the Cython kernels; everything else about the package stands in pyproject.toml."""

import os
import platform
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("PAUCENS_DEBUG", "0") == "1"  # every index checked: `make bounds`

KERNELS = Path("paucens/_kernels")
if sys.platform == "win32":
    FLAGS = ["/O2"]
else:
    # No -march and no -ffast-math: every x86-64 and arm64 machine gets the same bits. The last two change none
    # either: nobody reads errno after a square root or catches traps, and loops with both become vectors.
    FLAGS = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
# Kernels in avx2/ include their namesakes: the same source once more (paucens/_kernels/builds.py chooses at import).
HAS_AVX2_BUILDS = sys.platform == "linux" and platform.machine() == "x86_64"

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "cdivision": True,
    "freethreading_compatible": True,
}


def extension(path, flags):
    return Extension(".".join(path.with_suffix("").parts), [path.as_posix()], extra_compile_args=flags)


kernels = [extension(path, FLAGS) for path in sorted(KERNELS.glob("*.pyx"))]
if HAS_AVX2_BUILDS:
    kernels += [extension(path, [*FLAGS, "-mavx2"]) for path in sorted(KERNELS.glob("avx2/*.pyx"))]
utility = Extension("paucens._cyutility", ["paucens/_cyutility.c"])  # Cython's helpers, shared by all kernels

setup(
    ext_modules=cythonize(
        [*kernels, utility], compiler_directives=DIRECTIVES, shared_utility_qualified_name="paucens._cyutility"
    )
)
