"""The range and nu of pAUCEns in Table 3: miss rates of held-out crops.

Protocol. Range and nu are chosen as Section 4.3 does for KITTI, on training data alone: both from {1, 1/4, 1/16} (the
paper: 1 to 1/16 in powers of 2). Detectors on M+O+LUV are trained on four fifths of INRIA's training data, by
photograph (fold 0 of `reproduce/detectors/__init__.py`). AdaBoost mines the negatives, so the windows of the last round
are the same for all. The figure is the miss rate of the held-out crops at 0.01 to 1 false positives per held-out
photograph. AdaBoost itself is there for comparison.

    python reproduce/detector_choice.py --scale paper --data DIR

DIR holds the uncompressed INRIA folder of `data/README.md`. A training takes 4 to 9 minutes on two cores.
"""

import itertools
import sys
from dataclasses import asdict, dataclass
from functools import partial
from time import perf_counter

import detectors
from detectors import DetectorConfig, adaboost, crop_miss_rate, load, n_threads, parts, pauc_ensemble, without_edges
from harness import Run, exit_code
from paucens.plotting import house_style, method_style, new_figure
from report import markdown


@dataclass(frozen=True)
class Protocol(detectors.Protocol):
    """What a scale means, with the values of both parameters."""

    values: tuple = (1.0, 0.25, 0.0625)


VALUES = {"smoke": (1.0,), "small": (1.0, 0.0625), "paper": (1.0, 0.25, 0.0625)}
PROTOCOLS = {scale: Protocol(**asdict(own), values=VALUES[scale]) for scale, own in detectors.PROTOCOLS.items()}


def measure(run, case):
    """Train one detector and judge it by the held-out crops."""
    data, held_out = parts(run)
    last = partial(pauc_ensemble, beta=case["beta"], nu=case["nu"]) if case["beta"] else adaboost
    start = perf_counter()
    detector, _ = detectors.trained(run, DetectorConfig(case["method"], "M+O+LUV", classifier=last), data, run.seed)
    miss_rate = crop_miss_rate(detector, without_edges(held_out.crops), held_out.images, n_threads(run))
    return [{"miss_rate": f"{miss_rate:.6f}", "seconds": f"{perf_counter() - start:.0f}"}]


def table(rows):
    """List miss rates by range and nu, and that of AdaBoost below."""
    ours, adaboosts = rows[rows.method == "pAUCEnsT"], rows[rows.method == "AdaBoost"]
    wide = (100 * ours.pivot(index="beta", columns="nu", values="miss_rate")).map("{:.1f}".format)
    lines = [[f"{beta:g}", *wide.loc[beta][::-1]] for beta in wide.index[::-1]]
    return (
        f"# The range and nu of pAUCEns in a detector\n\n{rows.data_set.iloc[0]}: miss rates in per cent of held-out "
        f"crops, at 0.01 to 1 false positives per photograph. False positive rates range from 0 to beta.\n\n"
        f"{markdown(lines, ['beta', *(f'nu {nu:g}' for nu in wide.columns[::-1])])}\n\n"
        f"AdaBoost on the same windows: {100 * adaboosts.miss_rate.item():.1f}.\n"
    )


@house_style()
def picture(rows):
    """Draw the miss rates against nu, a line per range."""
    figure = new_figure(5.5, 3.2)
    axes = figure.subplots()
    for beta, own in rows[rows.method == "pAUCEnsT"].groupby("beta", sort=False):
        axes.plot(own.nu, 100 * own.miss_rate, "o-", label=f"false positive rates 0 to {beta:g}")
    level = 100 * rows[rows.method == "AdaBoost"].miss_rate.item()
    axes.axhline(level, color=method_style("AdaBoost")[0], label="AdaBoost")
    axes.set_xscale("log", base=2)
    axes.set(xlabel="nu", ylabel="miss rate of held-out crops, %", ylim=(0, None))
    axes.legend()
    return figure


def main(argv=None):
    """Train AdaBoost, then pAUCEns for each range and nu."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    tried = [{"method": "AdaBoost", "beta": None, "nu": None}]
    for beta, nu in itertools.product(run.protocol.values, repeat=2):
        tried.append({"method": "pAUCEnsT", "beta": beta, "nu": nu})
    rows = run.rows("detector_choice", measure, [named | one for named in load(run, 0) for one in tried])
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
