"""Mixtures of ranges for compact models: every mixture that was tried, on sets that no comparison reports.

Claim (ours). With few trees, the mean of the risks in several ranges finds more than the risk in the wanted one alone.
No shares of the list are clearly better than equal ones, which mixture="auto" stands for.

Protocol. `PAUCEnsClassifier` with trees on two levels, real leaves and a ridge of 20, after 5, 10 and 20 trees of one
fit, for [0, 0.01] and [0, 0.1]. Ranges of a mixture end at 1, 0.1 and, for the first, 0.01. Sets, draws and seeds are
those of `defaults.py`: ten sets, two repeats, nothing tuned. Gains are paired differences to equal shares with the same
nu and number of trees; intervals are Student's t over the sets.

Where we depart, and why.
- Without USPS on the disk its digits are left out, and the script says so.
- Shares were looked at before on sets that comparisons report, and not taken over from there.

    python reproduce/mixtures.py --scale paper --seed 1
"""

import itertools
import sys
import warnings
from dataclasses import dataclass

import defaults
from defaults import BETAS

import boosters
from harness import Run, exit_code
from paucens.metrics import mean_interval, partial_auc
from paucens.plotting import BLUE, GREY, draw_forest, house_style, new_figure
from report import interval_text, markdown

ALONE, EQUAL = "the wanted range alone", "equal shares"
SHARES = {  # of the ranges that end at 1, 0.1 and 0.01, or at 1 and 0.1
    0.01: {
        EQUAL: (1 / 3, 1 / 3, 1 / 3),
        ALONE: None,
        "0.5, 0, 0.5": (0.5, 0, 0.5),
        "0.6, 0.2, 0.2": (0.6, 0.2, 0.2),
        "0.5, 0.3, 0.2": (0.5, 0.3, 0.2),
        "0.2, 0.3, 0.5": (0.2, 0.3, 0.5),
        "0.2, 0.2, 0.6": (0.2, 0.2, 0.6),
        "0.1, 0.1, 0.8": (0.1, 0.1, 0.8),
    },
    0.1: {EQUAL: (0.5, 0.5), ALONE: None, "0.8, 0.2": (0.8, 0.2), "0.2, 0.8": (0.2, 0.8), "0.1, 0.9": (0.1, 0.9)},
}


@dataclass(frozen=True)
class Protocol:
    """What a scale means."""

    data_sets: int
    repeats: int
    configurations: int
    nus: tuple
    trees: tuple = (5, 10, 20)


PROTOCOLS = {
    "smoke": Protocol(1, 1, 2, (10.0,)),
    "small": Protocol(3, 1, 3, (3.0, 10.0)),
    "paper": Protocol(10, 2, 8, (1.0, 3.0, 10.0, 30.0)),
}


def mixture_of(beta, name):
    """Return a mixture by its name, as `PAUCEnsClassifier` takes it."""
    shares = SHARES[beta][name]
    return shares and [(end, share) for end, share in zip((1.0, 0.1, 0.01), shares, strict=False) if share > 0]


def measure(run, case):
    """Fit once and score after each number of trees."""
    X, y, X_test, y_test = defaults.draw(run, case["data_set"], case["repeat"])
    beta, size = case["beta"], {"depth": 2, "trees": max(run.protocol.trees), "leaf_ridge": 20.0}
    own = {"nu": case["nu"], "mixture": mixture_of(beta, case["shares"])}
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # weights of 0: one row of many
        model = boosters.make_paucens(case["repeat"], beta=beta, **size, **own).fit(X, y)
    return [
        {"trees": n, "pauc": round(partial_auc(y_test, boosters.scores_after(model, X_test, n), (0.0, beta)), 6)}
        for n in run.protocol.trees
    ]


def gains(rows):
    """Gain over equal shares, in hundredths: a row per set, nu and number of trees, a column per mixture."""
    wide = rows.pivot_table(index=["data_set", "nu", "trees"], columns="shares", values="pauc", sort=False)
    return 100 * wide.sub(wide[EQUAL], axis=0)


def table(rows):
    """List the gains of each mixture, and the mean areas of equal shares for each nu."""
    first, blocks = rows.iloc[0], []
    for beta, own in rows.groupby("beta", sort=False):
        found, body = gains(own), []
        for name in found.columns.drop(EQUAL):
            cells = []
            for n in own.trees.unique():
                mean, *ends = mean_interval(found[name].xs(n, level="trees").groupby("data_set").mean())
                cells.append(f"{mean:+.2f} ({interval_text(*ends, '+.2f')})")
            body.append([name, *cells])
        columns = [f"{n} trees" for n in own.trees.unique()]
        levels = own[own.shares == EQUAL].groupby(["nu", "trees"], sort=False).pauc.mean().unstack()
        of_nu = [[f"{nu:g}", *(f"{level:.3f}" for level in cells)] for nu, *cells in levels.itertuples()]
        blocks += [
            f"## [0, {beta:g}]",
            "Gains over equal shares, in hundredths, means over nu; 95 % intervals over the sets.",
            markdown(body, ["shares", *columns]),
            "Mean partial AUC with equal shares.",
            markdown(of_nu, ["nu", *columns]),
        ]
    title = (
        f"{rows.data_set.nunique()} sets, {rows.repeat.nunique()} repeats from seed {first.seed}, scale {first.scale}. "
        "Trees on two levels. Shares are of the ranges [0, 1], [0, 0.1] and [0, 0.01]."
    )
    return "\n\n".join(["# Mixtures of ranges for compact models", title, *blocks]) + "\n"


@house_style()
def picture(rows):
    """Draw the gains over equal shares with their intervals over the sets, a panel per range and number of trees."""
    panels = list(itertools.product(rows.beta.unique(), rows.trees.unique()))
    n_rows, n_columns = rows.beta.nunique(), rows.trees.nunique()
    figure = new_figure(2.2 + 2.3 * n_columns, 0.8 + 1.9 * n_rows)
    grid = figure.subplots(n_rows, n_columns, sharey="row", squeeze=False)
    for axes, (beta, n) in zip(grid.flat, panels, strict=True):
        own = gains(rows[rows.beta == beta]).xs(n, level="trees").groupby("data_set").mean()
        intervals = {name: [mean_interval(own[name])] for name in own.columns.drop(EQUAL)}
        draw_forest(axes, intervals, lambda name: (GREY if name == ALONE else BLUE, "o"), reference=0)
        axes.set_title(f"[0, {beta:g}], {n} trees")
    label = "gain in partial AUC over equal shares, in hundredths; 95 % intervals over the sets"
    figure.supxlabel(label, color=GREY, fontsize=8)
    return figure


def main(argv=None):
    """Fit every mixture to every set."""
    run = Run.of(__file__, __doc__, PROTOCOLS, argv)
    protocol, names = run.protocol, defaults.available(run)
    cases = [
        {"data_set": name, "repeat": repeat, "beta": beta, "shares": shares, "nu": nu}
        for name, repeat, beta in itertools.product(names, range(protocol.repeats), BETAS)
        for shares, nu in itertools.product(list(SHARES[beta])[: protocol.configurations], protocol.nus)
    ]
    rows = run.rows("mixtures", measure, cases)
    return run.write(table(rows), picture(rows))


if __name__ == "__main__":
    sys.exit(exit_code(main))
