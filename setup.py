"""Build the Cython kernels; everything else about the package stands in pyproject.toml."""

import os
import sys
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

DEBUG = os.environ.get("PAUCENS_DEBUG", "0") == "1"  # every index checked: `make bounds`

KERNELS = Path("paucens/_kernels")
if sys.platform == "win32":
    FLAGS = ["/O2"]
else:
    # No -march and no -ffast-math: every x86-64 and arm64 machine gets the same bits. The last two change none
    # either: nobody reads errno after a square root or catches traps, and loops with both become vectors.
    FLAGS = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
# Kernels in avx2/ include their namesakes: the same source once more (paucens/_kernels/builds.py chooses at import).
# The platform is the one that is built for, which a cross-compiler sets by _PYTHON_HOST_PLATFORM.
HAS_AVX2_BUILDS = sysconfig.get_platform() == "linux-x86_64"

# One wheel for Python 3.11 and all later ones. Python without the GIL has no stable ABI; it gets a wheel per version.
if sysconfig.get_config_var("Py_GIL_DISABLED"):
    STABLE_ABI, WHEEL = {}, {}
else:
    STABLE_ABI = {"py_limited_api": True, "define_macros": [("Py_LIMITED_API", "0x030B0000")]}
    WHEEL = {"bdist_wheel": {"py_limited_api": "cp311"}}

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "cdivision": True,
    "freethreading_compatible": True,
}


def extension(path, flags):
    return Extension(".".join(path.with_suffix("").parts), [path.as_posix()], extra_compile_args=flags, **STABLE_ABI)


class BuildKernels(build_ext):
    """Build kernels; those beside the sources replace older ones, which Python would find first by their suffix."""

    def copy_extensions_to_source(self):
        super().copy_extensions_to_source()
        for kernel in self.extensions:
            built = Path(self.get_ext_filename(kernel.name))
            for file in built.parent.glob(f"{built.name.split('.')[0]}.*"):
                if file.suffix in (".so", ".pyd") and file != built:
                    file.unlink()


kernels = [extension(path, FLAGS) for path in sorted(KERNELS.glob("*.pyx"))]
if HAS_AVX2_BUILDS:
    kernels += [extension(path, [*FLAGS, "-mavx2"]) for path in sorted(KERNELS.glob("avx2/*.pyx"))]
# Cython's helpers, shared by all kernels.
utility = Extension("paucens._cyutility", ["paucens/_cyutility.c"], **STABLE_ABI)

setup(
    ext_modules=cythonize(
        [*kernels, utility], compiler_directives=DIRECTIVES, shared_utility_qualified_name="paucens._cyutility"
    ),
    cmdclass={"build_ext": BuildKernels},
    options=WHEEL,
)
