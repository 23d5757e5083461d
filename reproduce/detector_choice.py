"""The range and nu of pAUCEns in Table 3: miss rates of crops that were held out.

Protocol. As Section 4.3 chooses for KITTI, on training material alone: both from {1, 1/4, 1/16} (the paper: 1 to 1/16
in powers of 2). Detectors on M+O+LUV are trained on four fifths of INRIA's training material, by photograph (fold 0 of
`_detection.py`); AdaBoost searches for negatives, so the windows of the last round are the same for all. The figure is
the miss rate of the crops held out at .01 to 1 false positives a photograph held out. AdaBoost itself is there to
compare with.

    python reproduce/detector_choice.py --scale paper --data DIR

with the uncompressed INRIA folder of `data/README.md` in DIR.
"""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from paucens.plotting import method_style, new_figure
from reproduce._detection import adaboost, crop_miss_rate, held_crops, pauc_ensemble
from reproduce._detectors import PROTOCOLS, Row, material_of, n_threads, parts_of, trained
from reproduce._run import Plan, Script, main
from reproduce._store import Sheet, Task, task_key
from reproduce._tables import markdown

NAME = "detector_choice"
COLUMNS = ("beta", "nu", "miss_rate", "seconds")
POWERS = {"smoke": (1.0,), "small": (1.0, 0.0625), "paper": (1.0, 0.25, 0.0625)}


def plan(arguments):
    """One task a detector."""
    material, powers = material_of(arguments), POWERS[arguments.scale]
    grid = [(None, None), *((beta, nu) for beta in powers for nu in powers)]  # None: AdaBoost
    tasks = [
        Task(
            task_key(
                material.name,
                material.content_hash,
                "AdaBoost" if beta is None else "pAUCEnsT",
                "" if beta is None else f"beta {beta:g}, nu {nu:g}",
                0,
                arguments,
            ),
            1,
            partial(measure, beta, nu, arguments),
        )
        for beta, nu in grid
    ]
    return Plan([Sheet(NAME, COLUMNS, tasks)], PROTOCOLS[arguments.scale], material.data(0))


def measure(beta, nu, arguments):
    """Train one detector and judge it by the crops that were held out."""
    crops, negatives, held, held_negatives = parts_of(arguments)
    material = material_of(arguments)
    material = replace(material, crops=crops, negatives=negatives, content_hash=f"{material.content_hash} fold 0")
    ensemble = adaboost if beta is None else partial(pauc_ensemble, beta, nu)
    start = perf_counter()
    detector, _ = trained(Row(NAME, "M+O+LUV", ensemble=ensemble), arguments.seed, material, arguments)
    miss_rate = crop_miss_rate(detector, held_crops(held), held_negatives, n_threads(arguments))
    return [
        {
            "beta": beta or "nan",
            "nu": nu or "nan",
            "miss_rate": f"{miss_rate:.6f}",
            "seconds": f"{perf_counter() - start:.0f}",
        }
    ]


# ---------------------------------------------------------------------------------- table and picture


def table(frames):
    """Miss rates by range and nu, AdaBoost's below."""
    frame = frames[NAME].astype({"beta": float, "nu": float})
    ours, ada = frame[frame.method == "pAUCEnsT"], frame[frame.method == "AdaBoost"]
    cells = [
        [f"{beta:g}", *(f"{100 * own[own.nu == nu].miss_rate.item():.1f}" for nu in sorted(own.nu.unique())[::-1])]
        for beta, own in ours.groupby("beta", sort=False)
    ]
    header = ["beta", *(f"nu {nu:g}" for nu in sorted(ours.nu.unique())[::-1])]
    about = f"{frame.data_set.iloc[0]}: miss rates, per cent, of crops that were held out, at .01 to 1 false positives"
    return (
        f"# The range and nu of pAUCEns as a detector\n\n{about} a photograph.\n\n{markdown(header, cells)}\n\n"
        f"AdaBoost on the same windows: {100 * ada.miss_rate.item():.1f}.\n"
    )


def picture(frames):
    """Draw the miss rates by nu, a line a range."""
    frame = frames[NAME].astype({"beta": float, "nu": float})
    figure = new_figure(5.5, 3.2)
    axes = figure.subplots()
    for beta, own in frame[frame.method == "pAUCEnsT"].groupby("beta", sort=False):
        axes.plot(own.nu, 100 * own.miss_rate, "o-", label=f"false positive rates 0 to {beta:g}")
    colour, _ = method_style("AdaBoost")
    axes.axhline(100 * frame[frame.method == "AdaBoost"].miss_rate.item(), color=colour, label="AdaBoost")
    axes.set_xscale("log", base=2)
    axes.set_xlabel("nu")
    axes.set_ylabel("miss rate of held-out crops, %")
    axes.set_ylim(bottom=0)
    axes.legend()
    return figure


SCRIPT = Script(NAME, __doc__, (NAME,), plan, table, picture)


if __name__ == "__main__":
    sys.exit(main(SCRIPT))
