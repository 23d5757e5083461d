"""Run every script of this folder, print its tables, and say what was written and how long it took.

    python reproduce/all.py [--scale smoke|small|paper] [--seed 0] [--jobs 2] [--backend loky|dask]
                            [--scheduler ADDRESS] [--data DIR] [--out DIR] [--redraw]

Arguments go to every script. One whose data sets are not on the disk is left out, and it says how to get them. A
script that fails does not stop the others; the exit code is 1 then, and the last line names it. Ctrl-C stops
everything; the same command goes on from there.
"""

import importlib
import sys
import traceback
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reproduce._run import MissingData, parse_arguments, perform, shown


def script_names():
    """List the scripts of this folder: all modules but this one and those that begin with an underscore."""
    stems = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
    return [stem for stem in stems if stem != "all"]


def main(argv=None):
    """Run the scripts and return the exit code."""
    arguments = parse_arguments(__doc__, argv)
    report, failed = [], []
    for name in script_names():
        print(f"=== {name} ===\n", flush=True)
        start = perf_counter()
        try:
            paths = perform(importlib.import_module(f"reproduce.{name}").SCRIPT, arguments)
        except KeyboardInterrupt:
            return 130
        except MissingData as error:
            print(error)
            report.append(f"{name} was left out: its data is not here")
            continue
        except Exception:  # whatever it is, the other scripts have a right to run
            traceback.print_exc()
            failed.append(name)
            continue
        report += [f"{name}, {perf_counter() - start:.0f} s", *(f"  {shown(path)}" for path in paths)]
    print("\n".join(report))
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
