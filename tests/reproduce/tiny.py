"""Tiny: a script of the smallest kind, for the tests of the harness.

    python tests/reproduce/tiny.py --scale smoke

Seconds. What a case does is told by its name.
"""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from harness import Run, exit_code
from paucens import PAUCEnsClassifier, Stump
from paucens.datasets import load_toy
from paucens.plotting import house_style, new_figure
from report import markdown


@dataclass(frozen=True)
class Protocol:
    """What a scale means."""

    n_cases: int = 6
    kind: str = "fit"
    book: str = ""  # a file in which every measured case is noted


PROTOCOLS = {"smoke": Protocol(), "small": Protocol(12, "slow")}


def measure(run, case):
    """Do what the protocol says."""
    k, kind = case["k"], run.protocol.kind
    if run.protocol.book:
        with Path(run.protocol.book).open("a") as stream:
            stream.write(f"{k}\n")
    if kind == "square":
        return [{"x": k * k, "text": 'a "b", c'}, {"x": k / 3, "text": None}]
    if kind == "where":
        return [{"x": os.getpid()}]
    if kind.startswith(("raise", "die", "interrupt")) and kind.endswith(str(k)):
        if kind.startswith("die"):
            os._exit(1)
        raise KeyboardInterrupt if kind.startswith("interrupt") else ValueError("no luck")
    start = time.perf_counter()
    if kind == "slow":
        time.sleep(0.2)
    X, y = load_toy(random_state=k)
    model = PAUCEnsClassifier((0, 0.2), learner=Stump(), n_estimators=3 + k, nu=10, anneal=False).fit(X, y)
    return [{"x": float(model.objective_[-1]), "fit_seconds": time.perf_counter() - start}]


def table(rows):
    """List the numbers."""
    return "# Tiny\n\n" + markdown([[row.k, f"{row.x:.6f}"] for row in rows.itertuples()], ["k", "x"]) + "\n"


@house_style()
def picture(rows):
    """Draw the numbers."""
    figure = new_figure(3, 2)
    figure.subplots().plot(rows.k, rows.x)
    return figure


def main(argv=None):
    """Measure all cases."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    rows = run.rows("tiny", measure, [{"k": k} for k in range(run.protocol.n_cases)])
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
