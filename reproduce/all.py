"""Run every script of this folder, print its tables, and say how long it took.

    python reproduce/all.py [--scale smoke|small|paper] [--seed 0] [--jobs 2] [--backend processes|dask]
                            [--scheduler ADDRESS] [--data DIR] [--out DIR] [--redraw] [--keep]

Arguments go to every script. One whose data sets are not on the disk is left out, and it says how to get them. A script
that fails does not stop the others; the exit code is 1 then, and the last line names it. Ctrl-C stops everything; the
same command goes on from there.
"""

import importlib
import sys
import traceback
from pathlib import Path
from time import perf_counter

from harness import MissingData

LIBRARIES = ("all", "boosters", "features", "report", "splits")  # modules of this folder that are no scripts


def script_names():
    """List the scripts of this folder."""
    stems = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
    return [stem for stem in stems if stem not in LIBRARIES]


def run_all(scripts, argv):
    """Run scripts, a dict of name to `main`, and return the exit code."""
    report, failed = [], []
    for name, main in scripts.items():
        print(f"=== {name} ===\n", flush=True)
        start = perf_counter()
        try:
            main(argv)
        except KeyboardInterrupt:
            return 130
        except MissingData as error:
            print(error)
            report.append(f"{name} was left out: its data is not here")
        except Exception:  # whatever it is, the other scripts have a right to run
            traceback.print_exc()
            failed.append(name)
        else:
            report.append(f"{name}, {perf_counter() - start:.0f} s")
    print("\n".join(report))
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__)
        sys.exit()
    sys.exit(run_all({name: importlib.import_module(name).main for name in script_names()}, sys.argv[1:]))
