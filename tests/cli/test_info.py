"""`paucens info`, and what all commands share: help, exit codes, `python -m paucens`."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import paucens
from paucens import AdaBoostClassifier
from paucens.cli import main
from paucens.datasets import REGISTRY, load_toy
from paucens.detector import PedestrianDetector


def test_versions(capsys):
    assert main(["info", "--version"]) == 0
    assert capsys.readouterr().out.startswith(f"paucens {paucens.__version__}, kernels built for ")


def test_data_sets(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PAUCENS_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "HTRU_2.csv").write_text("")
    assert main(["info", "--data"]) == 0
    blocks = dict(zip(REGISTRY, capsys.readouterr().out.split("\n\n"), strict=True))
    assert blocks["toy"].endswith("no files needed") and blocks["usps"].endswith("not found")


def test_the_default_detector_tells_its_terms(capsys):
    assert main(["info", "default"]) == 0
    text = capsys.readouterr().out
    assert "2048 trees" in text and "first stage: 512 trees on LUV+M+O" in text and "available for research" in text
    terms = re.search(r"^terms: for research; .* see (.*)$", text, flags=re.MULTILINE)[1]
    assert "trained on INRIA Person" in Path(terms).read_text(encoding="utf-8")


def test_the_default_detector_is_loaded_without_a_word(capsys, recwarn):
    PedestrianDetector.default()
    assert capsys.readouterr() == ("", "") and not recwarn.list


def test_a_classifier(capsys, tmp_path):
    AdaBoostClassifier(n_estimators=3).fit(*load_toy(random_state=0)).save(tmp_path / "m.npz")
    assert main(["info", str(tmp_path / "m.npz")]) == 0
    text = capsys.readouterr().out
    assert "AdaBoostClassifier\nclasses: 0, 1\nfeatures: 2\nlearners: 3" in text and "shrinkage: 1.0" in text


@pytest.mark.parametrize("arguments", [[], ["fly"], ["info"], ["info", "--data", "--version"], ["classify"]])
def test_wrong_arguments_end_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2 and "usage: paucens" in capsys.readouterr().err


def test_help_lists_commands_and_exit_codes(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    text = capsys.readouterr().out
    assert end.value.code == 0 and "classify" in text and "130  interrupted" in text


def test_an_interruption_ends_with_130(monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("paucens.cli.info.versions", interrupt)
    assert main(["info", "--version"]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_the_module_runs():
    run = subprocess.run([sys.executable, "-m", "paucens", "info", "none.npz"], capture_output=True, text=True)
    assert run.returncode == 4 and "none.npz" in run.stderr and run.stdout == ""


def test_a_reader_that_stops_is_no_error():
    command = f"{sys.executable} -m paucens info --data | head -1"
    run = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert run.stdout == "toy\n" and run.stderr == ""
