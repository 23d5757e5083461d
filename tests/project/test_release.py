"""What a release says of itself is true: version, licences, files; and no kernel hides another build of it."""

import re
import sysconfig
import tomllib
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import paucens

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
KERNELS = Path(paucens.__file__).parent / "_kernels"


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_versions_agree():
    version = re.escape(paucens.__version__)
    assert re.search(rf"^version: {version}$", text_of("CITATION.cff"), flags=re.MULTILINE)
    first = re.search(r"^## .*$", text_of("CHANGELOG.md"), flags=re.MULTILINE)[0]
    assert re.fullmatch(rf"## \[{version}\] - (unreleased|\d{{4}}-\d\d-\d\d)", first)


def test_the_changelog_has_the_sections_of_keep_a_changelog():
    sections = re.findall(r"^### (.*)$", text_of("CHANGELOG.md"), flags=re.MULTILINE)
    assert sections and set(sections) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_licence_covers_code_and_model():
    parts = PROJECT["license"].split(" AND ")
    assert parts[0] == "BSD-3-Clause" and len(parts) == len(PROJECT["license-files"]) == 2
    for file, words in zip(PROJECT["license-files"], ("BSD 3-Clause", "made available for research"), strict=True):
        assert words in text_of(file)
    assert parts[1] in text_of("CONTRIBUTING.md")


@pytest.mark.parametrize("kernel", sorted(KERNELS.rglob("*.pyx")), ids=lambda path: path.stem)
def test_every_kernel_has_one_build(kernel):
    if "avx2" in kernel.parts and sysconfig.get_platform() != "linux-x86_64":
        pytest.skip("built for x86-64 Linux only")
    builds = [kernel.with_suffix("").as_posix() + suffix for suffix in EXTENSION_SUFFIXES]
    found = [build for build in builds if Path(build).exists()]
    assert len(found) == 1, f"{found}: Python takes the first one; `setup.py build_ext --inplace` removes old builds."
