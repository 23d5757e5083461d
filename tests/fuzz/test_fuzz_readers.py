"""A few hundred damaged files of every format, among them some that are read and some that are refused."""

import fuzz_readers


def test_readers_read_sanely_or_name_the_file():
    counts = fuzz_readers.run(600, seed=0)
    for name in ("idl", "pascal", "mot", "kitti", "results", "csv", "vbb", "seq", "rgb", "grey"):
        assert counts[name, True] and counts[name, False]
    for read in fuzz_readers.OF_FORMATS.values():
        assert counts[read.__name__, True] and counts[read.__name__, False]
