"""Table 2: log-average miss rates of covariance and LBP features with and without spatial pooling.

Claim (Sec. 4.1). Pooling makes the features robust to small shifts: 14.2 to 12.8 % for covariance, 23.2 to 21.8 % for
LBP on INRIA.

Protocol. `reproduce/_detection.py` says how detectors are trained, chosen and judged. Without pooling a cell is the one
patch in its middle, so both have as many features. Differences are paired over images.

Where we depart, and why.
- The paper's covariance detector has L, U and V beside the 133 channels (Sec. 3.1), its LBP detector nothing else.
- The copies of the test sets, and what the presets are: see `table_3.py`.

    python reproduce/table_2.py --scale paper --data DIR

with the uncompressed INRIA folder of `data/README.md` in DIR. At other scales detectors of few trees are trained on
rendered streets, a stand-in whose numbers say nothing about the paper's.
"""

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reproduce._detector_tables import picture, table
from reproduce._detectors import Row, detector_plan
from reproduce._run import Script, main

NAME = "table_2"
POOLED = {name: Row(name, name, n_seeds=3) for name in ("spCov+LUV", "spLBP")}
PLAIN = {name: Row(name, name, n_seeds=3) for name in ("Cov+LUV", "LBP")}
PAIRS = tuple(zip(POOLED.values(), PLAIN.values(), strict=True))


def plan(arguments):
    """Plan the detectors."""
    rows = [row for pair in PAIRS for row in pair]
    return detector_plan(NAME, rows, PAIRS, arguments)


SCRIPT = Script(NAME, __doc__, (NAME, f"{NAME}_pairs"), plan, partial(table, NAME), partial(picture, NAME))


if __name__ == "__main__":
    sys.exit(main(SCRIPT))
