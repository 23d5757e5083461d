"""The campaign on a fuzzer whose inputs fail in every way."""

import campaign
import pytest

FUZZER = """
import os, time

def check(seed, k):
    assert k != 1, f"seed {seed}, input {k}: wrong"
    if k == 3:
        os._exit(7)
    if k == 4:
        time.sleep(60)
    if k == 5:
        raise ValueError("unforeseen")
"""


@pytest.fixture
def faulty(tmp_path, monkeypatch):
    (tmp_path / "fuzz_faulty.py").write_text(FUZZER)
    monkeypatch.syspath_prepend(tmp_path)


def test_wrong_results_crashes_and_loops_without_end_are_faults(faulty):
    assert campaign.faults_of("faulty", 7, seed=2, longest=1.0) == [
        (1, "seed 2, input 1: wrong"),
        (3, "The process ended with exit code 7."),
        (4, "It took longer than 1 s."),
        (5, "unforeseen"),
    ]


def test_a_fault_is_printed_with_what_repeats_it(faulty, capsys):
    assert campaign.main(1, 0, ["faulty"]) == 0
    assert campaign.main(2, 0, ["faulty"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["faulty", "1", "inputs"] and lines[0].endswith("0 faults")
    assert lines[1].endswith("1 faults") and lines[2] == "seed 0, input 1: wrong"
    assert lines[3].endswith("'import fuzz_faulty as f; f.check(0, 1)'")


def test_all_fuzzers_are_run():
    for name in campaign.FUZZERS:
        assert callable(campaign.import_module(f"fuzz_{name}").check)
