"""Speed of all channels of a picture at all scales, and the number of instructions per pixel."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import paucens
from paucens._kernels import builds
from paucens.features import ChannelSpec, channel_pyramid, channels, covariance, lbp, pyramid

ALL = ChannelSpec.parse("M+O+LUV+spCov+spLBP", preset="robust")
LIMITS = {"portable": 6, "fastest": 4}
MOST_INSTRUCTIONS = 2_000  # per pixel, of the portable build; 1848 were counted
SIDE = 128  # of the picture on which they are counted
PACKAGE = Path(paucens.__file__).parent
COUNTED = """
import sys, types
for name, folder in (("paucens", {package!r}), ("paucens.features", {package!r} + "/features")):
    sys.modules[name] = types.ModuleType(name)  # without the imports of the real one, which are slow while counting
    sys.modules[name].__path__ = [folder]
import numpy as np
from paucens.features.spec import ChannelSpec
spec = ChannelSpec.parse("M+O+LUV+spCov+spLBP", preset="robust")
image = np.random.RandomState(0).randint(0, 256, ({side}, {side}, 3)).astype(np.uint8)
for _ in range({calls}):
    spec.compute(image)
"""


@pytest.fixture(params=LIMITS)
def build(request, monkeypatch):
    """Either build of the kernels; the fastest that this processor runs may be the portable one."""
    if request.param == "portable":
        monkeypatch.setenv("PAUCENS_BASELINE", "1")
    for module, name in ((channels, "channels"), (covariance, "covariance"), (lbp, "lbp"), (pyramid, "pooling")):
        monkeypatch.setattr(module, "kernels", builds.chosen(name))
    monkeypatch.setattr(channels, "pooling", builds.chosen("pooling"))
    return request.param


def test_all_channels_of_the_pyramid_against_hog(ratio, picture, hog_call, build):
    """From bytes to 317 channels on 27 levels, exact, resizing included."""

    def ours():
        for _ in channel_pyramid(picture, ALL):
            pass

    assert ratio(ours, hog_call, rounds=7) <= LIMITS[build]


def instructions(calls):
    """Count instructions by callgrind, in a process of its own."""
    command = [
        "valgrind",
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        sys.executable,
        "-c",
        COUNTED.format(package=str(PACKAGE), side=SIDE, calls=calls),
    ]
    environment = os.environ | {"PYTHONHASHSEED": "0", "PAUCENS_BASELINE": "1", "OMP_NUM_THREADS": "1"}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", found.stderr).group(1))


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_instructions_of_a_call(benchmark):
    """Two calls less one, so that imports do not count; unlike times these do not depend on the machine's load."""
    counts = benchmark.pedantic(lambda: [instructions(calls) for calls in (1, 2)], rounds=1)
    per_pixel = (counts[1] - counts[0]) / SIDE**2
    benchmark.extra_info["instructions_per_pixel"] = per_pixel
    print(f"\n{per_pixel:.0f} instructions per pixel")
    assert per_pixel <= MOST_INSTRUCTIONS
