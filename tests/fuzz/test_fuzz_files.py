"""Some hundred damaged model files; `fuzz_files.py` makes as many as wanted."""

from fuzz_files import run


def test_damaged_files_are_refused_or_score():
    counts = run(300, seed=0)
    assert counts["refused"] > 200 and counts["loaded"] > 20
