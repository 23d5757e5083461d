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
    assert campaign.faults_of("faulty", 7, seed=2, longest=4.0) == [
        (1, "seed 2, input 1: wrong"),
        (3, "The process ended with exit code 7."),
        (4, "It took longer than 4 s."),
        (5, "unforeseen"),
    ]


def test_a_fault_is_printed_with_what_repeats_it(faulty, capsys, monkeypatch):
    monkeypatch.setitem(campaign.SHARES, "faulty", 5)
    assert campaign.main(1, 0, ["faulty"]) == 0
    assert campaign.main(2, 0, ["faulty"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["faulty", "1", "inputs"] and lines[0].endswith("0 faults")
    assert lines[1].endswith("1 faults") and lines[2] == "seed 0, input 1: wrong"
    assert lines[3].endswith("'import fuzz_faulty as f; f.check(0, 1)'")


def test_inputs_are_shared_out(monkeypatch, capsys):
    given = {}
    monkeypatch.setattr(campaign, "faults_of", lambda name, n, seed: given.update({name: n}) or [])
    campaign.main(1000, 0, campaign.SHARES)
    assert given == {name: 10 * share for name, share in campaign.SHARES.items()} and sum(given.values()) == 1000
    campaign.main(10, 0, ["estimators", "channels"])
    assert (given["estimators"], given["channels"]) == (6, 4)
    campaign.main(1, 0, campaign.SHARES)
    assert min(given.values()) == 1


def test_all_fuzzers_are_run():
    for name in campaign.SHARES:
        assert callable(campaign.import_module(f"fuzz_{name}").check)
