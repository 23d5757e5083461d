"""More samples: which nu and how many leaves suit `PAUCEnsClassifier` as the number of training samples grows.

Question (ours). May nu and the trees be larger if there are more samples?

Protocol. The six simulated populations of `defaults.py`, with 8000, 16 000 and 64 000 samples to train on and 20 000 to
test on, two repeats, each of a population drawn anew. 300 rounds of the default learner with 31 or 127 leaves, and with
nu = 0.05, 0.2 or 0.8; beside them the defaults of the package, the same with nu in proportion to the number n of
samples, and LightGBM with 300 trees of as many leaves, rate 0.05 and a third of the columns per node. Nothing is tuned.
Gains are paired differences to 31 leaves and nu = 0.05; intervals are Student's t over the populations.

    python reproduce/many_rows.py --scale paper --seed 1

Two hours of processor time; the fits of 8000 samples and the last four configurations were timed later, with faster
code. With 8000 samples no nu is clearly better than that of the default. Of the four shares, n / 160 000 has the
largest mean gain over 16 000 and 64 000 samples and both ranges: `nu="auto"` of `PAUCEnsClassifier` goes through these.
"""

import itertools
import sys
from dataclasses import dataclass
from functools import partial

import defaults
from defaults import BETAS, DEFAULT, POPULATIONS, SCHEDULES

from boosters import fit_lightgbm, installed
from harness import Run, exit_code
from paucens.metrics import mean_interval
from paucens.plotting import GREY, draw_forest, house_style, method_style, new_figure
from report import interval_text, markdown

LEAVES = (31, 127)
SAMPLES_PER_NU = (40_000, 80_000, 160_000, 320_000)
BOOSTERS = {
    f"LightGBM, {leaves} leaves": partial(fit_lightgbm, **defaults.SIZE | {"leaves": leaves}) for leaves in LEAVES
}
OURS = {
    f"nu = {nu}, {leaves} leaves": {"n_estimators": 300, "nu": nu, "max_leaves": leaves}
    for leaves, nu in itertools.product(LEAVES, (0.05, 0.2, 0.8))
} | {f"default: {DEFAULT}": SCHEDULES[DEFAULT]}
BASE = next(iter(OURS))  # others are compared with it


def fit_in_proportion(X, y, fpr_range, seed, *, samples_per_nu):
    """Fit the default with nu in proportion to the number of samples."""
    return defaults.fit_several(X, y, fpr_range, seed, **SCHEDULES[DEFAULT] | {"nu": len(y) / samples_per_nu})


GROWING = {
    f"600 rounds, nu = n / {number}": partial(fit_in_proportion, samples_per_nu=number) for number in SAMPLES_PER_NU
}
FITS = BOOSTERS | {name: partial(defaults.fit_several, **own) for name, own in OURS.items()} | GROWING


@dataclass(frozen=True)
class Protocol:
    """What a scale means."""

    n_train: tuple
    populations: int
    repeats: int
    configurations: int  # of ours, in order


PROTOCOLS = {
    "smoke": Protocol((500,), 1, 1, 1),
    "small": Protocol((2000,), 2, 1, 2),
    "paper": Protocol((8000, 16_000, 64_000), len(POPULATIONS), 2, len(OURS) + len(GROWING)),
}


def measure(run, case):
    """Fit and score for each range."""
    samples = defaults.draw(run, case["data_set"], case["repeat"], case["n_train"])
    return defaults.fit_and_score(FITS[case["configuration"]], case, samples)


def table(rows):
    """List the gain of each configuration for each number of samples and range, and the time of a fit."""
    first, cells = rows.iloc[0], {}
    for (n, beta), own in rows.groupby(["n_train", "beta"], sort=False):
        for name, gain in defaults.gains(own, BASE).items():
            mean, *ends = mean_interval(gain)
            text = f"{mean:+.2f} ({interval_text(*ends, '+.2f')})" if name != BASE else None
            cells.setdefault(name, {})[f"{n} samples, [0, {beta:g}]"] = text
    seconds = rows.groupby(["configuration", "n_train"], sort=False).fit_seconds.mean().map("{:.1f}".format).unstack()
    body = [[name, *own.values(), *seconds.loc[name]] for name, own in cells.items()]
    header = ["configuration", *cells[BASE], *(f"seconds per fit, {n} samples" for n in seconds)]
    title = (
        f"{rows.data_set.nunique()} simulated populations, {rows.repeat.nunique()} repeats from seed {first.seed}, "
        f'scale {first.scale}. Gains in hundredths of partial AUC over "{BASE}"; 95 % intervals over the populations. '
        "Times are those of the processor."
    )
    return "\n\n".join(["# More samples", title, markdown(body, header)]) + "\n"


@house_style()
def picture(rows):
    """Draw the gains with their intervals, a row of panels per number of samples, a column per range."""
    sizes = rows.n_train.unique()
    figure = new_figure(8.4, 0.8 + (0.6 + 0.26 * (rows.configuration.nunique() - 1)) * len(sizes))
    grid = figure.subplots(len(sizes), len(BETAS), sharey=True, squeeze=False)
    for axes, (n, beta) in zip(grid.flat, itertools.product(sizes, BETAS), strict=True):
        found = defaults.gains(rows[(rows.n_train == n) & (rows.beta == beta)], BASE).drop(columns=BASE)
        intervals = {name: [mean_interval(gain)] for name, gain in found.items()}
        draw_forest(axes, intervals, lambda name: (GREY, "o") if name in BOOSTERS else method_style("pAUCEnsT"), 0)
        axes.set_title(f"{n} samples, [0, {beta:g}]")
    label = f'gain in partial AUC over "{BASE}", in hundredths; 95 % intervals over the populations'
    figure.supxlabel(label, color=GREY, fontsize=8)
    return figure


def main(argv=None):
    """Fit every configuration to every draw."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    protocol = run.protocol
    fits = (list(BOOSTERS) if installed("lightgbm") else []) + [*OURS, *GROWING][: protocol.configurations]
    names, repeats = list(POPULATIONS)[: protocol.populations], range(protocol.repeats)
    cases = [
        {"n_train": n, "data_set": name, "repeat": repeat, "configuration": fit}
        for n, repeat, name, fit in itertools.product(protocol.n_train, repeats, names, fits)
    ]
    rows = run.rows("many_rows", measure, cases)
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
